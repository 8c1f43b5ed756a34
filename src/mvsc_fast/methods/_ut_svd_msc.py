"""Ut-SVD-MSC: t-SVD-MSC without the rotation of the tensor (Xie et al. 2018)."""

import numpy as np

from .._kernels import UnfoldingWorkspace
from ..solvers.representation import ThinView, solve_tsvd
from ..threads import blas_threads, resolve_threads, useful_threads
from ..transforms import resolve_view_transform
from ..validation import check_number, check_option, check_stopping
from ..views import check_views
from .representation import RepresentationClusterer


def ut_svd_msc(
    views,
    *,
    lam=0.5,
    transform="dft",
    update="joint",
    tol=1e-7,
    max_iter=200,
    mu=1e-4,
    n_threads=None,
    callback=None,
):
    """Learn self-representations of all views under a tensor nuclear norm that is not rotated.

    The problem of `tsvd_msc` with the transform along the views instead of the samples, so that the
    norm sums the nuclear norms of n x n slices (the variant "Ut-SVD" of Xie et al. 2018, Section
    4). It does not depend on the order of the samples.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
        Samples are scaled to unit length.
    lam : float, default=0.5
        Weight of the misfit. Over shuffled data sets 0.5 does best, between 0.2 and 2.
    transform : {"dft", "identity"} or ndarray of shape (v, v), default="dft"
        The transform along the views; "dft" is the published one, an orthonormal matrix brings its
        own basis as columns.
    update : {"joint", "sequential"}, default="joint"
        See `tsvd_msc`.
    tol : float, default=1e-7
        On the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        It takes 30 to 40.
    mu : float, default=1e-4
        First penalty; it doubles every iteration.
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
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.
    """
    views = check_views(views)
    lam = check_number(lam, "lam", 0.0, open_interval=True)
    check_option(update, "update", ("joint", "sequential"))
    tol, max_iter = check_stopping(tol, max_iter)
    mu = check_number(mu, "mu", 0.0, open_interval=True)
    n_threads = useful_threads(resolve_threads(n_threads), views[0].shape[0])
    n, dtype = views[0].shape[0], views[0].dtype
    transform = resolve_view_transform(transform, len(views), dtype)
    with blas_threads(n_threads):
        thin = [ThinView(X) for X in views]
    work = UnfoldingWorkspace(n, dtype, complex_slices=True)

    def shrink(T, t):
        with blas_threads(n_threads):
            hat = transform.forward(T, axis=0)
            transform.shrink_frontal(hat, t, work)
            T[...] = transform.inverse(hat, axis=0)

    return solve_tsvd(
        thin,
        shrink,
        restore=np.asarray,
        lam=lam,
        update=update,
        tol=tol,
        max_iter=max_iter,
        mu=mu,
        n_threads=n_threads,
        callback=callback,
    )


class UtSVDMSC(RepresentationClusterer):
    """Clustering by Ut-SVD-MSC: self-representations under a tensor nuclear norm along the views.

    Parameters
    ----------
    n_clusters : int, default=8
    lam : float, default=0.5
        Weight of the misfit, see `ut_svd_msc`.
    view_transform : {"dft", "identity"} or ndarray of shape (v, v), default="dft"
        ``transform`` of `ut_svd_msc`.
    update : {"joint", "sequential"}, default="joint"
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
    Xie et al.: On unifying multi-view self-representations for clustering by tensor multi-rank
    minimization. IJCV 126, 2018.

    Examples
    --------
    >>> from mvsc_fast import UtSVDMSC, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> UtSVDMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=0.5,
        view_transform="dft",
        update="joint",
        tol=1e-7,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
    ):
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

    def _learn(self, views, n_threads):
        return ut_svd_msc(
            views,
            lam=self.lam,
            transform=self.view_transform,
            update=self.update,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
