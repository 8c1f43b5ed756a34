"""Thresholds on tubes, and affinities above them: of sparse tensors as of dense ones."""

import numpy as np
import pytest
import scipy.sparse
from conftest import random_similarities

from mvsc_fast.similarity._affinity import (
    regularized,
    thresholded_affinity,
    tube_lengths,
    tube_threshold,
)
from mvsc_fast.similarity._sparse import SparseTensor
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
    np.testing.assert_allclose(regularized(S, S_W, 4), np.full((4, 4), 0.25 * 1.01))
    np.testing.assert_array_equal(regularized(0 * S, 0 * S_W, 4), 0 * S)
    S, S_W = np.where(W[0] > 2, W[0], 0), np.where(W[1] > 1, W[1], 0)  # of different patterns
    found = regularized(scipy.sparse.csr_array(S), scipy.sparse.csr_array(S_W), 40)
    np.testing.assert_allclose(found.toarray(), regularized(S, S_W, 40), rtol=1e-12)


@pytest.mark.parametrize("tau", [0.0, 2.0, 100.0])
def test_affinity_is_that_of_the_dense_tensor(W, tau):
    length = np.sqrt((W**2).sum(axis=0))
    shrunk = W * np.maximum(0, 1 - tau / np.where(length > 0, length, 1))
    expected = regularized(fuse(shrunk), fuse(W), 40)
    found = thresholded_affinity(stored(W), tau)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)
