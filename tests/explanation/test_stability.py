"""Clusters that are apart stay in subsamples, and a cut through a cloud does not."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvsc_fast.explanation import stability


class FirstColumn(ClusterMixin, BaseEstimator):
    """Labels that are read from the first column, and exchanged for some rows of subsamples."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        labels, rows = X[:, 0].astype(int), X[:, 1].astype(int)
        is_sub = len(rows) < 30
        self.labels_ = np.where(is_sub & (rows % 7 == 0), (labels + 1) % 4, labels)
        return self


def test_agreement_is_the_mean_of_the_best_jaccard_indices():
    labels = np.repeat([0, 1, 2, 3], [14, 9, 6, 1])
    X = np.column_stack([labels, np.arange(30)])
    table = stability(FirstColumn(0).fit(X), X, n_resamples=4, random_state=1)
    rng, expected = np.random.RandomState(1), np.full((4, 4), np.nan)
    for row in expected:
        drawn = np.sort(rng.choice(30, 24, replace=False))
        found = np.where(drawn % 7 == 0, (labels[drawn] + 1) % 4, labels[drawn])
        for k in set(labels[drawn]):
            groups = [set(drawn[found == j]) for j in set(found)]
            own = set(drawn[labels[drawn] == k])
            row[k] = max(len(own & group) / len(own | group) for group in groups)
    np.testing.assert_allclose(table["agreement"], np.nanmean(expected, axis=0))
    assert table["samples"].tolist() == [14, 9, 6, 1]


def test_a_cut_through_a_cloud_is_not_stable():
    X = np.random.default_rng(0).standard_normal((120, 8))
    X[:40] += 12
    model = make_pipeline(StandardScaler(), KMeans(3, n_init=10, random_state=0)).fit(X)
    table = stability(model, X, n_resamples=5, random_state=0)
    labels = model[-1].labels_
    assert table["agreement"][table["cluster"] == labels[0]] == 1
    assert table["agreement"].min() < 0.8


def test_similarities_have_no_subsamples():
    model = FirstColumn(0).fit(np.zeros((30, 2)))
    model.affinity = "precomputed"
    with pytest.raises(ValueError, match="similarities"):
        stability(model, np.zeros((30, 2)))
