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


def self_representation(X, ridge=0.5, k=10, cap=1.5):
    """Similarities of the rows of one view, by an explicit inverse."""
    A = ridge_entries(unit(X), ridge)
    r = np.sort(A, axis=1)[:, -k]
    W = np.minimum(cap, A / np.sqrt(np.outer(r, r)))
    np.fill_diagonal(W, 0)
    return W


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
    """Dense (v, n, n) with zeros off the pattern.

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
    return np.where(kept | kept.T, W, 0.0)
