"""Stability of clusters in random subsamples."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.parallel import Parallel, delayed

from .._utils.figures import COLORS, legend_below, name_clusters, new_figure
from .._utils.parameters import (
    check_estimator,
    check_integer,
    check_jobs,
    check_number,
    check_seed,
)
from .._utils.parts import Part, Table
from .._utils.types import Estimator, FloatArray, Seed, Views
from ..views._anndata import is_anndata
from ..views._read import listed_views
from ..views._row_source import is_dask, is_stored
from ._bind import bind_views, takes_similarities
from ._evidence import stay_together

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(repr=False)
class Stability:
    """Result of `stability`; printing it shows the text.

    Attributes
    ----------
    agreement : ndarray of shape (n_resamples,)
        Adjusted Rand index of the labels of each subsample with those of all samples.
    clusters : ndarray of shape (c,)
        The distinct labels.
    cluster_stability : ndarray of shape (c,)
        For each cluster, the Jaccard index with the most similar cluster of a subsample, averaged
        over the subsamples. Clusters above .85 are very stable, those below .6 are not (Hennig
        2007). NaN if none has a sample of the cluster.
    sample_stability : ndarray of shape (n_samples,)
        How often the sample stays in its cluster, as a share of the subsamples that contain it,
        after clusters have been matched one to one. NaN for a sample that no subsample contains,
        such as those that the model did not cluster (``samples_``).
    labels : ndarray of shape (n_samples,)
        The labels of all samples.
    ids : ndarray of shape (n_samples,)
        Index of the views that are data frames, or the indices of the samples.
    fraction : float
        Share of the samples in each subsample.
    """

    agreement: FloatArray
    clusters: NDArray[Any]
    cluster_stability: FloatArray
    sample_stability: FloatArray
    labels: NDArray[Any]
    ids: NDArray[Any]
    fraction: float

    def __str__(self):
        return str(self._part())

    __repr__ = __str__

    def _repr_html_(self):
        return self._part()._repr_html_()

    def _part(self):
        names, sizes = np.unique(self.labels, return_counts=True)
        sizes = sizes[np.searchsorted(names, self.clusters)]
        columns = {"cluster": self.clusters, "samples": sizes, "Jaccard": self.cluster_stability}
        title = f"Stability under {len(self.agreement)} subsamples of {100 * self.fraction:.0f} %"
        sentences = [
            f"Adjusted Rand index with the labels of all samples: {self.agreement.mean():.2f} on "
            f"average, {self.agreement.min():.2f} at least.",
            "Jaccard: above .85 very stable, below .6 not stable.",
        ]
        return Part(title, Table(columns, range(len(sizes))), sentences)

    def table(self) -> Table:
        """Cluster and stability of each sample, with its id.

        Returns
        -------
        Table
        """
        return Table(
            {"sample": self.ids, "cluster": self.labels, "stability": self.sample_stability}
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the stability of each cluster as a bar, and of each sample as a point.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Those of a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = new_figure() if ax is None else ax
        codes, n = np.searchsorted(self.clusters, self.labels), len(self.labels)
        jitter = np.random.RandomState(0).uniform(-0.3, 0.3, (2, n)) * [[1], [0.05]]
        heights, label = self.cluster_stability, "clusters (mean best Jaccard)"
        ax.bar(np.arange(len(self.clusters)), heights, color=COLORS[0], label=label)
        points = codes + jitter[0], self.sample_stability + jitter[1]
        ax.plot(*points, ".", ms=3, color=COLORS[3], label="samples (share that stay)")
        ax.set(ylabel=f"stability, {len(self.agreement)} subsamples", ylim=(0, 1.05))
        legend_below(ax)
        return name_clusters(ax, self.clusters)


def stability(
    estimator: Estimator,
    views: Views,
    *,
    n_resamples: int = 20,
    fraction: float = 0.8,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> Stability:
    """Cluster random subsamples, and compare their labels with those of all samples.

    Parameters
    ----------
    estimator : estimator
        A clusterer with ``labels_``, or a pipeline that ends in one. If it is fitted, subsamples
        are compared with its labels; otherwise a clone is fitted on all samples. A
        ``random_state`` of None is replaced by seeds.
    views : list or dict of array-like of shape (n_samples, n_features_i), or table
        The input of `fit`, in any form that it accepts; samples may lack views.
    n_resamples : int, default=20
        Number of subsamples.
    fraction : float, default=0.8
        Share of the clustered samples in each subsample, which are drawn without replacement.
    random_state : int or RandomState, optional
        Pass an int for reproducible results.
    n_jobs : int, optional
        Number of fits in parallel, see `joblib.Parallel`. Results do not depend on it.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If a parameter is invalid, the estimator takes similarities, or the views are not those of
        `fit`.

    References
    ----------
    Hennig: Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis
    52(1), 2007.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> from mvsc_fast.explanation import stability
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> result = stability(ConsensusTLRR(3), views, n_resamples=2, random_state=0)
    >>> result.sample_stability.shape
    (90,)
    """
    n_resamples = check_integer(n_resamples, "n_resamples", 1)
    fraction = check_number(fraction, "fraction", 0, 1, open_interval=True)
    rng = check_random_state(check_seed(random_state, "random_state"))
    n_jobs = check_jobs(n_jobs, "n_jobs")
    last = _last(check_estimator(estimator, "estimator"))
    if takes_similarities(last):
        raise ValueError("subsamples are rows of views: the estimator takes similarities")
    views = list(views) if isinstance(views, Iterator) else views
    fitted = estimator if hasattr(last, "labels_") else _seeded(estimator, rng).fit(views)
    fit = bind_views(fitted, views)

    # All draws and seeds are made here, so that they do not depend on the workers. Only clustered
    # samples are drawn: the labels of all others are predictions.
    codes, n, c = fit.codes, len(fit.codes), len(fit.clusters)
    m = round(fraction * n)
    draws = [np.sort(rng.choice(n, m, replace=False)) for _ in range(n_resamples)]
    subset = _subsets(estimator, fit, views)
    labellings = Parallel(n_jobs=n_jobs)(
        delayed(_fit_labels)(_seeded(estimator, rng), subset(rows)) for rows in draws
    )

    # Clusters of each subsample are compared with those of all samples, and matched one to one.
    agreement, jaccard = np.empty(n_resamples), np.full((n_resamples, c), np.nan)
    n_kept, n_drawn = np.zeros(n), np.zeros(n)
    for r, (rows, labels) in enumerate(zip(draws, labellings, strict=True)):
        agreement[r] = adjusted_rand_score(codes[rows], labels)
        common = contingency_matrix(codes[rows], labels)
        union = common.sum(axis=1)[:, None] + common.sum(axis=0) - common
        jaccard[r, np.unique(codes[rows])] = (common / union).max(axis=1)
        n_kept[rows] += stay_together(codes[rows], labels)
        n_drawn[rows] += 1
    sample_stability = np.full(len(fit.labels), np.nan)
    with np.errstate(invalid="ignore"):
        sample_stability[fit.samples] = n_kept / n_drawn
        cluster_stability = np.nansum(jaccard, axis=0) / np.isfinite(jaccard).sum(axis=0)
    return Stability(
        agreement=agreement,
        clusters=fit.clusters,
        cluster_stability=cluster_stability,
        sample_stability=sample_stability,
        labels=fit.labels,
        ids=fit.ids,
        fraction=fraction,
    )


def _seeded(estimator, rng):
    """A clone in which every ``random_state`` of None is an integer."""
    estimator = clone(estimator)
    unset = [
        name
        for name, value in estimator.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    ]
    return estimator.set_params(**{name: int(rng.randint(2**31 - 1)) for name in sorted(unset)})


def _fit_labels(estimator, views):
    """Labels of a subsample, without the warnings that the fit on all samples has given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(_last(estimator.fit(views)).labels_)


def _last(estimator):
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def _subsets(estimator, fit, views):
    """The function from positions of clustered samples to the input of `fit` for them."""
    # The tables before the steps of a pipeline may have texts; else rows are read once.
    if isinstance(estimator, Pipeline):
        pairs, is_list = listed_views(views)
        view_of_name = {name: _take_rows(view, fit.samples) for name, view in pairs}
    else:
        source = fit.source
        view_of_name = dict(zip(source.names, source.take(fit.samples), strict=True))
        is_list = source.listed

    def subset(rows):
        parts = {name: _take_rows(view, rows) for name, view in view_of_name.items()}
        if not is_list:
            return parts[0]
        return list(parts.values()) if list(parts) == list(range(len(parts))) else parts

    return subset


def _take_rows(view, rows):
    """Some rows of a view or a table, in memory."""
    if is_anndata(view):
        return view[rows]
    if is_stored(view) or is_dask(view):
        view = np.asarray(view)
    return _safe_indexing(view.tocsr() if scipy.sparse.issparse(view) else view, rows)
