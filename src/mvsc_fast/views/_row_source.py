"""Aligned rows of all views, block by block, wherever the views are kept."""

import functools
import operator

import numpy as np
import scipy.sparse

from .._utils.containers import check_container, checked_csr
from ._rows import BLOCK

BLOCK_BYTES = 2**25  # maximum size of a block in float64
MIN_ROWS = 128  # minimum number of rows of a block, because reading fewer is inefficient


def is_dask(view):
    """Whether a view is an array of Dask; a data frame may have columns of these names."""
    return hasattr(type(view), "__dask_graph__") and hasattr(type(view), "chunks")


def is_stored(view):
    """Whether a view is read by slices: a memory map or another stored array, or without memory."""
    if isinstance(view, np.memmap):
        return view._mmap is not None  # copies of rows are in memory
    if isinstance(view, np.ndarray):
        return view.ndim == 2 and view.strides == (0, 0)
    return (
        not scipy.sparse.issparse(view)
        and isinstance(getattr(view, "dtype", None), np.dtype)
        and len(getattr(view, "shape", ())) == 2
        and hasattr(view, "__getitem__")
    )


class RowSource:
    """Views whose rows are read in blocks of a bounded size, never all at once.

    Its ``views`` are arrays, csr matrices, memory maps, and other objects with a
    shape, a dtype and slices, such as HDF5 data sets and zarr arrays. `read_views` makes it from
    the views of a user.
    """

    is_lazy = False  # whether rows are read when results are computed, perhaps elsewhere

    def __init__(self, views, *, titles=None, names=None, columns=None, index=None, listed=True):
        self.views = views
        self.titles = titles or [f"view {i}" for i in range(len(views))]  # for messages
        self.names = list(range(len(views))) if names is None else names  # keys of a mapping
        # Names of the columns of each data frame, if all of them are strings; None for other views.
        self.columns = [None] * len(views) if columns is None else columns
        self.index = index  # ids of the samples, if a view has them
        self.listed = listed  # False if a single matrix was given
        # Shapes and types are known before any row is read.
        for view, title in zip(views, self.titles, strict=True):
            check_matrix(view, title)
            if view.shape[0] != views[0].shape[0]:
                raise ValueError(
                    f"{title} has {view.shape[0]} samples, {self.titles[0]} has "
                    f"{views[0].shape[0]}: every view must describe the same samples, as rows"
                )
        self.n_samples = int(views[0].shape[0])
        self.n_features = [int(view.shape[1]) for view in views]
        self._stored = list(map(is_stored, views))
        # One type for all views, the smallest that keeps what they have.
        single = all(view.dtype == np.float32 for view in views)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        parts = BLOCK_BYTES // (8 * sum(self.n_features) * MIN_ROWS)
        self.rows = int(min(BLOCK, max(1, parts) * MIN_ROWS))  # of a block
        self.first = 0  # index of the first row, if this source is a part of another
        self.scalings = [None] * len(views)  # of rows that are read; None for no change
        self.facts = None  # of all rows, if they are in memory and were checked

    def map(self, function, *args):
        """Yield ``function(first, blocks, *args)`` for every block of rows, in order.

        ``first`` is the index of the block's first row, and ``blocks`` are its rows in every view,
        C-contiguous arrays or csr matrices of ``dtype``.
        """
        for rows in self._blocks():
            blocks = [self._read(i, rows) for i in range(len(self.views))]
            yield function(self.first + rows.start, blocks, *args)

    def sum(self, function, *args, join=operator.add):
        """Sum of the results of `map`, added in order, or as ``join`` combines them."""
        return functools.reduce(join, self.map(function, *args))

    def per_row(self, function, dtype, *args):
        """The results of `map` as one array; ``dtype`` may have a shape, that of one row."""
        out = np.empty(self.n_samples, dtype=dtype)
        for rows, values in zip(self._blocks(), self.map(function, *args), strict=True):
            out[rows] = values
        return out

    def take(self, indices):
        """The rows of every view with the given indices, which ascend."""
        if not any(self._stored):
            return [self._read(i, indices) for i in range(len(self.views))]
        return [_stacked(parts) for parts in zip(*self._parts(indices), strict=True)]

    def _parts(self, indices):
        """Yield rows of every view with ascending indices, block by block."""
        for rows in self._blocks():
            low, high = np.searchsorted(indices, [rows.start, rows.stop])
            if low < high:
                chosen = indices[low:high] - rows.start
                yield [self._read(i, rows)[chosen] for i in range(len(self.views))]

    def labels_like(self, labels):
        """Labels of all rows, in the container that `per_row` returns."""
        return labels

    def load(self):
        """All rows of every view; those in memory and of this type are not copied."""
        return [
            self._read(i, slice(0, self.n_samples) if stored else None)
            for i, stored in enumerate(self._stored)
        ]

    def _blocks(self):
        for start in range(0, self.n_samples, self.rows):
            yield slice(start, min(start + self.rows, self.n_samples))

    def _read(self, i, rows):
        """Rows of a view as a C-contiguous array or a csr matrix of ``dtype``, and scaled.

        Those of a stored view are a slice, and None is all rows of a view in memory.
        """
        part = self.views[i] if rows is None else self.views[i][rows]
        if self._stored[i]:
            shape = rows.stop - rows.start, self.n_features[i]
            part = checked_block(part, self.titles[i], self.first + rows.start, shape)
        if isinstance(part, np.ndarray):
            part = np.ascontiguousarray(part, dtype=self.dtype)
        else:
            part = part.astype(self.dtype, copy=False)
        scaling = self.scalings[i]
        return part if scaling is None else scaling(part)


def check_matrix(X, title):
    """Raise ValueError unless X is a matrix of real numbers with at least one column."""
    if len(X.shape) != 2:
        raise ValueError(
            f"{title} has shape {X.shape}: pass a list of matrices of shape (n_samples, "
            'n_features), or affinity="precomputed" for a stack of similarity matrices. Reshape '
            "your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample"
        )
    if X.shape[1] == 0:
        raise ValueError(
            f"{title}: found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is "
            "required."
        )
    if X.dtype.kind not in "fiub":
        reason = "Complex data not supported: " if X.dtype.kind == "c" else ""
        raise ValueError(f"{reason}{title} has dtype {X.dtype}: convert it to real numbers")


def checked_block(part, title, first, shape):
    """Rows that a stored or lazy view returned, if they have the shape that it declares.

    ``first`` is the index of the first row, ``title`` the name of the view.
    """
    rows = f"{title}, rows {first} to {first + shape[0] - 1}"
    check_container(part, rows)  # some files contain masked arrays
    part = checked_csr(part, rows) if scipy.sparse.issparse(part) else np.asarray(part)
    if part.shape != shape:
        raise ValueError(f"{rows}: got the shape {part.shape}, but the view declares {shape}")
    return part


def _stacked(parts):
    """Blocks of consecutive rows as one array or csr matrix."""
    if scipy.sparse.issparse(parts[0]):
        return scipy.sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
