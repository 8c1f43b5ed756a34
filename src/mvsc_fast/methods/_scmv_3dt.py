"""SCMV-3DT: multi-view subspace clustering with the t-product (Yin et al. 2019)."""

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.sparse
from sklearn.preprocessing import normalize

from .._kernels import UnfoldingWorkspace
from ..solvers.results import Progress, RepresentationResult
from ..threads import blas_threads, resolve_threads, useful_threads
from ..transforms import Fourier
from ..validation import check_number, check_option, check_penalty, check_stopping
from ..views import check_views
from .representation import RepresentationClusterer


def scmv_3dt(
    views,
    *,
    lam=10.0,
    alpha=0.1,
    beta=0.001,
    features="pca",
    tol=1e-6,
    max_iter=200,
    mu=1e-2,
    rho=1.2,
    mu_max=1e6,
    n_threads=None,
    callback=None,
):
    """Learn sparse self-representations of all views at once under the t-product.

    Minimises ``||Z||_tnn + lam ||X - X * Z||_F^2 + alpha ||Z||_1 + beta sum_{i != j}
    ||Z_i - Z_j||_F^2`` (Yin et al. 2019, as quoted by Jia et al. 2021), where * is the t-product
    and the norm the mean of the nuclear norms in the Fourier domain along the views. No code was
    released: the ADMM is derived, with one copy of Z for the nuclear and one for the l1 norm.
    For more than three views the result depends on the order of the views, as the t-product does;
    it never depends on the order of the samples.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
        Samples are scaled to unit length.
    lam : float, default=10.0
        Weight of the misfit. The defaults of the three weights did best of 36 combinations over
        shuffled data sets; no values are published.
    alpha : float, default=0.1
        Weight of the l1 norm.
    beta : float, default=0.001
        Weight of the differences between views.
    features : {"pca", "pad"}, default="pca"
        The t-product needs views of one dimension: "pca" projects every view on its leading
        singular vectors (uncentred), as many as the smallest dimension; "pad" adds zeros
        up to the largest, which keeps all inner products within a view.
    tol : float, default=1e-6
        On the largest entry of both constraint residuals and of the change of Z.
    max_iter : int, default=200
    mu, rho, mu_max : float, default=1e-2, 1.2, 1e6
        First penalty, its growth per iteration and its cap.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.
    callback : callable, optional
        Called with an `IterationState` after every iteration; returning True stops.

    Returns
    -------
    RepresentationResult
        ``representation`` Z, its sparse copy, and ``tensor`` |Z| + |Z|^T, both (v, n, n).

    Raises
    ------
    ValueError
        If a view or a parameter is invalid; the message says which.

    References
    ----------
    Yin, Gao, Xie, Guo: Multiview subspace clustering via tensorial t-product representation. IEEE
    TNNLS 30(3), 2019.
    """
    views = check_views(views)
    lam = check_number(lam, "lam", 0.0, open_interval=True)
    alpha = check_number(alpha, "alpha", 0.0)
    beta = check_number(beta, "beta", 0.0)
    check_option(features, "features", ("pca", "pad"))
    tol, max_iter = check_stopping(tol, max_iter)
    mu, rho, mu_max = check_penalty(mu, rho, mu_max)
    n_threads = useful_threads(resolve_threads(n_threads), views[0].shape[0])
    progress = Progress(tol, max_iter, callback)
    v, n, dtype = len(views), views[0].shape[0], views[0].dtype
    fourier = Fourier()
    with blas_threads(n_threads):
        factors = _frequency_factors(_equal_features(views, features))
    work = UnfoldingWorkspace(n, dtype, complex_slices=True)

    Z, J, C, U1, U2 = (np.zeros((v, n, n), dtype=dtype) for _ in range(5))
    with blas_threads(n_threads):
        while progress.running:
            former = Z
            B = J - U1
            B += C
            B -= U2
            B *= mu
            Z = _representation(B, factors, lam, beta, mu)
            J = np.add(Z, U1, out=B)
            J = fourier.forward(J, axis=0)
            fourier.shrink_frontal(J, 1.0 / mu, work)
            J = fourier.inverse(J, axis=0)
            C = Z + U2
            C = np.sign(C) * np.maximum(np.abs(C) - alpha / mu, 0.0)
            U1 += Z
            U1 -= J
            U2 += Z
            U2 -= C
            progress.record(max(np.abs(D).max() for D in (Z - J, Z - C, Z - former)))
            growth = min(rho * mu, mu_max) / mu
            U1 /= growth
            U2 /= growth
            mu *= growth
    return RepresentationResult(C, progress.n_iter, progress.converged, progress.history)


def _equal_features(views, features):
    """The views as one array of shape (v, d, n), columns of unit length before the projection."""
    dense = [normalize(X.toarray() if scipy.sparse.issparse(X) else X) for X in views]
    n = dense[0].shape[0]
    if features == "pad":
        d = max(X.shape[1] for X in dense)
        return np.stack([np.pad(X, ((0, 0), (0, d - X.shape[1]))).T for X in dense])
    d = min(n, *(X.shape[1] for X in dense))
    out = np.empty((len(dense), d, n), dtype=dense[0].dtype)
    for i, X in enumerate(dense):
        U, s, Vt = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
        # Singular vectors have no sign of their own, but the t-product adds views.
        sign = np.where(Vt.sum(axis=1) < 0, -1.0, 1.0)
        out[i] = (U[:, :d] * (sign * s)[:d]).T
    return out


def _frequency_factors(X):
    """Right singular vectors and squared singular values of every slice of the DFT of X."""
    factors = []
    for slice_ in scipy.fft.rfft(X, axis=0):
        _, s, Vh = scipy.linalg.svd(slice_, full_matrices=False, check_finite=False)
        rank = max(1, int(np.sum(s > max(slice_.shape) * np.finfo(s.dtype).eps * s[0])))
        factors.append((np.ascontiguousarray(Vh[:rank]), s[:rank, None] ** 2))
    return factors


def _representation(B, factors, lam, beta, mu):
    """Z with ``[2 lam X^H X + c I] Z = 2 lam X^H X + B`` at every frequency of the DFT."""
    v = len(B)
    hat = scipy.fft.rfft(B, axis=0)
    for k, (Vh, squared) in enumerate(factors):
        c = 2.0 * mu + (4.0 * beta * v if k > 0 else 0.0)
        share = 2.0 * lam * squared / (2.0 * lam * squared + c)
        inner = share * (Vh - (Vh @ hat[k]) / c)
        hat[k] /= c
        hat[k] += Vh.conj().T @ inner
    return scipy.fft.irfft(hat, v, axis=0)


class SCMV3DT(RepresentationClusterer):
    """Clustering by SCMV-3DT: sparse self-representations under the t-product.

    Parameters
    ----------
    n_clusters : int, default=8
    lam, alpha, beta : float, default=10.0, 0.1, 0.001
        Weights of the misfit, the l1 norm and the differences between views, see `scmv_3dt`.
    features : {"pca", "pad"}, default="pca"
        How views get one dimension.
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
        Z; column k holds the coefficients of sample k.
    affinity_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices, diagonal cleared.
    embedding_ : ndarray of shape (n_samples, n_clusters)
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int or list of int

    References
    ----------
    Yin et al.: Multiview subspace clustering via tensorial t-product representation. IEEE TNNLS
    30(3), 2019.

    Examples
    --------
    >>> from mvsc_fast import SCMV3DT, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> SCMV3DT(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    _keep_diagonal = False

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=10.0,
        alpha=0.1,
        beta=0.001,
        features="pca",
        tol=1e-6,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.lam = lam
        self.alpha = alpha
        self.beta = beta
        self.features = features
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def _learn(self, views, n_threads):
        return scmv_3dt(
            views,
            lam=self.lam,
            alpha=self.alpha,
            beta=self.beta,
            features=self.features,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
