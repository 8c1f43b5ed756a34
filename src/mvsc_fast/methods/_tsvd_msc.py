"""t-SVD-MSC, with a rotated tensor nuclear norm, and Ut-SVD-MSC, without the rotation."""

from __future__ import annotations

from dataclasses import dataclass

from .._utils.parameters import option, positive
from .._utils.types import Shaped
from ..solvers._representation import (
    DOUBLING,
    ThinView,
    Update,
    common_coordinates,
    solve_representation,
)
from ..solvers._transforms import ViewTransform, check_view_transform, resolve_view_transform
from ._representation import RepresentationClusterer, SampleTransformClusterer


@dataclass(eq=False, repr=False, kw_only=True)
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

    Examples
    --------
    >>> from mvsc_fast.methods import TSVDMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> TSVDMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    lam: float = 0.05
    update: Update = "joint"
    tol: float = 1e-7
    max_iter: int = 200

    _arrays = (7, 4)
    _checks = {**SampleTransformClusterer._checks, "lam": positive, "update": option(Update)}

    def _represent(self, views, seed, n_threads, progress):
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


@dataclass(eq=False, repr=False, kw_only=True)
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

    Examples
    --------
    >>> from mvsc_fast.methods import UtSVDMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> UtSVDMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    lam: float = 0.5
    view_transform: ViewTransform | Shaped = "dft"
    update: Update = "joint"
    tol: float = 1e-7
    max_iter: int = 200

    _arrays = (11, 4)
    _checks = {
        **RepresentationClusterer._checks,
        "lam": positive,
        "view_transform": check_view_transform,
        "update": option(Update),
    }

    def _represent(self, views, seed, n_threads, progress):
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
