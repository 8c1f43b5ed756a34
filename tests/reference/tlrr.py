"""Algorithm 1 of Jia et al. (2021) with all thirteen tensors, as the authors' code runs it."""

import numpy as np

from .proximal import slice_shrink, symmetric_shrink, tube_shrink


def objective(L, W, omega1, alpha, lam, sample_weight=None):
    """The objective; with weights m, in M = D^1/2 L D^1/2 with D = diag(m)."""
    root = np.ones(len(W[0])) if sample_weight is None else np.sqrt(sample_weight)
    both = np.outer(root, root)
    M = both * L
    frontal = np.linalg.norm(M, "nuc", axis=(1, 2)).sum()
    rows = root @ np.linalg.norm(M, "nuc", axis=(0, 2))
    tubes = (both * np.sqrt((M**2).sum(axis=0))).sum()
    misfit = ((both * W - M) ** 2).sum()
    return omega1 * frontal + (1 - omega1) * (rows + alpha * tubes) + lam * misfit


def objective_of(result, W):
    """The objective of a result of the solver for dense W."""
    return objective(result.tensor, W, **result.parameters)


def tlrr(
    W,
    omega1=0.5,
    alpha=5.0,
    lam=15.0,
    tol=1e-4,
    max_iter=500,
    mu=1e-4,
    rho=1.1,
    mu_max=1e10,
    watch=lambda L1, L2, L3: None,
):
    """Returns L, the residuals and the penalties mu of all iterations."""
    omega2 = 1 - omega1
    L = np.zeros_like(W)
    E = np.zeros_like(W)
    A1, A2, A3, B1, B2, B3 = (np.zeros_like(W) for _ in range(6))
    residuals, penalties = [], []
    for _ in range(max_iter):
        L1 = symmetric_shrink((W + L - E + (A1 + B1) / mu) / 2, omega1 / (2 * mu))
        L2 = slice_shrink((W + L - E + (A2 + B2) / mu) / 2, omega2 / (2 * mu))
        L3 = tube_shrink((W + L - E + (A3 + B3) / mu) / 2, omega2 * alpha / (2 * mu))
        watch(L1, L2, L3)
        E = (W - (L1 + L2 + L3) / 3 + (A1 + A2 + A3) / (3 * mu)) / (1 + 2 * lam / (3 * mu))
        L = (L1 + L2 + L3) / 3 - (B1 + B2 + B3) / (3 * mu)
        residual = max(np.abs(R).max() for Lk in (L1, L2, L3) for R in (W - Lk - E, L - Lk))
        residuals.append(residual)
        penalties.append(mu)
        if residual < tol:
            break
        A1 += mu * (W - L1 - E)
        A2 += mu * (W - L2 - E)
        A3 += mu * (W - L3 - E)
        B1 += mu * (L - L1)
        B2 += mu * (L - L2)
        B3 += mu * (L - L3)
        mu = min(rho * mu, mu_max)
    return L, np.array(residuals), np.array(penalties)
