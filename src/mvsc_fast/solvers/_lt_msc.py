"""LT-MSC: low-rank tensor constrained multi-view subspace clustering (Zhang et al. 2015)."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._kernels import mode_shrink, slice_shrink
from .._utils.parameters import check_numbers, positive
from .._utils.types import Callback, Numbers, Views
from ..views import check_views
from ._method import method
from ._representation import (
    MU_MAX,
    ThinView,
    common_coordinates,
    largest_row_sum,
    mean_row_norm,
    update_errors,
    update_multipliers,
)
from ._results import RepresentationResult
from ._run import Run


@method(check_views, lam=positive, gamma=partial(check_numbers, count=3, low=0.0))
def lt_msc(
    views: Views,
    *,
    lam: float = 2.0,
    gamma: float | Numbers = 1.0,
    tol: float = 1e-7,
    max_iter: int = 200,
    mu: float = 1e-4,
    callback: Callback | None = None,
) -> RepresentationResult:
    """Learn self-representations of all views whose tensor has low-rank unfoldings.

    Minimises ``sum_m gamma_m ||Z_(m)||_* + lam ||[E_1; ...; E_V]||_{2,1}`` subject to
    ``X_i = X_i Z_i + E_i`` (Zhang et al. 2015, Eq. 5) by ADMM with one copy of Z for each of the
    three unfoldings and penalties that double every iteration. The updates follow from the
    objective; the released code uses only one of the three copies in the update of Z.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
        Samples are scaled to unit length.
    lam : float, default=2.0
        Weight of the misfit. Of values from 0.5 to 10, 2 is best on shuffled data sets.
    gamma : float or sequence of three floats, default=1.0
        Weights of the unfoldings along rows, columns and views.
    tol : float, default=1e-7
        Tolerance on the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        Maximum number of iterations; 35 to 45 are usually sufficient.

    Returns
    -------
    RepresentationResult
        ``representation`` Z and ``tensor`` W = ``|Z| + |Z|^T``, of shape
        (v, n, n).

    References
    ----------
    Zhang, Fu, Liu, Liu, Cao: Low-rank tensor constrained multiview subspace clustering. ICCV 2015.
    """
    v, n, dtype = len(views), views[0].shape[0], views[0].dtype
    thin = [ThinView(X) for X in views]
    span = common_coordinates(thin)
    rows = len(thin[0].basis)

    Z, total = (np.zeros((v, rows, n), dtype=dtype) for _ in range(2))  # total: sum of G_m - w_m
    G = np.empty_like(Z)
    w = [np.zeros_like(Z) for _ in range(3)]  # multipliers of Z = G_m over mu
    run = Run(tol, max_iter, callback, mu=mu, mu_max=MU_MAX)
    for mu in run:
        Z = total
        Z /= 3.0
        for i, view in enumerate(thin):
            view.add(view.fit(view.project(Z[i]), 1.0 / 3.0), Z[i])
        update_multipliers(thin, update_errors(thin, lam / mu))
        total = np.zeros_like(Z)
        residual = 0.0
        for mode in range(3):
            w[mode] += Z
            G[...] = w[mode]
            _unfolding_shrink(G, gamma[mode] / mu, mode)
            w[mode] -= G
            total += G
            G -= Z
            residual = run.largest(
                residual,
                mean_row_norm(G),
                lambda A=G: largest_row_sum(span.inverse(A, axis=1)),
            )
            w[mode] /= run.growth
            total -= w[mode]
        run.record(residual, *(view.residual for view in thin))
        for view in thin:
            view.y /= run.growth
    return RepresentationResult(span.inverse(Z, axis=1), **run.outcome)


def _unfolding_shrink(G, t, mode):
    """Shrink, in place, the singular values of the unfolding of G along rows, columns or views."""
    if mode < 2:
        mode_shrink(G, t, mode + 1)
    else:
        slice_shrink(G.reshape(len(G), 1, -1), t)
