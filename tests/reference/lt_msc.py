"""LT-MSC (Zhang et al. 2015) on full feature matrices, every unfolding through its own SVD."""

import numpy as np

from .proximal import column_shrink, mode_shrink
from .sparse_graphs import unit


def lt_msc(views, lam=0.5, gamma=(1.0, 1.0, 1.0), tol=1e-7, max_iter=200):
    """Z of shape (v, n, n) and the number of iterations; views are (n, d_i)."""
    X = [unit(V).T for V in views]
    v, n = len(X), X[0].shape[1]
    Z = np.zeros((v, n, n))
    G = [np.zeros_like(Z) for _ in range(3)]
    W = [np.zeros_like(Z) for _ in range(3)]
    E = [np.zeros_like(A) for A in X]
    Y = [np.zeros_like(A) for A in X]
    mu = 1e-4
    for n_iter in range(1, max_iter + 1):
        for i, A in enumerate(X):
            right = A.T @ A - A.T @ E[i] + A.T @ Y[i] / mu
            right += sum(G[m][i] - W[m][i] / mu for m in range(3))
            Z[i] = np.linalg.solve(3 * np.eye(n) + A.T @ A, right)
        E = column_shrink([A - A @ Z[i] + Y[i] / mu for i, A in enumerate(X)], lam / mu)
        for i, A in enumerate(X):
            Y[i] += mu * (A - A @ Z[i] - E[i])
        for m, axis in enumerate((1, 2, 0)):
            G[m] = mode_shrink(Z + W[m] / mu, gamma[m] / mu, axis)
            W[m] += mu * (Z - G[m])
        residuals = [A - A @ Z[i] - E[i] for i, A in enumerate(X)]
        residuals += [R for m in range(3) for R in Z - G[m]]
        if max(np.abs(R).sum(axis=1).max() for R in residuals) <= tol or n_iter == max_iter:
            return Z, n_iter
        mu = min(2 * mu, 1e11)
