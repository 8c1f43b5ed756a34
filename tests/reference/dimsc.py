"""DiMSC (Cao et al. 2015) on full feature matrices, every Sylvester equation from scratch."""

import numpy as np

from .sparse_graphs import unit


def sylvester(A, B, C):
    """Z with A Z + Z B = C for symmetric A and B, zero where an eigenvalue sum is."""
    a, Q = np.linalg.eigh(A)
    b, R = np.linalg.eigh(B)
    total = a[:, None] + b
    regular = np.abs(total) > len(a) * np.finfo(float).eps * (np.abs(a).max() + np.abs(b).max())
    inner = np.where(regular, (Q.T @ C @ R) / np.where(regular, total, 1.0), 0.0)
    return Q @ inner @ R.T


def laplacian(G, signed=True):
    A = G if signed else np.maximum(G, 0)
    return np.diag(A.sum(axis=0)) - A


def dimsc(views, lam_s=0.01, lam_d=20.0, n_iter=10, normalize=True, signed=True):
    """Z of shape (v, n, n); views are (n, d_i)."""
    if normalize:
        views = [unit(V) for V in views]
    n = len(views[0])
    H = np.eye(n) - 1 / n
    grams = [V @ V.T for V in views]
    laplacians = [laplacian(G, signed) for G in grams]
    Z = [sylvester(G, lam_s * L, G) for G, L in zip(grams, laplacians, strict=True)]
    for _ in range(n_iter):
        for i, (G, L) in enumerate(zip(grams, laplacians, strict=True)):
            C = sum(H @ A.T @ A @ H for j, A in enumerate(Z) if j != i)
            Z[i] = sylvester(G, lam_s * L + lam_d * C, G)
    return np.stack(Z)


def objective(Z, views, lam_s, lam_d, signed=True):
    """Value of the model at Z for views (n, d_i), every pair of views counted once."""
    n = len(views[0])
    H = np.eye(n) - 1 / n
    value = 0.0
    for i, V in enumerate(views):
        G = V @ V.T
        L = laplacian(G, signed)
        value += np.sum((V.T - V.T @ Z[i]) ** 2) + lam_s * np.trace(Z[i] @ L @ Z[i].T)
        value += lam_d * sum(np.sum((Z[i] @ H @ A.T) ** 2) for A in Z[:i])
    return value
