"""A view on disk whose columns are scaled when rows are read."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from ..views._row_source import RowSource


class ScaledRows:
    """Rows of a memory map or similar array, with columns scaled to mean 0 and deviation 1.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Array that `RowSource` can read; one pass computes the means and standard deviations.

    Attributes
    ----------
    shape : tuple
    dtype : dtype
    """

    ndim = 2

    def __init__(self, X):
        self._source = RowSource([X])
        self.shape, self.dtype = X.shape, self._source.dtype
        self.scaler = StandardScaler()
        for _ in self._source.map(lambda first, blocks: self.scaler.partial_fit(blocks[0])):
            pass

    def __getitem__(self, rows):
        scaled = self.scaler.transform(np.asarray(self._source[0][rows], dtype=self.dtype))
        self._source.release()
        return scaled
