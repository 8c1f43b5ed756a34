"""Spectral clustering of an affinity matrix: fusion, embedding and assignment."""

from __future__ import annotations

import inspect

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from ._utils.containers import checked_csr, safe_csr
from ._utils.threads import limit_threads
from ._utils.types import Affinity, FloatArray, IntArray, Seed, Shaped, Similarities
from .views._rows import spread

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
KMEANS_ROWS = 20_000  # maximum number of rows for the starts of k-means
RESOLUTION = 1e-8  # relative distance below which squared distances are rounding errors
PASSES = 10  # Lloyd iterations over all rows after them

__all__ = ["fuse", "spectral_embedding", "spectral_labels"]


def fuse(tensor: Similarities, *, keep_diagonal: bool = False) -> Affinity:
    """Symmetrised affinity matrix ``S = sum_i |T_i|`` of a tensor.

    Parameters
    ----------
    tensor : array of shape (v, n, n), or list of v sparse arrays
    keep_diagonal : bool, default=False
        Whether to keep the diagonal, as the self-representation methods do. TLRR sets it to zero.

    Returns
    -------
    ndarray or csr_array of shape (n, n)
    """
    if scipy.sparse.issparse(tensor[0]):
        S = sum(abs(checked_csr(A, f"slice {i}")) for i, A in enumerate(tensor))
        S = scipy.sparse.csr_array(S + S.T) * 0.5
        return S if keep_diagonal else scipy.sparse.csr_array(S - scipy.sparse.diags(S.diagonal()))
    S = np.abs(tensor[0])
    for A in tensor[1:]:
        S += np.abs(A)
    S += S.T.copy()
    S *= 0.5
    if not keep_diagonal:
        np.fill_diagonal(S, 0.0)
    return S


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
    values, vectors = eigsh(
        rest,
        count,
        which="LA",
        tol=tolerance,
        v0=(start - V @ (V.T @ start)).astype(N.dtype),
        **SEED,
    )
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def spectral_embedding(S: Shaped, n_components: int) -> FloatArray:
    """Ng-Jordan-Weiss embedding: leading eigenvectors of D^-1/2 S D^-1/2, rows of unit length.

    Parameters
    ----------
    S : ndarray or csr_array of shape (n, n)
        Symmetric, non-negative.
    n_components : int
        Number of eigenvectors, usually the number of clusters.

    Returns
    -------
    ndarray of shape (n, n_components)
        Largest eigenvalue first; the row of an isolated sample may be zero.
    """
    S = safe_csr(S, "S") if scipy.sparse.issparse(S) else S
    return normalize(normalized_eigenvectors(S, n_components)[1])


def embedded(values, vectors, n_clusters, kind):
    """Rows of unit length from 2 c leading eigenpairs.

    Parameters
    ----------
    values, vectors
        Of `normalized_eigenvectors`.
    n_clusters : int
        c.
    kind : {"c", "2c"}
        "c" uses the first c eigenvectors. "2c" uses all, multiplied by their squared eigenvalues,
        which separates clusters that c eigenvectors cannot separate.
    """
    if kind == "c":
        return normalize(vectors[:, :n_clusters])
    return normalize(vectors * np.maximum(values, 0) ** 2)


def distinct_rows(rows):
    """Number of rows that k-means can tell apart, counted on a random line."""
    line = np.sort(rows @ np.random.RandomState(0).standard_normal(rows.shape[1]))
    return 1 + np.count_nonzero(np.diff(line) > RESOLUTION * np.abs(line).max())


def assign(
    embedding,
    n_clusters,
    *,
    order=None,
    n_init=20,
    random_state=None,
    max_rows=KMEANS_ROWS,
    passes=PASSES,
):
    """k-means labels of the rows of an embedding.

    If there are more than 20 000 rows, k-means runs on a subsample of this size, evenly spaced in
    ``order``, and then at most ten Lloyd iterations over all rows start from the best centres.

    Parameters
    ----------
    embedding : ndarray of shape (n, k)
    n_clusters : int
    order : ndarray of shape (n,), optional
        One number per sample that does not depend on the order of the samples, such as its
        degree. k-means is run on the samples sorted by it, so that permuting the samples permutes
        the labels.
    n_init : int, default=20
        Number of k-means initialisations; the best is kept.
    random_state : int, RandomState or None
    max_rows, passes : int

    Returns
    -------
    ndarray of shape (n,) of int
        Labels from 0, numbered by their first appearance in ``order``.
    """
    rank = np.arange(len(embedding)) if order is None else np.argsort(order, kind="stable")
    rows = embedding[rank]
    model = KMeans(n_clusters, n_init=n_init, max_iter=1000, random_state=random_state)
    with limit_threads():  # its chunks have 256 rows, too few for several threads
        if len(rows) > max_rows:
            model.fit(rows[spread(len(rows), max_rows)])
            model = KMeans(n_clusters, init=model.cluster_centers_, n_init=1, max_iter=passes)
        found = model.fit_predict(rows)
    # Starts that reach the same partition tie up to rounding, so number clusters by appearance.
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    labels = np.empty(len(embedding), dtype=np.int32)
    labels[rank] = np.argsort(np.argsort(first))[inverse]
    return labels


def spectral_labels(
    S: Shaped, n_clusters: int, *, n_init: int = 20, random_state: Seed = None
) -> tuple[IntArray, FloatArray]:
    """Cluster the samples of an affinity matrix by k-means of its spectral embedding.

    Parameters
    ----------
    S : ndarray or csr_array of shape (n, n)
        Symmetric, non-negative.
    n_clusters : int
        Number of clusters to find.
    n_init : int, default=20
        Number of k-means initialisations; the best is kept.
    random_state : int, RandomState or None, default=None
        Pass an int for reproducible labels.

    Returns
    -------
    labels : ndarray of shape (n,) of int
        Cluster of each sample, from 0.
    embedding : ndarray of shape (n, n_clusters)
        See `spectral_embedding`.
    """
    embedding = spectral_embedding(S, n_clusters)
    degree = np.ravel(S.sum(axis=1))
    labels = assign(embedding, n_clusters, order=degree, n_init=n_init, random_state=random_state)
    return labels, embedding


def simplified_silhouette(embedding, labels):
    """Simplified silhouette of each sample, computed from cluster means.

    It is ``(b - a) / max(a, b)``, with a the distance to the mean of the sample's own cluster and b
    the distance to the nearest mean of another cluster, and costs time linear in n (Hruschka, de
    Castro & Campello 2004).

    Parameters
    ----------
    embedding : ndarray of shape (n, k)
    labels : ndarray of shape (n,) of int
        Labels from 0 of at least two clusters.

    Returns
    -------
    ndarray of shape (n,)
        Values in [-1, 1]; 0 if both distances are 0.
    """
    n, c = len(labels), int(labels.max()) + 1
    ones = np.ones(n, dtype=embedding.dtype)
    member = scipy.sparse.csr_array((ones, labels, np.arange(n + 1)), shape=(n, c))
    sizes = np.bincount(labels, minlength=c)
    means = (member.T @ embedding) / np.maximum(sizes, 1)[:, None].astype(embedding.dtype)
    squares = embedding @ means.T
    squares *= -2
    squares += np.einsum("ij,ij->i", embedding, embedding)[:, None]
    squares += np.where(sizes > 0, np.einsum("ij,ij->i", means, means), np.inf)
    a = squares[np.arange(n), labels]
    squares[np.arange(n), labels] = np.inf
    a, b = (np.sqrt(np.maximum(x, 0)) for x in (a, squares.min(axis=1)))
    largest = np.maximum(a, b)
    return np.where(largest > 0, (b - a) / np.where(largest > 0, largest, 1), 0)
