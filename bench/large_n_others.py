"""The methods that large_n.py compares with: each ``f(views, k, n_threads)`` gives labels."""

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.metrics import pairwise_distances_chunked
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

NEIGHBORS = 15
NEAREST_ANCHORS = 5


def side_by_side(views):
    return np.hstack([normalize(X.astype(np.float32)) for X in views])


def mini_batches(views, k, n_threads):
    return MiniBatchKMeans(k, n_init=3, random_state=0).fit_predict(side_by_side(views))


def concatenated(views, k, n_threads):
    model = SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=NEIGHBORS, random_state=0, n_jobs=n_threads
    )
    return model.fit_predict(side_by_side(views))


def averaged(views, k, n_threads):
    graphs = [
        kneighbors_graph(normalize(X.astype(np.float32)), NEIGHBORS, include_self=True)
        for X in views
    ]
    mean = sum(graphs) / len(graphs)
    model = SpectralClustering(k, affinity="precomputed", random_state=0)
    return model.fit_predict((mean + mean.T) / 2)


def anchors(count):
    """Spectral clustering of the bipartite graph of samples and anchors, averaged over views.

    Anchors are the centres of k-means cells of all views side by side. In each view a sample is
    joined to its five nearest ones by a Gaussian of the distance over that to the fifth, rows of
    sum 1; with Z their mean and D its column sums, the embedding is the left singular vectors of
    Z D^-1/2 (Chen & Cai, Large scale spectral clustering with landmark-based representation, 2011).
    """

    def fit(views, k, n_threads):
        rows = side_by_side(views)
        cells = MiniBatchKMeans(count, n_init=1, random_state=0).fit_predict(rows)
        del rows
        Z = sum(joined(normalize(X.astype(np.float32)), cells) for X in views) / len(views)
        Z = Z @ scipy.sparse.diags_array(1 / np.sqrt(np.maximum(Z.sum(axis=0), 1e-12)))
        vectors, _, _ = randomized_svd(scipy.sparse.csr_array(Z), k, random_state=0)
        return KMeans(k, n_init=10, random_state=0).fit_predict(normalize(vectors))

    return fit


def joined(X, cells):
    """Weights of the nearest anchors of each row of a view, of shape (n, anchors)."""
    numbers, cells = np.unique(cells, return_inverse=True)
    member = scipy.sparse.csr_array((np.ones(len(X)), cells, np.arange(len(X) + 1)))
    centres = (member.T @ X) / np.bincount(cells)[:, None]
    centres = centres.astype(np.float32)
    nearest, distance = [], []
    for block in pairwise_distances_chunked(X, centres, metric="euclidean", working_memory=64):
        found = np.argpartition(block, NEAREST_ANCHORS, axis=1)[:, :NEAREST_ANCHORS]
        nearest.append(found)
        distance.append(np.take_along_axis(block, found, axis=1))
    nearest, distance = np.concatenate(nearest), np.concatenate(distance)
    scale = np.maximum(distance.max(axis=1, keepdims=True), 1e-12)
    weights = normalize(np.exp(-((distance / scale) ** 2)), norm="l1")
    starts = np.arange(len(X) + 1) * NEAREST_ANCHORS
    shape = (len(X), len(numbers))
    return scipy.sparse.csr_array((weights.ravel(), nearest.ravel(), starts), shape=shape)


OTHERS = {
    "MiniBatchKMeans": mini_batches,
    "SpectralClustering, nearest neighbors": concatenated,
    "averaged nearest neighbors": averaged,
    "150 anchors": anchors(150),
    "400 anchors": anchors(400),
}
