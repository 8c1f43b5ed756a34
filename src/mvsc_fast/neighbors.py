"""How many neighbours per sample survive: the choice of tau, and with it of lam."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score

from ._repr import ShortRepr
from .spectral import add_tail, spectral_labels

__all__ = [
    "NeighborsPath",
    "count_neighbors",
    "label_stability",
    "shrink_affinity",
    "stable_neighbors",
    "tube_lengths",
    "tube_thresholds",
]

GRID = (6, 8, 11, 15, 21, 30, 42, 60, 85)


@dataclass(repr=False)
class NeighborsPath(ShortRepr):
    """Label stability along a grid of neighbourhood sizes.

    Attributes
    ----------
    n_neighbors : ndarray of shape (g,)
        Sizes d.
    tau : ndarray of shape (g,)
        Tube threshold that keeps d tubes per sample on average.
    labels : ndarray of shape (g, n)
    stability : ndarray of shape (g,)
        Mean NMI with the labels of the neighbouring grid points.
    best : int
        Index of the most stable one.
    """

    n_neighbors: np.ndarray
    tau: np.ndarray
    labels: np.ndarray
    stability: np.ndarray
    best: int


def tube_lengths(W):
    """Lengths of the tubes W[:, j, k] of a tensor of shape (v, n, n), as an n x n array."""
    squares = np.einsum("ijk,ijk->jk", W, W)
    return np.sqrt(squares, out=squares)


def tube_thresholds(lengths, n_neighbors):
    """For every d the tube length tau that d off-diagonal tubes per sample exceed, on average.

    Parameters
    ----------
    lengths : ndarray of shape (n, n)
        Symmetric; see `tube_lengths`.
    n_neighbors : sequence of int

    Returns
    -------
    ndarray of the same length as ``n_neighbors``
        Where there are too few non-zero tubes, the shortest one; where more tubes tie at the
        maximum than asked for, half of it, so that all of them survive.
    """
    n = len(lengths)
    # Symmetric: the strict upper triangle has each pair once.
    pairs = np.concatenate([lengths[j, j + 1 :] for j in range(n)])
    pairs = pairs[pairs > 0]
    if pairs.size == 0:
        return np.ones(len(n_neighbors))
    ranks = np.minimum(np.maximum(n * np.asarray(n_neighbors) // 2, 1), pairs.size) - 1
    pairs = -np.partition(-pairs, np.unique(ranks))
    tau = pairs[ranks].astype(np.float64)
    longest = float(pairs.max())
    return np.where(tau < longest * (1 - 1e-6), tau, longest / 2)


def count_neighbors(lengths, tau):
    """Mean number of off-diagonal tubes per sample that are longer than tau."""
    longer = lengths > tau
    np.fill_diagonal(longer, False)
    return float(longer.sum() / len(longer))


def shrink_affinity(S, lengths, t):
    """Affinity of the tensor whose tubes are shrunk by t, from that of the tensor itself.

    A tube becomes ``max(1 - t / length, 0)`` times itself, and so does the sum of its absolute
    entries: for symmetric slices ``fuse(tube_shrink(W, t))`` is this factor times ``fuse(W)``.
    """
    factor = float(t) / np.maximum(lengths, float(t))
    np.subtract(1.0, factor, out=factor)
    factor *= S
    return factor


def stable_neighbors(S, lengths, n_clusters, *, tail, n_init, random_state):
    """Scan the grid with the tubes of W alone and find where labels change least.

    The tube shrinkage of W is the first step of the certified solver; it is close enough to the
    minimiser to choose d with.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        ``fuse(W)``.
    lengths : ndarray of shape (n, n)
        ``tube_lengths(W)``.
    n_clusters : int
    tail, n_init, random_state
        As in the clustering that follows.

    Returns
    -------
    NeighborsPath
    """
    n = len(S)
    grid = np.array([d for d in GRID if d <= n / 3] or [max(1, n // 3)])
    tau = tube_thresholds(lengths, grid)
    labels = np.empty((len(grid), n), dtype=np.int32)
    for out, t in zip(labels, tau, strict=True):
        affinity = add_tail(shrink_affinity(S, lengths, t), S, tail)
        with warnings.catch_warnings():
            # Fewer distinct samples than clusters: reported once, for the final labels.
            warnings.simplefilter("ignore", ConvergenceWarning)
            out[:], _ = spectral_labels(
                affinity, n_clusters, n_init=n_init, random_state=random_state
            )
    stability = label_stability(labels)
    return NeighborsPath(grid, tau, labels, stability, int(np.argmax(stability)))


def label_stability(labels):
    """Mean NMI of every labelling with those before and after it."""
    if len(labels) == 1:
        return np.ones(1)
    agreement = np.array(
        [normalized_mutual_info_score(a, b) for a, b in zip(labels[:-1], labels[1:], strict=True)]
    )
    inner = (agreement[:-1] + agreement[1:]) / 2
    return np.concatenate([agreement[:1], inner, agreement[-1:]])
