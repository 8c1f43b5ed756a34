"""A fit says if its clusters are no better than those of noise."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR


def groups(sizes, distance):
    """Two views of Gaussian groups, whose means are orthogonal and of the same length."""
    rng, y = np.random.default_rng(0), np.repeat(range(len(sizes)), sizes)
    return [
        rng.standard_normal((len(y), 20))
        + distance * np.linalg.qr(rng.standard_normal((20, len(sizes))))[0].T[y]
        for _ in "ab"
    ]


@pytest.mark.parametrize("c", [2, 8])
def test_clusters_of_noise(c):
    noise = np.random.default_rng(0).uniform(-1, 1, (300, 20))
    with pytest.warns(UserWarning, match="noise") as caught:
        model = ConsensusTLRR(c, random_state=0).fit([noise])
    assert f"({model.candidates_['predictability'].max():.2f})" in str(caught[0].message)


@pytest.mark.parametrize("sizes", [(285, 15), (100, 100, 100), (120, 10, 10, 10)], ids=str)
def test_clear_groups_of_any_sizes_raise_no_doubts(sizes):
    model = ConsensusTLRR(len(sizes), view_selection="all", random_state=0)
    labels = model.fit_predict(groups(sizes, 8))
    assert sorted(np.bincount(labels)) == sorted(sizes)
    assert model.fused_agreement_ == 1


def test_labels_that_agree_little_with_the_fused_labellings():
    views = groups((30,) * 6, 1)
    with pytest.warns(UserWarning, match="agree little") as caught:
        model = ConsensusTLRR(6, view_selection="all", random_state=0).fit(views)
    fused = model.candidates_["labels"][model.candidates_["fused"]]
    expected = np.mean([adjusted_rand_score(model.labels_, labels) for labels in fused])
    assert model.fused_agreement_ == pytest.approx(expected)
    assert f"{expected:.2f}" in str(caught[0].message)


@pytest.mark.filterwarnings("ignore:the labels agree little")
def test_fewer_clusters_than_asked_for():
    views = [np.random.default_rng(0).normal(size=(4, 4))]
    with pytest.warns(UserWarning, match="n_clusters=3.* 2 clusters"):
        labels = ConsensusTLRR(3, random_state=0).fit(views).labels_
    assert len(np.unique(labels)) == 2
