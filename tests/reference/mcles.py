"""MCLES (Chen et al. 2020) on full feature matrices, one quadratic program at a time."""

import numpy as np
import scipy.linalg
import scipy.optimize

from .dimsc import laplacian, sylvester
from .sparse_graphs import unit


def simplex_qp(A, b):
    """argmin s^T A s + b^T s over the unit simplex, A positive definite, by an active set.

    On the simplex ``s^T A s + b^T s = ||M s||^2 - const`` with ``M = R + R^-T b 1^T / 2`` and
    ``A = R^T R``; the least of it is, up to its length, the solution of the non-negative
    least-squares problem ``||M y||^2 + (1^T y - 1)^2``.
    """
    R = scipy.linalg.cholesky(A)
    M = R + scipy.linalg.solve_triangular(R, b / 2, trans="T")[:, None]
    n = len(b)
    y, _ = scipy.optimize.nnls(np.vstack([M, np.ones(n)]), np.append(np.zeros(n), 1.0))
    return y / y.sum()


def codebook(X, H, W, tol):
    """W with columns in the unit ball, up to the last step of the ADMM."""
    D2, T, r = W, np.zeros_like(W), 1.0
    D1 = W
    for _ in range(99):
        former = D1
        D1 = (r * (D2 - T) + X @ H.T) @ np.linalg.inv(r * np.eye(len(H)) + H @ H.T)
        D2 = (D1 + T) / np.maximum(1, np.linalg.norm(D1 + T, axis=0))
        T = T + D1 - D2
        r *= 1.2
        if np.mean((D1 - former) ** 2) <= tol:
            break
    return D1


def mcles(views, H, F, alpha=0.8, beta=0.4, gamma=0.004, tol=1e-2, max_iter=30, codebook_tol=1e-10):
    """S, H, F, objective values; H (d, n) and F (n, c) are the starts.

    The released code has 1e-6 as ``codebook_tol``.
    """
    X = np.vstack([unit(V).T for V in views])
    n, c = F.shape
    W, S = np.zeros((len(X), len(H))), np.zeros((n, n))
    values = []
    for _ in range(max_iter):
        W = codebook(X, H, W, codebook_tol)
        T = np.eye(n) - S
        H = sylvester(W.T @ W, alpha * T @ T.T, W.T @ X)
        K = H.T @ H
        q = np.sum((F[:, None] - F) ** 2, axis=2)
        A = beta / alpha * np.eye(n) + K
        S = np.stack(
            [simplex_qp(A, gamma / (2 * alpha) * q[i] - 2 * K[:, i]) for i in range(n)], axis=1
        )
        values_L, vectors = np.linalg.eigh(laplacian((S + S.T) / 2))
        F = vectors[:, :c]
        values.append(
            np.sum((X - W @ H) ** 2)
            + alpha * np.sum((H - H @ S) ** 2)
            + beta * np.sum(S**2)
            + gamma * values_L[:c].sum()
        )
        if len(values) > 1 and abs(values[-1] - values[-2]) < tol * values[-2]:
            break
    return S, H, F, np.array(values)
