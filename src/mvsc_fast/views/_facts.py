"""What the rows of views say before they are used: gaps, zeros, extremes, and what is refused."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._kernels import scan_cells
from .._utils.messages import counted, warn_user
from .._utils.validation import first_cell, shown_cell
from ._frames import shown
from ._rows import missing_rows, zero_or_missing_rows

# Maximum share of missing cells of a view in a fit: the largest in bench/missing.py.
MAX_MISSING = 0.1
MANY_BLANK = 0.05  # share of the rows of a view from which rows of zeros are reported


class Facts(NamedTuple):
    """What a pass finds in a block of samples; the facts of consecutive blocks are added.

    Attributes
    ----------
    n_samples : int
    least, largest : ndarray of shape (v,)
        Smallest value and largest absolute value of each view, without missing cells.
    n_zero, n_missing, n_cells : ndarray of shape (v,) of int
        Numbers of rows that are all zero, of missing rows, and of missing cells in all other rows.
    is_partial : ndarray of shape (v,) of bool
        Whether any cell will be filled or ignored.
    lost, zeros : ndarray of int
        Indices of the samples that lack all views, and of those that have only zeros.
    bad : tuple or None
        View, row, column and value of the first entry that cannot be used.
    """

    n_samples: int
    least: np.ndarray
    largest: np.ndarray
    n_zero: np.ndarray
    n_missing: np.ndarray
    n_cells: np.ndarray
    is_partial: np.ndarray
    lost: np.ndarray
    zeros: np.ndarray
    bad: Any = None

    def __add__(self, other):
        return Facts(
            self.n_samples + other.n_samples,
            np.minimum(self.least, other.least),
            np.maximum(self.largest, other.largest),
            self.n_zero + other.n_zero,
            self.n_missing + other.n_missing,
            self.n_cells + other.n_cells,
            self.is_partial | other.is_partial,
            np.concatenate([self.lost, other.lost]),
            np.concatenate([self.zeros, other.zeros]),
            min((part.bad for part in (self, other) if part.bad), default=None),
        )


def summarised(source, log=None):
    """The `Facts` of all samples, with a warning of gaps and of rows of zeros.

    Raise ValueError if an entry cannot be used, or if too many cells are missing.
    """
    # Entries are refused before shares are compared: a sum with infinite ones would mean nothing.
    facts = source.sum(summarise)
    check_facts(facts, source.titles, source.columns)
    # Cells can be filled if they are few; those of missing rows do not count.
    shares = facts.n_cells / np.maximum((facts.n_samples - facts.n_missing) * source.n_features, 1)
    for share, title in zip(shares, source.titles, strict=True):
        if share > MAX_MISSING:
            raise ValueError(
                f"{title} lacks {100 * share:.3g} % of its cells, but at most "
                f"{100 * MAX_MISSING:g} % can be filled: remove columns or samples that lack many"
            )
    warn_of_gaps(facts, source.titles, log)
    warn_of_zeros(facts.zeros)
    _warn_of_zero_rows(facts, source.titles)
    return facts


def summarise(first, views):
    """The `Facts` of one block."""
    rows, missing, blank = zip(*map(_view_facts, views), strict=True)
    least, largest, n_zero, n_missing, n_cells, is_partial = map(np.array, zip(*rows, strict=True))
    is_finite = largest.max() < np.inf and not is_partial.any()
    lost = zeros = np.empty(0, dtype=np.intp)
    # Samples without any value are in rows of every view that have none.
    if (n_zero + n_missing).all():
        lacks_all = np.logical_and.reduce(missing)
        is_zero = np.logical_and.reduce(blank) & ~lacks_all
        lost, zeros = first + np.flatnonzero(lacks_all), first + np.flatnonzero(is_zero)
    bad = None if is_finite else _first_bad(first, views)
    counts = n_zero, n_missing, n_cells
    return Facts(views[0].shape[0], least, largest, *counts, is_partial, lost, zeros, bad)


def _view_facts(X):
    """The `Facts` of a view in memory, from ``least`` to ``is_partial``, and two masks of its rows.

    They are missing, or have only zeros and missing cells.
    """
    n, d = X.shape
    if not scipy.sparse.issparse(X):
        least, largest, n_gaps, _, gaps, blank = scan_cells(X)
        if n_gaps == 0:  # as nearly all views, and faster
            return (least, largest, np.count_nonzero(blank), 0, 0, False), np.zeros(n, bool), blank
        missing = 2 * gaps > d
        n_cells = int(gaps[~missing].sum())
        is_partial = n_cells > 0 or bool((gaps[missing] < d).any())
    else:
        # Entries that are not stored are zeros; rows that store NaN and numbers are refused.
        initial = 0.0 if X.nnz < n * d else np.inf
        least = float(np.fmin.reduce(X.data, initial=initial))
        largest = float(np.fmax.reduce(abs(X.data), initial=-initial))
        missing, blank = missing_rows(X), zero_or_missing_rows(X)
        n_cells, is_partial = 0, bool(np.isnan(X[~missing].data).any())
    n_zero, n_missing = np.count_nonzero(blank & ~missing), np.count_nonzero(missing)
    return (least, largest, n_zero, n_missing, n_cells, is_partial), missing, blank


def check_facts(facts, titles, columns):
    """Raise ValueError for the first entry that cannot be used."""
    if facts.bad is not None:
        view, row, column, value = facts.bad
        cell = shown_cell(row, column, columns[view])
        filled = "cells are filled in dense views only, " if np.isnan(value) else ""
        raise ValueError(
            f"{titles[view]} has {value:.3g} in {cell}: {filled}impute or remove such samples first"
        )


def _first_bad(first, views):
    """The tuple (view, row, column, value) of the first entry that cannot be used, or None.

    NaN is allowed, except in rows of sparse views that have other entries.
    """
    for i, X in enumerate(views):
        sparse = scipy.sparse.issparse(X)
        rows = np.flatnonzero(~missing_rows(X)) if sparse else np.arange(X.shape[0])
        cell = first_cell(X[rows]) if sparse else first_cell(X, np.isinf)
        if cell is not None:
            row = int(rows[cell[0]])
            return i, first + row, cell[1], float(X[row, cell[1]])
    return None


def warn_of_gaps(facts, titles, log=None):
    """Warn of missing cells, with counts; if only whole rows are missing, call ``log`` instead."""
    clauses = []
    for title, n_missing, n_cells in zip(titles, facts.n_missing, facts.n_cells, strict=True):
        parts = [counted(n_cells, "cell")] if n_cells else []
        if n_missing:
            parts.append(f"{n_missing} of {counted(facts.n_samples, 'sample')}")
        if parts:
            clauses.append(f"{title} lacks {' and '.join(parts)}")
    # Filled cells change the data, so they are worth a warning; missing rows are usual.
    if facts.is_partial.any():
        warn_user(
            f"{', '.join(clauses)}: cells are filled from the other values of their row; rows that "
            "lack more than half of their cells count as missing"
        )
    elif clauses and log is not None:
        log(", ".join(clauses))


def warn_of_lost(rows):
    """Warn of samples that cannot be labelled."""
    if len(rows):
        warn_user(
            f"without any of the views that are used: {counted(len(rows), 'sample')} (rows "
            f"{shown(*rows)}), with the label -1"
        )


def warn_of_zeros(samples):
    """Warn of samples that have only zeros."""
    if len(samples):
        warn_user(
            f"only zeros in all views: {counted(len(samples), 'sample')} (rows {shown(*samples)}). "
            "If nothing was measured, their labels mean little: remove such samples"
        )


def _warn_of_zero_rows(facts, titles):
    """Warn of views of which many rows are all zero, because nothing may have been measured.

    If all rows are, another warning says that all samples are equal.
    """
    shares = facts.n_zero / np.maximum(facts.n_samples - facts.n_missing, 1)
    parts = [
        f"{title}: {n_zero} of {counted(facts.n_samples, 'row')}"
        for title, n_zero, share in zip(titles, facts.n_zero, shares, strict=True)
        if MANY_BLANK <= share < 1
    ]
    if parts:
        warn_user(
            f"rows that are all zero, in {', '.join(parts)}. If nothing was measured there, "
            "clusters may follow these rows: make them missing by views.missing(X), or leave them "
            "empty in a file"
        )
