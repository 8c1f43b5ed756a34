"""TRPCA: tensor robust principal component analysis of a similarity tensor (Lu et al. 2020)."""

import numpy as np

from .._kernels import UnfoldingWorkspace, trpca_pass
from ..solvers.results import Progress, RecoveryResult
from ..threads import blas_threads, resolve_threads, useful_threads
from ..transforms import resolve_view_transform
from ..validation import (
    check_memory,
    check_number,
    check_penalty,
    check_similarities,
    check_stopping,
)
from .recovery import SplittingClusterer


def trpca(
    W,
    *,
    lam=None,
    transform="dft",
    tol=1e-8,
    max_iter=500,
    mu=1e-4,
    rho=1.1,
    mu_max=1e10,
    n_threads=None,
    callback=None,
):
    """Split a similarity tensor into a part of low tubal rank and a sparse part.

    Minimises ``||L||_tnn + lam ||S||_1`` subject to ``W = L + S`` (Lu et al. 2020, Eq. 20) by ADMM,
    with the transform along the views and the nuclear norms of the n x n slices divided by v.

    Parameters
    ----------
    W : array of shape (v, n, n), or list of v arrays of shape (n, n)
        Symmetric similarities. Never changed.
    lam : float, optional
        Weight of the sparse part; None is ``1 / sqrt(n v)``, at which recovery is guaranteed for
        random tensors. Twice that did better over shuffled data sets.
    transform : {"dft", "identity"} or ndarray of shape (v, v), default="dft"
        The transform along the views; "dft" is the published one, an orthonormal matrix brings its
        own basis as columns.
    tol : float, default=1e-8
        On the largest entry of L + S - W and of the changes of L and S.
    max_iter : int, default=500
        It takes about 200.
    mu, rho, mu_max : float, default=1e-4, 1.1, 1e10
        First penalty, its growth per iteration and its cap.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.
    callback : callable, optional
        Called with an `IterationState` after every iteration; returning True stops.

    Returns
    -------
    RecoveryResult
        ``low_rank`` L, ``tensor``, its mean with the transpose, and ``error`` S, all (v, n, n).

    Raises
    ------
    ValueError
        If W or a parameter is invalid; the message says what and where.
    MemoryError
        If the solver would need more memory than there is; nothing was allocated then.

    References
    ----------
    Lu, Feng, Chen, Liu, Lin, Yan: Tensor robust principal component analysis with a new tensor
    nuclear norm. IEEE TPAMI 42(4), 2020.
    """
    W = check_similarities(W)
    v, n = W.shape[:2]
    lam = 1.0 / np.sqrt(n * v) if lam is None else lam
    lam = check_number(lam, "lam", 0.0, open_interval=True)
    tol, max_iter = check_stopping(tol, max_iter)
    mu, rho, mu_max = check_penalty(mu, rho, mu_max)
    n_threads = useful_threads(resolve_threads(n_threads), W.shape[1])
    transform = resolve_view_transform(transform, v, W.dtype)
    basis = transform.inverse(np.eye(v), axis=0).astype(np.float64)
    check_memory((5 * v + 12) * n * n * W.itemsize, f"trpca on {v} views of {n} samples")
    progress = Progress(tol, max_iter, callback)
    work = UnfoldingWorkspace(n, W.dtype, complex_slices=True)

    L, S, Y = (np.zeros_like(W) for _ in range(3))
    X = transform.forward(W, axis=0)
    with blas_threads(n_threads):
        while progress.running:
            transform.shrink_frontal(X, 1.0 / mu, work)
            mu_next = min(rho * mu, mu_max)
            change = trpca_pass(
                W, L, S, Y, X, basis, lam=lam, mu=mu, mu_next=mu_next, n_threads=n_threads
            )
            progress.record(change)
            mu = mu_next
    return RecoveryResult(L, S, progress.n_iter, progress.converged, progress.history)


class TRPCA(SplittingClusterer):
    """Clustering by TRPCA: the part of low tubal rank of a similarity tensor.

    Parameters
    ----------
    n_clusters : int, default=8
    lam : float, optional
        Weight of the sparse part, see `trpca`.
    graph : str or estimator, default="selfrep"
        Where W comes from, see `TLRR`.
    reorder : bool, default=False
        Self-ordering, for a graph that transforms along the samples, such as
        ``graph=TSVDMSC(...)``: sort the samples by the labels found, refit with the published
        "dft" transform, and repeat until labels stand still.
    view_transform : {"dft", "identity"} or ndarray of shape (v, v), default="dft"
        ``transform`` of `trpca`.
    tol : float, default=1e-8
    max_iter : int, default=500
    n_init : int, default=20
        Starts of k-means.
    random_state : int, RandomState or None, default=None
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.
    verbose : int, default=0

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    similarity_ : ndarray of shape (v, n_samples, n_samples)
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        The low-rank tensor L.
    affinity_ : ndarray of shape (n_samples, n_samples)
        Sum of |L_i|, diagonal cleared.
    embedding_ : ndarray of shape (n_samples, n_clusters)
    n_rounds_ : int
        Orderings tried (``reorder=True`` only).
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int or list of int

    References
    ----------
    Lu et al.: Tensor robust principal component analysis with a new tensor nuclear norm. IEEE
    TPAMI 42(4), 2020.

    Examples
    --------
    >>> from mvsc_fast import TRPCA, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> TRPCA(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=None,
        graph="selfrep",
        reorder=False,
        view_transform="dft",
        tol=1e-8,
        max_iter=500,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.lam = lam
        self.graph = graph
        self.reorder = reorder
        self.view_transform = view_transform
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def _recover(self, W, n_threads):
        return trpca(
            W,
            lam=self.lam,
            transform=self.view_transform,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
