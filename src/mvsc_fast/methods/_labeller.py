"""The steps of ConsensusTLRR: candidate labellings, their scores, fusion and refinement."""

from functools import partial
from itertools import combinations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..judge._predictor import BEYOND, limits_of
from ..judge._ridge import Judge, mutual_information, one_hot, refined_labellings
from ..judge._scores import (
    CommonMixture,
    corrected_modularity,
    warn_of_doubts,
    warn_of_empty_clusters,
)
from ..judge._support import views_of, warn_of_camps
from ..similarity._affinity import warn_of_isolated
from ..views._rows import is_constant
from ..views._sample import MAX_CONTINUOUS_COLUMNS, warn_of_few
from ._candidates import candidate_labellings, tabulate
from ._ensemble import fused_labels

# Share of the predictability before refinement in that of a candidate. Refinement removes what
# differs between labellings of one answer by the start of k-means, but it also repairs bad ones.
UNREFINED = 0.25
# The likelihood of Gaussian clusters is a score, too, if there are few columns, all continuous, and
# several times as many samples, and if the best labelling by the other scores has such a likelihood
# at least (bench/unequal.py). It misleads in more columns, in discrete ones, and in subspaces,
# which have one mean.
MIN_LIKELIHOOD, SAMPLES_PER_COLUMN = 0.2, 4
BEST = 7  # fused labellings
# If a labelling agrees with most of the graphs' labellings by this normalised mutual information,
# only those that differ little from it are fused. A linear map predicts half-spaces well, also
# where all graphs show other clusters, such as subspaces of a single view (bench/unequal.py).
UNANIMOUS, SAME = 0.97, 0.9


def fit_labels(sample, n_clusters, *, select, seed, n_threads, progress):
    """Learned attributes of `ConsensusTLRR`, from samples in canonical order.

    Parameters
    ----------
    sample : Drawn
        A row of NaN means that the sample lacks the view. It then has no similarities in this view;
        the judge and the predictor use rows that are predicted from its other views.
    n_clusters : int
    select : bool
        Whether views without repeated structure are excluded.
    seed, n_threads : int
    progress : Progress

    Returns
    -------
    dict
        Samples are in the order of the input. Those that lack all views that were fused have the
        label -1.
    """
    # Views that help are chosen, and repeated samples are found, which must not get two labels.
    equal, has_few = sample.equal, warn_of_few(sample.equal, n_clusters)
    used = views_of(sample, select=select)
    progress.log(f"views {sorted(used.indices)}, {len(equal)} samples")

    # Candidates: partitions of several graphs, refined.
    candidates, affinity = candidate_labellings(used, n_clusters, n_threads, progress)
    if equal[-1] < n_clusters:  # no more distinct samples than clusters
        candidates["labels"][:] = equal
    warn_of_isolated(affinity.sum(axis=1))
    progress.stage("judge")
    points = _continuous_columns(sample, used)
    distinct = np.flatnonzero(np.diff(equal, prepend=-1))
    judge = Judge(used.rows, distinct=distinct)
    refine = partial(
        refined_labellings, n_clusters=n_clusters, ridge=judge.ridge, affinity=affinity
    )
    unrefined = candidates["labels"]
    candidates["labels"] = refine(unrefined)

    # Scores. In few columns the best labelling is the start of a further one, which is not refined.
    compute_scores = partial(_scores, judge, affinity, n_clusters)
    candidates |= compute_scores(candidates["labels"], unrefined)
    mixture = None if points is None else CommonMixture(points)
    start = candidates["labels"][_total(candidates).argmax()]
    if mixture is not None and mixture([start], n_clusters)[0] >= MIN_LIKELIHOOD:
        candidates["likelihood"] = mixture(candidates["labels"], n_clusters)
        start = candidates["labels"][_total(candidates).argmax()]
        compute_scores = partial(compute_scores, mixture=mixture)
        labels = mixture.maximise(start, n_clusters)[None]
        further = tabulate([("none", 0, "standard", "mixture", labels[0])])
        further |= compute_scores(labels, labels)
        candidates = {name: np.append(candidates[name], further[name], axis=0) for name in further}
    candidates["score"] = _total(candidates)

    # Fusion: TLRR of the co-association of the best labellings.
    progress.stage("consensus")
    best = _best_labellings(candidates, n_clusters)
    candidates["fused"] = np.isin(np.arange(len(candidates["labels"])), best)
    labellings = candidates["labels"][best]
    fused = fused_labels(
        labellings, n_clusters, seed=seed, n_threads=n_threads, callback=progress.iteration
    )
    progress.log(f"TLRR of {fused.n_tuples} label tuples, gap {fused.gap:.1e}")

    # The fused labels, refined, are one more candidate, and the largest score wins.
    progress.stage("refinement")
    refined = refine([fused.labels])
    scores = compute_scores(refined, refined)
    (labels,), (modularity,) = refined, scores["modularity"]
    if _total(scores)[0] < candidates["score"][best[0]]:
        labels, modularity = labellings[0], candidates["modularity"][best[0]]
    labels = _majority_labels(labels, equal, n_clusters)

    # Doubts about the labels are warnings, unless the views were called noise before, as are views
    # that show different clusters.
    if not has_few:
        warn_of_empty_clusters(labels, n_clusters)
    fused_agreement = float(np.mean([adjusted_rand_score(labels, L) for L in labellings]))
    progress.log(f"labels agree with the fused labellings by {fused_agreement:.2f}")
    if n_clusters > 1 and not used.are_noise:
        predictability = candidates["predictability"].max()
        warn_of_doubts(len(labels), predictability, modularity, fused_agreement)
    support, agreement = used.graphs.support(labels), used.agreement
    warn_of_camps(agreement, len(labels), support, [view.name for view in sample.views])

    # The predictor of new samples is the judge's regression of the final labels.
    indicators = one_hot(labels, n_clusters)
    views = [sample.views[i] for i in used.indices]
    predictor = judge.features.predictor(
        judge.ridge.coefficients(indicators),
        [(view.position, view.mean_row, view.scaling, view.lift) for view in views],
        _limits(judge, labels, distinct, n_clusters),
    )
    # Samples and views get the order of the input. Views that too few samples have get no support,
    # and an unknown agreement.
    rank, positions = np.argsort(sample.samples), [view.position for view in sample.views]
    n_views = len(sample.scalings)
    view_support, view_agreement = np.zeros(n_views), np.full((n_views, n_views), np.nan)
    view_support[positions] = support
    view_agreement[np.ix_(positions, positions)] = agreement
    return {
        "labels_": np.where(used.present.any(axis=0), labels, -1)[rank],  # of these samples only
        "samples_": sample.samples[rank],
        "candidates_": {**candidates, "labels": candidates["labels"][:, rank]},
        "affinity_matrix_": affinity[rank][:, rank],
        "view_support_": view_support,
        "view_agreement_": view_agreement,
        "views_used_": sorted(view.position for view in views),
        "fused_agreement_": fused_agreement,
        "n_tuples_": fused.n_tuples,
        "gap_": fused.gap,
        "predictor_": predictor,
    }


def _limits(judge, labels, distinct, n_clusters):
    """Roots of the cluster sizes, and how far most samples of each cluster are from its centre.

    An equal sample would predict a sample too well, so the distances are those of distinct ones.
    """
    root_sizes = np.sqrt(np.bincount(labels, minlength=n_clusters))
    distinct_labels = labels[distinct]
    ridge = judge.ridge if len(distinct_labels) == len(labels) else judge.ridge.restricted(distinct)
    sizes = np.bincount(distinct_labels, minlength=n_clusters)
    scores = ridge.predict(one_hot(distinct_labels, n_clusters))
    # Scores predict indicators over the square roots of the sizes: at the centre of a cluster that
    # of the largest score is 1, and the others are 0.
    predicted, offsets = scores.argmax(axis=1), scores * np.sqrt(sizes, dtype=np.float32)
    offsets[np.arange(len(offsets)), predicted] -= 1
    distances, right = np.linalg.norm(offsets, axis=1), predicted == distinct_labels
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


def _majority_labels(labels, equal, n_clusters):
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


def _scores(judge, affinity, n_clusters, labellings, unrefined, mixture=None):
    """Scores of labellings, each an array of shape (k,)."""
    scores = {
        "predictability": judge(labellings, n_clusters),
        "predictability_unrefined": judge(unrefined, n_clusters),
        "modularity": corrected_modularity(affinity, labellings, n_clusters),
    }
    return scores if mixture is None else scores | {"likelihood": mixture(labellings, n_clusters)}


def _total(scores):
    """The sum of the scores of labellings, each of which fails on other data."""
    J, J_unrefined = scores["predictability"], scores["predictability_unrefined"]
    total = scores["modularity"] + UNREFINED * J_unrefined + (1 - UNREFINED) * J
    return total + scores["likelihood"] if "likelihood" in scores else total


def _best_labellings(candidates, n_clusters):
    """Indices of the labellings to be fused, the best first."""
    # Joined rows are no graph, and have no vote on whether the graphs are unanimous.
    alike, score = _pairwise_agreement(candidates["labels"], n_clusters), candidates["score"]
    is_graph = candidates["graph"] != "none"
    agreement = np.where(is_graph, np.median(alike[:, is_graph], axis=1), 0)
    is_eligible = np.ones(len(score), dtype=bool)
    if agreement.max() >= UNANIMOUS:
        is_eligible = alike[agreement.argmax()] >= SAME
    order = np.argsort(-np.round(score, 12), kind="stable")
    return order[is_eligible[order]][:BEST]


def _pairwise_agreement(labellings, n_clusters):
    """Normalised mutual information of all pairs, of shape (k, k)."""
    # Equal labellings are compared once: each is represented by the first that equals it.
    rows = [labels.tobytes() for labels in labellings]
    first = [rows.index(row) for row in rows]
    agreement = np.ones((len(rows), len(rows)))
    for i, j in combinations(sorted(set(first)), 2):
        shared = mutual_information(labellings[i], labellings[j], n_clusters)
        agreement[i, j] = agreement[j, i] = shared
    return agreement[np.ix_(first, first)]
