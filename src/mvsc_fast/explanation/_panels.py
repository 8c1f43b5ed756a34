"""The plot of an explanation, its panels, and the affinity matrices that plots show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..spectral import fuse
from ._consensus import consensus_of
from ._plots import COLORS, MARKERS, NAMED_GROUPS, new_figure, plotted_rows

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
        draw(found, ax)
    return all_axes


def panels_of(found):
    """(draw, caption) for each part of an `Explanation` that is known; ``draw(found, ax)``."""
    panels = [(_sizes, "Samples of each cluster")]
    if found.predictable_share is not None or found.silhouette is not None:
        panels.append((_quality, "How well each cluster is separated from the others"))
    if found.certainty is not None:
        panels.append((_certainty, "Certainty of each sample; 1 is clearly in its cluster"))
    if found.view_support is not None:
        panels.append((_support, "Support of each view for the clusters"))
    return panels


def name_clusters(ax, clusters):
    """Write the names of clusters under the horizontal axis, unless there are many."""
    ax.set(xlabel="cluster", xlim=(-0.6, len(clusters) - 0.4))
    if len(clusters) <= NAMED_GROUPS:
        ax.set_xticks(np.arange(len(clusters)), [str(name) for name in clusters])
    return ax


def _sizes(found, ax):
    ax.bar(np.arange(len(found.sizes)), found.sizes, color=COLORS[0])
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(title="sizes", ylabel="samples")
    return name_clusters(ax, found.clusters)


def _quality(found, ax):
    curves = {"predictable share": found.predictable_share, "silhouette": found.silhouette}
    for (name, values), color, mark in zip(curves.items(), COLORS, MARKERS, strict=False):
        if values is not None:
            ax.plot(values, mark, color=color, ms=4, label=name)
    ax.set(title="quality", ylabel="1 is best", ylim=(min(0, ax.get_ylim()[0]), 1.05))
    ax.legend(fontsize="small")
    return name_clusters(ax, found.clusters)


def _certainty(found, ax):
    spread = np.random.RandomState(0).uniform(-0.3, 0.3, len(found.labels))
    least = np.isin(found.samples, found.uncertain)
    for shown, color in ((~least, COLORS[0]), (least, COLORS[3])):
        ax.plot((found.labels + spread)[shown], found.certainty[shown], ".", ms=3, color=color)
    ax.set(title=f"least certain samples: {least.sum()}", ylabel="certainty of each sample")
    ax.set(ylim=(min(0, ax.get_ylim()[0]), 1.05))
    return name_clusters(ax, found.clusters)


def _support(found, ax):
    aside = {name: " (excluded)" for name in found.excluded_views}
    texts = [f"{name}{aside.get(name, '')}" for name in found.view_names]
    names = [text.replace("$", r"\$") for text in texts]  # not mathematics
    place = np.arange(len(names))
    colors = [COLORS[-1] if name in aside else COLORS[0] for name in found.view_names]
    ax.barh(place, found.view_support, color=colors)
    ax.set_yticks(place, names)
    ax.invert_yaxis()
    ax.set(title="support of the views", xlabel="agreement with the clusters", xlim=(0, 1))
    return ax


def similarities(model, labels):
    """Affinity matrices of the clustered samples before and after recovery, labels and two titles.

    For `ConsensusTLRR` they are those of at most 2000 samples.
    """
    if hasattr(model, "candidates_"):
        found, rows = model.candidates_["labels"], plotted_rows(labels)
        titles = ("similarities of the graphs", "consensus: share of labellings that join a pair")
        both = (model.affinity_matrix_[rows][:, rows], consensus_of(found[:, rows]))
        return both, labels[rows], titles
    titles = ("similarity W", f"affinity after {type(model).__name__}")
    return (fuse(model.similarity_), model.affinity_matrix_), labels, titles
