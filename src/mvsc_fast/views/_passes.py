"""Passes over a row source: one computes a summary of all samples, one their labels.

The result for a block depends on its rows alone, so no result depends on how samples are divided
into blocks or among processes.
"""

from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_mutual_info_score

from .._utils.messages import counted, warn_user
from .._utils.validation import check_clusters, first_cell, not_finite, shown_cell
from ._columns import warn_of_columns
from ._frames import shown, view_title
from ._lift import lifted
from ._missing import Gaps, check_gaps, filled, gaps, mean_row, warn_of_gaps
from ._rows import (
    canonical_order,
    direction_sums,
    missing_rows,
    presence,
    row_hashes,
    row_keys,
    sorted_rows,
    zero_rows,
    zero_samples,
)
from ._scaling import fit_scalings, scaled
from ._suspects import warn_of_suspects

MIN_PRESENT = 2  # minimum number of drawn samples that have a view
MAX_DENSITY = 0.1  # of an array that is stored as a sparse matrix
MANY_BLANK = 0.05  # share of the rows of a view from which rows of zeros are reported
REMEDY = "If nothing was measured there, make them missing: views.missing(X)"
MAX_AGREEMENT = 0.1  # of clusters with what they should not follow; about 0 by chance


@dataclass
class Summary:
    """What a pass finds in a block of samples; summaries of consecutive blocks are added."""

    least: np.ndarray  # smallest entry of each view
    gaps: list = field(default_factory=list)  # of each view
    lost: list = field(default_factory=list)  # indices of samples that lack all views, by block
    has_values: list = field(default_factory=list)  # of each column of each view
    zeros: list = field(default_factory=list)  # indices of samples with zeros alone, by block
    blank: np.ndarray | int = 0  # number of rows of each view that are all zero
    bad: tuple | None = None  # view, row, column and value of the first entry that cannot be used

    def __add__(self, other):
        bad = min((part.bad for part in (self, other) if part.bad), default=None)
        if bad is not None:
            return Summary(self.least, bad=bad)
        return Summary(
            np.minimum(self.least, other.least),
            [a + b for a, b in zip(self.gaps, other.gaps, strict=True)],
            self.lost + other.lost,
            [a | b for a, b in zip(self.has_values, other.has_values, strict=True)],
            self.zeros + other.zeros,
            self.blank + other.blank,
        )


def summarised(source):
    """The `Summary` of all samples, with arrays; raise ValueError if an entry is infinite."""
    summary = source.sum(_summary)
    if summary.bad is not None:
        raise ValueError(_complaint(summary.bad, source.titles, source.columns))
    for name in ("lost", "zeros"):
        setattr(summary, name, np.concatenate(getattr(summary, name)))
    return summary


def _summary(first, views):
    """The `Summary` of one block."""
    bad = _first_bad(first, views)
    if bad is not None:
        return Summary(np.zeros(len(views)), bad=bad)
    gaps_of_views, lacks_all = [gaps(X) for X in views], lacking_all(views)
    return Summary(
        _least(views),
        gaps_of_views,
        [first + np.flatnonzero(lacks_all)],
        [_columns_with_values(X, gap) for X, gap in zip(views, gaps_of_views, strict=True)],
        [first + np.flatnonzero(zero_samples(views) & ~lacks_all)],
        np.array([np.count_nonzero(zero_rows(X)) for X in views]),
    )


def _columns_with_values(X, gap):
    """Mask of the columns of a view that have a value, given its `Gaps`."""
    if scipy.sparse.issparse(X) or not (gap.partial or gap.rows):
        return np.full(X.shape[1], gap.rows < X.shape[0])
    return ~np.isnan(X).all(axis=0)


def _least(views):
    """Smallest entry of each view, of shape (v,)."""
    least = np.empty(len(views))
    for i, X in enumerate(views):
        sparse = scipy.sparse.issparse(X)
        # Entries that are not stored are zeros.
        first = 0.0 if sparse and X.nnz < X.shape[0] * X.shape[1] else np.inf
        least[i] = np.fmin.reduce(X.data if sparse else X, axis=None, initial=first)
    return least


def lacking_all(views):
    """Mask of the samples that lack all of the views."""
    mask = missing_rows(views[0])
    for X in views[1:]:
        if mask.any():
            mask[mask] = missing_rows(X[mask])
    return mask


class Drawn(NamedTuple):
    """Samples that were drawn, in canonical order, and what was learned of all samples."""

    samples: np.ndarray  # their indices
    lost: np.ndarray  # indices of the samples that lack all views
    kept: list  # indices of the views that enough of the drawn samples have
    names: list  # of these views
    columns: list  # names of their columns, or None
    views: list  # their rows, scaled and lifted; missing cells are filled, missing rows are NaN
    mean_rows: list  # their mean rows, see `filled`
    lifts: list  # the `Lift` of each of them, or None
    nonnegative: list  # whether each is non-negative in all samples, drawn or not, and not lifted
    blank: list  # masks of their rows that are all zero before they are scaled and lifted
    present: np.ndarray  # which of the samples have each view, of shape (v, m)
    keys: np.ndarray  # see `row_keys`
    scalings: list  # the `ColumnScaling` of each view of the source, or None


def drawn(source, count, n_clusters, seed, log=None, *, scale=None, lift=True):
    """Draw at most ``count`` samples uniformly in canonical order, and check what was drawn.

    Columns are scaled, see `fit_scalings`, and views lifted, see `find_lift`, unless ``lift`` is
    False. Samples that lack all views are not drawn, and a view that fewer than two of the drawn
    samples have is excluded; a warning names each. Raise ValueError if entries are infinite, more
    than a tenth of the cells of a view are missing, all cells of a column, or too many rows.
    """
    # What all samples say, and whether they can be used
    summary = summarised(source)
    check_gaps(summary.gaps, source.titles)
    _check_values(summary.has_values, source.titles, source.columns)
    warn_of_gaps(summary.gaps, source.titles, log)
    warn_of_zeros(summary.zeros)
    warn_of_blank_rows(summary, source.titles)
    samples = np.setdiff1d(np.arange(source.n_samples), summary.lost)
    check_clusters(max(n_clusters, 2), len(samples))

    # The rows of some samples with filled cells, as they are and scaled
    scalings = fit_scalings(source, scale)
    if count < len(samples):
        samples = _uniform_sample(source, scalings, samples, count, seed)
    rows = source.take(samples)
    means, views = _filled(scaled(rows, scalings))
    unscaled = views if scale is None else _filled(rows)[1]

    # Views that enough of them have. Ids, labels and rows of zeros are seen before scaling.
    present = presence(views)
    frequent = _frequent(present, source.titles)
    views = [views[i] for i in frequent]
    unscaled = [unscaled[i] for i in frequent]
    names = [source.names[i] for i in frequent]
    columns = [source.columns[i] for i in frequent]
    warn_of_suspects(unscaled, names, columns)
    blank = [zero_rows(X) for X in unscaled]
    del rows, unscaled  # a copy of all views may not fit in memory

    # Rows of other columns, if their lengths matter
    is_centred = [scaling is not None and scaling.centres.any() for scaling in scalings]
    nonnegative = [bool(summary.least[i] >= 0) and not is_centred[i] for i in frequent]
    lifts = [None] * len(frequent)
    if lift:
        views, lifts = lifted(views, nonnegative)

    # The canonical order, for one view after another
    keys = row_keys(views)
    order = canonical_order(views, keys)
    for i, X in enumerate(views):
        views[i] = X[order]
    present = present[np.ix_(frequent, order)]
    if lift:
        warn_of_columns(views, names, columns, present, lifts)
    return Drawn(
        samples[order],
        summary.lost,
        frequent,
        names,
        columns,
        views,
        [means[i] for i in frequent],
        lifts,
        [sign and lift is None for sign, lift in zip(nonnegative, lifts, strict=True)],
        [rows[order] for rows in blank],
        present,
        keys[order],
        scalings,
    )


def _check_values(has_values, titles, columns):
    """Raise ValueError if a column of a view has no values, but others have."""
    for mask, title, names in zip(has_values, titles, columns, strict=True):
        if mask.any() and not mask.all():
            j = int(np.argmin(mask))
            which = j if names is None else names[j]
            raise ValueError(f"{title} has no values in column {which!r}: remove it")


def _filled(views):
    """Mean rows of views, and the views with filled cells."""
    means = [mean_row(X) for X in views]
    return means, [_condensed(filled(X, mean)) for X, mean in zip(views, means, strict=True)]


def _condensed(X):
    """A wide array of zeros, most of all, as a sparse matrix: all steps take a part of the time."""
    n, d = X.shape
    if scipy.sparse.issparse(X) or d <= n or np.count_nonzero(X) > MAX_DENSITY * n * d:
        return X
    return scipy.sparse.csr_matrix(X)


def _uniform_sample(source, scalings, samples, count, seed):
    """Some samples, ascending, drawn in an order that depends on their scaled rows alone."""
    # The draw is made in an order by content, so that the order of rows changes no result.
    sums = source.sum(_sums, scalings)
    keys = np.asarray(source.per_row(_keys, np.float64, scalings, sums))
    order = sorted_rows(keys, lambda: np.asarray(source.per_row(_hashes, np.uint64, scalings)))
    order = order[np.isin(order, samples)]
    ranks = np.random.RandomState(seed).choice(len(order), count, replace=False)
    return np.sort(order[ranks])


def _sums(first, views, scalings):
    return direction_sums(scaled(views, scalings))


def _keys(first, views, scalings, sums):
    return row_keys(scaled(views, scalings), sums)


def _hashes(first, views, scalings):
    return row_hashes(scaled(views, scalings))


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


def warn_of_blank_rows(summary, titles):
    """Warn of views of which many rows are all zero, because nothing may have been measured.

    If all rows are, another warning says that all samples are equal.
    """
    parts = [
        f"{title}: {blank} of {counted(gap.n_samples, 'row')}"
        for blank, gap, title in zip(summary.blank, summary.gaps, titles, strict=True)
        if MANY_BLANK <= blank / max(gap.n_samples - gap.rows, 1) < 1
    ]
    if parts:
        warn_user(f"rows that are all zero, in {', '.join(parts)}. {REMEDY}")


def warn_of_followed_rows(sample, labels):
    """Warn if clusters follow which rows of a view are all zero.

    ``sample`` is a `Drawn`, and ``labels`` are those of its samples.
    """
    for X, rows, name in zip(sample.views, sample.blank, sample.names, strict=True):
        # Clusters that separate rows of zeros may show what was measured, not what was found.
        has = ~missing_rows(X) & (labels >= 0)
        blank, clusters = rows[has], labels[has]
        share = blank.mean()
        if not MANY_BLANK <= share < 1:
            continue
        agreement = adjusted_mutual_info_score(blank, clusters)
        if agreement <= MAX_AGREEMENT:
            continue
        numbers, sizes = np.unique(clusters, return_counts=True)
        shares = np.bincount(clusters, blank)[numbers] / sizes
        parts = [
            f"clusters of {amount} such rows: {shown(*numbers[chosen])}"
            for amount, chosen in (
                ("mostly", shares > (1 + share) / 2),
                ("hardly any", shares < share / 2),
            )
            if chosen.any()
        ]
        warn_user(
            f"clusters follow which rows of {view_title(name)} are all zero, {100 * share:.0f} % "
            f"of them (adjusted mutual information {agreement:.2f}); {'; '.join(parts)}. {REMEDY}"
        )


def labels_of(source, predict, samples, labels, notes=None):
    """Labels of all rows of a source, given the labels of some samples; -1 for rows without any
    view.

    ``predict(views)`` computes labels of rows, each from its row alone; ``samples`` ascend.
    ``notes`` receives the `Summary` of each block, unless rows are read by other processes.
    """
    arguments = (predict, samples, labels, source.titles, source.columns, notes)
    return source.per_row(_labelled, labels.dtype, *arguments)


def _labelled(first, views, predict, samples, labels, titles, columns, notes):
    """Labels of one block."""
    n = views[0].shape[0]
    # If all entries are finite, as nearly always, one pass over them is enough.
    extremes = [(np.nan,) if scipy.sparse.issparse(X) else (X.min(), X.max()) for X in views]
    if all(isfinite(extreme) for pair in extremes for extreme in pair):
        is_unlabelled = np.ones(n, dtype=bool)
        gaps_of_views = [Gaps(*X.shape) for X in views]
        least = np.array([low for low, _ in extremes])
    else:
        check_entries(first, views, titles, columns)
        is_unlabelled = ~lacking_all(views)
        gaps_of_views, least = [gaps(X) for X in views], _least(views)
    if notes is not None:
        zeros = first + np.flatnonzero(zero_samples(views) & is_unlabelled)
        notes.append(Summary(least, gaps_of_views, zeros=[zeros]))

    # Samples with labels keep them, samples without any view have -1, and others are predicted.
    low, high = np.searchsorted(samples, [first, first + n])
    out = np.full(n, -1, dtype=labels.dtype)
    positions = samples[low:high] - first
    out[positions] = labels[low:high]
    is_unlabelled[positions] = False
    if is_unlabelled.all():
        return predict(views)
    if is_unlabelled.any():
        out[is_unlabelled] = predict([X[is_unlabelled] for X in views])
    return out


def check_entries(first, views, titles, columns):
    """Raise ValueError with the first entry of a block that cannot be used."""
    bad = _first_bad(first, views)
    if bad is not None:
        raise ValueError(_complaint(bad, titles, columns))


def _first_bad(first, views):
    """The tuple (view, row, column, value) of the first entry that cannot be used, or None.

    NaN is allowed, except in rows of sparse views that have other entries.
    """
    for i, X in enumerate(views):
        # The extremes show in one pass whether a closer look is needed.
        sparse = scipy.sparse.issparse(X)
        values = X.data if sparse else X
        if values.size == 0 or np.isfinite([values.max(), values.min()]).all():
            continue
        rows = np.flatnonzero(~missing_rows(X)) if sparse else np.arange(X.shape[0])
        cell = first_cell(X[rows] if sparse else X, not_finite if sparse else np.isinf)
        if cell is not None:
            row = int(rows[cell[0]])
            return i, first + row, cell[1], float(X[row, cell[1]])
    return None


def _complaint(bad, titles, columns):
    view, row, column, value = bad
    cell = shown_cell(row, column, columns[view])
    return f"{titles[view]} has {value:.3g} in {cell}: impute or remove such samples first"
