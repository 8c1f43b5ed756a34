"""The estimator of AWP."""

from __future__ import annotations

from .._utils.types import Callback, FloatArray, Seed
from ..solvers._awp import Init, awp
from ._base import MultiViewClusterer


class AWP(MultiViewClusterer):
    """Clustering by AWP: weighted Procrustes alignment of spectral embeddings of all views.

    The method learns no similarities, so it cannot be the ``affinity`` of another method.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Not used, present for API consistency: the method is deterministic.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Weighted mean of the rotated embeddings; samples with the argmax of their rows in common
        share a label.
    weights_ : ndarray of shape (v,)
        Weights of the views; they sum to 1.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
    history_ : dict of ndarray
        ``residual`` and ``seconds`` after every iteration; see the result of the function.
    """

    n_neighbors: int
    normalize: bool
    init: Init
    tol: float
    max_iter: int
    embedding_: FloatArray
    weights_: FloatArray
    n_iter_: int
    converged_: bool
    history_: dict[str, FloatArray]

    _function = staticmethod(awp)
    _arrays = (0, 0)
    _learned = ("labels", "embedding", "weights")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 10,
        normalize: bool = True,
        init: Init = "pivots",
        tol: float = 1e-6,
        max_iter: int = 300,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())

    def _solve(self, views, seed, n_threads, progress):
        return self._attributes(self._call(views, progress, n_threads))

    def _cut(self, learned, seed):
        return {}
