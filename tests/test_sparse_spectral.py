"""The sparse road from a tensor to an embedding equals the dense one."""

import numpy as np
import pytest
import scipy.linalg
from conftest import random_similarities

from mvsc_fast._sparse import _spectral as sparse_spectral
from mvsc_fast._sparse._spectral import leading_eigenvectors, thresholded_affinity, tube_threshold
from mvsc_fast.neighbors import tube_lengths, tube_thresholds
from mvsc_fast.spectral import add_tail, fuse


class Tensor:
    """A dense tensor with zero diagonals in the form of `_sparse_graphs.SparseTensor`."""

    def __init__(self, W):
        n = W.shape[1]
        rows, self.indices = np.nonzero(~np.eye(n, dtype=bool))
        self.indptr = np.arange(n + 1) * (n - 1)
        self.values = W[:, rows, self.indices].astype(np.float32)
        self.lengths = np.sqrt((self.values**2).sum(axis=0))


@pytest.fixture
def W():
    W = random_similarities(3, 40)
    W[:, np.arange(40), np.arange(40)] = 0
    return W


@pytest.mark.parametrize("d", [1, 5, 39, 100])
def test_thresholds_are_those_of_the_dense_tensor(W, d):
    expected = tube_thresholds(tube_lengths(W), [d])[0]
    assert tube_threshold(Tensor(W).lengths, 40, d) == pytest.approx(expected, rel=1e-6)


def test_tubes_that_tie_at_the_maximum_all_survive():
    assert tube_threshold(np.ones(20, dtype=np.float32), 5, 2) == 0.5
    assert tube_threshold(np.zeros(20, dtype=np.float32), 5, 2) == 1.0


@pytest.mark.parametrize("tau", [0.0, 2.0, 100.0])
def test_affinity_is_that_of_the_dense_tensor(W, tau):
    length = np.sqrt((W**2).sum(axis=0))
    shrunk = W * np.maximum(0, 1 - tau / np.where(length > 0, length, 1))
    expected = add_tail(fuse(shrunk), fuse(W), 0.01)
    found = thresholded_affinity(Tensor(W), tau, 0.01)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)


@pytest.mark.parametrize("dense_limit", [10, 256])
def test_eigenvectors_by_lanczos_and_by_lapack(W, monkeypatch, dense_limit):
    monkeypatch.setattr(sparse_spectral, "DENSE_LIMIT", dense_limit)
    monkeypatch.setattr(sparse_spectral, "DENSE_PER_CLUSTER", 2)
    A = thresholded_affinity(Tensor(W), 2.0, 0.01)
    start = np.random.RandomState(0).uniform(0.5, 1.5, 40)
    values, vectors = leading_eigenvectors(A, 4, start)
    root = 1 / np.sqrt(np.asarray(A.sum(axis=1)).ravel())
    N = A.toarray() * root[:, None] * root
    np.testing.assert_allclose(values, scipy.linalg.eigvalsh(N)[:-5:-1], atol=1e-4)
    np.testing.assert_allclose(N @ vectors, vectors * values, atol=2e-3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-4)
