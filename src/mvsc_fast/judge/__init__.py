"""What others say of a sample: predictability of labels, labels of new rows, support of views."""

from ._n_clusters import ClusterCounts, suggest_n_clusters
from ._predictability import label_predictability

__all__ = ["ClusterCounts", "label_predictability", "suggest_n_clusters"]
