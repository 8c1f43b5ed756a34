"""The estimator of SNN."""

from ..solvers._snn import snn
from ._recovery import RecoveryClusterer


class SNN(RecoveryClusterer):
    """Clustering by SNN: the part of a similarity tensor with low-rank unfoldings."""

    _function = staticmethod(snn)
    _arrays = (9, 6)

    def __init__(
        self,
        n_clusters=8,
        *,
        weights=None,
        affinity="self_representation",
        tol=1e-8,
        max_iter=500,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())
