"""What passes over a row source compute: once what all samples tell, and once their labels.

A pass of a block depends on its rows alone, and sums over blocks are exact, so that no result
depends on how samples are ordered, or divided into blocks or among processes.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from sklearn.utils.extmath import safe_sparse_dot

from ..validation import largest_squarable
from ..views._rows import missing_rows, observed, row_keys, unit_rows

LARGEST_GRAM = 4096  # columns; the Gram matrix of more takes more memory than all else


@dataclass
class Summary:
    """What a pass over all samples tells; that of consecutive blocks is the sum of theirs.

    Attributes
    ----------
    keys : list of list of ndarray
        For each view, keys of the rows of each block (`row_keys`).
    grams : list of ndarray of shape (d_i, d_i), or None
        Sums of x x^T over the unit rows x of a view, where they are wanted.
    least : ndarray of shape (v,)
        Smallest entry of each view.
    bad : tuple of (view, row, column, value), or None
        The first entry that cannot be used.
    """

    keys: list
    grams: list
    least: np.ndarray
    bad: tuple | None

    def __add__(self, other):
        return Summary(
            [a + b for a, b in zip(self.keys, other.keys, strict=True)],
            [
                None if a is None or b is None else a + b
                for a, b in zip(self.grams, other.grams, strict=True)
            ],
            np.minimum(self.least, other.least),
            min((part.bad for part in (self, other) if part.bad), default=None),
        )


def summarised(source, *, grams):
    """The `Summary` of all samples, ``keys`` being one array for each view.

    Gram matrices are exact sums: unit rows are rounded to multiples of 2^-q with
    ``n 2^(2 q) <= 2^52``, so that sums of products are integers times 2^(-2 q) that float64 holds
    without rounding. For n = 10^6 q is 16, far finer than any ridge.

    Parameters
    ----------
    source : RowSource
    grams : bool
        Whether to sum x x^T, of views of at most 4096 columns.

    Raises
    ------
    ValueError
        If an entry is not finite or too large to be squared; the message says where the first is.
    """
    n = source.n_samples
    wanted = [grams and d <= LARGEST_GRAM for d in source.n_features]
    grid = 2.0 ** ((52 - n.bit_length()) // 2)
    limits = [largest_squarable(source.dtype, n * d) for d in source.n_features]
    summary = source.sum(_summary, limits, wanted, grid)
    if summary.bad is not None:
        raise ValueError(_complaint(summary.bad, source.names))
    summary.keys = [np.concatenate(keys) for keys in summary.keys]
    summary.grams = [None if gram is None else gram / grid**2 for gram in summary.grams]
    return summary


def _summary(first, views, limits, wanted, grid):
    """The `Summary` of one block, whose Gram matrices are in units of 1 / grid^2."""
    bad = _first_bad(first, views, limits)
    if bad is not None:
        nothing = [None] * len(views)
        return Summary([[]] * len(views), nothing, np.zeros(len(views)), bad)
    there = observed(views)
    return Summary(
        [[row_keys(X)] for X in views],
        [_rounded_gram(X, grid) if gram else None for X, gram in zip(there, wanted, strict=True)],
        np.array([X.min() if X.shape[0] else np.inf for X in there], dtype=np.float64),
        None,
    )


def _rounded_gram(X, grid):
    U = unit_rows(X).astype(np.float64, copy=False)
    values = U.data if scipy.sparse.issparse(U) else U
    values *= grid
    np.rint(values, out=values)
    return safe_sparse_dot(U.T, U, dense_output=True)


def labels_of(source, labeller, samples, labels):
    """Labels of all rows of a source; those of some samples are given.

    Parameters
    ----------
    source : RowSource
    labeller : callable
        Labels of some rows from their views; of each row alone.
    samples : ndarray of shape (m,), int, ascending
    labels : ndarray of shape (m,), int

    Returns
    -------
    ndarray, or dask array where the views are such, of shape (n,)
    """
    limits = [largest_squarable(source.dtype, source.n_samples * d) for d in source.n_features]
    given = (labeller, samples, labels, limits, source.names)
    return source.per_row(_labelled, labels.dtype, *given)


def _labelled(first, views, labeller, samples, labels, limits, names):
    """Labels of one block."""
    bad = _first_bad(first, views, limits)
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
        out[rest] = labeller(views)
    return out


def _first_bad(first, views, limits):
    """(view, row, column, value) of the first entry that is not finite or above its limit.

    Rows that are NaN throughout lack the view; view -1 says that a row lacks them all.
    """
    lacking = np.ones(views[0].shape[0], dtype=bool)
    for i, (X, limit) in enumerate(zip(views, limits, strict=True)):
        sparse = scipy.sparse.issparse(X)
        absent = np.zeros(X.shape[0], dtype=bool) if sparse else missing_rows(X)
        lacking &= absent
        rows = np.flatnonzero(~absent)
        X = X[rows] if absent.any() else X
        values = X.data if sparse else X
        if values.size == 0 or max(values.max(), -values.min()) <= limit:  # False for NaN
            continue
        place = int(np.argmin(np.abs(values) <= limit))
        if sparse:
            row, column = int(np.searchsorted(X.indptr, place, "right")) - 1, int(X.indices[place])
        else:
            row, column = divmod(place, X.shape[1])
        return i, first + int(rows[row]), column, float(values.flat[place])
    if lacking.any():
        return -1, first + int(np.argmax(lacking)), 0, np.nan
    return None


def _complaint(bad, names):
    view, row, column, value = bad
    if view < 0:
        return f"row {row} is NaN in all views: remove the sample"
    where = f"{names[view]} has {value:.3g} in row {row}, column {column}"
    if np.isfinite(value):
        return f"{where}, too large to be squared: rescale the view"
    return f"{where}: impute or remove such samples first"
