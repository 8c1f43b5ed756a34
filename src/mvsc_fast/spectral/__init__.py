"""Spectral clustering of an affinity matrix: fusion, embedding and assignment."""

from __future__ import annotations

from sklearn.preprocessing import normalize

from .._utils.parameters import check_flag, check_seed, count
from .._utils.threads import limited
from .._utils.types import Affinity, FloatArray, IntArray, Seed, Shaped, Similarities
from .._utils.validation import check_affinity, check_clusters, check_tensor
from ._cut import normalized_cut, symmetric_sum
from ._eigenvectors import normalized_eigenvectors

__all__ = ["fuse", "spectral_embedding", "spectral_labels"]


def fuse(tensor: Similarities, *, keep_diagonal: bool = False) -> Affinity:
    """Symmetrised affinity matrix ``S = sum_i |T_i|`` of a tensor.

    Parameters
    ----------
    tensor : array of shape (v, n, n), or list of v arrays or sparse matrices of shape (n, n)
        The slices need not be symmetric.
    keep_diagonal : bool, default=False
        Whether to keep the diagonal, as the self-representation methods do. TLRR sets it to zero.

    Returns
    -------
    ndarray or csr_array of shape (n, n)

    Raises
    ------
    ValueError
        If slices are not square, differ in size, or have entries that are not finite numbers.
    """
    check_flag(keep_diagonal, "keep_diagonal")
    return symmetric_sum(check_tensor(tensor, "tensor"), keep_diagonal=keep_diagonal)


@limited
def spectral_embedding(S: Shaped, n_components: int) -> FloatArray:
    """Ng-Jordan-Weiss embedding: leading eigenvectors of D^-1/2 S D^-1/2, rows of unit length.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (n, n)
        Symmetric, non-negative.
    n_components : int
        Number of eigenvectors, usually the number of clusters.

    Returns
    -------
    ndarray of shape (n, n_components)
        Largest eigenvalue first; the row of an isolated sample may be zero.

    Raises
    ------
    ValueError
        If S is not square, finite and non-negative, or a parameter is out of range; also if the
        eigenvectors do not converge.

    Warns
    -----
    UserWarning
        If S is not symmetric. It is then averaged with its transpose.
    """
    n_components = count(n_components, "n_components")
    S = check_affinity(S, "S")
    check_clusters(n_components, S.shape[0], "n_components")
    return normalize(normalized_eigenvectors(S, n_components)[1])


@limited
def spectral_labels(
    S: Shaped, n_clusters: int, *, n_init: int = 20, random_state: Seed = None
) -> tuple[IntArray, FloatArray]:
    """Cluster the samples of an affinity matrix by k-means of its spectral embedding.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (n, n)
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
        Result of `spectral_embedding`, whose errors and warnings apply.
    """
    n_clusters, n_init = count(n_clusters, "n_clusters"), count(n_init, "n_init")
    random_state = check_seed(random_state, "random_state")
    S = check_affinity(S, "S")
    check_clusters(n_clusters, S.shape[0])
    return normalized_cut(S, n_clusters, n_init=n_init, random_state=random_state)
