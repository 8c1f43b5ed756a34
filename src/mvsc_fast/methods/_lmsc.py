"""L-MSC: latent multi-view subspace clustering (Zhang et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from sklearn.utils import check_random_state

from .._utils.parameters import count, either, positive
from .._utils.types import FloatArray
from ..solvers._representation import Stack, column_factors, largest_row_sum
from ._representation import RepresentationClusterer

H_RIDGE = 1e-6  # as in the released code


@dataclass(eq=False, repr=False, kw_only=True)
class LMSC(RepresentationClusterer):
    """Clustering by L-MSC: self-representations of a latent representation of all views.

    Minimises ``||[E_h; E_r]||_{2,1} + lam ||Z||_*`` subject to ``X = P H + E_h``,
    ``H = H Z + E_r`` and ``P^T P = I`` (Zhang et al. 2017) by ADMM, where X (D x n) stacks
    the views, H (K x n) is the latent representation and P (D x K) maps it to the features. The
    released code updates H with the wrong sign; the updates here follow from the objective. The
    problem is not convex: the result depends on a random initialisation, but not on the order of
    the samples.

    Z is kept in factored form, ``Z = J + H^T G - H_former^T G_former`` with a low-rank J, because
    the multiplier of ``Z = J`` is always ``-mu H^T G``. An iteration costs O(n K^2) plus one
    singular value decomposition with at most rank(J) + 2 K rows and columns.

    Parameters
    ----------
    lam : float, default=0.1
        Weight of the nuclear norm; 0.1 is the value of the published demo and gives the accuracy
        that the literature reports on Extended YaleB.
    n_components : int, optional
        Dimension K of the latent representation, at most the rank of the stacked views. None is
        100, as published, or a quarter of the number of samples if that is smaller: Z is not
        informative if K is close to the number of samples.
    tol : float, default=1e-6
        Tolerance on the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        Maximum number of iterations; 80 to 140 are usually sufficient.

    Attributes
    ----------
    tensor_ : ndarray of shape (1, n_samples, n_samples)
        ``|Z| + |Z|^T``; the views share one Z.
    representation_ : ndarray of shape (1, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    latent_ : ndarray of shape (n_samples, n_components)
        The latent representation, the transpose of H.

    References
    ----------
    Zhang, Hu, Fu, Zhu, Cao: Latent multi-view subspace clustering. CVPR 2017.

    Examples
    --------
    >>> from mvsc_fast.methods import LMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> LMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    lam: float = 0.1
    n_components: int | None = None
    tol: float = 1e-6
    max_iter: int = 200

    latent_: FloatArray = field(init=False)

    _arrays = (0, 11)
    _checks = {
        **RepresentationClusterer._checks,
        "lam": positive,
        "n_components": either(None, count),
    }

    def _represent(self, views, seed, n_threads, progress):
        run = self._begin(progress, rho=1.2, mu_max=1e6)
        Z, H = _latent_representation(views, run, self.lam, self.n_components, seed)
        return run, {"representation_": Z, "latent_": H}


def _latent_representation(views, run, lam, n_components, seed):
    """Z and the transpose of H, by the iteration of `LMSC`."""
    # All views are one matrix in the coordinates of its thin SVD.
    stack = Stack(views)
    X = stack.R
    r, n = X.shape
    K = min(n_components or max(1, min(100, n // 4)), r)
    H = stack.draw(K, check_random_state(seed))
    left, right = H.T, np.zeros_like(H)  # Z = left right, H^T first in left
    G = np.zeros_like(H)  # the multiplier of Z = J is -mu H^T G
    E = np.zeros((r + K, n), dtype=X.dtype)  # E_h above E_r
    y = np.zeros_like(E)  # multipliers of X = P H + E_h and H = H Z + E_r over mu

    for mu in run:
        # P and H: the latent representation is fitted to the views and to its own self-
        # representation.
        former = H
        target = X - E[:r] + y[:r]
        U, _, Vt = scipy.linalg.svd(target @ H.T, full_matrices=False, check_finite=False)
        P = U @ Vt  # the nearest matrix with orthonormal columns
        error = E[r:] - y[r:]
        error -= (error @ right.T) @ left.T  # (E_r - y_r) (I - Z)^T
        H = _latent(P.T @ target + error, left, right, 1.0 + H_RIDGE / mu)
        # J: singular values of Z are shrunk. Z has low rank plus a known part, so it is kept as
        # factors.
        right[:K] += G
        U, V = _low_rank(left, right, lam / mu)  # J

        # Z = B + H^T fresh minimises ||H - H Z - E_r + y_r||^2 + ||Z - B||^2, B = J - former^T G.
        HB = (H @ U) @ V
        HB -= (H @ former.T) @ G
        gram = H @ H.T
        gram[np.diag_indices(K)] += 1.0
        update = _solve(gram, H - E[r:] + y[r:] - HB)
        left, right = np.hstack([H.T, former.T, U]), np.vstack([update, -G, V])

        # E takes columns of large misfit; what remains updates the multipliers.
        misfit = np.vstack([X - P @ H + y[:r], E[r:] + update])
        E = misfit * column_factors([misfit], 1.0 / mu)
        misfit -= E
        residual = misfit - y
        run.record(
            largest_row_sum(residual[r:]),
            lambda R=residual[:r]: largest_row_sum(stack.U @ R),
            lambda A=former, B=H, C=G, D=update: largest_row_sum(A.T @ C - B.T @ D),
        )
        y, G = misfit / run.growth, update / run.growth
    Z = left @ right
    return Z[None], np.ascontiguousarray(H.T)


def _latent(C, left, right, c):
    """H with ``H (c I + (I - Z) (I - Z)^T) = C`` for ``Z = left right``, of shape (K, n)."""
    n, p = left.shape
    if 2 * p >= n:
        T = left @ right
        np.negative(T, out=T)
        T[np.diag_indices(n)] += 1.0
        A = T @ T.T
        A[np.diag_indices(n)] += c
        return _solve(A, C.T).T
    # Woodbury's identity for (c + 1) I + B M B^T, B = [left, right^T]
    d = c + 1.0
    product, gram = right @ left, right @ right.T
    product[np.diag_indices(p)] -= d
    core = np.block([[left.T @ left, product.T], [product, (1.0 - d) * gram]])
    B = np.hstack([left, right.T])
    return (C - _solve(core, (C @ B).T, "sym").T @ B.T) / d


def _low_rank(left, right, t):
    """Factors of ``left right`` with its singular values shrunk by t: (n, k) and (k, n)."""
    Q, A = scipy.linalg.qr(left, mode="economic", check_finite=False)
    S, B = scipy.linalg.qr(right.T, mode="economic", check_finite=False)
    U, s, Vt = scipy.linalg.svd(A @ B.T, full_matrices=False, check_finite=False)
    k = int(np.sum(s > t))
    return Q @ U[:, :k], (s[:k, None] - t) * Vt[:k] @ S.T


def _solve(A, right, assume_a="pos"):
    return scipy.linalg.solve(A, right, assume_a=assume_a, overwrite_a=True, check_finite=False)
