"""Features of samples by landmarks, on which labels of new samples are regressed."""

import numpy as np
import scipy.linalg
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from ..similarity._factors import lower_inverse
from ..views._rows import SMALL_BLOCK
from ..views._view_rows import ridge_coefficients
from ._model_file import pack, panels
from ._predict import ROOTS_TO_UNIT, ROWS_MAPPED, ROWS_TO_UNIT, Model
from ._predictor import Predictor

N_LANDMARKS = 600
SCALE_RANK = 10  # a sample's scale is its distance to the landmark of this rank


class LandmarkFeatures:
    """Feature map: the centred rows of all views and Nystroem features of a local Gaussian kernel.

    The kernel is the mean over views of ``exp(-d^2(x, l) / (t_x t_l))``, with d the distance
    between the rows Z of a sample x and a landmark l, and t the distance to the 10th nearest
    landmark, bounded below by 1e-3 of its mean over the landmarks. The Nystroem features are
    ``K_xl L^-T`` for K_ll = L L^T, by Cholesky's method with pivots.

    Parameters
    ----------
    rows : list of ViewRows
    landmarks : ndarray of int
        Samples that serve as landmarks.

    Attributes
    ----------
    rank : int
        Number of features by which ridges are scaled, see `ViewRows`.
    """

    def __init__(self, rows, landmarks):
        self.rows, self.landmarks = rows, landmarks
        # Distances are scaled for each sample, so that dense and sparse regions count alike; the
        # kernels of the views are averaged.
        self._views, kernel = [], 0.0
        for i, view in enumerate(rows):
            L = view.roots[landmarks] - view.mean
            squares = euclidean_distances(L.astype(np.float64), squared=True)
            rank = min(SCALE_RANK, len(L) - 1)  # the landmark itself has rank 0
            scale = np.sqrt(np.partition(squares, rank, axis=1)[:, rank])
            # A lower bound, as scales are zero, up to rounding, for repeated samples.
            positive = scale[scale > 1e-6]
            least = np.float32(max(1e-6, 1e-3 * positive.mean()) if len(positive) else 1e-6)
            scale = np.maximum(scale, least).astype(np.float32)
            kernel = kernel + np.exp(-squares / (scale[:, None].astype(np.float64) * scale))
            d = L.shape[1]
            entry = {"input": i, "n_features": d, "d": d, "form": ROWS_MAPPED, "least_scale": least}
            self._views.append(entry | {"mean": view.mean, "landmarks": L, "scales": scale})
        self._kernel = kernel / len(rows)
        # A pivoted Cholesky factor drops redundant landmarks; the inverse of the factor of the
        # others maps kernels to features.
        least = 1e-5 * self._kernel.sum(axis=0).max()  # relative to a bound of the eigenvalues
        factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(self._kernel, tol=least, lower=1)
        self._map = np.zeros((len(landmarks), rank), dtype=np.float32)
        self._map[pivots[:rank] - 1] = lower_inverse(np.tril(factor[:rank, :rank])).T
        self.rank = rank + sum(view.rank for view in rows)
        self._n_columns = sum(len(view.mean) for view in rows)

    def of_fitted(self):
        """Features of the fitted samples, of shape (n, D), float32."""
        # The C code that predicts new samples computes the kernels of the fitted ones, too, so that
        # both have the same rounding.
        n, d, v = len(self.rows[0].roots), self._n_columns, len(self.rows)
        model = Model(self._image(self._map / np.float32(v), [{}] * v))
        out = np.empty((n, d + self._map.shape[1]), dtype=np.float32)
        for block in gen_batches(n, SMALL_BLOCK):
            Z = [view.roots[block] for view in self.rows]
            offsets = [A - view.mean for A, view in zip(Z, self.rows, strict=True)]
            centred = [normalize(A, copy=False) for A in offsets]
            np.concatenate(centred, axis=1, out=out[block, :d])
            kernel = np.empty((len(Z[0]), self._map.shape[1]), dtype=np.float32)
            model.predict(Z, kernel)
            out[block, d:] = kernel
        out[:, :d] /= np.float32(np.sqrt(v))
        # The features of landmarks are exact: their kernels are known in double precision.
        out[self.landmarks, d:] = self._kernel.astype(np.float32) @ self._map
        return out

    def _image(self, kernel_coefficients, views):
        """The bytes of a model with these landmarks, and with more entries of each view."""
        # Records are in the order of the inputs, and matrices in the layout that the C code reads.
        records = [arrays | more for arrays, more in zip(self._views, views, strict=True)]
        records.sort(key=lambda view: view["input"])
        for view in records:
            L = view["landmarks"]
            view |= {"landmarks": panels(L.T), "squares": np.einsum("ij,ij->i", L, L)}
        # Names and widths are filled in by `with_names`, when the model is written to a file.
        n_inputs = records[-1]["input"] + 1
        widths = np.zeros((n_inputs, 2), dtype=np.int64)
        for view in records:
            widths[view["input"], 0] = view["n_features"]
        head = {"n_inputs": n_inputs, "n_clusters": kernel_coefficients.shape[1]}
        head |= {"n_landmarks": len(self.landmarks), "scale_neighbors": SCALE_RANK}
        head |= {"widths": widths, "names": np.zeros(n_inputs, np.uint8), "names_size": n_inputs}
        return pack(head | {"kernel_coefficients": panels(kernel_coefficients)}, records)

    def predictor(self, B, steps, limits=None):
        """The `Predictor` of labels by the coefficients B of features.

        Parameters
        ----------
        B : ndarray of shape (D, n_clusters), float32
        steps : list of (int, ndarray, ColumnScaling or None, Lift or None)
            What a fit did to the rows of each view before the features are computed: its position
            among all views, the scaled row from which missing cells are filled, scaling and lift.
        limits : ndarray of shape (2 * n_clusters,), optional
            See `mvsc_model_margins`.
        """
        # The regression weights the unit rows of all views by 1 / sqrt(v), as `of_fitted` does.
        v, d = len(self.rows), self._n_columns
        ends = np.cumsum([view["d"] for view in self._views])[:-1]
        directions = np.split(B[:d] / np.float32(np.sqrt(v)), ends)
        # Parts that a model may lack are None: the fill of a single view, lifts, scalings.
        fills = _fills([view["landmarks"] for view in self._views])
        views = []
        for k, view in enumerate(self.rows):
            fill, (position, mean_row, scaling, lift) = fills[k], steps[k]
            entry = {
                "input": position,
                "n_features": view.n_features - (lift is not None),
                "form": ROOTS_TO_UNIT if view.nonnegative else ROWS_TO_UNIT,
                "mean_row": mean_row,
                "lift": None if lift is None else np.append(lift.mean, lift.radius),
            }
            # New rows come unscaled, so that the model repeats the scaling of the fit.
            if scaling is not None:
                entry |= scaling._asdict()
            # Without codes, the columns that the fit left out get zeros here, and the model
            # multiplies rows as they are. With codes, the model first maps the columns to
            # components.
            coefficients = directions[k]
            if view.codes is None:
                entry["d"] = view.n_features
                entry["mean"] = view.in_all_columns(view.mean, 0)
                entry["landmarks"] = view.in_all_columns(self._views[k]["landmarks"], 1)
                coefficients = view.in_all_columns(coefficients, 0)
                fill = None if fill is None else view.in_all_columns(fill, 1)
            else:
                entry["codes"] = view.in_all_columns(view.codes, 0)
                entry["steps"] = view.in_all_columns(view.steps, 0)
            entry["coefficients"] = panels(coefficients)
            entry["fill"] = None if fill is None else panels(fill)
            views.append(entry)
        # The format has one record for each view, and no place for facts of the whole model: the
        # limits are in the first record.
        first = min(views, key=lambda entry: entry["input"])
        first["limits"] = limits
        return Predictor(self._image(self._map @ B[d:] / np.float32(v), views))


def _fills(landmarks):
    """Coefficients that predict the missing rows of each view in new samples; None for one view.

    The regression is that of `imputed`, which completes the fitted samples, but it learns from the
    landmarks, whose missing rows `imputed` has predicted, instead of from the samples that have the
    view; its rows are those of the model (square roots, or leading components) instead of the unit
    rows of the views; and the C code scales predicted rows to unit length, unless they are
    components, where `imputed` sets negative ones to 0. ``landmarks`` are the centred rows of each
    view, of shape (n_landmarks, d_i), as are the coefficients.
    """
    if len(landmarks) == 1:
        return [None]
    fills, grams = [], [L @ L.T for L in landmarks]
    for i, targets in enumerate(landmarks):
        # Unit lengths make the ridge mean the same for all views.
        gram_of_others = sum(gram for j, gram in enumerate(grams) if j != i)
        length = np.maximum(np.sqrt(np.diagonal(gram_of_others)), 1e-6)[:, None]
        fills.append(ridge_coefficients(gram_of_others / (length * length.T), targets) / length)
    return fills
