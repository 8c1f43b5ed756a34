"""The estimator of TSVDMSC."""

from ..solvers._tsvd_msc import tsvd_msc
from ._representation import SampleTransformClusterer


class TSVDMSC(SampleTransformClusterer):
    """Clustering by t-SVD-MSC: self-representations under a rotated tensor nuclear norm."""

    _function = staticmethod(tsvd_msc)
    _arrays = (7, 4)

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=0.05,
        sample_transform="graph",
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
