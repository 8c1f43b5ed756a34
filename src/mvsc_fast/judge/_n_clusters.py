"""Estimation of the number of clusters by a criterion without ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy.linalg

from .._utils.figures import COLORS, MARKERS, legend_below, new_figure
from .._utils.messages import counted
from .._utils.parameters import CHECKS, check_integer, draw_seed
from .._utils.parts import ShortRepr
from .._utils.threads import limited, use_threads
from .._utils.types import FloatArray, IntArray, Scale, Seed, Views
from ..spectral._cut import simplified_silhouette
from ..spectral._ward import lloyd, nearest_means
from ..views._read import read_views
from ..views._rows import spread
from ..views._sample import drawn
from ..views._scaling import check_scale
from ._ridge import Judge, adjusted_mutual_information
from ._scan import SCALES, SIZES, scan
from ._scores import modularity
from ._support import views_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARPNESS = 32  # exponent of J / J_max in the weights of the graphs
MIN_PER_CLUSTER = 3  # minimum number of samples per cluster
ROUNDS = 6  # k-means iterations; the seeds are well spread

MAX_PAIRED = 500  # maximum number of samples whose pairs are counted
# A level is the most stable number of clusters within this share, and within 1, if it is at least
# this stable and predictable. Levels are near 107 of 136 numbers of nested clusters and of their
# groups; noise has none: bench/n_clusters.py --simulated, draws 0 to 2.
LEVEL_WIDTH, MIN_STABILITY, SURE_PREDICTABILITY = 0.2, 0.85, 0.9
MIN_DIFFERENCE = 0.1  # candidates differ by more than this share, and by more than 1
# Stability of suggestions of high confidence, and by how much their criterion exceeds those of the
# next numbers. Of 70 such suggestions for simulated sets, 68 are the number of clusters or of
# groups of clusters, and all are near it: draws 3 and 4. Without the second, 70 of 88 are.
SURE, LEAD = 0.95, 0.015


@dataclass(repr=False)
class ClusterCounts(ShortRepr):
    """Candidate numbers of clusters and the evidence for each.

    Attributes
    ----------
    n_clusters : int
        The suggested number of clusters, which maximises the criterion.
    candidates : tuple of int
        The three best numbers, which differ by more than 10 % and by more than 1. The suggestion
        is the first.
    confidence : {"high", "low"}
        "high" if the suggestion has a stability of at least .95, a predictability of at least .9
        and a criterion that exceeds those of the next smaller and larger number by .015, and is not
        the largest number that was evaluated. In the benchmarks of the documentation ("Number of
        clusters"), suggestions of high confidence are nearly always the number of
        clusters, or that of groups of these: clusters may still have parts.
    levels : tuple of int
        Supported numbers of clusters from coarse to fine: local maxima of ``stability`` of at
        least .85 with a ``predictability`` of at least .9. Nested clusters have several. There is
        none if the graphs disagree about every number, as they do about noise.
    counts : ndarray of shape (k,)
        Numbers of clusters that were evaluated.
    criterion : ndarray of shape (k,)
        Weighted mean of the silhouettes plus mean of the modularities of the graphs, at most 2.
    stability : ndarray of shape (k,)
        Agreement of the clusters of the six graphs: Fleiss' kappa of which pairs of samples are
        in a cluster, 1 if all agree and 0 by chance.
    predictability : ndarray of shape (k,)
        `label_predictability` of the most predictable of the six labellings, an adjusted mutual
        information.
    n_samples : int
        Number of samples that were used.
    smallest : ndarray of shape (k,)
        Number of samples in the smallest cluster of the most predictable of the six labellings.
    sizes : ndarray of shape (n_clusters,)
        Sizes of the clusters of that labelling with the suggested number, in descending order.
    """

    n_clusters: int
    candidates: tuple[int, ...]
    confidence: Literal["high", "low"]
    levels: tuple[int, ...]
    counts: IntArray
    criterion: FloatArray
    stability: FloatArray
    predictability: FloatArray
    n_samples: int
    smallest: IntArray
    sizes: IntArray

    def __str__(self):
        smallest = dict(zip(self.counts.tolist(), self.smallest.tolist(), strict=True))
        alternatives = [f"{c} clusters, the smallest of {smallest[c]}" for c in self.candidates[1:]]
        lines = [
            f"Suggested: {counted(self.n_clusters, 'cluster')}, the smallest of "
            f"{smallest[self.n_clusters]} of {counted(self.n_samples, 'sample')} "
            f"({self.confidence} confidence).",
            f"Other candidates: {'; '.join(alternatives) or 'none'}.",
            f"Supported numbers: {', '.join(map(str, self.levels)) or 'none'}.",
        ]
        return "\n".join(lines)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot stability, criterion and predictability against the number of clusters.

        The supported numbers are circled on the curve of stability, and the candidates on that of
        the criterion, which is divided by its maximum 2.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Those of a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = new_figure(5.2, 3.4) if ax is None else ax
        curves = {
            "stability": (self.stability, self.levels, "supported"),
            "criterion (divided by 2)": (self.criterion / 2, self.candidates, "candidates"),
            "predictability": (self.predictability, (), ""),
        }
        for i, (name, (values, marked, meaning)) in enumerate(curves.items()):
            look = {"color": COLORS[i], "label": name}
            ax.plot(self.counts, values, marker=MARKERS[i], markersize=2.5, linewidth=1.3, **look)
            if marked:
                rows = np.searchsorted(self.counts, marked)
                look["label"] = f"{meaning}: {', '.join(map(str, marked))}"
                ax.plot(self.counts[rows], values[rows], "o", ms=11, mfc="none", **look)
        legend_below(ax)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of clusters", ylabel="1 is best")
        return ax


@limited
def suggest_n_clusters(
    views: Views,
    *,
    max_clusters: int = 50,
    max_samples: int = 1000,
    scale: Scale | None = None,
    random_state: Seed = None,
    n_threads: int | None = None,
) -> ClusterCounts:
    """Suggest a number of clusters for multi-view data, with two alternatives.

    For every number of clusters c, the c leading eigenvectors of six graphs are clustered by
    k-means. The graphs are the two variants of `ConsensusTLRR`, each with 8, 15 and 30 neighbours.
    The criterion ::

        criterion(c) = mean of (1 - a_i / b_i)  +  sum_k [ within_k / total - (degree_k / total)^2 ]

    is averaged over the graphs. The first term is the simplified silhouette of the embedding, with
    a_i and b_i the distances of sample i to the nearest and second nearest cluster mean; the second
    is Newman's modularity of the clusters in the graph. Silhouettes are weighted by
    ``(J / max J)^32``, with J the predictability of the labels (`label_predictability`).
    Modularities are not weighted, because they depend on the sparsity of a graph. k-means is seeded
    by QR decomposition with column pivoting (Damle, Minden & Ying 2019), which is deterministic.

    The result is a suggestion: if the classes have subclasses, or form superclasses, the number of
    these may be found instead. ``levels`` has all numbers that are supported. The six graphs agree
    best about large clusters, so that a rare group may be within one of them: test the samples of a
    cluster for parts by `structure_test`.

    Parameters
    ----------
    views : list, tuple, dict or generator of array-like, sparse matrix or data frame
        Views of shape (n_samples, n_features_i), as for `ConsensusTLRR`; samples may lack views.
        Constant views and views without repeated structure are excluded with a warning. As in
        `fit`, columns that need scaling are reported by a warning.
    max_clusters : int, default=50
        Largest number of clusters to evaluate; at most a third of the number of samples are, and
        as many as there are distinct samples.
    max_samples : int, default=1000
        Maximum number of samples to use. If there are more samples, a uniform subsample of this
        size is used.
    scale : {"standard"}, optional
        How columns are scaled, as in `ConsensusTLRR`.
    random_state : int or RandomState, optional
        Pass an int for reproducible results.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs of the process.
        Results do not depend on it.

    Returns
    -------
    ClusterCounts
        Candidate numbers of clusters, independent of the order of the samples.

    Raises
    ------
    ValueError
        If a view or a parameter is invalid, if there are fewer than 6 samples, or all are equal.

    Examples
    --------
    >>> from mvsc_fast import datasets, suggest_n_clusters
    >>> views, _ = datasets.make_multiview_subspaces(120, 4, random_state=0)
    >>> suggest_n_clusters(views, random_state=0).n_clusters
    4
    """
    # Parameters are checked before the data are read, which may take long.
    max_clusters = check_integer(max_clusters, "max_clusters", 2)
    max_samples = check_integer(max_samples, "max_samples", 2 * MIN_PER_CLUSTER)
    seed = draw_seed(random_state)
    scale = check_scale(scale, "scale")
    CHECKS["n_threads"](n_threads, "n_threads")
    source = read_views(views, min_samples=2 * MIN_PER_CLUSTER)
    # The cost grows with samples times counts, so a sample is used, and its size limits the counts,
    # as does the number of distinct samples.
    sample = drawn(source, max_samples, 2 * MIN_PER_CLUSTER, seed, scale=scale)
    distinct = 1 + sample.equal[-1]
    largest = min(max_clusters, len(sample.samples) // MIN_PER_CLUSTER, int(distinct))
    if largest < 2:
        raise ValueError("all samples are equal: they have no clusters to count")
    # Every graph is cut at every count. The graphs then vote: those whose labels are more
    # predictable have larger weights.
    with use_threads(n_threads, len(sample.samples)) as n_threads:
        used = views_of(sample)
        counts, n_vectors = _counts(largest), dict.fromkeys(SCALES, largest)
        graphs = scan(used.present_rows, used.present, SIZES, n_vectors, n_threads=n_threads)
        curves = [_curve(A, vectors.astype(np.float32), counts) for *_, A, _, vectors in graphs]
        silhouette, modularity, labels = zip(*curves, strict=True)
        weights, predictability, sizes = _judged(used.rows, counts, labels)
    # Stability says how often the graphs agree on a pair of samples. The criterion adds how
    # separate clusters are in the embeddings and in the graphs.
    stability = np.array(list(map(agreement, np.swapaxes(labels, 0, 1))))
    criterion = np.average(silhouette, axis=0, weights=weights) + np.mean(modularity, axis=0)
    candidates = _candidates(counts, criterion)
    # The confidence is high only if stability and predictability are, and if the criterion has a
    # clear peak; the largest count has no larger neighbour to compare with.
    supported = supported_counts(counts, stability, predictability, criterion)
    is_sure = (stability >= SURE) & (predictability >= SURE_PREDICTABILITY) & (counts < counts[-1])
    is_sure &= _lead(criterion) >= LEAD
    return ClusterCounts(
        n_clusters=candidates[0],
        candidates=candidates,
        confidence="high" if is_sure[counts == candidates[0]] else "low",
        levels=tuple(counts[supported].tolist()),
        counts=counts,
        criterion=criterion,
        stability=stability,
        predictability=predictability,
        n_samples=len(sample.samples),
        smallest=np.array([sizes_of_count[-1] for sizes_of_count in sizes]),
        sizes=sizes[int(np.searchsorted(counts, candidates[0]))],
    )


def _counts(largest):
    """Every number of clusters up to 22, then steps of a fifteenth."""
    counts = [2]
    while counts[-1] < largest:
        counts.append(min(largest, counts[-1] + max(1, round(counts[-1] / 15))))
    return np.array(counts)


def _curve(A, vectors, counts):
    """Silhouette, modularity and labels of each count."""
    squares = np.cumsum(vectors**2, axis=1)
    silhouette, labellings = [], []
    # The embedding for c clusters is the first c columns, so that one decomposition serves all.
    for c in counts:
        lengths = np.sqrt(squares[:, c - 1, None])
        embedding = vectors[:, :c] / np.where(lengths > 0, lengths, 1)
        labels = _kmeans(embedding)
        silhouette.append(simplified_silhouette(embedding, labels).mean())
        labellings.append(labels)
    modularities, _ = modularity(A, labellings, counts[-1])
    return silhouette, modularities, labellings


def _judged(rows, counts, labels):
    """Weights of the graphs, of shape (n_graphs, k), and evidence at each count.

    A weight is a power of the predictability of the graph's labels. The evidence is the
    predictability of the most predictable labelling, and the sizes of its clusters, in descending
    order.
    """
    judge = Judge(rows)
    J, adjusted, sizes = [], [], []
    # Normalised information compares graphs at one count; only the adjusted one compares counts.
    for c, *labellings in zip(counts.tolist(), *labels, strict=True):
        scores = judge(labellings, c)
        J.append(np.maximum(scores, 1e-9))
        best = labellings[int(scores.argmax())]
        adjusted.append(judge([best], c, adjusted_mutual_information)[0])
        sizes.append(np.sort(np.unique(best, return_counts=True)[1])[::-1])
    J = np.transpose(J)
    return (J / J.max(axis=0)) ** SHARPNESS, np.array(adjusted), sizes


def _kmeans(embedding):
    """k-means labels, one cluster for each column, seeded by QR with column pivoting."""
    c = embedding.shape[1]
    pivots = scipy.linalg.qr(embedding.T, mode="r", pivoting=True, check_finite=False)[1]
    # Rows that QR chooses first are far apart: starts without random numbers.
    return nearest_means(embedding, lloyd(embedding, embedding[pivots[:c]], ROUNDS - 1))


def _candidates(counts, criterion):
    """The three best numbers of clusters that are apart."""
    candidates = []
    for t in np.argsort(-criterion, kind="stable"):
        if all(abs(counts[t] - c) > max(1, MIN_DIFFERENCE * c) for c in candidates):
            candidates.append(int(counts[t]))
    return tuple(candidates[:3])


def _lead(values):
    """How much each value exceeds the larger of its neighbours."""
    padded = np.pad(values, 1, constant_values=-np.inf)
    return values - np.maximum(padded[:-2], padded[2:])


def agreement(labellings):
    """Fleiss' kappa of m labellings: which pairs of samples each of them joins."""
    subsample = labellings[:, spread(labellings.shape[1], MAX_PAIRED)]
    # How many labellings join each pair, counted for all pairs at once.
    joined = sum(np.equal.outer(row, row).view(np.uint8) for row in subsample)
    m = len(labellings)
    pairs = np.bincount(joined.ravel(), minlength=m + 1)
    pairs[-1] -= len(joined)  # of a sample with itself
    shares = pairs / max(pairs.sum(), 1)
    # The share of joined pairs, and of pairs that two labellings join, beside that by chance.
    j = np.arange(m + 1)
    mean_share, mean_pairs = shares @ (j / m), shares @ (j * (j - 1) / (m * (m - 1)))
    chance = mean_share**2
    return round((mean_pairs - chance) / max(mean_share - chance, 1e-9), 9)


def supported_counts(counts, stability, predictability, criterion):
    """Which numbers of clusters are supported; the criterion decides between equal stability."""
    rank = np.argsort(np.lexsort((criterion, stability)))
    supported = (stability >= MIN_STABILITY) & (predictability >= SURE_PREDICTABILITY)
    supported[-1] = False  # no larger number is known to be worse
    # Only the best within a neighbourhood counts, or all numbers near a level would be levels.
    for t, c in enumerate(counts):
        supported[t] &= rank[t] == rank[np.abs(counts - c) <= max(1, LEVEL_WIDTH * c)].max()
    return supported
