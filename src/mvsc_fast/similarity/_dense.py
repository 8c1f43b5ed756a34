"""Similarity tensors of shape (v, n, n) computed from features, most of them dense."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from .._utils.parameters import CHECKS, check_flag, check_integer
from .._utils.threads import limited
from .._utils.types import FloatArray, Tensor, Views
from ..views import scaled_views
from ..views._view_rows import row_mean, unit_rows
from ._factors import CAP, SCALE_NEIGHBORS, spd_inverse, view_ridges
from ._sparse import self_tuning, sparse_ridge_similarities

EQUAL = 1e-12  # squared distance over the squared lengths of two rows, below which it is rounding


@limited
def self_representation(
    views: Views, *, sparse: bool = False, n_threads: int | None = None
) -> Tensor:
    """Similarities from ridge regression of each sample on all others, with local scaling.

    The rows of a view are scaled to unit length. With their Gram matrix K and
    ``P = (K + g I)^-1``, ``g = f n / min(n, d)``, the coefficients of the regressions are
    ``-P_jk / P_kk``. Their positive part Z is symmetrised as ``A = Z + Z^T``, divided by
    ``sqrt(r_j r_k)``, where r_j is the 10th largest entry of row j of A, and capped at 1.5, because
    a few very large entries, such as those of near-duplicate texts, would dominate. Every view
    gives a slice for f = 0.5; a view with n >= 4 d gives a further slice for f = 5. Weak ridges
    reveal fine structure, strong ridges coarse structure; neither is best on all data sets. The
    result does not depend on the order of the samples.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
    sparse : bool, default=False
        Whether to return sparse slices, which keep the 48 longest tubes of each sample among the 50
        nearest rows of each view, with memory linear in n. On their pattern they usually equal the
        dense tensor. The search for candidates takes n^2 d multiplications.
    n_threads : int, optional
        Number of OpenMP threads for sparse slices. None uses OMP_NUM_THREADS, or the CPUs of the
        process. The result does not depend on it.

    Returns
    -------
    ndarray of shape (v, n, n), or list of v csr_arrays
        Symmetric slices with zero diagonal and entries in [0, 1.5]: all views, then again those
        with n >= 4 d. Sparse slices are float32 and share one pattern.
    """
    check_flag(sparse, "sparse")
    CHECKS["n_threads"](n_threads, "n_threads")
    views = scaled_views(views)
    return sparse_ridge_similarities(views, n_threads) if sparse else ridge_similarities(views)


def ridge_similarities(views):
    """`self_representation` of validated views."""
    n = views[0].shape[0]
    # All views with the first ridge, then those that have a further one.
    ridges = [view_ridges(n, X.shape[1]) for X in views]
    slices = [pair for pairs in zip_longest(*ridges) for pair in zip(views, pairs, strict=True)]
    slices = [(X, ridge) for X, ridge in slices if ridge is not None]
    W = np.empty((len(slices), n, n), dtype=views[0].dtype)
    for out, (X, ridge) in zip(W, slices, strict=True):
        ridge_slice(X, ridge, out)
    return W


def ridge_slice(X, ridge, out):
    """Write a slice of `self_representation`, with an absolute ridge, to an array; returns it."""
    n = len(out)
    _ridge_coefficients(unit_rows(X), ridge, out)
    out += out.T.copy()
    # Local scaling: the similarity of this rank becomes 1 in every row.
    rank = min(SCALE_NEIGHBORS, n - 1)
    top = np.partition(out, n - rank, axis=1)[:, n - rank :]
    scale = top.min(axis=1)
    # A row with fewer positive entries is scaled by the smallest of them.
    least = np.where(top > 0, top, np.inf).min(axis=1)
    scale = np.where(scale > 0, scale, np.where(np.isfinite(least), least, 1.0))
    root = 1 / np.sqrt(np.maximum(scale, np.finfo(out.dtype).tiny))  # else root^2 overflows
    out *= root[:, None] * root  # in this order exactly symmetric
    return np.minimum(out, CAP, out=out)


def _ridge_coefficients(X, ridge, out):
    """out <- max(0, -P_jk / P_kk), zero diagonal, with P = (X X^T + ridge I)^-1."""
    n, d = X.shape
    if d < n:
        # Woodbury: P = (I - X (X^T X + ridge I)^-1 X^T) / ridge
        inner = safe_sparse_dot(X.T, X, dense_output=True)
        inner[np.diag_indices(d)] += ridge
        solved = scipy.linalg.cho_solve(
            scipy.linalg.cho_factor(inner, lower=True),
            X.toarray().T if scipy.sparse.issparse(X) else X.T,
        )
        out[...] = safe_sparse_dot(X, solved, dense_output=True)
        diagonal = np.maximum(1.0 - np.diagonal(out), 1e-12)
        out /= diagonal
    else:
        # With at least as many features as samples, the kernel is inverted itself.
        gram = safe_sparse_dot(X, X.T, dense_output=True)
        gram[np.diag_indices(n)] += ridge
        P = spd_inverse(gram)
        np.divide(P, -np.diagonal(P).copy(), out=out)
    np.maximum(out, 0.0, out=out)
    np.fill_diagonal(out, 0.0)


@limited
def nearest_neighbors(views: Views, *, n_neighbors: int = 15, sparse: bool = False) -> Tensor:
    """Self-tuning nearest-neighbour similarities.

    The similarity is ``exp(-d_jk^2 / (s_j s_k))`` if k is among the ``n_neighbors`` nearest
    neighbours of j and 0 otherwise, averaged with its transpose; s_j is the distance of sample j to
    its last neighbour (Zelnik-Manor & Perona 2004).

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
    n_neighbors : int, default=15
        Number of neighbours, not counting the sample; at most n_samples - 1 are used.
    sparse : bool, default=False
        Whether to return sparse slices, each with a pattern of its own.

    Returns
    -------
    ndarray of shape (v, n, n), or list of v csr_arrays
        Entries in [0, 1], zero diagonal.
    """
    check_flag(sparse, "sparse")
    n_neighbors = check_integer(n_neighbors, "n_neighbors", 1)
    return neighbor_similarities(scaled_views(views), n_neighbors, sparse)


def neighbor_similarities(views, n_neighbors=15, sparse=False):
    """`nearest_neighbors` of validated views."""
    n_neighbors = min(n_neighbors, views[0].shape[0] - 1)
    slices = []
    for X in map(_without_offset, views):
        distance, index = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
        norms = row_norms(X, squared=True)
        distance[distance**2 <= EQUAL * (norms[:, None] + norms[index])] = 0.0
        slices.append(self_tuning(distance, index, views[0].dtype))
    return slices if sparse else np.stack([A.toarray() for A in slices])


def _without_offset(X):
    """Rows from which the mean row is subtracted, as offsets would cost digits; sparse as given."""
    return X if scipy.sparse.issparse(X) else X - row_mean(X)


@limited
def rbf(views: Views) -> FloatArray:
    """Gaussian kernel whose width is the median of all n^2 distances (Wu et al. 2019).

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)

    Returns
    -------
    ndarray of shape (v, n, n)
        ``exp(-||x_j - x_k||^2 / (2 sigma^2))``, unit diagonal.
    """
    return kernel_similarities(scaled_views(views))


def kernel_similarities(views):
    """`rbf` of validated views."""
    n = views[0].shape[0]
    W = np.empty((len(views), n, n), dtype=views[0].dtype)
    for out, X in zip(W, views, strict=True):
        # The median distance sets the width; for mostly equal samples it is zero, and the largest
        # is used.
        X = _without_offset(X)
        squares, norms = euclidean_distances(X, squared=True), row_norms(X, squared=True)
        squares[squares <= EQUAL * (norms[:, None] + norms)] = 0.0
        distance = np.sqrt(squares)
        np.fill_diagonal(distance, 0.0)
        width = np.median(distance)
        if width == 0.0:
            width = distance.max() if distance.max() > 0 else 1.0
        np.exp(-0.5 * np.square(distance / width), out=out)
        out += out.T.copy()
        out *= 0.5
    return W
