"""Ut-SVD-MSC: t-SVD-MSC without the rotation of the tensor (Xie et al. 2018)."""

from __future__ import annotations

from .._utils.parameters import option, positive
from .._utils.types import Callback, Shaped, Views
from ..views import check_views
from ._method import method
from ._representation import MU_MAX, ThinView, Update, common_coordinates, solve_representation
from ._results import RepresentationResult
from ._run import Run
from ._transforms import ViewTransform, check_view_transform, resolve_view_transform


@method(
    check_views,
    lam=positive,
    view_transform=check_view_transform,
    update=option(Update),
)
def ut_svd_msc(
    views: Views,
    *,
    lam: float = 0.5,
    view_transform: ViewTransform | Shaped = "dft",
    update: Update = "joint",
    tol: float = 1e-7,
    max_iter: int = 200,
    mu: float = 1e-4,
    callback: Callback | None = None,
) -> RepresentationResult:
    """Learn self-representations of all views under a tensor nuclear norm along the views.

    Solves the problem of `tsvd_msc` with the transform along the views instead of the samples, so
    that the norm is the sum of the nuclear norms of n x n slices (the variant "Ut-SVD" of Xie et
    al. 2018, Section 4). The result does not depend on the order of the samples.

    Parameters
    ----------
    lam : float, default=0.5
        Weight of the misfit. Of values from 0.2 to 2, 0.5 is best on shuffled data sets.
    update : {"joint", "sequential"}, default="joint"
        See `tsvd_msc`.
    max_iter : int, default=200
        Maximum number of iterations; 30 to 40 are usually sufficient.
    mu : float, default=1e-4
        Initial penalty, which doubles every iteration.

    Returns
    -------
    RepresentationResult

    References
    ----------
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.
    """
    transform = resolve_view_transform(view_transform, len(views), views[0].dtype)
    thin = [ThinView(X) for X in views]
    span = common_coordinates(thin)

    def shrink(T, t):
        hat = transform.forward(T, axis=0)
        transform.shrink_frontal(hat, t)
        T[...] = transform.inverse(hat, axis=0)

    return solve_representation(
        thin,
        [shrink],
        restore=lambda T: span.inverse(T, axis=1),
        run=Run(tol, max_iter, callback, mu=mu, mu_max=MU_MAX),
        lam=lam,
        update=update,
    )
