"""The plot of an explanation, its panels, and the affinity matrices that plots show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..spectral import fuse
from ._consensus import consensus_of
from ._plots import COLORS, MARKERS, NAMED_GROUPS, PLOTTED_ROWS, new_figure

if TYPE_CHECKING:
    from ._explain import Explanation


def plot_explanation(found: Explanation) -> NDArray[Any]:
    """Plot the clusters, their quality, the certainty of samples and the views of an explanation.

    Parameters
    ----------
    found : Explanation
        Result of `explain`.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        One Axes for each available panel of a new figure: sizes of the clusters, their quality,
        certainty of their samples, support of the views.
    """
    panels = panels_of(found)
    all_axes = np.ravel(new_figure(3.8 * len(panels), 3.4, columns=len(panels)))
    for ax, (draw, _) in zip(all_axes, panels, strict=True):
        draw(ax, found)
    return all_axes


def panels_of(found):
    """(draw, caption) for each part that is available in an `Explanation`; ``draw(ax, found)``."""
    quality = found.predictable_share is not None or found.silhouette is not None
    panels = (
        (_sizes, True, "Samples of each cluster"),
        (_quality, quality, "How well each cluster is separated from the others"),
        (
            _certainty,
            found.certainty is not None,
            "Certainty of each sample; 1 is clearly in its cluster",
        ),
        (_support, found.view_support is not None, "Support of each view for the clusters"),
    )
    return [(draw, caption) for draw, is_known, caption in panels if is_known]


def name_clusters(ax, clusters):
    """Write the names of clusters under the horizontal axis, unless there are many."""
    ax.set(xlabel="cluster", xlim=(-0.6, len(clusters) - 0.4))
    if len(clusters) <= NAMED_GROUPS:
        ax.set_xticks(np.arange(len(clusters)), [str(name) for name in clusters])


def _sizes(ax, found):
    ax.bar(np.arange(len(found.sizes)), found.sizes, color=COLORS[0])
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(title="sizes", ylabel="samples")
    name_clusters(ax, found.clusters)


def _quality(ax, found):
    curves = {"predictable share": found.predictable_share, "silhouette": found.silhouette}
    for (name, values), color, mark in zip(curves.items(), COLORS, MARKERS, strict=False):
        if values is not None:
            ax.plot(values, mark, color=color, ms=4, label=name)
    bottom = min(0, ax.get_ylim()[0])
    ax.set(title="quality", ylabel="1 is best", ylim=(bottom, 1.05))
    name_clusters(ax, found.clusters)
    ax.legend(fontsize="small")


def _certainty(ax, found):
    spread = np.random.RandomState(0).uniform(-0.3, 0.3, len(found.labels))
    least = np.isin(found.samples, found.uncertain)
    for shown, color in ((~least, COLORS[0]), (least, COLORS[3])):
        ax.plot((found.labels + spread)[shown], found.certainty[shown], ".", ms=3, color=color)
    bottom = min(0, ax.get_ylim()[0])
    ax.set(
        title=f"least certain samples: {least.sum()}",
        ylabel="certainty of each sample",
        ylim=(bottom, 1.05),
    )
    name_clusters(ax, found.clusters)


def _support(ax, found):
    aside = [name in found.excluded_views for name in found.view_names]
    names = [
        f"{name} (excluded)" if out else str(name)
        for name, out in zip(found.view_names, aside, strict=True)
    ]
    names = [name.replace("$", r"\$") for name in names]  # not mathematics
    place = np.arange(len(names))
    ax.barh(place, found.view_support, color=[COLORS[-1] if out else COLORS[0] for out in aside])
    ax.set_yticks(place, names)
    ax.invert_yaxis()
    ax.set(title="support of the views", xlabel="agreement with the clusters", xlim=(0, 1))


def similarities(model, labels):
    """Return two affinity matrices of a model, before and after recovery, with labels and titles.

    Parameters
    ----------
    model : fitted estimator
    labels : ndarray of shape (m,)
        Labels of the clustered samples.

    Returns
    -------
    matrices : tuple of two ndarray or csr_array of shape (m, m)
        Affinities of the clustered samples; for `ConsensusTLRR` of at most 2000 of them.
    labels : ndarray of shape (m,)
    titles : tuple of two str
    """
    if hasattr(model, "candidates_"):
        found = model.candidates_["labels"]
        rows = np.argsort(labels, kind="stable")
        rows = rows[:: -(-len(rows) // PLOTTED_ROWS)]
        titles = ("similarities of the graphs", "consensus: share of labellings that join a pair")
        both = (model.affinity_matrix_[rows][:, rows], consensus_of(found[:, rows]))
        return both, labels[rows], titles
    titles = ("similarity W", f"affinity after {type(model).__name__}")
    return (fuse(model.similarity_), model.affinity_matrix_), labels, titles
