"""Ridge regression of each sample on all others as a product of factors.

For the rows x of a view, of unit length as a rule, ``S = X^T X`` and a ridge g, the coefficients of
both samples of a pair for each other sum to

    A_jk = <u_j, u_k> (h_j + h_k),     u = (S + g I)^{-1/2} x,     h = 1 / (1 - |u|^2),

so that any entry costs as many multiplications as there are features, and nothing of size n x n is
needed. Any other factor of ``X (S + g I)^{-1} X^T`` does as well; Cholesky's is the cheapest.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils.extmath import safe_sparse_dot

from .. import _factored
from ..validation import check_number

SCALES = (0.5, 5.0)
BLOCK = 1024  # rows that are float64 at a time


class Factors(NamedTuple):
    """One slice: ``max(0, <u_j, u_k> (h_j + h_k))`` before it is put on a local scale."""

    u: np.ndarray
    h: np.ndarray


def relative_ridge(scale, n, d):
    """Ridge g = scale * n / min(n, d): ``scale`` times the mean eigenvalue of unit rows."""
    return scale * n / min(n, d)


def view_scales(n, d, scales):
    """The ridge scales that a view of n samples and d features enters with, by `scales`.

    The first always, the others where n >= 4 d: with fewer samples a strong ridge loses the fine
    structure that the first scale sees.
    """
    return list(scales) if n >= 4 * d else list(scales[:1])


def ridge_maps(X, ridges):
    """The map of one view for each ridge: its ``factors`` and, called, those of new rows.

    From the smaller one of both Gram matrices, which all ridges share.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        Rows of the length wanted: unit rows as a rule.
    ridges : list of float
        g, absolute.

    Returns
    -------
    list of maps
        Their ``factors`` are ``u`` (n, r) with r the smaller of n and the number of columns that
        are not zero, and ``h`` (n,), float32.
    """
    used = _used_columns(X)
    n, d = X.shape[0], np.count_nonzero(used)
    if d <= n:
        blocks = (rows[:, used] for rows in _blocks(X))
        gram = sum(safe_sparse_dot(rows.T, rows, dense_output=True) for rows in blocks)
        return [_PrimalMap(X, used, gram, ridge) for ridge in ridges]
    X = X[:, used].astype(np.float64)
    gram = safe_sparse_dot(X, X.T, dense_output=True)
    return [_DualMap(X, used, gram, ridge) for ridge in ridges]


def gram_maps(X, gram, ridges):
    """As `ridge_maps`, where S is that of more samples than the rows of X.

    Parameters
    ----------
    X : ndarray or csr_array of shape (m, d)
        Rows whose ``factors`` are wanted; their x x^T are among those of S.
    gram : ndarray of shape (d, d)
        S.
    ridges : list of float
    """
    used = gram.diagonal() > 0
    used[0] |= not used.any()
    gram = gram[np.ix_(used, used)]
    return [_PrimalMap(X, used, gram, ridge) for ridge in ridges]


def _used_columns(X):
    """Which columns are not all zero; at least one."""
    if scipy.sparse.issparse(X):
        used = np.bincount(X.indices, minlength=X.shape[1]) > 0
    else:
        used = np.any(X, axis=0)
    used[0] |= not used.any()
    return used


def _blocks(X):
    """Some rows at a time in float64."""
    for first in range(0, X.shape[0], BLOCK):
        yield X[first : first + BLOCK].astype(np.float64, copy=False)


class _PrimalMap:
    """u = L^{-1} x with S + g I = L L^T."""

    def __init__(self, X, used, gram, ridge):
        self.columns = np.flatnonzero(used)
        lower = gram.copy()
        lower[np.diag_indices(len(lower))] += ridge
        lower = scipy.linalg.cholesky(lower, lower=True, overwrite_a=True, check_finite=False)
        # Products with the inverse run at twice the speed of solves, and nothing is singular here.
        self.lower = np.ascontiguousarray(lower_inverse(lower))
        self.factors = self._apply(X, new=False)

    def __call__(self, X):
        """Factors of rows that had no part in S, each as if it alone were added.

        With w = L^{-1} x and q = |w|^2 it has u = w / (1 + q) and h = 1 + q.
        """
        return self._apply(X, new=True)

    def _apply(self, X, new):
        n = X.shape[0]
        u, h = np.empty((n, len(self.columns)), np.float32), np.empty(n, np.float32)
        first = 0
        for rows in _blocks(X):
            rows = rows.toarray() if scipy.sparse.issparse(rows) else np.ascontiguousarray(rows)
            part = slice(first, first + len(rows))
            _factored.factor_rows(self.lower, self.columns, rows, u[part], h[part], new)
            first = part.stop
        return Factors(u, h)


class _DualMap:
    """u u^T = I - g' P with P = (K + g I)^{-1} and g' a little below g, by Cholesky factors.

    Only ratios to ``1 - |u|^2 = g' P_jj`` enter a similarity, so any g' gives the same; one below g
    makes ``I - g' P`` definite, where K itself is singular.
    """

    def __init__(self, X, used, gram, ridge):
        self.X, self.used, self.ridge = X, used, ridge
        shifted = gram.copy()
        shifted[np.diag_indices(len(gram))] += ridge
        self.inverse = spd_inverse(shifted)
        matrix = self.inverse * (-ridge * (1.0 - 1e-6))
        slack = -matrix.diagonal()
        matrix[np.diag_indices(len(gram))] += 1.0
        self.lower = scipy.linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        u = np.ascontiguousarray(self.lower, dtype=np.float32)
        self.factors = Factors(u, _inverse(slack))

    def __call__(self, X):
        """As of `_PrimalMap`: <w, u_k> = (P X x)_k and 1 + q = (g + |x|^2 - x^T X^T P X x) / g."""
        X = X[:, self.used].astype(np.float64)
        products = safe_sparse_dot(self.X, X.T, dense_output=True)
        weights = self.inverse @ products
        squares = X.power(2) if scipy.sparse.issparse(X) else X * X
        squares = np.ravel(squares.sum(axis=1)) - np.einsum("ij,ij->j", products, weights)
        u = scipy.linalg.solve_triangular(self.lower, weights, lower=True, check_finite=False)
        return _left_out(u.T, 1.0 + np.maximum(squares, 0.0) / self.ridge)


def _left_out(w, h):
    return Factors(np.ascontiguousarray(w / h[:, None], dtype=np.float32), h.astype(np.float32))


def _inverse(slack):
    return (1.0 / np.maximum(slack, 1e-12)).astype(np.float32)


def lower_inverse(L):
    """Inverse of a lower triangle."""
    (trtri,) = scipy.linalg.get_lapack_funcs(("trtri",), (L,))
    inverse, _ = trtri(L, lower=1)
    return inverse


def spd_inverse(A):
    """Inverse of a positive definite matrix, both triangles; A is destroyed."""
    potrf, potri = scipy.linalg.get_lapack_funcs(("potrf", "potri"), (A,))
    # A is symmetric: its transpose is the same matrix in Fortran order.
    factor, info = potrf(A.T, lower=1, overwrite_a=1, clean=0)
    if info == 0:
        inverse, info = potri(factor, lower=1, overwrite_c=1)
    if info != 0:
        raise np.linalg.LinAlgError("the ridge Gram matrix is singular: use a larger ridge")
    lower = np.tril_indices(len(A), -1)
    inverse.T[lower] = inverse[lower]
    return inverse


def view_factors(views, scales=SCALES):
    """Factors of all slices: every view by the first scale, then those of many samples by others.

    Parameters
    ----------
    views : list of ndarray or csr_array of shape (n, d_i)
        Rows of the length wanted: unit rows as a rule.
    scales : sequence of float, default=(0.5, 5)
        Ridges relative to the mean eigenvalue, see `relative_ridge` and `view_scales`.

    Returns
    -------
    list of Factors
    """
    return [ridge_map.factors for ridge_map in view_maps(views, scales)]


def view_maps(views, scales=SCALES, grams=None, n=None):
    """As `view_factors`, the maps that also take new rows (see `ridge_maps`) and their views.

    Parameters
    ----------
    views : iterable of ndarray or csr_array of shape (n, d_i)
        As in `view_factors`. One after the other: they need not all be there at once.
    scales
        As in `view_factors`.
    grams : list of ndarray of shape (d_i, d_i), or None, optional
        X^T X of n samples, among them those of ``views``, for which alone there are factors; a
        view where it is None has that of its rows.
    n : int, optional

    Returns
    -------
    list of ridge maps, in the order of the slices; their attribute ``view`` counts the views.
    """
    by_view = []
    for i, X in enumerate(views):
        gram = grams[i] if grams else None
        count, d = X.shape if gram is None else (n, X.shape[1])
        ridges = [relative_ridge(f, count, d) for f in view_scales(count, d, scales)]
        by_view.append(ridge_maps(X, ridges) if gram is None else gram_maps(X, gram, ridges))
        for ridge_map in by_view[-1]:
            ridge_map.view = i
    return [maps[s] for s in range(len(scales)) for maps in by_view if s < len(maps)]


def check_scales(scales):
    """A list of positive numbers, at least one."""
    scales = np.ravel(scales).tolist()
    if not scales:
        raise ValueError("scales is empty: at least one ridge scale is needed")
    return [check_number(f, "scales", 0.0, open_interval=True) for f in scales]
