"""L-MSC (Zhang et al. 2017) on full feature matrices, dense throughout."""

import numpy as np

from .proximal import column_shrink, svt
from .sparse_graphs import unit


def lmsc(views, H, lam=0.1, tol=1e-6, max_iter=150):
    """Z of shape (n, n), H of shape (K, n) and the number of iterations; H is the start."""
    X = np.vstack([unit(V).T for V in views])
    (D, n), K = X.shape, len(H)
    Z, Y3, J = (np.zeros((n, n)) for _ in range(3))
    E_h, Y1 = np.zeros((D, n)), np.zeros((D, n))
    E_r, Y2 = np.zeros((K, n)), np.zeros((K, n))
    eye = np.eye(n)
    mu = 1e-4
    for n_iter in range(1, max_iter + 1):
        U, _, Qt = np.linalg.svd(H @ (X - E_h + Y1 / mu).T, full_matrices=False)
        P = (U @ Qt).T
        T = eye - Z
        C = P.T @ Y1 - Y2 @ T.T + mu * (P.T @ (X - E_h) + E_r @ T.T)
        H = np.linalg.solve((mu + 1e-6) * eye + mu * T @ T.T, C.T).T
        J = svt(Z - Y3 / mu, lam / mu)
        right = J + H.T @ H - H.T @ E_r + (Y3 + H.T @ Y2) / mu
        Z = np.linalg.solve(eye + H.T @ H, right)
        E_h, E_r = column_shrink([X - P @ H + Y1 / mu, H - H @ Z + Y2 / mu], 1 / mu)
        residuals = [X - P @ H - E_h, H - H @ Z - E_r, J - Z]
        Y1 += mu * residuals[0]
        Y2 += mu * residuals[1]
        Y3 += mu * residuals[2]
        if max(np.abs(R).sum(axis=1).max() for R in residuals) <= tol or n_iter == max_iter:
            return Z, H, n_iter
        mu = min(1.2 * mu, 1e6)
