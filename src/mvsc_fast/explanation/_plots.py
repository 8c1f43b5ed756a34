"""Plots of similarities, convergence and candidates; requires matplotlib.

Every function draws on the given axes, or on those of a new figure, and returns the axes. Save a
plot by ``axes.figure.savefig(path)``. The eight colours are those of Okabe & Ito, which
colour-blind readers can distinguish; curves also differ by their markers.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from .._utils.containers import checked_csr
from .._utils.documentation import completed
from .._utils.messages import import_extra
from .._utils.parameters import check_option
from .._utils.types import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Function = TypeVar("Function")
Groups = Literal["true", "found"]

PLOTTED_ROWS = 2000  # maximum number of rows in a plot, beyond which they are not visible
NAMED_GROUPS = 15  # maximum number of names along an axis, beyond which they overlap
LONG_NAMES = 30  # letters along an axis, beyond which names are rotated
COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#9a8700", "#808080")
MARKERS = "osD^vPX*<>"
SHARED = """What all plots share.

Parameters
----------
ax : matplotlib.axes.Axes, optional
title : str, optional

Returns
-------
matplotlib.axes.Axes
"""
CIRCLE = {"ms": 11, "mfc": "none", "color": COLORS[3]}


def plot(function: Function) -> Function:
    """Complete the docstring of a plot by what all plots share."""
    if function.__doc__ is not None:  # python -OO
        signature = inspect.signature(function)
        function.__doc__ = completed(function.__doc__, [SHARED], signature, ("Returns",))
    return function


def new_figure(width=4.4, height=3.4, *, columns=1):
    """Axes, or an array of some side by side, of a figure that is not registered with pyplot."""
    import_extra("matplotlib", "a picture")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots(1, columns)


def check_picture(path):
    """Raise an error if matplotlib is missing or cannot write the format of ``path``."""
    known = new_figure().figure.canvas.get_supported_filetypes()
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in known:
        raise ValueError(
            f"{path}: plots can be saved as {', '.join(sorted(known))}, not {suffix!r}"
        )


@plot
def plot_similarity(
    S: View,
    labels: ArrayLike,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    groups: Groups = "found",
) -> Axes:
    """Plot an affinity matrix with samples sorted by group.

    Parameters
    ----------
    S : array-like or sparse array of shape (n, n)
    labels : array-like of shape (n,)
        Group of each sample. Groups are sorted in ascending order; ticks and lines mark their ends.
        If there are more than 2000 samples, every k-th in this order is shown.
    groups : str, default="found"
        "true" or "found", shown in the labels of the axes.

    Raises
    ------
    ValueError
        If the matrix has a wrong shape, or the labels do not match its rows.
    """
    ax = new_figure(4.8, 4.2) if ax is None else ax
    S = checked_csr(S, "S") if scipy.sparse.issparse(S) else np.asarray(S)
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(f"S has shape {S.shape}, expected (n_samples, n_samples)")
    labels = _one_label_each(labels, S.shape[0])
    order = plotted_rows(labels)
    image = S[order][:, order]
    image = image.toarray() if scipy.sparse.issparse(image) else image
    top = _typical_large(image)
    shown = ax.imshow(image, cmap="magma", vmin=0, vmax=top, interpolation="antialiased")
    names, first, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    borders, names = first[1:] - 0.5, [str(name) for name in names]
    upright = len(names) * max(map(len, names)) > LONG_NAMES
    for border in borders:
        ax.axhline(border, color="white", linewidth=0.4, alpha=0.6)
        ax.axvline(border, color="white", linewidth=0.4, alpha=0.6)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(borders, [""] * len(borders))
        if len(names) <= NAMED_GROUPS:
            turned = {"rotation": 90} if upright and axis is ax.xaxis else {}
            axis.set_ticks(first + (sizes - 1) / 2, names, minor=True, **turned)
            size = "medium" if len(names) <= 10 else "x-small"
            axis.set_tick_params(which="minor", length=0, labelsize=size)
    text = f"samples by {groups} group"
    ax.set(title=title, xlabel=text, ylabel=text)
    add_scale(ax, shown, shrink=0.85, extend="max")
    return ax


@plot
def plot_convergence(
    histories: Mapping[str, ArrayLike],
    *,
    ax: Axes | None = None,
    tol: float | None = None,
    title: str | None = None,
) -> Axes:
    """Plot the residuals of solvers against their iterations.

    Parameters
    ----------
    histories : dict of str to array-like
        Residuals after every iteration by the name of the curve, such as ``history_["residual"]``
        of an estimator. Zeros cannot be shown and are omitted.
    tol : float, optional
        Tolerance of the solvers, shown as a horizontal line.
    """
    if not isinstance(histories, Mapping) or not histories:
        raise ValueError('residuals need names: pass {"name": model.history_["residual"]}')
    ax = new_figure() if ax is None else ax
    for (name, residual), style in zip(histories.items(), styles(), strict=False):
        residual = np.asarray(residual, dtype=float)
        residual = np.where(residual > 0, residual, np.nan)
        steps = np.arange(1, len(residual) + 1)
        ax.plot(steps, residual, label=name, markevery=max(1, len(steps) // 8), **style)
    if tol is not None:
        ax.axhline(tol, color=COLORS[-1], linestyle=":", linewidth=1, label=f"tol {tol:g}")
    ax.set_yscale("log")
    ax.set(xlabel="iteration", ylabel="residual", title=title)
    ax.legend(fontsize="small")
    return ax


@plot
def plot_embedding(
    embedding: ArrayLike,
    labels: ArrayLike,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    groups: Groups = "found",
    method: Literal["principal", "umap"] = "principal",
) -> Axes:
    """Plot samples in the first two principal directions of their embedding, or by UMAP.

    Parameters
    ----------
    embedding : ndarray of shape (n, k)
        Embedding, such as ``embedding_`` of an estimator.
    labels : array-like of shape (n,)
        Group of each sample, shown by colour and marker, with a legend for at most 15 groups.
    groups : str, default="found"
        "true" or "found", shown in the labels of the axes.
    method : {"principal", "umap"}, default="principal"
        "umap" plots the layout of umap-learn, which must be installed. Its distances between groups
        have no meaning.

    Raises
    ------
    ValueError
        If the matrix has a wrong shape, or the labels do not match its rows.
    """
    ax = new_figure() if ax is None else ax
    embedding = check_array(embedding, input_name="embedding")
    labels = _one_label_each(labels, len(embedding))
    if check_option(method, "method", ("principal", "umap")) == "umap":
        umap = import_extra("umap", 'method="umap"', "umap-learn")
        points = umap.UMAP(random_state=0, n_jobs=1).fit_transform(embedding)
        axes = "first UMAP coordinate", "second UMAP coordinate"
    else:
        U, s, _ = np.linalg.svd(embedding - embedding.mean(axis=0), full_matrices=False)
        points = np.zeros((len(embedding), 2))
        points[:, : min(2, len(s))] = (U * s)[:, :2]
        axes = "first direction", "second direction"
    names = np.unique(labels)
    for i, name in enumerate(names):
        marker = MARKERS[(i + i // len(COLORS)) % len(MARKERS)]
        look = {"color": COLORS[i % len(COLORS)], "marker": marker, "label": str(name)}
        ax.scatter(*points[labels == name].T, s=14, alpha=0.7, linewidths=0, **look)
    if len(names) <= NAMED_GROUPS:
        outside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "fontsize": "small"}
        ax.legend(**outside, markerscale=1.6, handletextpad=0.2)
    ax.set(title=title, xlabel=f"{axes[0]} ({groups} groups)", ylabel=axes[1])
    return ax


@plot
def plot_candidates(
    candidates: Mapping[str, NDArray[Any]], *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Plot the predictability of candidate labellings against the number of neighbours.

    Parameters
    ----------
    candidates : dict of ndarray
        ``candidates_`` of a fitted `ConsensusTLRR`.
    """
    ax = new_figure() if ax is None else ax
    sizes, J = candidates["n_neighbors"], candidates["predictability"]
    for kind, marker, color in zip(np.unique(candidates["graph"]), MARKERS, COLORS, strict=False):
        own = candidates["graph"] == kind
        look = {"color": color, "ms": 5, "alpha": 0.7, "label": f"graphs of {kind} rows"}
        ax.plot(sizes[own], J[own], marker, **look)
    fused = candidates["fused"]
    ax.plot(sizes[fused], J[fused], "o", **CIRCLE, label="fused")
    ax.set_xscale("log")
    ax.set_xticks(np.unique(sizes), [str(d) for d in np.unique(sizes)])
    ax.minorticks_off()
    ax.set(xlabel="neighbors per sample", ylabel="predictability of the labels", title=title)
    ax.legend(fontsize="small")
    return ax


def add_scale(ax, image, **options):
    """Add a colour bar, without seams between its colours in vector graphics."""
    bar = ax.figure.colorbar(image, ax=ax, **options)
    bar.solids.set_edgecolor("face")
    return bar


def _typical_large(image):
    """Upper end of the colour scale, which a few entries of most rows reach.

    With the maximum, a few large entries would leave the rest black. With a quantile of all
    positive entries, many small ones would hide the structure.
    """
    rank = min(5, len(image) - 1)
    off_diagonal = image.astype(float)
    np.fill_diagonal(off_diagonal, 0.0)
    top = np.median(np.sort(off_diagonal, axis=1)[:, -rank]) if rank else 0.0
    positive = off_diagonal[off_diagonal > 0]
    if top <= 0 and positive.size:  # fewer neighbours
        top = np.quantile(positive, 0.98)
    return top if top > 0 else 1.0


def styles():
    """Yield distinct keyword arguments for successive curves."""
    for i in range(len(COLORS) * len(MARKERS)):
        yield {
            "color": COLORS[i % len(COLORS)],
            "marker": MARKERS[i % len(MARKERS)],
            "linestyle": ("-", "--", "-.")[i // len(COLORS) % 3],
            "markersize": 4,
            "linewidth": 1.3,
        }


def plotted_rows(labels):
    """Indices of the samples that a plot shows, sorted by label."""
    order = np.argsort(labels, kind="stable")
    return order[:: -(-len(order) // PLOTTED_ROWS)]


def _one_label_each(labels, n_samples):
    labels = np.asarray(labels)
    if labels.shape != (n_samples,):
        raise ValueError(f"labels have shape {labels.shape}, expected ({n_samples},)")
    return labels
