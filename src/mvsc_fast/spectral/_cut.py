"""Fusion of slices, and k-means of eigenvectors, on validated affinity matrices."""

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from .._utils.threads import limit_threads
from ..views._rows import spread
from ._eigenvectors import normalized_eigenvectors

KMEANS_ROWS = 20_000  # maximum number of rows for the starts of k-means
PASSES = 10  # Lloyd iterations over all rows after them
DIFFUSION_STEPS = 3  # of `diffusion_map`
N_COMPARED = 3  # centres that each step of `even_starts` compares
# Wider points enter `even_starts` by this number of random projections, which keep squared
# distances up to a seventh (Johnson & Lindenstrauss 1984): a step reads all points, and those of
# 400 columns take more time than a graph's eigenvectors.
MAX_PROJECTIONS = 100


def symmetric_sum(tensor, *, keep_diagonal=False):
    """`fuse` of an array of shape (v, n, n), or a list of arrays or of csr_arrays."""
    if scipy.sparse.issparse(tensor[0]):
        S = sum(abs(A) for A in tensor)
        S = scipy.sparse.csr_array(S + S.T) * 0.5
        return S if keep_diagonal else scipy.sparse.csr_array(S - scipy.sparse.diags(S.diagonal()))
    # Dense slices are added in place, because a copy of n^2 entries may not fit.
    S = np.abs(tensor[0])
    for A in tensor[1:]:
        S += np.abs(A)
    S += S.T.copy()
    S *= 0.5
    if not keep_diagonal:
        np.fill_diagonal(S, 0.0)
    return S


def diffusion_map(affinity, values, vectors):
    """Coordinates of a random walk on a graph, whose lengths count.

    The leading eigenvectors of the random walk, each of unit mean square, times their eigenvalues
    to the third power (Coifman & Lafon 2006, with three steps). Small groups that are far from all
    others are far from the origin here, while rows of unit length prefer groups of equal size.
    ``values`` and ``vectors`` are those of `normalized_eigenvectors`.
    """
    degree = np.asarray(affinity.sum(axis=1), dtype=np.float64).ravel()
    walk = vectors / np.sqrt(np.maximum(degree, 1e-12))[:, None]
    walk = walk / np.sqrt(np.maximum((walk * walk).mean(axis=0), 1e-30))
    return walk * np.maximum(values, 0) ** DIFFUSION_STEPS


def distinct_rows(rows, dtype=np.float64):
    """Number of rows that k-means in a precision can tell apart, counted on a random line."""
    line = np.sort(rows @ np.random.RandomState(0).standard_normal(rows.shape[1]))
    # Squares of smaller distances are rounding errors.
    resolution = np.sqrt(np.finfo(dtype).eps)
    return 1 + np.count_nonzero(np.diff(line) > resolution * np.abs(line).max())


def even_starts(points, n_clusters, random_state=None, *, offset=0.5):
    """Starts of k-means as by k-means++, without a random number.

    k-means++ draws a few points with probabilities proportional to their squared distances from the
    nearest centre so far, and keeps the one that leaves the smallest sum of such squares (Arthur &
    Vassilvitskii, SODA 2007). Here the points are spaced evenly in the cumulative sum of the
    squares, from ``offset``, a number in [0, 1), of a step: different offsets give different
    starts. The first centre is found in the same way, with equal weights. The result depends on the
    order of the points, and not on ``random_state``, which scikit-learn's `KMeans` passes.
    """
    rows, width = points, points.shape[1]
    if width > MAX_PROJECTIONS:
        directions = np.random.RandomState(0).standard_normal((width, MAX_PROJECTIONS))
        rows = points @ directions.astype(points.dtype)
    # A product of few rows with columns that are contiguous takes half the time.
    squares, columns = np.einsum("ij,ij->i", rows, rows), np.ascontiguousarray(rows.T)
    shares = (np.arange(N_COMPARED) + offset) / N_COMPARED
    nearest, chosen = np.ones(len(rows)), []
    for step in range(n_clusters):
        # Points that divide the sum of the squared distances evenly.
        total = np.cumsum(nearest, dtype=np.float64)
        compared = np.searchsorted(total, shares * total[-1], side="right")
        compared = np.minimum(compared, len(rows) - 1)
        # The squared distances that each of them would leave.
        distances = squares[compared, None] - 2 * (rows[compared] @ columns) + squares
        np.maximum(distances, 0, out=distances)
        if step > 0:
            np.minimum(distances, nearest, out=distances)
        best = distances.sum(axis=1).argmin()
        nearest = distances[best]
        chosen.append(compared[best])
    return points[chosen]


def assign(embedding, n_clusters, *, order=None, init="k-means++", n_init=20, random_state=None):
    """k-means labels of the rows of an embedding.

    If there are more than 20 000 rows, k-means runs on a subsample of this size, evenly spaced in
    ``order``, and then at most ten Lloyd iterations over all rows start from the best centres.

    Parameters
    ----------
    embedding : ndarray of shape (n, k)
    n_clusters : int
    order : ndarray of shape (n,), optional
        One number per sample that does not depend on the order of the samples, such as its
        degree. k-means is run on the samples sorted by it, so that permuting the samples permutes
        the labels.
    init : str or callable, default="k-means++"
        Starts, as for scikit-learn's `KMeans`, or a function such as `even_starts`.
    n_init : int, default=20
        Number of k-means initialisations; the best is kept.
    random_state : int, RandomState or None

    Returns
    -------
    ndarray of shape (n,) of int
        Labels from 0, numbered by their first appearance in ``order``.
    """
    # An order by content makes the labels independent of the order of the input.
    rank = np.arange(len(embedding)) if order is None else np.argsort(order, kind="stable")
    rows = embedding[rank]
    # Eigenvectors are no more accurate than single precision, unless few rows are far apart in it.
    if distinct_rows(rows, np.float32) >= n_clusters:
        rows = rows.astype(np.float32)
    model = KMeans(n_clusters, init=init, n_init=n_init, max_iter=1000, random_state=random_state)
    # Starts of many rows come from a sample, and a few passes over all rows follow.
    with limit_threads():  # its chunks have 256 rows, too few for several threads
        if len(rows) > KMEANS_ROWS:
            model.fit(rows[spread(len(rows), KMEANS_ROWS)])
            model = KMeans(n_clusters, init=model.cluster_centers_, n_init=1, max_iter=PASSES)
        clusters = model.fit_predict(rows)
    labels = np.empty(len(embedding), dtype=np.int64)
    labels[rank] = by_appearance(clusters)
    return labels


def by_appearance(labels):
    """Labels from 0, numbered by their first appearance.

    Starts of k-means that reach the same partition tie up to rounding, but number it differently.
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def normalized_cut(S, n_clusters, *, n_init, random_state):
    """Labels and embedding of `spectral_labels`."""
    embedding = normalize(normalized_eigenvectors(S, n_clusters)[1])
    degree = np.ravel(S.sum(axis=1))
    labels = assign(embedding, n_clusters, order=degree, n_init=n_init, random_state=random_state)
    return labels, embedding


def cluster_means(points, labels, n_clusters=0):
    """The mean of the points of each cluster, of shape (c, k); zeros for labels that do not occur.

    There are as many clusters as the labels say, but at least ``n_clusters``.
    """
    n, sizes = len(labels), np.bincount(labels, minlength=n_clusters)
    entries = np.ones(n, dtype=points.dtype), labels, np.arange(n + 1)
    sums = scipy.sparse.csr_array(entries, shape=(n, len(sizes))).T @ points
    return sums / np.maximum(sizes, 1).astype(points.dtype)[:, None]


def simplified_silhouette(embedding, labels):
    """Simplified silhouette of each sample, computed from cluster means.

    It is ``(b - a) / max(a, b)``, with a the distance to the mean of the sample's own cluster and b
    the distance to the nearest mean of another cluster, and costs time linear in n (Hruschka, de
    Castro & Campello 2004). It is in [-1, 1], and 0 if both distances are 0. Labels are from 0, of
    at least two clusters.
    """
    n, sizes, means = len(labels), np.bincount(labels), cluster_means(embedding, labels)
    # Squared distances to all means at once; empty clusters are infinitely far.
    squares = embedding @ means.T
    squares *= -2
    squares += np.einsum("ij,ij->i", embedding, embedding)[:, None]
    squares += np.where(sizes > 0, np.einsum("ij,ij->i", means, means), np.inf)
    # The own cluster is taken out before the nearest other one is sought.
    a = squares[np.arange(n), labels]
    squares[np.arange(n), labels] = np.inf
    a, b = (np.sqrt(np.maximum(x, 0)) for x in (a, squares.min(axis=1)))
    largest = np.maximum(a, b)
    return np.where(largest > 0, (b - a) / np.where(largest > 0, largest, 1), 0)
