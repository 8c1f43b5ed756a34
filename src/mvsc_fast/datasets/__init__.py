"""The embedded data set and a generator of synthetic views."""

from importlib.resources import files

import numpy as np
from sklearn.utils import check_random_state

from .._utils.validation import check_integer, check_number

__all__ = ["load_handwritten", "make_multiview_subspaces"]


def load_handwritten():
    """Load the UCI Multiple Features data set: 2000 handwritten digits in six views.

    The views are 216 profile correlations, 76 Fourier coefficients, 64 Karhunen-Loeve coefficients,
    6 morphological features, 240 pixel averages and 47 Zernike moments, unscaled. The samples are
    **sorted by class**, 200 for each digit: shuffle them before comparing methods.

    Returns
    -------
    views : list of six ndarrays of shape (2000, n_features), float64
    y : ndarray of shape (2000,), int64
        Digits 0 .. 9.

    References
    ----------
    Robert Duin: Multiple Features, UCI Machine Learning Repository,
    https://doi.org/10.24432/C5HC70, licensed CC BY 4.0. Values rounded to five
    significant digits.
    """
    with files(__package__).joinpath("data/handwritten.npz").open("rb") as file:
        with np.load(file, allow_pickle=False) as arrays:
            views = [
                (arrays[f"mantissa_{i}"] / 10.0 ** arrays[f"decimals_{i}"]).T.copy()
                for i in range(6)
            ]
            return views, arrays["y"].astype(np.int64)


def make_multiview_subspaces(
    n_samples=300,
    n_clusters=5,
    *,
    n_features=(40, 60, 30),
    subspace_dim=3,
    noise=0.1,
    quality=None,
    shuffle=True,
    random_state=None,
):
    """Generate views in which each cluster lies near a separate linear subspace.

    Parameters
    ----------
    n_samples : int, default=300
        Number of samples, divided equally among the clusters.
    n_clusters : int, default=5
        Number of clusters.
    n_features : sequence of int, default=(40, 60, 30)
        Number of features of each view; its length is the number of views.
    subspace_dim : int, default=3
        Dimension of a cluster's subspace in every view.
    noise : float, default=0.1
        Standard deviation of the noise, relative to that of the clean features.
    quality : sequence of float in [0, 1], optional
        For each view, the fraction of samples that lie near the subspace of their cluster; the
        others lie near that of a random cluster. By default 1 for all views.
    shuffle : bool, default=True
        Whether to shuffle the samples; otherwise they are sorted by cluster.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    views : list of ndarray of shape (n_samples, n_features[i])
    y : ndarray of shape (n_samples,)
        True clusters.

    Raises
    ------
    ValueError
        If a parameter is out of range or ``quality`` does not match ``n_features``.
    """
    n_samples = check_integer(n_samples, "n_samples", 1)
    n_clusters = check_integer(n_clusters, "n_clusters", 1)
    subspace_dim = check_integer(subspace_dim, "subspace_dim", 1)
    noise = check_number(noise, "noise", 0.0)
    quality = np.ones(len(n_features)) if quality is None else np.asarray(quality, dtype=float)
    if n_clusters > n_samples:
        raise ValueError(f"n_clusters={n_clusters} is more than n_samples={n_samples}")
    if quality.shape != (len(n_features),) or np.any((quality < 0) | (quality > 1)):
        raise ValueError(
            f"quality must hold one number in [0, 1] for each of the {len(n_features)} views, "
            f"got {quality.tolist()}"
        )
    rng = check_random_state(random_state)
    y = np.arange(n_samples) * n_clusters // n_samples
    if shuffle:
        y = rng.permutation(y)
    views = []
    for d, good in zip(n_features, quality, strict=True):
        d = check_integer(d, "n_features", 1)
        bases = rng.standard_normal((n_clusters, min(subspace_dim, d), d))
        astray = rng.uniform(size=n_samples) >= good
        cluster = np.where(astray, rng.randint(n_clusters, size=n_samples), y)
        weights = rng.standard_normal((n_samples, bases.shape[1]))
        X = np.einsum("nr,nrd->nd", weights, bases[cluster])
        X += noise * X.std() * rng.standard_normal(X.shape)
        views.append(X)
    return views, y
