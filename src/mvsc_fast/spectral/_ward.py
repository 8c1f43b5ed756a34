"""Ward's hierarchical clustering of micro-clusters, at a cost that is linear in the samples."""

import numpy as np
from scipy.cluster.hierarchy import DisjointSet
from sklearn.metrics import euclidean_distances
from sklearn.utils import gen_batches

from ..views._rows import SMALL_BLOCK, spread
from ._cut import KMEANS_ROWS, cluster_means, even_starts

# Micro-clusters for each cluster; beyond 40 clusters 400 in all, but at least two for each.
MICRO_CLUSTERS, MAX_MICRO_CLUSTERS, MIN_MICRO_CLUSTERS = 10, 400, 2
ITERATIONS = 10  # of k-means for the micro-clusters, which need not be optimal


def ward_labels(points, n_clusters):
    """Clusters of Ward's method (1963): groups of samples whose union adds least to the variance.

    Other than k-means it does not prefer groups of equal size, as it starts from single samples.
    Here it starts from ten micro-clusters of k-means for each cluster, weighted by their sizes, of
    points in an order that does not depend on that of the samples. Labels are from 0, and fewer
    than ``n_clusters`` if there are fewer distinct points.
    """
    member = _micro_clusters(points, n_clusters)
    sizes, means = np.bincount(member), cluster_means(points, member)
    # Merges up to the number of clusters are applied in the order of their costs.
    groups = DisjointSet(range(len(sizes)))
    for a, b in _merges(means, sizes)[: max(0, len(sizes) - n_clusters)]:
        groups.merge(a, b)
    roots = np.array([groups[i] for i in range(len(sizes))])
    return np.unique(roots, return_inverse=True)[1].astype(np.int64)[member]


def _micro_clusters(points, n_clusters):
    """Labels from 0, without gaps, of the micro-clusters, by Lloyd's algorithm for k-means.

    Micro-clusters that lose all their points are dropped, as where points are equal.
    """
    n = len(points)
    count = min(MICRO_CLUSTERS * n_clusters, MAX_MICRO_CLUSTERS)
    count = max(count, MIN_MICRO_CLUSTERS * n_clusters)
    if count >= n:
        return np.arange(n)
    # Single precision is enough for distances of points around the origin.
    points = (points - points.mean(axis=0)).astype(np.float32)
    subsample = points[spread(n, KMEANS_ROWS)]
    return nearest_means(points, lloyd(subsample, even_starts(subsample, count), ITERATIONS))


def lloyd(points, means, n_iter):
    """Means after at most ``n_iter`` steps of k-means, without those that are nearest to none."""
    member = None
    for _ in range(n_iter):
        previous, member = member, nearest_means(points, means)
        if previous is not None and (member == previous).all():
            break
        means = cluster_means(points, member)
    return means


def nearest_means(points, means):
    """The nearest mean of each point, numbered without those that are nearest to none."""
    squares, columns = np.einsum("ij,ij->i", means, means), -2 * means.T
    parts = [points[rows] @ columns + squares for rows in gen_batches(len(points), SMALL_BLOCK)]
    nearest = np.concatenate([distances.argmin(axis=1) for distances in parts])
    return np.unique(nearest, return_inverse=True)[1]


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
            # Where costs are equal up to rounding, the chain may lead back to itself.
            if len(chain) > 1 and (
                costs[last, chain[-2]] <= costs[last, nearest] or nearest in chain
            ):
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
