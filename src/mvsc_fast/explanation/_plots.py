"""Plots of similarities, labellings, markers and embeddings; they need matplotlib.

Every function draws on the axes ``ax``, or on those of a new figure, and returns the axes, which
Jupyter shows as a picture. Save one by ``axes.figure.savefig(path)``. Curves and groups differ by
their colours and by their markers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from .._utils.containers import checked_csr
from .._utils.figures import (
    COLORS,
    MARKERS,
    MAX_NAMES,
    add_scale,
    group_names,
    name_ticks,
    new_figure,
)
from .._utils.parameters import InvalidParameterError, check_integer, check_type
from .._utils.parts import Table
from .._utils.threads import limited
from .._utils.types import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_BLOCKS = 120  # along an axis of a heat map; smaller ones are not visible
MAX_CONSENSUS = 2000  # samples whose pairs are counted
MAX_LAYOUT = 1000  # samples of a layout, which takes seconds
MAX_MAP_NAMES = 40  # groups that are named in a map
MAX_MARKER_ROWS, ROW_INCHES = 40, 0.16  # of a heat map of markers
MAX_NAME_LETTERS = 28
MAX_EFFECT = 4.0  # at the end of the colour scale
NAMES_FIT = 26  # along the axis of a heat map: groups that are narrower have no name
MAX_UPRIGHT_LETTERS = 30  # along an axis, beyond which names are rotated
DIM_SHARE = 0.25  # of the blocks whose mean within their group is below the brightest colour


def _check_labels(labels, n_samples):
    labels = np.asarray(labels)
    if labels.shape != (n_samples,):
        raise ValueError(f"labels have shape {labels.shape}, expected ({n_samples},)")
    return labels


# ---------------------------------------------------------------------------------------- heat maps


def plot_similarity(S: View, labels: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Plot an affinity matrix with samples sorted by group.

    Parameters
    ----------
    S : array-like or sparse array of shape (n, n)
        If there are more than 120 samples, means over blocks of about n / 120 samples of a group
        are shown. Three quarters of the blocks reach the brightest colour within their group, so
        that neither small dense groups nor a few large entries darken all others.
    labels : array-like of shape (n,)
        Group of each sample. Groups are sorted in ascending order; ticks and lines mark their ends.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the matrix has a wrong shape, or the labels do not match its rows.
    """
    S = checked_csr(S, "S") if scipy.sparse.issparse(S) else np.asarray(S)
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(f"S has shape {S.shape}, expected (n_samples, n_samples)")
    return _plot_blocks(S, _check_labels(labels, S.shape[0]), ax=ax, scale="similarity")


def _plot_blocks(S, labels, *, ax, scale, top=None):
    """Means of a matrix over blocks of samples; ``scale`` and ``top`` are of the colour bar."""
    ax = new_figure(4.8, 4.2) if ax is None else ax
    # Single samples would be smaller than a pixel, and their few neighbours black after averaging
    # by the screen.
    names, codes = np.unique(labels, return_inverse=True)
    block_of_sample, group_of_block = _blocks(codes)
    entries = np.ones(len(codes)), (block_of_sample, np.arange(len(codes)))
    sums = scipy.sparse.csr_array(entries)  # adds the rows of each block
    sizes = sums.sum(axis=1)
    image = sums @ (sums @ S).T
    image = (image.toarray() if scipy.sparse.issparse(image) else image) / np.outer(sizes, sizes)
    top = _bright_end(image, group_of_block) if top is None else top
    picture = ax.imshow(image.T, cmap="magma", vmin=0, vmax=top, interpolation="nearest")

    # Borders of groups, and names where there is room.
    first = np.flatnonzero(np.diff(group_of_block, prepend=-1))
    borders, widths = first[1:] - 0.5, np.diff(first, append=len(group_of_block))
    for border in borders:
        ax.axhline(border, color="white", linewidth=0.4, alpha=0.6)
        ax.axvline(border, color="white", linewidth=0.4, alpha=0.6)
    texts = group_names(names)
    is_wide = NAMES_FIT * widths > len(group_of_block)
    is_rotated = len(texts) * max(map(len, texts)) > MAX_UPRIGHT_LETTERS
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(borders, [""] * len(borders))
        if len(texts) <= MAX_NAMES:
            rotation = {"rotation": 90} if is_rotated and axis is ax.xaxis else {}
            middles = (first + (widths - 1) / 2)[is_wide]
            axis.set_ticks(middles, np.array(texts)[is_wide], minor=True, **rotation)
            size = "medium" if len(texts) <= 10 else "x-small"
            axis.set_tick_params(which="minor", length=0, labelsize=size)
    ax.set(xlabel="samples by group", ylabel="samples by group")
    extend = "max" if image.max() > top else "neither"
    add_scale(ax, picture, shrink=0.85, extend=extend, label=scale)
    return ax


def _blocks(codes):
    """Block of each sample, and group of each block: groups are divided into blocks of one size."""
    size = -(-len(codes) // MAX_BLOCKS)
    block_of_sample, group_of_block = np.empty(len(codes), dtype=np.intp), []
    for group, n_members in enumerate(np.bincount(codes).tolist()):
        members = np.flatnonzero(codes == group)
        for block in np.array_split(members, -(-n_members // size)):
            block_of_sample[block] = len(group_of_block)
            group_of_block.append(group)
    return block_of_sample, np.array(group_of_block)


def _bright_end(image, groups):
    """Upper end of the colour scale, which three quarters of the blocks reach within their group.

    Large groups have small entries, because each sample has the same number of neighbours: with the
    largest entry, or the mean, all but the smallest groups would be black.
    """
    off_diagonal = ~np.eye(len(image), dtype=bool)
    within = np.where(off_diagonal & np.equal.outer(groups, groups), image, 0)
    n_others = np.bincount(groups)[groups] - 1
    means = (within.sum(axis=1) / np.maximum(n_others, 1))[n_others > 0]
    for entries in (means[means > 0], image[off_diagonal & (image > 0)], image[image > 0]):
        if entries.size:
            return float(np.quantile(entries, DIM_SHARE))
    return 1.0


def plot_consensus(
    candidates: Mapping[str, NDArray[Any]], labels: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Plot the consensus: the share of the candidate labellings that join each pair of samples.

    Parameters
    ----------
    candidates : dict of ndarray
        ``candidates_`` of a fitted `ConsensusTLRR` with ``store="all"``.
    labels : array-like of shape (m,)
        Label of each clustered sample, by which samples are sorted. If there are more than 2000
        samples, every k-th in this order is shown.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    if not isinstance(candidates, Mapping) or "labels" not in candidates:
        raise InvalidParameterError(
            "candidates has no labels: pass candidates_ of a ConsensusTLRR with store='all'"
        )
    labels = _check_labels(labels, candidates["labels"].shape[1])
    order = np.argsort(labels, kind="stable")
    rows = order[:: -(-len(order) // MAX_CONSENSUS)]
    labellings = candidates["labels"][:, rows]
    joined = sum(np.equal.outer(row, row).astype(np.float32) for row in labellings)
    shares = joined / len(labellings)
    return _plot_blocks(shares, labels[rows], ax=ax, scale="share of the labellings", top=1)


def plot_markers(table: Table, *, n_top: int = 5, ax: Axes | None = None) -> Axes:
    """Plot the effects of the first markers of each cluster as a heat map.

    Parameters
    ----------
    table : Table
        Result of `markers`, or ``profiles`` of an `Explanation`.
    n_top : int, default=5
        Markers of each cluster; fewer if there are many clusters.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_type(table, "table", Table)
    n_top = check_integer(n_top, "n_top", 0)
    # As many rows as fit, at least one for each cluster.
    clusters, first, codes = np.unique(table["cluster"], return_index=True, return_inverse=True)
    max_rows = MAX_MARKER_ROWS
    if ax is not None:
        max_rows = int(ax.get_window_extent().height / ax.figure.dpi / ROW_INCHES)
    n_top = max(1, min(n_top, max_rows // len(clusters), table.n_rows // len(clusters)))
    names = list(zip(table["view"].tolist(), table["feature"].tolist(), strict=True))
    chosen = dict.fromkeys(names[i] for start in first for i in range(start, start + n_top))
    row_of_feature = {name: row for row, name in enumerate(chosen)}
    image = np.full((len(chosen), len(clusters)), np.nan)
    for name, k, effect in zip(names, codes, table["effect"], strict=True):
        # Of several features of one name, the first has the largest effect.
        if name in row_of_feature and np.isnan(image[row_of_feature[name], k]):
            image[row_of_feature[name], k] = effect

    ax = new_figure(5.2, max(2.6, 1.4 + 0.18 * len(chosen))) if ax is None else ax
    effects = np.abs(image[np.isfinite(image)])
    top = min(max(effects.max(initial=0), 1e-9), MAX_EFFECT)
    limits = {"vmin": -top, "vmax": top, "aspect": "auto", "interpolation": "nearest"}
    # Infinite effects have the last colours; the largest floats would overflow.
    image = np.nan_to_num(image, nan=np.nan, posinf=top, neginf=-top)
    picture = ax.imshow(image, cmap="RdBu_r", **limits)
    name_ticks(ax.xaxis, clusters, fontsize="small")
    texts = [_shorten(feature, view) for view, feature in chosen]
    texts = [
        _ends(feature, view) if texts.count(text) > 1 else text
        for text, (view, feature) in zip(texts, chosen, strict=True)
    ]
    name_ticks(ax.yaxis, texts, max(max_rows, 1), fontsize="small")
    ax.set(xlabel="cluster")
    add_scale(ax, picture, shrink=0.5, extend="both").set_label(
        "standardised difference", fontsize="small"
    )
    return ax


def _with_view(feature, view):
    """A feature, and in parentheses its view if there are several."""
    return str(feature) if view is None else f"{feature} ({view})"


def _ends(feature, view):
    """The beginning and the end of a name that is not the only one with its beginning."""
    name = _with_view(feature, view)
    is_long = len(name) > 2 * MAX_NAME_LETTERS
    return f"{name[:MAX_NAME_LETTERS]}...{name[-MAX_NAME_LETTERS:]}" if is_long else name


def _shorten(feature, view):
    """A feature and its view, or the feature alone if both are too long."""
    name, feature = _with_view(feature, view), str(feature)
    if len(name) <= MAX_NAME_LETTERS:
        return name
    is_long = len(feature) > MAX_NAME_LETTERS
    return f"{feature[: MAX_NAME_LETTERS - 3]}..." if is_long else feature


# --------------------------------------------------------------------------------------------- maps


@limited
def plot_embedding(embedding: ArrayLike, labels: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Plot a map of the samples that uses all directions of their embedding.

    The layout is that of t-SNE. Neighbours in the map are neighbours in the embedding; distances
    between groups, and their sizes, have no meaning. Two directions alone would put more than three
    groups on one heap.

    Parameters
    ----------
    embedding : ndarray of shape (n, k)
        Embedding, such as ``embedding_`` of an estimator. Of more than 1000 samples, every k-th is
        laid out. Two columns are drawn as they are, such as a layout of umap-learn.
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
    # Layouts of many samples take long, and overlap: evenly spaced ones are drawn.
    ax = new_figure(4.8, 4.2) if ax is None else ax
    embedding = check_array(embedding, input_name="embedding")
    labels = _check_labels(labels, len(embedding))
    rows = np.arange(len(embedding))
    if embedding.shape[1] != 2:
        rows = rows[:: -(-len(rows) // MAX_LAYOUT)]
    points = _layout(embedding[rows])

    # Colours and markers repeat with different periods, so that many groups differ.
    names, codes = np.unique(labels, return_inverse=True)
    size = float(np.clip(6000 / len(rows), 5, 16))
    for k in range(len(names)):
        marker = MARKERS[(k + k // len(COLORS)) % len(MARKERS)]
        look = {"color": COLORS[k % len(COLORS)], "marker": marker}
        ax.scatter(*points[codes[rows] == k].T, s=size, alpha=0.7, linewidths=0, **look)
    if len(names) <= MAX_MAP_NAMES:
        _name_groups(ax, points, codes[rows], names)
    ax.set(xlabel="neighbors are near each other", xticks=[], yticks=[])
    return ax


def _layout(embedding):
    """Two coordinates of each sample, the same for all numbers of threads."""
    n = len(embedding)
    if embedding.shape[1] == 2:
        return embedding
    if n < 4 or embedding.shape[1] == 1:  # too few for a layout
        return np.column_stack([embedding[:, 0], embedding[:, -1] if n < 4 else np.zeros(n)])
    from sklearn.manifold import TSNE

    # A start from principal components keeps the global arrangement.
    U, s, _ = np.linalg.svd(embedding - embedding.mean(axis=0), full_matrices=False)
    start = (U * s)[:, :2]
    start = 1e-4 * start / max(start[:, 0].std(), 1e-12)  # as its documentation recommends
    start += 1e-5 * np.random.RandomState(0).standard_normal(start.shape)  # parts equal samples
    perplexity = min(30.0, (n - 1) / 3)
    layout = TSNE(perplexity=perplexity, init=start, random_state=0, n_jobs=1)
    return layout.fit_transform(embedding)


def _name_groups(ax, points, codes, names):
    """Write the name of each group above the sample in its middle."""
    from matplotlib.patheffects import withStroke

    outline = [withStroke(linewidth=2.5, foreground="white")]
    look = {"ha": "center", "va": "bottom", "fontsize": "small", "fontweight": "bold"}
    for k, text in enumerate(group_names(names)):
        members = points[codes == k]
        if len(members):
            distances = np.abs(members - np.median(members, axis=0)).sum(axis=1)
            middle, offset = members[distances.argmin()], {"textcoords": "offset points"}
            ax.annotate(text, middle, (0, 4), **offset, **look, color="black", path_effects=outline)
