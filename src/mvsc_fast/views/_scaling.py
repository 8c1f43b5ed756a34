"""Columns in standard units, and views whose squares can be represented: exact over blocks."""

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils import gen_batches

from .._utils.parameters import either, option
from .._utils.types import Scale
from ._rows import SMALL_BLOCK, dense, missing_rows, with_data

# A value is cut to the 4 leading digits, in base 2^18, of the largest value of its column: at least
# 55 bits, as a float64 has 53. Sums of products of two digits are then exact for 2^27 rows.
N_DIGITS, DIGIT_BITS = 4, 18
PAIRS = list(combinations_with_replacement(range(N_DIGITS), 2))
# Deviations below this multiple of the rounding error of the mean are those of constant columns.
CONSTANT = 8
# The largest entries of views that are used as they are, as powers of the limits of their type:
# 1e-38 to 1e77 in double precision, 2e-5 to 4e9 in single precision.
SMALL_ENTRIES, LARGE_ENTRIES = 1 / 8, 1 / 4

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

    With ``scale="standard"``, columns get mean 0 and standard deviation 1, in one pass. Missing
    rows and cells are ignored. Columns of sparse views, which would become dense, are divided by
    their deviations and not centred; constant columns are only centred. Without a ``scale``, views
    of extreme entries are divided by a power of two, which rounds nothing.

    Parameters
    ----------
    source : RowSource
        Views without infinite entries.
    scale : "standard" or None
    facts : sequence of ViewFacts
        What all rows of each view say.

    Returns
    -------
    list of (ColumnScaling or None)
        The same to the last bit for all orders of the rows and sizes of the blocks. None for all
        views if they are used as they are.
    """
    if scale is None:
        entries = [max(0.0, view.entry) for view in facts]
        return _powers(entries, source.n_features, source.dtype)
    # The leading digit of the largest value of each column counts 2^(18 * place).
    places = [(np.frexp(np.maximum(view.largest, 0))[1] - 1) // DIGIT_BITS for view in facts]
    totals = source.sum(_digit_sums, places)
    centres, deviations = _means_and_deviations(totals, np.concatenate(places))
    # Constant columns are not divided by a rounding error, and sparse ones are not centred.
    limit = CONSTANT * np.finfo(source.dtype).eps
    deviations[deviations <= limit * np.abs(centres)] = 1.0
    centres[totals[1] > 0] = 0.0
    ends = np.cumsum(source.n_features)[:-1]
    return list(map(ColumnScaling, np.split(centres, ends), np.split(deviations, ends)))


def _powers(largest, n_features, dtype):
    """Scalings of all views by powers of two; None for all if no view has extreme entries."""
    limits, exponents = np.finfo(dtype), []
    low, high = float(limits.tiny) ** SMALL_ENTRIES, float(limits.max) ** LARGE_ENTRIES
    for entry in largest:
        is_usual = entry == 0 or low <= entry <= high
        exponents.append(0 if is_usual else int(np.frexp(entry)[1]) - 1)
    if not any(exponents):
        return [None] * len(exponents)
    return [
        ColumnScaling(np.zeros(d), np.full(d, np.ldexp(1.0, exponent)))
        for d, exponent in zip(n_features, exponents, strict=True)
    ]


def _digit_sums(first, views, places):
    """What one block adds to the sums of the columns of all views, of shape (16, d), int64.

    The rows are the numbers of values, whether views are sparse, the sums of the digits of values,
    the leading ones first, and the sums of the products of the `PAIRS` of digits.
    """
    return np.hstack([_digit_sums_of(X, place) for X, place in zip(views, places, strict=True)])


def _digit_sums_of(X, places):
    """The `_digit_sums` of one view."""
    n_columns, is_sparse = X.shape[1], scipy.sparse.issparse(X)
    # The values that are summed, the column of each, and the function that sums by column
    if is_sparse:
        X = X[~missing_rows(X)]
        counts = np.full(n_columns, X.shape[0])
        values, columns = X.data, X.indices

        def total(numbers):
            return np.bincount(columns, numbers, n_columns)
    else:
        is_missing = np.isnan(X)
        counts = len(X) - is_missing.sum(axis=0)
        values, columns = np.where(is_missing, 0, X), slice(None)

        def total(numbers):
            return numbers.sum(axis=0)

    # Digits are integers of at most 18 bits with the sign of their value.
    remainder = np.ldexp(values.astype(np.float64), -DIGIT_BITS * places[columns])
    digits = []
    for _ in range(N_DIGITS):
        digits.append(np.trunc(remainder))
        remainder = (remainder - digits[-1]) * 2.0**DIGIT_BITS
    # Sums of digits and of their products are exact in float64.
    products = [total(digits[j] * digits[k]) for j, k in PAIRS]
    rows = [counts, np.full(n_columns, is_sparse), *map(total, digits), *products]
    return np.array(rows, dtype=np.int64)


def _means_and_deviations(totals, places):
    """Mean and standard deviation of each column, correct up to the digits that were cut."""
    counts, _, *sums = totals.astype(object)
    sums, products = sums[:N_DIGITS], sums[N_DIGITS:]
    weights = [2 ** (DIGIT_BITS * (N_DIGITS - 1 - k)) for k in range(N_DIGITS)]
    # Integers of Python have no limit, so that the difference below cancels nothing.
    n = np.maximum(counts, 1)
    total = sum(weight * row for weight, row in zip(weights, sums, strict=True))
    squares = 0
    for (j, k), row in zip(PAIRS, products, strict=True):
        squares = squares + (1 if j == k else 2) * weights[j] * weights[k] * row
    spread = n * squares - total * total
    unit = DIGIT_BITS * (places - N_DIGITS + 1)
    means = np.ldexp((total / n).astype(np.float64), unit)
    deviations = np.ldexp(np.sqrt(spread.astype(np.float64)) / n.astype(np.float64), unit)
    return means, deviations


def scaled(views, scalings):
    """The views in the units of their scalings; as they are if these are None."""
    if None in scalings:
        return views
    return [scaling(X) for X, scaling in zip(views, scalings, strict=True)]
