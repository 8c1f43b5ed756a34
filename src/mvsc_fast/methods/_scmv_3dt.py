"""SCMV-3DT: multi-view subspace clustering with the t-product (Yin et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.fft
import scipy.linalg

from .._utils.parameters import nonnegative, option, positive
from ..solvers._representation import dense_unit_rows, thin_svd
from ..solvers._transforms import Fourier
from ._representation import RepresentationClusterer

Features = Literal["pca", "pad"]


@dataclass(eq=False, repr=False, kw_only=True)
class SCMV3DT(RepresentationClusterer):
    """Clustering by SCMV-3DT: sparse self-representations with the t-product.

    Minimises ``||Z||_tnn + lam ||X - X * Z||_F^2 + alpha ||Z||_1 + beta sum_{i != j}
    ||Z_i - Z_j||_F^2`` (Yin et al. 2019, as quoted by Jia et al. 2021), where * is the t-product
    and the norm the mean of the nuclear norms in the Fourier domain along the views. No code was
    released; the ADMM here has one copy of Z for the nuclear norm and one for the l1 norm, which
    is the result. For more than three views the result depends on the order of the views, as the
    t-product does. It does not depend on the order of the samples.

    Parameters
    ----------
    lam : float, default=10.0
        Weight of the misfit. The defaults of the three weights are the best of 36 combinations on
        shuffled data sets; no values are published.
    alpha : float, default=0.1
        Weight of the l1 norm.
    beta : float, default=0.001
        Weight of the differences between views.
    features : {"pca", "pad"}, default="pca"
        How to obtain views with the same number of features, as the t-product requires. "pca"
        projects every view onto its leading singular vectors (uncentred), as many as the smallest
        view has features; "pad" appends zeros up to the largest, which preserves inner products.
    tol : float, default=1e-6
        Tolerance on the largest entry of both constraint residuals and of the change of Z.
    max_iter : int, default=200
        Maximum number of iterations.

    References
    ----------
    Yin, Gao, Xie, Guo: Multiview subspace clustering via tensorial t-product representation. IEEE
    TNNLS 30(3), 2019.

    Examples
    --------
    >>> from mvsc_fast.methods import SCMV3DT
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> SCMV3DT(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    lam: float = 10.0
    alpha: float = 0.1
    beta: float = 0.001
    features: Features = "pca"
    tol: float = 1e-6
    max_iter: int = 200

    _arrays = (15, 4)
    _checks = {
        **RepresentationClusterer._checks,
        "lam": positive,
        "alpha": nonnegative,
        "beta": nonnegative,
        "features": option(Features),
    }
    _keep_diagonal = False

    def _represent(self, views, seed, n_threads, progress):
        run = self._begin(progress, mu=1e-2, rho=1.2, mu_max=1e6)
        X = _equal_features(views, self.features)
        Z = _sparse_representation(X, run, self.lam, self.alpha, self.beta)
        return run, {"representation_": Z}


def _sparse_representation(X, run, lam, alpha, beta):
    """The sparse copy of Z, by the iteration of `SCMV3DT`, of views with as many features."""
    # The systems of all frequencies are factorised once, before the iteration.
    (v, _, n), dtype = X.shape, X.dtype
    fourier = Fourier()
    dft = fourier.forward(np.eye(v, dtype=dtype), axis=0)  # few views: faster than FFTs
    factors = _frequency_factors(X)

    Z, J, C, U1, U2 = (np.zeros((v, n, n), dtype=dtype) for _ in range(5))
    for mu in run:
        # Z: least squares in the Fourier domain, where the t-product is a product of slices.
        former = Z
        B = J - U1
        B += C
        B -= U2
        B *= mu
        Z = _representation(B, factors, lam, beta, mu)
        # J: singular values of the frontal slices are shrunk.
        J = np.tensordot(dft, np.add(Z, U1, out=B), 1)
        fourier.shrink_frontal(J, 1.0 / mu)
        J = np.tensordot(dft.T, J, 1)
        # C: entries are shrunk, which makes the representation sparse.
        C = Z + U2
        np.clip(C, -alpha / mu, alpha / mu, out=U2)  # what shrinking takes away is U2 + Z - C
        C -= U2
        U1 += Z
        U1 -= J
        run.record(
            _largest_difference(Z, J),
            lambda A=Z, B=C: _largest_difference(A, B),
            lambda A=Z, B=former: _largest_difference(A, B),
        )
        U1 /= run.growth
        U2 /= run.growth
    return C


def _largest_difference(A, B):
    """Largest entry of ``|A - B|``."""
    D = A - B
    return max(D.max(), -D.min())


def _equal_features(views, features):
    """The views as one array of shape (v, d, n), columns of unit length before the projection."""
    dense = list(map(dense_unit_rows, views))
    n = dense[0].shape[0]
    if features == "pad":
        d = max(X.shape[1] for X in dense)
        return np.stack([np.pad(X, ((0, 0), (0, d - X.shape[1]))).T for X in dense])
    # Of all projections to d features, that on the leading singular vectors loses the least.
    d = min(n, *(X.shape[1] for X in dense))
    out = np.empty((len(dense), d, n), dtype=dense[0].dtype)
    for i, X in enumerate(dense):
        U, s, Vt = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
        # The sign of singular vectors is arbitrary, but the t-product adds views. Where the sum is
        # a rounding error, as in rows of sum 0, the first of the largest entries decides.
        total, size = Vt.sum(axis=1), np.abs(Vt)
        first = (size >= 0.999 * size.max(axis=1, keepdims=True)).argmax(axis=1)
        is_sure = np.abs(total) > np.sqrt(np.finfo(X.dtype).eps * X.shape[1])
        sign = np.where(np.where(is_sure, total, Vt[np.arange(len(Vt)), first]) < 0, -1.0, 1.0)
        out[i] = (U[:, :d] * (sign * s)[:d]).T
    return out


def _frequency_factors(X):
    """Right singular vectors and squared singular values of every slice of the DFT of X."""
    factors = []
    for slice_ in scipy.fft.rfft(X, axis=0):
        _, s, Vh = thin_svd(slice_)
        factors.append((np.ascontiguousarray(Vh), s[:, None] ** 2))
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
