"""Columns in standard units, and views whose squares can be represented: exact over blocks."""

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
ZERO_PLACE = -10_000  # of a column of zeros, below that of any other
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


class Moments(NamedTuple):
    """Exact sums of the values of columns, and of their squares; those of two blocks are added.

    Attributes
    ----------
    counts : ndarray of shape (d,), int64
        Number of values of each column.
    places : ndarray of shape (d,) of int
        The leading digit of the largest value of each column counts ``2^(18 * place)``.
    sums : ndarray of shape (4, d), int64
        Sums of the digits, the leading ones first.
    products : ndarray of shape (4, 4, d), int64
        Sums of the products of each two digits.
    sparse : ndarray of shape (d,), bool
        Whether each column is that of a sparse view.
    """

    counts: np.ndarray
    places: np.ndarray
    sums: np.ndarray
    products: np.ndarray
    sparse: np.ndarray

    def __add__(self, other):
        places = np.maximum(self.places, other.places)
        (sums, products), (more_sums, more_products) = self._moved(places), other._moved(places)
        return Moments(
            self.counts + other.counts,
            places,
            sums + more_sums,
            products + more_products,
            self.sparse | other.sparse,
        )

    def _moved(self, places):
        """Sums and products of the digits from higher places on; lower digits are dropped."""
        moved = np.arange(N_DIGITS)[:, None] - (places - self.places)
        exists, moved = moved >= 0, np.maximum(moved, 0)
        sums = np.take_along_axis(self.sums, moved, axis=0) * exists
        products = np.take_along_axis(self.products, moved[:, None], axis=0) * exists[:, None]
        return sums, np.take_along_axis(products, moved[None], axis=1) * exists

    def means_and_deviations(self):
        """Mean and standard deviation of each column, correct up to the digits that were cut."""
        weights = [2 ** (DIGIT_BITS * (N_DIGITS - 1 - k)) for k in range(N_DIGITS)]
        # Integers of Python have no limit, so that the difference below cancels nothing.
        n = np.maximum(self.counts, 1).astype(object)
        total = sum(w * row for w, row in zip(weights, self.sums.astype(object), strict=True))
        squares = 0
        for w, rows in zip(weights, self.products.astype(object), strict=True):
            squares = squares + w * sum(v * row for v, row in zip(weights, rows, strict=True))
        spread = n * squares - total * total
        unit = DIGIT_BITS * (self.places - N_DIGITS + 1)
        means = np.ldexp((total / n).astype(np.float64), unit)
        deviations = np.ldexp(np.sqrt(spread.astype(np.float64)) / self.counts.clip(1), unit)
        return means, deviations


def fit_scalings(source, scale, largest):
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
    largest : sequence of float
        The largest absolute value of each view.

    Returns
    -------
    list of (ColumnScaling or None)
        The same to the last bit for all orders of the rows and sizes of the blocks. None for all
        views if they are used as they are.
    """
    if scale is None:
        return _powers(largest, source.n_features, source.dtype)
    moments = source.sum(_moments)
    centres, deviations = moments.means_and_deviations()
    # Constant columns are not divided by a rounding error, and sparse ones are not centred.
    limit = CONSTANT * np.finfo(source.dtype).eps
    deviations[deviations <= limit * np.abs(centres)] = 1.0
    centres[moments.sparse] = 0.0
    ends = np.cumsum(source.n_features)[:-1]
    return list(map(ColumnScaling, np.split(centres, ends), np.split(deviations, ends)))


def in_range(views):
    """Views of extreme entries divided by a power of two; usual ones as they are."""
    largest, n_features = map(largest_entry, views), [X.shape[1] for X in views]
    return scaled(views, _powers(largest, n_features, views[0].dtype))


def largest_entry(X):
    """The largest absolute value of a view without its missing cells; 0 if there is none."""
    values = X.data if scipy.sparse.issparse(X) else X
    low, high = np.fmin.reduce(values, None, initial=0), np.fmax.reduce(values, None, initial=0)
    return float(max(high, -low))


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


def _moments(first, views):
    """The `Moments` of the columns of all views in one block, one view after the other."""
    parts = zip(*map(_moments_of_view, views), strict=True)
    return Moments(*(np.concatenate(part, axis=-1) for part in parts))


def _moments_of_view(X):
    """The `Moments` of one view in one block."""
    n_columns, is_sparse = X.shape[1], scipy.sparse.issparse(X)
    # The values that are summed, the column of each, and the function that sums by column
    if is_sparse:
        X = X[~missing_rows(X)]
        counts = np.full(n_columns, X.shape[0])
        largest = abs(X).max(axis=0).toarray().ravel() if X.shape[0] else np.zeros(n_columns)
        values, columns = X.data, X.indices

        def total(numbers):
            return np.bincount(columns, numbers, n_columns)
    else:
        is_missing = np.isnan(X)
        counts = len(X) - is_missing.sum(axis=0)
        values = np.where(is_missing, 0, X)
        largest = np.maximum(values.max(axis=0), -values.min(axis=0))
        columns = slice(None)

        def total(numbers):
            return numbers.sum(axis=0)

    # Digits are integers of at most 18 bits with the sign of their value.
    places = np.where(largest > 0, (np.frexp(largest)[1] - 1) // DIGIT_BITS, ZERO_PLACE)
    remainder = np.ldexp(values.astype(np.float64), -DIGIT_BITS * places[columns])
    digits = []
    for _ in range(N_DIGITS):
        digits.append(np.trunc(remainder))
        remainder = (remainder - digits[-1]) * 2.0**DIGIT_BITS
    # Sums of digits and of their products, exact in float64.
    sums = np.array([total(digit) for digit in digits])
    products = np.empty((N_DIGITS, N_DIGITS, n_columns))
    for k, digit in enumerate(digits):
        for j in range(k + 1):
            products[j, k] = products[k, j] = total(digit * digits[j])
    return Moments(
        counts,
        places,
        sums.astype(np.int64),
        products.astype(np.int64),
        np.full(n_columns, is_sparse),
    )


def scaled(views, scalings):
    """The views in the units of their scalings; as they are if these are None."""
    if None in scalings:
        return views
    return [scaling(X) for X, scaling in zip(views, scalings, strict=True)]
