"""Ward's hierarchical clustering of micro-clusters, at a cost that is linear in the samples."""

import numpy as np
from scipy.cluster.hierarchy import DisjointSet
from sklearn.cluster import KMeans
from sklearn.metrics import euclidean_distances

from .._utils.threads import limit_threads
from ..views._rows import spread
from ._cut import KMEANS_ROWS, as_wide, distinct_rows, even_starts

# Micro-clusters for each cluster; beyond 40 clusters 400 in all, but at least two for each.
MICRO_CLUSTERS, MAX_MICRO_CLUSTERS, MIN_MICRO_CLUSTERS = 10, 400, 2
ITERATIONS = 10  # of k-means for the micro-clusters, which need not be optimal


def ward_labels(points, n_clusters):
    """Clusters of Ward's method (1963): groups of samples whose union adds least to the variance.

    Other than k-means it does not prefer groups of equal size, as it starts from single samples.
    Here it starts from ten micro-clusters of k-means for each cluster, weighted by their sizes.

    Parameters
    ----------
    points : ndarray of shape (n, k)
        In an order that does not depend on the order of the samples.
    n_clusters : int

    Returns
    -------
    ndarray of shape (n,), int64
        Labels from 0; fewer than ``n_clusters`` if there are fewer distinct points.
    """
    member = _micro_clusters(points, n_clusters)
    sizes, means = np.bincount(member), cluster_means(points, member)
    # Merges up to the number of clusters are applied in the order of their costs.
    groups = DisjointSet(range(len(sizes)))
    for a, b in _merges(means, sizes)[: max(0, len(sizes) - n_clusters)]:
        groups.merge(a, b)
    roots = np.array([groups[i] for i in range(len(sizes))])
    return np.unique(roots, return_inverse=True)[1].astype(np.int64)[member]


def cluster_means(points, labels):
    """The mean of the points of each cluster, of shape (c, k), for labels without gaps."""
    sums = [np.bincount(labels, column) for column in points.T]
    return np.stack(sums, axis=1) / np.bincount(labels)[:, None]


def _micro_clusters(points, n_clusters):
    """Labels from 0, without gaps, of the micro-clusters."""
    n, points = len(points), as_wide(points)
    count = min(MICRO_CLUSTERS * n_clusters, MAX_MICRO_CLUSTERS)
    count = max(count, MIN_MICRO_CLUSTERS * n_clusters)
    # More micro-clusters than distinct points would be empty.
    subsample = points[spread(n, KMEANS_ROWS)]
    count = min(count, distinct_rows(subsample))
    if count >= n:
        return np.arange(n)
    model = KMeans(count, init=even_starts, n_init=1, max_iter=ITERATIONS, tol=0)
    with limit_threads():
        model.fit(subsample)
        member = model.labels_ if len(subsample) == n else model.predict(points)
    return np.unique(member, return_inverse=True)[1]


def _merges(means, sizes):
    """Pairs of clusters that Ward's method merges, in order of the variance that is added.

    Chains of nearest neighbours end in pairs that are each other's nearest, which can be merged at
    once, because no later merge comes between them (Murtagh 1983).
    """
    weights = sizes.astype(np.float64)
    squares = euclidean_distances(means, squared=True)
    costs = squares * np.outer(weights, weights) / np.add.outer(weights, weights)
    np.fill_diagonal(costs, np.inf)
    alive = np.ones(len(weights), dtype=bool)
    merges, chain = [], []
    for _ in range(len(weights) - 1):
        if not chain:
            chain = [int(alive.argmax())]
        # Extend the chain until its last two clusters are nearest neighbours of each other.
        while True:
            last = chain[-1]
            nearest = int(costs[last].argmin())
            if len(chain) > 1 and costs[last, chain[-2]] <= costs[last, nearest]:
                break
            chain.append(nearest)
        a, b = chain.pop(), chain.pop()
        merges.append((costs[a, b], a, b))
        # The costs of the union follow from those of its parts (Lance & Williams 1967).
        total = weights[a] + weights[b] + weights
        union = (weights[a] + weights) * costs[a] + (weights[b] + weights) * costs[b]
        union = (union - weights * costs[a, b]) / total
        weights[a] += weights[b]
        alive[b] = False
        union[~alive] = union[a] = np.inf
        costs[a], costs[:, a] = union, union
        costs[b], costs[:, b] = np.inf, np.inf
    order = np.argsort([cost for cost, _, _ in merges], kind="stable")
    return [merges[i][1:] for i in order]
