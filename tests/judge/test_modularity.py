"""Modularity corrected for sizes, against its definition."""

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast.judge._modularity import corrected_modularity


def reference(A, labels):
    """(Q / Q_max): pairs of samples, one by one."""
    degrees, total = A.sum(axis=1), A.sum()
    modularity, chance = 0.0, 0.0
    for i in range(len(A)):
        for j in range(len(A)):
            if labels[i] == labels[j]:
                modularity += A[i, j] / total - degrees[i] * degrees[j] / total**2
                chance += degrees[i] * degrees[j] / total**2
    return modularity / (1 - chance)


def graph(n, seed=0):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.4), 1)
    return A + A.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_that_of_its_definition(dtype):
    rng, A = np.random.default_rng(1), graph(30)
    labellings = [rng.integers(4, size=30), np.arange(30) % 2, np.repeat([3, 0], [28, 2])]
    found = corrected_modularity(scipy.sparse.csr_array(A.astype(dtype)), labellings, 4)
    expected = [reference(A, labels) for labels in labellings]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("small", [2, 5, 20])
def test_clusters_without_edges_between_them_have_one_whatever_their_sizes(small):
    A = scipy.sparse.block_diag([np.ones((size, size)) for size in (40 - small, small)])
    labels = np.repeat([0, 1], [40 - small, small])
    assert corrected_modularity(scipy.sparse.csr_array(A), [labels], 2) == pytest.approx(1)


def test_it_depends_neither_on_numbers_of_clusters_nor_on_the_scale_of_the_graph():
    A, labels = graph(20), np.arange(20) % 3
    renamed = np.array([4, 0, 2])[labels]
    found = corrected_modularity(scipy.sparse.csr_array(A), [labels], 3)
    again = corrected_modularity(scipy.sparse.csr_array(5 * A), [renamed], 6)
    np.testing.assert_allclose(again, found)


def test_no_weight_and_one_cluster_have_zero():
    empty, A = np.zeros((6, 6)), graph(6)
    A[0], A[:, 0] = 0, 0  # the other cluster has no weight
    one, apart = np.zeros(6, dtype=int), np.array([1, 0, 0, 0, 0, 0])
    assert corrected_modularity(scipy.sparse.csr_array(empty), [apart], 2).tolist() == [0]
    assert corrected_modularity(scipy.sparse.csr_array(A), [one, apart], 2).tolist() == [0, 0]
    assert corrected_modularity(scipy.sparse.csr_array(A), [], 2).shape == (0,)
