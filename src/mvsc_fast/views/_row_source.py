"""Aligned rows of all views, block by block, wherever the views are kept."""

import functools
import mmap
import operator
import re
from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np
import scipy.sparse

from .._utils.containers import check_container, checked_csr
from . import named_views
from ._frames import view_title

BLOCK = 8192  # maximum number of rows of a block
BLOCK_BYTES = 2**25  # maximum size of a block in float64 if no limit is known
COPIES = 8  # number of copies of a block in float64 that a pass needs
LEAST_ROWS = 128  # minimum number of rows of a block, because reading fewer is inefficient
UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def check_bytes(value, name):
    """Convert a number such as 2e9 or a string such as "600MiB" to a number of bytes."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and value > 0 and float(value).is_integer():
        return int(value)
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([A-Za-z]*)\s*", value)
        if found and found[2].upper() in UNITS and float(found[1]) > 0:
            return int(float(found[1]) * UNITS[found[2].upper()])
    raise ValueError(
        f'{name} must be a number of bytes or a string such as "600MiB" or "2GB", got {value!r}'
    )


def rows_of(X, *, min_samples=2):
    """The row source of views in memory, in files or on other machines.

    Views in memory are validated here, others while their rows are read.

    Parameters
    ----------
    X : list, tuple, dict or generator of views, or one view
        Views as in `check_views`, or memory maps, HDF5 data sets, zarr arrays, Dask arrays.
    min_samples : int, default=2

    Returns
    -------
    RowSource
        With the attributes ``names``, ``columns`` and ``listed`` of `NamedViews`.
    """
    source = stored_rows(X)
    if source is None:
        given = named_views(X, ensure_min_samples=min_samples, missing=True)
        source = RowSource(given.arrays)
        source.names, source.columns, source.listed = given.names, given.columns, given.listed
    elif source.n_samples < min_samples:
        raise ValueError(
            f"{source.titles[0]} has {source.n_samples} samples: at least {min_samples} are needed"
        )
    return source


def stored_rows(X, rows=None):
    """The row source of X if any of its views is stored outside memory, else None.

    Parameters
    ----------
    X : list or dict of views, or one view
    rows : int, optional
        See `RowSource`.
    """
    listed = isinstance(X, (list, tuple, Mapping)) and not scipy.sparse.issparse(X)
    named = isinstance(X, Mapping) and listed
    views = list(X.values() if named else X if listed else [X])
    names = list(X) if named else list(range(len(views)))
    titles = [view_title(name) for name in names] if listed else ["X"]
    if any(hasattr(view, "__dask_graph__") for view in views):
        from ._dask import DaskSource

        source = DaskSource(views, titles, rows)
    elif any(map(_is_stored, views)):
        source = RowSource(views, titles, rows)
    else:
        return None
    source.names, source.columns, source.listed = names, [None] * len(names), listed
    return source


def _is_stored(view):
    """Whether a view is a memory map or another stored array that is read by slices."""
    if isinstance(view, np.memmap):
        return view.ndim == 2
    return (
        not isinstance(view, np.ndarray)
        and not scipy.sparse.issparse(view)
        and isinstance(getattr(view, "dtype", None), np.dtype)
        and len(getattr(view, "shape", ())) == 2
        and hasattr(view, "__getitem__")
    )


class RowSource(Sequence):
    """Views whose rows are read in blocks of a bounded size, never all at once.

    It is also a sequence of the views, each of which has a shape and a dtype.

    Parameters
    ----------
    views : list of array-like of shape (n, d_i)
        Arrays, sparse matrices, memory maps, and other objects with a shape, a dtype and slices,
        such as HDF5 data sets and zarr arrays.
    titles : list of str, optional
        Names of the views in messages.
    rows : int, optional
        Number of rows of a block. None is the result of `block_rows`. No result depends on it.
    first : int, default=0
        Index of the first row, if this source is a part of another.

    Attributes
    ----------
    n_samples : int
    n_features : list of int
    dtype : dtype
        Data type of all blocks: float32 if all views are float32, else float64.

    Raises
    ------
    ValueError
        If the views are not matrices of real numbers with the same samples.
    """

    def __init__(self, views, titles=None, rows=None, first=0):
        self.titles = titles or [f"view {i}" for i in range(len(views))]
        self.views = [self._checked(*titled) for titled in zip(views, self.titles, strict=True)]
        self.n_samples = int(self.views[0].shape[0])
        for X, title in zip(self.views, self.titles, strict=True):
            if X.shape[0] != self.n_samples:
                raise ValueError(
                    f"{title} has {X.shape[0]} samples, {self.titles[0]} has {self.n_samples}: "
                    "every view must describe the same samples"
                )
        self.n_features = [int(X.shape[1]) for X in self.views]
        single = all(X.dtype == np.float32 for X in self.views)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.rows = rows or block_rows(self.n_features)
        self.first = first

    @property
    def arrays(self):
        """The views, as in `NamedViews`."""
        return self.views

    def __len__(self):
        return len(self.views)

    def __getitem__(self, i):
        return self.views[i]

    def _checked(self, X, name):
        """A view that can be read by slices."""
        check_container(X, name)
        if scipy.sparse.issparse(X):
            X = checked_csr(X, name)
        elif not (isinstance(X, np.ndarray) or _is_stored(X)):
            X = np.asarray(X)
        _check_matrix(X, name)
        return X

    def map(self, function, *args):
        """Yield ``function(first, blocks, *args)`` for every block of rows, in order.

        ``first`` is the index of the block's first row, and ``blocks`` are its rows in every view,
        C-contiguous arrays or csr matrices of ``dtype``.
        """
        for rows in self._blocks():
            blocks = [self._read(X, rows) for X in self.views]
            yield function(self.first + rows.start, blocks, *args)
            self.release()

    def sum(self, function, *args):
        """Sum of the results of `map`, added in order."""
        return functools.reduce(operator.add, self.map(function, *args))

    def per_row(self, function, dtype, *args):
        """The results of `map` as one array with a value for each row."""
        out = np.empty(self.n_samples, dtype=dtype)
        for rows, values in zip(self._blocks(), self.map(function, *args), strict=True):
            out[rows] = values
        return out

    def take(self, indices):
        """The rows of every view with the given indices, in this order."""
        if all(
            isinstance(X, np.ndarray) and not isinstance(X, np.memmap) or scipy.sparse.issparse(X)
            for X in self.views
        ):
            return [X[indices].astype(self.dtype, copy=False) for X in self.views]
        order = np.argsort(indices)
        ascending = np.asarray(indices)[order]
        parts = []
        for rows in self._blocks():
            low, high = np.searchsorted(ascending, [rows.start, rows.stop])
            if low < high:
                chosen = ascending[low:high] - rows.start
                parts.append([self._read(X, rows, chosen) for X in self.views])
                self.release()
        back = np.argsort(order)
        return [_stacked(part)[back] for part in zip(*parts, strict=True)]

    def threads(self, n_threads):
        """Number of threads for one block, if a fit has ``n_threads``."""
        return n_threads

    def labels_like(self, labels):
        """Labels of all rows, in the container that `per_row` returns."""
        return labels

    def _blocks(self):
        for start in range(0, self.n_samples, self.rows):
            yield slice(start, min(start + self.rows, self.n_samples))

    def _read(self, X, rows, chosen=slice(None)):
        if scipy.sparse.issparse(X):
            return X[rows][chosen].astype(self.dtype, copy=False)
        part = X[rows]
        check_container(part, "a view")  # some files contain masked arrays
        part = np.asarray(part)
        return np.ascontiguousarray(part[chosen], dtype=self.dtype)

    def release(self):
        """Release the pages of memory maps, which otherwise count as memory of the process."""
        for X in self.views:
            # Changed pages of a private map ("c") are not in the file.
            if isinstance(X, np.memmap) and X.mode != "c":
                pages = X
                while isinstance(pages, np.ndarray):
                    pages = pages.base
                if hasattr(pages, "madvise"):
                    pages.madvise(mmap.MADV_DONTNEED)


def block_rows(n_features, available=None):
    """Number of rows of a block for a pass that may use ``available`` bytes."""
    size = BLOCK_BYTES if available is None else available // COPIES
    parts = size // (8 * sum(n_features) * LEAST_ROWS)
    return int(min(BLOCK, max(1, parts) * LEAST_ROWS))


def _check_matrix(X, name):
    if X.ndim != 2:
        raise ValueError(f"{name} has shape {X.shape}: it must have rows and columns")
    if X.shape[1] == 0:
        raise ValueError(f"{name} has no columns")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{name} has dtype {X.dtype}: convert it to real numbers")


def _stacked(parts):
    if scipy.sparse.issparse(parts[0]):
        return scipy.sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
