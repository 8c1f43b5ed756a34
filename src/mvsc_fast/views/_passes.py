"""Passes over a row source: one computes a summary of all samples, one their labels.

The result for a block depends on its rows alone, so no result depends on how samples are divided
into blocks or among processes.
"""

from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np
import scipy.sparse

from .._utils.messages import counted, warn_user
from .._utils.validation import check_clusters
from ._frames import shown
from ._missing import Gaps, check_gaps, filled, gaps, mean_row, warn_of_gaps
from ._rows import missing_rows, presence, row_hashes, row_keys, sorted_rows

LEAST_PRESENT = 2  # minimum number of drawn samples that have a view


@dataclass
class Summary:
    """Summary of the samples of a block; summaries of consecutive blocks are added.

    Attributes
    ----------
    keys : list of ndarray
        Keys of the samples of each block (`row_keys`).
    lost : list of ndarray of int
        Indices of the samples of each block that lack all views.
    least : ndarray of shape (v,)
        Smallest entry of each view.
    gaps : list of Gaps
    known : list of ndarray of shape (d_i,) of bool
        Whether each column of each view has a value.
    bad : tuple of (view, row, column, value), or None
        The first entry that cannot be used.
    """

    keys: list
    lost: list
    least: np.ndarray
    gaps: list
    known: list
    bad: tuple | None = None

    def __add__(self, other):
        bad = min((part.bad for part in (self, other) if part.bad), default=None)
        if bad is not None:
            return Summary([], [], self.least, [], [], bad)
        return Summary(
            self.keys + other.keys,
            self.lost + other.lost,
            np.minimum(self.least, other.least),
            [a.joined(b) for a, b in zip(self.gaps, other.gaps, strict=True)],
            [a | b for a, b in zip(self.known, other.known, strict=True)],
        )


def summarised(source):
    """The `Summary` of all samples; its ``keys`` and ``lost`` are one array.

    Parameters
    ----------
    source : RowSource

    Raises
    ------
    ValueError
        If an entry is infinite; the message contains the position of the first.
    """
    summary = source.sum(_summary)
    if summary.bad is not None:
        raise ValueError(_complaint(summary.bad, source.titles, source.columns))
    summary.keys, summary.lost = np.concatenate(summary.keys), np.concatenate(summary.lost)
    return summary


def _summary(first, views):
    """The `Summary` of one block."""
    bad = _first_bad(first, views)
    if bad is not None:
        return Summary([], [], np.zeros(len(views)), [], [], bad)
    found = [gaps(X) for X in views]
    return Summary(
        [row_keys(views)],
        [first + np.flatnonzero(lacking_all(views))],
        _least(views),
        found,
        [
            ~np.isnan(X).all(axis=0) if gap.partial or gap.rows else np.ones(X.shape[1], dtype=bool)
            for X, gap in zip(views, found, strict=True)
        ],
    )


def _least(views):
    """Smallest entry of each view, of shape (v,)."""
    return np.array(
        [
            X.min() if scipy.sparse.issparse(X) else np.fmin.reduce(X, axis=None, initial=np.inf)
            for X in views
        ],
        dtype=np.float64,
    )


def lacking_all(views):
    """Mask of the samples that lack all of the views."""
    lost = missing_rows(views[0])
    for X in views[1:]:
        if lost.any():
            lost[lost] = missing_rows(X[lost])
    return lost


class Drawn(NamedTuple):
    """Samples that were drawn, in canonical order, and what was learned of all samples.

    Attributes
    ----------
    samples : ndarray of shape (m,) of int
        Their indices.
    lost : ndarray of int
        Indices of the samples that lack all views.
    kept : list of int
        Indices of the views that enough of the drawn samples have.
    views : list of ndarray or csr_matrix of shape (m, d_i)
        Rows of these views; missing cells are filled, missing rows are NaN.
    mean_rows : list of ndarray of shape (d_i,)
        Mean rows of these views, see `filled`.
    nonnegative : list of bool
        Whether each of these views is non-negative in all samples, drawn or not.
    """

    samples: np.ndarray
    lost: np.ndarray
    kept: list
    views: list
    mean_rows: list
    nonnegative: list


def drawn(source, count, n_clusters, seed, log=None):
    """Draw at most ``count`` samples uniformly in canonical order, and check what was drawn.

    Samples that lack all views are not drawn, and a view that fewer than two of the drawn samples
    have is excluded; a warning names each.

    Parameters
    ----------
    source : RowSource
    count : int
    n_clusters : int
        Minimum number of samples to be drawn.
    seed : int
    log : callable, optional
        See `warn_of_gaps`.

    Returns
    -------
    Drawn

    Raises
    ------
    ValueError
        If entries are infinite, more than a tenth of the cells of a view are missing, all cells of
        a column, or too many rows.
    """
    summary = summarised(source)
    check_gaps(summary.gaps, source.titles)
    for known, title, columns in zip(summary.known, source.titles, source.columns, strict=True):
        if known.any() and not known.all():
            j = int(np.argmin(known))
            which = j if columns is None else columns[j]
            raise ValueError(f"{title} has no values in column {which!r}: remove it")
    warn_of_gaps(summary.gaps, source.titles, log)
    samples = _canonical(source, summary)
    check_clusters(max(n_clusters, 2), len(samples))
    if count < len(samples):
        ranks = np.random.RandomState(seed).choice(len(samples), count, replace=False)
        samples = samples[np.sort(ranks)]
    views = source.take(samples)
    means = [mean_row(X) for X in views]
    views = [filled(X, mean) for X, mean in zip(views, means, strict=True)]
    kept = _frequent(views, source.titles)
    return Drawn(
        samples,
        summary.lost,
        kept,
        [views[i] for i in kept],
        [means[i] for i in kept],
        [bool(summary.least[i] >= 0) for i in kept],
    )


def _canonical(source, summary):
    """Indices of all samples with a view, in canonical order."""
    order = sorted_rows(summary.keys, lambda: np.asarray(source.per_row(_hashes, np.uint64)))
    return order if len(summary.lost) == 0 else order[~np.isin(order, summary.lost)]


def _hashes(first, views):
    return row_hashes(views)


def _frequent(views, titles):
    """Indices of the views that enough samples have."""
    present = presence(views)
    if present is None:
        return list(range(len(views)))
    counts = present.sum(axis=1)
    rare = np.flatnonzero(counts < LEAST_PRESENT)
    if len(rare):
        found = ", ".join(f"{titles[i]} ({counts[i]})" for i in rare)
        warn_user(
            f"excluded, because fewer than {LEAST_PRESENT} of the {present.shape[1]} clustered "
            f"samples have it: {found}. To use such a view, cluster the samples that have it"
        )
    return np.flatnonzero(counts >= LEAST_PRESENT).tolist()


def warn_of_lost(rows):
    """Warn of samples that cannot be labelled."""
    if len(rows):
        warn_user(
            f"without any of the views that are used: {counted(len(rows), 'sample')} (rows "
            f"{shown(*rows)}), with the label -1"
        )


class Notes(NamedTuple):
    """What a prediction has to report of the rows of a block, or of several."""

    gaps: list
    least: np.ndarray

    def __add__(self, other):
        joined = [a.joined(b) for a, b in zip(self.gaps, other.gaps, strict=True)]
        return Notes(joined, np.minimum(self.least, other.least))


def labels_of(source, predict, samples, labels, notes=None):
    """Labels of all rows of a source, given the labels of some samples.

    Parameters
    ----------
    source : RowSource
    predict : callable
        Function that computes the labels of rows from their views, each from its row alone.
    samples : ndarray of shape (m,), int, ascending
    labels : ndarray of shape (m,), int
    notes : list, optional
        Receives the `Notes` of each block, unless rows are read by other processes.

    Returns
    -------
    ndarray, or dask array if the views are Dask arrays, of shape (n,)
        -1 for rows without any view.
    """
    given = (predict, samples, labels, source.titles, source.columns, notes)
    return source.per_row(_labelled, labels.dtype, *given)


def _labelled(first, views, predict, samples, labels, titles, columns, notes):
    """Labels of one block."""
    n = views[0].shape[0]
    ends = [(np.nan,) if scipy.sparse.issparse(X) else (X.min(), X.max()) for X in views]
    rest = np.ones(n, dtype=bool)
    if all(isfinite(end) for pair in ends for end in pair):  # as nearly always: one pass is enough
        found, least = [Gaps(*X.shape) for X in views], np.array([low for low, _ in ends])
    else:
        check_entries(first, views, titles, columns)
        found, least, rest = [gaps(X) for X in views], _least(views), ~lacking_all(views)
    if notes is not None:
        notes.append(Notes(found, least))
    low, high = np.searchsorted(samples, [first, first + n])
    out = np.full(n, -1, dtype=labels.dtype)
    known = samples[low:high] - first
    out[known] = labels[low:high]
    rest[known] = False
    if rest.all():
        return predict(views)
    if rest.any():
        out[rest] = predict([X[rest] for X in views])
    return out


def check_entries(first, views, titles, columns):
    """Raise ValueError with the first entry of a block that cannot be used."""
    bad = _first_bad(first, views)
    if bad is not None:
        raise ValueError(_complaint(bad, titles, columns))


def _first_bad(first, views):
    """The tuple (view, row, column, value) of the first entry that cannot be used, or None.

    NaN is allowed, except in sparse views.
    """
    for i, X in enumerate(views):
        sparse = scipy.sparse.issparse(X)
        values = X.data if sparse else X
        if values.size == 0 or np.isfinite([values.max(), values.min()]).all():
            continue
        bad = ~np.isfinite(values) if sparse else np.isinf(values)
        if not bad.any():
            continue
        place = int(np.argmax(bad))
        if sparse:
            row, column = int(np.searchsorted(X.indptr, place, "right")) - 1, int(X.indices[place])
        else:
            row, column = divmod(place, X.shape[1])
        return i, first + row, column, float(values.flat[place])
    return None


def _complaint(bad, titles, columns):
    view, row, column, value = bad
    which = column if columns[view] is None else repr(columns[view][column])
    return (
        f"{titles[view]} has {value:.3g} in row {row}, column {which}: impute or remove such "
        "samples first"
    )
