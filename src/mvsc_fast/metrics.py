"""Scores of a clustering against known classes, as reported in the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

__all__ = ["clustering_scores"]


def clustering_scores(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, float]:
    """Agreement of a clustering with the true classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Class and cluster of every sample; integers or strings. Indexes of pandas series must agree.

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
        If the two differ in length or are empty, or are pandas series with different indexes.
    """
    named = hasattr(y_true, "iloc") and hasattr(y_pred, "iloc")
    if named and not y_true.index.equals(y_pred.index):
        raise ValueError(
            "y_true and y_pred have different indexes: align them by y_pred.loc[y_true.index], or "
            "pass arrays to compare by position"
        )
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        if y.ndim != 1 or y.size == 0:
            raise ValueError(f"{name} has shape {y.shape}: expected one label per sample")
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} labels, y_pred has {len(y_pred)}")
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
