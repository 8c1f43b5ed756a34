"""t-SVD-MSC: subspace clustering with a rotated tensor nuclear norm (Xie et al. 2018)."""

import time
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg.blas
import scipy.sparse
from sklearn.preprocessing import normalize

from ..solvers.result import IterationState
from ..spectral import fuse
from ..threads import blas_threads, resolve_threads
from ..transforms import resolve_transform
from ..validation import check_integer, check_number, check_option
from ..views import check_views
from .base import MultiViewClusterer, warn_not_converged, warn_order_dependent

MU_MAX = 1e11
RHO_MAX = 1e13


@dataclass
class RepresentationResult:
    """Self-representation tensor of a subspace method.

    Attributes
    ----------
    representation : ndarray of shape (v, n, n)
        Z: column k of slice i holds the coefficients of sample k in view i.
    n_iter : int
    converged : bool
    history : dict of ndarray
        ``residual`` (largest absolute row sum of all constraint residuals; a lower bound of it
        while that exceeds ``tol``) and ``seconds``.
    """

    representation: np.ndarray
    n_iter: int
    converged: bool
    history: dict = field(repr=False)

    @property
    def tensor(self):
        """W = |Z| + |Z|^T of every view, shape (v, n, n): the input of TLRR."""
        W = np.abs(self.representation)
        for A in W:
            A += A.T.copy()
        return W


class _ThinView:
    """One view through its thin SVD, X = U S V^T, and its variables in the coordinates of U.

    ``basis`` is V with its rows transformed like the rows of Z.
    """

    def __init__(self, X, transform):
        dense = X.toarray() if scipy.sparse.issparse(X) else X
        # X is (samples, features), the transpose of the paper's X.
        V, s, Ut = scipy.linalg.svd(normalize(dense), full_matrices=False, check_finite=False)
        rank = max(1, int(np.sum(s > max(dense.shape) * np.finfo(s.dtype).eps * s[0])))
        self.s = s[:rank, None]
        self.U = np.ascontiguousarray(Ut[:rank].T)
        self.R = self.s * V[:, :rank].T
        self.basis = transform.forward(V[:, :rank], axis=0)
        self.E, self.y, self.RZ, self.VG, self.VT = (np.zeros_like(self.R) for _ in range(5))
        (self._gemm,) = scipy.linalg.get_blas_funcs(("gemm",), (self.R,))

    def update_representation(self, G, ratio, q):
        """G <- Z + w, the argument of the shrinkage, for the Z that minimises the quadratic part.

        With B = G - w, ratio = mu / rho and D = ratio s^2 / (1 + ratio s^2),
        ``Z = B + V ((1 - D) s C - D V^T B)`` and ``C = ratio (R - E + y)``. V^T w is known from
        the last shrinkage, so two products with V are all: V^T G and V (...). BLAS sees row-major
        arrays as their transposes.
        """
        self.VG = self._gemm(1.0, G.T, self.basis.T, trans_b=1, c=self.VG.T, overwrite_c=1).T
        VB = (1.0 + q) * self.VG
        self.VT *= q
        VB -= self.VT
        shrunk = 1.0 / (1.0 + ratio * self.s**2)
        SC = self.R - self.E
        SC += self.y
        SC *= ratio * self.s
        inner = shrunk * SC
        inner -= (1.0 - shrunk) * VB
        SC += VB
        SC *= self.s * shrunk
        self.RZ = SC
        self._gemm(1.0, inner.T, self.basis.T, beta=1.0, c=G.T, overwrite_c=1)
        np.add(self.VG, inner, out=self.VT)

    def misfit(self):
        """X - X Z + Y / mu in thin coordinates."""
        F = self.R - self.RZ
        F += self.y
        return F

    def residual(self):
        """Largest absolute row sum of X - X Z - E."""
        return np.abs(self.U @ (self.R - self.RZ - self.E)).sum(axis=1).max()


def tsvd_msc(
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
    """Learn self-representations of all views under a rotated tensor nuclear norm.

    Minimises ``||Z||_tnn + lam ||[E_1; ...; E_V]||_{2,1}`` subject to ``X_i = X_i Z_i + E_i``
    (Xie et al. 2018, Eq. 9) by ADMM whose penalties double every iteration. Every X_i is replaced
    by the factor S V^T of its thin SVD, which changes no norm and no product, so the cost does
    not grow with the number of features.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
        Samples are scaled to unit length.
    lam : float, default=0.5
        Weight of the misfit. Small values force more samples to be explained exactly by fewer
        others; published values run from 0.05 to 1.1.
    transform : {"dft", "graph"} or ndarray of shape (n_samples, n_samples), default="dft"
        The transform along the samples in the tensor norm. "dft" is the published one; **its result
        depends on the order of the samples** and is flattered by files sorted by class. "graph"
        takes the eigenvectors of a similarity graph instead, which are free of the order;
        an orthonormal matrix brings its own basis as columns.
    update : {"joint", "sequential"}, default="joint"
        "joint" updates all E and multipliers once an iteration; "sequential" inside the loop over
        the views, as the released code does.
    tol : float, default=1e-7
        On the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        It takes 20 to 40.
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

    References
    ----------
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.
    """
    views = check_views(views)
    lam = check_number(lam, "lam", 0.0, open_interval=True)
    check_option(update, "update", ("joint", "sequential"))
    tol = check_number(tol, "tol", 0.0)
    max_iter = check_integer(max_iter, "max_iter", 0)
    mu = rho = check_number(mu, "mu", 0.0, open_interval=True)
    n_threads = resolve_threads(n_threads)
    start = time.perf_counter()
    with blas_threads(n_threads):
        transform = resolve_transform(transform, views)
        thin = [_ThinView(X, transform) for X in views]

    # Everything below is in transformed coordinates; w is the multiplier of Z = G over rho.
    v, n, dtype = len(views), views[0].shape[0], views[0].dtype
    G = np.zeros((v, n, n), dtype=dtype)
    w = np.zeros_like(G)
    gap = np.zeros_like(G)  # Z - G
    growth = 1.0
    residuals, seconds = [], []
    converged = False
    while len(residuals) < max_iter and not converged:
        with blas_threads(n_threads):
            for i, view in enumerate(thin):
                view.update_representation(G[i], mu / rho, 1.0 / growth)
                if update == "sequential":
                    _shrink_errors(thin, lam / mu)
                    view.y = view.misfit() - view.E
        if update == "joint":
            for view, F in zip(thin, _shrink_errors(thin, lam / mu), strict=True):
                view.y = F
                view.y -= view.E

        w /= growth
        np.subtract(G, w, out=gap)  # Z, as G holds Z + w
        w[...] = G
        transform.shrink(G, 1.0 / rho, n_threads)
        w -= G
        gap -= G
        residual = np.linalg.norm(gap) / np.sqrt(v * n)
        if residual <= tol:  # a lower bound of the largest row sum
            residual = np.abs(transform.inverse(gap, axis=1)).sum(axis=2).max()
        if residual <= tol:
            residual = max(residual, *(view.residual() for view in thin))
        residuals.append(float(residual))
        seconds.append(time.perf_counter() - start)
        converged = residual <= tol
        if callback is not None and callback(
            IterationState(len(residuals), residuals[-1], seconds[-1])
        ):
            break
        growth = min(2 * mu, MU_MAX) / mu
        for view in thin:
            view.y /= growth
        mu *= growth
        growth = min(2 * rho, RHO_MAX) / rho
        rho *= growth

    gap += G
    history = {"residual": np.array(residuals), "seconds": np.array(seconds)}
    Z = transform.inverse(gap, axis=1)
    return RepresentationResult(Z, len(residuals), converged, history)


def _shrink_errors(thin, t):
    """E <- the misfits of all views with the length of every stacked column shrunk by t.

    Returns the misfits.
    """
    misfits = [view.misfit() for view in thin]
    length = np.sqrt(sum(np.einsum("rk,rk->k", F, F) for F in misfits))
    factor = 1.0 - t / np.maximum(length, t)
    for view, F in zip(thin, misfits, strict=True):
        np.multiply(F, factor, out=view.E)
    return misfits


class TSVDMSC(MultiViewClusterer):
    """Clustering by t-SVD-MSC: self-representations under a rotated tensor nuclear norm.

    Parameters
    ----------
    n_clusters : int, default=8
    lam : float, default=0.5
        Weight of the misfit, see `tsvd_msc`.
    sample_transform : {"graph", "dft"} or ndarray, default="graph"
        ``transform`` of `tsvd_msc`, under a name that scikit-learn does not reserve for methods.
        The published "dft" depends on the order of the samples; it is for reproducing tables in
        file order.
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
        W = |Z| + |Z|^T.
    representation_ : ndarray of shape (v, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    similarity_ : ndarray
        The same array as ``tensor_``: the method learns its similarities itself.
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
    >>> from mvsc_fast import TSVDMSC, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> TSVDMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=0.5,
        sample_transform="graph",
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
        self.sample_transform = sample_transform
        self.update = update
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def _affinity(self, views, seed, n_threads):
        if isinstance(self.sample_transform, str) and self.sample_transform == "dft":
            warn_order_dependent()
        result = tsvd_msc(
            views,
            lam=self.lam,
            transform=self.sample_transform,
            update=self.update,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
        warn_not_converged("TSVDMSC", result, self.tol)
        self._log(f"{result.n_iter} iterations, residual {result.history['residual'][-1:]}")
        self.representation_ = result.representation
        self.tensor_ = self.similarity_ = result.tensor
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        return fuse(self.tensor_, keep_diagonal=True)
