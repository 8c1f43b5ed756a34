"""Pictures of similarities; needs matplotlib (``pip install mvsc-fast[plot]``)."""

from pathlib import Path

import numpy as np
import scipy.sparse

__all__ = ["check_picture", "plot_neighbors_path", "plot_similarity"]

MAX_SAMPLES = 2000  # rows of a picture; more would not be seen


def _figure(*args, **kwargs):
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install mvsc-fast[plot]") from error
    return Figure(*args, **kwargs)


def check_picture(path):
    """Raise if no picture can be saved there: without matplotlib, or in a format it does not know.

    Parameters
    ----------
    path : str or Path
    """
    figure = _figure()
    known = figure.canvas.get_supported_filetypes()
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in known:
        raise ValueError(
            f"{path}: pictures are saved as {', '.join(sorted(known))}, not {suffix!r}"
        )


def plot_similarity(before, after, labels, *, titles=("similarity W", "affinity after TLRR")):
    """Two affinity matrices side by side, samples sorted by label.

    Parameters
    ----------
    before, after : ndarray or sparse array of shape (n, n)
    labels : array-like of shape (n,)
        Samples of one label stand together; lines mark the borders. Of more than 2000 samples every
        k-th in this order is drawn.
    titles : pair of str

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig(path)``.
    """
    order = np.argsort(labels, kind="stable")
    order = order[:: -(-len(order) // MAX_SAMPLES)]
    borders = np.flatnonzero(np.diff(np.asarray(labels)[order])) + 0.5
    figure = _figure(figsize=(11, 5.2), layout="constrained")
    for axes, S, title in zip(figure.subplots(1, 2), (before, after), titles, strict=True):
        image = S[order][:, order]
        image = image.toarray() if scipy.sparse.issparse(image) else image
        off_diagonal = image[~np.eye(len(image), dtype=bool)]
        # A few large entries would leave the rest black.
        positive = off_diagonal[off_diagonal > 0]
        top = np.quantile(positive, 0.98) if positive.size else 1.0
        shown = axes.imshow(image, cmap="magma", vmin=0, vmax=top, interpolation="antialiased")
        for border in borders:
            axes.axhline(border, color="white", linewidth=0.4, alpha=0.6)
            axes.axvline(border, color="white", linewidth=0.4, alpha=0.6)
        axes.set(title=title, xlabel="sample, sorted by group", ylabel="sample, sorted by group")
        figure.colorbar(shown, ax=axes, shrink=0.85, extend="max")
    return figure


def plot_neighbors_path(path):
    """Predictability of labels against the number of neighbours, the choice marked.

    Parameters
    ----------
    path : NeighborsPath
        ``path_`` of a fitted TLRR.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = _figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for kind, color in (("c", "#4c3a8c"), ("2c", "#2a9d8f")):
        shown = path.embedding == kind
        axes.plot(path.n_neighbors[shown], path.predictability[shown], "o-", color=color,
                  label=f"{kind} eigenvectors")  # fmt: skip
    axes.plot(path.n_neighbors[path.best], path.predictability[path.best], "o", ms=12, mfc="none",
              color="#d1495b", label=f"chosen: {path.n_neighbors[path.best]}")  # fmt: skip
    sizes = np.unique(path.n_neighbors)
    axes.set_xscale("log")
    axes.set_xticks(sizes, [str(d) for d in sizes])
    axes.minorticks_off()
    axes.set(xlabel="neighbors per sample", ylabel="predictability of the labels",
             title="choice of the neighborhood size")  # fmt: skip
    axes.legend()
    return figure
