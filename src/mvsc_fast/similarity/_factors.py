"""Ridge regression of each sample on all others as a product of factors.

For the unit rows x of a view, ``S = X^T X`` and a ridge g, the symmetrised coefficients are

    A_jk = <u_j, u_k> (h_j + h_k),     u = (S + g I)^{-1/2} x,     h = 1 / (1 - |u|^2),

so an entry costs as many multiplications as there are features, and no n x n matrix is needed. Any
other factor of ``X (S + g I)^{-1} X^T`` can be used; that of Cholesky is the cheapest.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from ..views._rows import SMALL_BLOCK, dense

RIDGE_SCALES = (0.5, 5.0)
# Local scaling: ranks of 5 to 20 give the same accuracy within .005. At a cap of 1.0 too many
# entries tie.
SCALE_NEIGHBORS, CAP = 10, 1.5


class Factors(NamedTuple):
    """Factors of one slice ``max(0, <u_j, u_k> (h_j + h_k))`` before local scaling."""

    u: np.ndarray
    h: np.ndarray


def view_ridges(n, d, scales=RIDGE_SCALES):
    """Ridges of n unit rows with d columns: scales times their mean eigenvalue, n / min(n, d).

    The first scale is always used, the others if n >= 4 d: with fewer samples a strong ridge loses
    the fine structure that the first scale reveals.
    """
    return [scale * n / min(n, d) for scale in (scales if n >= 4 * d else scales[:1])]


def ridge_factors(X, ridges):
    """The `Factors` of the unit rows of one view for each ridge g.

    The smaller of the two Gram matrices gives ``u`` of shape (n, min(n, d)) and ``h``, float32.
    """
    n, d = X.shape
    if d <= n:
        blocks = (X[rows] for rows in gen_batches(n, SMALL_BLOCK))
        gram = sum(safe_sparse_dot(rows.T, rows, dense_output=True) for rows in blocks)
        return [_primal(X, gram, ridge) for ridge in ridges]
    # With more columns than samples, the Gram matrix of the samples is the smaller one.
    X = X.astype(np.float64)
    gram = safe_sparse_dot(X, X.T, dense_output=True)
    return [_dual(gram, ridge) for ridge in ridges]


def _primal(X, gram, ridge):
    """u = L^{-1} x with S + g I = L L^T.

    Rows have unit length and g is in proportion to the mean eigenvalue, so that the condition
    number is of the order of the number of columns: small enough for float32.
    """
    lower = gram.copy()
    lower[np.diag_indices(len(lower))] += ridge
    lower = scipy.linalg.cholesky(lower, lower=True, overwrite_a=True, check_finite=False)
    # Products with the inverse run at twice the speed of solves, and nothing is singular here.
    inverse = lower_inverse(lower)
    (trmm,) = scipy.linalg.get_blas_funcs(("trmm",), (inverse,))
    u = np.empty((X.shape[0], len(lower)), dtype=np.float32)
    slack = np.empty(len(u))
    for rows in gen_batches(len(u), SMALL_BLOCK):
        U = trmm(1.0, inverse, dense(X[rows], None).T, lower=1)
        u[rows] = U.T
        slack[rows] = 1.0 - np.einsum("ij,ij->j", U, U)
    return Factors(u, _inverse(slack))


def _dual(gram, ridge):
    """u u^T = I - g' P with P = (K + g I)^{-1} and g' slightly below g, by Cholesky factors.

    Similarities depend only on ratios to ``1 - |u|^2 = g' P_jj``, so g' cancels; a g' below g makes
    ``I - g' P`` definite if K is singular.
    """
    shifted = gram.copy()
    shifted[np.diag_indices(len(gram))] += ridge
    matrix = spd_inverse(shifted)
    matrix *= -ridge * (1.0 - 1e-6)
    slack = -matrix.diagonal()
    matrix[np.diag_indices(len(gram))] += 1.0
    lower = scipy.linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    return Factors(np.ascontiguousarray(lower, dtype=np.float32), _inverse(slack))


def _inverse(slack):
    return (1.0 / np.maximum(slack, 1e-12)).astype(np.float32)


# LAPACK gets upper triangles: the inverse of a lower one in single precision ends the process with
# the kernels that OpenBLAS 0.3.30 chooses for processors without SSSE3 ("Prescott"), such as the
# default one of QEMU.


def lower_inverse(L):
    """Inverse of a lower triangular matrix, in Fortran order."""
    (trtri,) = scipy.linalg.get_lapack_funcs(("trtri",), (L,))
    inverse, _ = trtri(L.T, lower=0)
    return np.asfortranarray(inverse.T)


def spd_inverse(A):
    """Inverse of a positive definite matrix, both triangles; overwrites A."""
    potrf, potri = scipy.linalg.get_lapack_funcs(("potrf", "potri"), (A,))
    # A is symmetric: its transpose is the same matrix in Fortran order.
    factor, info = potrf(A.T, lower=0, overwrite_a=1, clean=0)
    if info == 0:
        inverse, info = potri(factor, lower=0, overwrite_c=1)
    if info != 0:
        raise np.linalg.LinAlgError("the ridge Gram matrix is singular: use a larger ridge")
    upper = np.triu_indices(len(A), 1)
    inverse.T[upper] = inverse[upper]
    return inverse


def view_factors(views, scales=RIDGE_SCALES, present=None, ranks=None):
    """Factors of all slices: every view with the first scale, then further scales of some views.

    Parameters
    ----------
    views : list of ndarray or csr_array of shape (n, d_i)
        Unit rows.
    scales : sequence of float, default=(0.5, 5)
        Ridges relative to the mean eigenvalue, see `view_ridges`.
    present : ndarray of shape (v, m) of bool, optional
        Whether each of m samples has each view; ``views`` hold the rows of those that do. The
        others have zero factors, hence no similarities in that view.
    ranks : list of int, optional
        Numbers of features by which the ridges of the views are scaled, if ``views`` are components
        of them.

    Returns
    -------
    list of Factors
    """
    # Samples without a view get zero factors, so that all slices have the same samples.
    by_view = []
    for i, X in enumerate(views):
        rank = X.shape[1] if ranks is None else ranks[i]
        slices = ridge_factors(X, view_ridges(X.shape[0], rank, scales))
        if present is not None and not present[i].all():
            slices = [_spread(factors, present[i]) for factors in slices]
        by_view.append(slices)
    return [slices[s] for s in range(len(scales)) for slices in by_view if s < len(slices)]


def _spread(factors, has):
    """Factors of all samples, zero for those without the view."""
    u = np.zeros((len(has), factors.u.shape[1]), dtype=np.float32)
    h = np.zeros(len(has), dtype=np.float32)
    u[has], h[has] = factors
    return Factors(u, h)
