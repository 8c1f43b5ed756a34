"""SNN: sum of nuclear norms of a similarity tensor's unfoldings (Liu et al. 2013)."""

import numpy as np

from .._kernels import UnfoldingWorkspace, mode_shrink, snn_pass
from ..solvers.results import Progress, RecoveryResult
from ..threads import blas_threads, resolve_threads, useful_threads
from ..validation import (
    check_memory,
    check_numbers,
    check_penalty,
    check_similarities,
    check_stopping,
)
from .recovery import SplittingClusterer


def snn(
    W,
    *,
    weights=None,
    tol=1e-8,
    max_iter=500,
    mu=1e-4,
    rho=1.1,
    mu_max=1e10,
    n_threads=None,
    callback=None,
):
    """Split a similarity tensor into a part whose unfoldings have low rank and a sparse part.

    Minimises ``sum_m a_m ||L_(m)||_* + ||E||_1`` subject to ``W = L + E`` by ADMM with one copy of
    L for each of the three unfoldings (the norm of Liu et al. 2013, Eq. 9). As the slices of W are
    symmetric, the copy of the columns is the transpose of that of the rows and costs nothing.

    Parameters
    ----------
    W : array of shape (v, n, n), or list of v arrays of shape (n, n)
        Symmetric similarities. Never changed.
    weights : float or pair of floats, optional
        a_m: of rows and columns, and of the views; None is ``sqrt(n) / 3`` for all. Dividing by
        a common factor gives the form with a weight on E.
    tol : float, default=1e-8
        On the largest entry of L_m + E - W and of the changes of L_m and E.
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
        ``low_rank`` L, the copy of the rows, to which the others are equal up to the last
        residual, ``tensor``, its mean with the transpose, and ``error`` E, all (v, n, n).

    Raises
    ------
    ValueError
        If W or a parameter is invalid; the message says what and where.
    MemoryError
        If the solver would need more memory than there is; nothing was allocated then.

    References
    ----------
    Liu, Musialski, Wonka, Ye: Tensor completion for estimating missing values in visual data. IEEE
    TPAMI 35(1), 2013.
    """
    W = check_similarities(W)
    v, n = W.shape[:2]
    weights = np.sqrt(n) / 3.0 if weights is None else weights
    rows, views = check_numbers(weights, "weights", 2, 0.0)
    tol, max_iter = check_stopping(tol, max_iter)
    mu, rho, mu_max = check_penalty(mu, rho, mu_max)
    n_threads = useful_threads(resolve_threads(n_threads), W.shape[1])
    check_memory((7 * v + 6) * n * n * W.itemsize, f"snn on {v} views of {n} samples")
    progress = Progress(tol, max_iter, callback)
    work = UnfoldingWorkspace(n, W.dtype)

    E, L1, Y1, L3, Y3 = (np.zeros_like(W) for _ in range(5))
    X = W.copy()
    flat = W.reshape(v, -1).astype(np.float64, copy=False)
    gram = flat @ flat.T
    with blas_threads(n_threads):
        while progress.running:
            mode_shrink(X, rows / mu, 1, work)
            mu_next = min(rho * mu, mu_max)
            change, gram = snn_pass(
                W, E, L1, Y1, X, L3, Y3, _view_mapper(gram, views / mu),
                mu=mu, mu_next=mu_next, n_threads=n_threads,
            )  # fmt: skip
            progress.record(change)
            mu = mu_next
    return RecoveryResult(L1, E, progress.n_iter, progress.converged, progress.history)


def _view_mapper(gram, t):
    """v x v matrix that shrinks the singular values of an unfolding with this Gram matrix by t."""
    values, vectors = np.linalg.eigh(gram)
    s = np.sqrt(np.maximum(values, 0.0))
    return (vectors * (1.0 - t / np.maximum(s, t) if t > 0 else 1.0)) @ vectors.T


class SNN(SplittingClusterer):
    """Clustering by SNN: the part of a similarity tensor whose unfoldings have low rank.

    Parameters
    ----------
    n_clusters : int, default=8
    weights : float or pair of floats, optional
        a_m of rows and columns, and of the views, see `snn`.
    graph : str or estimator, default="selfrep"
        Where W comes from, see `TLRR`.
    reorder : bool, default=False
        Self-ordering, for a graph that transforms along the samples, such as
        ``graph=TSVDMSC(...)``: sort the samples by the labels found, refit with the published
        "dft" transform, and repeat until labels stand still.
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
    Liu et al.: Tensor completion for estimating missing values in visual data. IEEE TPAMI 35(1),
    2013.

    Examples
    --------
    >>> from mvsc_fast import SNN, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> SNN(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        weights=None,
        graph="selfrep",
        reorder=False,
        tol=1e-8,
        max_iter=500,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.weights = weights
        self.graph = graph
        self.reorder = reorder
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def _recover(self, W, n_threads):
        return snn(
            W,
            weights=self.weights,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
