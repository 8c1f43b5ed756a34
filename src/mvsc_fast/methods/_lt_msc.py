"""LT-MSC: low-rank tensor constrained multi-view subspace clustering (Zhang et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from .._kernels import mode_shrink, slice_shrink
from .._utils.parameters import check_numbers, positive
from .._utils.types import Numbers
from ..solvers._representation import DOUBLING, ThinView, common_coordinates, solve_representation
from ._representation import RepresentationClusterer


@dataclass(eq=False, repr=False, kw_only=True)
class LTMSC(RepresentationClusterer):
    """Clustering by LT-MSC: self-representations whose tensor has low-rank unfoldings.

    Minimises ``sum_m gamma_m ||Z_(m)||_* + lam ||[E_1; ...; E_V]||_{2,1}`` subject to
    ``X_i = X_i Z_i + E_i`` (Zhang et al. 2015, Eq. 5) by ADMM with one copy of Z for each of the
    three unfoldings and penalties that double every iteration. The updates follow from the
    objective; the released code uses only one of the three copies in the update of Z.

    Parameters
    ----------
    lam : float, default=2.0
        Weight of the misfit. Of values from 0.5 to 10, 2 is best on shuffled data sets.
    gamma : float or sequence of three floats, default=1.0
        Weights of the unfoldings along rows, columns and views.
    tol : float, default=1e-7
        Tolerance on the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        Maximum number of iterations; 35 to 45 are usually sufficient.

    References
    ----------
    Zhang, Fu, Liu, Liu, Cao: Low-rank tensor constrained multiview subspace clustering. ICCV 2015.

    Examples
    --------
    >>> from mvsc_fast.methods import LTMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> LTMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    lam: float = 2.0
    gamma: float | Numbers = 1.0
    tol: float = 1e-7
    max_iter: int = 200

    _arrays = (12, 4)
    _checks = {
        **RepresentationClusterer._checks,
        "lam": positive,
        "gamma": partial(check_numbers, count=3, low=0.0),
    }

    def _represent(self, views, seed, n_threads, progress):
        run = self._begin(progress, **DOUBLING)
        thin = [ThinView(X) for X in views]
        span = common_coordinates(thin)
        Z = solve_representation(
            thin,
            [partial(_unfolding_shrink, mode=m, weight=self.gamma[m]) for m in range(3)],
            restore=lambda T: span.inverse(T, axis=1),
            run=run,
            lam=self.lam,
        )
        return run, {"representation_": Z}


def _unfolding_shrink(T, t, mode, weight):
    """Shrink, in place, the singular values of the unfolding of T along rows, columns or views."""
    if mode < 2:
        mode_shrink(T, weight * t, mode + 1)
    else:
        slice_shrink(T.reshape(len(T), 1, -1), weight * t)
