"""Containers that must be checked before their contents are read."""

from itertools import chain

import numpy as np
import scipy.sparse

COMPRESSED = ("csr", "csc", "bsr")


def checked_csr(X, what):
    """A sparse matrix of any format as a csr_array, sorted, without duplicates.

    Compiled code does not check the indices of sparse matrices: an index out of range would crash
    the process. X is not changed; unchanged arrays are shared with it.
    """
    A = _checked(_rebuilt, X, what)
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    return A


def checked_compressed(X, what):
    """A matrix of compressed rows, columns or blocks, in its own format."""
    return _checked(_compressed, X, what)


def _checked(rebuild, X, what):
    try:
        return rebuild(X)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{what} is not a valid sparse {X.format} matrix: {error}") from None


def _rebuilt(X):
    """A csr_array of the checked arrays of X."""
    if len(X.shape) != 2:
        raise ValueError(f"it has shape {X.shape}")
    if X.format in COMPRESSED:
        return _compressed(X).tocsr()
    if X.format == "dia":
        return _from_diagonals(X)
    if X.format == "dok":
        X = X.tocoo()
    if X.format == "lil":
        lengths = [len(row) for row in X.rows]
        if len(lengths) != X.shape[0] or lengths != [len(row) for row in X.data]:
            raise ValueError("rows and data have different lengths")
        rows = np.repeat(np.arange(len(lengths)), lengths)
        columns, data = list(chain(*X.rows)), list(chain(*X.data))
        data = np.array(data, dtype=X.dtype)
    else:
        rows, columns, data = X.row, X.col, X.data
    # All other formats end as coordinates, whose bounds are checked one by one.
    data = _data(data, 1)
    rows = _indices(rows, X.shape[0], "row indices")
    columns = _indices(columns, X.shape[1], "column indices")
    if not len(rows) == len(columns) == len(data):
        raise ValueError("indices and data have different lengths")
    return scipy.sparse.coo_array((data, (rows, columns)), shape=X.shape).tocsr()


def _compressed(X):
    """From compressed rows, columns or blocks."""
    # SciPy's routines trust these arrays, and read outside of memory if they are wrong.
    data = _data(X.data, 3 if X.format == "bsr" else 1)
    block = data.shape[1:] or (1, 1)
    if min(block) == 0 or X.shape[0] % block[0] or X.shape[1] % block[1]:
        raise ValueError(f"blocks of shape {block} do not divide the shape {X.shape}")
    lengths = [size // edge for size, edge in zip(X.shape, block, strict=True)]
    n_rows, n_columns = reversed(lengths) if X.format == "csc" else lengths
    indptr = _indices(X.indptr, len(data) + 1, "indptr")
    if len(indptr) != n_rows + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"indptr must rise from 0 and have {n_rows + 1} entries")
    indices = _indices(X.indices, n_columns, "indices", indptr[-1])
    if len(X.indices) != len(data):
        raise ValueError("indices and data have different lengths")
    parts = data[: indptr[-1]], indices, indptr
    return getattr(scipy.sparse, f"{X.format}_array")(parts, shape=X.shape)


def _from_diagonals(X):
    data, offsets = _data(X.data, 2), np.asarray(X.offsets)
    if offsets.shape != data.shape[:1] or offsets.dtype.kind not in "iu":
        raise ValueError("offsets must be one integer for each diagonal")
    if len(np.unique(offsets)) < len(offsets):
        raise ValueError("offsets occur more than once")
    inside = (offsets > -X.shape[0]) & (offsets < X.shape[1])
    parts = data[inside], offsets[inside].astype(np.int64)
    return scipy.sparse.dia_array(parts, shape=X.shape).tocsr()


def _data(values, ndim):
    values = np.asarray(values)
    if values.ndim != ndim or values.dtype.kind not in "fiubc":
        raise ValueError(f"data has shape {values.shape} and dtype {values.dtype}")
    # scipy.sparse has no routines for half precision, and none for another order of bytes.
    dtype = np.float64 if values.dtype == np.float16 else values.dtype.newbyteorder("=")
    return values.astype(dtype, copy=False)


def _indices(values, end, name, count=None):
    """An array of ``count`` integers from 0 to ``end - 1``."""
    values = np.asarray(values)
    if values.ndim != 1 or (values.dtype.kind not in "iu" and len(values)):
        raise ValueError(f"{name} must be a list of integers")
    values = values[:count]
    if len(values) and not (0 <= int(values.min()) and int(values.max()) < end):
        raise ValueError(f"{name} must lie between 0 and {end - 1}")
    return values.astype(np.int32 if end <= 2**31 else np.int64, copy=False)


def check_container(X, what):
    """Raise ValueError if X is an array whose entries are not plain numbers in rows and columns."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"{what} is a masked array with {np.ma.count_masked(X)} masked entries, and masks are "
            "not read: impute them, or pass X.filled(numpy.nan) if whole rows are masked"
        )
    if isinstance(X, np.matrix):
        raise ValueError(f"{what} is a numpy.matrix: pass numpy.asarray(X)")
    if getattr(getattr(X, "dtype", None), "names", None):
        raise ValueError(
            f"{what} is a structured array with the fields {', '.join(X.dtype.names)}: pass "
            "numpy.lib.recfunctions.structured_to_unstructured(X)"
        )
