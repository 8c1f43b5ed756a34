"""AWP (Nie, Tian, Li 2018), every line by its definition."""

import numpy as np
from scipy.spatial.distance import cdist


def embedding(X, c, k):
    """Eigenvectors of the c smallest eigenvalues of the normalised Laplacian, (n, c)."""
    n = len(X)
    distance = cdist(X, X)
    np.fill_diagonal(distance, np.inf)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
    rows = np.arange(n)[:, None]
    sigma = distance[rows, nearest].mean()
    A = np.zeros((n, n))
    A[rows, nearest] = np.exp(-(distance[rows, nearest] ** 2) / (2 * sigma**2))
    A = (A + A.T) / 2
    root = np.diag(A.sum(axis=1) ** -0.5)
    L = root @ (np.diag(A.sum(axis=1)) - A) @ root
    return np.linalg.eigh(L)[1][:, :c]


def awp(F, max_iter=300):
    """Labels, rotations, p and the objective values; F has the shape (v, n, c)."""
    v, n, c = F.shape
    R, p, objectives, still = np.stack([np.eye(c)] * v), np.ones(v), [], 0
    while len(objectives) < max_iter and still < 2:
        M = sum(F[i] @ R[i] / p[i] for i in range(v))
        labels = M.argmax(axis=1)
        Y = np.eye(c)[labels]
        for i in range(v):
            # Where a cluster is empty, a grain of the former rotation decides among equals.
            U, _, Qt = np.linalg.svd(Y.T @ F[i] + 1e-9 * R[i].T)
            R[i] = Qt.T @ U.T
            p[i] = np.linalg.norm(Y - F[i] @ R[i])
        objectives.append(np.sqrt(np.sum(p**2)))
        if len(objectives) > 1:
            first, *_, last = objectives
            with np.errstate(divide="ignore", invalid="ignore"):
                change = np.abs(last - np.array(objectives[:-1])) / abs(first - last)
            still = still + 1 if np.nan_to_num(change, nan=0.0).min() < 1e-6 else 0
    return labels, R, p, np.array(objectives)
