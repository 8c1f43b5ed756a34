"""A fit says if its clusters are too equal, or no better than those of noise."""

import numpy as np
import pytest

from mvsc_fast import ConsensusTLRR


def groups(sizes, distance):
    """Two views of Gaussian groups, whose means are orthogonal and of the same length."""
    rng, y = np.random.default_rng(0), np.repeat(range(len(sizes)), sizes)
    return [
        rng.standard_normal((len(y), 20))
        + distance * np.linalg.qr(rng.standard_normal((20, len(sizes))))[0].T[y]
        for _ in "ab"
    ]


def test_clusters_that_are_more_equal_than_the_graph_shows():
    views = groups((150, 10, 5), 4)
    with pytest.warns(UserWarning, match="more equal than the groups") as caught:
        model = ConsensusTLRR(3, random_state=0).fit(views)
    assert caught[0].filename == __file__
    text, table = str(caught[0].message), model.candidates_
    best = next(i for i in range(28) if f"candidate {i}, with" in text)
    sizes = np.sort(np.bincount(table["labels"][best]))[::-1]
    assert f"of {', '.join(map(str, sizes))} samples" in text and sizes[0] > 130
    assert f"modularity of {table['modularity'][best]:.2f}" in text
    assert np.bincount(model.labels_).max() < 100
    # The same candidate is named in another order of the samples.
    order = np.random.default_rng(1).permutation(165)
    with pytest.warns(UserWarning, match="more equal than the groups") as again:
        ConsensusTLRR(3, random_state=0).fit([X[order] for X in views])
    assert str(again[0].message) == text


@pytest.mark.parametrize("c", [2, 8])
def test_clusters_of_noise(c):
    noise = np.random.default_rng(0).uniform(-1, 1, (300, 20))
    with pytest.warns(UserWarning, match="clusters of noise are as predictable") as caught:
        model = ConsensusTLRR(c, random_state=0).fit([noise])
    assert f"({model.candidates_['predictability'].max():.2f})" in str(caught[0].message)


@pytest.mark.parametrize("sizes", [(285, 15), (100, 100, 100), (120, 10, 10, 10)])
def test_clear_groups_of_any_sizes_raise_no_doubts(sizes):
    model = ConsensusTLRR(len(sizes), view_selection="all", random_state=0)
    labels = model.fit_predict(groups(sizes, 8))
    assert sorted(np.bincount(labels)) == sorted(sizes)
