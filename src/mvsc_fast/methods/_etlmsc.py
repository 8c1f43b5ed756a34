"""The estimator of ETLMSC."""

from __future__ import annotations

from typing import Literal

from .._utils.types import Callback, Estimator, Seed, Shaped
from ..solvers._etlmsc import etlmsc
from ..solvers._transforms import SampleTransform
from ._representation import SampleTransformClusterer


class ETLMSC(SampleTransformClusterer):
    """Clustering by ETLMSC: the essential tensor of random walks on all views."""

    lam: float | None
    axis: Literal[0, 1]

    _function = staticmethod(etlmsc)
    _arrays = (10, 4)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float | None = None,
        sample_transform: SampleTransform | Shaped | Estimator = "graph",
        axis: Literal[0, 1] = 0,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())
