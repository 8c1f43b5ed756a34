"""The estimator of SNN."""

from __future__ import annotations

from .._utils.types import Callback, Estimator, Numbers, Seed
from ..solvers._snn import snn
from ._recovery import AffinityName, RecoveryClusterer


class SNN(RecoveryClusterer):
    """Clustering by SNN: the part of a similarity tensor with low-rank unfoldings."""

    weights: float | Numbers | None

    _function = staticmethod(snn)
    _arrays = (9, 6)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weights: float | Numbers | None = None,
        affinity: AffinityName | Estimator = "self_representation",
        tol: float = 1e-8,
        max_iter: int = 500,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())
