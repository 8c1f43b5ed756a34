"""Scores of a clustering against known classes, as reported in the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from ._utils.labels import check_labels, index_of
from ._utils.messages import warn_user

__all__ = ["clustering_scores"]


def clustering_scores(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, float]:
    """Agreement of a clustering with the true classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Class and cluster of every sample; numbers or strings. Indexes of pandas series must agree.
        A label of -1, such as that of samples without views, counts as a cluster.

    Returns
    -------
    dict
        ``acc``: fraction of samples under the best one-to-one matching of clusters and classes
        (Hungarian method); ``nmi``: mutual information divided by the mean of both entropies;
        ``ari``: adjusted Rand index (Hubert & Arabie 1985); ``f1``, ``precision``, ``recall``: over
        pairs of samples, where a pair is positive if both are in the same cluster; ``purity``:
        fraction of samples in the majority class of their cluster. All but ``ari`` are in [0, 1].

    Raises
    ------
    ValueError
        If the two differ in length, are empty or hold NaN or None, or are pandas series with
        different indexes.

    Warns
    -----
    DataConversionWarning
        If one of the two has the shape (n_samples, 1) or (1, n_samples), as vectors of MATLAB.
    """
    index = index_of(y_true)
    y_true = check_labels(as_vector(y_true, "y_true"), "y_true")
    y_pred = check_labels(as_vector(y_pred, "y_pred"), "y_pred", len(y_true), index, "y_true")
    table = contingency_matrix(y_true, y_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    (_, false_pos), (false_neg, true_pos) = pair_confusion_matrix(y_true, y_pred)
    precision = true_pos / (true_pos + false_pos) if true_pos + false_pos else 0.0
    recall = true_pos / (true_pos + false_neg) if true_pos + false_neg else 0.0
    return {
        "acc": float(table[rows, columns].sum() / len(y_true)),
        "nmi": float(normalized_mutual_info_score(y_true, y_pred)),
        "ari": float(adjusted_rand_score(y_true, y_pred)),
        "f1": float(2 * precision * recall / (precision + recall)) if true_pos else 0.0,
        "precision": float(precision),
        "recall": float(recall),
        "purity": float(table.max(axis=0).sum() / len(y_true)),
    }


def as_vector(labels, name):
    """Labels of shape (n,); a vector of MATLAB, (n, 1) or (1, n), is flattened with a warning."""
    shape = getattr(labels, "shape", ())
    if len(shape) != 2 or min(shape) != 1 or max(shape) == 1:
        return labels
    warn_user(
        f"{name} has the shape {shape}: it is read as a vector of {max(shape)} labels",
        DataConversionWarning,
    )
    return np.asarray(labels).ravel()
