"""Stability of clusters in random subsamples."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.parallel import Parallel, delayed

from .._utils.figures import COLORS, name_clusters, new_figure
from .._utils.messages import import_extra
from .._utils.parameters import check_integer
from .._utils.parts import Part, Table
from .._utils.types import Estimator, FloatArray, Seed, Views
from ..views._anndata import is_anndata
from ..views._read import listed_views
from ..views._row_source import block_rows, is_dask, is_stored
from ._bind import bind_views, takes_similarities

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
        2007).
    sample_stability : ndarray of shape (n_samples,)
        How often the sample stays in its cluster, as a share of the subsamples that contain it,
        after clusters have been matched one to one. NaN for a sample that no subsample contains,
        and for samples that lack all views.
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
        Share of the samples in each subsample, which are drawn without replacement.
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
    if not isinstance(fraction, Real) or not 0 < fraction < 1:
        raise ValueError(f"fraction must be between 0 and 1, got {fraction!r}")
    last = _last(estimator)
    if takes_similarities(last):
        raise ValueError("subsamples are rows of views: the estimator takes similarities")
    views = list(views) if isinstance(views, Iterator) else views
    rng = check_random_state(random_state)
    fitted = estimator if hasattr(last, "labels_") else _seeded(estimator, rng).fit(views)
    fit = bind_views(fitted, views)

    # All draws and seeds are made here, so that they do not depend on the workers.
    codes = np.searchsorted(fit.clusters, fit.labels)
    labelled = np.flatnonzero(np.isin(fit.labels, fit.clusters))  # the others lack all views
    n, c = len(codes), len(fit.clusters)
    m = round(fraction * len(labelled))
    draws = [
        labelled[np.sort(rng.choice(len(labelled), m, replace=False))] for _ in range(n_resamples)
    ]
    subset = _subsets(estimator, fit.source, views)
    labellings = Parallel(n_jobs=n_jobs)(
        delayed(_fit_labels)(_seeded(estimator, rng), subset(rows)) for rows in draws
    )

    # Clusters of each subsample are compared with those of all samples, and matched one to one.
    agreement, jaccard = np.empty(n_resamples), np.empty((n_resamples, c))
    n_kept, n_drawn = np.zeros(n), np.zeros(n)
    for r, (rows, labels) in enumerate(zip(draws, labellings, strict=True)):
        names, labels = np.unique(labels, return_inverse=True)
        agreement[r] = adjusted_rand_score(codes[rows], labels)
        common = np.bincount(codes[rows] * len(names) + labels, minlength=c * len(names))
        common = common.reshape(c, -1)
        sizes = common.sum(axis=1)
        jaccard[r] = (common / (sizes[:, None] + common.sum(axis=0) - common)).max(axis=1)
        jaccard[r, sizes == 0] = np.nan
        partner = np.full(c, -1)
        clusters, partners = linear_sum_assignment(common, maximize=True)
        partner[clusters] = partners
        n_kept[rows] += partner[codes[rows]] == labels
        n_drawn[rows] += 1
    with np.errstate(invalid="ignore"):
        sample_stability = n_kept / n_drawn
    return Stability(
        agreement=agreement,
        clusters=fit.clusters,
        cluster_stability=np.nanmean(jaccard, axis=0),
        sample_stability=sample_stability,
        labels=fit.labels,
        ids=fit.ids,
        fraction=float(fraction),
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


def _subsets(estimator, source, views):
    """The function from indices of samples to the input of `fit` for these samples."""
    pairs, is_list = zip(source.names, source.views, strict=True), source.listed
    if isinstance(estimator, Pipeline):  # which may transform text
        pairs, is_list = listed_views(views)
    view_of_name = dict(pairs)

    def subset(rows):
        parts = {name: _take_rows(view, rows) for name, view in view_of_name.items()}
        if not is_list:
            return parts[0]
        return list(parts.values()) if list(parts) == list(range(len(parts))) else parts

    return subset


def _take_rows(view, rows):
    """Some rows, in ascending order, of a view or a table; stored ones are read later by Dask."""
    if scipy.sparse.issparse(view):
        return view.tocsr()[rows]
    if is_dask(view) or is_stored(view):
        da = import_extra("dask.array", "the stability of stored views", "dask")
        if not is_dask(view):
            view = da.from_array(view, (block_rows([view.shape[1]]), -1), name=False)
        # One chunk at a time, because Dask cannot merge rows of sparse chunks.
        ends = np.cumsum([0, *view.chunks[0]])
        parts = np.split(rows, np.searchsorted(rows, ends[1:-1]))
        chosen = zip(itertools.pairwise(ends), parts, strict=True)
        return da.concatenate([view[a:b][part - a] for (a, b), part in chosen if part.size])
    if is_anndata(view):
        return view[rows]
    return _safe_indexing(view, rows)


def plot_stability(
    stability: Stability, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Plot the stability of each cluster as a bar, and of each sample as a point.

    Parameters
    ----------
    stability : Stability
        Result of `stability`.
    ax : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_figure() if ax is None else ax
    codes = np.searchsorted(stability.clusters, stability.labels)
    jitter = np.random.RandomState(0).uniform(-0.3, 0.3, (2, len(codes))) * [[1], [0.05]]
    heights, label = stability.cluster_stability, "clusters (mean best Jaccard)"
    ax.bar(np.arange(len(stability.clusters)), heights, color=COLORS[0], label=label)
    points = codes + jitter[0], stability.sample_stability + jitter[1]
    ax.plot(*points, ".", ms=3, color=COLORS[3], label="samples (share that stay)")
    n_resamples = len(stability.agreement)
    ax.set(title=title, ylabel=f"stability, {n_resamples} subsamples", ylim=(0, 1.05))
    ax.legend(fontsize="small", loc="lower center", framealpha=0.8)
    return name_clusters(ax, stability.clusters)
