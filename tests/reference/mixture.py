"""Likelihood of Gaussian clusters of one covariance, by its definition."""

import numpy as np

MAX_MEDIANS, RIDGE = 1.5, 0.03


def likelihood(points, labels):
    """Gain of the mean log likelihood over a single cluster, divided by the log of the clusters."""
    points = points - points.mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->i", points @ np.linalg.inv(np.cov(points.T)), points))
    limit = MAX_MEDIANS * np.median(lengths)
    points = points * np.minimum(1, limit / lengths)[:, None]
    shares = np.bincount(labels) / len(labels)
    means = np.array([points[labels == k].mean(axis=0) for k in range(len(shares))])
    T = np.cov(points.T, bias=True)
    W = np.cov((points - means[labels]).T, bias=True)
    between = [np.linalg.slogdet(covariance + RIDGE * T)[1] for covariance in (T, W)]
    gain = (between[0] - between[1]) / 2 + shares @ np.log(shares)
    return gain / np.log(len(shares))
