"""Markers: the features that distinguish each cluster from all other samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
from scipy.stats import false_discovery_control, norm, rankdata
from sklearn.utils import gen_batches

from .._utils.parameters import check_integer
from .._utils.types import Estimator, Views
from ..views._rows import dense, presence
from ._fitted import fitted_with
from ._plots import add_scale, new_figure, plot
from ._table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENTRIES = 2**22  # number of entries of a view that are ranked at once
PRINTED = 3  # rows for each cluster
MOST_ROWS = 40  # of the heat map
LONG_NAME = 28  # letters
LARGEST = 4.0  # effect at the end of the colour scale
NO_TEST = (
    "The clusters were found from the same features: p and q rank features, and are not "
    "significance tests."
)


def markers(model: Estimator, views: Views, *, n_top: int | None = 10) -> Table:
    """Compare each feature in each cluster with the same feature in all other clustered samples.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one.
    views : list or dict of array-like of shape (n_samples, n_features_i)
        The views on which the model, or the pipeline, was fitted, in any form that `fit` accepts.
        The features of a pipeline are those of its last step, with the names that the other steps
        give them. If the fit used a subsample (``samples_``), only these samples are compared.
        Samples that lack a view are ignored in it.
    n_top : int or None, default=10
        The table has the features that are among the first ``n_top`` of their view in any cluster.
        None keeps all features.

    Returns
    -------
    Table
        A row for each cluster and feature, sorted by cluster and then by significance, with the
        columns

        * ``cluster``, ``view``, ``feature``: the feature's name, or its index;
        * ``effect``: standardised difference of means (Cohen's d with the pooled standard
          deviation), positive if the feature is larger in the cluster;
        * ``auc``: the probability that a sample of the cluster has a larger value than a sample of
          another one (ties count one half), the area under the ROC curve;
        * ``p``: two-sided Mann-Whitney test by its normal approximation, corrected for ties;
        * ``q``: p corrected for the number of all clusters and features by the method of Benjamini
          & Hochberg (1995).

        Values that cannot be computed are NaN. Printing it shows three rows for each cluster, and
        ``to_frame()`` returns a data frame.

    Raises
    ------
    ValueError
        If the views are not those of `fit`, or there is only one cluster.

    Notes
    -----
    **p and q rank features; they are not valid tests.** The clusters were found from the same
    features, so even clusters of pure noise have features with small p. Test on other data, such as
    features that the model was not fitted on.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> from mvsc_fast.explanation import markers
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = ConsensusTLRR(3, random_state=0).fit(views)
    >>> list(markers(model, views))
    ['cluster', 'view', 'feature', 'effect', 'auc', 'p', 'q']
    """
    n_top = None if n_top is None else check_integer(n_top, "n_top", 1)
    return markers_of(fitted_with(model, views), n_top)


def markers_of(fit, n_top=None):
    """The table of `markers` for a `Fitted`."""
    if fit.views is None:
        raise ValueError("markers are features: pass the views of fit, not similarities")
    clusters, labels = np.unique(fit.labels[fit.samples], return_inverse=True)
    c = len(clusters)
    if c < 2:
        raise ValueError("there is only one cluster: it cannot be compared")
    present = presence(fit.views)
    parts = []
    for i, X in enumerate(fit.views):
        has = slice(None) if present is None else present[i]
        parts += _compared(X[has], labels[has], c)
    effect, auc, z = (np.hstack(part).ravel() for part in zip(*parts, strict=True))
    p = np.minimum(2 * norm.sf(z), 1)
    q = np.full_like(p, np.nan)
    q[~np.isnan(p)] = false_discovery_control(p[~np.isnan(p)])
    features = [feature for columns in fit.columns for feature in columns]
    of_view = np.repeat(np.arange(len(fit.views)), [len(columns) for columns in fit.columns])
    columns = {
        "cluster": np.repeat(clusters, len(features)),
        "view": np.tile(np.fromiter(fit.names, dtype=object)[of_view], c),
        "feature": np.tile(np.fromiter(features, dtype=object), c),
        "effect": effect,
        "auc": auc,
        "p": p,
        "q": q,
    }
    cluster = np.repeat(np.arange(c), len(features))
    order = np.lexsort((-np.nan_to_num(np.abs(effect)), -np.nan_to_num(z, nan=-1), cluster))
    order = order.reshape(c, -1)  # the features of each cluster, the best first
    if n_top is not None:
        ranked = order % len(features)
        best = [row[of_view[row] == i][:n_top] for row in ranked for i in range(len(fit.views))]
        order = order[np.isin(ranked, np.concatenate(best))].reshape(c, -1)
    n_rows, order = order.shape[1], order.ravel()
    first = np.arange(c)[:, None] * n_rows + np.arange(min(PRINTED, n_rows))
    return Table({name: column[order] for name, column in columns.items()}, first.ravel(), NO_TEST)


def _compared(X, labels, c):
    """Yield effect, AUC and z of blocks of columns, each of shape (c, d)."""
    n = len(labels)
    member = scipy.sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(c, n))
    X = X.tocsc() if scipy.sparse.issparse(X) else X
    own = np.bincount(labels, minlength=c)[:, None]
    others = n - own
    for columns in gen_batches(X.shape[1], max(1, ENTRIES // max(1, n))):
        block = dense(X[:, columns])
        ranks = rankdata(block, axis=0) - (n + 1) / 2
        constant = (block == block[:1]).all(axis=0)
        # Powers of two, without rounding: squares neither overflow nor underflow.
        block = np.ldexp(block, -np.frexp(np.abs(block).max(axis=0, initial=0))[1])
        with np.errstate(all="ignore"):  # unknown values are NaN
            block -= block.sum(axis=0) / n
            mean = member @ block / own  # the mean of the others is -mean * own / others
            within = (block**2).sum(axis=0) - mean**2 * own * n / others
            effect = mean * n / others / np.sqrt(np.maximum(within, 0) / (n - 2))
            above = member @ ranks  # U minus its mean
            # The sum of squared ranks includes the correction for ties.
            deviation = np.sqrt(own * others / (n * (n - 1.0)) * (ranks**2).sum(axis=0))
            auc = 0.5 + above / (own * others)
            z = np.maximum(np.abs(above) - 0.5, 0) / deviation
        effect[:, constant] = z[:, constant] = 0
        for value in (effect, auc, z):
            value[(own == 0) | (others == 0) | np.isnan(value)] = np.nan
        yield effect, auc, z


@plot
def plot_markers(
    table: Table, *, n_top: int = 5, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Plot the effects of the first markers of each cluster as a heat map.

    Parameters
    ----------
    table : Table
        Result of `markers`.
    n_top : int, default=5
        Markers of each cluster; fewer if there are many clusters.
    """
    clusters, first, column = np.unique(table["cluster"], return_index=True, return_inverse=True)
    n_top = max(1, min(n_top, MOST_ROWS // len(clusters), table.n_rows // len(clusters)))
    names = list(zip(table["view"].tolist(), table["feature"].tolist(), strict=True))
    chosen = dict.fromkeys(names[i] for start in first for i in range(start, start + n_top))
    place = {name: row for row, name in enumerate(chosen)}
    image = np.full((len(place), len(clusters)), np.nan)
    for name, k, effect in zip(names, column, table["effect"], strict=True):
        if name in place:
            image[place[name], k] = effect
    ax = new_figure(4.8, max(2.6, 1.4 + 0.18 * len(place))) if ax is None else ax
    known = np.abs(image[np.isfinite(image)])
    top = min(max(known.max(initial=0), 1e-9), LARGEST)
    shown = ax.imshow(image, cmap="RdBu_r", vmin=-top, vmax=top, aspect="auto")
    ax.set_xticks(np.arange(len(clusters)), [str(name) for name in clusters])
    texts = [_short(str(feature), view).replace("$", r"\$") for view, feature in place]
    ax.set_yticks(np.arange(len(place)), texts, fontsize="small")
    ax.set(title=title, xlabel="cluster")
    add_scale(ax, shown, shrink=0.5, extend="both").set_label(
        "standardised difference", fontsize="small"
    )
    return ax


def _short(feature, view):
    """A feature and its view, or the feature alone if both are too long."""
    both = f"{feature} ({view})"
    if len(both) <= LONG_NAME:
        return both
    return feature if len(feature) <= LONG_NAME else f"{feature[: LONG_NAME - 3]}..."
