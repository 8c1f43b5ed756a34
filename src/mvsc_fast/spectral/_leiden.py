"""Communities of a graph by the Leiden algorithm, for a resolution in place of a number."""

import random
import threading

import numpy as np
import scipy.sparse

from .._utils.messages import import_extra

_LOCK = threading.Lock()  # igraph has one generator for all threads
_MAX_ITERATIONS = 1000  # 10 are usual, 200 without any structure


def import_igraph():
    """The package of the optional extra."""
    return import_extra("igraph", "resolution", "'mvsc-fast[leiden]'")


def edge_weights(affinity):
    """A sparse affinity matrix over the roots of the largest affinities of both samples."""
    A = scipy.sparse.coo_array(affinity)
    top = np.sqrt(scipy.sparse.csr_array(affinity).max(axis=1).toarray().ravel())
    weights = A.data / (top[A.row] * top[A.col])
    return scipy.sparse.csr_array((weights, (A.row, A.col)), shape=A.shape)


def leiden_graph(affinity):
    """The igraph.Graph of the `edge_weights` of a symmetric affinity matrix."""
    upper = scipy.sparse.triu(edge_weights(affinity), 1, format="coo")
    edges = np.column_stack([upper.row, upper.col]).astype(np.int64)
    weights = {"weight": upper.data.astype(np.float64)}
    return import_igraph().Graph(affinity.shape[0], edges, edge_attrs=weights)


def leiden(graph, resolution, seed):
    """Communities that maximise the modularity of a graph at a resolution.

    Parameters
    ----------
    graph : igraph.Graph
        Of `leiden_graph`.
    resolution : float
        Factor of the weights expected by chance.
    seed : int

    Returns
    -------
    ndarray of shape (n,) of int64
        Communities from 0; the first includes nodes without edges, which would be alone.
    """
    igraph = import_igraph()
    labels = np.zeros(graph.vcount(), dtype=np.int64)
    joined = np.array(graph.degree(), dtype=np.int64) > 0
    # A generator of its own makes the result reproducible, and is given back afterwards. It is
    # iterated here, as igraph before 1.0 stops after the first change, and without one never.
    membership = None
    with _LOCK:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            for _ in range(_MAX_ITERATIONS):
                before = membership
                membership = graph.community_leiden(
                    "modularity",
                    weights="weight",
                    resolution=resolution,
                    n_iterations=1,
                    initial_membership=before,
                ).membership
                if membership == before:
                    break
        finally:
            igraph.set_random_number_generator(random)  # as on import
    labels[joined] = np.unique(np.array(membership)[joined], return_inverse=True)[1]
    return labels
