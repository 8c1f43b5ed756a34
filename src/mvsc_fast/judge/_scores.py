"""Scores of labellings by a graph or by likelihood, and what scores say against labels.

Predictability, the score that needs no ground truth either, is in `_ridge`.
"""

import numpy as np
from scipy.linalg import svd

from .._utils.messages import counted, warn_user
from ..spectral._cut import cluster_means

ROUNDING = 1e-12  # of shares of the whole degree
# Rows that are farther from the mean than this many median distances are moved to that distance,
# because the few samples of heavy tails are otherwise the clusters of the largest likelihood.
MAX_MEDIANS = 1.5
RIDGE = 0.03  # share of the covariance of all samples that is added to that within clusters
MIN_SPREAD = 1e-5  # of a direction, relative to the widest; rows are in single precision
MAX_ITERATIONS = 100
# Calibrated by bench/structure.py --doubts. Noise of 300 samples reaches a predictability of .5 to
# .8 and a modularity of .25 to .5, except in two or three columns. The sixteen sets have more of at
# least one of them.
MIN_PREDICTABILITY, MIN_MODULARITY, MIN_DOUBTED = 0.85, 0.5, 200
# Below it, labels of nine tenths of the samples agree with those of all no better
# (bench/changes.py).
MIN_AGREEMENT = 0.6


def corrected_modularity(affinity, labellings, n_clusters):
    """`modularity` of each labelling over its maximum at the sizes of its clusters.

    Without edges between clusters the modularity is ``1 - sum p^2``, which is small if one cluster
    has nearly all samples: .095 for two clusters of 95 % and 5 %, but .5 for halves. The quotient
    of both is 1 in each of these cases, so that labellings with clusters of any sizes can be
    compared. It is at most 1, and 0 if labels are independent of edges, the graph has no weight, or
    one cluster has all of it.
    """
    values, largest = modularity(affinity, labellings, n_clusters)
    return np.divide(values, largest, out=np.zeros_like(values), where=largest > ROUNDING)


def modularity(affinity, labellings, n_clusters):
    """Newman's modularity of each labelling, and the largest at the sizes of its clusters.

    With e the share of the edge weight that is within clusters and p the clusters' shares of the
    degree, it is ``e - sum p^2``, which is at most ``1 - sum p^2``. Both are 0 if the graph, a
    symmetric csr_array, has no weight. Labels are below ``n_clusters``.
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


class CommonMixture:
    """Samples as a mixture of Gaussian clusters that have one covariance, for given labels.

    Distances are those of Mahalanobis, so that neither the units of columns nor their correlations
    matter, and clusters have weights, so that they may be of any sizes (Symons 1981).

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Columns that are not discrete: clusters that divide a column of two values have no variance
        in it. There should be several times as many samples as columns.
    """

    def __init__(self, points):
        points = _whitened(points)
        lengths = np.sqrt((points * points).sum(axis=1))
        limit = MAX_MEDIANS * np.median(lengths)
        points *= np.minimum(1, limit / np.maximum(lengths, limit))[:, None]
        # In coordinates whose covariance is the identity, that between clusters says all.
        self._points = _whitened(points)

    def __call__(self, labellings, n_clusters):
        """Likelihood of each labelling, of shape (k,), relative to that of a single cluster.

        The gain of the mean log likelihood of samples and labels is ``log(|T| / |W|) / 2 - H``,
        with the covariances T of all samples and W within clusters, and the entropy H of the sizes.
        It is divided by ``log(n_clusters)``, and 0 for one cluster.
        """
        if n_clusters == 1:
            return np.zeros(len(labellings))
        gains = []
        for labels in labellings:
            shares, means = self._clusters(labels, n_clusters)
            between = np.sqrt(shares)[:, None] * means
            squares = np.clip(np.linalg.eigvalsh(between @ between.T), 0, 1)
            likelihood = np.log((1 + RIDGE) / (1 + RIDGE - squares)).sum() / 2
            shares = shares[shares > 0]
            gains.append(shares @ np.log(shares) + likelihood)
        return np.array(gains) / np.log(n_clusters)

    def maximise(self, labels, n_clusters):
        """Labels of a larger likelihood, by classification EM (Celeux and Govaert 1992).

        Means and covariance, given labels, and labels, given these, are computed in turn, until
        the labels no longer change or a cluster would lose all of its samples.
        """
        for _ in range(MAX_ITERATIONS):
            shares, means = self._clusters(labels, n_clusters)
            if (shares == 0).any():
                break
            # Discriminant functions: linear, because all clusters have one covariance.
            within = (1 + RIDGE) * np.eye(means.shape[1]) - (means.T * shares) @ means
            directions = np.linalg.solve(within, means.T)
            offsets = np.log(shares) - (means.T * directions).sum(axis=0) / 2
            proposed = (self._points @ directions + offsets).argmax(axis=1)
            sizes = np.bincount(proposed, minlength=n_clusters)
            if (sizes == 0).any() or np.array_equal(proposed, labels):
                break
            labels = proposed
        return labels

    def _clusters(self, labels, n_clusters):
        """Shares and means of the clusters; 0 for those without samples."""
        shares = np.bincount(labels, minlength=n_clusters) / len(labels)
        return shares, cluster_means(self._points, labels, n_clusters)


def _whitened(points):
    """Coordinates of the samples in which their covariance is the identity."""
    U, lengths, _ = svd(points - points.mean(axis=0), full_matrices=False)
    return np.sqrt(len(points)) * U[:, lengths > MIN_SPREAD * lengths[0]]


def warn_of_doubts(n_samples, predictability, modularity, agreement):
    """Warn if clusters are no better than those of noise, or else if others are as good.

    The predictability is the largest of the candidates; the others are those of the final labels,
    see `corrected_modularity` and ``fused_agreement_``.
    """
    is_doubtful = predictability < MIN_PREDICTABILITY and modularity < MIN_MODULARITY
    if n_samples >= MIN_DOUBTED and is_doubtful:
        warn_user(
            f"clusters of noise are as predictable ({predictability:.2f}) and have as large a "
            f"modularity ({modularity:.2f} of at most 1) as these: they may be arbitrary, or miss "
            "groups that are much smaller than others. structure_test, or --evidence, tests it"
        )
    elif agreement < MIN_AGREEMENT:
        warn_user(
            f"the labels agree little with the labellings that were fused (mean adjusted Rand "
            f"index {agreement:.2f}): other clusters are about as good, and small changes of the "
            "data may lead to them"
        )


def warn_of_empty_clusters(labels, n_clusters):
    """Warn if fewer clusters have samples than were asked for."""
    count = len(np.unique(labels))
    if count < n_clusters:
        warn_user(
            f"n_clusters={n_clusters}, but the samples are in {counted(count, 'cluster')}: "
            f"{n_clusters - count} of the labels occur nowhere. There may be too few samples"
        )
