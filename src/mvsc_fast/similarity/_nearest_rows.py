"""Search for the nearest rows of every row, the candidates for the longest tubes."""

from importlib.util import find_spec

import numpy as np
from sklearn.preprocessing import normalize

from .._utils.messages import warn_user
from .._utils.threads import blas_threads
from . import _factored  # type: ignore[attr-defined]

# Maximum number of samples for the exact search. On one core it took 51 s for three views of
# 100 000 samples with 200 features in all (pynndescent, which is approximate: 119 s), and 45 s for
# one view of 60 000 with 800 features (62 s). The time of pynndescent grows about linearly.
EXACT_LIMIT = 100_000


def nearest_rows(u, n_neighbors, n_threads=1):
    """For every row, the rows with the largest positive cosines; ties by index.

    Approximate if there are many rows, see `searched_approximately`.

    Parameters
    ----------
    u : ndarray of shape (n, d), float32
    n_neighbors : int
    n_threads : int, default=1

    Returns
    -------
    ndarray of shape (n, min(n_neighbors, n - 1)), int32
        Nearest first, padded with -1 if a row has fewer.
    """
    if searched_approximately(len(u)):
        return approximate_nearest_rows(u, n_neighbors)
    with blas_threads(1):  # blocks of rows run in parallel
        return _factored.nearest_rows(normalize(u), min(n_neighbors, len(u) - 1), n_threads)


def approximate_nearest_rows(u, n_neighbors):
    """Approximate `nearest_rows`, by nearest neighbour descent (pynndescent).

    It runs in one thread with a fixed seed, because its result depends on the number of threads.
    """
    from pynndescent import NNDescent

    # A row is its own nearest one.
    index = NNDescent(
        normalize(u), "dot", n_neighbors=n_neighbors + 1, random_state=0, n_jobs=1, compressed=True
    )
    neighbors, distance = index.neighbor_graph
    itself = neighbors == np.arange(len(u))[:, None]
    neighbors[itself | (distance >= 1)] = -1  # rows without a positive cosine
    itself[~itself.any(axis=1), -1] = True  # the search missed the row: its last neighbour goes
    return neighbors[~itself].reshape(len(u), n_neighbors).astype(np.int32, copy=False)


def searched_approximately(n):
    """Whether the search among n rows is approximate: n is large and pynndescent is installed."""
    return n > EXACT_LIMIT and find_spec("pynndescent") is not None


def listed_rows(factors, n_views, n_candidates, n_threads=1):
    """Nearest rows in one slice of each view, the candidates for the longest tubes.

    Slices of further scales are not searched, unless the lists hold all rows: they have mostly the
    same neighbours as the first slice (on none of six data sets was the accuracy lower without
    them), and the search takes most of the time of large fits.

    For more than `EXACT_LIMIT` samples pynndescent is used if it is installed. Otherwise the search
    is exact, with a warning.

    Parameters
    ----------
    factors : list of Factors
        Of `view_factors`: one slice of each view comes first.
    n_views, n_candidates : int
    n_threads : int, default=1

    Returns
    -------
    list of ndarray of shape (n, min(n_candidates, n - 1)), int32
        See `nearest_rows`.
    """
    n = len(factors[0].u)
    # Other ridges of a view change the order of neighbours little, so that one slice of each view
    # suffices for candidates, unless all rows are candidates.
    slices = factors if n_candidates >= n - 1 else factors[:n_views]
    if n > EXACT_LIMIT and not searched_approximately(n):
        products = n**2 / 2 * sum(u.shape[1] for u, _ in slices)
        warn_user(
            f"the exact search for neighbors among {n} samples takes {products:.1g} "
            "multiplications, a number that grows with the square of the samples. Install "
            "pynndescent (pip install pynndescent) for a faster approximate search, or lower "
            "max_samples"
        )
    return [nearest_rows(u, n_candidates, n_threads) for u, _ in slices]
