"""The estimator of TSVDMSC."""

from __future__ import annotations

from .._utils.types import Callback, Estimator, Seed, Shaped
from ..solvers._representation import Update
from ..solvers._transforms import SampleTransform
from ..solvers._tsvd_msc import tsvd_msc
from ._representation import SampleTransformClusterer


class TSVDMSC(SampleTransformClusterer):
    """Clustering by t-SVD-MSC: self-representations under a rotated tensor nuclear norm."""

    lam: float
    update: Update

    _function = staticmethod(tsvd_msc)
    _arrays = (7, 4)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.05,
        sample_transform: SampleTransform | Shaped | Estimator = "graph",
        update: Update = "joint",
        tol: float = 1e-7,
        max_iter: int = 200,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())
