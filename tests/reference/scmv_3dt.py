"""SCMV-3DT (Yin et al. 2019) with all frequencies, each by one dense solve."""

import numpy as np

from .proximal import soft, view_nuclear_shrink
from .sparse_graphs import unit


def sign(direction):
    """That of the sum or, if it is a rounding error, that of the first of the largest entries."""
    total, sizes = direction.sum(), np.abs(direction)
    if abs(total) > np.sqrt(np.finfo(direction.dtype).eps * len(direction)):
        return np.sign(total)
    return np.sign(direction[sizes >= 0.999 * sizes.max()][0])


def equal_features(views, features):
    """Unit rows of shape (v, d, n): leading singular vectors ("pca"), or zeros appended ("pad")."""
    units = [unit(X) for X in views]
    n, widths = len(units[0]), [X.shape[1] for X in units]
    if features == "pad":
        d = max(widths)
        return np.stack([np.hstack([X, np.zeros((n, d - X.shape[1]))]).T for X in units])
    reduced = []
    for X in units:
        directions = np.linalg.svd(X, full_matrices=False)[2]
        signs = np.array(list(map(sign, directions)))[:, None]
        reduced.append((signs * directions @ X.T)[: min(n, *widths)])
    return np.stack(reduced)


def t_product(A, B):
    """The t-product of tensors of shape (v, m, d) and (v, d, n)."""
    hat = np.fft.fft(A, axis=0) @ np.fft.fft(B, axis=0)
    return np.fft.ifft(hat, axis=0).real


def objective(Z, X, lam, alpha, beta):
    hat = np.fft.fft(Z, axis=0)
    nuclear = np.mean([np.linalg.norm(A, "nuc") for A in hat])
    misfit = ((X - t_product(X, Z)) ** 2).sum()
    consensus = sum(((A - B) ** 2).sum() for A in Z for B in Z)
    return nuclear + lam * misfit + alpha * np.abs(Z).sum() + beta * consensus


def scmv_3dt(X, lam, alpha, beta, tol=1e-6, max_iter=200, mu=1e-2, rho=1.2):
    """The sparse copy of Z and the number of iterations; X is (v, d, n)."""
    v, _, n = X.shape
    hat = np.fft.fft(X, axis=0)
    gram = 2 * lam * hat.conj().transpose(0, 2, 1) @ hat
    Z, J, C, U1, U2 = (np.zeros((v, n, n)) for _ in range(5))
    for n_iter in range(1, max_iter + 1):
        Z_last = Z
        B = mu * np.fft.fft(J - U1 + C - U2, axis=0)
        Z = np.empty_like(hat, shape=(v, n, n))
        for k in range(v):
            c = 2 * mu + (4 * beta * v if k > 0 else 0)
            Z[k] = np.linalg.solve(gram[k] + c * np.eye(n), gram[k] + B[k])
        Z = np.fft.ifft(Z, axis=0).real
        J = view_nuclear_shrink(Z + U1, 1 / mu)
        C = soft(Z + U2, alpha / mu)
        U1 = U1 + Z - J
        U2 = U2 + Z - C
        changes = Z - J, Z - C, Z - Z_last
        if max(np.abs(R).max() for R in changes) <= tol or n_iter == max_iter:
            return C, n_iter
        growth = min(rho * mu, 1e6) / mu
        U1, U2, mu = U1 / growth, U2 / growth, mu * growth
