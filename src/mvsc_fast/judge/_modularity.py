"""Modularity relative to the largest that clusters of the same sizes can have."""

import numpy as np

ROUNDING = 1e-12  # of shares of the whole degree


def corrected_modularity(affinity, labellings, n_clusters):
    """`modularity` of each labelling over its maximum at the sizes of its clusters.

    Without edges between clusters the modularity is ``1 - sum p^2``, which is small if one cluster
    has nearly all samples: .095 for two clusters of 95 % and 5 %, but .5 for halves. The quotient
    of both is 1 in each of these cases, so that labellings with clusters of any sizes can be
    compared. Parameters are those of `modularity`.

    Returns
    -------
    ndarray of shape (k,)
        At most 1, and 0 if labels are independent of edges, the graph has no weight, or one
        cluster has all of it.
    """
    values, largest = modularity(affinity, labellings, n_clusters)
    return np.divide(values, largest, out=np.zeros_like(values), where=largest > ROUNDING)


def modularity(affinity, labellings, n_clusters):
    """Newman's modularity of each labelling, and the largest at the sizes of its clusters.

    With e the share of the edge weight that is within clusters and p the clusters' shares of the
    degree, it is ``e - sum p^2``, which is at most ``1 - sum p^2``.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        A symmetric graph.
    labellings : sequence of ndarray of shape (n,) of int
        Labels from 0, below ``n_clusters``.
    n_clusters : int

    Returns
    -------
    values, largest : ndarray of shape (k,)
        Zeros if the graph has no weight.
    """
    weights = affinity.data.astype(np.float64)
    degrees = np.asarray(affinity.sum(axis=1, dtype=np.float64)).ravel()
    counts = np.diff(affinity.indptr)
    total = weights.sum()
    values, largest = np.zeros((2, len(labellings)))
    if total <= 0:
        return values, largest
    # Labels of half the bytes are gathered for all edges in half the time.
    for i, labels in enumerate(np.asarray(labellings, dtype=np.int32)):
        shares = np.bincount(labels, degrees, n_clusters) / total
        within = weights @ (np.repeat(labels, counts) == labels.take(affinity.indices)) / total
        values[i], largest[i] = within - shares @ shares, 1 - shares @ shares
    return values, largest
