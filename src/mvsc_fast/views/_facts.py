"""What the rows of views say before they are used: gaps, zeros, extremes, and what is refused."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._kernels import scan_cells
from .._utils.messages import counted, warn_user
from .._utils.validation import check_memory, first_cell, not_finite, shown_cell
from ._frames import shown
from ._rows import missing_rows, zero_or_missing_rows

# Maximum share of missing cells of a view in a fit: the largest in bench/missing.py.
MAX_MISSING = 0.1
BYTES_PER_COLUMN = 40  # of means, masks and sums
MANY_BLANK = 0.05  # share of the rows of a view from which rows of zeros are reported


class ViewFacts(NamedTuple):
    """What is known of the rows of one view; those of two blocks are added.

    Attributes
    ----------
    n_samples : int
    least, entry : float
        The smallest value, and the largest absolute value.
    largest : ndarray of shape (d,)
        The largest absolute value of each column; negative infinity if it has none.
    n_zero : int
        Number of rows that are all zero, and not missing.
    n_missing : int
        Number of missing rows.
    n_cells : int
        Number of missing cells in all other rows.
    is_partial : bool
        Whether any cell will be filled or ignored.
    """

    n_samples: int
    least: float
    entry: float
    largest: np.ndarray
    n_zero: int
    n_missing: int = 0
    n_cells: int = 0
    is_partial: bool = False

    def __add__(self, other):
        return ViewFacts(
            self.n_samples + other.n_samples,
            min(self.least, other.least),
            max(self.entry, other.entry),
            np.maximum(self.largest, other.largest),
            self.n_zero + other.n_zero,
            self.n_missing + other.n_missing,
            self.n_cells + other.n_cells,
            self.is_partial or other.is_partial,
        )

    @property
    def missing_share(self):
        """Share of missing cells in the rows that are not missing."""
        n_present = self.n_samples - self.n_missing
        return self.n_cells / max(n_present * len(self.largest), 1)


class Summary(NamedTuple):
    """What a pass finds in a block of samples; summaries of consecutive blocks are added.

    Attributes
    ----------
    views : list of ViewFacts
    lost, zeros : ndarray of int
        Indices of the samples that lack all views, and of those with zeros alone.
    bad : tuple or None
        View, row, column and value of the first entry that cannot be used.
    """

    views: list
    lost: np.ndarray
    zeros: np.ndarray
    bad: Any = None

    def __add__(self, other):
        return Summary(
            [a + b for a, b in zip(self.views, other.views, strict=True)],
            np.concatenate([self.lost, other.lost]),
            np.concatenate([self.zeros, other.zeros]),
            min((part.bad for part in (self, other) if part.bad), default=None),
        )


def summarised(source, log=None):
    """The `Summary` of all samples, with a warning of their gaps, see `warn_of_gaps`.

    Raise ValueError if an entry is infinite, or if too many cells are missing.
    """
    # Sparse views may have columns without number, and many arrays have an entry for each column.
    check_memory(
        BYTES_PER_COLUMN * sum(source.n_features),
        f"a sample of {sum(source.n_features)} features",
        "leave out columns without entries",
    )
    summary = source.sum(summarise)
    refuse(summary.bad, source.titles, source.columns)
    check_facts(summary.views, source.titles, source.columns)
    warn_of_gaps(summary.views, source.titles, log)
    return summary


def summarise(first, views):
    """The `Summary` of one block."""
    facts, missing, blank = zip(*map(view_facts, views), strict=True)
    lost = zeros = np.empty(0, dtype=np.intp)
    # Samples without any value are in rows of every view that have none.
    if all(view.n_zero or view.n_missing for view in facts):
        lacks_all = np.logical_and.reduce(missing)
        is_zero = np.logical_and.reduce(blank) & ~lacks_all
        lost, zeros = first + np.flatnonzero(lacks_all), first + np.flatnonzero(is_zero)
    is_finite = all(view.entry < np.inf and not view.is_partial for view in facts)
    bad = None if is_finite else _first_bad(first, views)
    return Summary(list(facts), lost, zeros, bad)


def view_facts(X):
    """The `ViewFacts` of a view in memory, and masks of its missing and its blank rows.

    Blank rows have zeros, or missing cells, alone.
    """
    n, d = X.shape
    if not scipy.sparse.issparse(X):
        least, entry, n_gaps, largest, gaps, blank = scan_cells(X)
        if n_gaps == 0:  # as nearly all views
            facts = ViewFacts(n, least, entry, largest, np.count_nonzero(blank))
            return facts, np.zeros(n, dtype=bool), blank
        missing = 2 * gaps > d
        n_cells = int(gaps[~missing].sum())
        is_partial = n_cells > 0 or bool((gaps[missing] < d).any())
    else:
        # Entries that are not stored are zeros.
        least = float(np.fmin.reduce(X.data, initial=0.0 if X.nnz < n * d else np.inf))
        largest = np.zeros(d, dtype=X.dtype)
        np.fmax.at(largest, X.indices, abs(X.data))
        missing, blank = missing_rows(X), zero_or_missing_rows(X)
        n_cells, is_partial = 0, bool(np.isnan(X[~missing].data).any())  # which is refused
        largest = largest if n == 0 or not missing.all() else np.full(d, -np.inf)
        entry = float(largest.max())
    n_missing, n_zero = np.count_nonzero(missing), np.count_nonzero(blank & ~missing)
    facts = ViewFacts(n, least, entry, largest, n_zero, n_missing, n_cells, is_partial)
    return facts, missing, blank


def check_facts(facts, titles, columns):
    """Raise ValueError if a view lacks too many cells, or all cells of one of its columns."""
    for view, title, names in zip(facts, titles, columns, strict=True):
        if view.missing_share > MAX_MISSING:
            raise ValueError(
                f"{title} lacks {100 * view.missing_share:.3g} % of its cells, but at most "
                f"{100 * MAX_MISSING:g} % can be filled: remove columns or samples that lack many"
            )
        has_values = view.largest >= 0
        if has_values.any() and not has_values.all():
            j = int(np.argmin(has_values))
            column = j if names is None else names[j]
            raise ValueError(f"{title} has no values in column {column!r}: remove it")


def refuse(bad, titles, columns):
    """Raise ValueError for the entry that a `Summary` calls bad, if there is one."""
    if bad is not None:
        view, row, column, value = bad
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
        cell = first_cell(X[rows] if sparse else X, not_finite if sparse else np.isinf)
        if cell is not None:
            row = int(rows[cell[0]])
            return i, first + row, cell[1], float(X[row, cell[1]])
    return None


def warn_of_gaps(facts, titles, log=None):
    """Warn of missing cells, with counts; if only whole rows are missing, call ``log`` instead."""
    clauses = []
    for view, title in zip(facts, titles, strict=True):
        parts = []
        if view.n_cells:
            parts.append(f"{counted(view.n_cells, 'cell')} ({100 * view.missing_share:.2g} %)")
        if view.n_missing:
            parts.append(f"{view.n_missing} of {counted(view.n_samples, 'sample')}")
        if parts:
            clauses.append(f"{title} lacks {' and '.join(parts)}")
    # Filled cells change the data, so they are worth a warning; missing rows are usual.
    if any(view.is_partial for view in facts):
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


def warn_of_zero_rows(facts, titles):
    """Warn of views of which many rows are all zero, because nothing may have been measured.

    If all rows are, another warning says that all samples are equal.
    """
    parts = [
        f"{title}: {view.n_zero} of {counted(view.n_samples, 'row')}"
        for view, title in zip(facts, titles, strict=True)
        if MANY_BLANK <= view.n_zero / max(view.n_samples - view.n_missing, 1) < 1
    ]
    if parts:
        warn_user(
            f"rows that are all zero, in {', '.join(parts)}. If nothing was measured there, "
            "clusters may follow these rows: make them missing by views.missing(X), or leave them "
            "empty in a file"
        )
