"""Groups that clusters hold, each of which would be a cluster of its own."""

import numpy as np
from sklearn.utils import check_random_state

from .._utils.messages import counted
from ..views._rows import spread
from ._copies import coordinates, rotated, scored_labellings

MIN_CLUSTER, MIN_GROUP = 20, 5  # samples of a cluster that is divided, and of a group
MAX_SAMPLES = 1000  # of a cluster that are used, evenly spaced
# A group is reported if the modularity of the division is at least MIN_MODULARITY, and exceeds
# those of the copies by GAP of what is left up to 1. The first saves the copies of most clusters.
MIN_MODULARITY, GAP, N_COPIES = 0.6, 1 / 3, 4


def hidden_groups(views, nonnegative, labels, seed):
    """Clusters that consist of two groups.

    The samples of each cluster are divided in two like those of `structure_test`, and the
    modularity of the best division, corrected for sizes, is compared with those of rotated copies.

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Without missing rows.
    nonnegative : list of bool
        Whether square roots of a view are taken.
    labels : ndarray of shape (n,) of int
    seed : int

    Returns
    -------
    dict of ndarray
        The samples of the smaller group, by cluster.
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
        rows = [coordinates(X[members], root) for X, root in zip(views, nonnegative, strict=True)]
        labellings, scores = scored_labellings(rows, 2)
        best = int(scores.argmax())
        sizes = np.bincount(labellings[best], minlength=2)
        if scores[best] < MIN_MODULARITY or sizes.min() < MIN_GROUP:
            continue
        # The copies cost most, and are made only for divisions that pass the first test.
        copies = max(scored_labellings(rotated(rows, copy), 2)[1].max() for copy in seeds)
        if scores[best] >= copies + GAP * (1 - copies):
            groups[cluster] = members[labellings[best] == sizes.argmin()]
    return groups


def groups_in_words(groups, sizes):
    """A sentence for each of `hidden_groups`, given the sizes of the clusters."""
    return [
        f"Cluster {cluster} of {counted(int(sizes[cluster]), 'sample')} holds two groups: "
        f"{len(samples)} of its samples are apart from the others, see hidden[{cluster}]."
        for cluster, samples in groups.items()
    ]
