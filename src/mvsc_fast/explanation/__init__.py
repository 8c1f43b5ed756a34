"""Explanation of a fitted model: markers of its clusters, plots, a report.

The functions `mvsc_fast.explain`, `mvsc_fast.annotate` and `mvsc_fast.structure_test` are at the
top.
"""

from .._utils.parts import Table
from ._explain import Explanation
from ._markers import markers, plot_markers
from ._plots import plot_embedding, plot_similarity
from ._stability import stability

__all__ = [
    "Explanation",
    "Table",
    "markers",
    "plot_embedding",
    "plot_markers",
    "plot_similarity",
    "stability",
]
