"""The embedded data set, files of arrays, and a generator of synthetic views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._utils.parameters import (
    InvalidParameterError,
    check_flag,
    check_integer,
    check_number,
    check_numbers,
    check_seed,
    check_type,
)
from .._utils.types import Numbers, Seed
from .._utils.validation import check_clusters
from ._arrays import read_arrays

__all__ = ["load_handwritten", "load_mat", "make_multiview_subspaces"]


def load_handwritten() -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
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


def load_mat(
    path: str | PathLike[str],
    *,
    views: Sequence[str] | None = None,
    truth: str | None = None,
    transpose: bool = False,
) -> tuple[list[Any], NDArray[Any] | None]:
    """Load the views and labels of a MATLAB file, as published with many multi-view data sets.

    Files of version 7.3 need h5py. Files with the suffixes .npz, .h5, .hdf5 and .zarr are read in
    the same way.

    Parameters
    ----------
    path : str or path-like
    views : list of str, optional
        Names of the variables that are views: matrices, or cell arrays of matrices. A field of a
        struct is named "struct.field". By default ``view_0``, ``view_1``, ... or, without these,
        the only cell array.
    truth : str, optional
        Name of the variable with the labels: a vector of numbers or texts.
    transpose : bool, default=False
        Whether columns are samples.

    Returns
    -------
    views : list of array or sparse matrix of shape (n_samples, n_features_i)
    y : ndarray of shape (n_samples,), or None
        None without ``truth``.

    Raises
    ------
    ValueError
        If the file is damaged, or a variable is not what the parameters say; the message lists the
        variables.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> views, y = datasets.load_mat("MSRC_v1.mat", truth="Y")  # doctest: +SKIP
    >>> labels = ConsensusTLRR(n_clusters=7).fit_predict(views)  # doctest: +SKIP
    """
    if views is not None:
        if isinstance(views, str) or not isinstance(views, Iterable):
            raise InvalidParameterError(f"views must be a list of names, got {views!r}")
        views = [check_type(name, "a name in views", str) for name in views]
    if truth is not None:
        check_type(truth, "truth", str)
    check_flag(transpose, "transpose")
    matrices, y = read_arrays(path, views=views, truth=truth, transpose=transpose)
    return list(matrices.values()), y


def make_multiview_subspaces(
    n_samples: int = 300,
    n_clusters: int = 5,
    *,
    n_features: Sequence[int] = (40, 60, 30),
    subspace_dim: int = 3,
    noise: float = 0.1,
    quality: Numbers | None = None,
    shuffle: bool = True,
    random_state: Seed = None,
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
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
    quality : float or sequence of float in [0, 1], optional
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
    widths = [check_integer(d, "n_features", 1) for d in np.ravel(n_features)]
    quality = check_numbers(1.0 if quality is None else quality, "quality", len(widths), 0, 1)
    check_clusters(n_clusters, n_samples)
    check_flag(shuffle, "shuffle")
    rng = check_random_state(check_seed(random_state, "random_state"))
    # Clusters of equal size, up to one sample.
    y = np.arange(n_samples) * n_clusters // n_samples
    if shuffle:
        y = rng.permutation(y)
    views = []
    for d, share in zip(widths, quality, strict=True):
        # Each cluster has a subspace in each view; samples that are astray lie in that of a
        # random cluster.
        bases = rng.standard_normal((n_clusters, min(subspace_dim, d), d))
        is_random = rng.uniform(size=n_samples) >= share
        cluster = np.where(is_random, rng.randint(n_clusters, size=n_samples), y)
        weights = rng.standard_normal((n_samples, bases.shape[1]))
        X = np.einsum("nr,nrd->nd", weights, bases[cluster])
        X += noise * X.std() * rng.standard_normal(X.shape)
        views.append(X)
    return views, y
