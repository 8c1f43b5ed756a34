"""The association of graphs against all permutations, and which views are set aside."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import random_similarities

from mvsc_fast import datasets
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
