"""Some rows of a stored view, which are read later."""

import numpy as np

from ._row_source import RowSource, checked_block


class LazyView:
    """Some rows of a stored view, which are read by slices; ``numpy.asarray`` reads all.

    Parameters
    ----------
    view : memory map, HDF5 data set or zarr array of shape (n, d)
    title : str
        Name of the view in messages.
    rows : ndarray of int
        Indices of the rows, ascending.
    """

    ndim = 2

    def __init__(self, view, title, rows):
        self._source, self._rows = RowSource([view], titles=[title]), rows
        self.shape, self.dtype = (len(rows), view.shape[1]), view.dtype

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, part):
        if not isinstance(part, slice):
            raise TypeError("rows are read by slices: use numpy.asarray(view) for other indices")
        rows = self._rows[part]
        if not len(rows):
            return np.empty((0, self.shape[1]), self.dtype)
        view, title = self._source[0], self._source.titles[0]
        low, high = rows.min(), rows.max() + 1
        shape = high - low, view.shape[1]
        block = checked_block(view[low:high], title, low, shape, view.dtype)[rows - low]
        self._source.release()
        return block

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:], dtype=dtype)
