"""The estimator of UtSVDMSC."""

from __future__ import annotations

from .._utils.types import Callback, Seed, Shaped
from ..solvers._representation import Update
from ..solvers._transforms import ViewTransform
from ..solvers._ut_svd_msc import ut_svd_msc
from ._representation import RepresentationClusterer


class UtSVDMSC(RepresentationClusterer):
    """Clustering by Ut-SVD-MSC: self-representations under a norm along the views."""

    lam: float
    view_transform: ViewTransform | Shaped
    update: Update

    _function = staticmethod(ut_svd_msc)
    _arrays = (11, 4)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.5,
        view_transform: ViewTransform | Shaped = "dft",
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
