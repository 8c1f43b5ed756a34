"""t-SVD-MSC and Ut-SVD-MSC (Xie et al. 2018): no thin factors, full complex FFT."""

import numpy as np

from .proximal import view_nuclear_shrink


def fourier_shrink(T, t):
    """FFT along axis 1 and a batch of complex SVDs."""
    hat = np.fft.fft(T, axis=1).transpose(1, 2, 0)
    U, s, Vh = np.linalg.svd(hat, full_matrices=False)
    hat = (U * np.maximum(s - t, 0)[:, None, :]) @ Vh
    return np.fft.ifft(hat.transpose(2, 0, 1), axis=1).real


def basis_shrink(T, t, basis):
    n = len(basis)
    hat = np.sqrt(n) * np.einsum("ab,vac->vbc", basis, T)
    U, s, Vh = np.linalg.svd(hat.transpose(1, 2, 0), full_matrices=False)
    hat = ((U * np.maximum(s - t, 0)[:, None, :]) @ Vh).transpose(2, 0, 1)
    return np.einsum("ab,vbc->vac", basis, hat) / np.sqrt(n)


def tsvd_msc(views, lam=0.5, update="joint", basis=None, rotate=True, tol=1e-7, max_iter=200):
    """Z of shape (v, n, n) and the number of iterations; views are (n, d_i)."""
    X = [(V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-12)).T for V in views]
    v, n = len(X), X[0].shape[1]
    Z, G, W = np.zeros((v, n, n)), np.zeros((v, n, n)), np.zeros((v, n, n))
    E = [np.zeros_like(A) for A in X]
    Y = [np.zeros_like(A) for A in X]
    inverse = [np.linalg.inv(np.eye(n) + A.T @ A) for A in X]
    mu = rho = 1e-4

    def update_errors():
        F = [X[u] - X[u] @ Z[u] + Y[u] / mu for u in range(v)]
        length = np.sqrt(sum((A**2).sum(axis=0) for A in F))
        factor = 1 - lam / mu / np.maximum(length, lam / mu)
        E[:] = [factor * A for A in F]

    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
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
            G = fourier_shrink(Z + W / rho, 1 / rho)
        else:
            G = basis_shrink(Z + W / rho, 1 / rho, basis)
        W += rho * (Z - G)
        residuals = [X[i] - X[i] @ Z[i] - E[i] for i in range(v)] + list(Z - G)
        if max(np.abs(R).sum(axis=1).max() for R in residuals) <= tol:
            break
        mu *= 2
        rho *= 2
    return Z, n_iter
