"""Thresholds on tubes, and affinities above them: of sparse tensors as of dense ones."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from conftest import random_similarities

from mvsc_fast._sparse import _spectral as sparse_spectral
from mvsc_fast._sparse._graphs import SparseTensor
from mvsc_fast._sparse._spectral import (
    add_tail,
    leading_eigenvectors,
    thresholded_affinity,
    tube_lengths,
    tube_threshold,
)
from mvsc_fast.spectral import fuse


def stored(W):
    """A dense tensor with zero diagonals as a `SparseTensor`."""
    n = W.shape[1]
    rows, columns = np.nonzero(~np.eye(n, dtype=bool))
    values = W[:, rows, columns].astype(np.float32)
    return SparseTensor(
        values=values,
        indptr=np.arange(n + 1) * (n - 1),
        indices=columns.astype(np.int32),
        lengths=np.sqrt((values**2).sum(axis=0)),
    )


@pytest.fixture
def W():
    W = random_similarities(3, 40)
    W[:, np.arange(40), np.arange(40)] = 0
    return W


def test_lengths_are_of_all_tubes_off_the_diagonal(W):
    n = 40
    expected = [np.linalg.norm(W[:, j, k]) for j in range(n) for k in range(n) if j != k]
    W[:, np.arange(n), np.arange(n)] = 1.0
    np.testing.assert_allclose(tube_lengths(W), expected)


def test_lengths_of_sparse_slices_of_any_patterns_are_those_of_dense_ones(W):
    W[W < np.quantile(W, 0.8, axis=(1, 2), keepdims=True)] = 0
    W[0, np.arange(40), np.arange(40)] = 1.0
    for sparse in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
        found = np.sort(tube_lengths([sparse(A) for A in W]))
        expected = np.sort(tube_lengths(W))
        assert 0 < len(found) < len(expected)
        np.testing.assert_allclose(found, expected[-len(found) :])
        assert not expected[: -len(found)].any()


@pytest.mark.parametrize("d", [1, 2, 5, 20, 39])
def test_thresholds_keep_the_asked_number_of_tubes(W, d):
    """Every pair of samples counts twice, once for each."""
    lengths = tube_lengths(W)
    tau = tube_threshold(lengths, 40, d)
    assert np.count_nonzero(lengths >= tau) == 40 * d
    found = tube_threshold(stored(W).lengths, 40, d)
    assert found == pytest.approx(tau, rel=1e-6)
    assert tube_threshold(lengths[lengths > np.median(lengths)], 40, min(d, 19)) == (
        tube_threshold(lengths, 40, min(d, 19))
    )


@pytest.mark.parametrize("zeros", [0, 100])
def test_more_neighbors_than_tubes_keep_the_shortest_tube(zeros):
    lengths = np.array([2.0, 2.0, 1.0, 1.0] + [0.0] * zeros)
    assert tube_threshold(lengths, 10, 6) == 1.0


def test_tubes_that_tie_at_the_maximum_all_survive():
    assert tube_threshold(np.ones(20, dtype=np.float32), 5, 2) == 0.5
    assert tube_threshold(tube_lengths(np.ones((4, 20, 20))), 20, 3) == 1.0


def test_an_empty_tensor_has_a_threshold():
    assert tube_threshold(np.zeros(20, dtype=np.float32), 5, 2) == 1.0
    assert tube_threshold(tube_lengths([scipy.sparse.csr_array((5, 5))]), 5, 2) == 1.0


def test_tail_is_relative_to_mean_row_sums(W):
    S, S_W = np.full((4, 4), 2.0), np.full((4, 4), 10.0)
    np.testing.assert_allclose(add_tail(S, S_W, 0.1, 4), np.full((4, 4), 0.25 * 1.1))
    np.testing.assert_array_equal(add_tail(0 * S, 0 * S_W, 0.1, 4), 0 * S)
    S, S_W = np.where(W[0] > 2, W[0], 0), np.where(W[1] > 1, W[1], 0)  # of different patterns
    found = add_tail(scipy.sparse.csr_array(S), scipy.sparse.csr_array(S_W), 0.1, 40)
    np.testing.assert_allclose(found.toarray(), add_tail(S, S_W, 0.1, 40), rtol=1e-12)


@pytest.mark.parametrize("tau", [0.0, 2.0, 100.0])
def test_affinity_is_that_of_the_dense_tensor(W, tau):
    length = np.sqrt((W**2).sum(axis=0))
    shrunk = W * np.maximum(0, 1 - tau / np.where(length > 0, length, 1))
    expected = add_tail(fuse(shrunk), fuse(W), 0.01, 40)
    found = thresholded_affinity(stored(W), tau, 0.01)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)


@pytest.mark.parametrize("dense_limit", [10, 256])
def test_eigenvectors_by_lanczos_and_by_lapack(W, monkeypatch, dense_limit):
    monkeypatch.setattr(sparse_spectral, "DENSE_LIMIT", dense_limit)
    monkeypatch.setattr(sparse_spectral, "DENSE_PER_CLUSTER", 2)
    A = thresholded_affinity(stored(W), 2.0, 0.01)
    start = np.random.RandomState(0).uniform(0.5, 1.5, 40)
    values, vectors = leading_eigenvectors(A, 4, start)
    root = 1 / np.sqrt(np.asarray(A.sum(axis=1)).ravel())
    N = A.toarray() * root[:, None] * root
    np.testing.assert_allclose(values, scipy.linalg.eigvalsh(N)[:-5:-1], atol=1e-4)
    np.testing.assert_allclose(N @ vectors, vectors * values, atol=2e-3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-4)


def groups(sizes, link):
    """A graph of rings of samples, the first sample of each linked to the next ring."""
    rng, n = np.random.default_rng(0), sum(sizes)
    A = np.zeros((n, n), dtype=np.float32)
    for last, size in zip(np.cumsum(sizes), sizes, strict=True):
        own = np.arange(last - size, last)
        for step in range(1, 9):
            A[own, np.roll(own, step)] = rng.uniform(0.5, 1.5, size)
        A[last - size, last % n] = link
    return scipy.sparse.csr_array(A + A.T)


@pytest.mark.parametrize("count", [5, 10])
@pytest.mark.parametrize("link", [0, 1e-5, 1e-3, 0.01])
def test_no_eigenvector_of_groups_that_are_hardly_linked_is_lost(link, count):
    A = groups([100, 120, 80, 90, 110], link)
    root = 1 / np.sqrt(A.sum(axis=1))
    N = A.toarray() * root[:, None] * root
    expected = scipy.linalg.eigvalsh(N)[: -count - 1 : -1]
    start = np.random.RandomState(0).uniform(0.5, 1.5, 500)
    for _ in range(2):
        values, vectors = leading_eigenvectors(A, count, start)
        np.testing.assert_allclose(values, expected, atol=1e-3)
        np.testing.assert_allclose(N @ vectors, vectors * values, atol=1e-3)
        start = vectors.sum(axis=1)  # as the scan goes on to the next size


def test_the_largest_of_many_components_are_taken():
    A = groups([60, 150, 40, 90], 0)
    A = scipy.sparse.block_diag([A, scipy.sparse.csr_array((20, 20))])  # isolated samples, and
    rows, columns = np.append(A.row, [0, 100]), np.append(A.col, [100, 0])  # zeros, no links
    A = scipy.sparse.csr_array((np.append(A.data, [0, 0]), (rows, columns)), shape=(360, 360))
    values, vectors = leading_eigenvectors(A, 2, np.ones(360))
    np.testing.assert_array_equal(values, 1)
    first, second = np.abs(vectors.T) > 0
    np.testing.assert_array_equal(np.flatnonzero(first), np.arange(60, 210))
    np.testing.assert_array_equal(np.flatnonzero(second), np.arange(250, 340))


def test_a_graph_without_links_has_eigenvectors():
    values, vectors = leading_eigenvectors(scipy.sparse.csr_array((300, 300)), 3, np.ones(300))
    np.testing.assert_array_equal(values, 0)
    np.testing.assert_array_equal(vectors.T @ vectors, np.eye(3))


def test_of_more_eigenvalues_near_1_than_are_asked_for_some_are_taken(monkeypatch):
    """One look beside them ends the search; which are taken is below the tolerance."""
    searches = []
    largest = sparse_spectral._largest_beside
    monkeypatch.setattr(
        sparse_spectral,
        "_largest_beside",
        lambda *given: searches.append(given[-1]) or largest(*given),
    )
    A = groups([25] * 24, 1e-4)
    values, vectors = leading_eigenvectors(A, 8, np.random.RandomState(0).uniform(0.5, 1.5, 600))
    np.testing.assert_allclose(values, 1, atol=1e-3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(8), atol=1e-3)
    assert searches == [sparse_spectral.TOLERANCE] * 2  # no room to look with a larger one
