"""The judge of labels on dense kernels, every sample left out in turn and the rest solved."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_mutual_info_score

from .sparse_graphs import unit


def lengths_matter(X):
    """Whether rows whose nearest directions are the same have similar lengths."""
    if X.shape[1] <= 3 or X.shape[1] > 80 or X.min() >= 0:
        return X.shape[1] <= 3
    return correlation_of_lengths(X) >= 0.4


def correlation_of_lengths(X):
    """Of lengths, .99 at most, with the mean lengths of the eight nearest directions."""
    apart = X - trimmed_mean(X)
    length = np.linalg.norm(apart, axis=1)
    cosines = unit(apart) @ unit(apart).T - 2 * np.eye(len(X))
    length = np.minimum(length, np.quantile(length, 0.99))
    means = [length[np.argsort(-row)[:8]].mean() for row in cosines]
    return np.corrcoef(length, means)[0, 1]


def trimmed_mean(X):
    length = np.linalg.norm(X - X.mean(axis=0), axis=1)
    return X[length <= np.quantile(length, 0.99)].mean(axis=0)


def lifted(X):
    """Rows on a hemisphere at heights that fall with their lengths, where lengths matter."""
    if np.ptp(X, axis=0).max() == 0 or not lengths_matter(X):
        return X
    apart = X - trimmed_mean(X)
    length = np.linalg.norm(apart, axis=1)
    limit = np.maximum(length, np.quantile(length, 0.99))
    share = length / limit
    return np.c_[apart / limit[:, None], np.sqrt((1 - share) * (1 + share))]


def kernels(views):
    """Inner products and number of features of both maps; all samples are landmarks."""
    n, v = len(views[0]), len(views)
    views = [lifted(X) for X in views]
    roots = [unit(np.sqrt(X)) if X.min() >= 0 else unit(X) for X in views]
    centred = [unit(Z - Z.mean(axis=0)) for Z in roots]
    local = 0
    for Z in roots:
        distance = cdist(Z, Z)
        t = np.sort(distance, axis=1)[:, min(10, n - 1)]
        t = np.maximum(t, max(1e-6, 1e-3 * t[t > 0].mean()))
        local = local + np.exp(-(distance**2) / np.outer(t, t)) / v
    values, vectors = np.linalg.eigh(local)
    kept = values > 1e-5 * values[-1]
    features = vectors[:, kept] * np.sqrt(values[kept])
    plain = [unit(X) for X in views]
    width = sum(min(X.shape) for X in views)
    return [
        (sum(U @ U.T for U in plain) / v, width),
        (sum(C @ C.T for C in centred) / v + features @ features.T, width + kept.sum()),
    ]


def leave_one_out(K, g, Y):
    """Prediction of every row of Y by kernel ridge regression on all others."""
    out = np.empty_like(Y)
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        solved = np.linalg.solve(K[np.ix_(rest, rest)] + g * np.eye(len(rest)), Y[rest])
        out[i] = K[i, rest] @ solved
    return out


def label_predictability(views, labels):
    n = len(labels)
    Y = (labels[:, None] == np.unique(labels)).astype(float)
    Y /= np.sqrt(Y.sum(axis=0))
    scores = []
    for K, d in kernels(views):
        predicted = leave_one_out(K, 0.5 * n / min(n, d), Y).argmax(axis=1)
        scores.append(adjusted_mutual_info_score(labels, predicted))
    return np.mean(scores)
