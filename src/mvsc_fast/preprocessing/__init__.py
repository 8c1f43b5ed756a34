"""Transformers for scikit-learn pipelines that make views of a table and transform each view."""

from ._frame_encoder import FrameEncoder
from ._per_view import PerView
from ._view_splitter import ViewSplitter

__all__ = ["FrameEncoder", "PerView", "ViewSplitter"]
