"""Columns in standard units, and views whose squares can be represented: exact over blocks."""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils import gen_batches

from .._utils.parameters import either, option
from .._utils.types import Scale
from ._rows import SMALL_BLOCK, column_limits, dense, mean_row, missing_rows
from ._view_rows import with_data

# Deviations below this multiple of the rounding error of the mean are those of constant columns.
CONSTANT = 8
# The largest entries of views that are used as they are, as powers of the limits of their type:
# 1e-38 to 1e77 in double precision, 2e-5 to 4e9 in single precision.
SMALL_ENTRIES, LARGE_ENTRIES = 1 / 8, 1 / 4
SUM_BITS = 62  # of an exact sum

check_scale = either(None, option(Scale))


class ColumnScaling(NamedTuple):
    """Map of rows x to ``(x - centres) / deviations``.

    Attributes
    ----------
    centres : ndarray of shape (n_features,)
        Means of the columns; zeros for a view that was sparse in the fit.
    deviations : ndarray of shape (n_features,)
        Standard deviations of the columns; 1 for constant columns.
    """

    centres: np.ndarray
    deviations: np.ndarray

    def __call__(self, X):
        """Scaled rows, of the type of X; a sparse matrix becomes dense if columns are centred."""
        if scipy.sparse.issparse(X) and not self.centres.any():
            return with_data(X, (X.data / self.deviations[X.indices]).astype(X.dtype, copy=False))
        X = dense(X, None)
        scaled = np.empty_like(X)
        for rows in gen_batches(len(X), SMALL_BLOCK):
            scaled[rows] = (X[rows] - self.centres) / self.deviations
        return scaled


def fit_scalings(source, scale, facts):
    """The `ColumnScaling` of every view, so that the squares of its entries can be represented.

    With ``scale="standard"``, columns get mean 0 and standard deviation 1. Missing rows and cells
    are ignored. Columns of sparse views, which would become dense, are divided by their deviations
    and not centred; constant columns are only centred. Without a ``scale``, views of extreme
    entries are divided by a power of two, which rounds nothing.

    Parameters
    ----------
    source : RowSource
        Views without infinite entries.
    scale : "standard" or None
    facts : Facts
        Those of all rows.

    Returns
    -------
    list of (ColumnScaling or None)
        The same to the last bit for all orders of the rows and sizes of the blocks. None for all
        views if they are used as they are.
    """
    if scale is None:
        return _powers(np.maximum(facts.largest, 0.0), source.n_features, source.dtype)
    # Values are rounded to units so small, and to integers so few, that their sums are exact.
    bits = SUM_BITS - source.n_samples.bit_length()
    ends = np.cumsum(source.n_features)[:-1]
    low, high = np.nan_to_num(source.sum(_limits, join=np.fmax)) * [[-1.0], [1.0]]

    def means_of(centres, power):
        """Means of ``((x - centre) / 2^exponent) ** power``, exponents, and which are sparse."""
        exponents = np.frexp(np.maximum(high - centres, centres - low))[1]
        columns = np.split(centres, ends), np.split(exponents, ends)
        counts, is_sparse, sums = source.sum(_unit_sums, *columns, bits, power)
        return sums / 2.0**bits / np.maximum(counts, 1), exponents, is_sparse > 0

    # Deviations from the mean need a second pass, in which nothing cancels.
    means, exponents, is_sparse = means_of(np.zeros(len(low)), 1)
    centres = np.ldexp(means, exponents)
    variances, exponents, _ = means_of(centres, 2)
    deviations = np.ldexp(np.sqrt(variances), exponents)
    # Constant columns are not divided by a rounding error, and sparse ones are not centred.
    limit = CONSTANT * np.finfo(source.dtype).eps
    deviations[deviations <= limit * np.abs(centres)] = 1.0
    centres[is_sparse] = 0.0
    return list(map(ColumnScaling, np.split(centres, ends), np.split(deviations, ends)))


def _powers(largest, n_features, dtype):
    """Scalings of all views by powers of two; None for all if no view has extreme entries."""
    limits = np.finfo(dtype)
    low, high = float(limits.tiny) ** SMALL_ENTRIES, float(limits.max) ** LARGE_ENTRIES
    is_usual = (largest == 0) | (low <= largest) & (largest <= high)
    if is_usual.all():
        return [None] * len(n_features)
    powers = np.ldexp(1.0, np.where(is_usual, 0, np.frexp(largest)[1] - 1))
    pairs = zip(n_features, powers, strict=True)
    return [ColumnScaling(np.zeros(d), np.full(d, power)) for d, power in pairs]


def _limits(first, views):
    """Minus the smallest, and the largest value of each column of one block, of shape (2, d)."""
    low, high = map(np.concatenate, zip(*map(column_limits, views), strict=True))
    return np.array([-low, high], dtype=np.float64)


def _unit_sums(first, views, centres, exponents, bits, power):
    """What one block adds for the columns of all views, of shape (3, d), int64.

    The rows are the numbers of values, whether the view is sparse, and the sums of
    ``((x - centre) / 2^exponent) ** power`` in units of ``2^-bits``.
    """

    def units(offsets, exponents):
        return np.rint(np.ldexp(offsets, -exponents) ** power * 2.0**bits).astype(np.int64)

    parts = []
    for X, centre, exponent in zip(views, centres, exponents, strict=True):
        n, d = X.shape
        if is_sparse := scipy.sparse.issparse(X):
            X = X[~missing_rows(X)]
            counts, columns = np.full(d, X.shape[0]), X.indices
            # Entries that are not stored are zeros.
            zeros = counts - np.bincount(columns, minlength=d)
            sums = zeros * units(-centre * (zeros > 0), exponent)
            np.add.at(sums, columns, units(X.data - centre[columns], exponent[columns]))
        else:
            offsets, is_known = X.astype(np.float64) - centre, ~np.isnan(X)
            counts = is_known.sum(axis=0)
            sums = np.sum(units(np.where(is_known, offsets, 0), exponent), axis=0)
        parts.append([counts, np.full(d, is_sparse), sums])
    return np.hstack(parts)


def is_centred(scaling):
    """Whether a `ColumnScaling` or None centres any column."""
    return scaling is not None and bool(scaling.centres.any())


def fill_row(X, scaling):
    """The row from which missing cells of scaled rows are `filled`: zeros if they are centred."""
    return mean_row(X) * (not is_centred(scaling))


def scaled(views, scalings):
    """The views in the units of their scalings; as they are if these are None."""
    if None in scalings:
        return views
    return [scaling(X) for X, scaling in zip(views, scalings, strict=True)]
