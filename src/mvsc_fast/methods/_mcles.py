"""The estimator of MCLES."""

from ..solvers._mcles import mcles
from ..spectral import assign
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

    _function = staticmethod(mcles)
    _arrays = (0, 11)
    _learned = ("tensor", "representation", "latent", "embedding")

    def __init__(
        self,
        n_clusters=8,
        *,
        alpha=0.8,
        beta=0.4,
        gamma=0.004,
        n_components=70,
        tol=1e-2,
        max_iter=30,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())

    def _context(self, views, seed, n_threads):
        return {"random_state": seed}

    def _cut(self, learned, seed):
        labels = assign(
            learned["embedding_"],
            self.n_clusters,
            order=learned["affinity_matrix_"].sum(axis=1),
            n_init=self.n_init,
            random_state=seed,
        )
        return {"labels_": labels}
