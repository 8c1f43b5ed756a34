"""Rows of unit length: canonical order, centred rows, reduced columns, and rows of new samples."""

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from .._utils.messages import counted, warn_user

BLOCK = 8192  # rows; bounds temporaries, and fixes the shapes of products with BLAS
SMALL_BLOCK = 1024  # rows, if arrays with many features are in memory too
MIN_OFFSET = 1e-6  # length of a centred row, below which it is a rounding error of single precision
KEY_BITS = 44  # after the point; rounding errors of sums are far below, random rows seldom agree
SUM_BITS = 30  # after the point, of directions that are summed exactly


def missing_rows(X):
    """Mask of the missing rows of a view, of shape (n,).

    More than half of their cells are NaN; rows of a sparse view store NaN, once or more often, and
    nothing else.
    """
    if scipy.sparse.issparse(X):
        counts = _stored(X, np.isnan(X.data))
        return (counts > 0) & (counts == np.diff(X.indptr))
    rows = incomplete_rows(X)
    if rows.any():
        rows[rows] = 2 * np.isnan(X[rows]).sum(axis=1) > X.shape[1]
    return rows


def _stored(X, chosen):
    """Number of the entries of each row of a sparse view that a mask of its data chooses."""
    return np.diff(np.append(0, np.cumsum(chosen))[X.indptr])


def incomplete_rows(X):
    """Mask of the rows of an array that contain NaN, of shape (n,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        rows = np.isnan(X.sum(axis=1))  # also if infinite values cancel
    if rows.any():
        rows[rows] = np.isnan(X[rows]).any(axis=1)
    return rows


def presence(views):
    """Mask of the samples that have each view, of shape (v, n).

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Views in which no row is partially NaN.
    """
    return np.array(
        [~(missing_rows(X) if scipy.sparse.issparse(X) else np.isnan(X[:, 0])) for X in views]
    )


def zero_rows(X):
    """Mask of the rows of a view whose cells are all zero; some, but not most, may be missing."""
    rows = zero_or_missing_rows(X)
    rows[rows] = ~missing_rows(X[rows])
    return rows


def zero_or_missing_rows(X):
    """Mask of the rows of a view whose cells are all zero or missing."""
    if scipy.sparse.issparse(X):
        return _stored(X, (X.data < 0) | (X.data > 0)) == 0
    # The first columns exclude nearly all samples.
    rows = _without_values(X[:, :16])
    if rows.any():
        rows[rows] = _without_values(X[rows, 16:])
    return rows


def _without_values(X):
    """Mask of the rows of an array whose cells are all zero or missing."""
    return ~((X < 0) | (X > 0)).any(axis=1)  # != 0 would count NaN


def canonical_order(views, keys=None):
    """An order of the samples that depends on their contents alone.

    Samples are sorted by `row_keys`. Where these are equal, a hash of the contents decides, so that
    samples with the same key and hash are equal in all views.

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Rows may be NaN.
    keys : ndarray of shape (n,), optional
        Their `row_keys`, if they are known.

    Returns
    -------
    ndarray of shape (n,) of int
    """
    keys = row_keys(views) if keys is None else keys

    def hashes():
        """Hashes of the rows whose keys are equal; zeros for others, which keys alone order."""
        _, key, counts = np.unique(keys, return_inverse=True, return_counts=True)
        tied = counts[key] > 1
        out = np.zeros(len(keys), dtype=np.uint64)
        out[tied] = row_hashes([X[tied] for X in views])
        return out

    return sorted_rows(keys, hashes)


def sorted_rows(keys, hashes):
    """Indices that sort keys; ``hashes`` is called for a second key if keys are equal."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    return np.lexsort([hashes(), keys]) if (ordered[1:] == ordered[:-1]).any() else order


def row_keys(views, sums=None):
    """A number for each sample: the cosine of its row with the mean direction, summed over views.

    Neither columns of zeros nor the order of columns or views change it, as it depends on inner
    products of rows alone; nor do factors of rows, as it is rounded.

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
    sums : ndarray of int, optional
        `direction_sums` of all samples, if the views are a part of them.
    """
    sums = direction_sums(views) if sums is None else sums
    ends = np.cumsum([X.shape[1] for X in views])[:-1]
    keys = 0.0
    for X, part in zip(views, np.split(sums, ends), strict=True):
        mean = part / max(1.0, np.linalg.norm(part.astype(np.float64)))
        cosines = [_row_sums(_directions(X[rows]), mean) for rows in _batches(X)]
        # Sums of integers do not depend on the order of the views.
        keys = keys + np.rint(np.concatenate(cosines) * 2.0**KEY_BITS)
    return keys


def direction_sums(views):
    """Sums of the columns of the rows divided by their lengths, in units of 2^-30.

    They are sums of integers, and thus the same for all orders and blocks of the samples.

    Returns
    -------
    ndarray of shape (d_0 + d_1 + ...,), int64
    """
    sums = []
    for X in views:
        total = np.zeros(X.shape[1], dtype=np.int64)
        for rows in _batches(X):
            # Integers make sums exact, and so independent of the order of rows and blocks.
            U = _directions(X[rows])
            if scipy.sparse.issparse(U):
                units = np.rint(U.data * 2.0**SUM_BITS)
                total += np.bincount(U.indices, units, X.shape[1]).astype(np.int64)
            else:
                total += np.rint(U * 2.0**SUM_BITS).sum(axis=0).astype(np.int64)
        sums.append(total)
    return np.concatenate(sums)


def _batches(X):
    return gen_batches(X.shape[0], SMALL_BLOCK)


def _directions(X):
    """Rows divided by their lengths, in float64; zeros in place of NaN."""
    sparse = scipy.sparse.issparse(X)
    values = X.data if sparse else X
    values = np.where(np.isnan(values), values.dtype.type(0), values)  # infinite ones were refused
    X = with_data(X, values) if sparse else values
    squares = _row_sums(X, X)
    lengths = np.where(squares > np.finfo(X.dtype).tiny, np.sqrt(squares), np.inf)
    if sparse:
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


def row_hashes(views):
    """A 64-bit hash of each sample in all views, of shape (n,), uint64."""
    hashes = np.zeros(views[0].shape[0], dtype=np.uint64)
    for i, X in enumerate(views):
        # Odd weights differ for each view and column, so that equal entries elsewhere give other
        # hashes.
        weights = _mixed(np.arange(X.shape[1], dtype=np.uint64) + np.uint64(i << 40)) | np.uint64(1)
        for rows in gen_batches(X.shape[0], SMALL_BLOCK):
            block = dense(X[rows]) + 0.0  # no negative zeros
            block[np.isnan(block)] = np.nan
            hashes[rows] += (_mixed(block.view(np.uint64)) * weights).sum(axis=1, dtype=np.uint64)
    return hashes


def _mixed(bits):
    """The finalizer of SplitMix64 (Steele, Lea & Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


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
    first, second = (dense(X[rows + k]) for k in (0, 1))
    missing = np.isnan(first)
    distance = abs(unit_rows(np.nan_to_num(first)) - unit_rows(np.nan_to_num(second))).max(axis=1)
    return (distance < 64 * np.finfo(X.dtype).eps) & (missing == np.isnan(second)).all(axis=1)


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


def constant_views(views, consequence, names):
    """Indices of the views in which all samples are equal, with a UserWarning that names them."""
    constant = [i for i, X in enumerate(views) if is_constant(X)]
    if constant:
        warn_user(
            f"{'view' if len(constant) == 1 else 'views'} "
            f"{' and '.join(repr(names[i]) for i in constant)}: all samples are equal, "
            f"{consequence}"
        )
    return constant


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


def unit_rows(X):
    """Rows of X divided by their lengths; rows whose squares vanish beside their view are zeros."""
    if scipy.sparse.issparse(X):
        return normalize(with_data(X, X.data.copy()), copy=False) if X.shape[0] else X
    # scikit-learn's normalize leaves lengths below 10 eps as they are.
    lengths = row_norms(X)
    is_positive = lengths > np.sqrt(np.finfo(X.dtype).tiny)
    return X / np.where(is_positive, lengths, np.inf)[:, None]


def with_data(X, data):
    """A csr matrix with the indices of X, which are shared, and with other data."""
    return scipy.sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def centred(X, mean=None):
    """Unit rows X minus their mean row, scaled to unit length; rounding errors become zeros."""
    offsets = X - (row_mean(X) if mean is None else mean)
    lengths = row_norms(offsets)
    lengths[lengths <= MIN_OFFSET] = np.inf
    offsets /= lengths[:, None]
    return offsets


def row_mean(X):
    return X.mean(axis=0, dtype=np.float64).astype(X.dtype)
