"""Markers: the features that distinguish each cluster from all other samples."""

from __future__ import annotations

from itertools import chain

import numpy as np
import scipy.sparse
from scipy.stats import false_discovery_control, norm, rankdata
from sklearn.utils import gen_batches

from .._utils.parameters import check_integer
from .._utils.parts import Table
from .._utils.types import Estimator, Views
from ..views._rows import dense
from ._bind import bind_views

MAX_RANKED_ENTRIES = 2**22  # of a view that are ranked at once
N_PRINTED = 3  # features of each cluster
NO_TEST = (
    "The clusters were found from the same features: p and q rank features, and are not "
    "significance tests."
)


def markers(model: Estimator, views: Views, *, n_top: int | None = 10) -> Table:
    """Compare each feature in each cluster with the same feature in all other clustered samples.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one.
    views : list or dict of array-like of shape (n_samples, n_features_i)
        The views on which the model, or the pipeline, was fitted, in any form that `fit` accepts.
        The features of a pipeline are those of its last step, with the names that the other steps
        give them. If the fit used a subsample (``samples_``), only these samples are compared.
        Samples that lack a view are ignored in it.
    n_top : int or None, default=10
        The table has the features that are among the first ``n_top`` of their view in any cluster.
        None keeps all features.

    Returns
    -------
    Table
        A row for each cluster and feature, sorted by cluster and then by significance, with the
        columns

        * ``cluster``, ``view``, ``feature``: the feature's name, or its index;
        * ``effect``: standardised difference of means (Cohen's d with the pooled standard
          deviation), positive if the feature is larger in the cluster;
        * ``auc``: the probability that a sample of the cluster has a larger value than a sample of
          another one (ties count one half), the area under the ROC curve;
        * ``p``: two-sided Mann-Whitney test by its normal approximation, corrected for ties;
        * ``q``: p corrected for the number of all clusters and features by the method of Benjamini
          & Hochberg (1995).

        Values that cannot be computed are NaN. Printing it shows three rows for each cluster, and
        ``to_frame()`` returns a data frame.

    Raises
    ------
    ValueError
        If the views are not those of `fit`, or there is only one cluster.

    Notes
    -----
    **p and q rank features; they are not valid tests.** The clusters were found from the same
    features, so even clusters of pure noise have features with small p. Test on other data, such as
    features that the model was not fitted on.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> from mvsc_fast.explanation import markers
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = ConsensusTLRR(3, random_state=0).fit(views)
    >>> list(markers(model, views))
    ['cluster', 'view', 'feature', 'effect', 'auc', 'p', 'q']
    """
    n_top = None if n_top is None else check_integer(n_top, "n_top", 1)
    return _compute_markers(bind_views(model, views), n_top)


def _compute_markers(fit, n_top):
    """The table of `markers` for a `BoundModel`."""
    if fit.views is None:
        raise ValueError("markers are features: pass the views of fit, not similarities")
    c = len(fit.clusters)
    if c < 2:
        raise ValueError("there is only one cluster: it cannot be compared")

    # Statistics of all features of all views, side by side.
    statistics = []
    for i, X in enumerate(fit.views):
        has = fit.present[i]
        statistics += _compare(X[has], fit.codes[has], c)
    effect, auc, z = (np.hstack(blocks) for blocks in zip(*statistics, strict=True))
    p = np.minimum(2 * norm.sf(z), 1)
    q = np.full_like(p, np.nan)
    q[~np.isnan(p)] = false_discovery_control(p[~np.isnan(p)])

    # The features of each cluster, the best first.
    view_of_feature = np.repeat(np.arange(len(fit.views)), [len(names) for names in fit.columns])
    features = {
        "view": np.fromiter(fit.names, dtype=object)[view_of_feature],
        "feature": np.fromiter(chain(*fit.columns), dtype=object),
    }
    ranked = np.lexsort((-np.nan_to_num(np.abs(effect)), -np.nan_to_num(z, nan=-1)))
    if n_top is not None:
        ranked = best_features(ranked, view_of_feature, n_top)
    values = {"effect": effect, "auc": auc, "p": p, "q": q}
    return feature_table(fit.clusters, ranked, features, values, NO_TEST)


def best_features(ranked, group_of_feature, n_best):
    """The features that are among the first of their group in any cluster, for all clusters.

    Parameters
    ----------
    ranked : ndarray of shape (c, d) of int
        Features of each cluster, the best first.
    group_of_feature : ndarray of shape (d,)
    n_best : int

    Returns
    -------
    ndarray of shape (c, k) of int
        In the same order.
    """
    best = []
    for row in ranked:
        for group in np.unique(group_of_feature):
            best.append(row[group_of_feature[row] == group][:n_best])
    return ranked[np.isin(ranked, np.concatenate(best))].reshape(len(ranked), -1)


def feature_table(clusters, ranked, features, values, note=""):
    """A row for each cluster and each of its features; the first of each cluster are printed.

    Parameters
    ----------
    clusters : ndarray of shape (c,)
    ranked : ndarray of shape (c, k) of int
        Indices of features.
    features : dict of ndarray of shape (d,)
        What is known of a feature in all clusters.
    values : dict of ndarray of shape (c, d)
    note : str
        See `Table`.

    Returns
    -------
    Table
    """
    c, k = ranked.shape
    cluster, feature = np.repeat(np.arange(c), k), ranked.ravel()
    columns = {"cluster": clusters[cluster]}
    columns |= {name: column[feature] for name, column in features.items()}
    columns |= {name: matrix[cluster, feature] for name, matrix in values.items()}
    printed = np.arange(c)[:, None] * k + np.arange(min(N_PRINTED, k))
    return Table(columns, printed.ravel(), note)


def _compare(X, codes, c):
    """Yield effect, AUC and z of blocks of columns, each of shape (c, d)."""
    n = len(codes)
    member = membership(codes, c)
    sizes = np.bincount(codes, minlength=c)[:, None]
    others = n - sizes
    for block in column_blocks(X):
        # Mann-Whitney's U of each cluster is a sum of ranks: one product gives those of all
        # clusters.
        ranks = rankdata(block, axis=0) - (n + 1) / 2
        constant = (block == block[:1]).all(axis=0)
        effect = standardised_differences(block, member, sizes)
        with np.errstate(all="ignore"):  # unknown values are NaN
            above = member @ ranks  # U minus its mean
            # The sum of squared ranks includes the correction for ties.
            deviation = np.sqrt(sizes * others / (n * (n - 1.0)) * (ranks**2).sum(axis=0))
            auc = 0.5 + above / (sizes * others)
            z = np.maximum(np.abs(above) - 0.5, 0) / deviation
        # Constant columns differ in nothing; a cluster that is empty, or all samples, has no
        # statistics.
        effect[:, constant] = z[:, constant] = 0
        for value in (effect, auc, z):
            value[(sizes == 0) | (others == 0) | np.isnan(value)] = np.nan
        yield effect, auc, z


def membership(codes, c):
    """The matrix of shape (c, n) that sums the rows of each cluster."""
    entries = codes, np.arange(len(codes))
    return scipy.sparse.csr_array((np.ones(len(codes)), entries), shape=(c, len(codes)))


def column_blocks(X):
    """Yield the columns of a view as dense blocks of a bounded size."""
    X = X.tocsc() if scipy.sparse.issparse(X) else X
    for columns in gen_batches(X.shape[1], max(1, MAX_RANKED_ENTRIES // max(1, X.shape[0]))):
        yield dense(X[:, columns])


def standardised_differences(block, member, sizes):
    """Cohen's d of each cluster against all other samples, of shape (c, d); changes no input.

    Parameters
    ----------
    block : ndarray of shape (n, d)
        Missing cells are NaN.
    member : csr_array of shape (c, n)
        See `membership`.
    sizes : ndarray of shape (c, 1) or (c, d)
        Number of samples of each cluster whose cells are not missing.
    """
    n = sizes.sum(axis=0)
    others = n - sizes
    missing = np.isnan(block)
    is_complete = not missing.any()
    block = block if is_complete else np.where(missing, 0, block)
    # Powers of two, without rounding: squares neither overflow nor underflow.
    block = np.ldexp(block, -np.frexp(np.abs(block).max(axis=0, initial=0))[1])
    with np.errstate(all="ignore"):  # unknown values are NaN
        for _ in range(2):  # again for the rounding error of the first mean, of constant columns
            block -= block.sum(axis=0) / n
            if not is_complete:
                block[missing] = 0
        mean = member @ block / sizes  # the mean of the others is -mean * sizes / others
        within = (block**2).sum(axis=0) - mean**2 * sizes * n / others
        return mean * n / others / np.sqrt(np.maximum(within, 0) / (n - 2))
