"""Matrices that are written row by row, in memory or in a temporary file."""

import io
import tempfile

import numpy as np
from sklearn.utils import gen_batches

from ..views._rows import BLOCK


def new_store(lazy):
    """A stream for the rows of a matrix: a temporary file if ``lazy``, else memory."""
    return tempfile.TemporaryFile(prefix="mvsc-fast-") if lazy else io.BytesIO()


def matrix_of(store, dtype, width):
    """The matrix in a store; that in a temporary file is mapped, not read."""
    if isinstance(store, io.BytesIO):
        return np.frombuffer(store.getbuffer(), dtype).reshape(-1, width)
    with store:
        store.flush()
        return np.memmap(store, dtype, "r").reshape(-1, width)


def taken(X, rows, columns=None):
    """Rows of a matrix, with NaN for row -1, and some of its columns; mapped if X is mapped."""
    columns = range(X.shape[1]) if columns is None else columns
    if list(columns) == list(range(columns[0], columns[-1] + 1)):
        X, columns = X[:, columns[0] : columns[-1] + 1], range(len(columns))
    if len(columns) == X.shape[1] and np.array_equal(rows, np.arange(len(X))):
        return X
    store = new_store(isinstance(X, np.memmap))
    for part in gen_batches(len(rows), BLOCK):
        block = X[np.ix_(rows[part], columns)]
        block[rows[part] < 0] = np.nan
        store.write(block)
    return matrix_of(store, X.dtype, len(columns))
