"""From a similarity tensor to labels: fuse, embed, assign."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from ._sparse._spectral import LAPACK_LIMIT, dense_eigenpairs
from .threads import limit_threads
from .views._rows import spread

KMEANS_ROWS = 20_000  # that starts of k-means are run on
PASSES = 10  # of Lloyd's iteration over all rows from there

__all__ = [
    "assign",
    "fuse",
    "leading_eigenvectors",
    "simplified_silhouette",
    "spectral_embedding",
    "spectral_labels",
]


def fuse(tensor, *, keep_diagonal=False):
    """Affinity matrix ``S = sum_i |T_i|`` of a tensor, symmetrised.

    Parameters
    ----------
    tensor : array of shape (v, n, n), or list of v sparse arrays
    keep_diagonal : bool, default=False
        TLRR clears the diagonal; the self-representation methods keep it.

    Returns
    -------
    ndarray or csr_array of shape (n, n)
    """
    if scipy.sparse.issparse(tensor[0]):
        S = sum(abs(A) for A in tensor)
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


def spectral_embedding(S, n_components, random_state=None):
    """Ng-Jordan-Weiss embedding: leading eigenvectors of D^-1/2 S D^-1/2, rows of unit length.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Symmetric, non-negative.
    n_components : int
        Number of eigenvectors, the number of clusters as a rule.
    random_state : int, RandomState or None
        Start vector of the Lanczos iteration, used for n above 3000 only.

    Returns
    -------
    ndarray of shape (n, n_components)
        Largest eigenvalue first; the row of an isolated sample may be zero.
    """
    degree = S.sum(axis=1)
    root = 1.0 / np.sqrt(np.where(degree > 0, degree, 1.0))
    N = S * root[:, None]
    N *= root
    vectors = leading_eigenvectors(N, n_components, random_state)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


def leading_eigenvectors(A, count, random_state=None):
    """Eigenvectors of the ``count`` largest eigenvalues of a symmetric matrix, largest first.

    Parameters
    ----------
    A : ndarray or sparse matrix of shape (n, n)
    count : int
    random_state : int, RandomState or None
        Start vector of the Lanczos iteration, used for n above 3000 only.

    Returns
    -------
    ndarray of shape (n, count)
    """
    n = A.shape[0]
    if n <= LAPACK_LIMIT or count > n // 10:
        dense = A.toarray() if scipy.sparse.issparse(A) else A
        _, vectors = dense_eigenpairs(dense, count)
    else:
        start = check_random_state(random_state).uniform(-1, 1, n)
        _, vectors = scipy.sparse.linalg.eigsh(A, count, which="LA", v0=start, tol=1e-8)
    return vectors[:, ::-1]


def assign(embedding, n_clusters, *, order=None, n_init=20, random_state=None):
    """k-means labels of the rows of an embedding.

    Above 20 000 rows k-means runs on so many of them, spread over ``order``, and the best centres
    found go on for at most ten passes over all rows.

    Parameters
    ----------
    embedding : ndarray of shape (n, k)
    n_clusters : int
    order : ndarray of shape (n,), optional
        One number per sample that does not depend on the order of the samples, such as its
        degree: k-means draws its starts with the samples sorted by it, so that permuting the
        samples permutes the labels.
    n_init : int, default=20
        Starts, the best of which is kept (methods of the paper: 20).
    random_state : int, RandomState or None

    Returns
    -------
    ndarray of shape (n,) of int
        Labels from 0, numbered by first appearance in ``order``.
    """
    rank = np.arange(len(embedding)) if order is None else np.argsort(order, kind="stable")
    rows = embedding[rank]
    model = KMeans(n_clusters, n_init=n_init, max_iter=1000, random_state=random_state)
    with limit_threads():  # chunks of 256 rows: threads wait more than they work
        if len(rows) > KMEANS_ROWS:
            model.fit(rows[spread(len(rows), KMEANS_ROWS)])
            model = KMeans(n_clusters, init=model.cluster_centers_, n_init=1, max_iter=PASSES)
        found = model.fit_predict(rows)
    # Starts that end in the same partition tie up to rounding: name clusters by appearance.
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    labels = np.empty(len(embedding), dtype=np.int32)
    labels[rank] = np.argsort(np.argsort(first))[inverse]
    return labels


def spectral_labels(S, n_clusters, *, n_init=20, random_state=None):
    """Labels and embedding of an affinity matrix S of shape (n, n)."""
    random_state = check_random_state(random_state)
    embedding = spectral_embedding(S, n_clusters, random_state)
    labels = assign(
        embedding, n_clusters, order=S.sum(axis=1), n_init=n_init, random_state=random_state
    )
    return labels, embedding


def simplified_silhouette(embedding, labels):
    """How much nearer each sample is to the mean of its own cluster than to that of any other.

    ``(b - a) / max(a, b)`` with a the distance to the mean of the own cluster and b that to the
    nearest other one: the silhouette with clusters as their means, at a cost linear in n
    (Hruschka, de Castro & Campello 2004).

    Parameters
    ----------
    embedding : ndarray of shape (n, k)
    labels : ndarray of shape (n,) of int
        From 0, of two clusters or more.

    Returns
    -------
    ndarray of shape (n,)
        In [-1, 1], 0 where both distances are 0.
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
