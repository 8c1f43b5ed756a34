"""Modularity relative to the largest that clusters of the same sizes can have."""

import numpy as np

ROUNDING = 1e-12  # of shares of the whole degree


def corrected_modularity(affinity, labellings, n_clusters):
    """Newman's modularity of each labelling over its maximum at the sizes of its clusters.

    With e the share of the edge weight that is within clusters and p the clusters' shares of the
    degree, the modularity is ``e - sum p^2``. Without edges between clusters it is
    ``1 - sum p^2``, which is small if one cluster has nearly all samples: .095 for two clusters of
    95 % and 5 %, but .5 for halves. The quotient of both is 1 in each of these cases, so that
    labellings with clusters of any sizes can be compared.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        A symmetric graph.
    labellings : sequence of ndarray of shape (n,) of int
        Labels from 0, below ``n_clusters``.
    n_clusters : int

    Returns
    -------
    ndarray of shape (k,)
        At most 1, and 0 if labels are independent of edges, the graph has no weight, or one
        cluster has all of it.
    """
    weights = affinity.data.astype(np.float64)
    degrees = np.asarray(affinity.sum(axis=1, dtype=np.float64)).ravel()
    starts = np.repeat(np.arange(len(degrees)), np.diff(affinity.indptr))
    total = weights.sum()
    out = np.zeros(len(labellings))
    if total <= 0:
        return out
    # Clusters of these sizes could have at most `largest`, with no link between them.
    for i, labels in enumerate(labellings):
        shares = np.bincount(labels, degrees, n_clusters) / total
        largest = 1 - shares @ shares
        if largest > ROUNDING:
            within = weights @ (labels[starts] == labels[affinity.indices]) / total
            out[i] = (within - shares @ shares) / largest
    return out
