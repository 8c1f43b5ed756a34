import numpy as np
import pytest
import scipy.sparse
from conftest import random_views
from reference import sparse_graphs as twin
from scipy.spatial.distance import cdist

from mvsc_fast import similarity

GRAPHS = [similarity.self_representation, similarity.nearest_neighbors, similarity.rbf]


def test_self_representation_equals_its_definition_and_views_of_many_samples_have_two_ridges():
    views = random_views(40, (60, 10, 11))
    W = similarity.self_representation(views)
    ridges = [(0, 0.5), (1, 0.5 * 40 / 10), (2, 0.5 * 40 / 11), (1, 5 * 40 / 10)]
    assert len(W) == len(ridges)
    for A, (i, ridge) in zip(W, ridges, strict=True):
        np.testing.assert_allclose(A, twin.self_representation(views[i], ridge), atol=1e-10)


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_power_of_two_changes_no_bit(graph):
    views = random_views(30, (4, 40))
    expected = graph(views)
    for k in (-1000, -540, -90, 90, 540, 1000):
        np.testing.assert_array_equal(graph([np.ldexp(X, k) for X in views]), expected)


def test_the_scale_of_a_row_changes_no_bit_of_the_self_representation():
    views, exponents = random_views(30, (4, 40)), np.resize([-200, 200], (30, 1))
    W = similarity.self_representation([np.ldexp(X, exponents) for X in views])
    np.testing.assert_array_equal(W, similarity.self_representation(views))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_symmetric_finite_and_of_the_type_of_the_views(graph, dtype):
    views = random_views(40, (60, 12))
    assert graph(views).shape == (2, 40, 40)
    X = random_views(40, (60, 8))[0]
    X[7], X[9:20] = 0, X[8]
    degenerate = [X, np.ones((40, 3)), np.zeros((40, 2))]
    for given in (views, degenerate, [np.array([[0.0, 1.0], [1.0, 1.0]])]):
        W = graph([X.astype(dtype) for X in given])
        assert W.dtype == dtype and W.flags.c_contiguous
        assert np.isfinite(W).all() and (W >= 0).all()
        np.testing.assert_array_equal(W, W.transpose(0, 2, 1))


@pytest.mark.parametrize("graph", GRAPHS)
def test_permuted_and_sparse_samples_have_the_same_graph(graph):
    views = [np.maximum(X, 0) for X in random_views(40, (60, 8))]
    W, order = graph(views), np.random.default_rng(1).permutation(40)
    permuted = graph([X[order] for X in views])
    np.testing.assert_allclose(permuted, W[:, order][:, :, order], atol=1e-10)
    np.testing.assert_allclose(graph([scipy.sparse.csr_array(X) for X in views]), W, atol=1e-6)


def test_nearest_neighbors_are_gaussian_with_the_scales_of_both_samples():
    X = random_views(30, (5,))[0]
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    scale = np.sort(D, axis=1)[:, 3]
    A = np.where(D <= scale[:, None], np.exp(-(D**2) / np.outer(scale, scale)), 0)
    W = similarity.nearest_neighbors([X], n_neighbors=4)[0]
    np.testing.assert_allclose(W, (A + A.T) / 2, atol=1e-12)


def test_rbf_width_is_the_median_distance_or_the_largest_if_most_samples_are_equal():
    X = np.array([[0.0], [1.0], [3.0]])
    W = similarity.rbf([X])[0]  # distances 0 0 0 1 1 2 2 3 3: median 1
    np.testing.assert_allclose(W[0], np.exp([0, -0.5, -4.5]))
    W = similarity.rbf([np.array([[0.0]] * 4 + [[3.0]])])[0]
    np.testing.assert_allclose(W[0], [1, 1, 1, 1, np.exp(-0.5)])


@pytest.mark.parametrize("seed", range(5))
def test_equal_rows_have_similarity_1_and_an_offset_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 30)) + 10
    np.testing.assert_allclose(similarity.rbf([X + 1e8]), similarity.rbf([X]), atol=1e-5)
    X[:80] = X[0]
    np.testing.assert_allclose(similarity.rbf([X])[0, :80, :80], 1)
    W = similarity.nearest_neighbors([X], n_neighbors=5)[0, :80, :80]
    assert (W.max(axis=1) > 0).all()
    # Neighbours of one another, or one of the other.
    assert set(np.round(W[W > 0], 9)) <= {0.5, 1.0}
