"""Rows of the tables that are not estimators of the package."""

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.preprocessing import normalize

from mvsc_fast.methods import TLRR
from mvsc_fast.similarity._dense import nearest_neighbors
from mvsc_fast.spectral import fuse, spectral_labels


class PublishedTLRR(TLRR):
    """TLRR whose low-rank tensor is cut as published, without a share of its input."""

    def fit(self, X, y=None):
        """Clean the views' similarities and cluster the samples."""
        super().fit(X)
        self.affinity_matrix_ = fuse(self.tensor_)
        self.labels_, self.embedding_ = spectral_labels(
            self.affinity_matrix_, self.n_clusters, random_state=self.random_state
        )
        return self


class BestSingleView(ClusterMixin, BaseEstimator):
    """Labellings of all views, of which the scores of the best are kept.

    ``labels_`` is of shape (n_views, n_samples).
    """

    def __init__(self, n_clusters=8, *, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, y=None):
        """Cluster the samples by every view alone."""
        W = nearest_neighbors([normalize(view) for view in X])
        self.labels_ = np.stack(
            [spectral_labels(A, self.n_clusters, random_state=self.random_state)[0] for A in W]
        )
        return self


class ConcatenatedViews(ClusterMixin, BaseEstimator):
    """Labels from one graph of all features side by side, samples of unit length in every view."""

    def __init__(self, n_clusters=8, *, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, y=None):
        """Cluster the samples."""
        (self.affinity_matrix_,) = nearest_neighbors([np.hstack([normalize(view) for view in X])])
        self.labels_, self.embedding_ = spectral_labels(
            self.affinity_matrix_, self.n_clusters, random_state=self.random_state
        )
        return self
