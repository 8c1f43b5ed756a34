"""The steps of ConsensusTLRR: candidate labellings, their scores, fusion and refinement."""

from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..judge._landmarks import RowSteps
from ..judge._predictor import BEYOND, limits_of, residuals
from ..judge._resolution import partitioned_graphs
from ..judge._ridge import Judge, mutual_information, one_hot, refined_labellings
from ..judge._scores import (
    CommonMixture,
    corrected_modularity,
    warn_of_doubts,
    warn_of_empty_clusters,
)
from ..judge._support import views_of
from ..similarity._affinity import warn_of_isolated
from ..views._passes import MAX_CONTINUOUS_COLUMNS
from ..views._rows import equal_samples, is_constant, warn_of_few
from ._candidates import candidate_labellings, communities, tabulate
from ._ensemble import fused_labels

# Weights of the scores of a candidate: its predictability before and after refinement, its
# corrected modularity, and its predictability from each view alone. The first two alone prefer a
# large group cut into equal slices to groups of their true sizes (bench/unequal.py).
UNREFINED, REFINED, MODULARITY, SINGLE_VIEWS = 0.25, 0.75, 1.25, 0.5
# In weak structure the modularity is largest if outliers are clusters and the rest is in one. The
# share of clusters that have less than SMALL_SHARE of the mean size is therefore subtracted.
SMALL_CLUSTERS, SMALL_SHARE = 0.25, 0.03
# The likelihood of Gaussian clusters is added if there are few columns, all continuous, and several
# times as many samples, and if the best labelling by all other scores has such a likelihood at
# least (bench/unequal.py). It misleads in more columns, in discrete ones, and in subspaces, which
# have one mean.
LIKELIHOOD, MIN_LIKELIHOOD, SAMPLES_PER_COLUMN = 0.5, 0.2, 4
BEST = 7  # fused labellings
# Fusion may dissolve a small group. The best labelling is returned instead if its corrected
# modularity, or its likelihood, is larger by more than this.
MODULARITY_LOSS, LIKELIHOOD_LOSS = 0.02, 0.05
# If a labelling agrees with most of the graphs' labellings by this normalised mutual information,
# only those that differ little from it are fused. A linear map predicts half-spaces well, also
# where all graphs show other clusters, such as subspaces.
UNANIMOUS, SAME = 0.97, 0.9


class FittedLabels(NamedTuple):
    """Result of `fit_labels`, samples in the order of the views given.

    Attributes
    ----------
    labels : ndarray of shape (m,), int64
        -1 for samples that lack all views that were fused.
    candidates : dict of ndarray
        The candidate labellings, see `ConsensusTLRR`.
    affinity : csr_array of shape (m, m)
    predictor : Predictor
    used : list of int
        Indices of the views that were fused, among all views.
    support, agreement : ndarray of shape (v,), (v, v)
        Support of the views that were drawn, and z of each two of them.
    fused_agreement : float
        Mean adjusted Rand index of the labels with the fused labellings.
    n_tuples : int
    gap : float
    """

    labels: np.ndarray
    candidates: dict
    affinity: object
    predictor: object
    used: list
    support: np.ndarray
    agreement: np.ndarray
    fused_agreement: float
    n_tuples: int
    gap: float


def fit_labels(sample, n_clusters, resolution, *, select, seed, n_threads, progress):
    """Cluster samples in canonical order.

    Parameters
    ----------
    sample : Drawn
        A row of NaN means that the sample lacks the view. It then has no similarities in this view;
        the judge and the predictor use rows that are predicted from its other views.
    n_clusters : int or None
    resolution : float or None
        Used if there is no ``n_clusters``.
    select : bool
        Whether views without repeated structure are excluded.
    seed, n_threads : int
    progress : Progress

    Returns
    -------
    FittedLabels
    """
    # Views that help are chosen, and repeated samples are found, which must not get two labels.
    equal = equal_samples([view.rows for view in sample.views], sample.keys)
    has_few = resolution is None and warn_of_few(equal, n_clusters)
    used = views_of(sample, select=select)
    progress.log(f"views {sorted(used.indices)}, {len(equal)} samples")

    # Candidates: communities of each graph, or partitions of it into ``n_clusters``.
    if resolution is not None:
        graphs = partitioned_graphs(used, n_threads)
        candidates, affinity = communities(graphs, resolution, seed, progress), graphs[-1][-1]
        n_clusters = int(candidates["labels"].max()) + 1
    else:
        candidates, affinity = candidate_labellings(used, n_clusters, n_threads, progress)
        if equal[-1] < n_clusters:  # no more distinct samples than clusters
            candidates["labels"][:] = equal
    warn_of_isolated(affinity.sum(axis=1))

    progress.stage("judge")
    distinct = np.flatnonzero(np.diff(equal, prepend=-1))
    points = _continuous_columns(sample, used) if resolution is None else None
    judge = Judge(used.rows, distinct=distinct)
    # Refinement removes what differs between labellings of one answer by the start of k-means
    # alone. Predictability before it or after it alone chooses less well than their mean.
    unrefined = candidates["labels"]
    refined = refined_labellings(unrefined, n_clusters, judge.ridge, affinity)
    compute_scores = partial(_scores, judge, affinity, n_clusters)
    candidates |= {"labels": refined, **compute_scores(refined, unrefined)}
    predictability = candidates["predictability"].max()
    mixture = _mixture(points, refined[_total(candidates, n_clusters).argmax()], n_clusters)
    if mixture is not None:
        # The best labelling is the start of a further one, which is not refined.
        candidates["likelihood"] = mixture(refined, n_clusters)
        start = refined[_total(candidates, n_clusters).argmax()]
        labels = mixture.maximise(start, n_clusters)[None]
        further = tabulate([("none", 0, "standard", "mixture", labels[0])])
        further |= compute_scores(labels, labels) | {"likelihood": mixture(labels, n_clusters)}
        candidates = {name: np.append(candidates[name], further[name], axis=0) for name in further}
    refined, scores = candidates["labels"], _total(candidates, n_clusters)
    if resolution is None:
        best = _best_labellings(refined, candidates["graph"] == "none", scores, n_clusters)
    else:
        best = np.array([len(refined) - 1])  # of the joint graph
    candidates["fused"] = np.isin(np.arange(len(refined)), best)

    # Fusion: TLRR of the co-association of the best labellings.
    progress.stage("consensus")
    fused = fused_labels(
        refined[best],
        n_clusters,
        seed=seed,
        n_threads=n_threads,
        callback=progress.iteration,
    )
    progress.log(f"TLRR of {fused.n_tuples} label tuples, gap {fused.gap:.1e}")
    progress.stage("refinement")
    # The fused labels are refined, and the best candidate replaces them if fusion has dissolved a
    # group.
    (labels,) = refined_labellings([fused.labels], n_clusters, judge.ridge, affinity)
    (modularity,) = corrected_modularity(affinity, labels[None], n_clusters)
    is_worse = modularity < candidates["modularity"][best[0]] - MODULARITY_LOSS
    if mixture is not None:
        (likelihood,) = mixture([labels], n_clusters)
        is_worse |= likelihood < candidates["likelihood"][best[0]] - LIKELIHOOD_LOSS
    if is_worse:
        labels, modularity = refined[best[0]], candidates["modularity"][best[0]]
    labels = _agreed(labels, equal, n_clusters)
    if resolution is None and not has_few:
        warn_of_empty_clusters(labels, n_clusters)
    # Doubts about the labels are warnings, unless the views were called noise before.
    fused_agreement = float(np.mean([adjusted_rand_score(labels, L) for L in refined[best]]))
    progress.log(f"labels agree with the fused labellings by {fused_agreement:.2f}")
    if resolution is not None:  # another graph may have more communities
        labels = np.unique(labels, return_inverse=True)[1]
        n_clusters = int(labels.max()) + 1
    elif n_clusters > 1 and not used.are_noise:
        warn_of_doubts(len(labels), predictability, modularity, fused_agreement)
    # The predictor of new samples is the judge's regression of the final labels.
    indicators = one_hot(labels, n_clusters)
    views = [sample.views[i] for i in used.indices]
    return FittedLabels(
        labels=np.where(used.present.any(axis=0), labels, -1),
        candidates=candidates,
        affinity=affinity,
        predictor=judge.features.predictor(
            judge.ridge.coefficients(indicators),
            [RowSteps(view.position, view.mean_row, view.scaling, view.lift) for view in views],
            _limits(judge, labels, distinct, n_clusters),
        ),
        used=sorted(view.position for view in views),
        support=used.graphs.support(labels),
        agreement=used.graphs.agreement,
        fused_agreement=fused_agreement,
        n_tuples=fused.n_tuples,
        gap=fused.gap,
    )


def fitted_attributes(fitted, sample, n_views):
    """Attributes of `ConsensusTLRR` from its `FittedLabels`, with the samples in the input's order.

    Views of the source that too few samples have get no support and an unknown agreement.
    """
    rank = np.argsort(sample.samples)
    kept = [view.position for view in sample.views]
    support, agreement = np.zeros(n_views), np.full((n_views, n_views), np.nan)
    support[kept] = fitted.support
    agreement[np.ix_(kept, kept)] = fitted.agreement
    return {
        "labels_": fitted.labels[rank],  # of these samples alone
        "samples_": sample.samples[rank],
        "candidates_": {**fitted.candidates, "labels": fitted.candidates["labels"][:, rank]},
        "affinity_matrix_": fitted.affinity[rank][:, rank],
        "view_support_": support,
        "view_agreement_": agreement,
        "views_used_": fitted.used,
        "fused_agreement_": fitted.fused_agreement,
        "n_tuples_": fitted.n_tuples,
        "gap_": fitted.gap,
        "predictor_": fitted.predictor,
    }


def _limits(judge, labels, distinct, n_clusters):
    """Roots of the cluster sizes, and how far most samples of each cluster are from its centre.

    An equal sample would predict a sample too well, so the distances are those of distinct ones.
    """
    root_sizes = np.sqrt(np.bincount(labels, minlength=n_clusters))
    distinct_labels = labels[distinct]
    ridge = judge.ridge if len(distinct_labels) == len(labels) else judge.ridge.of(distinct)
    sizes = np.bincount(distinct_labels, minlength=n_clusters)
    scores = ridge.predict(one_hot(distinct_labels, n_clusters))
    distances, right = residuals(scores, sizes), scores.argmax(axis=1) == distinct_labels
    # Landmarks determine the features, so that they fit better than new samples do.
    landmark = np.isin(distinct, judge.features.landmarks)
    if (right & landmark).any() and (right & ~landmark).any():
        quantiles = [
            np.quantile(distances[right & part], 1 - BEYOND) for part in (landmark, ~landmark)
        ]
        distances[landmark] *= max(1, quantiles[1] / quantiles[0])
    # Only right labels have a limit: samples of other clusters are far from this one.
    right |= not right.any()
    limits = limits_of(distances[right], distinct_labels[right], n_clusters)
    return np.concatenate([root_sizes, limits]).astype(np.float32)


def _agreed(labels, equal, n_clusters):
    """The most frequent label among equal samples for each of them."""
    if equal[-1] + 1 == len(equal):
        return labels
    votes = np.zeros((equal[-1] + 1, n_clusters), dtype=np.intp)
    np.add.at(votes, (equal, labels), 1)
    return votes.argmax(axis=1)[equal]


def _continuous_columns(sample, used):
    """The joined rows, if the columns are few and continuous, or None."""
    n, n_columns = used.present.shape[1], sum(view.unit.shape[1] for view in used.rows)
    is_continuous = all(sample.views[i].is_continuous for i in used.indices)
    if not is_continuous or n_columns > min(MAX_CONTINUOUS_COLUMNS, n // SAMPLES_PER_COLUMN):
        return None
    points = np.hstack([view.unit for view in used.rows], dtype=np.float64)
    return None if is_constant(points) else points


def _mixture(points, labels, n_clusters):
    """The `CommonMixture` of points, or None if these labels do not differ in their means."""
    mixture = None if points is None else CommonMixture(points)
    is_useful = mixture is not None and mixture([labels], n_clusters)[0] >= MIN_LIKELIHOOD
    return mixture if is_useful else None


def _scores(judge, affinity, n_clusters, labellings, unrefined):
    """Scores of labellings, each an array of shape (k,)."""
    return {
        "predictability": judge(labellings, n_clusters),
        "predictability_unrefined": judge(unrefined, n_clusters),
        "predictability_by_view": judge.by_view(labellings, n_clusters),
        "modularity": corrected_modularity(affinity, labellings, n_clusters),
    }


def _total(candidates, n_clusters):
    """Weighted sum of the scores of candidates, each of which fails on other data."""
    total = (
        UNREFINED * candidates["predictability_unrefined"]
        + REFINED * candidates["predictability"]
        + MODULARITY * candidates["modularity"]
        + SINGLE_VIEWS * candidates["predictability_by_view"]
        - SMALL_CLUSTERS * _share_of_small(candidates["labels"], n_clusters)
    )
    return total + LIKELIHOOD * candidates["likelihood"] if "likelihood" in candidates else total


def _share_of_small(labellings, n_clusters):
    """Share of the clusters that have few samples, for each labelling."""
    limit = SMALL_SHARE * labellings.shape[1] / n_clusters
    sizes = [np.bincount(labels, minlength=n_clusters) for labels in labellings]
    return np.array([np.count_nonzero(size <= limit) for size in sizes]) / n_clusters


def _best_labellings(labellings, joined, total, n_clusters):
    """Indices of the labellings to be fused, the best first."""
    # Joined rows are no graph, and have no vote on whether the graphs are unanimous.
    alike = _pairwise_agreement(labellings, n_clusters)
    agreement = np.where(joined, 0, np.median(alike[:, ~joined], axis=1))
    if agreement.max() >= UNANIMOUS:
        total[alike[agreement.argmax()] < SAME] = -np.inf
    best = np.argsort(-np.round(total, 12), kind="stable")[:BEST]
    return best[total[best] > -np.inf]


def _pairwise_agreement(labellings, n_clusters):
    """Normalised mutual information of all pairs, of shape (k, k)."""
    # Equal labellings are compared once. Tuples are sorted faster than rows of an array.
    rows = list(map(tuple, labellings.tolist()))
    distinct = sorted(set(rows))
    position = {row: i for i, row in enumerate(distinct)}
    which = [position[row] for row in rows]
    distinct = np.array(distinct)
    agreement = np.ones((len(distinct), len(distinct)))
    for i, j in combinations(range(len(distinct)), 2):
        shared = mutual_information(distinct[i], distinct[j], n_clusters)
        agreement[i, j] = agreement[j, i] = shared
    return agreement[np.ix_(which, which)]
