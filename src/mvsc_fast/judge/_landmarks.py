"""Features of samples by landmarks, and labels of new samples by ridge regression on them."""

import numpy as np
import scipy.linalg
from scipy.special import bdtrc
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from .._utils.messages import counted, note, warn_user
from ..similarity._factors import lower_inverse
from ..views._facts import warn_of_gaps
from ..views._missing import ridge_coefficients
from ..views._rows import SMALL_BLOCK, dense, missing_rows
from ._model_file import aligned, pack, panels, parts
from ._predict import ROOTS_TO_UNIT, ROWS_MAPPED, ROWS_TO_UNIT, Model

N_LANDMARKS = 600
SCALE_RANK = 10  # a sample's scale is its distance to the landmark of this rank
DENSE = 2**22  # entries of sparse rows that are dense at a time
BEYOND = 0.05  # share of the samples of each cluster with a larger residual than its limit
# Samples of a cluster that outweigh what all clusters have in common, when its limit is chosen.
OWN_SAMPLES = 5
# Larger shares of unlike new samples are told as a warning: of what the fit has not seen, and of
# other units or sources. Of new samples like the fitted ones: bench/drift.py.
UNSEEN, UNLIKE = 0.1, 0.2
RARE = 1e-3  # probability of as many unlike samples by chance, for the former warning
MIN_UNLIKE = 10  # samples
MARGIN = np.dtype([("margin", np.float32), ("unlike", np.int8)])


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
    """

    def __init__(self, rows, landmarks):
        self.rows, self.landmarks = rows, landmarks
        # Distances are scaled for each sample, so that dense and sparse regions count alike; the
        # kernels of the views are averaged.
        self._views, kernel = [], 0.0
        for i, view in enumerate(rows):
            L = view.roots[landmarks] - view.mean
            squares = euclidean_distances(L.astype(np.float64), squared=True)
            scale = _ranked_distance(squares, SCALE_RANK)  # the landmark itself has rank 0
            least = _least_scale(scale)
            scale = np.maximum(scale, least).astype(np.float32)
            kernel = kernel + np.exp(-squares / (scale[:, None].astype(np.float64) * scale))
            self._views.append(
                {
                    "input": i,
                    "n_features": L.shape[1],
                    "d": L.shape[1],
                    "form": ROWS_MAPPED,
                    "least_scale": least,
                    "mean": view.mean,
                    "landmarks": L,
                    "scales": scale,
                }
            )
        self._kernel = kernel / len(rows)
        # A pivoted Cholesky factor drops redundant landmarks; the inverse of the factor of the
        # others maps kernels to features.
        least = 1e-5 * self._kernel.sum(axis=0).max()  # relative to a bound of the eigenvalues
        factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(self._kernel, tol=least, lower=1)
        self._map = np.zeros((len(landmarks), rank), dtype=np.float32)
        self._map[pivots[:rank] - 1] = lower_inverse(np.tril(factor[:rank, :rank])).T

    def of_fitted(self):
        """Features of the fitted samples, of shape (n, D), float32."""
        # The C code that predicts new samples computes the kernels of the fitted ones, too, so that
        # both have the same rounding.
        n, d, v = len(self.rows[0].roots), self.n_columns, len(self.rows)
        model = Model(self._image(self._map / np.float32(v), [{}] * v))
        out = np.empty((n, self.n_features), dtype=np.float32)
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
        # Matrices are stored in the layout that the C code reads.
        records = [arrays | more for arrays, more in zip(self._views, views, strict=True)]
        for view in records:
            L = view["landmarks"]
            view |= {"landmarks": panels(L.T), "squares": np.einsum("ij,ij->i", L, L)}
        # Names and widths are filled in by `with_names`, when the model is written to a file.
        n_inputs = records[-1]["input"] + 1
        widths = np.zeros((n_inputs, 2), dtype=np.int64)
        for view in records:
            widths[view["input"], 0] = view["n_features"]
        head = {
            "n_inputs": n_inputs,
            "n_clusters": kernel_coefficients.shape[1],
            "n_landmarks": len(self.landmarks),
            "scale_neighbors": SCALE_RANK,
            "widths": widths,
            "names": np.zeros(n_inputs, np.uint8),
            "names_size": n_inputs,
            "kernel_coefficients": panels(kernel_coefficients),
        }
        return pack(head, records)

    @property
    def n_features(self):
        """Number of features D."""
        return self.n_columns + self._map.shape[1]

    @property
    def rank(self):
        """Number of features by which ridges are scaled, see `ViewRows.rank`."""
        return sum(view.rank for view in self.rows) + self._map.shape[1]

    @property
    def n_columns(self):
        """Number of columns of the centred rows of all views."""
        return sum(len(view.mean) for view in self.rows)

    def predictor(self, B, used, mean_rows=None, limits=None, lifts=None, scalings=None):
        """The `Predictor` of labels by the coefficients B of features.

        Parameters
        ----------
        B : ndarray of shape (D, n_clusters), float32
        used : list of int
            Indices of the views from which the features are computed.
        mean_rows : list of ndarray of shape (d_i,), optional
            Mean rows of these views, scaled, which fill missing cells.
        limits : ndarray of shape (2 * n_clusters,), optional
            See `mvsc_model_margins`.
        lifts : list of (Lift or None), optional
            The lifts of these views, of whose rows the features are.
        scalings : list of (ColumnScaling or None), optional
            The scalings of their columns, before all else.
        """
        # The regression weights the unit rows of all views by 1 / sqrt(v), as `of_fitted` does.
        v, d = len(self.rows), self.n_columns
        ends = np.cumsum([view["d"] for view in self._views])[:-1]
        directions = np.split(B[:d] / np.float32(np.sqrt(v)), ends)
        # Parts that a model may lack are None: fills of a single view, mean rows, lifts, scalings.
        fills = _fills([view["landmarks"] for view in self._views])
        means = mean_rows or [None] * v
        lifts = lifts or [None] * v
        scalings = scalings or [None] * v
        views = []
        for k, view in enumerate(self.rows):
            arrays, lift, fill = self._views[k], lifts[k], fills[k]
            entry = {
                "input": used[k],
                "n_features": view.n_features - (lift is not None),
                "form": ROOTS_TO_UNIT if view.nonnegative else ROWS_TO_UNIT,
                "mean": arrays["mean"],
                "landmarks": arrays["landmarks"],
                "mean_row": means[k],
                "lift": None if lift is None else np.append(lift.mean, lift.radius),
            }
            # New rows come unscaled, so that the model repeats the scaling of the fit.
            if scalings[k] is not None:
                entry |= scalings[k]._asdict()
            # Without codes, the columns that the fit left out get zeros here, and the model
            # multiplies rows as they are. With codes, the model first maps the columns to
            # components.
            coefficients = directions[k]
            if view.codes is None:
                entry["d"] = view.n_features
                entry["mean"] = view.in_all_columns(entry["mean"], 0)
                entry["landmarks"] = view.in_all_columns(entry["landmarks"], 1)
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
        views[0]["limits"] = limits
        return Predictor(self._image(self._map @ B[d:] / np.float32(v), views))


class Predictor:
    """Predict labels of new samples by ridge regression on features of the fitted samples.

    Parameters
    ----------
    image : ndarray of uint8
        The bytes of a model file.
    """

    def __init__(self, image):
        self.__setstate__({"image": image})

    def __getstate__(self):
        return {"image": self.model.image}

    def __setstate__(self, state):
        self.model = Model(aligned(state["image"]))
        self._used = self.model.used
        _, records = parts(self.model.image)
        self._nonnegative = (records["form"] == ROOTS_TO_UNIT).tolist()
        self.has_limits = bool(records["limits"][0])

    def __call__(self, views, n_threads=1, unlike=None):
        """Labels of new samples, of shape (m,), int64.

        Parameters
        ----------
        views : list of ndarray or csr_matrix of shape (m, d_i)
            All views. Missing cells are filled, and missing rows predicted from the other views.
            The label of a sample that lacks all views is -1.
        n_threads : int, default=1
        unlike : list, optional
            Receives the number of samples that are unlike the fitted ones, and that of all samples,
            among those with all views.
        """
        if unlike is None or not self.has_limits:
            return self._predict(views, None, n_threads)
        scores, labels = self._scored(views, n_threads)
        absent = [missing_rows(views[i]) for i in self._used]
        _, far = self.model.margins(scores[~np.any([labels < 0, *absent], axis=0)])
        unlike.append([np.count_nonzero(far), len(far)])
        return labels

    def margins(self, views, n_threads=1):
        """Margins of the labels of new samples, and whether they are unlike the fitted ones.

        See `mvsc_model_margins`.

        Returns
        -------
        ndarray of shape (m,), of type `MARGIN`
        """
        scores = self.scores(views, n_threads)
        out = np.empty(len(scores), dtype=MARGIN)
        out["margin"], out["unlike"] = self.model.margins(scores)
        return out

    def scores(self, views, n_threads=1):
        """Scores of each cluster, of shape (m, n_clusters), float32; labels are their argmax.

        Samples that lack all views have scores of NaN.
        """
        return self._scored(views, n_threads)[0]

    def _scored(self, views, n_threads):
        scores = np.empty((views[0].shape[0], self.model.n_clusters), dtype=np.float32)
        return scores, self._predict(views, scores, n_threads)

    def warn_of_rows(self, facts, titles):
        """Warn of missing cells, and of negative values in views that had none in fit."""
        warn_of_gaps(facts, titles)
        negative = [
            titles[i]
            for i, nonnegative in zip(self._used, self._nonnegative, strict=True)
            if nonnegative and facts[i].least < 0
        ]
        if negative:
            warn_user(
                f"negative values in {', '.join(negative)}, but none in fit: they count as zeros. "
                "Check that units, logarithms and scaling are those of fit"
            )

    def tell_unlike(self, unlike, log):
        """Tell how many new samples are unlike the fitted ones, given their numbers by block.

        It is a warning if they are more than by chance, else a note, which ``log`` gets too.
        """
        far, m = np.sum(unlike, axis=0).tolist()
        if m == 0:
            return
        subject = f"{far} of {counted(m, 'new sample')} ({far / m:.1%})"
        verb, whose = ("is", "its cluster") if m == 1 else ("are", "their clusters")
        sentence = f"{subject} {verb} farther from {whose} than {1 - BEYOND:.0%} of the fitted ones"
        # Many unlike samples suggest other units; more than chance explains, a kind that the fit
        # has not seen. Otherwise a note is enough.
        names = "predict_margin with return_unlike=True names these samples"
        alarm = alarm_of(far, m)
        if alarm == "changed":
            warn_user(
                f"{sentence}: their labels may be wrong. Check that columns, units and scaling are "
                f"those of fit, and that no source of the data has changed; {names}"
            )
        elif alarm == "unseen":
            warn_user(
                f"{sentence}, but about {BEYOND:.0%} are usual: some may be of a kind that the fit "
                f"has not seen, and belong to no cluster; {names}"
            )
        else:
            note(f"{sentence}; about {BEYOND:.0%} are usual", log)

    def _predict(self, views, scores, n_threads):
        rows = [views[i] for i in self._used]
        dtype = np.float32 if all(X.dtype == np.float32 for X in rows) else np.float64
        if all(isinstance(X, np.ndarray) for X in rows):
            rows = [np.require(X, dtype, "CA") for X in rows]
            return self.model.predict(rows, scores, n_threads)
        # Sparse rows become dense in blocks of bounded size.
        m, labels = rows[0].shape[0], []
        for block in gen_batches(m, max(1, DENSE // sum(X.shape[1] for X in rows))):
            rows_of_block = [np.require(dense(X[block], dtype), requirements="CA") for X in rows]
            scores_of_block = None if scores is None else scores[block]
            labels.append(self.model.predict(rows_of_block, scores_of_block, n_threads))
        return np.concatenate(labels) if labels else np.empty(0, dtype=np.int64)


def alarm_of(far, m):
    """Why it is a warning that ``far`` of m new samples are unlike the fitted ones.

    "changed" if they are a large share, as after a change of units, "unseen" if they are more than
    by chance, and None if it is no warning.
    """
    if far < MIN_UNLIKE:
        return None
    if far > UNLIKE * m:
        return "changed"
    return "unseen" if bdtrc(far - 1, m, UNSEEN) < RARE else None


def margins_of(scores, labels):
    """Margin of each sample in its cluster, and the other cluster with the largest score."""
    scores = np.maximum(scores, 0)
    rows = np.arange(len(labels))
    label_scores = scores[rows, labels]
    scores[rows, labels] = -1
    second = scores.argmax(axis=1)
    best = np.maximum(scores[rows, second], 0)  # of no cluster if there is only one
    return (label_scores - best) / np.maximum(np.maximum(label_scores, best), 1e-12), second


def residuals(scores, sizes):
    """Distance of the scores of each row from those of a sample at the centre of its cluster.

    Scores predict indicators over the square roots of the cluster sizes; at the centre that of the
    largest score is 1, and the others are 0.
    """
    offsets = scores * np.sqrt(sizes, dtype=np.float32)
    rows, labels = np.arange(len(offsets)), scores.argmax(axis=1)
    offsets[rows, labels] -= 1
    return np.linalg.norm(offsets, axis=1)


def limits_of(residual, clusters, n_clusters):
    """The residual that .05 of the new samples of each cluster exceed, of shape (n_clusters,).

    Clusters have residuals of different sizes: those of a small one are larger. The quantile of
    the samples of a cluster, of the rank at which a new sample exceeds it with this probability, is
    averaged with that of all samples, each divided by the median of its cluster.

    Parameters
    ----------
    residual : ndarray of shape (n,)
        Leave-one-out residuals.
    clusters : ndarray of shape (n,) of int
    """
    # Residuals over the median of their cluster are comparable, so that clusters can share a limit.
    whole = np.maximum(residual, np.finfo(np.float32).tiny)
    medians = np.full(n_clusters, np.median(whole))
    for k in np.unique(clusters):
        medians[k] = np.median(whole[clusters == k])
    shares = whole / medians[clusters]
    limits = np.full(n_clusters, np.quantile(shares, 1 - BEYOND))
    # Few samples give an uncertain quantile: it is drawn towards that of all clusters.
    for k, n in zip(*np.unique(clusters, return_counts=True), strict=True):
        rank = (n + 1) * (1 - BEYOND) - 1
        limit = np.interp(rank, np.arange(n), np.sort(shares[clusters == k]))
        limits[k] = (n * limit + OWN_SAMPLES * limits[k]) / (n + OWN_SAMPLES)
    return medians * limits


def _fills(landmarks):
    """Coefficients that predict the missing rows of each view, see `imputed`; None for one view."""
    if len(landmarks) == 1:
        return [None]
    fills, grams = [], [L @ L.T for L in landmarks]
    for i, targets in enumerate(landmarks):
        # Unit lengths make the ridge mean the same for all views.
        gram_of_others = sum(gram for j, gram in enumerate(grams) if j != i)
        length = np.maximum(np.sqrt(np.diagonal(gram_of_others)), 1e-6)[:, None]
        fills.append(ridge_coefficients(gram_of_others / (length * length.T), targets) / length)
    return fills


def _ranked_distance(squares, rank):
    rank = min(rank, squares.shape[1] - 1)
    return np.sqrt(np.partition(squares, rank, axis=1)[:, rank])


def _least_scale(scale):
    """Lower bound of the scales, which would be zero for repeated samples."""
    positive = scale[scale > 0]
    return np.float32(max(1e-6, 1e-3 * positive.mean()) if len(positive) else 1e-6)
