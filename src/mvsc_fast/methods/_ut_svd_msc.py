"""Ut-SVD-MSC: t-SVD-MSC without the rotation of the tensor (Xie et al. 2018)."""

from __future__ import annotations

from .._utils.parameters import option, positive
from .._utils.types import Callback, Seed, Shaped
from ..solvers._representation import (
    DOUBLING,
    ThinView,
    Update,
    common_coordinates,
    solve_representation,
)
from ..solvers._transforms import ViewTransform, check_view_transform, resolve_view_transform
from ._representation import RepresentationClusterer


class UtSVDMSC(RepresentationClusterer):
    """Clustering by Ut-SVD-MSC: self-representations under a norm along the views.

    Solves the problem of `TSVDMSC` with the transform along the views instead of the samples, so
    that the norm is the sum of the nuclear norms of n x n slices (the variant "Ut-SVD" of Xie et
    al. 2018, Section 4). The result does not depend on the order of the samples.

    Parameters
    ----------
    lam : float, default=0.5
        Weight of the misfit. Of values from 0.2 to 2, 0.5 is best on shuffled data sets.
    view_transform : {"dft", "identity"} or ndarray of shape (v, v), default="dft"
        The transform along the views; "dft" is the published one. An orthonormal matrix defines the
        basis by its columns.
    update : {"joint", "sequential"}, default="joint"
        See `TSVDMSC`.
    tol : float, default=1e-7
        Tolerance on the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        Maximum number of iterations; 30 to 40 are usually sufficient.

    References
    ----------
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.
    """

    _arrays = (11, 4)
    _checks = {
        **RepresentationClusterer._checks,
        "lam": positive,
        "view_transform": check_view_transform,
        "update": option(Update),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.5,
        view_transform: ViewTransform | Shaped = "dft",
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
        self.view_transform = view_transform
        self.update = update
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _learn(self, views, seed, n_threads, progress):
        transform = resolve_view_transform(self.view_transform, len(views), views[0].dtype)
        run = self._begin(progress, **DOUBLING)
        thin = [ThinView(X) for X in views]
        span = common_coordinates(thin)

        def shrink(T, t):
            hat = transform.forward(T, axis=0)
            transform.shrink_frontal(hat, t)
            T[...] = transform.inverse(hat, axis=0)

        Z = solve_representation(
            thin,
            [shrink],
            restore=lambda T: span.inverse(T, axis=1),
            run=run,
            lam=self.lam,
            update=self.update,
        )
        return run, {"representation_": Z}
