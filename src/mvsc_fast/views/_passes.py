"""Passes over a row source: one computes a summary of all samples, one their labels.

The result for a block depends on its rows alone, so no result depends on how samples are divided
into blocks or among processes.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ._rows import missing_rows, row_keys


@dataclass
class Summary:
    """Summary of the samples of a block; summaries of consecutive blocks are added.

    Attributes
    ----------
    keys : list of list of ndarray
        For each view, keys of the rows of each block (`row_keys`).
    least : ndarray of shape (v,)
        Smallest entry of each view.
    bad : tuple of (view, row, column, value), or None
        The first entry that cannot be used.
    """

    keys: list
    least: np.ndarray
    bad: tuple | None

    def __add__(self, other):
        return Summary(
            [a + b for a, b in zip(self.keys, other.keys, strict=True)],
            np.minimum(self.least, other.least),
            min((part.bad for part in (self, other) if part.bad), default=None),
        )


def summarised(source):
    """The `Summary` of all samples; its ``keys`` are one array for each view.

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
        raise ValueError(_complaint(summary.bad, source.titles))
    summary.keys = [np.concatenate(keys) for keys in summary.keys]
    return summary


def _summary(first, views):
    """The `Summary` of one block."""
    bad = _first_bad(first, views)
    if bad is not None:
        return Summary([[]] * len(views), np.zeros(len(views)), bad)
    least = [
        X.min() if scipy.sparse.issparse(X) else np.fmin.reduce(X, axis=None, initial=np.inf)
        for X in views
    ]
    return Summary([[row_keys(X)] for X in views], np.array(least, dtype=np.float64), None)


def labels_of(source, predict, samples, labels):
    """Labels of all rows of a source, given the labels of some samples.

    Parameters
    ----------
    source : RowSource
    predict : callable
        Function that computes the labels of rows from their views, each from its row alone.
    samples : ndarray of shape (m,), int, ascending
    labels : ndarray of shape (m,), int

    Returns
    -------
    ndarray, or dask array if the views are Dask arrays, of shape (n,)
    """
    given = (predict, samples, labels, source.titles)
    return source.per_row(_labelled, labels.dtype, *given)


def _labelled(first, views, predict, samples, labels, names):
    """Labels of one block."""
    bad = _first_bad(first, views)
    if bad is not None:
        raise ValueError(_complaint(bad, names))
    n = views[0].shape[0]
    low, high = np.searchsorted(samples, [first, first + n])
    out = np.empty(n, dtype=labels.dtype)
    known = samples[low:high] - first
    out[known] = labels[low:high]
    rest = np.delete(np.arange(n), known)
    if len(known):
        views = [X[rest] for X in views]
    if len(rest):
        out[rest] = predict(views)
    return out


def _first_bad(first, views):
    """The tuple (view, row, column, value) of the first entry that cannot be used, or None.

    NaN is allowed, except in sparse views. View -1 means that the row lacks all views.
    """
    lacking = np.ones(views[0].shape[0], dtype=bool)
    for i, X in enumerate(views):
        sparse = scipy.sparse.issparse(X)
        values = X.data if sparse else X
        if values.size == 0 or np.isfinite([values.max(), values.min()]).all():
            lacking[:] = False
            continue
        bad = ~np.isfinite(values) if sparse else np.isinf(values)
        if not bad.any():
            lacking &= missing_rows(X)
            continue
        place = int(np.argmax(bad))
        if sparse:
            row, column = int(np.searchsorted(X.indptr, place, "right")) - 1, int(X.indices[place])
        else:
            row, column = divmod(place, X.shape[1])
        return i, first + row, column, float(values.flat[place])
    if lacking.any():
        return -1, first + int(np.argmax(lacking)), 0, np.nan
    return None


def _complaint(bad, names):
    view, row, column, value = bad
    if view < 0:
        return f"row {row} is NaN in all views: remove the sample"
    return (
        f"{names[view]} has {value:.3g} in row {row}, column {column}: impute or remove such "
        "samples first"
    )
