"""Features of samples by landmarks, and labels of new samples by ridge regression on them."""

import functools

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from .._utils.messages import warn_user
from .._utils.threads import blas_threads
from ..views._missing import filled, ridge_coefficients, warn_of_gaps
from ..views._rows import SMALL_BLOCK, missing_rows, presence
from ._predict import ROOTS_TO_UNIT, ROWS_MAPPED, ROWS_TO_UNIT, predict

N_LANDMARKS = 600
NEAR, MANY = 1e-3, 8  # squared distance relative to squared lengths; such rows of one row
SCALE_RANK = 10  # a sample's scale is its distance to the landmark of this rank


class LandmarkFeatures:
    """Feature map: the centred rows of all views and Nystroem features of a local Gaussian kernel.

    The kernel is the mean over views of ``exp(-d^2(x, l) / (t_x t_l))``, with d the distance
    between the rows Z of a sample x and a landmark l, and t the distance to the 10th nearest
    landmark, bounded below by 1e-3 of its mean over the landmarks. The Nystroem features are
    ``K_xl V diag(s)^-1/2`` for K_ll = V diag(s) V^T.

    Parameters
    ----------
    rows : list of ViewRows
    landmarks : ndarray of int
        Samples that serve as landmarks.
    """

    def __init__(self, rows, landmarks):
        self.rows = rows
        self.landmarks = [view.roots[landmarks] - view.mean for view in rows]
        self.scales, self.least_scales = [], []
        kernel = 0.0
        for L in self.landmarks:
            squares = _squared_distances(L, L)
            np.fill_diagonal(squares, 0.0)
            scale = _ranked_distance(squares, SCALE_RANK)  # the landmark itself has rank 0
            self.least_scales.append(_least_scale(scale))
            scale = np.maximum(scale, self.least_scales[-1])
            self.scales.append(scale)
            kernel = kernel + np.exp(-squares.astype(np.float64) / (scale[:, None] * scale))
        values, vectors = scipy.linalg.eigh(
            kernel / len(rows), driver="evd", overwrite_a=True, check_finite=False
        )
        kept = values > 1e-5 * values[-1]
        self._map = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)

    def of_fitted(self, landmarks):
        """Features of the fitted samples, of shape (n, D), float32."""
        n, d = len(self.rows[0].roots), self.n_columns
        own = np.full(n, -1)  # index of each sample among the landmarks
        own[landmarks] = np.arange(len(landmarks))
        out = np.empty((n, self.n_features), dtype=np.float32)
        for block in gen_batches(n, SMALL_BLOCK):
            kernel = self._parts(block, own[block], out[block, :d])
            np.matmul(kernel, self._map, out=out[block, d:])
        return out

    @property
    def n_features(self):
        """Number of features D."""
        return self.n_columns + self._map.shape[1]

    @property
    def n_columns(self):
        """Number of columns of the centred rows of all views."""
        return sum(len(view.mean) for view in self.rows)

    def kernel_coefficients(self, B):
        """Coefficients of the kernel that are equivalent to the coefficients B of its features."""
        return self._map @ B

    def _parts(self, block, own, centred):
        """Kernel of a block of the fitted samples; writes their centred rows into ``centred``."""
        found = np.flatnonzero(own >= 0)
        kernel = np.zeros((len(own), len(self.landmarks[0])), dtype=np.float32)
        first = 0
        for view, L, scale, least in zip(
            self.rows, self.landmarks, self.scales, self.least_scales, strict=True
        ):
            apart = view.roots[block] - view.mean
            squares = _squared_distances(apart, L)
            width = apart.shape[1]
            centred[:, first : first + width] = normalize(apart, copy=False)
            first += width
            squares[found, own[found]] = 0.0
            t = np.maximum(_ranked_distance(squares, SCALE_RANK - 1), least)
            t[found] = scale[own[found]]
            squares /= -t[:, None]
            squares /= scale
            kernel += np.exp(squares, out=squares)
        kernel /= len(self.rows)
        centred /= np.float32(np.sqrt(len(self.rows)))
        return kernel


class Predictor:
    """Predict labels of new samples by ridge regression on features of the fitted samples.

    Parameters
    ----------
    features : LandmarkFeatures
    coefficients : ndarray of shape (D, n_clusters), float32
    used : list of int
        Indices of the views from which the features are computed.
    mean_rows : list of ndarray of shape (d_i,), optional
        Mean rows of these views, which fill missing cells.
    """

    def __init__(self, features, coefficients, used, mean_rows=None):
        self._rows, self._used, self._mean_rows = features.rows, used, mean_rows
        v, d = len(features.rows), features.n_columns
        widths = [len(view.mean) for view in features.rows]
        parts = np.split(coefficients[:d] / np.float32(np.sqrt(v)), np.cumsum(widths)[:-1])
        self._native = {
            "n_clusters": coefficients.shape[1],
            "n_landmarks": len(features.landmarks[0]),
            "scale_neighbors": SCALE_RANK,
            "d": np.array(widths, dtype=np.intp),
            "means": [np.ascontiguousarray(view.mean) for view in features.rows],
            "landmarks": [np.ascontiguousarray(L) for L in features.landmarks],
            "scales": features.scales,
            "least_scales": np.array(features.least_scales, dtype=np.float32),
            "coefficients": [np.ascontiguousarray(part) for part in parts],
            "kernel_coefficients": np.ascontiguousarray(
                features.kernel_coefficients(coefficients[d:]) / np.float32(v)
            ),
        }

    def __call__(self, views, n_threads=1):
        """Labels of new samples, of shape (m,), int64.

        Parameters
        ----------
        views : list of ndarray or csr_matrix of shape (m, d_i)
            All views. Missing cells are filled, and missing rows predicted from the other views.
            The label of a sample that lacks all views is -1.
        n_threads : int, default=1
        """
        return self._predict(views, None, n_threads)

    def scores(self, views, n_threads=1):
        """Scores of each cluster, of shape (m, n_clusters), float32; labels are their argmax.

        Samples that lack all views have scores of NaN.
        """
        scores = np.empty((views[0].shape[0], self._native["n_clusters"]), dtype=np.float32)
        self._predict(views, scores, n_threads)
        return scores

    def warn_of_rows(self, notes, titles):
        """Warn of missing cells, and of negative values in views that had none in fit."""
        warn_of_gaps(notes.gaps, titles)
        negative = [
            titles[i]
            for i, view in zip(self._used, self._rows, strict=True)
            if view.nonnegative and notes.least[i] < 0
        ]
        if negative:
            warn_user(
                f"negative values in {', '.join(negative)}, but none in fit: they count as zeros. "
                "Check that units, logarithms and scaling are those of fit"
            )

    def __getstate__(self):
        return dict(vars(self))  # another thread may compute `_fill` during a copy

    def _predict(self, views, scores, n_threads):
        rows = [views[i] for i in self._used]
        mapped = [
            scipy.sparse.issparse(X) or view.is_sparse
            for view, X in zip(self._rows, rows, strict=True)
        ]
        means = self._mean_rows or [None] * len(rows)
        rows = [
            _mapped(view, X, mean) if known else X
            for view, X, mean, known in zip(self._rows, rows, means, mapped, strict=True)
        ]
        dtype = np.result_type(*rows)
        rows = [np.ascontiguousarray(X, dtype=dtype) for X in rows]
        native = self._with_maps(mapped, fill=any(missing_rows(X).any() for X in rows))
        with blas_threads(1):  # blocks of rows run in parallel
            return predict(native, rows, scores, n_threads)

    def to_native(self):
        """See `ConsensusTLRR.to_native`."""
        return self._with_maps([False] * len(self._rows), fill=True)

    def _with_maps(self, mapped, fill):
        """All fields of the struct; ``mapped`` names the views whose rows are mapped already."""
        maps = [
            (None, None) if known else view.dual_map
            for view, known in zip(self._rows, mapped, strict=True)
        ]
        forms = [
            ROWS_MAPPED if known else ROOTS_TO_UNIT if view.nonnegative else ROWS_TO_UNIT
            for view, known in zip(self._rows, mapped, strict=True)
        ]
        widths = [
            d if samples is None else samples.shape[1]
            for d, (samples, _) in zip(self._native["d"], maps, strict=True)
        ]
        return {
            "views": list(self._used),
            **self._native,
            "n_features": np.array(widths, dtype=np.intp),
            "form": np.array(forms, dtype=np.intp),
            "samples": [samples for samples, _ in maps],
            "factors": [factor for _, factor in maps],
            "fill": self._fill if fill and len(self._rows) > 1 else None,
            "mean_rows": self._mean_rows
            and [
                None if known else mean for known, mean in zip(mapped, self._mean_rows, strict=True)
            ],
        }

    @functools.cached_property
    def _fill(self):
        """Coefficients that predict the missing rows of each view, see `imputed`."""
        landmarks, fill = self._native["landmarks"], []
        for i, targets in enumerate(landmarks):
            others = np.hstack([L for j, L in enumerate(landmarks) if j != i])
            length = np.linalg.norm(others, axis=1, keepdims=True)
            coefficients = ridge_coefficients(normalize(others), targets)
            fill.append(np.ascontiguousarray(coefficients / np.maximum(length, 1e-6), np.float32))
        return fill


def _mapped(view, X, mean):
    """Rows Z of new samples, with filled cells; missing rows are NaN."""
    X = X if mean is None else filled(X, mean)
    (has,) = [slice(None)] if (present := presence([X])) is None else present
    Z = np.full((X.shape[0], len(view.mean)), np.nan, dtype=np.float32)
    if X[has].shape[0]:
        Z[has] = view.transform(X[has])
    return Z


def _squared_distances(A, B):
    """Squared distances between the rows of A and of B, float32, accurate for close pairs.

    The expansion ``|a|^2 + |b|^2 - 2 <a, b>`` cancels for close pairs. These use the sum of squared
    differences, or products in float64 for a row with many close pairs.
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


def _least_scale(scale):
    """Lower bound of the scales, which would be zero for repeated samples."""
    positive = scale[scale > 0]
    return np.float32(max(1e-6, 1e-3 * positive.mean()) if len(positive) else 1e-6)
