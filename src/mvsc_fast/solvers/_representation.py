"""Self-representation: thin coordinates of views, the ADMM with misfits E, Sylvester equations."""

from typing import Literal

import numpy as np
import scipy.linalg

from ..views._rows import dense
from ..views._view_rows import unit_rows
from ._transforms import Basis

DOUBLING = {"rho": 2.0, "mu_max": 1e11}  # growth of the published penalties

Update = Literal["joint", "sequential"]


def dense_unit_rows(X):
    """A view as an array, with samples of unit length."""
    return unit_rows(dense(X, None))


def thin_svd(X):
    """U, s and V^T of the singular values of X that exceed rounding errors, at least one."""
    U, s, Vt = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
    rank = max(1, int(np.sum(s > max(X.shape) * np.finfo(s.dtype).eps * s[0])))
    return U[:, :rank], s[:rank], Vt[:rank]


class ThinView:
    """One view by its thin SVD, X = U S V^T, with its variables in the coordinates of U.

    Products and norms of the methods do not change when X is replaced by R = S V^T, so the cost
    does not grow with the number of features. With a ``transform`` along the samples, ``basis`` is
    V with its rows transformed like the rows of Z. E (r x n) is the misfit, and y the multiplier of
    X = X Z + E over its penalty.
    """

    def __init__(self, X, transform=None):
        # X is (samples, features), the transpose of the paper's X.
        V, s, Ut = thin_svd(dense_unit_rows(X))
        self.s = s[:, None]
        self.U = np.ascontiguousarray(Ut.T)
        self.R = self.s * V.T
        V = np.ascontiguousarray(V)
        self.basis = V if transform is None else transform.forward(V, axis=0)
        self.E, self.y, self.RZ = (np.zeros_like(self.R) for _ in range(3))
        (self._gemm,) = scipy.linalg.get_blas_funcs(("gemm",), (self.R,))

    def project(self, B):
        """V^T B."""
        # BLAS sees row-major arrays as their transposes.
        return self._gemm(1.0, B.T, self.basis.T, trans_b=1).T

    def fit(self, VB, ratio):
        """V^T (Z - B) for the Z that minimises ``ratio ||X - X Z - E + y||^2 + ||Z - B||^2``.

        As ``Z = B + V (shrunk s C - (1 - shrunk) V^T B)`` with ``C = ratio (R - E + y)`` and
        ``shrunk = 1 / (1 + ratio s^2)``, only V^T B is needed; `add` completes Z.
        """
        # Normal equations are diagonal in the coordinates of the SVD.
        shrunk = 1.0 / (1.0 + ratio * self.s**2)
        SC = self.R - self.E
        SC += self.y
        SC *= ratio * self.s
        inner = shrunk * SC
        inner -= (1.0 - shrunk) * VB
        SC += VB
        SC *= self.s * shrunk
        self.RZ = SC
        return inner

    def add(self, inner, B):
        """B <- B + V inner, in place."""
        self._gemm(1.0, inner.T, self.basis.T, beta=1.0, c=B.T, overwrite_c=1)

    def misfit(self):
        """X - X Z + y in thin coordinates."""
        F = self.R - self.RZ
        F += self.y
        return F

    def residual(self):
        """Largest absolute row sum of X - X Z - E."""
        return largest_row_sum(self.U @ (self.R - self.RZ - self.E))


def common_coordinates(thin):
    """A basis Q of the common span of all bases V, which are replaced by their coordinates Q^T V.

    Representations start at zero and change by ``Z_i <- B + V_i C`` and by shrinking singular
    values of frontal slices or unfoldings, also after a transform along the views. Both keep the
    columns in the common span, so methods may iterate on Q^T Z, whose number of rows is the rank of
    the concatenated views. If that is not below n, Q is the identity.
    """
    n = len(thin[0].basis)
    if sum(view.basis.shape[1] for view in thin) >= n:
        return Basis()
    # Iterating in the common span is cheaper if it is smaller than the number of samples.
    Q, _ = scipy.linalg.qr(
        np.hstack([view.basis for view in thin]), mode="economic", check_finite=False
    )
    span = Basis(np.ascontiguousarray(Q))
    for view in thin:
        view.basis = span.forward(view.basis, axis=0)
    return span


def update_errors(thin, t):
    """E <- the misfits with the length of every column, stacked over the views, shrunk by t.

    Returns the misfits, from which the multipliers follow as misfit - E.
    """
    misfits = [view.misfit() for view in thin]
    factor = column_factors(misfits, t)
    for view, F in zip(thin, misfits, strict=True):
        np.multiply(F, factor, out=view.E)
    return misfits


def column_factors(parts, t):
    """Factors that shrink by t the length of every column of the stacked parts."""
    length = np.sqrt(sum(np.einsum("rk,rk->k", F, F) for F in parts))
    return 1.0 - t / np.maximum(length, t)


def update_multipliers(thin, misfits):
    """y <- y + X - X Z - E, given the misfits before E was subtracted."""
    for view, F in zip(thin, misfits, strict=True):
        view.y = F
        view.y -= view.E


def largest_row_sum(A):
    """Largest absolute row sum of a matrix or all slices, the norm of published stopping rules."""
    return np.abs(A).sum(axis=-1).max()


def solve_representation(thin, shrinks, restore, run, *, lam, update="joint"):
    """ADMM for ``sum_m g_m(Z) + lam ||[E_1; ...; E_V]||_{2,1}`` under ``X_i = X_i Z_i + E_i``.

    Xie et al. 2018, Algorithm 1, with a copy G_m of Z for each term. All constraints have the
    same penalty. ``shrink(T, t)`` of ``shrinks`` is the proximal map of ``t g_m``, in place, in the
    coordinates of the bases of the views (``thin``); ``restore`` maps these back to samples.
    Returns Z of shape (v, n, n).
    """
    shape, dtype = (len(thin), len(thin[0].basis), thin[0].R.shape[1]), thin[0].R.dtype
    Z = np.zeros(shape, dtype=dtype)
    w = [np.zeros_like(Z) for _ in shrinks]  # multipliers of Z = G_m over mu
    steps = [np.zeros_like(Z) for _ in shrinks]  # G_m - w_m - Z
    share = 1.0 / len(shrinks)
    for mu in run:
        # Z follows the mean of its low-rank copies, then each view corrects its slice.
        for step in steps:
            Z += share * step
        for i, view in enumerate(thin):
            view.add(view.fit(view.project(Z[i]), share), Z[i])
            if update == "sequential":
                update_multipliers([view], update_errors(thin, lam / mu)[i : i + 1])
        if update == "joint":
            update_multipliers(thin, update_errors(thin, lam / mu))
        # Each norm shrinks its copy of Z; what they differ by updates the multiplier.
        residual = 0.0
        for w_m, gap, shrink in zip(w, steps, shrinks, strict=True):
            np.add(Z, w_m, out=gap)
            shrink(gap, 1.0 / mu)  # G_m
            gap -= Z
            # The root of the mean squared row length is a lower bound of the largest row sum; the
            # rows may be fewer than the n samples, in the coordinates of a basis.
            bound = np.linalg.norm(gap) / np.sqrt(shape[0] * shape[2])
            residual = run.largest(residual, bound, lambda A=gap: largest_row_sum(restore(A)))
            w_m -= gap
            w_m /= run.growth
            gap -= w_m
        # The exact residual is costly: it is computed only when bounds are below tol.
        run.record(residual, *(view.residual for view in thin))
        for view in thin:
            view.y /= run.growth
    return restore(Z)


class Stack:
    """The stacked views ``X = [X_1; ...; X_V]``, samples of unit length, as ``X = U R``.

    U (D x r, r the rank of X) has orthonormal columns, so products and norms of columns do not
    change when X (D x n) is replaced by R (r x n), and the cost does not grow with D.
    """

    def __init__(self, views):
        X = np.hstack(list(map(dense_unit_rows, views)))
        V, s, Ut = thin_svd(X)
        self.U = np.ascontiguousarray(Ut.T)
        self.R = np.ascontiguousarray(s[:, None] * V.T)
        self._X = X

    def draw(self, n_rows, rng):
        """Uniform random numbers in [0, 1) of shape (n_rows, n), one column for every sample.

        Columns are assigned by the order of a random projection of the samples, so that permuting
        the samples permutes the columns.
        """
        n, n_features = self._X.shape
        rank = np.argsort(self._X @ rng.uniform(size=n_features), kind="stable")
        out = np.empty((n_rows, n), dtype=self._X.dtype)
        out[:, rank] = rng.uniform(size=(n_rows, n))
        return out


def sylvester(left, right, QC):
    """Solve ``A Z + Z B = C`` for ``A = Q diag(a) Q^T`` and ``B = R diag(b) R^T``.

    ``Z = Q [ (Q^T C R)_ij / (a_i + b_j) ] R^T``, in which entries with a_i + b_j = 0 are set to 0.
    This is the solution of minimum norm, or the least-squares solution if there is none. ``left``
    is (a, Q) and ``right`` (b, R); Q may lack eigenvectors to which C is orthogonal. QC is Q^T C.
    """
    (a, Q), (b, R) = left, right
    total = a[:, None] + b
    largest = np.abs(a).max() + np.abs(b).max()
    zero = np.abs(total) <= len(b) * np.finfo(total.dtype).eps * largest
    total[zero] = 1.0
    inner = QC @ R
    inner /= total
    inner[zero] = 0.0
    return Q @ (inner @ R.T)
