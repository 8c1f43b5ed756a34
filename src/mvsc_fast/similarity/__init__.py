"""Similarity tensors computed from the features of the views, dense or sparse."""

from ._dense import nearest_neighbors, rbf, self_representation

__all__ = ["nearest_neighbors", "rbf", "self_representation"]
