"""Consensus of several labellings by TLRR of their co-association tensor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from .._utils.messages import counted, warn_user
from .._utils.parameters import CHECKS, InvalidParameterError, count, draw_seed
from .._utils.parts import ShortRepr
from .._utils.threads import use_threads
from .._utils.types import IntArray, Seed
from .._utils.validation import NOISE, check_clusters, check_labels, index_of
from ..judge._scores import warn_of_empty_clusters
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
        Cluster of each sample, from 0; -1 for samples that no labelling labels.
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

    -1 is no label, as in the results of fits with missing views, and neither are -2 and -3 of
    HDBSCAN: W_i,jk is then the mean of W over the labellings that label both samples, so that
    labelling i neither joins nor separates them.

    Parameters
    ----------
    labellings : sequence of array-like of shape (n_samples,)
        Numbers or strings, from any method; their numbers of clusters may differ. Indexes of
        pandas series must agree.
    n_clusters : int
        Number of clusters to find.
    random_state : int or RandomState, optional
        Pass an int for reproducible labels.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs of the process.
        Labels do not depend on it.

    Returns
    -------
    ConsensusLabels
        If there are no more distinct tuples than clusters, the tuples are the clusters.

    Warns
    -----
    UserWarning
        If there are fewer clusters than ``n_clusters``, or samples that no labelling labels.

    Raises
    ------
    ValueError
        If labellings have different lengths or indexes, hold NaN or None, are a dict, a data frame
        or an array with more rows than columns, or label no sample, or if n_clusters is not
        positive, or more than the number of samples.

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
    if isinstance(labellings, np.ndarray) and labellings.ndim == 2:
        n_labellings, n_samples = labellings.shape
        if n_labellings > n_samples:
            raise InvalidParameterError(
                f"labellings has shape {labellings.shape}, which is {n_labellings} labellings of "
                f"{n_samples} samples: pass labels.T if its columns are the labellings, and "
                "list(labels) if not"
            )
    # Labellings are checked one after another against the first one's samples.
    numbered: list[IntArray] = []
    n = index = None
    for i, labels in enumerate(labellings):
        numbers = check_labels(labels, f"labelling {i}", n, index, "the labellings before")
        numbers[np.isin(np.asarray(labels, dtype=object), NOISE)] = -1
        numbered.append(numbers)
        n, index = len(numbered[0]), index_of(labels) if index is None else index
    if not numbered:
        raise ValueError("labellings is empty: at least one labelling is needed")
    check_clusters(n_clusters, len(numbered[0]))
    # Samples that no labelling labels are left out.
    table = np.stack(numbered)
    is_labelled = np.asarray((table >= 0).any(axis=0))
    lost = np.flatnonzero(~is_labelled)
    if not is_labelled.any():
        raise ValueError("all labels are -1, -2 or -3, which are no labels")
    if len(lost):
        warn_user(
            f"{counted(len(lost), 'sample')} without a label in any labelling, the first in row "
            f"{lost[0]}: the result is -1 there, too"
        )
    with use_threads(n_threads, table.shape[1]) as threads:
        result = fused_labels(table[:, is_labelled], n_clusters, seed=seed, n_threads=threads)
    warn_of_empty_clusters(result.labels, n_clusters)
    labels = np.full(table.shape[1], -1)
    labels[is_labelled] = result.labels
    return replace(result, labels=labels)


def fused_labels(labellings, n_clusters, *, seed, n_threads, callback=None):
    """`consensus_labels` of labellings by integers from 0, or -1."""
    # Samples with equal labels in all labellings are one weighted point of a small problem.
    tuples, member, size = np.unique(
        np.stack(labellings, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    member, n_tuples = member.ravel(), len(tuples)
    if n_tuples <= n_clusters:
        return ConsensusLabels(member, n_tuples, 0.0)
    # The most frequent tuples are fused; the others follow the most similar of them.
    kept = np.sort(np.argsort(-size, kind="stable")[: max(MAX_TUPLES, MIN_TUPLES * n_clusters)])
    labels, gap = _cut_tuples(tuples[kept], size[kept], n_clusters, seed, n_threads, callback)
    return ConsensusLabels(_extended(labels, tuples, size, kept)[member], n_tuples, gap)


def _cut_tuples(tuples, size, n_clusters, seed, n_threads, callback):
    """Labels of the tuples, and the duality gap of the TLRR problem."""
    # Slices say which tuples a labelling joins, as far as it labels both; else the others do.
    is_labelled = tuples.T >= 0
    is_known = is_labelled[:, :, None] & is_labelled[:, None, :]
    W = is_known & (tuples.T[:, :, None] == tuples.T[:, None, :])
    W = np.where(is_known, W, W.sum(axis=0) / np.maximum(is_known.sum(axis=0), 1))
    # lam keeps the tubes of half of the labellings.
    tau = np.sqrt(tuples.shape[1] / 2)
    result = solve_tlrr(
        np.ascontiguousarray(W),
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
    S, S_W = result.tensor.sum(axis=0) * pairs, W.sum(axis=0) * pairs
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
        shared = ((tuples[p] == tuples[kept]) & (tuples[p] >= 0)).sum(axis=1)
        out[p] = labels[np.lexsort([size[kept], shared])[-1]]
    return out
