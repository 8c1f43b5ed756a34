"""t-SVD-MSC: subspace clustering with a rotated tensor nuclear norm (Xie et al. 2018)."""

from __future__ import annotations

from .._utils.parameters import option, positive
from .._utils.types import Callback, Shaped, Views
from ..views import check_views
from ._method import method
from ._representation import MU_MAX, ThinView, Update, solve_representation
from ._results import RepresentationResult
from ._run import Run
from ._transforms import SampleTransform, check_sample_transform, resolve_sample_transform


@method(
    check_views,
    lam=positive,
    sample_transform=check_sample_transform,
    update=option(Update),
)
def tsvd_msc(
    views: Views,
    *,
    lam: float = 0.05,
    sample_transform: SampleTransform | Shaped = "graph",
    update: Update = "joint",
    tol: float = 1e-7,
    max_iter: int = 200,
    mu: float = 1e-4,
    n_threads: int | None = None,
    callback: Callback | None = None,
) -> RepresentationResult:
    """Learn self-representations of all views under a rotated tensor nuclear norm.

    Minimises ``||Z||_tnn + lam ||[E_1; ...; E_V]||_{2,1}`` subject to ``X_i = X_i Z_i + E_i``
    (Xie et al. 2018, Eq. 9) by ADMM with penalties that double every iteration. Every X_i is
    replaced by the factor S V^T of its thin SVD, which leaves all norms and products unchanged, so
    the cost does not grow with the number of features.

    Parameters
    ----------
    lam : float, default=0.05
        Weight of the misfit. Published values range from 0.05 to 1.1. On shuffled data sets small
        values are best, and 0.2 fails on sparse text.
    sample_transform : {"graph", "dft", "identity"} or ndarray of shape (n, n), default="graph"
        The transform along the samples in the tensor norm. "graph" uses the eigenvectors of a
        similarity graph, which do not depend on the order of the samples. **The published "dft"
        depends on that order**, and accuracy is overestimated if they are sorted by class; use it
        to reproduce published tables. An orthonormal matrix defines the basis by its columns.
    update : {"joint", "sequential"}, default="joint"
        "joint" updates all E and multipliers once per iteration. "sequential" updates them inside
        the loop over the views, as the released code does.
    max_iter : int, default=200
        Maximum number of iterations; 20 to 40 are usually sufficient.

    Returns
    -------
    RepresentationResult

    References
    ----------
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.
    """
    transform = resolve_sample_transform(sample_transform, views)
    return solve_representation(
        [ThinView(X, transform) for X in views],
        shrinks=[lambda T, t: transform.shrink(T, t, n_threads)],
        restore=lambda T: transform.inverse(T, axis=1),
        run=Run(tol, max_iter, callback, mu=mu, mu_max=MU_MAX),
        lam=lam,
        update=update,
    )
