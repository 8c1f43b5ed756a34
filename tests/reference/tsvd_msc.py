"""t-SVD-MSC and Ut-SVD-MSC (Xie et al. 2018): no thin factors, full complex FFT."""

import numpy as np

from .proximal import column_shrink, slice_shrink, tensor_nuclear_shrink, view_nuclear_shrink
from .sparse_graphs import unit


def basis_shrink(T, t, basis):
    """As `tensor_nuclear_shrink`, for the columns of a basis instead of Fourier's."""
    n = len(basis)
    hat = np.sqrt(n) * np.einsum("ab,vac->vbc", basis, T)
    return np.einsum("ab,vbc->vac", basis, slice_shrink(hat, t)) / np.sqrt(n)


def tsvd_msc(views, lam=0.5, update="joint", basis=None, rotate=True, tol=1e-7, max_iter=200):
    """Z of shape (v, n, n) and the number of iterations; views are (n, d_i)."""
    X = [unit(V).T for V in views]
    v, n = len(X), X[0].shape[1]
    Z, G, W = np.zeros((v, n, n)), np.zeros((v, n, n)), np.zeros((v, n, n))
    E = [np.zeros_like(A) for A in X]
    Y = [np.zeros_like(A) for A in X]
    inverse = [np.linalg.inv(np.eye(n) + A.T @ A) for A in X]
    mu = rho = 1e-4

    def update_errors():
        E[:] = column_shrink([X[u] - X[u] @ Z[u] + Y[u] / mu for u in range(v)], lam / mu)

    for n_iter in range(1, max_iter + 1):
        for i in range(v):
            right = X[i].T @ Y[i] + mu * X[i].T @ (X[i] - E[i]) - W[i]
            Z[i] = inverse[i] @ (right / rho + G[i])
            if update == "sequential":
                update_errors()
                Y[i] += mu * (X[i] - X[i] @ Z[i] - E[i])
        if update == "joint":
            update_errors()
            for i in range(v):
                Y[i] += mu * (X[i] - X[i] @ Z[i] - E[i])
        if not rotate:
            G = view_nuclear_shrink(Z + W / rho, 1 / rho)
        elif basis is None:
            G = tensor_nuclear_shrink(Z + W / rho, 1 / rho)
        else:
            G = basis_shrink(Z + W / rho, 1 / rho, basis)
        W += rho * (Z - G)
        residuals = [X[i] - X[i] @ Z[i] - E[i] for i in range(v)] + list(Z - G)
        if max(np.abs(R).sum(axis=1).max() for R in residuals) <= tol or n_iter == max_iter:
            return Z, n_iter
        mu *= 2
        rho *= 2
