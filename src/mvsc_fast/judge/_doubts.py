"""What the scores of a fit say against its labels."""

import numpy as np
from scipy.stats import entropy

from .._utils.messages import warn_user
from ._modularity import corrected_modularity

# Calibrated by bench/doubts.py. Labels that miss a large group have a modularity that is lower by
# .12 or more than that of a candidate with less equal clusters; all others, by at most .02.
LACK, LESS_EQUAL, MIN_CLUSTER = 0.1, 0.1, 5
# Noise of 300 samples reaches a predictability of .5 to .8 and a modularity of .25 to .5, except in
# two or three columns. The sixteen sets have more of at least one of them.
PREDICTABLE, MODULAR, MIN_SAMPLES = 0.85, 0.5, 200


def warn_of_doubts(affinity, labels, candidates, n_clusters):
    """Warn if clusters are more equal than the graph shows, or no better than those of noise.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
    labels : ndarray of shape (n,) of int
        The final labels.
    candidates : dict of ndarray
        With the columns ``labels``, ``predictability`` and ``modularity``.
    n_clusters : int
    """
    (modularity,) = corrected_modularity(affinity, [labels], n_clusters)
    table = np.array([np.bincount(row, minlength=n_clusters) for row in candidates["labels"]])
    sizes = np.bincount(labels, minlength=n_clusters)
    less_equal = entropy(table, axis=1) <= entropy(sizes) - LESS_EQUAL
    lack = candidates["modularity"] - modularity
    lack[~less_equal | (table.min(axis=1) < MIN_CLUSTER)] = 0
    best, predictability = int(lack.argmax()), candidates["predictability"].max()
    if lack[best] >= LACK:
        warn_user(
            f"the clusters, of {_listed(sizes)} samples, may be much more equal than the groups in "
            f"the data: candidate {best}, with clusters of {_listed(table[best])} samples, has a "
            f"modularity of {candidates['modularity'][best]:.2f} of at most 1, the labels have "
            f'{modularity:.2f}. Compare candidates_["labels"][{best}]'
        )
    elif len(labels) >= MIN_SAMPLES and predictability < PREDICTABLE and modularity < MODULAR:
        warn_user(
            f"clusters of noise are as predictable ({predictability:.2f}) and have as large a "
            f"modularity ({modularity:.2f} of at most 1) as these: they may be arbitrary, or miss "
            "groups that are much smaller than others. structure_test tests for structure"
        )


def _listed(sizes):
    """Sizes of clusters in descending order, at most six of them."""
    ordered = [str(size) for size in np.sort(sizes)[::-1].tolist()]
    return ", ".join(ordered[:6]) + (", ..." if len(ordered) > 6 else "")
