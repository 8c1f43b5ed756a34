"""Features of samples: their centred rows, and local Gaussian kernels with some landmarks."""

import numpy as np
import scipy.linalg
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from .views._rows import SMALL_BLOCK

N_LANDMARKS = 600
NEAR, MANY = 1e-3, 8  # squared distance relative to squared lengths; such rows of one row
SCALE_RANK = 10  # a sample's scale is its distance to the landmark of this rank


class LandmarkFeatures:
    """Centred rows of all views beside features of their local Gaussian kernels.

    The kernel is the mean over views of ``exp(-d^2(x, l) / (t_x t_l))`` with d the distance of
    rows Z of a sample x and a landmark l, and t the distance to the 10th landmark; its Nystroem
    features are ``K_xl V diag(s)^-1/2`` for K_ll = V diag(s) V^T.

    Parameters
    ----------
    rows : list of ViewRows
    landmarks : ndarray of int
        Samples that serve as landmarks.
    """

    def __init__(self, rows, landmarks):
        self.rows = rows
        self.landmarks = [view.roots[landmarks] - view.mean for view in rows]
        self._scales = []
        kernel = 0.0
        for L in self.landmarks:
            squares = _squared_distances(L, L)
            np.fill_diagonal(squares, 0.0)
            scale = _floored(_ranked_distance(squares, SCALE_RANK))  # itself is at rank 0
            self._scales.append(scale)
            kernel = kernel + np.exp(-squares.astype(np.float64) / (scale[:, None] * scale))
        values, vectors = scipy.linalg.eigh(
            kernel / len(rows), driver="evd", overwrite_a=True, check_finite=False
        )
        kept = values > 1e-5 * values[-1]
        self._map = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)

    def of_fitted(self, landmarks):
        """Features of the samples that were given, of shape (n, D), float32."""
        own = np.full(len(self.rows[0].roots), -1)
        own[landmarks] = np.arange(len(landmarks))
        out = self._empty(len(own))
        for block in gen_batches(len(own), SMALL_BLOCK):
            self._features([view.roots[block] for view in self.rows], own[block], out[block])
        return out

    def transform(self, views):
        """Features of new samples, of shape (m, D), float32."""
        return self.of_rows(self._of_new(views))

    def products(self, views, B):
        """``transform(views) @ B`` for B of shape (D, k), without the features of kernels."""
        rows = self._of_new(views)
        own, d = np.full(len(rows[0]), -1), len(B) - self._map.shape[1]
        centred = np.empty((len(own), d), dtype=np.float32)
        kernel = self._parts(rows, own, centred)
        return centred @ B[:d] + kernel @ (self._map @ B[d:])

    def _of_new(self, views):
        return [view.transform(X) for view, X in zip(self.rows, views, strict=True)]

    def of_rows(self, rows):
        """Features of new samples from their rows Z of every view."""
        rows = [Z.astype(np.float32, copy=False) for Z in rows]
        own = np.full(len(rows[0]), -1)
        return self._features(rows, own, self._empty(len(own)))

    def _empty(self, n):
        width = sum(len(view.mean) for view in self.rows) + self._map.shape[1]
        return np.empty((n, width), dtype=np.float32)

    def _features(self, rows, own, out):
        d = out.shape[1] - self._map.shape[1]
        np.matmul(self._parts(rows, own, out[:, :d]), self._map, out=out[:, d:])
        return out

    def _parts(self, rows, own, centred):
        """Kernels, and centred rows; ``own`` is each row's number among the landmarks, or -1."""
        found = np.flatnonzero(own >= 0)
        kernel = np.zeros((len(own), len(self.landmarks[0])), dtype=np.float32)
        first = 0
        for view, Z, L, scale in zip(self.rows, rows, self.landmarks, self._scales, strict=True):
            apart = Z - view.mean
            squares = _squared_distances(apart, L)
            width = apart.shape[1]
            centred[:, first : first + width] = normalize(apart, copy=False)
            first += width
            squares[found, own[found]] = 0.0
            t = _ranked_distance(squares, SCALE_RANK - 1)
            t[found] = scale[own[found]]
            squares /= -_floored(t)[:, None]
            squares /= scale
            kernel += np.exp(squares, out=squares)
        kernel /= len(rows)
        centred /= np.float32(np.sqrt(len(rows)))
        return kernel


def _squared_distances(A, B):
    """Between rows of A and of B, float32, which lie around 0: few are near for their lengths.

    Differences of products are too coarse for those that are near. They have the sum of squared
    differences, or, where a row is near to many, products in float64.
    """
    squares = _differences(A, B)
    a, b = (np.einsum("ij,ij->i", X, X) for X in (A, B))
    near = squares < NEAR * (a[:, None] + b)
    many = near.sum(axis=1) > MANY
    if many.any():
        precise = _differences(A[many].astype(np.float64), B.astype(np.float64))
        squares[many] = np.maximum(precise, 0)
    rows, columns = np.nonzero(near & ~many[:, None])
    apart = A[rows] - B[columns]
    squares[rows, columns] = np.einsum("ij,ij->i", apart, apart)
    return squares


def _differences(A, B):
    """``|a|^2 + |b|^2 - 2 <a, b>`` of all pairs of rows."""
    squares = A @ B.T
    squares *= -2
    squares += np.einsum("ij,ij->i", A, A)[:, None]
    squares += np.einsum("ij,ij->i", B, B)
    return squares


def _ranked_distance(squares, rank):
    rank = min(rank, squares.shape[1] - 1)
    return np.sqrt(np.partition(squares, rank, axis=1)[:, rank])


def _floored(scale):
    """Scales kept off zero, which repeated samples have."""
    positive = scale[scale > 0]
    return np.maximum(scale, max(1e-6, 1e-3 * positive.mean()) if len(positive) else 1e-6)
