"""The estimator of ETLMSC."""

from ..solvers._etlmsc import etlmsc
from ._representation import SampleTransformClusterer


class ETLMSC(SampleTransformClusterer):
    """Clustering by ETLMSC: the essential tensor of random walks on all views."""

    _function = staticmethod(etlmsc)
    _arrays = (10, 4)

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=None,
        sample_transform="graph",
        axis=0,
        tol=1e-6,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())
