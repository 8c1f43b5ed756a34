"""LT-MSC: low-rank tensor constrained multi-view subspace clustering (Zhang et al. 2015)."""

import numpy as np

from .._kernels import UnfoldingWorkspace, mode_shrink, slice_shrink
from ..solvers.representation import (
    ThinView,
    largest_row_sum,
    update_errors,
    update_multipliers,
)
from ..solvers.results import Progress, RepresentationResult
from ..threads import blas_threads, resolve_threads, useful_threads
from ..validation import check_number, check_numbers, check_stopping
from ..views import check_views
from .representation import RepresentationClusterer

MU_MAX = 1e11


def lt_msc(
    views,
    *,
    lam=2.0,
    gamma=1.0,
    tol=1e-7,
    max_iter=200,
    mu=1e-4,
    n_threads=None,
    callback=None,
):
    """Learn self-representations of all views whose tensor has unfoldings of low rank.

    Minimises ``sum_m gamma_m ||Z_(m)||_* + lam ||[E_1; ...; E_V]||_{2,1}`` subject to
    ``X_i = X_i Z_i + E_i`` (Zhang et al. 2015, Eq. 5) by ADMM with one copy of Z for each of the
    three unfoldings and penalties that double every iteration. These are the updates that follow
    from the objective; the released code enters only one of the three copies into Z.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
        Samples are scaled to unit length.
    lam : float, default=2.0
        Weight of the misfit. Over shuffled data sets 2 does best, between 0.5 and 10.
    gamma : float or sequence of three floats, default=1.0
        Weights of the unfoldings along rows, columns and views.
    tol : float, default=1e-7
        On the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        It takes 35 to 45.
    mu : float, default=1e-4
        First penalty.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.
    callback : callable, optional
        Called with an `IterationState` after every iteration; returning True stops.

    Returns
    -------
    RepresentationResult
        ``representation`` Z and ``tensor`` W = |Z| + |Z|^T, both (v, n, n).

    Raises
    ------
    ValueError
        If a view or a parameter is invalid; the message says which.

    References
    ----------
    Zhang, Fu, Liu, Liu, Cao: Low-rank tensor constrained multiview subspace clustering. ICCV 2015.
    """
    views = check_views(views)
    lam = check_number(lam, "lam", 0.0, open_interval=True)
    gamma = check_numbers(gamma, "gamma", 3, 0.0)
    tol, max_iter = check_stopping(tol, max_iter)
    mu = check_number(mu, "mu", 0.0, open_interval=True)
    n_threads = useful_threads(resolve_threads(n_threads), views[0].shape[0])
    progress = Progress(tol, max_iter, callback)
    v, n, dtype = len(views), views[0].shape[0], views[0].dtype
    with blas_threads(n_threads):
        thin = [ThinView(X) for X in views]
    work = UnfoldingWorkspace(n, dtype)

    Z = np.zeros((v, n, n), dtype=dtype)  # between iterations: the mean of G_m - w_m
    G = np.empty_like(Z)
    w = [np.zeros_like(Z) for _ in range(3)]  # multipliers of Z = G_m over mu
    with blas_threads(n_threads):
        while progress.running:
            growth = min(2 * mu, MU_MAX) / mu
            for i, view in enumerate(thin):
                view.add(view.fit(view.project(Z[i]), 1.0 / 3.0), Z[i])
            update_multipliers(thin, update_errors(thin, lam / mu))
            target = np.zeros_like(Z)
            residual = 0.0
            for mode in range(3):
                w[mode] += Z
                G[...] = w[mode]
                t = gamma[mode] / mu
                if mode < 2:
                    mode_shrink(G, t, mode + 1, work)
                else:
                    slice_shrink(G.reshape(v, 1, n * n), t)
                w[mode] -= G
                target += G
                G -= Z
                gap = np.linalg.norm(G) / np.sqrt(v * n)
                if gap <= tol:  # a lower bound of the largest row sum
                    gap = largest_row_sum(G)
                residual = max(residual, gap)
                w[mode] /= growth
                target -= w[mode]
            if residual <= tol:
                residual = max(residual, *(view.residual() for view in thin))
            progress.record(residual)
            if progress.running:
                target /= 3.0
                Z = target
                for view in thin:
                    view.y /= growth
                mu *= growth
    return RepresentationResult(Z, progress.n_iter, progress.converged, progress.history)


class LTMSC(RepresentationClusterer):
    """Clustering by LT-MSC: self-representations whose tensor has unfoldings of low rank.

    Parameters
    ----------
    n_clusters : int, default=8
    lam : float, default=2.0
        Weight of the misfit, see `lt_msc`.
    gamma : float or sequence of three floats, default=1.0
        Weights of the unfoldings along rows, columns and views.
    tol : float, default=1e-7
    max_iter : int, default=200
    n_init : int, default=20
        Starts of k-means.
    random_state : int, RandomState or None, default=None
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.
    verbose : int, default=0

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        W = |Z| + |Z|^T; ``similarity_`` is the same array.
    representation_ : ndarray of shape (v, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    affinity_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices, diagonal kept.
    embedding_ : ndarray of shape (n_samples, n_clusters)
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int or list of int

    References
    ----------
    Zhang et al.: Low-rank tensor constrained multiview subspace clustering. ICCV 2015.

    Examples
    --------
    >>> from mvsc_fast import LTMSC, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> LTMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=2.0,
        gamma=1.0,
        tol=1e-7,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.lam = lam
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def _learn(self, views, n_threads):
        return lt_msc(
            views,
            lam=self.lam,
            gamma=self.gamma,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
