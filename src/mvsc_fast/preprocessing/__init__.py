"""Views in pipelines of scikit-learn: one table split into views, a transformer for each view."""

from ._per_view import PerView
from ._view_splitter import ViewSplitter

__all__ = ["PerView", "ViewSplitter"]
