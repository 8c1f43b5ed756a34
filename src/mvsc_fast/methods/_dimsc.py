"""The estimator of DiMSC."""

from ..solvers._dimsc import dimsc
from ._representation import RepresentationClusterer


class DiMSC(RepresentationClusterer):
    """Clustering by DiMSC: diverse, smooth self-representations of the views."""

    _function = staticmethod(dimsc)
    _arrays = (6, 3)

    def __init__(
        self,
        n_clusters=8,
        *,
        lam_s=0.01,
        lam_d=20.0,
        normalize=True,
        signed=False,
        tol=1e-4,
        max_iter=100,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())
