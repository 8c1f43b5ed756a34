"""The estimator of UtSVDMSC."""

from ..solvers._ut_svd_msc import ut_svd_msc
from ._representation import RepresentationClusterer


class UtSVDMSC(RepresentationClusterer):
    """Clustering by Ut-SVD-MSC: self-representations under a norm along the views."""

    _function = staticmethod(ut_svd_msc)
    _arrays = (11, 4)

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=0.5,
        view_transform="dft",
        update="joint",
        tol=1e-7,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())
