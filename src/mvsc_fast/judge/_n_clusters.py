"""How many clusters the views hold: a criterion that needs no labels, over all counts at once."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils import check_random_state

from .._utils.short_repr import ShortRepr
from .._utils.threads import use_threads
from .._utils.validation import check_integer
from ..solvers._method import check_seed, either
from ..spectral import simplified_silhouette
from ..views import named_views
from ..views._columns import warn_of_columns
from ..views._missing import imputed
from ..views._rows import ViewRows, canonical_order, constant_views, observed, presence
from ._ridge import Judge
from ._scan import scan
from ._support import ViewGraphs

NEIGHBORS = (8, 15, 30)
SHARPNESS = 32  # exponent of J / J_max in the weights of the graphs
LARGEST = 50  # count that "auto" looks at
PER_CLUSTER = 3  # samples at least
ROUNDS = 6  # of k-means, from seeds that are spread already

APART = 0.1  # candidates differ by more than this share, and by more than 1
# Criterion at the pick above which it was near the truth in 168 of 195 problems, below in 121 of
# 165: bench/n_clusters.py, --draw 0 to 5.
SURE = 1.49


@dataclass(repr=False)
class ClusterCounts(ShortRepr):
    """Numbers of clusters, and what speaks for each.

    Attributes
    ----------
    n_clusters : int
        The suggestion: the count of the largest criterion.
    candidates : tuple of int
        The three best counts, apart by more than 10 % and more than 1, the suggestion first.
    confidence : {"high", "low"}
        "high" where the criterion is 1.49 or more at the suggestion. Of 360 problems of known
        answer 195 were such, and 168 of these suggestions within 10 %; of the others 121 of 165.
    counts : ndarray of shape (k,)
        Every count that was tried.
    criterion : ndarray of shape (k,)
        Sum of the next two, at most 2.
    silhouette : ndarray of shape (k,)
        Simplified silhouette in the embeddings, mostly of the graphs whose labels are the most
        predictable.
    modularity : ndarray of shape (k,)
        Share of similarity within clusters, less the share that clusters of their size would have
        by chance, mean of the graphs.
    n_samples : int
        Samples that were looked at.
    """

    n_clusters: int
    candidates: tuple
    confidence: str
    counts: np.ndarray
    criterion: np.ndarray
    silhouette: np.ndarray
    modularity: np.ndarray
    n_samples: int


def suggest_n_clusters(
    views, *, max_clusters="auto", max_samples=1000, random_state=None, n_threads=None
):
    """The number of clusters that the views show, with two alternatives.

    For every count c the c leading eigenvectors of six graphs (the two kinds of graphs of
    `ConsensusTLRR`, each at 8, 15 and 30 neighbors) are cut by k-means, and ::

        criterion(c) = mean of (1 - a_i / b_i)  +  sum_k [ within_k / total - (degree_k / total)^2 ]

    is averaged over the graphs: the simplified silhouette of the embedding, a_i and b_i the
    distances of sample i to the nearest and to the second mean, and Newman's modularity of the
    clusters in the graph. Silhouettes are weighted by ``(J / max J)^32``, J the predictability of
    the graph's c labels (`label_predictability`), the weights of the consensus: a graph whose
    labels at c cannot be predicted shows no c clusters. Modularities are not: sparser graphs have
    larger ones whatever c is, and weights that change with c would add this to the curve. One
    eigenproblem for each graph serves all counts. The seeds of k-means are the columns that QR with
    pivoting picks (Damle, Minden & Ying 2019): spread, and the same at every run.

    A count is a suggestion. Where classes have visible kinds, or are kinds of something, these
    are found instead; the alternatives and the curve say so. What was tried and adds nothing that
    holds on other problems or samples of another size: the predictability of the labels as a term
    of its own, their agreement between graphs or between views, their co-association, what random
    graphs of the same degrees reach, gaps of the eigenvalues, medians over the graphs, a penalty
    on c.

    Parameters
    ----------
    views : list, tuple, dict or generator of array-like, sparse matrix or data frame
        As for `ConsensusTLRR`, of shape (n_samples, n_features_i); samples may lack views.
        Constant views and those in which nothing repeats are set aside, with a warning, and there
        is one of columns that need scaling, as in `fit`.
    max_clusters : int or "auto", default="auto"
        Largest count to try; "auto" is 50, or a third of the samples.
    max_samples : int, default=1000
        Of more samples, so many are drawn, uniformly: the cost does not grow further.
    random_state : int or RandomState, optional
        Pass an int for reproducible counts.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed. The counts do not depend on it.

    Returns
    -------
    ClusterCounts
        Independent of the order of the samples.

    Raises
    ------
    ValueError
        If a view or a parameter is invalid, or there are fewer than 6 samples.

    Examples
    --------
    >>> from mvsc_fast import datasets, suggest_n_clusters
    >>> views, _ = datasets.make_multiview_subspaces(120, 4, random_state=0)
    >>> suggest_n_clusters(views, random_state=0).n_clusters
    4
    """
    max_clusters = either("auto", partial(check_integer, minimum=2))(max_clusters, "max_clusters")
    max_samples = check_integer(max_samples, "max_samples", 2 * PER_CLUSTER)
    seed = check_random_state(check_seed(random_state, "random_state")).randint(2**31 - 1)
    views, names, columns, _ = named_views(views, missing=True)
    n = views[0].shape[0]
    if n < 2 * PER_CLUSTER:
        raise ValueError(f"{n} samples: at least {2 * PER_CLUSTER} are needed to count clusters")
    warn_of_columns(views, names, columns)
    order = canonical_order(views)
    if n > max_samples:
        drawn = np.random.RandomState(seed).choice(n, max_samples, replace=False)
        order = order[np.sort(drawn)]
    views = [X[order] for X in views]
    largest = len(order) // PER_CLUSTER
    if max_clusters == "auto":
        largest = min(largest, LARGEST)
    elif max_clusters > largest:
        raise ValueError(
            f"max_clusters={max_clusters} of {len(order)} samples: at most {largest} clusters, of "
            f"{PER_CLUSTER} samples each, can be told apart"
        )
    else:
        largest = max_clusters
    with use_threads(n_threads, len(order)) as n_threads:
        complete = imputed(views)  # from all views, as in the consensus
        helpful = _helpful(views, names)
        rows = [ViewRows(complete[i]) for i in helpful]
        present = presence(views)
        if present is None:
            there, present = rows, np.ones((len(helpful), len(order)), dtype=bool)
        else:
            there = [ViewRows(views[i][present[i]]) for i in helpful]
            present = present[helpful]
        counts = _counts(largest)
        graphs = scan(there, present, NEIGHBORS, largest, seed=seed, n_threads=n_threads)
        curves = [_curve(A, vectors.astype(np.float32), counts) for *_, A, _, vectors in graphs]
        silhouette, modularity, labels = zip(*curves, strict=True)
        weights = _weights(rows, counts, labels)
    silhouette = np.average(silhouette, axis=0, weights=weights)
    return _chosen(counts, silhouette, np.mean(modularity, axis=0), len(order))


def _counts(largest):
    """Every count up to 22, then steps of a fifteenth."""
    counts = [2]
    while counts[-1] < largest:
        counts.append(min(largest, counts[-1] + max(1, round(counts[-1] / 15))))
    return np.array(counts)


def _helpful(views, names):
    """Numbers of the views that ConsensusTLRR would use."""
    constant = constant_views(observed(views), "ignored", names)
    varied = [i for i in range(len(views)) if i not in constant]
    return ViewGraphs(views).helpful(varied, names) or [0]


def _curve(A, vectors, counts):
    """Silhouette, modularity and labels of each count."""
    degree = np.asarray(A.sum(axis=1)).ravel()
    total = degree.sum() or 1.0
    pairs = scipy.sparse.triu(A, format="coo")  # no diagonal
    squares = np.cumsum(vectors**2, axis=1)
    silhouette, modularity, found = [], [], []
    for c in counts:
        lengths = np.sqrt(squares[:, c - 1, None])
        embedding = vectors[:, :c] / np.where(lengths > 0, lengths, 1)
        labels = _cut(embedding)
        within = 2 * pairs.data @ (labels[pairs.row] == labels[pairs.col])
        volume = np.bincount(labels, weights=degree, minlength=c)
        silhouette.append(simplified_silhouette(embedding, labels).mean())
        modularity.append(within / total - ((volume / total) ** 2).sum())
        found.append(labels)
    return silhouette, modularity, found


def _weights(rows, counts, labels):
    """What each graph's labels weigh at each count, of shape (graphs, k).

    As in the consensus, by how well the labels of samples are predicted from all others.
    """
    judge = Judge(rows)
    each = zip(counts, zip(*labels, strict=True), strict=True)
    J = np.maximum(np.transpose([judge(found, int(c)) for c, found in each]), 1e-9)
    return (J / J.max(axis=0)) ** SHARPNESS


def _cut(embedding):
    """Labels by k-means of as many clusters as columns, seeded by QR with pivoting."""
    n, c = embedding.shape
    pivots = scipy.linalg.qr(embedding.T, mode="r", pivoting=True, check_finite=False)[1]
    means, labels = embedding[pivots[:c]], np.full(n, -1)
    for _ in range(ROUNDS):
        before, labels = labels, _nearest(embedding, means)
        if (labels == before).all():
            break
        member = np.zeros((c, n), dtype=embedding.dtype)
        member[labels, np.arange(n)] = 1
        sizes = member.sum(axis=1)[:, None]
        means = np.where(sizes > 0, member @ embedding / np.maximum(sizes, 1), means)
    return labels


def _nearest(rows, means):
    return (rows @ means.T - np.einsum("ij,ij->i", means, means) / 2).argmax(axis=1)


def _chosen(counts, silhouette, modularity, n_samples):
    criterion = silhouette + modularity
    candidates = []
    for t in np.argsort(-criterion, kind="stable"):
        if all(abs(counts[t] - one) > max(1, APART * one) for one in candidates):
            candidates.append(int(counts[t]))
    return ClusterCounts(
        n_clusters=candidates[0],
        candidates=tuple(candidates[:3]),
        confidence="high" if criterion.max() >= SURE else "low",
        counts=counts,
        criterion=criterion,
        silhouette=silhouette,
        modularity=modularity,
        n_samples=n_samples,
    )
