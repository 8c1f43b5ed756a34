"""Gaussian clusters of a common covariance: a score of labels, and a candidate, for few columns."""

import numpy as np
from scipy.linalg import svd

# Rows that are farther from the mean than this many median distances are moved to that distance,
# because the few samples of heavy tails are otherwise the clusters of the largest likelihood.
MAX_MEDIANS = 1.5
RIDGE = 0.03  # share of the covariance of all samples that is added to that within clusters
MIN_SPREAD = 1e-5  # of a direction, relative to the widest; rows are in single precision
MAX_ITERATIONS = 100


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
        gains = [self._gain(labels, n_clusters) for labels in labellings]
        return np.array(gains) / np.log(n_clusters)

    def _gain(self, labels, n_clusters):
        shares, means = self._clusters(labels, n_clusters)
        between = np.sqrt(shares)[:, None] * means
        squares = np.clip(np.linalg.eigvalsh(between @ between.T), 0, 1)
        shares = shares[shares > 0]
        return shares @ np.log(shares) + np.log((1 + RIDGE) / (1 + RIDGE - squares)).sum() / 2

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
        sizes = np.bincount(labels, minlength=n_clusters)
        sums = np.zeros((n_clusters, self._points.shape[1]))
        np.add.at(sums, labels, self._points)
        return sizes / len(labels), sums / np.maximum(sizes, 1)[:, None]


def _whitened(points):
    """Coordinates of the samples in which their covariance is the identity."""
    U, lengths, _ = svd(points - points.mean(axis=0), full_matrices=False)
    return np.sqrt(len(points)) * U[:, lengths > MIN_SPREAD * lengths[0]]
