"""Stored views of which rows are selected or transformed when they are read."""

import numpy as np

from ._row_source import RowSource, checked_block


class LazyView:
    """Some rows of a stored view, or its transformed rows, which are computed when they are read.

    Rows are read by slices; ``numpy.asarray`` reads all. ``rows`` are ascending indices, by default
    all. ``transform(first, block)`` returns the transformed rows of a block of consecutive rows,
    the first of which has the index ``first``; each may only depend on the same row of the block.
    """

    ndim = 2

    def __init__(self, view, title, *, rows=None, transform=None):
        self._source = RowSource([view], titles=[title])
        self._rows = range(view.shape[0]) if rows is None else rows
        self._transform = transform
        like = self._read(self._rows[:1])
        self.shape, self.dtype = (len(self._rows), like.shape[1]), like.dtype

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        if not isinstance(rows, slice):
            raise TypeError("rows are read by slices: use numpy.asarray(view) for other indices")
        chosen = self._rows[rows]
        return self._read(chosen) if len(chosen) else np.empty((0, self.shape[1]), self.dtype)

    def _read(self, chosen):
        chosen = np.asarray(chosen, dtype=np.intp)
        low, high = (chosen.min(), chosen.max() + 1) if len(chosen) else (0, 0)
        view, title = self._source[0], self._source.titles[0]
        shape = high - low, view.shape[1]
        block = checked_block(view[low:high], title, low, shape, view.dtype)
        if self._transform is not None:
            block = self._transform(low, block)
        block = block[chosen - low]
        self._source.release()
        return block

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:], dtype=dtype)
