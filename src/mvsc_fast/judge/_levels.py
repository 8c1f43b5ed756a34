"""Levels: numbers of clusters that are supported, and groups within clusters."""

import numpy as np
from sklearn.utils import check_random_state

from .._utils.figures import COLORS, MARKERS, legend_below, new_figure
from .._utils.messages import counted
from ..views._rows import spread
from ._copies import coordinates, rotated, scored_labellings

MAX_PAIRED = 500  # maximum number of samples whose pairs are counted
# A level is the most stable number of clusters within this share, and within 1, if it is at least
# this stable and predictable. Levels are near 107 of 136 numbers of nested clusters and of their
# groups; noise has none: bench/n_clusters.py --simulated, draws 0 to 2.
LEVEL_WIDTH, MIN_STABILITY, SURE_PREDICTABILITY = 0.2, 0.85, 0.9
MIN_CLUSTER, MIN_GROUP = 20, 5  # samples of a cluster that is divided, and of a group
MAX_SAMPLES = 1000  # of a cluster that are used, evenly spaced
# A group is reported if the modularity of the division is at least MIN_DIVISION, and exceeds
# those of the copies by GAP of what is left up to 1. The first saves the copies of most clusters.
MIN_DIVISION, GAP, N_COPIES = 0.6, 1 / 3, 4


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


def by_size(labels):
    """Labels from 0, the largest cluster first."""
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[labels]


# ------------------------------------------------------------------------------- groups in clusters


def hidden_groups(used, samples, labels, seed):
    """Clusters that consist of two groups.

    The samples of each cluster are divided in two like those of `structure_test`, and the
    modularity of the best division, corrected for sizes, is compared with those of rotated copies.

    Parameters
    ----------
    used : UsedViews
    samples : ndarray of shape (n,) of int
        Indices of the samples of these views.
    labels : ndarray of shape (n,) of int
    seed : int

    Returns
    -------
    dict of ndarray
        Indices of the samples of the smaller group, by cluster.
    """
    rng, groups = check_random_state(seed), {}
    for cluster, size in enumerate(np.bincount(labels).tolist()):
        # Drawn for skipped clusters as well, so that one cluster does not change the result of
        # another.
        seeds = rng.randint(2**31 - 1, size=N_COPIES)
        if size < MIN_CLUSTER:
            continue
        members = np.flatnonzero(labels == cluster)[spread(size, MAX_SAMPLES)]
        # The cluster is divided by the labellings of the structure test, and the division is
        # compared with those of copies without clusters.
        pairs = zip(used.complete, used.rows, strict=True)
        rows = [coordinates(X[members], view.nonnegative) for X, view in pairs]
        labellings, scores = scored_labellings(rows, 2)
        best = int(scores.argmax())
        sizes = np.bincount(labellings[best], minlength=2)
        if scores[best] < MIN_DIVISION or sizes.min() < MIN_GROUP:
            continue
        # The copies cost most, and are made only for divisions that pass the first test.
        copies = max(scored_labellings(rotated(rows, copy), 2)[1].max() for copy in seeds)
        if scores[best] >= copies + GAP * (1 - copies):
            groups[cluster] = np.sort(samples[members[labellings[best] == sizes.argmin()]])
    return groups


def groups_in_words(groups, sizes):
    """A sentence for each of `hidden_groups`, given the sizes of the clusters."""
    return [
        f"A cluster of {counted(int(sizes[cluster]), 'sample')} holds two groups: "
        f"{len(samples)} of these samples are apart from the others."
        for cluster, samples in groups.items()
    ]


# ------------------------------------------------------------------------------------------- curves


def plot_counts(x, curves, ax=None):
    """Plot curves of numbers of clusters, with circles at those they support.

    Parameters
    ----------
    x : ndarray of shape (k,)
    curves : dict of (ndarray of shape (k,), tuple, str)
        By their names, the values of each curve, the numbers in ``x`` that are circled, and what
        these numbers are.
    """
    ax = new_figure(5.2, 3.4) if ax is None else ax
    for i, (name, (values, marked, meaning)) in enumerate(curves.items()):
        look = {"color": COLORS[i], "label": name}
        ax.plot(x, values, marker=MARKERS[i], markersize=2.5, linewidth=1.3, **look)
        if marked:
            rows = np.searchsorted(x, marked)
            look["label"] = f"{meaning}: {', '.join(map(str, marked))}"
            ax.plot(x[rows], values[rows], "o", ms=11, mfc="none", **look)
    ax.set(ylabel="1 is best")
    legend_below(ax)
    return ax
