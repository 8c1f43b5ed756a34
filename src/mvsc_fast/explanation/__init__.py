"""Explanation of a fitted model: statistics, markers and stability of its clusters, a report.

Also a test whether there is any structure.
"""

from ._annotate import annotate
from ._consensus import plot_consensus, plot_consensus_cdf, plot_delta_area, plot_n_clusters
from ._explain import Explanation, explain
from ._graph import joint_graph, view_weights
from ._markers import markers, plot_markers
from ._panels import plot_explanation
from ._plots import (
    plot_candidates,
    plot_convergence,
    plot_embedding,
    plot_similarity,
)
from ._report import write_report
from ._stability import Stability, plot_stability, stability
from ._structure import StructureTest, plot_structure, structure_test
from ._survival import Survival, compare_survival, plot_survival
from ._table import Table

__all__ = [
    "Explanation",
    "Stability",
    "StructureTest",
    "Survival",
    "Table",
    "annotate",
    "compare_survival",
    "explain",
    "joint_graph",
    "markers",
    "plot_candidates",
    "plot_consensus",
    "plot_consensus_cdf",
    "plot_convergence",
    "plot_delta_area",
    "plot_embedding",
    "plot_explanation",
    "plot_markers",
    "plot_n_clusters",
    "plot_similarity",
    "plot_stability",
    "plot_structure",
    "plot_survival",
    "stability",
    "structure_test",
    "view_weights",
    "write_report",
]
