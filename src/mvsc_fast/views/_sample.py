"""The samples that are clustered: their facts, their draw, their order and their unit rows."""

import copy
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from .._utils.messages import counted, warn_user
from ._columns import warn_of_columns
from ._facts import summarised
from ._lift import Lift, find_lift, lifted
from ._row_source import RowSource
from ._rows import SMALL_BLOCK, dense, filled, is_constant, presence, spread
from ._scaling import ColumnScaling, fill_row, fit_scalings, is_centred
from ._view_rows import ViewRows, nonzero_columns, with_data

KEY_BITS = 44  # after the point; rounding errors of sums are far below, random rows seldom agree
SUM_BITS = 30  # after the point, of directions that are summed exactly
MAX_DIRECTIONS = 8  # by contents; a chain of samples would need half as many as it has samples
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
    is_constant : bool
        Whether all rows that are not missing are equal.
    is_continuous : bool
        Whether the view has few columns that are not zero, each with many different values.
    scaling, lift : ColumnScaling or None, Lift or None
    unit : ViewRows or None
        Unit rows of the samples that have the view; None if rows were asked for as they are.
    """

    position: int
    name: Any
    columns: list[str] | None
    rows: Any
    present: np.ndarray
    mean_row: np.ndarray
    nonnegative: bool
    is_constant: bool
    is_continuous: bool
    scaling: ColumnScaling | None
    lift: Lift | None
    unit: ViewRows | None = None

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
    present : ndarray of shape (v, m) of bool
        Which of the samples have each of them.
    equal : ndarray of shape (m,) of int
        See `equal_samples`.
    scalings : list of (ColumnScaling or None)
        Those of all views of the source.
    """

    samples: np.ndarray
    lost: np.ndarray
    views: list[DrawnView]
    present: np.ndarray
    equal: np.ndarray
    scalings: list[ColumnScaling | None]


def drawn(source, count, n_clusters, seed, log=None, *, scale=None, unit=True):
    """Draw at most ``count`` samples uniformly in canonical order, and check what was drawn.

    Columns are scaled, see `fit_scalings`. Unless ``unit`` is False, views are lifted, see
    `find_lift`, and have unit rows. Samples that lack all views are not drawn, and a view that
    fewer than two of the drawn samples have is excluded; a warning names each. Raise ValueError if
    entries cannot be used, or more than a tenth of the cells of a view are missing.
    """
    # What all samples say, and whether they can be used
    facts = summarised(source, log)
    samples = np.setdiff1d(np.arange(source.n_samples), facts.lost, assume_unique=True)
    if len(samples) < max(n_clusters, 2):
        raise ValueError(
            f"samples that have any view: {len(samples) or 'none'} of {source.n_samples}, but at "
            f"least {max(n_clusters, 2)} are needed"
        )

    # The scaled rows of some samples
    scalings = fit_scalings(source, scale, facts)
    in_units = copy.copy(source)
    in_units.scalings = scalings
    if count < len(samples):
        # In an order that depends on the rows alone
        order = canonical_order(in_units)
        order = order[np.isin(order, samples)]
        samples = np.sort(np.random.RandomState(seed).choice(order, count, replace=False))
    rows = in_units.take(samples)

    # One view after another: cells are filled, and rows lifted if their lengths matter.
    views = []
    for i, scaling in enumerate(scalings):
        X, mean = rows[i], fill_row(rows[i], scaling)
        rows[i] = None  # a copy of all views may not fit in memory
        X = filled(X, mean) if facts.is_partial[i] else X
        # All steps take less time if a wide array, most of it zeros, becomes a sparse matrix.
        (n, d), is_sparse = X.shape, scipy.sparse.issparse(X)
        if d > n and not is_sparse and np.count_nonzero(X) <= MAX_DENSITY * n * d:
            X = scipy.sparse.csr_array(X)
        present = presence([X])[0]
        if present.sum() < MIN_PRESENT:
            warn_user(
                f"excluded, because fewer than {MIN_PRESENT} of the {len(present)} clustered "
                f"samples have it: {source.titles[i]}"
            )
            continue
        nonnegative = bool(facts.least[i] >= 0 and not is_centred(scaling))
        observed = X if present.all() else X[present]
        lift = find_lift(observed, nonnegative) if unit else None
        view = DrawnView(
            position=i,
            name=source.names[i],
            columns=source.columns[i],
            rows=lifted(X, lift),
            present=present,
            mean_row=mean,
            nonnegative=nonnegative and lift is None,
            is_constant=is_constant(observed),
            is_continuous=_is_continuous(observed),
            scaling=scaling,
            lift=lift,
        )
        views.append(view)
    if not views:
        raise ValueError("no view is left: no two of the clustered samples have the same one")

    # The canonical order and the unit rows, again for one view after another
    rows = RowSource([view.rows for view in views])
    keys = row_keys(rows)
    order = canonical_order(rows, keys)
    for k, view in enumerate(views):
        view = view._replace(rows=view.rows[order], present=view.present[order])
        views[k] = view._replace(unit=ViewRows(view.observed, view.nonnegative)) if unit else view
    if unit:
        warn_of_columns([(view.observed, view.name, view.columns, view.lift) for view in views])
    equal = equal_samples([view.rows for view in views], keys[order])
    present = np.array([view.present for view in views])
    return Drawn(samples[order], facts.lost, views, present, equal, scalings)


def _is_continuous(X):
    """Whether all columns of a view but those of zeros are few, and have many different values."""
    columns = nonzero_columns(X)
    if len(columns) > MAX_CONTINUOUS_COLUMNS:
        return False
    ordered = np.sort(dense(X[spread(X.shape[0], VALUE_SAMPLES)][:, columns], None), axis=0)
    # Values that differ by less than a millionth of the range of their column count as one, so
    # that rounding makes no difference.
    is_next = np.diff(ordered, axis=0) > 1e-6 * (ordered[-1] - ordered[0])
    return bool(1 + is_next.sum(axis=0).min() >= MIN_VALUES)


def canonical_order(source, keys=None):
    """An order of the samples that depends on their contents alone.

    Samples are sorted by `row_keys`, and those of equal keys by their cosines with further
    directions and by their lengths, so that samples with all in common are equal in all views.

    Parameters
    ----------
    source : RowSource
        Rows may be NaN.
    keys : ndarray of shape (n,), optional
        Their `row_keys`, if they are known.

    Returns
    -------
    ndarray of shape (n,) of int
    """
    keys = row_keys(source) if keys is None else keys
    ranks = np.unique(keys, return_inverse=True)[1]
    if ranks.max() == len(keys) - 1:
        return np.argsort(keys)
    # The next direction is the mean of the rows weighted by their ranks so far, while it tells
    # samples apart. The last one is random, and depends on the order of the columns, as lengths do
    # on that of the views.
    n_before = 0
    for _ in range(MAX_DIRECTIONS):
        if not n_before < ranks.max() < len(keys) - 1:
            break
        n_before, further = ranks.max(), row_keys(source, source.sum(direction_sums, ranks))
        ranks = np.unique([ranks, further], axis=1, return_inverse=True)[1].ravel()
    random = np.random.RandomState(0).standard_normal(sum(source.n_features)) * 2.0**SUM_BITS
    last = np.asarray(source.per_row(_tie_breakers, (np.float64, len(source.views) + 1), random))
    return np.lexsort([*last.T, ranks])


def row_keys(source, sums=None):
    """A number for each sample: the cosine of its row with the mean direction, summed over views.

    Neither columns of zeros nor the order of columns or views change it, as it depends on inner
    products of rows alone; nor do factors of rows, as it is rounded. ``sums`` are those of a
    direction, by default the mean.
    """
    sums = source.sum(direction_sums, None) if sums is None else sums
    return np.asarray(source.per_row(_keys, np.float64, sums))


def _keys(first, views, sums):
    parts = np.split(sums, np.cumsum([X.shape[1] for X in views])[:-1])
    means = [part / max(1.0, np.linalg.norm(part.astype(np.float64))) for part in parts]
    cosines = [_row_sums(_directions(X), mean) for X, mean in zip(views, means, strict=True)]
    # Sums of integers do not depend on the order of the views.
    return np.rint(np.multiply(cosines, 2.0**KEY_BITS)).sum(axis=0)


def _tie_breakers(first, views, sums):
    """The squared lengths of the rows in each view, and their keys for another direction."""
    squares = [_row_sums(X, X) for X in map(_without_gaps, views)]
    return np.transpose([*squares, _keys(first, views, sums)])


def direction_sums(first, views, weights):
    """Sums of the columns of the rows divided by their lengths, in units of 2^-30.

    They are sums of integers modulo 2^64, and thus the same for all orders and blocks of samples.
    ``weights`` of all samples are integers; None stands for 1. An array of shape
    (d_0 + d_1 + ...,), int64.
    """
    units = [np.rint(_directions(X) * 2.0**SUM_BITS) for X in views]
    if weights is None:
        return np.concatenate([X.sum(axis=0) for X in units]).astype(np.int64)
    part = weights[first : first + units[0].shape[0]]
    return np.concatenate([part @ X.astype(np.int64) for X in units])


def _without_gaps(X):
    """Rows with zeros in place of NaN."""
    if scipy.sparse.issparse(X):
        return with_data(X, _without_gaps(X.data))
    return np.where(np.isnan(X), X.dtype.type(0), X)  # infinite entries were refused


def _directions(X):
    """Rows divided by their lengths, in float64; zeros in place of NaN."""
    X = _without_gaps(X)
    squares = _row_sums(X, X)
    lengths = np.where(squares > np.finfo(X.dtype).tiny, np.sqrt(squares), np.inf)
    if scipy.sparse.issparse(X):
        return with_data(X, X.data / np.repeat(lengths, np.diff(X.indptr)))
    return X / lengths[:, None]


def _row_sums(X, factors):
    """Sums of each row of X times factors, in float64, from that row alone to the last bit."""
    if not scipy.sparse.issparse(X):
        # A product with BLAS may round a row by its position; sums along rows do not.
        return np.multiply(X, factors, dtype=np.float64).sum(axis=1)
    factors = X.data if factors is X else factors[X.indices]
    data = np.multiply(X.data, factors, dtype=np.float64)
    return scipy.sparse.csr_array((data, X.indices, X.indptr), X.shape) @ np.ones(X.shape[1])


def equal_samples(views, keys):
    """Index of the distinct direction of each sample, from 0, for samples in canonical order.

    Two samples are equal if they have the same `row_keys` and, in each view, their rows of unit
    length are equal up to rounding, or the same cells are missing.
    """
    # Equal keys are candidates, and only these are compared entry by entry.
    pairs = np.flatnonzero(keys[1:] == keys[:-1])
    for X in views:
        if len(pairs):
            batches = gen_batches(len(pairs), SMALL_BLOCK)
            pairs = pairs[np.concatenate([_are_equal(X, pairs[part]) for part in batches])]
    differs = np.ones(len(keys), dtype=np.int64)
    differs[0] = differs[pairs + 1] = 0
    return np.cumsum(differs)


def _are_equal(X, rows):
    """Whether the directions of some rows equal those of the next rows."""
    first, second = X[rows], X[rows + 1]
    distance = dense(abs(_directions(first) - _directions(second)).max(axis=1), None).ravel()
    is_missing = [np.isnan(rows.sum(axis=1)) for rows in (first, second)]
    return (distance < 64 * np.finfo(X.dtype).eps) & np.equal(*is_missing)


def warn_of_few(equal, n_clusters):
    """Whether there are fewer distinct samples than clusters, with a ConvergenceWarning if so."""
    distinct = equal[-1] + 1
    if distinct < n_clusters:
        warn_user(
            f"the samples have {counted(distinct, 'distinct value')}, fewer than n_clusters="
            f"{n_clusters}: some clusters are empty, or equal samples are in different clusters",
            ConvergenceWarning,
        )
    return distinct < n_clusters
