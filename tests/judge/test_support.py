"""Agreement of views against permutations, and which views are set aside."""

import re

import numpy as np
import pytest
from conftest import fitted
from reference import sparse_graphs as twin
from sklearn.metrics import adjusted_mutual_info_score

from mvsc_fast import ConsensusTLRR, datasets, methods
from mvsc_fast.metrics import clustering_scores

NOISE = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(size=shape),
    "counts": lambda rng, shape: rng.poisson(1.0, size=shape).astype(float),
    "heavy tails": lambda rng, shape: rng.standard_t(2, size=shape),
}


def fit(views, n_clusters=4):
    return ConsensusTLRR(n_clusters, random_state=0).fit(views)


@pytest.fixture(scope="module")
def subspaces():
    return datasets.make_multiview_subspaces(220, 4, n_features=(90, 120, 90), random_state=0)


def test_agreement_is_the_deviation_from_the_mean_over_permutations(subspaces):
    """Of graphs of each view alone: 3000 random permutations of the samples of one of them."""
    views = subspaces[0][:2]
    z = fit(views).view_agreement_[0, 1]
    A, B = map(twin.self_representation, views)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(220) for _ in range(3000)]
    sums = [np.vdot(A, B[np.ix_(p, p)]) for p in orders]
    assert z == pytest.approx((np.vdot(A, B) - np.mean(sums)) / np.std(sums), rel=0.1)


@pytest.mark.parametrize("kind", NOISE)
def test_noise_is_set_aside_and_named(subspaces, kind):
    views, y = subspaces
    rng = np.random.default_rng(0)
    noise = [NOISE[kind](rng, (220, d)) for d in (5, 20, 50)]
    views = [noise[0], *views, *noise[1:]]
    with pytest.warns(UserWarning, match="noise.*view 0 .*view 4 .*view 5 ") as caught:
        model = fit(views)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert model.views_used_ == [1, 2, 3]
    assert clustering_scores(y, model.labels_)["acc"] >= 0.98
    support = model.view_support_
    assert support[[0, 4, 5]].max() < 0.1 < 0.3 < support[1:4].min()


def test_what_cannot_be_told_stays(subspaces):
    views, _ = subspaces
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="view 3 .*kept"):  # of few columns
        assert fit([*views, rng.standard_normal((220, 3))]).views_used_ == [0, 1, 2, 3]
    rare = rng.standard_normal((220, 20))
    rare[:100] = np.nan
    assert fit([*views, rare]).views_used_ == [0, 1, 2, 3]
    few = [X[:150] for X in [*views, rng.standard_normal((220, 20))]]
    assert fit(few).views_used_ == [0, 1, 2, 3]  # without a warning
    assert fit(views[:1]).views_used_ == [0]
    # What can be told stays if all views are selected.
    model = ConsensusTLRR(4, view_selection="all", random_state=0)
    assert fitted(model, [*views, rng.standard_normal((220, 50))]).views_used_ == [0, 1, 2, 3]


def test_a_structured_view_of_something_else_stays_and_is_named(subspaces):
    (other,), _ = datasets.make_multiview_subspaces(220, 3, n_features=(40,), random_state=1)
    with pytest.warns(UserWarning, match="view 3 .*same samples"):
        assert fit([*subspaces[0], other]).views_used_ == [0, 1, 2, 3]


def test_noise_alone_is_kept_with_a_warning():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning) as caught:
        assert fit([rng.standard_normal((200, d)) for d in (5, 20)]).views_used_ == [0, 1]
    assert any("no view agrees" in str(warning.message) for warning in caught)


def test_a_constant_view_supports_and_agrees_with_nothing(subspaces):
    with pytest.warns(UserWarning, match="view 3: all samples are equal") as told:
        model = fit([*subspaces[0], np.full((220, 3), 2.0)])
    assert len(told) == 1
    assert model.view_support_[3] == 0 and not (model.view_agreement_[3] > 0).any()


# ------------------------------------------------------------------ groups of views


def views_of(clusters, distance, count, seed):
    """Views of 20 columns whose clusters have centres at a distance, with unit noise."""
    rng = np.random.default_rng(seed)
    views = []
    for _ in range(count):
        centres = rng.standard_normal((clusters.max() + 1, 20))
        centres *= distance / np.sqrt(2) / np.linalg.norm(centres, axis=1, keepdims=True)
        views.append(centres[clusters] + rng.standard_normal((len(clusters), 20)))
    return views


@pytest.fixture(scope="module")
def two_camps():
    """Two views of some clusters, and two of independent clusters that are clearer."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, 400), rng.integers(0, 4, 400)
    return views_of(first, 5, 2, 1), views_of(second, 8, 2, 2)


def test_groups_of_views_that_do_not_agree_are_named(two_camps):
    """Whatever is excluded or missing."""
    (a, b), (c, d) = two_camps
    rng = np.random.default_rng(3)
    noise, rare = rng.standard_normal((400, 20)), np.full((400, 3), np.nan)
    rare[7] = 1.0
    a = a.copy()
    a[:50] = np.nan
    views = {"n": noise, "a": a, "r": rare, "b": b, "c": c, "d": d}
    model = ConsensusTLRR(4, random_state=0)
    with pytest.warns(UserWarning) as caught:
        model.fit(views)
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 3 and "excluded as noise" in texts[1]
    told = r"2 groups .*: views 'c', 'd' \(support 1.00\); views 'a', 'b' \(support 0.0\d\)"
    assert re.search(told, texts[2])
    z = model.view_agreement_
    np.testing.assert_array_equal(z, z.T)
    assert z.shape == (6, 6) and np.isnan(z[2]).all() and np.isnan(z.diagonal()).all()
    assert np.abs(z[0, [1, 3, 4, 5]]).max() < 5 and np.abs(z[1:4:2, 4:]).max() < 5
    assert min(z[1, 3], z[4, 5]) > 20


def test_other_disagreement_forms_no_groups(two_camps):
    """A single view of something else has another warning, and few samples decide nothing."""
    (a, b), (c, d) = two_camps
    with pytest.warns(UserWarning, match="view 2") as caught:
        ConsensusTLRR(4, random_state=0).fit([a, b, c])
    assert len(caught) == 1
    model = ConsensusTLRR(4, random_state=0).fit([X[:190] for X in (a, b, c, d)])  # no warning
    assert model.view_agreement_[0, 1] > 5 > model.view_agreement_[0, 2]
    alone = ConsensusTLRR(4, random_state=0).fit(a)
    np.testing.assert_array_equal(alone.view_agreement_, [[np.nan]])


def test_views_that_few_samples_share_are_not_compared():
    """The first and last views have no common sample, but both agree with the second."""
    y = np.random.default_rng(0).integers(0, 4, 600)
    a, b, c, d = views_of(y, 6, 4, 1)
    a[:350], d[250:] = np.nan, np.nan
    z = ConsensusTLRR(4, random_state=0).fit([a, b, c, d]).view_agreement_  # without a warning
    assert np.isnan(z[0, 3]) and z[0, 1] > 5 and z[3, 2] > 5


@pytest.mark.filterwarnings("ignore:the labels agree little", "ignore:clusters of noise")
@pytest.mark.parametrize("n_common", [0, 3])
def test_parts_of_the_samples_that_no_view_connects_are_named(n_common):
    views = views_of(np.arange(120) % 3, 6, 3, 1)
    views[0][60 + n_common :] = views[1][:60] = views[2][:90] = np.nan
    named = dict(zip("abc", views, strict=True))
    with pytest.warns(UserWarning, match="2 parts") as caught:
        ConsensusTLRR(3, random_state=0).fit(named)
    texts = [str(warning.message) for warning in caught if "parts" in str(warning.message)]
    assert len(texts) == 1
    assert f"{60 + n_common} samples of view 'a'; 60 samples of views 'b', 'c'" in texts[0]


def test_four_common_samples_connect_views_and_so_does_one_between_them():
    a, b, c = views_of(np.arange(120) % 3, 6, 3, 1)
    a[40:], b[:36], b[84:], c[:80] = np.nan, np.nan, np.nan, np.nan
    ConsensusTLRR(3, random_state=0).fit([a, b, c])  # without a warning


@pytest.mark.filterwarnings("ignore:the labels agree little")
def test_support_is_the_agreement_of_the_final_labels_with_the_votes_of_neighbours():
    """Votes are sums of similarities over the roots of the cluster sizes."""
    y, rng = np.arange(90) % 3, np.random.default_rng(0)
    views = [2 * np.eye(3, d)[y] + rng.standard_normal((90, d)) for d in (40, 60)]
    consensus = fit(views, 3)
    fused = consensus.candidates_["labels"][consensus.candidates_["fused"]]
    assert (fused != consensus.labels_).any()
    for model in (consensus, methods.LTMSC(3, random_state=0).fit(views)):
        Y = np.eye(3)[model.labels_] / np.sqrt(np.bincount(model.labels_))
        votes = [(twin.self_representation(X) @ Y).argmax(axis=1) for X in views]
        expected = [adjusted_mutual_info_score(model.labels_, vote) for vote in votes]
        np.testing.assert_allclose(model.view_support_, expected, atol=1e-6)
