"""What several labellings agree on: TLRR of their co-associations, and their median."""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from .._judge import mutual_information
from .._repr import ShortRepr
from .._sparse._spectral import dense_eigenpairs
from ._tlrr import tlrr

OMEGA1, ALPHA, TOL, MAX_ITER = 0.5, 9.0, 1e-3, 30
MAX_TUPLES = 400  # the problem is dense in them; no fewer than clusters
N_INIT = 10  # starts of k-means; it has few points
TAIL = 0.01


@dataclass(repr=False)
class Consensus(ShortRepr):
    """Labels of shape (n,), the number of distinct label tuples, and the relative duality gap."""

    labels: np.ndarray
    n_tuples: int
    gap: float


def tlrr_consensus(labellings, n_clusters, *, seed, n_threads, callback=None):
    """Cut the low-rank tensor of co-associations of some labellings.

    The views are the labellings, W_i,jk = 1 where labelling i puts j and k together. Samples with
    the same tuple of labels are one sample of weight m_p, so that TLRR of n samples is solved
    exactly on the tuples, some tens as a rule. The threshold sqrt(v / 2) keeps the pairs that more
    than half of the v labellings join.

    Parameters
    ----------
    labellings : list of ndarray of shape (n,)
    n_clusters, seed, n_threads : int
    callback : callable, optional
        See `tlrr`.

    Returns
    -------
    Consensus
        With no more tuples than clusters nothing is solved: the tuples are the clusters, or,
        being fewer, the first labelling stays.
    """
    tuples, member, size = np.unique(
        np.stack(labellings, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    member, count = member.ravel(), len(tuples)
    if count <= n_clusters:
        return Consensus(member if count == n_clusters else labellings[0], count, 0.0)
    kept = np.sort(np.argsort(-size, kind="stable")[: max(MAX_TUPLES, n_clusters)])
    labels, gap = _cut(tuples[kept], size[kept], n_clusters, seed, n_threads, callback)
    return Consensus(_extended(labels, tuples, size, kept)[member], count, gap)


def _cut(tuples, size, n_clusters, seed, n_threads, callback):
    """Labels of the tuples and the gap of their TLRR."""
    agree = tuples.T[:, :, None] == tuples.T[:, None, :]
    tau = np.sqrt(tuples.shape[1] / 2)
    result = tlrr(
        agree.astype(np.float64),
        sample_weight=size,
        omega1=OMEGA1,
        alpha=ALPHA,
        lam=(1 - OMEGA1) * ALPHA / (2 * tau),
        tol=TOL,
        max_iter=MAX_ITER,
        n_threads=n_threads,
        callback=callback,
    )
    pairs = np.outer(size, size)
    S, S_W = result.tensor.sum(axis=0), agree.sum(axis=0)
    S = S / ((S * pairs).sum() or 1.0) + TAIL * S_W / (S_W * pairs).sum()
    # Eigenvectors of the n x n affinity, constant on tuples: of D^1/2 S D^1/2, D = diag(size).
    root = np.sqrt(size / (S @ size))
    _, vectors = dense_eigenpairs(S * root[:, None] * root, n_clusters)
    model = KMeans(n_clusters, n_init=N_INIT, random_state=seed)
    labels = model.fit(normalize(vectors[:, ::-1]), sample_weight=size).labels_
    return labels.astype(np.int64), result.gap


def _extended(labels, tuples, size, kept):
    """Labels of all tuples: those left out follow the kept one they share most labels with."""
    out = np.empty(len(tuples), dtype=np.int64)
    out[kept] = labels
    for p in np.setdiff1d(np.arange(len(tuples)), kept):
        shared = (tuples[p] == tuples[kept]).sum(axis=1)
        out[p] = labels[np.lexsort([size[kept], shared])[-1]]
    return out


def generalised_median(labellings, weights, n_clusters):
    """Number of the labelling with the largest weighted sum of NMI to all; the first of ties."""
    agreement = [
        sum(
            weight * mutual_information(labels, other, n_clusters)
            for other, weight in zip(labellings, weights, strict=True)
            if weight > 0
        )
        for labels in labellings
    ]
    return int(np.argmax(np.round(agreement, 12)))
