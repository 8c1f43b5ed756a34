"""The association of graphs against all permutations, and which views are set aside."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import random_similarities

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.judge._support import ViewGraphs, permutation_z, view_support


def noise_view(kind, n, d, rng):
    X = rng.standard_normal((n, d))
    return {
        "normal": X,
        "uniform": rng.uniform(size=(n, d)),
        "counts": rng.poisson(1.0, size=(n, d)).astype(float),
        "heavy tails": rng.standard_t(2, size=(n, d)),
    }[kind]


@pytest.fixture(scope="module")
def subspaces():
    return datasets.make_multiview_subspaces(220, 4, random_state=0)


def test_equal_to_the_mean_and_deviation_over_all_permutations():
    A, B = random_similarities(2, 6)
    for slice_ in (A, B):
        np.fill_diagonal(slice_, 0)
    A[A < 0.8] = 0
    sums = [(A * B[np.ix_(p, p)]).sum() for p in map(list, itertools.permutations(range(6)))]
    expected = ((A * B).sum() - np.mean(sums)) / np.std(sums)
    assert permutation_z(A, B) == pytest.approx(expected)
    sparse = [scipy.sparse.csr_array(X) for X in (A, B)]
    assert permutation_z(*sparse) == pytest.approx(expected)


def test_complete_graphs_say_nothing():
    A = 1.0 - np.eye(8)
    assert permutation_z(A, A) == 0.0


@pytest.mark.parametrize("kind", ["normal", "uniform", "counts", "heavy tails"])
def test_noise_is_set_aside_and_named(subspaces, kind):
    views, _ = subspaces
    rng = np.random.default_rng(0)
    noise = [noise_view(kind, 220, d, rng) for d in (5, 20, 50)]
    given = [noise[0], *views, *noise[1:]]
    with pytest.warns(UserWarning, match=r"excluded as noise.*view 0 .*view 4 .*view 5 ") as told:
        assert ViewGraphs(given).helpful([*range(6)]) == [1, 2, 3]
    assert len(told) == 1


def test_views_that_help_stay_without_a_word(subspaces):
    views, y = subspaces
    graphs = ViewGraphs(views)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert graphs.helpful([0, 1, 2]) == [0, 1, 2]
        assert ViewGraphs(views[:1]).helpful([0]) == [0]
    assert (graphs.support(y) > 0.3).all()


def test_what_cannot_be_told_stays(subspaces):
    views, _ = subspaces
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match=r"no other view agrees with view 3 .*kept"):
        assert ViewGraphs([*views, rng.standard_normal((220, 3))]).helpful([0, 1, 2, 3]) == [
            0,
            1,
            2,
            3,
        ]
    few = [X[:150] for X in [*views, rng.standard_normal((220, 20))]]
    assert ViewGraphs(few).helpful([0, 1, 2, 3]) == [0, 1, 2, 3]


def test_a_structured_view_of_something_else_stays_and_is_named(subspaces):
    views, _ = subspaces
    (other,), _ = datasets.make_multiview_subspaces(220, 3, n_features=(40,), random_state=1)
    with pytest.warns(UserWarning, match="check that all views describe the same samples"):
        assert ViewGraphs([*views, other]).helpful([0, 1, 2, 3]) == [0, 1, 2, 3]


def test_noise_alone_is_kept_with_a_warning():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((200, d)) for d in (5, 20)]
    with pytest.warns(UserWarning, match="no view agrees .*labels may be arbitrary"):
        assert ViewGraphs(views).helpful([0, 1]) == [0, 1]


def test_support_is_near_zero_for_noise(subspaces):
    views, y = subspaces
    graphs = ViewGraphs([*views, np.random.default_rng(0).standard_normal((220, 20))])
    support = graphs.support(y)
    assert support.shape == (4,) and support[3] < 0.05 < support[:3].min()
    sparse = [scipy.sparse.csr_array(A) for A in graphs.graphs]
    np.testing.assert_allclose(view_support(sparse, y[graphs.samples]), support)


def test_a_constant_view_supports_nothing(subspaces):
    views, y = subspaces
    halves = np.arange(len(y)) % 2  # in a graph of equal entries each would vote for the other
    graphs = ViewGraphs([*views, np.full((len(y), 3), 2.0)])
    assert graphs.support(halves)[-1] == 0
    assert graphs.across([0, len(views)])[1] == 0


def test_graphs_of_many_samples_are_those_of_a_thousand():
    rng = np.random.default_rng(0)
    graphs = ViewGraphs([rng.standard_normal((1500, 4))])
    assert graphs.graphs[0].shape == (1000, 1000) and len(np.unique(graphs.samples)) == 1000


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


TOLD = r"2 groups .*: views 'c', 'd' \(support 1.00\); views 'a', 'b' \(support 0.0\d\)"


def test_groups_of_views_that_do_not_agree_are_named(two_camps):
    (a, b), (c, d) = two_camps
    model = ConsensusTLRR(4, random_state=0)
    with pytest.warns(UserWarning, match=TOLD) as told:
        model.fit({"a": a, "c": c, "b": b, "d": d})
    assert len(told) == 1
    z = model.view_agreement_
    np.testing.assert_array_equal(z, z.T)
    assert np.isnan(z.diagonal()).all() and min(z[0, 2], z[1, 3]) > 20
    assert np.abs(z[[0, 0, 2, 2], [1, 3, 1, 3]]).max() < 5


def test_groups_are_named_whatever_is_excluded_or_missing(two_camps):
    (a, b), (c, d) = two_camps
    rng = np.random.default_rng(3)
    noise, rare = rng.standard_normal((400, 20)), np.full((400, 3), np.nan)
    rare[7] = 1.0
    a = a.copy()
    a[:50] = np.nan
    views = {"n": noise, "a": a, "r": rare, "b": b, "c": c, "d": d}
    model = ConsensusTLRR(4, random_state=0)
    with pytest.warns(UserWarning) as told:
        model.fit(views)
    texts = [str(warning.message) for warning in told]
    assert len(texts) == 3 and "excluded as noise" in texts[1]
    assert "views 'c', 'd' (support 1.00); views 'a', 'b'" in texts[2]
    z = model.view_agreement_
    assert z.shape == (6, 6) and np.isnan(z[2]).all() and np.abs(z[0, [1, 3, 4, 5]]).max() < 5


def test_other_disagreement_forms_no_groups(two_camps):
    """A single view of something else has another warning, and few samples decide nothing."""
    (a, b), (c, d) = two_camps
    with pytest.warns(UserWarning, match="no other view agrees with view 2") as told:
        ConsensusTLRR(4, random_state=0).fit([a, b, c])
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ConsensusTLRR(4, random_state=0).fit([X[:190] for X in (a, b, c, d)])
        assert model.view_agreement_[0, 1] > 5 > model.view_agreement_[0, 2]
        alone = ConsensusTLRR(4, random_state=0).fit(a)
    np.testing.assert_array_equal(alone.view_agreement_, [[np.nan]])


def test_views_that_few_samples_share_are_not_compared():
    """The first and last views have no common sample, but both agree with the second."""
    y = np.random.default_rng(0).integers(0, 4, 600)
    a, b, c, d = views_of(y, 6, 4, 1)
    a[:350], d[250:] = np.nan, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z = ConsensusTLRR(4, random_state=0).fit([a, b, c, d]).view_agreement_
    assert np.isnan(z[0, 3]) and z[0, 1] > 5 and z[3, 2] > 5
