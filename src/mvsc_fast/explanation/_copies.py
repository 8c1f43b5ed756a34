"""Copies of views without clusters, and the modularities that labellings of views have."""

import warnings
from functools import partial

import numpy as np
from scipy.linalg import helmert
from scipy.stats import ortho_group
from sklearn.utils import check_random_state

from .._utils.threads import use_threads
from ..judge._modularity import corrected_modularity
from ..judge._n_clusters import NEIGHBORS
from ..judge._scan import neighbourhood_growth, scan, sizes_of
from ..judge._support import used_views
from ..spectral._cut import assign, embedded, even_starts

# Embeddings and offsets of the k-means starts. Other labellings must not be added unseen: k-means
# and Ward's method on rows that are not of unit length find the outliers of heavy tails, so that 1
# to 3 of 6 draws of t noise have p = .05 with 500 samples.
STARTS = (("c", 1 / 6), ("c", 1 / 2), ("c", 5 / 6), ("2c", 1 / 2))
# The mean of the nine best labellings in place of the best: three clusters at distance 2.5, of 100
# samples, have a mean z of 3.2 in place of 3.0.
N_BEST = 9


def rotated(views, seed):
    """Views of centred samples, multiplied by one random orthogonal matrix."""
    n = len(views[0])
    basis = helmert(n)  # orthonormal rows, each of sum zero
    rotation = basis.T @ ortho_group.rvs(n - 1, random_state=int(seed)) @ basis
    return [rotation @ X for X in views]


def permuted(views, seed, moved):
    """Views whose samples are permuted alike if their index is in ``moved``."""
    order = check_random_state(int(seed)).permutation(len(views[0]))
    return [X[order] if i in moved else X for i, X in enumerate(views)]


def best_modularity(views, n_clusters, mixing, moved):
    """Mean corrected modularity of the best labellings of the views, or of a copy.

    ``mixing`` is the seed of the copy, or None.
    """
    n = len(views[0])
    if mixing is not None:
        views = permuted(views, mixing, moved) if moved else rotated(views, mixing)
    with warnings.catch_warnings(), use_threads(1, n):
        warnings.simplefilter("ignore")  # the samples were checked when they were drawn
        # Square roots of a copy that happens to be non-negative would be a difference.
        used = used_views(views, views, [False] * len(views), select=False)
        labellings, affinity = _labellings(used, n_clusters)
    return np.sort(corrected_modularity(affinity, labellings, n_clusters))[-N_BEST:].mean()


def _labellings(used, n_clusters):
    """Labellings by k-means of rows of unit length, and the graph in which they are compared."""
    n = used.present.shape[1]
    growth = neighbourhood_growth(n, n_clusters)
    sizes = sizes_of(n, [round(growth * d) for d in NEIGHBORS])
    graphs = scan(
        used.present_rows, used.present, sizes, 2 * n_clusters, growth=growth, n_threads=1
    )
    labellings, affinity = [], 0
    for _, size, A, values, vectors in graphs:
        for kind, offset in STARTS:
            points = embedded(values, vectors, n_clusters, kind)
            starts = partial(even_starts, offset=offset)
            labellings.append(assign(points, n_clusters, init=starts, n_init=1))
        if size == sizes[-1]:
            affinity = affinity + A
    return labellings, affinity
