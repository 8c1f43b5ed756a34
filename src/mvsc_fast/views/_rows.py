"""Arithmetic of the rows of one view: gaps and zeros, filled cells, arrays, limits of columns."""

import numpy as np
import scipy.sparse
from sklearn.utils import gen_batches

BLOCK = 8192  # rows; bounds temporaries, and fixes the shapes of products with BLAS
SMALL_BLOCK = 1024  # rows, if arrays with many features are in memory too


def missing_rows(X):
    """Mask of the missing rows of a view, of shape (n,).

    More than half of their cells are NaN; rows of a sparse view store NaN, once or more often, and
    nothing else.
    """
    if scipy.sparse.issparse(X):
        counts = _stored(X, np.isnan(X.data))
        return (counts > 0) & (counts == np.diff(X.indptr))
    return 2 * np.isnan(X).sum(axis=1) > X.shape[1]


def _stored(X, chosen):
    """Number of the entries of each row of a sparse view that a mask of its data chooses."""
    return np.diff(np.append(0, np.cumsum(chosen))[X.indptr])


def presence(views):
    """Mask of the samples that have each view, of shape (v, n).

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Views in which no row is partially NaN.
    """
    missing = [missing_rows(X) if scipy.sparse.issparse(X) else np.isnan(X[:, 0]) for X in views]
    return ~np.array(missing)


def zero_or_missing_rows(X):
    """Mask of the rows of a view whose cells are all zero or missing."""
    if scipy.sparse.issparse(X):
        return _stored(X, (X.data < 0) | (X.data > 0)) == 0
    return ~((X < 0) | (X > 0)).any(axis=1)  # != 0 would count NaN


def mean_row(X):
    """Column means without NaN, up to a common factor, of shape (d,), float32.

    Those of centred columns are zeros: their rounding errors depend on the order of the rows.
    """
    if scipy.sparse.issparse(X):
        X = X[~missing_rows(X)]
    # Sums over all cells are fast, and tell by a NaN whether gaps must be left out.
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
        if np.isnan(total).any():
            is_known = ~np.isnan(X)
            total = X.sum(axis=0, dtype=np.float64, where=is_known)
            total *= len(X) / np.maximum(is_known.sum(axis=0), 1)
    total[~np.isfinite(total)] = 0
    if isinstance(X, np.ndarray):
        largest = np.maximum(*np.abs(column_limits(X)))
        total[np.abs(total) <= len(X) ** 1.5 * np.finfo(X.dtype).eps * largest] = 0
    return (total / (np.abs(total).max() or 1)).astype(np.float32)


def filled(X, mean):
    """Fill the missing cells of a view, so that no row is partially NaN.

    Missing cells get their values from a multiple of the mean row, by a least-squares fit to the
    other cells of the row. Rows that lack more than half of their cells become NaN. X itself is
    returned if nothing has to be filled.
    """
    if scipy.sparse.issparse(X):
        return X
    with np.errstate(over="ignore", invalid="ignore"):
        rows = np.flatnonzero(np.isnan(X.sum(axis=1)))  # also if infinite values cancel
    gaps = np.isnan(X[rows])
    rows = rows[gaps.any(axis=1) & ~gaps.all(axis=1)]
    if len(rows) == 0:
        return X
    # A missing cell gets the mean row times the multiple that fits the known cells of its row best.
    out = X.copy()
    for block in gen_batches(len(rows), SMALL_BLOCK):
        part = X[rows[block]].astype(np.float64)
        is_missing = np.isnan(part)
        largest = np.fmax.reduce(np.abs(part), axis=1, keepdims=True)
        known_cells = np.where(is_missing, 0, part) / np.where(largest > 0, largest, 1)
        # A product with BLAS would round a row by its position.
        inner = (known_cells * mean).sum(axis=1, keepdims=True)
        squares = np.where(is_missing, 0, mean**2).sum(axis=1, keepdims=True)
        multiple = largest * np.divide(inner, squares, out=np.zeros_like(inner), where=squares > 0)
        part = np.where(is_missing, multiple * mean, part)
        part[2 * is_missing.sum(axis=1) > X.shape[1]] = np.nan
        out[rows[block]] = part
    return out


def spread(n, count):
    """``count`` evenly spaced indices below n, or all n indices if there are fewer."""
    return np.linspace(0, n - 1, min(count, n)).astype(np.intp)


def dense(X, dtype=np.float64):
    """An array of X, which may be sparse, of a type or, for None, of its own; copied if need be.

    Missing rows of a sparse view are NaN in all columns of the array.
    """
    if not scipy.sparse.issparse(X):
        return np.asarray(X, dtype=dtype)
    array = X.toarray()
    if array.dtype.kind == "f" and X.format == "csr":
        array[missing_rows(X)] = np.nan
    return np.asarray(array, dtype=dtype)


def is_constant(X):
    """Whether all rows of a view are equal."""
    return count_varying(X) == 0


def count_varying(X):
    """Number of columns that are not constant."""
    low, high = column_limits(X)
    return int(np.count_nonzero(low < high))


def column_limits(X):
    """The smallest and the largest value of each column, without missing cells.

    In a sparse row that is missing, the cells that are not stored are zeros.
    """
    if scipy.sparse.issparse(X):
        return dense(X.nanmin(axis=0), None).ravel(), dense(X.nanmax(axis=0), None).ravel()
    return np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
