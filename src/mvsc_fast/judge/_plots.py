"""Plots of the evidence for numbers of clusters, for resolutions and for structure."""

import numpy as np

from .._utils.figures import CIRCLE, COLORS, legend_below, new_figure, styles


def plot_counts(x, curves, ax=None):
    """Plot curves of numbers of clusters or resolutions, with circles at those they support.

    Parameters
    ----------
    x : ndarray of shape (k,)
    curves : dict of (ndarray of shape (k,), tuple, str)
        By their names, the values of each curve, the numbers in ``x`` that are circled, and what
        these numbers are.
    """
    ax = new_figure(5.2, 3.4) if ax is None else ax
    for (name, (values, marked, meaning)), style in zip(curves.items(), styles(), strict=False):
        ax.plot(x, values, label=name, **(style | {"markersize": 2.5}))
        if marked:
            rows = np.searchsorted(x, marked)
            label = f"{meaning}: {', '.join(map(str, marked))}"
            look = {**CIRCLE, "color": style["color"], "label": label}
            ax.plot(x[rows], values[rows], "o", **look)
    ax.set(ylabel="1 is best")
    legend_below(ax)
    return ax


def plot_structure(test, ax=None):
    """Plot the modularity of the samples beside that of their copies, a row for each test."""
    ax = new_figure() if ax is None else ax
    tests = {"all views": test, **test.each}
    # Copies as points, the samples as a diamond, each named once.
    for row, result in enumerate(tests.values()):
        height = row + np.linspace(-0.2, 0.2, len(result.null))
        ax.plot(result.null, height, ".", color=COLORS[0], label="" if row else "copies")
        if not result.permuted:
            limit = result.thresholds.max()
            label = "limit of noise" if row == bool(test.permuted) else ""
            ax.plot(limit, row, "|", ms=18, color=COLORS[0], label=label)
        ax.plot(result.observed, row, "D", color=COLORS[3], label="" if row else "samples")
    names = [name if isinstance(name, str) else f"view {name}" for name in tests]
    p_values = [f"p = {result.p_value:.2g}" for result in tests.values()]
    ax.set_yticks(range(len(tests)), list(map("\n".join, zip(names, p_values, strict=True))))
    ax.set(xlabel="modularity of the best labellings", ylim=(len(tests) - 0.4, -0.6))
    ax.margins(x=0.1)
    legend_below(ax)
    return ax
