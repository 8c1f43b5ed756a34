"""The steps of ConsensusTLRR: candidate labellings, their scores, fusion and refinement."""

from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..judge._doubts import warn_of_doubts
from ..judge._landmarks import BEYOND, residuals
from ..judge._modularity import corrected_modularity
from ..judge._resolution import partitioned_graphs
from ..judge._ridge import Judge, one_hot, refined_labellings
from ..judge._scan import SCALES, neighbor_graph, neighbourhood_growth, scan, sizes_of
from ..judge._support import used_views
from ..similarity._affinity import warn_of_unlike
from ..similarity._nearest_rows import searched_approximately
from ..spectral._cut import KMEANS_ROWS, assign, distinct_rows, embedded, even_starts
from ..spectral._leiden import leiden, leiden_graph
from ..views._missing import imputed
from ..views._rows import equal_samples, spread, warn_of_few
from ._ensemble import fused_labels

SIZES = (8, 15, 30)  # mean numbers of neighbours of the graphs, before they grow
# Neighbours of a graph of another kind, and the number of samples from which it is used. In place
# of graphs with 60 neighbours it adds .013 +- .006 to the mean accuracy of sixteen sets and five
# simulated families (eight new cases of each set); on hdigit .11, on none less than -.005.
NEAREST, ENOUGH = 15, 200
VOTING_NEIGHBORS = 30  # mean number of neighbours of the graphs used for refinement
# Offsets of the k-means starts by embedding. Each gives a separate labelling, because
# predictability chooses better among starts than inertia does. "2c" is needed on hdigit, and fails
# on YaleB, where it is not among the fused labellings.
STARTS = {"c": (1 / 6, 1 / 2, 5 / 6), "2c": (1 / 2,)}
# Fused labellings. Refined before they are judged and fused, nine give a mean accuracy over 16 sets
# that is .005 higher than six as k-means leaves them; a single one, without fusion, .004 lower.
BEST = 9


class Fitted(NamedTuple):
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
    Fitted
    """
    equal = equal_samples(sample.views)
    if resolution is None:
        warn_of_few(equal, n_clusters)
    complete = imputed(sample.views)
    used = used_views(sample.views, complete, sample.nonnegative, sample.names, select=select)
    progress.log(f"views {used.indices}, {len(equal)} samples")

    if resolution is not None:
        graphs = partitioned_graphs(used, n_threads)
        candidates, affinity = _communities(graphs, resolution, seed, progress), graphs[-1][-1]
        n_clusters = int(candidates["labels"].max()) + 1
    else:
        candidates, affinity = candidate_labellings(used, n_clusters, n_threads, progress)
        if equal[-1] < n_clusters:  # no more distinct samples than clusters
            candidates["labels"][:] = equal
    warn_of_unlike(affinity.sum(axis=1))

    progress.stage("judge")
    distinct = np.flatnonzero(np.diff(equal, prepend=-1))
    judge = Judge(used.rows, distinct=distinct)
    # Refinement removes what differs between labellings of one answer by the start of k-means
    # alone. Predictability before it or after it alone chooses less well than their mean.
    found = candidates["labels"]
    before = judge(found, n_clusters)
    refined = refined_labellings(found, n_clusters, judge.ridge, affinity)
    after = judge(refined, n_clusters)
    if resolution is None:
        best = np.argsort(-np.round(before + after, 12), kind="stable")[:BEST]
    else:
        best = np.array([len(refined) - 1])  # of the joint graph
    candidates |= {
        "labels": refined,
        "predictability": after,
        "predictability_unrefined": before,
        "modularity": corrected_modularity(affinity, refined, n_clusters),
        "fused": np.isin(np.arange(len(refined)), best),
    }

    progress.stage("consensus")
    fused = fused_labels(
        candidates["labels"][best],
        n_clusters,
        seed=seed,
        n_threads=n_threads,
        callback=progress.iteration,
    )
    progress.log(f"TLRR of {fused.n_tuples} label tuples, gap {fused.gap:.1e}")
    progress.stage("refinement")
    (labels,) = refined_labellings([fused.labels], n_clusters, judge.ridge, affinity)
    labels = _agreed(labels, equal, n_clusters)
    if resolution is None:
        warn_of_doubts(affinity, labels, candidates, n_clusters)
    else:  # another graph may have more communities
        labels = np.unique(labels, return_inverse=True)[1]
        n_clusters = int(labels.max()) + 1
    indicators = one_hot(labels, n_clusters)
    numbers = [sample.kept[i] for i in used.indices]
    return Fitted(
        labels=np.where(used.present.any(axis=0), labels, -1),
        candidates=candidates,
        affinity=affinity,
        predictor=judge.features.predictor(
            judge.ridge.coefficients(indicators),
            numbers,
            [sample.mean_rows[i] for i in used.indices],
            _limits(judge.ridge, labels, distinct, n_clusters),
        ),
        used=numbers,
        support=used.graphs.support(labels),
        agreement=used.graphs.agreement,
        n_tuples=fused.n_tuples,
        gap=fused.gap,
    )


def _limits(ridge, labels, distinct, n_clusters):
    """Roots of the cluster sizes, and how far most samples are from their clusters.

    An equal sample would predict a sample too well, so the distances are those of distinct ones.
    """
    some, roots = labels[distinct], np.sqrt(np.bincount(labels, minlength=n_clusters))
    alone = ridge if len(some) == len(labels) else ridge.of(distinct)
    sizes = np.bincount(some, minlength=n_clusters)
    apart = residuals(alone.predict(one_hot(some, n_clusters)), sizes)
    return np.append(roots, np.quantile(apart, 1 - BEYOND)).astype(np.float32)


def _agreed(labels, equal, n_clusters):
    """The most frequent label among equal samples for each of them."""
    if equal[-1] + 1 == len(equal):
        return labels
    votes = np.zeros((equal[-1] + 1, n_clusters), dtype=np.intp)
    np.add.at(votes, (equal, labels), 1)
    return votes.argmax(axis=1)[equal]


def candidate_labellings(used, c, n_threads, progress):
    """The candidates without scores, and the affinity matrix that is used for refinement.

    The affinity matrix is the sum over unit and centred rows at `VOTING_NEIGHBORS` neighbours, or
    more if there are many samples for each cluster.
    """
    n = used.present.shape[1]
    if searched_approximately(n):
        progress.log("approximate neighbor search by pynndescent")
    growth = neighbourhood_growth(n, c)
    sizes = sizes_of(n, [round(growth * d) for d in SIZES])
    voting = max([d for d in sizes if d <= round(growth * VOTING_NEIGHBORS)], default=sizes[0])
    found, affinity = [], 0
    count = len(SCALES) * len(sizes)
    graphs = scan(
        used.present_rows,
        used.present,
        sizes,
        2 * c,
        growth=growth,
        n_threads=n_threads,
    )
    if n >= ENOUGH:
        count += 1
        nearest = neighbor_graph(used.present_rows, used.present, NEAREST, 2 * c, n_threads)
        graphs = chain(graphs, nearest)
    for kind, d, A, values, vectors in progress.each("labellings", graphs, count):
        for embedding, offsets in STARTS.items():
            points = embedded(values, vectors, c, embedding)
            found += [(kind, d, len(points.T), _assigned(points, c, at)) for at in offsets]
        if kind in SCALES and d == voting:
            affinity = affinity + A
    if isinstance(affinity, int):  # the callback ended the previous stage
        affinity = A
    return _table(found), affinity


def _communities(graphs, resolution, seed, progress):
    """The candidates of a resolution, without scores."""
    found = [
        (kind, d, 0, leiden(leiden_graph(A), resolution, seed))
        for kind, d, A in progress.each("communities", graphs, len(graphs))
    ]
    return _table(found)


def _table(found):
    """Arrays of the candidates, without scores."""
    names = ("graph", "n_neighbors", "n_components", "labels")
    columns = zip(*found, strict=True)
    return {name: np.array(column) for name, column in zip(names, columns, strict=True)}


def _assigned(embedding, c, offset):
    # k-means would warn of fewer distinct rows than clusters, which are reported for the samples.
    c = min(c, distinct_rows(embedding[spread(len(embedding), KMEANS_ROWS)]))
    starts = partial(even_starts, offset=offset)
    return assign(embedding, c, init=starts, n_init=1).astype(np.int64)
