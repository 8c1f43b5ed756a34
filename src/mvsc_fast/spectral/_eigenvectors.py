"""Leading eigenvectors of normalised affinity matrices, dense or sparse."""

import inspect

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

LAPACK_LIMIT = 3000
# LAPACK is faster than Lanczos for sparse float32 matrices with at most this number of rows, in
# total or for each eigenvector.
SPARSE_LIMIT = 256
ROWS_PER_VECTOR = 12
# Tolerance of Lanczos. Smaller values do not change the labels of ConsensusTLRR, whose graphs are
# float32. Below 1e-6 it may take minutes, or fail, if more clusters are weakly linked than sought.
TOLERANCE = {np.float32: 1e-3, np.float64: 1e-6}
# Smallest and largest tolerance of the search for missed eigenvectors. Which eigenvectors are taken
# does not matter if their eigenvalues differ by less than the smallest.
LOOK = 1e-3, 2e-2
# SciPy 1.17 and later restart at random if the products from one start are used up.
SEED = {"rng": 0} if "rng" in inspect.signature(eigsh).parameters else {}


def largest_eigenpairs(A, count):
    """The ``count`` largest eigenvalues of a symmetric array and their eigenvectors, by LAPACK.

    Returns
    -------
    values : ndarray of shape (count,)
        Largest first.
    vectors : ndarray of shape (n, count)
    """
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
    """``D^-1/2 A D^-1/2`` and the diagonal of D, which holds the row sums of A.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, n)
        Symmetric, non-negative.
    """
    A = scipy.sparse.csr_array(A) if scipy.sparse.issparse(A) else A
    degree = A.sum(axis=1)
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1))
    if not scipy.sparse.issparse(A):
        N = A * root[:, None]
        N *= root
        return N, degree
    data = root[A.indices]
    data *= A.data
    data *= np.repeat(root, np.diff(A.indptr).astype(np.intp, copy=False))
    return scipy.sparse.csr_array((data, A.indices, A.indptr), shape=A.shape), degree


def normalized_eigenvectors(A, n_components, start=None):
    """The largest eigenvalues of ``D^-1/2 A D^-1/2`` and their eigenvectors.

    Eigenvectors of multiple and clustered eigenvalues are found too, as they occur if clusters are
    weakly linked or disconnected. Up to 3000 samples are decomposed by LAPACK. Larger matrices, and
    sparse ones of float32, use the Lanczos method in the precision of A, with a relative tolerance
    of 1e-6, or 1e-3 for float32.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, n)
        Symmetric, non-negative.
    n_components : int
        At most n.
    start : ndarray of shape (n,), optional
        Start vector of the Lanczos method: positive numbers, or the sum of the eigenvectors of a
        similar matrix. By default fixed random numbers, sorted by the degrees of A.

    Returns
    -------
    values : ndarray of shape (n_components,), float64
        Largest first.
    vectors : ndarray of shape (n, n_components), float64
    """
    n, sparse = A.shape[0], scipy.sparse.issparse(A)
    limit = SPARSE_LIMIT if sparse and A.dtype == np.float32 else LAPACK_LIMIT
    if n <= limit or n < ROWS_PER_VECTOR * n_components:
        N, degree = normalized((A.toarray() if sparse else A).astype(np.float64, copy=False))
        values, vectors = largest_eigenpairs(N, n_components)
    else:
        N, degree = normalized(A)
        values, vectors = _lanczos(N, degree, n_components, start)
    # float64: scikit-learn's k-means converts float32 in every step of its seeding.
    return values.astype(np.float64, copy=False), vectors.astype(np.float64, copy=False)


def _lanczos(N, degree, count, start):
    """Eigenpairs of N = D^-1/2 A D^-1/2, as `normalized_eigenvectors`.

    From one start vector, Lanczos finds one eigenvector of a multiple eigenvalue, and others only
    through rounding; a missed one would merge clusters. Therefore the eigenvectors of eigenvalue 1
    are taken from the connected components. Further ones are searched from new start vectors until
    none has an eigenvalue clearly larger than the smallest found. This check has a looser tolerance
    than the search and takes fewer products.
    """
    rng, rank = np.random.RandomState(0), np.argsort(degree, kind="stable")
    if start is None:
        start = _in_order(rng.uniform(0.5, 1.5, len(rank)), rank)
    values, vectors = _component_eigenpairs(N, degree, count)
    wanted = count - len(values)
    while wanted:
        more, found = _largest_beside(N, values, vectors, wanted, start, TOLERANCE[N.dtype.type])
        values, vectors = np.append(values, more), np.hstack([vectors, found])
        order = np.argsort(-values, kind="stable")[:count]
        values, vectors = values[order], vectors[:, order]
        start = _in_order(rng.uniform(-1, 1, len(rank)), rank)
        tolerance = float(np.clip((1 - values[-1]) / 3, *LOOK))
        seen, found = _largest_beside(N, values, vectors, 1, start, tolerance)
        wanted, start = int(seen[0] > values[-1] + LOOK[0]), found[:, 0]
    return values, vectors


def _in_order(numbers, rank):
    out = np.empty_like(numbers)
    out[rank] = numbers
    return out


def _component_eigenpairs(N, degree, count):
    """Eigenvalue 1 and unit vector D^1/2 1_C for each of the ``count`` largest components C.

    Isolated samples have eigenvalue 0. They are included only if all samples are isolated, because
    Lanczos would fail then.
    """
    member = _components(N)
    volume = np.bincount(member, degree)
    largest = np.argsort(-volume, kind="stable")[:count]
    if len(volume) < len(member):
        largest = largest[volume[largest] > 0]
    weights = np.where(degree > 0, degree, 1)
    vectors = np.sqrt(weights)[:, None] * (member[:, None] == largest)
    vectors /= np.sqrt(np.bincount(member, weights)[largest])
    return (volume[largest] > 0).astype(np.float64), vectors


def _components(N):
    """Index of the connected component of each sample."""
    if not scipy.sparse.issparse(N):
        return _dense_components(N)
    if not N.data.all():  # stored zeros are not links
        N = N.copy()
        N.eliminate_zeros()
    # For a symmetric matrix these are the connected components, found without a transpose.
    return connected_components(N, directed=True, connection="strong")[1]


def _dense_components(N):
    """As `_components`; SciPy would list all links, which takes more memory than N."""
    member, left, number = np.empty(len(N), dtype=np.intp), np.arange(len(N)), 0
    while len(left):
        reached, left = [left[0]], left[1:]
        while reached:
            row = reached.pop()
            member[row] = number
            linked = N[row, left] != 0
            reached.extend(left[linked])
            left = left[~linked]
        number += 1
    return member


def _largest_beside(N, values, vectors, count, start, tolerance):
    """The largest eigenpairs except given ones, which are deflated to -1.

    The matrix N - V (I + diag(values)) V^T has eigenvalue -1 for the given vectors V.
    """
    V, weights = vectors.astype(N.dtype), (1 + values).astype(N.dtype)
    rest = LinearOperator(
        N.shape, lambda x: N @ x.ravel() - V @ (weights * (V.T @ x.ravel())), dtype=N.dtype
    )
    v0 = (start - V @ (V.T @ start)).astype(N.dtype)
    try:
        values, vectors = eigsh(rest, count, which="LA", tol=tolerance, v0=v0, **SEED)
    except ArpackNoConvergence as error:
        raise scipy.linalg.LinAlgError(
            f"only {len(error.eigenvalues)} of {count} eigenvectors of the affinity matrix "
            f"converged to {tolerance:.1g}: reduce n_clusters, or connect the samples to more "
            "neighbors"
        ) from None
    order = np.argsort(-values)
    return values[order], vectors[:, order]
