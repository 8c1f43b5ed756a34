"""The estimator of SCMV3DT."""

from ..solvers._scmv_3dt import scmv_3dt
from ._representation import RepresentationClusterer


class SCMV3DT(RepresentationClusterer):
    """Clustering by SCMV-3DT: sparse self-representations with the t-product."""

    _function = staticmethod(scmv_3dt)
    _arrays = (15, 4)

    _keep_diagonal = False

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=10.0,
        alpha=0.1,
        beta=0.001,
        features="pca",
        tol=1e-6,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())
