"""ETLMSC: essential tensor learning for multi-view spectral clustering (Wu et al. 2019)."""

import numpy as np

from .. import graphs
from ..solvers.results import Progress, RepresentationResult
from ..threads import blas_threads, resolve_threads, useful_threads
from ..transforms import resolve_transform
from ..validation import check_integer, check_number, check_stopping
from ..views import check_views
from .representation import SampleTransformClusterer

MU_MAX = 1e11


def etlmsc(
    views,
    *,
    lam=None,
    transform="dft",
    axis=0,
    tol=1e-6,
    max_iter=200,
    mu=1e-2,
    n_threads=None,
    callback=None,
):
    """Learn the essential tensor of the random walks on all views.

    P_i is the transition matrix of a Gaussian kernel (`graphs.gaussian`, rows scaled to sum 1).
    Minimises ``||Z||_tnn + lam ||[E_1; ...; E_V]||_{2,1}`` subject to ``P = Z + E`` (Wu et al.
    2019, Eq. 11) by ADMM with penalties that double every iteration.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
        Features as they are.
    lam : float, optional
        Weight of the misfit. None is ``11 / n``, the published 0.0055 at n = 2000: entries of P
        shrink as 1 / n, and so does the lam at which Z and E come in together. Published values
        run from 6 / n to 22 / n.
    transform : {"dft", "graph", "identity"} or ndarray of shape (n, n), default="dft"
        The transform along the samples, see `tsvd_msc`. **The published "dft" depends on the
        order of the samples.**
    axis : {0, 1}, default=0
        Index of Z along which the transform runs: 0, the rows, as the released code does for most
        data sets; 1, the columns, as it does for UCI-digit. The first needs no transform in its
        iterations.
    tol : float, default=1e-6
        On the largest entry of P - Z - E and of the changes of Z and E.
    max_iter : int, default=200
        It takes 15 to 25.
    mu : float, default=1e-2
        First penalty.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.
    callback : callable, optional
        Called with an `IterationState` after every iteration; returning True stops.

    Returns
    -------
    RepresentationResult
        ``representation`` Z, signed, and ``tensor`` |Z| + |Z|^T, both (v, n, n).

    Raises
    ------
    ValueError
        If a view or a parameter is invalid; the message says which.

    References
    ----------
    Wu, Lin, Zha: Essential tensor learning for multi-view spectral clustering. IEEE TIP 28(12),
    2019.
    """
    views = check_views(views)
    lam = 11.0 / views[0].shape[0] if lam is None else lam
    lam = check_number(lam, "lam", 0.0, open_interval=True)
    axis = check_integer(axis, "axis", 0)
    if axis > 1:
        raise ValueError(f"axis must be 0 or 1, got {axis}")
    tol, max_iter = check_stopping(tol, max_iter)
    mu = check_number(mu, "mu", 0.0, open_interval=True)
    n_threads = useful_threads(resolve_threads(n_threads), views[0].shape[0])
    progress = Progress(tol, max_iter, callback)
    with blas_threads(n_threads):
        transform = resolve_transform(transform, views)
        P = graphs.gaussian(views)
        P /= P.sum(axis=2, keepdims=True)
        if axis == 0:
            # Column lengths do not change with the transform: all happens in its coordinates.
            P = transform.forward(P, axis=1)
        else:
            P = np.ascontiguousarray(P.transpose(0, 2, 1))
    squares = "ijk,ijk->k" if axis == 0 else "ijk,ijk->j"

    def shrink(T, t):
        if axis == 0:
            transform.shrink(T, t, n_threads)
            return T
        with blas_threads(n_threads):
            hat = transform.forward(T, axis=1)
            transform.shrink(hat, t, n_threads)
            return transform.inverse(hat, axis=1)

    def restore(T):
        with blas_threads(n_threads):
            return transform.inverse(T, axis=1) if axis == 0 else T

    def largest(*tensors):
        """Largest entry on the samples, or a lower bound of it above tol."""
        bound = max(np.linalg.norm(T) for T in tensors) / np.sqrt(P.size)
        for columns in (slice(None, None, 16), slice(None)):
            for T in tensors:
                if bound > tol:
                    return bound
                bound = max(bound, np.abs(restore(T[:, :, columns])).max())
        return bound

    Z, E, y = (np.zeros_like(P) for _ in range(3))  # y: multiplier over mu
    while progress.running:
        argument = P - E
        argument += y
        change, Z = Z, shrink(argument, 1.0 / mu)
        change -= Z
        F = P - Z
        F += y
        length = np.sqrt(np.einsum(squares, F, F))
        factor = 1.0 - (lam / mu) / np.maximum(length, lam / mu)
        former, E = E, F * (factor if axis == 0 else factor[:, None])
        former -= E
        F -= E  # the new multiplier
        y -= F
        residual = largest(change, y, former)
        y = F
        progress.record(residual)
        growth = min(2 * mu, MU_MAX) / mu
        y /= growth
        mu *= growth
    Z = restore(Z)
    if axis == 1:
        Z = np.ascontiguousarray(Z.transpose(0, 2, 1))
    return RepresentationResult(Z, progress.n_iter, progress.converged, progress.history)


class ETLMSC(SampleTransformClusterer):
    """Clustering by ETLMSC: the essential tensor of the random walks on all views.

    Parameters
    ----------
    n_clusters : int, default=8
    lam : float, optional
        Weight of the misfit; None is ``11 / n``, see `etlmsc`.
    sample_transform : {"graph", "dft", "identity"}, ndarray or estimator, default="graph"
        ``transform`` of `etlmsc`, under a name that scikit-learn does not reserve for methods.
        The published "dft" depends on the order of the samples; it is for reproducing tables in
        file order. An estimator refreshes the graph basis: it is computed from the affinity
        that the estimator finds, as in ``sample_transform=TLRR(n_clusters)``.
    reorder : bool, default=False
        Self-ordering: sort the samples by the labels found with ``sample_transform``, run the
        published "dft" version, and repeat until labels stand still.
    axis : {0, 1}, default=0
        See `etlmsc`.
    tol : float, default=1e-6
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
        |Z| + |Z|^T; ``similarity_`` is the same array.
    representation_ : ndarray of shape (v, n_samples, n_samples)
        Z, signed.
    affinity_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices, diagonal kept.
    embedding_ : ndarray of shape (n_samples, n_clusters)
    n_rounds_ : int
        Orderings tried (``reorder=True`` only).
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int or list of int

    References
    ----------
    Wu, Lin, Zha: Essential tensor learning for multi-view spectral clustering. IEEE TIP 28(12),
    2019.

    Examples
    --------
    >>> from mvsc_fast import ETLMSC, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> ETLMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=None,
        sample_transform="graph",
        reorder=False,
        axis=0,
        tol=1e-6,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.lam = lam
        self.sample_transform = sample_transform
        self.reorder = reorder
        self.axis = axis
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def _learn(self, views, n_threads, transform):
        return etlmsc(
            views,
            lam=self.lam,
            transform=transform,
            axis=self.axis,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
