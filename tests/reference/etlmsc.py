"""ETLMSC (Wu et al. 2019) on the samples themselves: a transform there and back every iteration."""

import numpy as np
from scipy.spatial.distance import cdist

from .proximal import column_shrink, tensor_nuclear_shrink
from .tsvd_msc import basis_shrink


def transition_matrices(views):
    P = []
    for X in views:
        distance = cdist(X, X)
        K = np.exp(-(distance**2) / (2 * np.median(distance) ** 2))
        P.append(K / K.sum(axis=1, keepdims=True))
    return np.stack(P)


def etlmsc(views, lam, axis=0, basis=None, tol=1e-6, max_iter=200):
    """Z of shape (v, n, n) and the number of iterations."""
    P = transition_matrices(views)
    Z, E, Y = (np.zeros_like(P) for _ in range(3))
    mu = 1e-2

    def shrink(T, t):
        T = T if axis == 0 else T.transpose(0, 2, 1)
        T = tensor_nuclear_shrink(T, t) if basis is None else basis_shrink(T, t, basis)
        return T if axis == 0 else T.transpose(0, 2, 1)

    for n_iter in range(1, max_iter + 1):
        Z_last, E_last = Z, E
        Z = shrink(P - E + Y / mu, 1 / mu)
        E = np.stack(column_shrink(P - Z + Y / mu, lam / mu))
        Y = Y + mu * (P - Z - E)
        changes = P - Z - E, Z - Z_last, E - E_last
        if max(np.abs(R).max() for R in changes) <= tol or n_iter == max_iter:
            return Z, n_iter
        mu = min(2 * mu, 1e11)
