"""Transformer for scikit-learn pipelines that makes views of a table."""

from ._view_splitter import ViewSplitter

__all__ = ["ViewSplitter"]
