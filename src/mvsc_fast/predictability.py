"""A judge of labels that needs no truth: how well the other samples predict each sample's label."""

import numpy as np
import scipy.linalg

from .factors import spd_inverse
from .features import (
    N_LANDMARKS,
    LandmarkFeatures,
    ViewRows,
    canonical_order,
    centred,
    spread,
)
from .threads import blas_threads, resolve_threads, useful_threads
from .views import check_views

RIDGE = 0.5  # times the mean eigenvalue n / min(n, D) of unit rows
ROUNDS = 10
COLUMNS = 1024  # of one-hot labels in one product


def label_predictability(views, labels, *, n_threads=None):
    """How well ridge regression on all other samples predicts each sample's label.

    The mean over three feature maps F of ::

        NMI(labels, argmax_k yhat_k),    yhat_i = (u_i (U^T Y) - h_i Y_i) / (1 - h_i),

    where yhat_i is the leave-one-out prediction of Y = one-hot(labels) / sqrt(cluster size),
    U = F (F^T F + g I)^-1/2, h_i = ||u_i||^2 and g = n / (2 min(n, D)). The maps are the unit rows
    of all views side by side, the same centred, and centred square roots beside 600 Nystroem
    features of local Gaussian kernels. One D x D Gram matrix for each map, then two thin products
    for each labelling: linear in the number of samples.

    It serves to choose among labellings of the same samples and the same number of clusters,
    whatever methods, parameters or seeds they come from. It is no test: labels that follow a
    nuisance in the views are predictable too.

    Parameters
    ----------
    views : list of array-like or sparse matrix of shape (n_samples, n_features_i)
        As for the estimators; one matrix is one view.
    labels : array-like of shape (n_samples,) or (n_labellings, n_samples)
        Integers or strings. Judging many labellings at once costs little more than judging one.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.

    Returns
    -------
    float, or ndarray of shape (n_labellings,)
        In [0, 1], 1 where every label is predicted. 0 for a single cluster, which has nothing to
        predict. Independent of the order of the samples.

    Raises
    ------
    ValueError
        If a view is invalid, or labels do not match the samples.

    Notes
    -----
    As a scorer of scikit-learn's form: ``lambda model, X, y=None: label_predictability(X,
    model.labels_)``.

    Examples
    --------
    >>> from mvsc_fast import datasets, label_predictability
    >>> views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> label_predictability(views, y) > label_predictability(views, y[::-1])
    True
    """
    views = check_views(views)
    n_threads = resolve_threads(n_threads)
    labels = np.asarray(labels)
    n = views[0].shape[0]
    if labels.ndim not in (1, 2) or labels.shape[-1] != n or labels.size == 0:
        raise ValueError(
            f"labels has shape {labels.shape}, the views have {n} samples: pass one label per "
            "sample, or rows of them"
        )
    order = canonical_order(views)
    with blas_threads(useful_threads(n_threads, n)):
        judge = Judge([ViewRows(X[order]) for X in views])
        scores = [judge(*_numbered(row[order]))[0] for row in np.atleast_2d(labels)]
    return float(scores[0]) if labels.ndim == 1 else np.array(scores)


def _numbered(labels):
    """[labels from 0], and how many there are."""
    names, numbered = np.unique(labels, return_inverse=True)
    return [numbered], len(names)


class Judge:
    """Predictability of labellings of the samples of some views.

    Parameters
    ----------
    rows : list of ViewRows

    Attributes
    ----------
    features : LandmarkFeatures
        The third map, which also maps new samples.
    ridge : LeaveOneOutRidge
        Of the third map.
    """

    def __init__(self, rows):
        scale = np.sqrt(len(rows))
        plain = np.hstack([view.unit for view in rows], dtype=np.float32) / scale
        centre = np.hstack([centred(view.unit) for view in rows], dtype=np.float32) / scale
        landmarks = spread(len(plain), N_LANDMARKS)
        self.features = LandmarkFeatures(rows, landmarks)
        self.ridge = LeaveOneOutRidge(self.features.of_fitted(landmarks))
        self._ridges = [LeaveOneOutRidge(plain), LeaveOneOutRidge(centre), self.ridge]

    def __call__(self, labellings, n_clusters):
        """J of every labelling of shape (n,), integers below ``n_clusters``."""
        scores = [
            [
                mutual_information(labels, found, n_clusters) if np.ptp(labels) > 0 else 0.0
                for labels, found in zip(
                    labellings, ridge.predicted(labellings, n_clusters), strict=True
                )
            ]
            for ridge in self._ridges
        ]
        return np.mean(scores, axis=0)


class LeaveOneOutRidge:
    """Ridge regression of labels on features, each sample predicted by all others.

    Parameters
    ----------
    F : ndarray of shape (n, D), float32
    """

    def __init__(self, F):
        n, d = F.shape
        g = np.float32(RIDGE * n / min(n, d))
        self._thin = d < n
        if not self._thin:
            kernel = F @ F.T
            kernel[np.diag_indices(n)] += g
            self._F, self._P = F, spd_inverse(kernel)
            return
        gram = F.T @ F
        gram[np.diag_indices(d)] += g
        # A symmetric matrix is its own transpose, and that is in LAPACK's order.
        self._factor = scipy.linalg.cholesky(
            gram.T, lower=True, overwrite_a=True, check_finite=False
        )
        self._U = scipy.linalg.solve_triangular(self._factor, F.T, lower=True, check_finite=False).T
        leverage = np.einsum("ij,ij->i", self._U, self._U)
        self._leverage = np.minimum(leverage, np.float32(1 - 1e-5))[:, None]

    def predict(self, Y):
        """Leave-one-out predictions of Y, of its shape (n, k)."""
        if not self._thin:
            # U U^T = I - g P with P = (F F^T + g I)^-1, and g P_ii = 1 - h_i
            return Y - self._P @ Y / np.diagonal(self._P)[:, None]
        out = self._U @ (self._U.T @ Y)
        out -= self._leverage * Y
        out /= 1 - self._leverage
        return out

    def coefficients(self, Y):
        """B of shape (D, k): features of new samples times B predict Y."""
        if not self._thin:
            return self._F.T @ (self._P @ Y)
        return scipy.linalg.solve_triangular(
            self._factor, self._U.T @ Y, lower=True, trans="T", check_finite=False
        )

    def predicted(self, labellings, n_clusters, add=None):
        """Label of every sample that all others predict, for every labelling of shape (n,).

        ``add(Y)`` is a further prediction, added to that of the ridge.
        """
        out = []
        step = max(1, COLUMNS // n_clusters)
        for start in range(0, len(labellings), step):
            block = labellings[start : start + step]
            Y = np.hstack([one_hot(labels, n_clusters) for labels in block])
            score = self.predict(Y)
            if add is not None:
                score += add(Y)
            out += list(score.reshape(len(Y), len(block), n_clusters).argmax(axis=2).T)
        return out


def refined_labels(labellings, n_clusters, ridge, votes):
    """Each labelling as ridge and graph neighbours predict it, until it stands still.

    ``l <- argmax_k [ (leave-one-out ridge + D^-1 G) Y ]_k``, at most ten times, and not where that
    would empty a cluster.

    Parameters
    ----------
    labellings : list of ndarray of shape (n,)
        Integers below ``n_clusters``.
    n_clusters : int
    ridge : LeaveOneOutRidge
    votes : csr_array of shape (n, n), float32
        D^-1 G, a graph without diagonal and with rows of sum 1.

    Returns
    -------
    list of ndarray of shape (n,)
    """
    keys = [labels.tobytes() for labels in labellings]  # equal ones are refined once
    current = dict(zip(keys, labellings, strict=True))
    moving = list(current)
    for _ in range(ROUNDS):
        new = ridge.predicted([current[key] for key in moving], n_clusters, add=lambda Y: votes @ Y)
        changed = {
            key: labels
            for key, labels in zip(moving, new, strict=True)
            if (labels != current[key]).any()
            and len(np.unique(labels)) == len(np.unique(current[key]))
        }
        current.update(changed)
        moving = list(changed)
    return [current[key] for key in keys]


def one_hot(labels, n_clusters):
    """Indicators of shape (n, n_clusters) over the square roots of the cluster sizes, float32."""
    size = np.bincount(labels, minlength=n_clusters)
    Y = np.zeros((len(labels), n_clusters), dtype=np.float32)
    Y[np.arange(len(labels)), labels] = (1 / np.sqrt(np.maximum(size, 1)))[labels]
    return Y


def mutual_information(a, b, n_clusters):
    """Mutual information of two labellings over the mean of their entropies.

    scikit-learn's ``normalized_mutual_info_score`` of integers below ``n_clusters``, without the
    checks that cost more than the sum.
    """
    table = np.bincount(a * n_clusters + b, minlength=n_clusters * n_clusters) / len(a)
    table = table.reshape(n_clusters, n_clusters)
    total = _entropy(table.sum(axis=0)) + _entropy(table.sum(axis=1))
    return 2 * (total - _entropy(table.ravel())) / total if total > 0 else 1.0


def _entropy(p):
    p = p[p > 0]
    return -(p * np.log(p)).sum()
