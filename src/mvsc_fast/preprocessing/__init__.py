"""Transformers for scikit-learn pipelines that split a table into views and transform each view."""

from ._per_view import PerView
from ._view_splitter import ViewSplitter

__all__ = ["PerView", "ViewSplitter"]
