"""Similarities of samples from their views: dense tensors, and sparse ones of the longest tubes."""

from ._dense import nearest_neighbors, rbf, self_representation
from ._sparse import sparse_nearest_neighbors, sparse_self_representation

__all__ = [
    "nearest_neighbors",
    "rbf",
    "self_representation",
    "sparse_nearest_neighbors",
    "sparse_self_representation",
]
