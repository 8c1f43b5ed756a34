"""The embedded data set, files of arrays, and generators of synthetic views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from .._utils.messages import import_extra
from .._utils.parameters import (
    InvalidParameterError,
    check_flag,
    check_integer,
    check_number,
    check_numbers,
    check_seed,
    check_type,
    verbosity,
)
from .._utils.types import Numbers, Seed
from .._utils.validation import check_clusters
from ._arrays import read_arrays

__all__ = ["load_handwritten", "load_mat", "make_cohort", "make_multiview_subspaces"]

# Assays of make_cohort: level of a column in the middle, and its range, in powers of two.
ASSAYS = {"methylation": (-1.0, 2.0), "mirna": (5.0, 2.5), "rna": (7.0, 2.0)}


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
    transpose: bool | None = None,
    verbose: int = 0,
) -> tuple[list[Any], NDArray[Any] | None]:
    """Load the views and labels of a MATLAB file, as published with many multi-view data sets.

    Files of version 7.3 need h5py. Files with the suffixes .npz, .h5, .hdf5 and .zarr are read in
    the same way.

    Parameters
    ----------
    path : str or path-like
    views : list of str, optional
        Names of the variables that are views: matrices, or cell arrays of matrices. A field of a
        struct is named "struct.field". By default a cell array or numbered matrices with a usual
        name, such as ``X``, ``data`` or ``X1, X2``, or all matrices that share one length.
    truth : str, optional
        Name of the variable with the labels: a vector of numbers or texts, also one in each cell,
        or a matrix with a row or column for each class. By default the one with a usual name, such
        as ``Y`` or ``gt``.
    transpose : bool, optional
        Whether columns are samples. By default the length that all views share decides, or if there
        are two, the length of the labels, which need a usual name or ``truth``.
    verbose : int, default=0
        If positive, print what was taken.

    Returns
    -------
    views : list of array or sparse matrix of shape (n_samples, n_features_i)
    y : ndarray of shape (n_samples,), or None
        The labels, None if the file has none or several that differ.

    Raises
    ------
    ValueError
        If the file is damaged, or neither names nor lengths decide what its variables are. The
        message names options of the command line, which correspond to the parameters.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> views, y = datasets.load_mat("MSRC_v1.mat")  # doctest: +SKIP
    >>> labels = ConsensusTLRR(n_clusters=7).fit_predict(views)  # doctest: +SKIP
    """
    if views is not None:
        if isinstance(views, str) or not isinstance(views, Iterable):
            raise InvalidParameterError(
                f"views must be a list of names of variables, got {views!r}"
            )
        views = [check_type(name, "a name in views", str) for name in views]
    if truth is not None:
        check_type(truth, "truth", str)
    if transpose is not None:
        check_flag(transpose, "transpose")
    verbosity(verbose, "verbose")
    matrices, y, notes = read_arrays(path, views=views, truth=truth, transpose=transpose)
    for note in notes if verbose else ():
        print(note)
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


def make_cohort(
    n_samples: int = 240,
    n_clusters: int = 4,
    *,
    n_features: Sequence[int] = (300, 120, 500),
    n_markers: int = 8,
    effect: float = 2.0,
    missing: float = 0.1,
    random_state: Seed = None,
) -> Bunch:
    """Generate the tables of a simulated study with patients in three assays, ids and gaps.

    The subtypes differ in a few columns of each assay, their markers. All other columns differ by
    noise, and by a factor that affects all patients to different extents, such as age or the purity
    of a tissue. Scales are those of real assays: methylation has beta values between 0 and 1; miRNA
    and RNA have counts, whose columns differ by orders of magnitude and whose rows differ by depth.

    Parameters
    ----------
    n_samples : int, default=240
        Number of patients.
    n_clusters : int, default=4
        Number of subtypes. The largest has about twice as many patients as the smallest.
    n_features : sequence of three int, default=(300, 120, 500)
        Number of columns of methylation, miRNA and RNA.
    n_markers : int, default=8
        Number of markers of each subtype in each assay.
    effect : float, default=2.0
        Change of the markers, in powers of two; half of them rise, half of them fall.
    missing : float in [0, 1], default=0.1
        Probability that a patient lacks an assay, except for one that is drawn for each patient and
        never lacks: two thirds of this share are missing.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Bunch
        With the attributes

        * ``views``: dict of pandas.DataFrame, "methylation", "mirna" and "rna", each with the
          patients that have this assay, in different orders. `views.align` joins them.
        * ``target``: pandas.Series of int, the subtype of each patient.
        * ``markers``: pandas.DataFrame with the columns "assay", "column" and "cluster".
        * ``clinical``: pandas.DataFrame with "time" in months and "event" (whether the patient
          died); subtypes with larger numbers have shorter survival.

    Raises
    ------
    ValueError
        If a parameter is out of range, or an assay has too few columns for the markers.

    Examples
    --------
    >>> from mvsc_fast import datasets
    >>> cohort = datasets.make_cohort(random_state=0)
    >>> {name: frame.shape[1] for name, frame in cohort.views.items()}
    {'methylation': 300, 'mirna': 120, 'rna': 500}
    """
    pd = import_extra("pandas", "make_cohort")

    # Parameters are checked before the first draw.
    n, c = check_integer(n_samples, "n_samples", 1), check_integer(n_clusters, "n_clusters", 1)
    check_clusters(c, n)
    n_markers = check_integer(n_markers, "n_markers", 0)
    effect, missing = check_number(effect, "effect"), check_number(missing, "missing", 0.0, 1.0)
    widths = [check_integer(d, "n_features", 1) for d in np.ravel(n_features)]
    if len(widths) != len(ASSAYS) or min(widths) < n_markers * c:
        raise ValueError(
            f"n_features must have {len(ASSAYS)} numbers of at least n_markers * n_clusters = "
            f"{n_markers * c}, got {n_features!r}"
        )
    rng = check_random_state(check_seed(random_state, "random_state"))
    # Clusters of different sizes, and a shared factor that is no cluster.
    ids = np.array([f"P{i + 1:0{len(str(n))}d}" for i in range(n)])
    share = np.linspace(2, 1, c) / np.linspace(2, 1, c).sum()
    y = rng.permutation(np.searchsorted(np.cumsum(share)[:-1], (np.arange(n) + 0.5) / n))
    shared = rng.standard_normal((n, 1))
    # Assays are missing at random, but no patient lacks all of them.
    missing_samples = rng.uniform(size=(len(ASSAYS), n)) < missing
    missing_samples[rng.randint(len(ASSAYS), size=n), np.arange(n)] = False
    views, markers = {}, []
    for (assay, (level, spread)), d, is_missing in zip(
        ASSAYS.items(), widths, missing_samples, strict=True
    ):
        # Levels of each assay: a normal baseline, then markers that are raised or lowered in one
        # cluster.
        names = np.array([f"{assay}_{j}" for j in range(d)])
        levels = level + spread * rng.standard_normal(d) + 0.3 * shared * rng.standard_normal(d)
        levels = levels + rng.gamma(4, 0.15, d) * rng.standard_normal((n, d))
        for k, columns in enumerate(rng.permutation(d)[: c * n_markers].reshape(c, n_markers)):
            levels[np.ix_(y == k, columns)] += effect * np.where(np.arange(n_markers) % 2, 1, -1)
            markers += [(assay, name, k) for name in names[columns]]
        # Methylation is a share of 0 to 1, the others are counts of a random depth.
        if assay == "methylation":
            values = np.round(1 / (1 + 2.0**-levels), 4)
        else:
            depth = 2 ** (0.4 * rng.standard_normal((n, 1)))
            values = rng.poisson(depth * 2.0 ** np.minimum(levels, 25))
        order = rng.permutation(np.flatnonzero(~is_missing))
        views[assay] = pd.DataFrame(values[order], index=ids[order], columns=names)
    # Survival depends on the cluster, and follow-up ends at random.
    time, follow_up = rng.exponential(60 / (1 + y)), rng.uniform(12, 90, n)
    clinical = {"time": np.minimum(time, follow_up).round(1), "event": time <= follow_up}
    return Bunch(
        views=views,
        target=pd.Series(y, index=ids, name="subtype"),
        markers=pd.DataFrame(markers, columns=["assay", "column", "cluster"]),
        clinical=pd.DataFrame(clinical, index=ids),
    )
