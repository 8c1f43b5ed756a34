"""Concatenated views, for methods that learn one latent representation of all views."""

import numpy as np

from ._representation import dense_unit_rows, thin_svd


class Stack:
    """The stacked views ``X = [X_1; ...; X_V]``, samples of unit length, as ``X = U R``.

    U (D x r, r the rank of X) has orthonormal columns, so products and norms of columns do not
    change when X (D x n) is replaced by R (r x n), and the cost does not grow with D.
    """

    def __init__(self, views):
        X = np.hstack(list(map(dense_unit_rows, views)))
        V, s, Ut = thin_svd(X)
        self.U = np.ascontiguousarray(Ut.T)
        self.R = np.ascontiguousarray(s[:, None] * V.T)
        self._X = X

    def draw(self, n_rows, rng):
        """Uniform random numbers in [0, 1) of shape (n_rows, n), one column for every sample.

        Columns are assigned by the order of a random projection of the samples, so that permuting
        the samples permutes the columns.
        """
        n, n_features = self._X.shape
        rank = np.argsort(self._X @ rng.uniform(size=n_features), kind="stable")
        out = np.empty((n_rows, n), dtype=self._X.dtype)
        out[:, rank] = rng.uniform(size=(n_rows, n))
        return out
