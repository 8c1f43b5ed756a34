"""What the samples and the views say for and against the labels of a fitted model."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from .._utils.figures import COLORS, name_clusters, name_ticks, new_figure
from .._utils.messages import counted
from .._utils.parts import MAX_ROWS, Part, Table
from ..judge._predictor import margins_of
from ..judge._ridge import adjusted_mutual_information, judge_of, one_hot
from ..judge._support import ViewGraphs, camps, count_votes
from ..spectral import spectral_embedding
from ..views._facts import MANY_BLANK
from ..views._rows import missing_rows, zero_rows
from ._plots import plot_embedding

MIN_SUPPORT = 0.1  # of views that the clusters follow
MIN_PREDICTABLE = 0.7  # of clusters that are well separated
# Adjusted mutual information of clusters with batches or rows of zeros; about 0 by chance.
MAX_AGREEMENT = 0.1
MAX_MAPPED_CLUSTERS = 40  # whose map can be read


# ------------------------------------------------------------------------- the clustered samples


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
        judge, order = judge_of(fit.complete)
        labelling = [codes[order].astype(np.int64)]
        predictability = float(judge(labelling, c, adjusted_mutual_information)[0])
        scores = np.empty_like(indicators)
        scores[order] = judge.ridge.predict(indicators[order])
        # True and predicted labels, by part of the features.
        true, predicted = zip(*judge.label_pairs(labelling, c), strict=True)
        true, predicted = np.concatenate(true, axis=1)[0], np.concatenate(predicted, axis=1)[0]
    margin, second = margins_of(scores, codes)
    predictable = mean_by_cluster(predicted == true, true, c)
    return Evidence(predictability, predictable, margin, second, _combine(fit, margin))


def mean_by_cluster(values, codes, n_clusters):
    """Mean of the values over each cluster; NaN for an empty cluster."""
    sizes = np.bincount(codes, minlength=n_clusters)
    sums = np.bincount(codes, weights=values, minlength=n_clusters)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def _combine(fit, margin):
    """Certainty of each sample, by its margin and the candidate labellings if they are stored."""
    candidates = getattr(fit.model, "candidates_", None) or {}
    if "labels" not in candidates:
        return margin
    labellings = candidates["labels"][:, fit.rows]
    agreeing = np.zeros(len(fit.codes))
    for labels in labellings:
        # Clusters of a candidate have other numbers: they are matched one to one first.
        agreeing += stay_together(fit.codes, labels)
    return (margin + agreeing / len(labellings)) / 2


def stay_together(codes, labels):
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
    if not hasattr(model, "affinity_matrix_"):
        return None
    return spectral_embedding(model.affinity_matrix_, len(fit.clusters))[fit.rows]


def cluster_part(fit, clusters, evidence, embedding):
    """Sizes and quality of the clusters, and a map."""
    # One sentence for each measure, with what it does not say.
    sentences, pictures = [], {"Samples of each cluster": partial(_draw_sizes, clusters)}
    if "predictable" in clusters:
        weak = clusters["cluster"][clusters["predictable"] < MIN_PREDICTABLE].tolist()
        if weak:
            ending = f" and {len(weak) - MAX_ROWS} more" if len(weak) > MAX_ROWS else ""
            names = ", ".join(map(str, weak[:MAX_ROWS]))
            sentences.append(f"Not well separated from the others: {names}{ending}.")
        overall = np.average(clusters["predictable"], weights=np.bincount(fit.codes))
        sentences.append(
            "predictable: share of samples whose label is predicted from the other samples; "
            f"{overall:.2f} in all clusters. Predictability, an adjusted mutual information: "
            f"{evidence.predictability:.2f}; both are high in noise, too."
        )
    if "silhouette" in clusters:
        sentences.append("silhouette: 1 far from other clusters, 0 or less between them.")
        if clusters.n_rows <= MAX_MAPPED_CLUSTERS:
            labels = fit.clusters[fit.codes]
            caption = "Map of the samples: neighbors are near, other distances mean nothing"
            pictures[caption] = partial(plot_embedding, embedding, labels)
    # Shares are texts on the page, and numbers in the result.
    order = np.argsort(-clusters["samples"], kind="stable")
    table = {name: column[order] for name, column in clusters.items()}
    table["share"] = np.array([f"{100 * share:.0f} %" for share in table["share"]])
    return Part("Clusters, the largest first", Table(table), sentences, pictures)


def certainty_part(fit, samples, uncertain, evidence):
    """The samples that are between two clusters."""
    is_uncertain = np.isin(fit.samples, uncertain)
    draw = partial(_draw_certainty, fit.clusters, fit.codes, evidence.certainty, is_uncertain)
    pictures = {"Certainty of each sample, the least certain ones in red": draw}
    if not len(uncertain):
        sentence = "No sample is near another cluster."
        return Part("Least certain samples", None, [sentence], pictures)
    n_negative = counted(int((evidence.margin < 0).sum()), "sample")
    sentences = [
        "margin: 1 clearly in its cluster, 0 halfway to the second, negative nearer to it "
        f"({n_negative})."
    ]
    # Without candidates both measures are the same, and one is enough.
    columns = {name: column[uncertain] for name, column in samples.items()}
    if evidence.certainty is evidence.margin:
        del columns["certainty"]
    else:
        sentences.append(
            "certainty: mean of the margin and of the share of the candidate labellings that agree."
        )
    share = 100 * len(uncertain) / len(fit.samples)
    title = f"Least certain samples: {len(uncertain)} ({share:.0f} %)"
    return Part(title, Table(columns), sentences, pictures)


def _draw_sizes(clusters, ax=None):
    """Number of samples of each cluster, a `Table` of `Explanation`."""
    ax = new_figure() if ax is None else ax
    ax.bar(np.arange(clusters.n_rows), clusters["samples"], color=COLORS[0])
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(ylabel="samples")
    return name_clusters(ax, clusters["cluster"])


def _draw_certainty(clusters, codes, certainty, is_uncertain, ax=None):
    """Certainty of each clustered sample above its cluster, the least certain ones in red."""
    ax = new_figure() if ax is None else ax
    jitter = np.random.RandomState(0).uniform(-0.3, 0.3, len(codes))
    for chosen, color in ((~is_uncertain, COLORS[0]), (is_uncertain, COLORS[3])):
        ax.plot((codes + jitter)[chosen], certainty[chosen], ".", ms=3, color=color)
    ax.set(ylabel="1 is clearly in its cluster", ylim=(min(0, ax.get_ylim()[0]), 1.05))
    return name_clusters(ax, clusters)


# --------------------------------------------------------------------------------------- the views


def describe_views(fit):
    """What is known of the views, a `Part` or None, and the number of samples that lack a view."""
    # Sizes of the views, and how many samples lack them.
    model, names, columns, n_incomplete = fit.model, fit.names, {}, 0
    columns["view"] = [str(name) for name in names]
    if fit.source is not None:
        *missing, n_incomplete = fit.source.sum(_count_missing).tolist()
        columns |= {"features": fit.source.n_features, "samples without": missing}

    # How far the clusters follow each view, and what the fit says of it.
    support = getattr(model, "view_support_", None)
    if support is None and fit.views is not None and len(fit.clusters) > 1:
        support = ViewGraphs(fit.lifted).support(fit.codes)
    if support is None:
        return None, n_incomplete
    columns["support"] = support
    remarks = _remarks(fit, support)
    if any(remarks):
        columns["remark"] = remarks
    sentence = "support: how far the clusters follow the view's own neighbors; large in noise, too."
    draw = partial(_draw_support, names, support, fit.excluded)
    pictures = {"Support of each view for the clusters": draw}
    return Part("Views", Table(columns), [sentence], pictures), n_incomplete


def _count_missing(first, views):
    """Number of samples of a block that lack each view, and of those that lack any view."""
    missing = np.array([missing_rows(X) for X in views])
    return np.array([*missing.sum(axis=1), missing.any(axis=0).sum()])


def _remarks(fit, support):
    """A remark on each view, or ""."""
    remarks, agreement = [""] * len(fit.names), getattr(fit.model, "view_agreement_", None)
    groups = [] if agreement is None else camps(agreement, len(fit.samples), support)
    for number, group in enumerate(groups):
        meaning = "shows other clusters" if number else "the labels mostly follow"
        listed = ", ".join(str(fit.names[i]) for i in group)
        for i in group:
            remarks[i] = f"in the group {listed}, which {meaning}"
    for i, name in enumerate(fit.names):
        if name in fit.excluded:
            remarks[i] = "excluded, see the warnings of the fit"
            continue
        if support[i] < MIN_SUPPORT:
            remarks[i] = remarks[i] or "little support for these clusters"
        followed = _agreement_with_zeros(fit, i)
        if followed > MAX_AGREEMENT:
            text = f"clusters follow its rows of zeros (adjusted mutual information {followed:.2f})"
            remarks[i] = "; ".join(filter(None, [remarks[i], text]))
    return remarks


def _agreement_with_zeros(fit, i):
    """Agreement of the clusters with which rows of a view are all zero; 0 if few or all are."""
    if fit.views is None:
        return 0.0
    has = fit.present[i]
    is_zero = zero_rows(fit.views[i][has])
    is_compared = MANY_BLANK <= is_zero.mean() < 1
    return adjusted_mutual_info_score(is_zero, fit.codes[has]) if is_compared else 0.0


def _draw_support(names, support, excluded, ax=None):
    """Support of each view as a bar; excluded views are grey."""
    ax = new_figure(4.4, max(2.4, 1.2 + 0.3 * len(names))) if ax is None else ax
    colors = [COLORS[-1] if name in excluded else COLORS[0] for name in names]
    ax.barh(np.arange(len(names)), support, color=colors)
    texts = [f"{name} (excluded)" if name in excluded else str(name) for name in names]
    name_ticks(ax.yaxis, texts)
    ax.invert_yaxis()
    ax.set(xlabel="agreement with the clusters", xlim=(0, 1))
    return ax
