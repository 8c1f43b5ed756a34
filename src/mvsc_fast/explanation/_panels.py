"""Panels of the plots of an explanation, and the affinity matrices that plots show."""

import numpy as np

from ..spectral import fuse
from ._plots import COLORS, MARKERS, MAX_SAMPLES, NAMED_GROUPS


def panels_of(found):
    """Functions ``draw(ax, found)`` for the parts that are available in an `Explanation`."""
    panels = [_sizes]
    if found.predictability is not None or found.silhouette is not None:
        panels.append(_quality)
    if found.margin is not None:
        panels.append(_margins)
    if found.view_support is not None:
        panels.append(_support)
    return panels


def _name_clusters(ax, found):
    ax.set_xlabel("cluster")
    if len(found.clusters) <= NAMED_GROUPS:
        ax.set_xticks(np.arange(len(found.clusters)), [str(name) for name in found.clusters])


def _sizes(ax, found):
    ax.bar(np.arange(len(found.sizes)), found.sizes, color=COLORS[0])
    ax.set(title="sizes", ylabel="samples")
    _name_clusters(ax, found)


def _quality(ax, found):
    for name, color, mark in zip(("predictability", "silhouette"), COLORS, MARKERS, strict=False):
        values = getattr(found, name)
        if values is not None:
            ax.plot(values, mark, color=color, ms=4, label=name)
    bottom = min(0, ax.get_ylim()[0])
    ax.set(title="quality", ylabel="1 is best", ylim=(bottom, 1.05))
    _name_clusters(ax, found)
    ax.legend(fontsize="small")


def _margins(ax, found):
    spread = np.random.RandomState(0).uniform(-0.3, 0.3, len(found.margin))
    near = np.isin(found.samples, found.between)
    for shown, color in ((~near, COLORS[0]), (near, COLORS[3])):
        ax.plot((found.labels + spread)[shown], found.margin[shown], ".", ms=3, color=color)
    bottom = min(0, ax.get_ylim()[0])
    ax.set(title=f"samples between two clusters: {near.sum()}", ylabel="margin of each sample",
           ylim=(bottom, 1.05))  # fmt: skip
    _name_clusters(ax, found)


def _support(ax, found):
    aside = [name in found.excluded_views for name in found.view_names]
    names = [f"{name} (excluded)" if out else str(name)
             for name, out in zip(found.view_names, aside, strict=True)]  # fmt: skip
    names = [name.replace("$", r"\$") for name in names]  # not mathematics
    place = np.arange(len(names))
    ax.barh(place, found.view_support, color=[COLORS[-1] if out else COLORS[0] for out in aside])
    ax.set_yticks(place, names)
    ax.invert_yaxis()
    ax.set(title="support of the views", xlabel="agreement with the clusters", xlim=(0, 1))


def similarities(model):
    """Return two affinity matrices of a model, before and after recovery, with labels and titles.

    Returns
    -------
    matrices : tuple of two ndarray or csr_array of shape (m, m)
        Affinities of the clustered samples; for `ConsensusTLRR` of at most 2000 of them.
    labels : ndarray of shape (m,)
    titles : tuple of two str
    """
    labels = model.labels_[getattr(model, "samples_", slice(None))]
    if hasattr(model, "candidates_"):
        found = model.candidates_["labels"]
        rows = np.argsort(labels, kind="stable")
        rows = rows[:: -(-len(rows) // MAX_SAMPLES)]
        joined = sum(np.equal.outer(one, one).astype(np.float32) for one in found[:, rows])
        titles = ("similarities of the graphs", "share of labellings that join a pair")
        both = (model.affinity_matrix_[rows][:, rows], joined / len(found))
        return both, labels[rows], titles
    titles = ("similarity W", f"affinity after {type(model).__name__}")
    return (fuse(model.similarity_), model.affinity_matrix_), labels, titles
