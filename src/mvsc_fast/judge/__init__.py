"""Evaluation of labels without a ground truth, labels of new samples, and support of views."""

from ._n_clusters import ClusterCounts, suggest_n_clusters
from ._predictability import label_predictability

__all__ = ["ClusterCounts", "label_predictability", "suggest_n_clusters"]
