"""Likelihood of Gaussian clusters of one covariance, by its definition."""

import numpy as np

MAX_MEDIANS, RIDGE = 1.5, 0.03


def estimates(points, labels):
    """Capped points, shares and means of the clusters, and covariances of all and within."""
    points = points - points.mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->i", points @ np.linalg.inv(np.cov(points.T)), points))
    limit = MAX_MEDIANS * np.median(lengths)
    points = points * np.minimum(1, limit / lengths)[:, None]
    points -= points.mean(axis=0)
    shares = np.bincount(labels) / len(labels)
    means = np.array([points[labels == k].mean(axis=0) for k in range(len(shares))])
    T = np.cov(points.T, bias=True)
    W = np.cov((points - means[labels]).T, bias=True)
    return points, shares, means, T + RIDGE * T, W + RIDGE * T


def likelihood(points, labels):
    """Gain of the mean log likelihood over a single cluster, divided by the log of the clusters."""
    _, shares, _, T, W = estimates(points, labels)
    gain = (np.linalg.slogdet(T)[1] - np.linalg.slogdet(W)[1]) / 2 + shares @ np.log(shares)
    return gain / np.log(len(shares))


def most_likely(points, labels):
    """The cluster of the largest density times share of each sample."""
    points, shares, means, _, W = estimates(points, labels)
    distances = np.stack(
        [np.einsum("ij,ij->i", (points - m) @ np.linalg.inv(W), points - m) for m in means]
    )
    return (np.log(shares) - distances.T / 2).argmax(axis=1)
