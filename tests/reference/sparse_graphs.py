"""Sparse similarity tensors by their definitions, with everything of size n x n."""

import numpy as np


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1.0)


def ridge_entries(X, ridge):
    """max(0, coefficients of ridge regression of each row on the others), plus its transpose."""
    P = np.linalg.inv(X @ X.T + ridge * np.eye(len(X)))
    A = np.maximum(0, -P / np.diag(P))
    np.fill_diagonal(A, 0)
    return A + A.T


def nearest(u, count):
    """Sets of the rows of largest positive cosine."""
    cosine = unit(u) @ unit(u).T
    np.fill_diagonal(cosine, -1)
    order = np.argsort(-cosine, axis=1, kind="stable")[:, :count]
    return [set(row[cosine[j, row] > 0].tolist()) for j, row in enumerate(order)]


def local_scale(entries, rank):
    """The rank-th largest positive entry, the least if there are fewer, 1 if there are none."""
    positive = np.sort(entries[entries > 0])[::-1]
    return positive[min(rank, len(positive)) - 1] if len(positive) else 1.0


def sparse_tensor(A, seen, n_longest, rank=10, cap=1.5):
    """Dense (v, n, n) with zeros off the pattern, local scales (v, n), longest missed (n,).

    A (v, n, n) are the entries before scaling, seen (n, n) the candidates of every row.
    """
    scales = np.array(
        [[local_scale(a[s], rank) for a, s in zip(Ai, seen, strict=True)] for Ai in A]
    )
    roots = np.sqrt(scales)
    W = np.minimum(cap, A / (roots[:, :, None] * roots[:, None, :]))
    lengths = np.where(seen, np.sqrt((W**2).sum(axis=0)), 0.0)
    order = np.argsort(-lengths, axis=1, kind="stable")
    kept = np.zeros_like(seen)
    np.put_along_axis(kept, order[:, :n_longest], True, axis=1)
    kept &= lengths > 0
    missed = np.where(kept, 0.0, lengths).max(axis=1)
    return np.where(kept | kept.T, W, 0.0), scales, missed


def squared_tubes(A, scales, rank, cap):
    """A (v, n): entries of a new row for n fitted ones."""
    own = np.array([local_scale(a, rank) for a in A])
    W = np.minimum(cap, A / np.sqrt(own[:, None] * scales))
    return (W**2).sum(axis=0)


def vote_scores(
    A, scales, labels, n_clusters, n_votes, rank=10, cap=1.5, n_listed=None, n_candidates=0
):
    """A (v, m, n): entries of m new rows for n fitted ones."""
    scores = np.zeros((A.shape[1], n_clusters))
    for j in range(A.shape[1]):
        squares = squared_tubes(A[:n_listed, j], scales[:n_listed], rank, cap)
        if n_listed is not None:
            others = np.argsort(-squares)[n_candidates:]
            squares[others] = A[n_listed:, j, others] = 0
            squares += squared_tubes(A[n_listed:, j], scales[n_listed:], rank, cap)
        length = np.sqrt(squares)
        order = np.argsort(-length)
        t = length[order[n_votes]]
        for k in order[:n_votes]:
            scores[j, labels[k]] += length[k] - t
    return scores
