"""Evaluation of labels without a ground truth, labels of new samples, and support of views.

Its functions are at the top; here are the results that they return.
"""

from ._n_clusters import ClusterCounts
from ._structure import StructureTest

__all__ = ["ClusterCounts", "StructureTest"]
