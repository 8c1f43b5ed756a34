"""The estimator of DiMSC."""

from __future__ import annotations

from .._utils.types import Callback, Seed
from ..solvers._dimsc import dimsc
from ._representation import RepresentationClusterer


class DiMSC(RepresentationClusterer):
    """Clustering by DiMSC: diverse, smooth self-representations of the views."""

    lam_s: float
    lam_d: float
    normalize: bool
    signed: bool

    _function = staticmethod(dimsc)
    _arrays = (6, 3)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam_s: float = 0.01,
        lam_d: float = 20.0,
        normalize: bool = True,
        signed: bool = False,
        tol: float = 1e-4,
        max_iter: int = 100,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())
