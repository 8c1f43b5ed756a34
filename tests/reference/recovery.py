"""TRPCA (Lu et al. 2020) and SNN (Liu et al. 2013), every matrix through its own SVD."""

import numpy as np

from .proximal import mode_shrink, soft, svt, view_nuclear_shrink


def trpca(W, lam, basis=None, tol=1e-8, max_iter=500, mu=1e-4):
    """L, S and the number of iterations; a ``basis`` along the views replaces the DFT."""
    v = len(W)
    L, S, Y = (np.zeros_like(W) for _ in range(3))
    for n_iter in range(1, max_iter + 1):
        L_last, S_last = L, S
        A = W - S - Y / mu
        if basis is None:
            L = view_nuclear_shrink(A, 1 / mu)
        else:
            transformed = np.einsum("ip,ijk->pjk", basis, A)
            L = np.einsum("ip,pjk->ijk", basis, svt(transformed, 1 / mu / np.sqrt(v)))
        S = soft(W - L - Y / mu, lam / mu)
        R = L + S - W
        changes = R, L - L_last, S - S_last
        if max(np.abs(C).max() for C in changes) <= tol or n_iter == max_iter:
            return L, S, n_iter
        Y = Y + mu * R
        mu = min(1.1 * mu, 1e10)


def snn(W, weights, tol=1e-8, max_iter=500, mu=1e-4):
    """The copy of the rows, E and the number of iterations."""
    L = [np.zeros_like(W) for _ in range(3)]
    Y = [np.zeros_like(W) for _ in range(3)]
    E = np.zeros_like(W)
    for n_iter in range(1, max_iter + 1):
        L_last, E_last = L, E
        L = [
            mode_shrink(W - E - Y[m] / mu, weights[m] / mu, axis)
            for m, axis in enumerate((1, 2, 0))
        ]
        E = soft(W - sum(L[m] + Y[m] / mu for m in range(3)) / 3, 1 / (3 * mu))
        R = [L[m] + E - W for m in range(3)]
        Y = [Y[m] + mu * R[m] for m in range(3)]
        changes = [E - E_last, *R, *(L[m] - L_last[m] for m in range(3))]
        if max(np.abs(C).max() for C in changes) <= tol or n_iter == max_iter:
            return L[0], E, n_iter
        mu = min(1.1 * mu, 1e10)


def trpca_pass(W, L, S, Y, X, basis, *, lam, mu, mu_next):
    """What `trpca_pass` leaves in L, S, Y and X, and the largest residual or change."""
    new_L = np.einsum("ip,pjk->ijk", basis, X)
    new_S = soft(W - new_L - Y / mu, lam / mu)
    R = new_L + new_S - W
    Y = Y + mu * R
    X = np.einsum("pi,pjk->ijk", basis, W - new_S - Y / mu_next)
    change = max(np.abs(C).max() for C in (R, new_L - L, new_S - S))
    return new_L, new_S, Y, X, change


def snn_pass(W, E, L1, Y1, X, L3, Y3, mapper, *, mu, mu_next):
    """What `snn_pass` leaves in E, L1, Y1, X, L3, Y3, the largest change, and the Gram matrix."""
    old = [L1, L1.transpose(0, 2, 1), L3]
    Y = [Y1, Y1.transpose(0, 2, 1), Y3]
    L = [X, X.transpose(0, 2, 1), np.einsum("ip,pjk->ijk", mapper, W - E - Y3 / mu)]
    new_E = soft(W - sum(L[m] + Y[m] / mu for m in range(3)) / 3, 1 / (3 * mu))
    R = [L[m] + new_E - W for m in range(3)]
    Y = [Y[m] + mu * R[m] for m in range(3)]
    changes = [new_E - E, *R, *(L[m] - old[m] for m in range(3))]
    A = (W - new_E - Y[2] / mu_next).reshape(len(W), -1)
    change, X = max(np.abs(C).max() for C in changes), W - new_E - Y[0] / mu_next
    return new_E, L[0], Y[0], X, L[2], Y[2], change, A @ A.T
