"""Stability of clusters in random subsamples."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_random_state

from .._utils.parameters import check_integer, check_seed
from .._utils.parts import Table
from .._utils.threads import limited
from .._utils.types import Estimator, Seed, Views
from .._utils.validation import NOISE
from ._bind import bind_views

SHARE = 0.8  # of the clustered samples in a subsample


@limited
def stability(
    model: Estimator, views: Views, *, n_resamples: int = 20, random_state: Seed = None
) -> Table:
    """Cluster random subsamples, and compare their clusters with those of all samples.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one, whose last step is
        fitted again.
    views : list or dict of array-like of shape (n_samples, n_features_i)
        The views on which the model, or the pipeline, was fitted.
    n_resamples : int, default=20
        Number of subsamples of 80 % of the clustered samples, drawn without replacement.
    random_state : int or RandomState, optional
        Pass an int for reproducible results.

    Returns
    -------
    Table
        A row for each ``cluster``, with its ``samples`` and its ``agreement``: the Jaccard index
        with the most similar cluster of a subsample, averaged over the subsamples. Clusters above
        .85 are very stable, those below .6 are not (Hennig 2007).

    Raises
    ------
    ValueError
        If a parameter is invalid, or the views are not those of `fit`.

    References
    ----------
    Hennig: Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis
    52(1), 2007.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> from mvsc_fast.explanation import stability
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = ConsensusTLRR(3, random_state=0).fit(views)
    >>> list(stability(model, views, n_resamples=2, random_state=0))
    ['cluster', 'samples', 'agreement']
    """
    n_resamples = check_integer(n_resamples, "n_resamples", 1)
    rng = check_random_state(check_seed(random_state, "random_state"))
    fit = bind_views(model, views)
    if fit.source is None:
        raise ValueError("subsamples are rows of views: the model has similarities")
    n = len(fit.codes)
    agreement = np.full((n_resamples, len(fit.clusters)), np.nan)
    for jaccard in agreement:
        # The labels of a subsample, by a clone whose random numbers are those of this function.
        drawn = np.sort(rng.choice(n, max(1, round(SHARE * n)), replace=False))
        estimator = clone(fit.model)
        if getattr(estimator, "random_state", 0) is None:
            estimator.set_params(random_state=rng.randint(2**31 - 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all samples has given them
            data = [X[drawn] for X in fit.views]
            estimator.fit(data if fit.source.listed else data[0])
        # Jaccard indices of each cluster of all samples with each cluster of the subsample.
        common = contingency_matrix(fit.codes[drawn], np.asarray(estimator.labels_))
        union = common.sum(axis=1)[:, None] + common.sum(axis=0) - common
        jaccards = common / union * ~np.isin(np.unique(estimator.labels_), NOISE)
        jaccard[np.unique(fit.codes[drawn])] = jaccards.max(axis=1)
    with np.errstate(invalid="ignore"):  # a cluster of which no subsample has a sample
        means = np.nansum(agreement, axis=0) / np.isfinite(agreement).sum(axis=0)
    sizes = np.bincount(fit.codes)
    return Table({"cluster": fit.clusters, "samples": sizes, "agreement": means})
