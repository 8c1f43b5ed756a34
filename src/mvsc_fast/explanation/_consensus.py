"""Plots of the agreement of labellings, for one and for several numbers of clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..judge import ClusterCounts, Resolutions
from ..judge._n_clusters import pair_shares
from ._plots import CIRCLE, COLORS, new_figure, plot, plot_similarity, plotted_rows, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AMBIGUOUS = (0.1, 0.9)  # shares of the labellings between which a pair is ambiguous


def consensus_of(labellings):
    """Share of the labellings that join each pair of samples, float32."""
    joined = sum(np.equal.outer(one, one).astype(np.float32) for one in labellings)
    return joined / len(labellings)


@plot
def plot_consensus(
    candidates: Mapping[str, NDArray[Any]],
    labels: ArrayLike,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Plot the consensus: the share of the candidate labellings that join each pair of samples.

    Parameters
    ----------
    candidates : dict of ndarray
        ``candidates_`` of a fitted `ConsensusTLRR` with ``store="all"``.
    labels : array-like of shape (m,)
        Label of each clustered sample, by which samples are sorted. If there are more than 2000
        samples, every k-th in this order is shown.
    """
    labels = np.asarray(labels)
    rows = plotted_rows(labels)
    shares = consensus_of(candidates["labels"][:, rows])
    return plot_similarity(shares, labels[rows], ax=ax, title=title)


@plot
def plot_consensus_cdf(
    found: Mapping[str, NDArray[Any]] | ClusterCounts,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Plot the cumulative distribution of the consensus, the share of labellings that join a pair.

    It is flat between 0 and 1 if all labellings are equal. The legend has the share of ambiguous
    pairs, whose consensus is above .1 and below .9 (Senbabaoglu et al. 2014).

    Parameters
    ----------
    found : dict of ndarray or ClusterCounts
        ``candidates_`` of a fitted `ConsensusTLRR` with ``store="all"``, or the result of
        `suggest_n_clusters`: one curve for each of its candidate numbers of clusters.

    References
    ----------
    Monti, Tamayo, Mesirov, Golub: Consensus clustering. Machine Learning 52, 2003.
    Senbabaoglu, Michailidis, Li: Critical limitations of consensus clustering in class discovery.
    Scientific Reports 4, 2014.
    """
    ax = new_figure() if ax is None else ax
    if isinstance(found, ClusterCounts):
        every = dict(zip(found.counts.tolist(), found.joined, strict=True))
        curves = {f"{c} clusters": every[c] for c in sorted(found.candidates)}
    else:
        curves = {f"{len(found['labels'])} labellings": pair_shares(found["labels"])}
    for (name, shares), style in zip(curves.items(), styles(), strict=False):
        consensus = np.linspace(0, 1, len(shares))
        between = (consensus > AMBIGUOUS[0]) & (consensus < AMBIGUOUS[1])
        label = f"{name}, {100 * shares[between].sum():.0f} % ambiguous"
        look = {**style, "marker": "", "label": label}
        ax.step(consensus, np.minimum(np.cumsum(shares), 1), where="post", **look)
    ax.set(xlabel="consensus of a pair of samples", ylabel="share of the pairs", title=title)
    ax.set(ylim=(0, 1.03))
    ax.legend(fontsize="small", loc="lower right")
    return ax


@plot
def plot_delta_area(
    found: ClusterCounts, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Plot how much the area under the consensus distribution grows with the number of clusters.

    The area of k clusters, ``A(k) = 1 - mean consensus``, depends on nothing but their sizes. The
    plot shows A(2), then ``A(k) / A(k') - 1`` for successive numbers k' and k.

    Parameters
    ----------
    found : ClusterCounts
        Result of `suggest_n_clusters`.
    """
    ax = new_figure() if ax is None else ax
    area = 1 - found.joined @ np.linspace(0, 1, found.joined.shape[1])
    growth = np.concatenate([area[:1], np.diff(area) / np.maximum(area[:-1], 1e-9)])
    ax.plot(found.counts, growth, "o-", ms=3, color=COLORS[0])
    ax.axhline(0, color=COLORS[-1], linewidth=0.8)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="number of clusters", ylabel="relative growth of the area", title=title)
    return ax


@plot
def plot_n_clusters(
    found: ClusterCounts | Resolutions, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Plot stability and predictability against the number of clusters, or the resolution.

    The supported numbers or resolutions are circled on the curve of stability, and the candidates
    for the number on the curve of the criterion, which is divided by its maximum 2.

    Parameters
    ----------
    found : ClusterCounts or Resolutions
        Result of `suggest_n_clusters` or `suggest_resolution`.
    """
    ax = new_figure() if ax is None else ax
    if isinstance(found, Resolutions):
        x, supported, criterion = found.resolutions, found.supported, {}
        ticks = [f"{r:g}\n({c})" for r, c in zip(x, found.n_clusters, strict=True)]
        ax.set(xscale="log", xlabel="resolution (number of clusters)")
        ax.set_xticks(x, ticks, minor=False)
        ax.set_xticks([], minor=True)
    else:
        x, supported = found.counts, found.levels
        criterion = {"criterion / 2": (found.criterion / 2, found.candidates, "candidates")}
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of clusters")
    curves = {
        "stability": (found.stability, supported, "supported"),
        **criterion,
        "predictability": (found.predictability, (), ""),
    }
    for (name, (values, marked, what)), style in zip(curves.items(), styles(), strict=False):
        ax.plot(x, values, label=name, **{**style, "markersize": 2.5})
        if marked:
            place = np.searchsorted(x, marked)
            label = f"{what}: {', '.join(map(str, marked))}"
            look = {**CIRCLE, "color": style["color"], "label": label}
            ax.plot(x[place], values[place], "o", **look)
    ax.set(ylabel="1 is best", title=title)
    ax.legend(fontsize="small")
    return ax
