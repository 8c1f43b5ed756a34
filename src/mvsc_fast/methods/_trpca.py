"""The estimator of TRPCA."""

from __future__ import annotations

from .._utils.types import Callback, Estimator, Seed, Shaped
from ..solvers._transforms import ViewTransform, resolve_view_transform
from ..solvers._trpca import trpca
from ._recovery import AffinityName, RecoveryClusterer


class TRPCA(RecoveryClusterer):
    """Clustering by TRPCA: the part of low tubal rank of a similarity tensor."""

    lam: float | None
    view_transform: ViewTransform | Shaped

    _function = staticmethod(trpca)
    _arrays = (7, 12)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float | None = None,
        affinity: AffinityName | Estimator = "self_representation",
        view_transform: ViewTransform | Shaped = "dft",
        tol: float = 1e-8,
        max_iter: int = 500,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())

    def _read(self, X):
        given = super()._read(X)
        resolve_view_transform(self.view_transform, len(given), given[0].dtype)
        return given
