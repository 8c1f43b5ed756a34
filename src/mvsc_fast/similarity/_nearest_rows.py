"""The nearest rows of every row: candidates for the longest tubes of a sample."""

from importlib.util import find_spec

import numpy as np
from sklearn.preprocessing import normalize

from .._utils.messages import warn_user
from .._utils.threads import blas_threads
from . import _factored

# Samples up to which all pairs are looked at. Three views of 100 000 with 200 features in all took
# one core 51 s, and pynndescent, which misses some, 119 s; one of 60 000 with 800 features 45 and
# 62 s. The time of pynndescent grows about linearly from there.
EXACT_LIMIT = 100_000


def nearest_rows(u, n_neighbors, n_threads=1):
    """For every row the rows of largest positive cosine with it, exactly, ties by index.

    Parameters
    ----------
    u : ndarray of shape (n, d), float32
    n_neighbors : int
    n_threads : int, default=1

    Returns
    -------
    ndarray of shape (n, min(n_neighbors, n - 1)), int32
        Nearest first; -1 where a row has fewer, as a row of zeros.
    """
    with blas_threads(1):  # blocks of rows run side by side
        return _factored.nearest_rows(normalize(u), min(n_neighbors, len(u) - 1), n_threads)


def approximate_nearest_rows(u, n_neighbors):
    """As `nearest_rows`, nearly all of them, by nearest neighbour descent (pynndescent).

    In one thread and from a fixed seed: its lists depend on the number of threads.
    """
    from pynndescent import NNDescent

    # A row is its own nearest one.
    index = NNDescent(
        normalize(u), "dot", n_neighbors=n_neighbors + 1, random_state=0, n_jobs=1, compressed=True
    )
    found, distance = index.neighbor_graph
    itself = found == np.arange(len(u))[:, None]
    found[itself | (distance >= 1)] = -1  # cosines that are not positive
    itself[~itself.any(axis=1), -1] = True
    return found[~itself].reshape(len(u), n_neighbors).astype(np.int32, copy=False)


def searched_approximately(n):
    """Whether the lists of n rows are approximate: there are many, and pynndescent is there."""
    return n > EXACT_LIMIT and find_spec("pynndescent") is not None


def listed_rows(factors, n_views, n_candidates, n_threads=1):
    """The nearest rows in one slice of each view: candidates for its longest tubes.

    The slices of further scales are left out: what is near in them is near in the first as a rule
    (of six data sets none had a lower accuracy without their lists), and the search takes most of
    the time of large fits. Not where the lists have room for all rows.

    Above `EXACT_LIMIT` samples pynndescent searches, where it is installed, else all pairs are
    looked at, which a warning says.

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
    listed = factors if n_candidates >= n - 1 else factors[:n_views]
    if searched_approximately(n):
        return [approximate_nearest_rows(u, n_candidates) for u, _ in listed]
    if n > EXACT_LIMIT:
        products = n**2 / 2 * sum(u.shape[1] for u, _ in listed)
        warn_user(
            f"the exact search for neighbors among {n} samples takes {products:.1g} "
            "multiplications, more with the square of the samples: pynndescent "
            "(pip install mvsc_fast[large]) finds nearly all in less, and fewer max_samples vote "
            "for the others"
        )
    return [nearest_rows(u, n_candidates, n_threads) for u, _ in listed]
