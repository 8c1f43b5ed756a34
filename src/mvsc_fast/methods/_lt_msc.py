"""The estimator of LTMSC."""

from __future__ import annotations

from .._utils.types import Callback, Numbers, Seed
from ..solvers._lt_msc import lt_msc
from ._representation import RepresentationClusterer


class LTMSC(RepresentationClusterer):
    """Clustering by LT-MSC: self-representations whose tensor has low-rank unfoldings."""

    lam: float
    gamma: float | Numbers

    _function = staticmethod(lt_msc)
    _arrays = (12, 4)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 2.0,
        gamma: float | Numbers = 1.0,
        tol: float = 1e-7,
        max_iter: int = 200,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())
