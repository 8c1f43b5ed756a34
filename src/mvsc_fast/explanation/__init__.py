"""Explanation of a fitted model: statistics and markers of its clusters, plots and a report."""

from ._explain import Explanation, explain
from ._markers import markers, plot_markers
from ._panels import plot_explanation
from ._plots import (
    plot_candidates,
    plot_convergence,
    plot_embedding,
    plot_n_clusters,
    plot_sensitivity,
    plot_similarity,
)
from ._report import write_report
from ._table import Table

__all__ = [
    "Explanation",
    "Table",
    "explain",
    "markers",
    "plot_candidates",
    "plot_convergence",
    "plot_embedding",
    "plot_explanation",
    "plot_markers",
    "plot_n_clusters",
    "plot_sensitivity",
    "plot_similarity",
    "write_report",
]
