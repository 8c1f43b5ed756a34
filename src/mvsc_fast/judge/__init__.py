"""Evaluation of labels without a ground truth, labels of new samples, and support of views."""

from ._n_clusters import ClusterCounts, suggest_n_clusters
from ._predictability import label_predictability
from ._resolution import Resolutions, suggest_resolution
from ._structure import StructureTest

__all__ = [
    "ClusterCounts",
    "Resolutions",
    "StructureTest",
    "label_predictability",
    "suggest_n_clusters",
    "suggest_resolution",
]
