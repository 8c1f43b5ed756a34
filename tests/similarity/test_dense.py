import numpy as np
import pytest
import scipy.sparse
from conftest import random_views
from reference import sparse_graphs as twin

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
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_symmetric_finite_and_of_the_type_of_the_views(graph, dtype):
    views = [X.astype(dtype) for X in random_views(40, (60, 12))]
    W = graph(views)
    assert W.shape == (2, 40, 40) and W.dtype == dtype and W.flags.c_contiguous
    assert np.isfinite(W).all() and (W >= 0).all()
    np.testing.assert_array_equal(W, W.transpose(0, 2, 1))


@pytest.mark.parametrize("graph", GRAPHS)
def test_permuting_samples_permutes_the_graph(graph):
    views = random_views(40, (60, 8))
    order = np.random.default_rng(1).permutation(40)
    np.testing.assert_allclose(
        graph([X[order] for X in views]), graph(views)[:, order][:, :, order], atol=1e-10
    )


@pytest.mark.parametrize("graph", GRAPHS)
def test_sparse_features_give_the_same_graph(graph):
    views = [np.maximum(X, 0) for X in random_views(40, (60, 8))]
    sparse = [scipy.sparse.csr_array(X) for X in views]
    np.testing.assert_allclose(graph(sparse), graph(views), atol=1e-6)


@pytest.mark.parametrize("graph", GRAPHS)
def test_constant_views_zero_rows_duplicates_and_two_samples(graph):
    X = random_views(40, (60, 8))[0]
    X[7] = 0
    X[9:20] = X[8]
    for views in ([X, np.ones((40, 3)), np.zeros((40, 2))], [np.array([[0.0, 1.0], [1.0, 1.0]])]):
        W = graph(views)
        assert np.isfinite(W).all()
        np.testing.assert_array_equal(W, W.transpose(0, 2, 1))


def test_nearest_neighbors_keep_the_nearest_only():
    X = np.arange(10.0)[:, None]
    W = similarity.nearest_neighbors([X], n_neighbors=2)[0]
    assert W[0, 1] > 0 and W[5, 6] > 0 and W[0, 5] == 0
    assert np.all(np.diag(W) == 0)


def test_rbf_width_is_the_median_distance():
    X = np.array([[0.0], [1.0], [3.0]])
    W = similarity.rbf([X])[0]  # distances 0 0 0 1 1 2 2 3 3: median 1
    np.testing.assert_allclose(W[0], np.exp([0, -0.5, -4.5]))


def test_rbf_of_mostly_equal_samples_has_the_width_of_the_largest_distance():
    W = similarity.rbf([np.array([[0.0]] * 4 + [[3.0]])])[0]
    np.testing.assert_allclose(W[0], [1, 1, 1, 1, np.exp(-0.5)])
