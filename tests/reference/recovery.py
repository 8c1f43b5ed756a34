"""TRPCA (Lu et al. 2020) and SNN (Liu et al. 2013), every matrix through its own SVD."""

import numpy as np

from .proximal import frontal_shrink, mode_shrink, soft, view_nuclear_shrink


def trpca(W, lam, identity=False, tol=1e-8, max_iter=500, mu=1e-4):
    """L, S and the number of iterations."""
    v = len(W)
    L, S, Y = (np.zeros_like(W) for _ in range(3))
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        L_last, S_last = L, S
        A = W - S - Y / mu
        L = frontal_shrink(A, 1 / mu / np.sqrt(v)) if identity else view_nuclear_shrink(A, 1 / mu)
        S = soft(W - L - Y / mu, lam / mu)
        R = L + S - W
        if max(np.abs(C).max() for C in (R, L - L_last, S - S_last)) <= tol:
            break
        Y = Y + mu * R
        mu = min(1.1 * mu, 1e10)
    return L, S, n_iter


def snn(W, weights, tol=1e-8, max_iter=500, mu=1e-4):
    """The copy of the rows, E and the number of iterations."""
    L = [np.zeros_like(W) for _ in range(3)]
    Y = [np.zeros_like(W) for _ in range(3)]
    E = np.zeros_like(W)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        L_last, E_last = L, E
        L = [
            mode_shrink(W - E - Y[m] / mu, weights[m] / mu, axis)
            for m, axis in enumerate((1, 2, 0))
        ]
        E = soft(W - sum(L[m] + Y[m] / mu for m in range(3)) / 3, 1 / (3 * mu))
        R = [L[m] + E - W for m in range(3)]
        Y = [Y[m] + mu * R[m] for m in range(3)]
        changes = [E - E_last, *R, *(L[m] - L_last[m] for m in range(3))]
        if max(np.abs(C).max() for C in changes) <= tol:
            break
        mu = min(1.1 * mu, 1e10)
    return L[0], E, n_iter
