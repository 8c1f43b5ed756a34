"""What the samples and the views say for and against the labels of a fitted model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from .._utils.parts import Table
from ..judge._predictor import margins_of
from ..judge._ridge import adjusted_mutual_information, judge_of, one_hot
from ..judge._support import count_votes, view_graphs
from ..spectral import spectral_embedding

MIN_SUPPORT = 0.1  # of views that the clusters follow


class Evidence(NamedTuple):
    """How well labels are predicted from other samples; None if there is only one cluster."""

    predictability: float | None = None
    predictable: np.ndarray | None = None  # share of the samples of each cluster
    margin: np.ndarray | None = None  # of each clustered sample, see `Explanation`
    second: np.ndarray | None = None  # index of its nearest other cluster
    certainty: np.ndarray | None = None  # see `Explanation`


def judge_labels(fit):
    """The `Evidence` of the labels of a `BoundModel`."""
    codes, c = fit.codes, len(fit.clusters)
    if c < 2:
        return Evidence()
    indicators = one_hot(codes, c)
    if fit.views is None:
        # Similarities: the votes of the neighbours of each sample.
        scores = count_votes(fit.model.affinity_matrix_, indicators).astype(np.float32)
        true, predicted = codes, scores.argmax(axis=1)
        predictability = adjusted_mutual_information(codes, predicted)
    else:
        # Ridge regression on the features of the views, in an order that depends on the samples
        # alone, so that no result depends on how they are stored.
        judge, order = judge_of(fit.lifted, fit.used)
        labelling = [codes[order].astype(np.int64)]
        predictability = float(judge(labelling, c, adjusted_mutual_information)[0])
        scores = np.empty_like(indicators)
        scores[order] = judge.ridge.predict(indicators[order])
        # True and predicted labels, by part of the features.
        pairs = zip(*judge.label_pairs(labelling, c), strict=True)
        true, predicted = (np.concatenate(labels, axis=1)[0] for labels in pairs)
    margin, second = margins_of(scores, codes)
    predictable = np.bincount(true, weights=predicted == true) / np.bincount(true)
    return Evidence(predictability, predictable, margin, second, _combine(fit, margin))


def _combine(fit, margin):
    """Certainty of each sample, by its margin and the candidate labellings if they are stored."""
    candidates = getattr(fit.model, "candidates_", None) or {}
    if "labels" not in candidates:
        return margin
    labellings = candidates["labels"][:, fit.rows]
    # Clusters of a candidate have other numbers: they are matched one to one first.
    agreeing = sum(_stay_together(fit.codes, labels).astype(float) for labels in labellings)
    return (margin + agreeing / len(labellings)) / 2


def _stay_together(codes, labels):
    """Which samples are in the partner of their cluster, if clusters are matched one to one."""
    codes, labels = (np.unique(x, return_inverse=True)[1] for x in (codes, labels))
    clusters, partners = linear_sum_assignment(contingency_matrix(codes, labels), maximize=True)
    partner = np.full(codes.max() + 1, -1)
    partner[clusters] = partners
    return partner[codes] == labels


def find_embedding(fit):
    """Embedding of the samples, or None if the model has none."""
    model = fit.model
    if hasattr(model, "embedding_"):
        return model.embedding_[fit.rows]
    if not hasattr(model, "affinity_matrix_") or fit.views and model.affinity_matrix_.min() < 0:
        return None
    return spectral_embedding(model.affinity_matrix_, len(fit.clusters))[fit.rows]


def tabulate_views(fit):
    """The table ``views`` of an `Explanation`, or None."""
    support = getattr(fit.model, "view_support_", None)
    if support is None and fit.views is not None and len(fit.clusters) > 1:
        support = view_graphs(fit.lifted).support(fit.codes)
    if support is None:
        return None
    columns = {"view": [str(name) for name in fit.names]}
    if fit.source is not None:
        columns |= {"features": fit.source.n_features}
        columns |= {"samples without": (~fit.present).sum(axis=1)}
    columns["support"] = support
    agreement = getattr(fit.model, "view_agreement_", np.full((1, 1), np.nan))
    if np.isfinite(agreement).any():  # NaN if views were not compared
        columns["agreement"] = np.fmax.reduce(agreement, axis=1)
    # What to know of single views, if there is anything: NumPy 1 has no numpy.any of texts.
    weak = np.where(np.asarray(support) < MIN_SUPPORT, "hardly followed by the clusters", "")
    excluded = ~np.isin(np.arange(len(fit.names)), fit.used)
    remarks = np.where(excluded, "excluded, see the warnings of the fit", weak)
    return Table(columns | ({"remark": remarks} if any(remarks) else {}))
