"""Explanation of a fitted model: profiles, markers and stability of its clusters, plots, a report.

The functions `mvsc_fast.explain`, `mvsc_fast.annotate` and `mvsc_fast.structure_test` are at the
top.
"""

from .._utils.parts import Table
from ._cells import joint_graph
from ._explain import Explanation
from ._markers import markers
from ._plots import plot_consensus, plot_embedding, plot_markers, plot_similarity
from ._stability import Stability, stability

__all__ = [
    "Explanation",
    "Stability",
    "Table",
    "joint_graph",
    "markers",
    "plot_consensus",
    "plot_embedding",
    "plot_markers",
    "plot_similarity",
    "stability",
]
