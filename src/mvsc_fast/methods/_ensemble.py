"""Consensus of several labellings by TLRR of their co-association tensor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from .._utils.parameters import CHECKS, InvalidParameterError, count, draw_seed
from .._utils.parts import ShortRepr
from .._utils.threads import use_threads
from .._utils.types import IntArray, Seed
from .._utils.validation import check_clusters, check_labels, index_of
from ..similarity._affinity import regularized
from ..solvers._tlrr import solve_tlrr
from ..spectral._cut import by_appearance
from ..spectral._eigenvectors import normalized_eigenvectors

OMEGA1, ALPHA, TOL, MAX_ITER = 0.5, 9.0, 1e-3, 30
# Size of the dense problem; more than 200 clusters have two tuples each, which it can join.
MAX_TUPLES, MIN_TUPLES = 400, 2
N_INIT = 10  # k-means initialisations; many, as there are few points


@dataclass(repr=False)
class ConsensusLabels(ShortRepr):
    """Consensus of several labellings.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample, from 0.
    n_tuples : int
        Number of distinct tuples of labels, which is the size of the TLRR problem.
    gap : float
        Relative duality gap of the TLRR problem: the objective is within
        ``gap * lam * ||L||_F^2`` of its minimum.
    """

    labels: IntArray
    n_tuples: int
    gap: float


def consensus_labels(
    labellings: Iterable[ArrayLike],
    n_clusters: int,
    *,
    random_state: Seed = None,
    n_threads: int | None = None,
) -> ConsensusLabels:
    """Fuse labellings of the same samples by TLRR of their co-association tensor.

    The slices of the tensor W are the labellings: W_i,jk = 1 if labelling i assigns samples j and k
    to the same cluster, else 0. Samples with equal tuples of labels are merged into one weighted
    sample, so that TLRR of all samples is solved exactly on the distinct tuples, at a cost that
    does not depend on the number of samples. The tube threshold sqrt(v / 2) keeps the pairs that
    are joined by more than half of the v labellings. Jia et al. (2021) propose the tailored norm
    for ensemble clustering as future work.

    Parameters
    ----------
    labellings : sequence of array-like of shape (n_samples,)
        Numbers or strings, from any method; their numbers of clusters may differ. Indexes of pandas
        series must agree.
    n_clusters : int
        Number of clusters to find.
    random_state : int or RandomState, optional
        Pass an int for reproducible labels.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs that are free.
        Labels do not depend on it.

    Returns
    -------
    ConsensusLabels
        If there are as many distinct tuples as clusters, the tuples are the clusters; if there are
        fewer, the first labelling is returned.

    Raises
    ------
    ValueError
        If labellings have different lengths or indexes, hold NaN or None, or are a dict or a data
        frame, or if n_clusters is not positive, or more than the number of samples.

    Notes
    -----
    If there are more than 400 distinct tuples, or two for each cluster, the problem is solved for
    so many of the most frequent; every other tuple gets the label of the tuple with which it shares
    most labels.

    Examples
    --------
    >>> from mvsc_fast import consensus_labels
    >>> labellings = [[0, 0, 1, 1, 2], [1, 1, 0, 0, 0], [0, 0, 2, 2, 2]]
    >>> consensus_labels(labellings, 2, random_state=0).labels
    array([0, 0, 1, 1, 1])
    """
    n_clusters = count(n_clusters, "n_clusters")
    seed = draw_seed(random_state)
    CHECKS["n_threads"](n_threads, "n_threads")
    if not isinstance(labellings, Iterable):
        raise InvalidParameterError(f"labellings must be a list of labellings, got {labellings!r}")
    if hasattr(labellings, "keys"):  # whose entries would be taken for its labellings
        raise InvalidParameterError(
            f"labellings is a {type(labellings).__name__}, not a list of labellings: pass "
            "[labellings[key] for key in labellings.keys()]"
        )
    # Labellings are checked one after another against the first one's samples.
    numbered: list[IntArray] = []
    n = index = None
    for i, labels in enumerate(labellings):
        numbered.append(check_labels(labels, f"labelling {i}", n, index, "the labellings before"))
        n, index = len(numbered[0]), index_of(labels) if index is None else index
    if not numbered:
        raise ValueError("labellings is empty: at least one labelling is needed")
    check_clusters(n_clusters, len(numbered[0]))
    with use_threads(n_threads, len(numbered[0])) as threads:
        return fused_labels(numbered, n_clusters, seed=seed, n_threads=threads)


def fused_labels(labellings, n_clusters, *, seed, n_threads, callback=None):
    """`consensus_labels` of labellings by integers from 0."""
    # Samples with equal labels in all labellings are one weighted point of a small problem.
    tuples, member, size = np.unique(
        np.stack(labellings, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    member, n_tuples = member.ravel(), len(tuples)
    if n_tuples <= n_clusters:
        labels = member if n_tuples == n_clusters else labellings[0]
        return ConsensusLabels(labels, n_tuples, 0.0)
    # The most frequent tuples are fused; the others follow the most similar of them.
    kept = np.sort(np.argsort(-size, kind="stable")[: max(MAX_TUPLES, MIN_TUPLES * n_clusters)])
    labels, gap = _cut_tuples(tuples[kept], size[kept], n_clusters, seed, n_threads, callback)
    return ConsensusLabels(_extended(labels, tuples, size, kept)[member], n_tuples, gap)


def _cut_tuples(tuples, size, n_clusters, seed, n_threads, callback):
    """Labels of the tuples, and the duality gap of the TLRR problem."""
    # Slices say which tuples a labelling joins; lam keeps tubes of half of the labellings.
    agree = tuples.T[:, :, None] == tuples.T[:, None, :]
    tau = np.sqrt(tuples.shape[1] / 2)
    result = solve_tlrr(
        agree.astype(np.float64, order="C"),
        sample_weight=size.astype(np.float64),
        omega1=OMEGA1,
        alpha=ALPHA,
        lam=(1 - OMEGA1) * ALPHA / (2 * tau),
        tol=TOL,
        max_iter=MAX_ITER,
        n_threads=n_threads,
        callback=callback,
    )
    pairs = np.outer(size, size)
    S, S_W = result.tensor.sum(axis=0) * pairs, agree.sum(axis=0) * pairs
    # The eigenvectors of the n x n affinity are constant on tuples. Up to the lengths of rows,
    # normalised in the embedding, they equal those of the sums over pairs of tuples.
    affinity = regularized(S, S_W, size.sum())
    embedding = normalize(normalized_eigenvectors(affinity, n_clusters)[1])
    # Tuples weigh as many points as they have samples.
    model = KMeans(n_clusters, n_init=N_INIT, random_state=seed)
    labels = model.fit(embedding, sample_weight=size).labels_
    return by_appearance(labels), result.gap


def _extended(labels, tuples, size, kept):
    """Labels of all tuples; an excluded tuple gets that of the most similar kept one."""
    out = np.empty(len(tuples), dtype=np.int64)
    out[kept] = labels
    for p in np.setdiff1d(np.arange(len(tuples)), kept):
        shared = (tuples[p] == tuples[kept]).sum(axis=1)
        out[p] = labels[np.lexsort([size[kept], shared])[-1]]
    return out
