"""The estimator of LTMSC."""

from ..solvers._lt_msc import lt_msc
from ._representation import RepresentationClusterer


class LTMSC(RepresentationClusterer):
    """Clustering by LT-MSC: self-representations whose tensor has low-rank unfoldings."""

    _function = staticmethod(lt_msc)
    _arrays = (12, 4)

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=2.0,
        gamma=1.0,
        tol=1e-7,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())
