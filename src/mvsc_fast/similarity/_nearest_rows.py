"""Search for the nearest rows of every row, the candidates for the longest tubes."""

from sklearn.preprocessing import normalize

from .._utils.messages import warn_user
from .._utils.threads import blas_threads
from . import _factored  # type: ignore[attr-defined]

# Number of samples from which a fit warns of the search. On one core that of 100 000 samples took
# 51 s for three views with 200 features in all.
MANY_ROWS = 100_000


def nearest_rows(u, n_neighbors, n_threads=1):
    """For every row, the rows with the largest positive cosines; ties by index.

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
    with blas_threads(1):  # blocks of rows run in parallel
        return _factored.nearest_rows(normalize(u), min(n_neighbors, len(u) - 1), n_threads)


def listed_rows(factors, n_views, n_candidates, n_threads=1):
    """Nearest rows in one slice of each view, the candidates for the longest tubes.

    Slices of further scales are not searched, unless the lists hold all rows: they have mostly the
    same neighbours as the first slice (on none of six data sets was the accuracy lower without
    them), and the search takes most of the time of large fits.

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
    if n > MANY_ROWS:
        products = n**2 / 2 * sum(u.shape[1] for u, _ in slices)
        warn_user(
            f"the search for neighbors among {n} samples takes {products:.1g} multiplications, a "
            "number that grows with the square of the samples: lower max_samples"
        )
    return [nearest_rows(u, n_candidates, n_threads) for u, _ in slices]
