"""t-SVD-MSC: subspace clustering with a rotated tensor nuclear norm (Xie et al. 2018)."""

from __future__ import annotations

from .._utils.parameters import option, positive
from .._utils.types import Callback, Estimator, Seed, Shaped
from ..solvers._representation import DOUBLING, ThinView, Update, solve_representation
from ..solvers._transforms import SampleTransform
from ._representation import SampleTransformClusterer


class TSVDMSC(SampleTransformClusterer):
    """Clustering by t-SVD-MSC: self-representations under a rotated tensor nuclear norm.

    Minimises ``||Z||_tnn + lam ||[E_1; ...; E_V]||_{2,1}`` subject to ``X_i = X_i Z_i + E_i``
    (Xie et al. 2018, Eq. 9) by ADMM with penalties that double every iteration. Every X_i is
    replaced by the factor S V^T of its thin SVD, which leaves all norms and products unchanged, so
    the cost does not grow with the number of features.

    Parameters
    ----------
    lam : float, default=0.05
        Weight of the misfit. Published values range from 0.05 to 1.1. On shuffled data sets small
        values are best, and 0.2 fails on sparse text.
    update : {"joint", "sequential"}, default="joint"
        "joint" updates all E and multipliers once per iteration. "sequential" updates them inside
        the loop over the views, as the released code does.
    tol : float, default=1e-7
        Tolerance on the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        Maximum number of iterations; 20 to 40 are usually sufficient.

    References
    ----------
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.
    """

    _arrays = (7, 4)
    _checks = {**SampleTransformClusterer._checks, "lam": positive, "update": option(Update)}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.05,
        sample_transform: SampleTransform | Shaped | Estimator = "graph",
        update: Update = "joint",
        tol: float = 1e-7,
        max_iter: int = 200,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.sample_transform = sample_transform
        self.update = update
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _learn(self, views, seed, n_threads, progress):
        transform = self._transform(views, seed, n_threads)
        run = self._begin(progress, **DOUBLING)
        Z = solve_representation(
            [ThinView(X, transform) for X in views],
            shrinks=[lambda T, t: transform.shrink(T, t, n_threads)],
            restore=lambda T: transform.inverse(T, axis=1),
            run=run,
            lam=self.lam,
            update=self.update,
        )
        return run, {"representation_": Z}
