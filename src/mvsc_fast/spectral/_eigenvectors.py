"""Leading eigenvectors of normalised affinity matrices, dense or sparse."""

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from ..similarity._factors import lower_inverse
from ._filter import LANES, filtered

LAPACK_LIMIT = 3000
# LAPACK is faster than filters for sparse float32 matrices with at most this number of rows, in
# total or for each eigenvector.
SPARSE_LIMIT = 256
ROWS_PER_VECTOR = 4
# Largest residual of an eigenvector. Smaller values do not change the labels of ConsensusTLRR,
# whose graphs are float32.
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-6}
MAX_FILTERS = 100
LAST_RESORT = 5000  # samples up to which LAPACK is used if filters do not converge
NEAR = 0.95  # Ritz value from which connected components are counted: it is a bound of eigenvalues
# A filter amplifies the first eigenvector at most exp(7) times as much as the last that is sought,
# so that rounding of the former does not hide the latter in float32. If the usual number of filters
# does not suffice, as for eigenvalues that have more eigenvectors than the block has columns, this
# exponent grows, at most by this factor: then the columns are close to eigenvectors.
SPREAD, DEGREES = 7.0, (4, 200)
USUAL_FILTERS, MAX_SPREAD_GROWTH = 12, 2.5
# Part of a unit column that is orthogonal to the columns before it, below which Cholesky's method
# gives no orthogonal basis; of the pivot of a dependent column rounding decides the sign. In fits
# of five sets, the least is .03.
MIN_PIVOT = 1e-3


def largest_eigenpairs(A, count):
    """The ``count`` largest eigenvalues of a symmetric array, largest first, and eigenvectors."""
    n = len(A)
    subset = [n - count, n - 1]
    try:
        values, vectors = scipy.linalg.eigh(A, subset_by_index=subset, check_finite=False)
    except scipy.linalg.LinAlgError:
        vectors = np.empty((n, 0))
    if vectors.shape[1] < count:
        # LAPACK's subset drivers can lose eigenvectors of multiple eigenvalues, or fail.
        values, vectors = scipy.linalg.eigh(A, driver="evd", check_finite=False)
    return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]


def normalized(A):
    """``D^-1/2 A D^-1/2`` and the diagonal of D, the row sums of a symmetric, non-negative A."""
    A = scipy.sparse.csr_array(A) if scipy.sparse.issparse(A) else A
    degree = A.sum(axis=1)
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1))
    if not scipy.sparse.issparse(A):
        N = A * root[:, None]
        N *= root
        return N, degree
    # The entries of a sparse matrix are scaled in its pattern, without products of matrices.
    data = root[A.indices]
    data *= A.data
    data *= np.repeat(root, np.diff(A.indptr).astype(np.intp, copy=False))
    return scipy.sparse.csr_array((data, A.indices, A.indptr), shape=A.shape), degree


def normalized_eigenvectors(A, n_components):
    """The largest eigenvalues of ``D^-1/2 A D^-1/2`` and their eigenvectors.

    Eigenvectors of multiple and clustered eigenvalues are found too, as they occur if clusters are
    weakly linked or disconnected. Up to 3000 samples are decomposed by LAPACK. Larger matrices, and
    sparse ones of float32, use subspace iteration in the precision of A, until residuals are below
    1e-6, or 2e-4 for float32. If it does not converge for up to 5000 samples, LAPACK is used.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, n)
        Symmetric, non-negative.
    n_components : int
        At most n.

    Returns
    -------
    values : ndarray of shape (n_components,), float64
        Largest first.
    vectors : ndarray of shape (n, n_components), float64
    """
    values, block = leading_block(A, n_components)
    return values, block[:, :n_components].astype(np.float64, copy=False)


def leading_block(A, n_components, start=None, n_threads=1):
    """`normalized_eigenvectors`, and further vectors that iterations for a similar matrix need.

    Parameters
    ----------
    A, n_components
        As for `normalized_eigenvectors`.
    start : ndarray of shape (n, k), optional
        The block of a similar matrix, from which the iteration starts. By default fixed random
        numbers, sorted by the degrees of A.
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    values : ndarray of shape (n_components,), float64
    block : ndarray of shape (n, k), k >= n_components, of the precision of A or float64
        Its first columns are the eigenvectors.
    """
    n, sparse = A.shape[0], scipy.sparse.issparse(A)
    limit = SPARSE_LIMIT if sparse and A.dtype == np.float32 else LAPACK_LIMIT
    # Filters pay for large matrices and few vectors. Where they do not converge, LAPACK still can.
    if n > limit and n >= ROWS_PER_VECTOR * n_components:
        try:
            values, block = _filtered_iteration(*normalized(A), n_components, start, n_threads)
            return values.astype(np.float64), block
        except scipy.linalg.LinAlgError:
            if n > LAST_RESORT:
                raise
    N, _ = normalized((A.toarray() if sparse else A).astype(np.float64, copy=False))
    return largest_eigenpairs(N, n_components)


def _filtered_iteration(N, degree, count, start, n_threads):
    """Eigenpairs of N = D^-1/2 A D^-1/2 by subspace iteration, as `leading_block`.

    A block of more vectors than are sought contains all eigenvectors of multiple eigenvalues. A
    Chebyshev polynomial of N amplifies them against the eigenvalues from -1 to the smallest Ritz
    value of the block (Zhou, Saad, Tiago & Chelikowsky 2006). If there are as many connected
    components as vectors are sought, the largest components are taken.
    """
    # A few more columns than eigenvectors let the last of those converge; the random start is in an
    # order that does not depend on that of the samples.
    n, width = N.shape[0], -(-(count + max(4, count // 3)) // LANES) * LANES
    rank, tolerance = np.argsort(degree, kind="stable"), TOLERANCE[N.dtype.type]
    X = np.empty((n, width), dtype=N.dtype)
    X[rank] = np.random.RandomState(0).standard_normal((n, width))
    # Vectors of a similar matrix are a better start, and the first eigenvector is known.
    if start is not None:
        X[:, 1 : start.shape[1]] = start[:, 1:width]
    if degree.any():
        X[:, 0] = np.sqrt(degree)
    components = None
    for k in range(MAX_FILTERS):
        # Rayleigh-Ritz: the best eigenpairs in the span of the columns.
        X = _orthonormal(X)
        NX = _recurrence(N, [(1, 0, 0)], np.zeros_like(X), X, n_threads)
        values, Q = scipy.linalg.eigh(X.T @ NX, driver="evd", check_finite=False)
        X, NX, values = X @ Q[:, ::-1], NX @ Q[:, ::-1], values[::-1]
        # With count components, the eigenvalue 1 is multiple, and its vectors are known without
        # iterating.
        if components is None and values[count - 1] > NEAR:
            components = _component_vectors(N, degree, count)
            if len(components.T) == count:
                return np.ones(count), components
        # Converged, or another filter, whose degree follows from what is missing.
        residuals = np.linalg.norm(NX[:, :count] - X[:, :count] * values[:count], axis=0)
        if residuals.max() <= tolerance:
            return values[:count], X
        spread = SPREAD * np.clip(k / USUAL_FILTERS, 1, MAX_SPREAD_GROWTH)
        X = _filter(N, values, count, residuals.max() / tolerance, spread, X, NX, n_threads)
    raise scipy.linalg.LinAlgError(
        f"only {np.count_nonzero(residuals <= tolerance)} of {count} eigenvectors of the affinity "
        f"matrix converged to {tolerance:.1g}: reduce n_clusters, or connect the samples to more "
        "neighbors"
    )


def _orthonormal(X):
    """An orthonormal basis of the columns of X, by Cholesky's method if they allow it."""
    X = X / np.linalg.norm(X, axis=0)
    wide = X.astype(np.float64, copy=False)
    try:
        factor = scipy.linalg.cholesky(wide.T @ wide, lower=True, check_finite=False)
        is_dependent = factor.diagonal().min() < MIN_PIVOT
    except scipy.linalg.LinAlgError:
        is_dependent = True
    if is_dependent:
        return np.ascontiguousarray(np.linalg.qr(X)[0])
    return np.ascontiguousarray(X @ lower_inverse(factor).T.astype(X.dtype))


def _filter(N, values, count, excess, spread, X, NX, n_threads):
    """A Chebyshev polynomial of N times X, which reduces residuals by the factor ``excess``.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Ritz values of X, largest first; up to the last one eigenvalues are damped.
    spread : float
        The logarithm of the first eigenvector's amplification relative to the last is at most this.
    X, NX : ndarray of shape (n, k)
        The Ritz vectors and their products with N; overwritten.
    """
    # Unwanted eigenvalues are mapped to [-1, 1], where Chebyshev polynomials stay small; the degree
    # is as large as needed, and as rounding allows.
    centre, half = (values[-1] - 1) / 2, (values[-1] + 1) / 2
    first, last = np.arccosh(np.maximum((values[[0, count - 1]] - centre) / half, 1 + 1e-6))
    degree = min(np.log(3 * excess) / last, spread / max(first - last, 1e-6))
    degree = int(np.clip(degree, *DEGREES))
    # Scaled so that the polynomial is 1 at 1.
    sigma = top = half / (1 - centre)
    Y = (NX - X.dtype.type(centre) * X) * X.dtype.type(sigma / half)
    steps = []
    for _ in range(degree - 1):
        following = 1 / (2 / top - sigma)
        steps.append((2 * following / half, centre, sigma * following))
        sigma = following
    return _recurrence(N, steps, X, Y, n_threads)


def _recurrence(N, steps, X, Y, n_threads):
    """The last Y of ``X, Y = Y, scale (N Y - shift Y) - keep X`` for each (scale, shift, keep)."""
    if scipy.sparse.issparse(N) and (N.dtype, N.indices.dtype) == (np.float32, np.int32):
        return filtered(N, np.array(steps, dtype=np.float64), X, Y, n_threads)[1]
    for scale, shift, keep in np.array(steps, dtype=N.dtype):
        X, Y = Y, scale * (N @ Y - shift * Y) - keep * X
    return Y


def _component_vectors(N, degree, count):
    """Unit vectors D^1/2 1_C of the ``count`` largest connected components C with links.

    They are eigenvectors of eigenvalue 1; isolated samples have eigenvalue 0.
    """
    member = component_indices(N)
    volume = np.bincount(member, degree)
    largest = np.argsort(-volume, kind="stable")[: min(count, np.count_nonzero(volume))]
    vectors = np.sqrt(degree)[:, None] * (member[:, None] == largest)
    return vectors / np.sqrt(volume[largest])


def component_indices(N):
    """Index of the connected component of each sample."""
    N = scipy.sparse.csr_array(N, copy=True)
    N.eliminate_zeros()  # stored zeros are not links
    # For a symmetric matrix these are the connected components, found without a transpose.
    return connected_components(N, directed=True, connection="strong")[1]
