"""Similarities that are products of factors, kept where the tubes of the tensor are longest.

For unit rows x of a view and ``S = X^T X``, ridge regression of each sample on all others gives

    A_jk = max(0, <u_j, u_k> (h_j + h_k)),     u = (S + g I)^{-1/2} x,     h = 1 / (1 - |u|^2),

so that any entry costs d multiplications and nothing of size n x n is needed. Of the tensor of all
slices ``W_i = min(cap, A_i / sqrt(r_j r_k))`` the longest tubes of every row are kept.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import safe_sparse_dot

from . import _factored
from .threads import blas_threads, resolve_threads
from .validation import check_integer, check_number
from .views import check_views

SCALES = (0.5, 5.0)
BLOCK = 4096  # rows that are float64 at a time
MEMORY = 2**28  # bytes of entries kept between the two sweeps over the pattern


class Factors(NamedTuple):
    """One slice: ``max(0, <u_j, u_k> (h_j + h_k))`` before it is put on a local scale."""

    u: np.ndarray
    h: np.ndarray


class SparseTensor(NamedTuple):
    """Similarities of v slices on one symmetric sparse pattern without a diagonal.

    Attributes
    ----------
    values : ndarray of shape (v, nnz), float32
    indptr : ndarray of shape (n + 1,)
        Where each row begins.
    indices : ndarray of shape (nnz,), int32
        Columns, ascending in each row.
    lengths : ndarray of shape (nnz,), float32
        Of the tubes ``values[:, e]``.
    scales : ndarray of shape (v, n), float32
        Local scale r of every row.
    missed : ndarray of shape (n,), float32
        Longest tube of each row that was seen and that the row did not keep, 0 where none.
    """

    values: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    lengths: np.ndarray
    scales: np.ndarray
    missed: np.ndarray

    @property
    def n(self):
        """Number of samples."""
        return len(self.indptr) - 1

    def slices(self):
        """The slices as csr_arrays that share the pattern."""
        return [
            scipy.sparse.csr_array((data, self.indices, self.indptr), shape=(self.n, self.n))
            for data in self.values
        ]


def relative_ridge(scale, n, d):
    """Ridge g = scale * n / min(n, d): ``scale`` times the mean eigenvalue of unit rows."""
    return scale * n / min(n, d)


def view_scales(n, d, scales):
    """The ridge scales that a view of n samples and d features enters with, by `scales`.

    The first always, the others where n >= 4 d: with fewer samples a strong ridge loses the fine
    structure that the first scale sees.
    """
    return list(scales) if n >= 4 * d else list(scales[:1])


def ridge_factors(X, ridge):
    """Factors of the self-representation of a view by ridge regression.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        Rows of the length wanted: unit rows as a rule.
    ridge : float
        g, absolute.

    Returns
    -------
    Factors
        ``u`` (n, min(n, d)), columns that are zero left out, and ``h`` (n,), float32.
    """
    (factors,) = _factors(X, [ridge])
    return factors


def _factors(X, ridges):
    """Factors of one view for several ridges, with one Gram matrix."""
    n, d = X.shape
    if d <= n:
        gram = sum(safe_sparse_dot(rows.T, rows, dense_output=True) for rows in _double_blocks(X))
        return [_primal_factors(X, gram, ridge) for ridge in ridges]
    X = X.astype(np.float64)
    gram = safe_sparse_dot(X, X.T, dense_output=True)
    return [_dual_factors(gram, ridge) for ridge in ridges]


def _double_blocks(X):
    for first in range(0, X.shape[0], BLOCK):
        yield X[first : first + BLOCK].astype(np.float64)


def _primal_factors(X, gram, ridge):
    """u = L^{-1} x with S + g I = L L^T."""
    n, d = X.shape
    lower = gram.copy()
    lower[np.diag_indices(d)] += ridge
    lower = scipy.linalg.cholesky(lower, lower=True, overwrite_a=True, check_finite=False)
    u = np.empty((n, d), dtype=np.float32)
    slack = np.empty(n)
    first = 0
    for rows in _double_blocks(X):
        rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
        rows = scipy.linalg.solve_triangular(lower, rows.T, lower=True, check_finite=False).T
        u[first : first + len(rows)] = rows
        slack[first : first + len(rows)] = 1.0 - np.einsum("ij,ij->i", rows, rows)
        first += len(rows)
    used = np.any(u, axis=0)
    used[0] |= not used.any()
    return Factors(np.ascontiguousarray(u[:, used]), _inverse(slack))


def _dual_factors(gram, ridge):
    """u u^T = I - g' P with P = (K + g I)^{-1} and g' a little below g, by Cholesky factors.

    Only ratios to ``1 - |u|^2 = g' P_jj`` enter a similarity, so any g' gives the same; one below g
    makes ``I - g' P`` definite, where K itself is singular.
    """
    n = len(gram)
    shifted = gram.copy()
    shifted[np.diag_indices(n)] += ridge
    inverse = spd_inverse(shifted)
    inverse *= -ridge * (1.0 - 1e-6)
    slack = -inverse.diagonal()
    inverse[np.diag_indices(n)] += 1.0
    u = scipy.linalg.cholesky(inverse, lower=True, overwrite_a=True, check_finite=False)
    return Factors(np.ascontiguousarray(u, dtype=np.float32), _inverse(slack))


def _inverse(slack):
    return (1.0 / np.maximum(slack, 1e-12)).astype(np.float32)


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
    by_view = []
    for X in views:
        n, d = X.shape
        ridges = [relative_ridge(f, n, d) for f in view_scales(n, d, scales)]
        by_view.append(_factors(X, ridges))
    return [factors[s] for s in range(len(scales)) for factors in by_view if s < len(factors)]


def nearest_rows(u, n_neighbors, n_threads=1):
    """For every row the rows of largest positive cosine with it, exactly, ties by index.

    Parameters
    ----------
    u : ndarray of shape (n, d), float32
    n_neighbors : int
    n_threads : int, default=1

    Returns
    -------
    ndarray of shape (n, min(n_neighbors, n - 1)), int32
        Nearest first; -1 where a row has fewer, as a row of zeros.
    """
    with blas_threads(1):  # blocks of rows run side by side
        return _factored.nearest_rows(normalize(u), min(n_neighbors, len(u) - 1), n_threads)


def sparse_tensor(
    factors,
    *,
    n_candidates=50,
    n_longest=48,
    cap=1.5,
    scale_neighbors=10,
    n_threads=1,
    candidates=None,
):
    """The longest tubes of every row of a tensor of factored slices.

    Candidates of a row are its nearest rows by the cosine of u in any slice; every slice is
    evaluated on all of them. Local scales r_j, the ``scale_neighbors``-th largest positive entry of
    row j, are of the candidates.

    Parameters
    ----------
    factors : list of Factors
        One for each slice, of the same samples.
    n_candidates : int, default=50
        Nearest rows of each slice.
    n_longest : int, default=48
        Tubes that a row keeps; the pattern is the union of these with its transpose.
    cap, scale_neighbors
        As in `self_representation`.
    n_threads : int, default=1
        The result does not depend on it.
    candidates : list of ndarray of shape (n, K), int32, optional
        Columns for each row, -1 for none, as of `nearest_rows`, instead of looking for them.

    Returns
    -------
    SparseTensor
    """
    n, v = len(factors[0].u), len(factors)
    if candidates is None:
        candidates = [nearest_rows(u, n_candidates, n_threads) for u, _ in factors]
    indptr, indices = _union(candidates)
    rank = min(scale_neighbors, max(n - 1, 1))
    scales = np.empty((v, n), dtype=np.float32)
    # All entries are kept between the two sweeps if they fit, else computed again, block by block.
    per_row = max(1, 4 * v * len(indices) // n)
    blocks = [slice(first, min(n, first + MEMORY // per_row + 1))
              for first in range(0, n, MEMORY // per_row + 1)]  # fmt: skip
    for rows in blocks:
        values = _entries(factors, indptr, indices, rows, n_threads)
        for i in range(v):
            _factored.local_scales(
                values[i], indptr, rows.start, rows.stop, rank, scales[i], n_threads
            )
    roots = 1.0 / np.sqrt(scales)
    m = min(n_longest, max(n - 1, 1))
    kept = np.empty((n, m), dtype=np.int32)
    entries = np.empty((v, n, m), dtype=np.float32)
    lengths = np.empty((n, m), dtype=np.float32)
    missed = np.empty(n, dtype=np.float32)
    for rows in blocks:
        if len(blocks) > 1:
            values = _entries(factors, indptr, indices, rows, n_threads)
        _factored.longest_tubes(
            values, roots, indptr, indices, rows.start, rows.stop, cap, kept, entries, lengths,
            missed, n_threads,
        )  # fmt: skip
    found = kept >= 0
    # Where an entry of the symmetric pattern stands: in its own row, or in that of its column.
    place = np.arange(1, found.sum() + 1)
    starts = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    pattern = scipy.sparse.csr_array((place, kept[found], starts), shape=(n, n))
    pattern = pattern.maximum(pattern.T.tocsr())
    pattern.sort_indices()
    place = pattern.data - 1
    return SparseTensor(
        values=entries[:, found][:, place],
        indptr=pattern.indptr,
        indices=pattern.indices.astype(np.int32, copy=False),
        lengths=lengths[found][place],
        scales=scales,
        missed=missed,
    )


def _union(candidates):
    """Pattern (indptr, indices) of the union of lists of columns."""
    columns = np.sort(np.concatenate(candidates, axis=1), axis=1)
    new = columns >= 0
    new[:, 1:] &= columns[:, 1:] != columns[:, :-1]
    indptr = np.zeros(len(columns) + 1, dtype=np.intp)
    np.cumsum(new.sum(axis=1), out=indptr[1:])
    return indptr, columns[new]


def _entries(factors, indptr, indices, rows, n_threads):
    values = np.empty((len(factors), indptr[rows.stop] - indptr[rows.start]), dtype=np.float32)
    for (u, h), out in zip(factors, values, strict=True):
        _factored.products(u, h, indptr, indices, rows.start, rows.stop, out, n_threads)
    return values


def sparse_self_representation(
    views,
    *,
    scales=SCALES,
    n_candidates=50,
    n_longest=48,
    scale_neighbors=10,
    cap=1.5,
    n_threads=None,
):
    """`self_representation` where its tubes are longest, at a cost and memory linear in n.

    Equal to the dense one of the same ``scales`` on its pattern, where the local scales agree: a
    row's ``scale_neighbors`` largest entries are among its candidates as a rule, and always with
    ``n_candidates=n - 1``. Search for the candidates takes n^2 d multiplications.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
    scales, scale_neighbors, cap
        As in `self_representation`.
    n_candidates : int, default=50
        Nearest rows of each slice, on whose union all slices are evaluated.
    n_longest : int, default=48
        Tubes kept for each sample; a tube stays if either of its two samples keeps it.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed. The result does not depend on it.

    Returns
    -------
    list of csr_array of shape (n, n), float32
        Symmetric, of one pattern without diagonal, entries in [0, cap]. First every view by
        ``scales[0]``, then the views with n >= 4 d by the other scales.
    """
    views = check_views(views)
    scales = check_scales(scales)
    n_candidates = check_integer(n_candidates, "n_candidates", 1)
    n_longest = check_integer(n_longest, "n_longest", 1)
    scale_neighbors = check_integer(scale_neighbors, "scale_neighbors", 1)
    cap = check_number(cap, "cap", 0.0, open_interval=True)
    n_threads = resolve_threads(n_threads)
    with blas_threads(n_threads):
        factors = view_factors([normalize(X) for X in views], scales)
    tensor = sparse_tensor(
        factors,
        n_candidates=n_candidates,
        n_longest=n_longest,
        cap=cap,
        scale_neighbors=scale_neighbors,
        n_threads=n_threads,
    )
    return tensor.slices()


def check_scales(scales):
    """A list of positive numbers, at least one."""
    scales = np.ravel(scales).tolist()
    if not scales:
        raise ValueError("scales is empty: at least one ridge scale is needed")
    return [check_number(f, "scales", 0.0, open_interval=True) for f in scales]
