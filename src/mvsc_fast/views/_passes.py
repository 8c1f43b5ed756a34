"""Passes over a row source: one draws samples, one labels the others.

The result for a block depends on its rows alone, so no result depends on how samples are divided
into blocks or among processes.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._utils.messages import warn_user
from ._columns import count_values, warn_of_columns
from ._facts import summarised, warn_of_zero_rows, warn_of_zeros
from ._lift import Lift, lifted
from ._missing import filled, mean_row
from ._rows import (
    canonical_order,
    dense,
    direction_sums,
    presence,
    row_hashes,
    row_keys,
    sorted_rows,
    spread,
)
from ._scaling import ColumnScaling, fit_scalings, scaled
from ._view_rows import nonzero_columns

MIN_PRESENT = 2  # minimum number of drawn samples that have a view
MAX_DENSITY = 0.1  # of an array that is stored as a sparse matrix
# A view has continuous columns if there are ten values in each; this is of use in few columns.
MIN_VALUES, VALUE_SAMPLES, MAX_CONTINUOUS_COLUMNS = 10, 1000, 100


class DrawnView(NamedTuple):
    """One view of the samples that were drawn, in canonical order.

    Attributes
    ----------
    position : int
        Its index in the source.
    name : object
    columns : list of str or None
        Names of its columns before it was lifted.
    rows : ndarray or csr_matrix of shape (m, d)
        Scaled and lifted. Missing cells are filled, missing rows are NaN.
    present : ndarray of shape (m,) of bool
        Which of the samples have the view.
    mean_row : ndarray of shape (d,)
        The scaled row from which missing cells are filled, see `filled`.
    nonnegative : bool
        Whether all samples, drawn or not, are non-negative, and the view is not lifted.
    is_continuous : bool
        Whether the view has few columns that are not zero, each with many different values.
    scaling, lift : ColumnScaling or None, Lift or None
    """

    position: int
    name: Any
    columns: list[str] | None
    rows: Any
    present: np.ndarray
    mean_row: np.ndarray
    nonnegative: bool
    is_continuous: bool
    scaling: ColumnScaling | None
    lift: Lift | None

    @property
    def observed(self):
        """The rows of the samples that have the view."""
        return self.rows if self.present.all() else self.rows[self.present]


class Drawn(NamedTuple):
    """Samples that were drawn, in canonical order, and what was learned of all samples.

    Attributes
    ----------
    samples, lost : ndarray of int
        Indices of the samples, and of those that lack all views.
    views : list of DrawnView
        The views that enough of the samples have.
    keys : ndarray of shape (m,)
        See `row_keys`.
    scalings : list of (ColumnScaling or None)
        Those of all views of the source.
    """

    samples: np.ndarray
    lost: np.ndarray
    views: list[DrawnView]
    keys: np.ndarray
    scalings: list[ColumnScaling | None]

    @property
    def present(self):
        """Which of the samples have each view, of shape (v, m)."""
        return np.array([view.present for view in self.views])


def drawn(source, count, n_clusters, seed, log=None, *, scale=None, lift=True):
    """Draw at most ``count`` samples uniformly in canonical order, and check what was drawn.

    Columns are scaled, see `fit_scalings`, and views lifted, see `find_lift`, unless ``lift`` is
    False. Samples that lack all views are not drawn, and a view that fewer than two of the drawn
    samples have is excluded; a warning names each. Raise ValueError if entries are infinite, more
    than a tenth of the cells of a view are missing, all cells of a column, or too many rows.
    """
    # What all samples say, and whether they can be used
    summary = summarised(source, log)
    warn_of_zeros(summary.zeros)
    warn_of_zero_rows(summary.views, source.titles)
    samples = np.setdiff1d(np.arange(source.n_samples), summary.lost, assume_unique=True)
    if len(samples) < max(n_clusters, 2):
        raise ValueError(
            f"samples that have any view: {len(samples) or 'none'} of {source.n_samples}, but at "
            f"least {max(n_clusters, 2)} are needed"
        )

    # The scaled rows of some samples, with filled cells
    scalings = fit_scalings(source, scale, summary.views)
    if count < len(samples):
        samples = _uniform_sample(source, scalings, samples, count, seed)
    views = list(scaled(source.take(samples), scalings))
    is_centred = [scaling is not None and scaling.centres.any() for scaling in scalings]
    means = [mean_row(X) * (not zero) for X, zero in zip(views, is_centred, strict=True)]
    for i, facts in enumerate(summary.views):
        views[i] = _condensed(filled(views[i], means[i]) if facts.is_partial else views[i])

    # Views that enough of them have
    present = presence(views)
    kept = _frequent(present, source.titles)
    names, columns = [source.names[i] for i in kept], [source.columns[i] for i in kept]

    # Rows of other columns, if their lengths matter
    nonnegative = [summary.views[i].least >= 0 and not is_centred[i] for i in kept]
    views, lifts = [views[i] for i in kept], [None] * len(kept)
    is_continuous = [_is_continuous(X, present[i]) for X, i in zip(views, kept, strict=True)]
    if lift:
        views, lifts = lifted(views, nonnegative)

    # The canonical order, for one view after another
    keys = row_keys(views)
    order = canonical_order(views, keys)
    drawn_views = []
    for k, i in enumerate(kept):
        views[k] = views[k][order]
        view = DrawnView(
            position=i,
            name=names[k],
            columns=columns[k],
            rows=views[k],
            present=present[i][order],
            mean_row=means[i],
            nonnegative=nonnegative[k] and lifts[k] is None,
            is_continuous=is_continuous[k],
            scaling=scalings[i],
            lift=lifts[k],
        )
        drawn_views.append(view)
    if lift:
        warn_of_columns([view.observed for view in drawn_views], names, columns, lifts)
    return Drawn(samples[order], summary.lost, drawn_views, keys[order], scalings)


def _is_continuous(X, is_present):
    """Whether all columns of a view but those of zeros are few, and have many different values."""
    X = X if is_present.all() else X[is_present]
    columns = nonzero_columns(X)
    if len(columns) > MAX_CONTINUOUS_COLUMNS:
        return False
    values = dense(X[spread(X.shape[0], VALUE_SAMPLES)][:, columns])
    return bool(count_values(values).min() >= MIN_VALUES)


def _condensed(X):
    """A wide array of zeros, most of all, as a sparse matrix: all steps take a part of the time."""
    n, d = X.shape
    if scipy.sparse.issparse(X) or d <= n or np.count_nonzero(X) > MAX_DENSITY * n * d:
        return X
    return scipy.sparse.csr_matrix(X)


def _uniform_sample(source, scalings, samples, count, seed):
    """Some samples, ascending, drawn in an order that depends on their scaled rows alone."""
    # The draw is made in an order by content, so that the order of rows changes no result.
    sums = source.sum(_of_scaled, direction_sums, scalings)
    keys = np.asarray(source.per_row(_of_scaled, np.float64, row_keys, scalings, sums))
    order = sorted_rows(
        keys, lambda: np.asarray(source.per_row(_of_scaled, np.uint64, row_hashes, scalings))
    )
    order = order[np.isin(order, samples)]
    ranks = np.random.RandomState(seed).choice(len(order), count, replace=False)
    return np.sort(order[ranks])


def _of_scaled(first, views, function, scalings, *args):
    """A function of the scaled rows of one block."""
    return function(scaled(views, scalings), *args)


def _frequent(present, titles):
    """Indices of the views that enough samples have."""
    counts = present.sum(axis=1)
    rare = np.flatnonzero(counts < MIN_PRESENT)
    if len(rare):
        excluded = ", ".join(f"{titles[i]} ({counts[i]})" for i in rare)
        warn_user(
            f"excluded, because fewer than {MIN_PRESENT} of the {present.shape[1]} clustered "
            f"samples have it: {excluded}. To use such a view, cluster the samples that have it"
        )
    return np.flatnonzero(counts >= MIN_PRESENT).tolist()


def label_rows(source, predict, samples, labels):
    """Labels of all rows of a source, which were checked, given those of some samples.

    ``predict(views)`` computes labels of rows, each from its row alone, and -1 for rows without
    any view; ``samples`` ascend.
    """
    if len(samples) == source.n_samples:
        return source.labels_like(labels)
    return source.per_row(_labelled, labels.dtype, predict, samples, labels)


def _labelled(first, views, predict, samples, labels):
    """Labels of one block: samples with labels keep them, and others are predicted."""
    n = views[0].shape[0]
    low, high = np.searchsorted(samples, [first, first + n])
    out, is_unlabelled = np.empty(n, dtype=labels.dtype), np.ones(n, dtype=bool)
    positions = samples[low:high] - first
    out[positions], is_unlabelled[positions] = labels[low:high], False
    if is_unlabelled.any():
        out[is_unlabelled] = predict([X[is_unlabelled] for X in views])
    return out
