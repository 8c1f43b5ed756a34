"""Plots of similarities and embeddings; they need matplotlib.

Every function draws on the axes ``ax``, or on those of a new figure, and returns the axes, which
Jupyter shows as a picture. Save one by ``axes.figure.savefig(path)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from .._utils.containers import checked_csr
from .._utils.figures import COLORS, MARKERS, add_scale, group_names, name_ticks, new_figure
from .._utils.threads import limited
from .._utils.types import View
from .._utils.validation import check_finite

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_BLOCKS = 120  # along an axis of a heat map; smaller ones are not visible
MAX_LAYOUT = 1000  # samples of a layout, which takes seconds
MAX_MAP_NAMES = 40  # groups that are named in a map


def plot_similarity(S: View, labels: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Plot an affinity matrix with samples sorted by group.

    Parameters
    ----------
    S : array-like or sparse array of shape (n, n)
        If there are more than 120 samples, means over blocks of about n / 120 samples are shown. A
        quarter of the blocks with entries have the brightest colour.
    labels : array-like of shape (n,)
        Group of each sample. Groups are sorted in ascending order; lines mark their ends.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the matrix has a wrong shape or NaN, or the labels do not match its rows.
    """
    S = checked_csr(S, "S") if scipy.sparse.issparse(S) else np.asarray(S)
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(f"S has shape {S.shape}, expected (n_samples, n_samples)")
    check_finite(S, "S")
    check_consistent_length(labels, S)
    names, codes = np.unique(column_or_1d(labels), return_inverse=True)
    # Single samples would be smaller than a pixel.
    n, order = len(codes), np.argsort(codes, kind="stable")
    n_blocks = min(n, MAX_BLOCKS)
    sums = scipy.sparse.csr_array((np.ones(n), (np.arange(n) * n_blocks // n, order)))
    sizes = sums.sum(axis=1)
    image = sums @ (sums @ S).T
    image = (image.toarray() if scipy.sparse.issparse(image) else image) / np.outer(sizes, sizes)
    entries = image[image > 0]
    top = np.quantile(entries, 0.75) if entries.size else 1.0
    ax = new_figure(4.8, 4.2) if ax is None else ax
    picture = ax.imshow(image.T, cmap="magma", vmin=0, vmax=top, interpolation="nearest")
    ends = np.cumsum(np.bincount(codes)) * n_blocks / n - 0.5
    for end in ends[:-1]:
        ax.axhline(end, color="white", linewidth=0.4, alpha=0.6)
        ax.axvline(end, color="white", linewidth=0.4, alpha=0.6)
    middles = (ends + np.append(-0.5, ends[:-1])) / 2
    for axis in (ax.xaxis, ax.yaxis):
        name_ticks(axis, names, places=middles)
    ax.set(xlabel="samples by group", ylabel="samples by group")
    add_scale(ax, picture, shrink=0.85, extend="max", label="similarity")
    return ax


@limited  # sums depend on the number of threads
def plot_embedding(embedding: ArrayLike, labels: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Plot a map of the samples that uses all directions of their embedding.

    The layout is that of t-SNE. Neighbours in the map are neighbours in the embedding; distances
    between groups, and their sizes, have no meaning. Two directions alone would put more than three
    groups on one heap.

    Parameters
    ----------
    embedding : ndarray of shape (n, k)
        Embedding, such as ``embedding_`` of an estimator. Of more than 1000 samples, every k-th in
        the order of the groups is laid out. Two columns are drawn as they are, such as a layout of
        umap-learn.
    labels : array-like of shape (n,)
        Group of each sample, shown by colour and marker. At most 40 groups are named, in the map.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the matrix has a wrong shape, or the labels do not match its rows.
    """
    ax = new_figure(4.8, 4.2) if ax is None else ax
    embedding = check_array(embedding, input_name="embedding")
    check_consistent_length(labels, embedding)
    names, codes = np.unique(column_or_1d(labels), return_inverse=True)
    if embedding.shape[1] != 2:
        # Every k-th of the samples sorted by group, as the order of the data may be periodic.
        rows = np.argsort(codes, kind="stable")[:: -(-len(embedding) // MAX_LAYOUT)]
        rows.sort()
        embedding, codes = _layout(embedding[rows]), codes[rows]
    # Colours and markers repeat with different periods, so that many groups differ.
    size, texts = float(np.clip(6000 / len(codes), 5, 16)), group_names(names)
    for k in range(len(names)):
        marker = MARKERS[(k + k // len(COLORS)) % len(MARKERS)]
        members = embedding[codes == k]
        look = {"color": COLORS[k % len(COLORS)], "marker": marker, "alpha": 0.7}
        ax.scatter(*members.T, s=size, linewidths=0, **look)
        if len(members) and len(names) <= MAX_MAP_NAMES:
            place = np.median(members, axis=0)
            ax.annotate(texts[k], place, ha="center", fontsize="small", fontweight="bold")
    ax.set(xlabel="neighbors are near each other", xticks=[], yticks=[])
    return ax


def _layout(embedding):
    """Two coordinates of each sample, the same for all numbers of threads."""
    n, embedding = len(embedding), embedding / (np.abs(embedding).max() or 1)
    # Of equal samples scikit-learn's initial layout is NaN, which ends the process.
    if n < 4 or np.ptp(embedding, axis=0).max() < 1e-6 or embedding.shape[1] == 1:
        return np.column_stack([embedding[:, 0], embedding[:, -1] if n < 4 else np.zeros(n)])
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (n - 1) / 3)
    layout = TSNE(perplexity=perplexity, init="pca", random_state=0, n_jobs=1)
    return layout.fit_transform(embedding)


def draw_bars(names, values, label, ax=None):
    """A bar for each name, the first one at the top."""
    ax = new_figure() if ax is None else ax
    ax.barh(np.arange(len(values)), values, color=COLORS[0])
    name_ticks(ax.yaxis, names)
    ax.invert_yaxis()
    ax.set(xlabel=label)
    return ax


def draw_certainty(clusters, codes, certainty, is_uncertain, ax=None):
    """Certainty of each clustered sample above its cluster, the least certain ones in red."""
    ax = new_figure() if ax is None else ax
    jitter = np.random.RandomState(0).uniform(-0.3, 0.3, len(codes))
    for chosen, color in ((~is_uncertain, COLORS[0]), (is_uncertain, COLORS[3])):
        ax.plot((codes + jitter)[chosen], certainty[chosen], ".", ms=3, color=color)
    ax.set(xlabel="cluster", ylabel="1 is clearly in its cluster", xlim=(-0.6, len(clusters) - 0.4))
    ax.set(ylim=(min(0, ax.get_ylim()[0]), 1.05))
    name_ticks(ax.xaxis, clusters)
    return ax
