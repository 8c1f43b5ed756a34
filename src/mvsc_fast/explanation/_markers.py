"""Markers: the features that distinguish each cluster from all other samples."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
from sklearn.utils import gen_batches

from .._utils.figures import add_scale, name_ticks, new_figure
from .._utils.parameters import check_integer, check_type
from .._utils.parts import Table
from .._utils.types import Estimator, Views
from ..views._rows import dense
from ._bind import bind_views

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ENTRIES = 2**22  # of a view that are dense at once
MAX_EFFECT = 4.0  # at the end of the colour scale
MAX_DRAWN = 24  # rows of the heat map, whose names do not overlap in a figure with other pictures


def markers(model: Estimator, views: Views, *, n_top: int | None = 10) -> Table:
    """Compare the mean of each feature in each cluster with all other clustered samples.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one.
    views : list or dict of array-like of shape (n_samples, n_features_i)
        The views on which the model, or the pipeline, was fitted, in any form that `fit` accepts.
        The features of a pipeline are those of its last step, with the names that the other steps
        give them. If the fit used a subsample (``samples_``), only these samples are compared.
        Missing cells are left out, and so are samples that lack a view.
    n_top : int or None, default=10
        The table has the features that are among the first ``n_top`` of their view in any cluster.
        None keeps all features.

    Returns
    -------
    Table
        A row for each cluster and feature, sorted by cluster and then by the size of the effect,
        with the columns

        * ``cluster``, ``view``, ``feature``: the feature's name, or its index;
        * ``mean``, ``overall``: mean in the cluster, and in all samples, in the units of the view;
          of a column of 0 and 1 that is a share, and of counts of words how often a word occurs;
        * ``effect``: standardised difference of means (Cohen's d with the pooled standard
          deviation) from all other clusters, NaN if it is unknown.

        ``to_frame()`` returns a data frame.

    Raises
    ------
    ValueError
        If the views are not those of `fit`, or there is only one cluster.

    Notes
    -----
    Effects rank features and are no tests: the clusters were found from the same features, so
    clusters of pure noise have effects as well.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> from mvsc_fast.explanation import markers
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = ConsensusTLRR(3, random_state=0).fit(views)
    >>> list(markers(model, views))
    ['cluster', 'view', 'feature', 'mean', 'overall', 'effect']
    """
    n_top = None if n_top is None else check_integer(n_top, "n_top", 1)
    fit = bind_views(model, views)
    if fit.views is None:
        raise ValueError("markers are features: pass the views of fit, not similarities")
    if len(fit.clusters) < 2:
        raise ValueError("there is only one cluster: it cannot be compared")
    return find_markers(fit, n_top)


def find_markers(fit, n_top):
    """The table of `markers` for a `BoundModel`."""
    # Statistics of all features, side by side.
    c, blocks = len(fit.clusters), []
    for X, has in zip(fit.views, fit.present, strict=True):
        X, codes, n = X[has], fit.codes[has], has.sum()
        X = X.tocsc() if scipy.sparse.issparse(X) else X
        member = scipy.sparse.csr_array((np.ones(n), (codes, np.arange(n))), shape=(c, n))
        for part in gen_batches(X.shape[1], max(1, MAX_ENTRIES // max(1, n))):
            blocks.append(_compare(dense(X[:, part]), member))
    mean, overall, effect = (np.hstack(parts) for parts in zip(*blocks, strict=True))

    # The first features of each view in any cluster, in the order of each cluster.
    view = np.repeat(np.arange(len(fit.views)), [len(names) for names in fit.columns])
    ranked = np.argsort(-np.nan_to_num(np.abs(effect)), axis=1, kind="stable")
    if n_top is not None:
        best = [row[view[row] == i][:n_top] for row in ranked for i in range(len(fit.views))]
        ranked = ranked[np.isin(ranked, np.concatenate(best))].reshape(c, -1)
    cluster, feature = np.repeat(np.arange(c), ranked.shape[1]), ranked.ravel()
    names = {"view": np.fromiter(fit.names, dtype=object)[view]}
    names["feature"] = np.fromiter(chain(*fit.columns), dtype=object)
    numbers = {"mean": mean, "overall": overall, "effect": effect}
    columns = {name: column[feature] for name, column in names.items()}
    columns |= {name: column[cluster, feature] for name, column in numbers.items()}
    return Table({"cluster": fit.clusters[cluster], **columns})


def _compare(X, member):
    """Means of each cluster and of all samples, and effects, each of shape (c, d)."""
    # Numbers of known cells, and a unit in which squares neither overflow nor underflow.
    X = X.astype(np.float64)
    is_known = ~np.isnan(X)
    sizes = member @ is_known.astype(np.float64)
    n, unit = sizes.sum(axis=0), np.nanmax(np.abs(X), axis=0, initial=0)
    unit[unit == 0] = 1

    # The mean of the other clusters is -mean * sizes / (n - sizes), because that of all is 0 now.
    with np.errstate(all="ignore"):  # what is unknown is NaN
        overall = np.where(is_known, X / unit, 0).sum(axis=0) / n
        X = np.where(is_known, X / unit - overall, 0)
        mean = member @ X / sizes
        within = (X**2).sum(axis=0) - mean**2 * sizes * n / (n - sizes)
        within[within < 1e-12 * (X**2).sum(axis=0)] = 0  # zero but for rounding
        effect = mean * n / (n - sizes) / np.sqrt(within / (n - 2))
    effect[:, (np.abs(X) < 1e-12).all(axis=0)] = 0  # constant but for rounding
    effect[(sizes == 0) | (sizes == n)] = np.nan
    mean = np.where(np.abs(mean + overall) < 1e-14, 0, mean + overall)  # zero but for rounding
    overall = np.where(np.abs(overall) < 1e-9, 0, overall)  # standardised
    return mean * unit, np.broadcast_to(overall * unit, mean.shape), effect


def plot_markers(table: Table, *, n_top: int = 5, ax: Axes | None = None) -> Axes:
    """Plot the effects of the first markers of each cluster as a heat map.

    Parameters
    ----------
    table : Table
        Result of `markers`, or ``markers`` of an `Explanation`.
    n_top : int, default=5
        Markers of each cluster; fewer if there are many clusters.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_type(table, "table", Table)
    clusters, codes = np.unique(table["cluster"], return_inverse=True)
    n_top = min(check_integer(n_top, "n_top", 1), MAX_DRAWN // len(clusters) or 1)
    pairs = zip(table["view"], table["feature"], strict=True)
    names = np.array([f"{feature} ({view})" for view, feature in pairs], dtype=object)
    # A row for each of the first features of any cluster, with the effects in all clusters.
    first = dict.fromkeys(name for k in range(len(clusters)) for name in names[codes == k][:n_top])
    rows = {name: np.full(len(clusters), np.nan) for name in first}
    for name, k, effect in zip(names, codes, table["effect"], strict=True):
        if name in rows:
            rows[name][k] = effect
    image = np.array(list(rows.values()))
    ax = new_figure(5.2, max(2.6, 1.4 + 0.18 * len(rows))) if ax is None else ax
    limits = {"vmin": -MAX_EFFECT, "vmax": MAX_EFFECT, "aspect": "auto"}
    picture = ax.imshow(image.clip(-MAX_EFFECT, MAX_EFFECT), cmap="RdBu_r", **limits)
    name_ticks(ax.xaxis, clusters)
    name_ticks(ax.yaxis, [name[:40] for name in rows], MAX_DRAWN)
    ax.set(xlabel="cluster")
    add_scale(ax, picture, shrink=0.5, extend="both").set_label("standardised difference")
    return ax
