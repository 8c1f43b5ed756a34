"""Labels of new samples by ridge regression, how certain they are, and what is told of them."""

import numpy as np
from scipy.special import bdtrc
from sklearn.utils import gen_batches

from .._utils.messages import counted, warn_user
from ..views._facts import warn_of_gaps
from ..views._lift import Lift
from ..views._rows import dense, missing_rows
from ._model_file import aligned, parts
from ._predict import ROOTS_TO_UNIT, Model

DENSE = 2**22  # entries of sparse rows that are dense at a time
BEYOND = 0.05  # share of the samples of each cluster with a larger residual than its limit
# Samples of a cluster that outweigh what all clusters have in common, when its limit is chosen.
OWN_SAMPLES = 5
# Larger shares of unlike new samples are told as a warning: of what the fit has not seen, and of
# other units or sources. Of new samples like the fitted ones: bench/drift.py.
UNSEEN, UNLIKE = 0.1, 0.2
RARE = 1e-3  # probability of as many unlike samples by chance, for the former warning
MIN_UNLIKE = 10  # samples
# What is predicted of a row. It is -1 if it is unknown, as for rows that lack all views.
PREDICTION = np.dtype(
    [("label", np.int64), ("margin", np.float32), ("unlike", np.int8), ("complete", np.int8)]
)


class Predictor:
    """Predict labels of new samples by ridge regression on features of the fitted samples.

    Views are lists of ndarray or csr_matrix of shape (m, d_i), of all views of the fit. Missing
    cells are filled, and missing rows predicted from the other views.

    Parameters
    ----------
    image : ndarray of uint8
        The bytes of a model file.

    Attributes
    ----------
    has_limits : bool
        Whether the model tells which samples are unlike the fitted ones; old files do not.
    """

    def __init__(self, image):
        self.__setstate__({"image": image})

    def __getstate__(self):
        return {"image": self.model.image}

    def __setstate__(self, state):
        self.model = Model(aligned(state["image"]))
        # Read once, as a prediction of one row takes little time.
        _, records = parts(self.model.image)
        self._nonnegative = records["input"][records["form"] == ROOTS_TO_UNIT].tolist()
        self.has_limits = bool(records["limits"].any())

    @property
    def lifts(self):
        """The `Lift` of each view that the model uses, or None, by the index of the view."""
        # The mean row and the radius follow each other; an offset of 0 says that there are none.
        image = self.model.image
        lifts = {}
        for record in parts(image)[1]:
            first, size = int(record["lift"]), 8 * (int(record["n_features"]) + 1)
            numbers = image[first : first + size].view(np.float64)
            lift = Lift(numbers[:-1], float(numbers[-1])) if first else None
            lifts[int(record["input"])] = lift
        return lifts

    def __call__(self, views, n_threads=1):
        """Labels of new samples, of shape (m,), int64; -1 for samples that lack all views."""
        return self._predict(views, None, n_threads)

    def scores(self, views, n_threads=1):
        """Scores of each cluster, of shape (m, n_clusters), float32; labels are their argmax.

        Samples that lack all views have scores of NaN.
        """
        scores = np.empty((views[0].shape[0], self.model.n_clusters), dtype=np.float32)
        self._predict(views, scores, n_threads)
        return scores

    def predictions(self, views, facts, n_threads=1):
        """Labels, their margins, and which samples are unlike the fitted ones and have all views.

        See `mvsc_model_margins`. ``facts`` are the `Facts` of these rows.

        Returns
        -------
        ndarray of shape (m,), of type `PREDICTION`
        """
        scores = np.empty((views[0].shape[0], self.model.n_clusters), dtype=np.float32)
        out = np.empty(len(scores), dtype=PREDICTION)
        out["label"] = self._predict(views, scores, n_threads)
        out["margin"], out["unlike"] = self.model.margins(scores)
        out["complete"] = 1
        for i in self.model.used:
            if facts.n_missing[i]:
                out["complete"] &= ~missing_rows(views[i])
        return out

    def warn_of_rows(self, facts, titles):
        """Warn of missing cells, and of negative values in views that had none in fit."""
        warn_of_gaps(facts, titles)
        negative = [titles[i] for i in self._nonnegative if facts.least[i] < 0]
        if negative:
            warn_user(
                f"negative values in {', '.join(negative)}, but none in fit: they count as zeros. "
                "Check that units, logarithms and scaling are those of fit"
            )

    def tell_unlike(self, predictions, log):
        """Tell how many new samples with all views are unlike the fitted ones.

        It is a warning if they are more than by chance, else a note for ``log``.
        """
        if not self.has_limits:
            return
        unlike = predictions["unlike"][predictions["complete"] == 1]
        far, m = np.count_nonzero(unlike == 1), len(unlike)
        if m == 0:
            log("no new sample has all views, so the share of unlike ones is not known")
            return
        of_all_views = "" if m == len(predictions) else " with all views"
        subject = f"{far} of {counted(m, 'new sample')}{of_all_views} ({far / m:.1%})"
        verb, whose = ("is", "its cluster") if m == 1 else ("are", "their clusters")
        sentence = f"{subject} {verb} farther from {whose} than {1 - BEYOND:.0%} of the fitted ones"
        # Many unlike samples suggest other units; more than chance explains, a kind that the fit
        # has not seen. Otherwise a note is enough.
        names = "predict_margin with return_unlike=True, or --certainty, marks these samples"
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
            log(f"{sentence}; about {BEYOND:.0%} are usual")

    def _predict(self, views, scores, n_threads):
        rows = [views[i] for i in self.model.used]
        dtype = np.float32 if all(X.dtype == np.float32 for X in rows) else np.float64
        if all(isinstance(X, np.ndarray) for X in rows):
            is_ready = all(X.dtype == dtype and X.flags.carray for X in rows)
            rows = rows if is_ready else [np.require(X, dtype, "CA") for X in rows]
            return self.model.predict(rows, scores, n_threads)
        # Sparse rows become dense in blocks of bounded size.
        labels = np.empty(rows[0].shape[0], dtype=np.int64)
        for block in gen_batches(len(labels), max(1, DENSE // sum(X.shape[1] for X in rows))):
            rows_of_block = [np.require(dense(X[block], dtype), requirements="CA") for X in rows]
            scores_of_block = None if scores is None else scores[block]
            labels[block] = self.model.predict(rows_of_block, scores_of_block, n_threads)
        return labels


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


def limits_of(residual, clusters, n_clusters):
    """The residual that .05 of the new samples of each cluster exceed, of shape (n_clusters,).

    It is exceeded by fewer in clusters of which few samples were fitted (bench/drift.py).

    Clusters have residuals of different sizes: those of a small one are larger. The quantile of
    the samples of a cluster, of the rank at which a new sample exceeds it with this probability, is
    averaged with that of all samples, each divided by the median of its cluster. ``residual`` are
    those of samples that are left out of the regression.
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
