"""The estimator of MCLES."""

from __future__ import annotations

from .._utils.types import Callback, FloatArray, Seed
from ..solvers._mcles import mcles
from ..spectral._cut import assign
from ._representation import RepresentationClusterer


class MCLES(RepresentationClusterer):
    """Clustering by MCLES: k-means of an embedding that is learned with the similarities.

    Attributes
    ----------
    tensor_ : ndarray of shape (1, n_samples, n_samples)
        S + S^T; the views share one S.
    representation_ : ndarray of shape (1, n_samples, n_samples)
        S; column k, non-negative with sum 1, holds the coefficients of sample k.
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        S + S^T.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        F, the rows that are clustered: the eigenvectors of the Laplacian of ``affinity_matrix_``
        with the smallest eigenvalues.
    latent_ : ndarray of shape (n_samples, n_components)
        The latent representation.
    """

    alpha: float
    beta: float
    gamma: float
    n_components: int
    latent_: FloatArray

    _function = staticmethod(mcles)
    _arrays = (0, 11)
    _learned = ("tensor", "representation", "latent", "embedding")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.8,
        beta: float = 0.4,
        gamma: float = 0.004,
        n_components: int = 70,
        tol: float = 1e-2,
        max_iter: int = 30,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())

    def _cut(self, learned, seed):
        labels = assign(
            learned["embedding_"],
            self.n_clusters,
            order=learned["affinity_matrix_"].sum(axis=1),
            n_init=self.n_init,
            random_state=seed,
        )
        return {"labels_": labels}
