"""The estimator of LMSC."""

from __future__ import annotations

from .._utils.types import Callback, FloatArray, Seed
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

    lam: float
    n_components: int | None
    latent_: FloatArray

    _function = staticmethod(lmsc)
    _arrays = (0, 11)
    _learned = ("tensor", "representation", "latent")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.1,
        n_components: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())
