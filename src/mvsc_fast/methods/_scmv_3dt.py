"""The estimator of SCMV3DT."""

from __future__ import annotations

from .._utils.types import Callback, Seed
from ..solvers._scmv_3dt import Features, scmv_3dt
from ._representation import RepresentationClusterer


class SCMV3DT(RepresentationClusterer):
    """Clustering by SCMV-3DT: sparse self-representations with the t-product."""

    lam: float
    alpha: float
    beta: float
    features: Features

    _function = staticmethod(scmv_3dt)
    _arrays = (15, 4)

    _keep_diagonal = False

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 10.0,
        alpha: float = 0.1,
        beta: float = 0.001,
        features: Features = "pca",
        tol: float = 1e-6,
        max_iter: int = 200,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())
