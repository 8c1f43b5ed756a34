"""The estimator of TRPCA."""

from ..solvers._transforms import resolve_view_transform
from ..solvers._trpca import trpca
from ._recovery import RecoveryClusterer


class TRPCA(RecoveryClusterer):
    """Clustering by TRPCA: the part of low tubal rank of a similarity tensor."""

    _function = staticmethod(trpca)
    _arrays = (7, 12)

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=None,
        affinity="self_representation",
        view_transform="dft",
        tol=1e-8,
        max_iter=500,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())

    def _read(self, X):
        given = super()._read(X)
        resolve_view_transform(self.view_transform, len(given.arrays), given.arrays[0].dtype)
        return given
