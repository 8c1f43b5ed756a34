"""The estimator of LMSC."""

from ..solvers._lmsc import lmsc
from ._representation import RepresentationClusterer


class LMSC(RepresentationClusterer):
    """Clustering by L-MSC: self-representations of a latent representation of all views.

    Attributes
    ----------
    tensor_ : ndarray of shape (1, n_samples, n_samples)
        ``|Z| + |Z|^T``; the views share one Z.
    representation_ : ndarray of shape (1, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    latent_ : ndarray of shape (n_samples, n_components)
        The latent representation.
    """

    _function = staticmethod(lmsc)
    _arrays = (0, 11)
    _learned = ("tensor", "representation", "latent")

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=0.1,
        n_components=None,
        tol=1e-6,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())

    def _context(self, views, seed, n_threads):
        return {"random_state": seed}
