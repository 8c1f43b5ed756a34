"""How fitted samples vote for the labels of new ones, by the longest tubes between them."""

import numpy as np
import scipy.sparse

from .threads import blas_threads


def vote_scores(
    new,
    fitted,
    scales,
    labels,
    n_clusters,
    *,
    n_votes=20,
    scale_neighbors=10,
    cap=1.5,
    block=1024,
):
    """What the most similar fitted samples say about new ones.

    A new row has entries A_k for the fitted samples in every slice, a local scale of its own and
    tubes as in `sparse_tensor`, shrunken by the length t of the (n_votes + 1)-th longest:

        score_k = sum over the n_votes longest tubes of (length - t)+ [label = k]

    Parameters
    ----------
    new, fitted : list of Factors
        The same slices of m new and n fitted samples, see `ridge_maps`.
    scales : ndarray of shape (v, n)
        Local scales of the fitted samples (`SparseTensor.scales`).
    labels : ndarray of shape (n,), int
    n_clusters : int
    n_votes : int, default=20
    scale_neighbors, cap
        As in `self_representation`.
    block : int, default=1024
        New rows at a time: memory is two float32 matrices of shape (block, n).

    Returns
    -------
    ndarray of shape (m, n_clusters), float32
        A row of zeros for a sample that resembles no fitted one.
    """
    m, n = len(new[0].u), len(fitted[0].u)
    n_votes = min(n_votes, n - 1)
    rank = min(scale_neighbors, n)
    scores = np.empty((m, n_clusters), dtype=np.float32)
    member = labels[:, None] == np.arange(n_clusters)
    roots = 1.0 / np.sqrt(scales)
    with blas_threads(1):
        for first in range(0, m, block):
            rows = slice(first, min(first + block, m))
            squares = np.zeros((rows.stop - first, n), dtype=np.float32)
            for (u, h), (u_fitted, h_fitted), root in zip(new, fitted, roots, strict=True):
                A = u[rows] @ u_fitted.T
                A *= h[rows, None] + h_fitted
                np.maximum(A, 0.0, out=A)
                A *= root / np.sqrt(_local_scales(A, rank))[:, None]
                np.minimum(A, cap, out=A)
                A *= A
                squares += A
            _vote(squares, member, n_votes, scores[rows])
    return scores


def precomputed_votes(W, labels, n_clusters, *, n_votes=20):
    """`vote_scores` from rows of similarities of new samples to fitted ones, (v, m, n)."""
    squares = np.zeros(W[0].shape, dtype=np.float32)
    for A in W:
        A = A.toarray() if scipy.sparse.issparse(A) else A
        squares += np.square(A, dtype=np.float32)
    n = squares.shape[1]
    scores = np.empty((len(squares), n_clusters), dtype=np.float32)
    _vote(squares, labels[:, None] == np.arange(n_clusters), min(n_votes, n - 1), scores)
    return scores


def _vote(squares, member, n_votes, scores):
    """Scores from squared tube lengths (m, n) and the clusters of the fitted samples (n, c)."""
    first = squares.shape[1] - 1 - n_votes
    longest = np.argpartition(squares, first, axis=1)[:, first:]
    lengths = np.sqrt(np.take_along_axis(squares, longest, axis=1))
    lengths -= lengths[:, :1]
    for row, weights, voters in zip(scores, lengths, longest, strict=True):
        row[:] = weights @ member[voters]


def _local_scales(A, rank):
    """For every row the rank-th largest positive entry, the least if fewer, 1 if none."""
    top = np.partition(A, A.shape[1] - rank, axis=1)[:, A.shape[1] - rank :]
    scale = np.where(top > 0, top, np.inf).min(axis=1)
    return np.where(np.isfinite(scale), scale, np.float32(1.0))
