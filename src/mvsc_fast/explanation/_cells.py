"""All samples of a fitted model: their joint graph, and results in AnnData and MuData objects."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.special import softmax
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import randomized_svd

from .._utils.messages import warn_user
from .._utils.parameters import InvalidParameterError, check_integer
from .._utils.threads import limited, use_threads
from .._utils.types import Estimator, Views
from ..judge._landmarks import N_LANDMARKS, LandmarkFeatures, RowSteps
from ..judge._predictor import margins_of
from ..judge._ridge import REGRESSED, LeaveOneOutRidge, one_hot
from ..views._frames import shown
from ..views._missing import mean_row
from ..views._rows import canonical_order, missing_rows, spread
from ..views._scaling import scaled
from ..views._view_rows import ViewRows
from ._bind import bind_views, sample_ids
from ._evidence import MAX_AGREEMENT
from ._profiles import MAX_LEVELS

N_COMPONENTS = 50  # of the embedding, as many as scanpy's principal components
N_QUANTILES = 10  # groups of a batch of numbers
MIN_WEIGHT = 1e-3  # of an edge, which would else be zero if one end is in a dense region


class Relations(NamedTuple):
    """A row for each sample, float32; NaN for samples without any used view."""

    margin: np.ndarray  # see `Explanation`
    weights: np.ndarray  # how well each view alone predicts the label; rows sum to 1
    embedding: np.ndarray  # principal components of the features from which labels are predicted
    fitted: np.ndarray  # indices of the clustered samples with a label


def compute_relations(fit):
    """The `Relations` of a `BoundModel`, leave-one-out for clustered samples."""
    if fit.views is None:
        raise ValueError("relations are computed from features: pass the views, not similarities")
    fitted, labels = fit.samples, fit.labels
    n, c, used = len(labels), int(labels.max()) + 1, fit.used
    scaling_of_view = getattr(fit.model, "scaling_", [None] * len(fit.views))

    # Ridge regression of labels on all views together, then on each alone, in an order that
    # depends on the samples alone. The leading directions of the features are regressed as well.
    complete = fit.complete
    order = canonical_order(complete)
    rows = [ViewRows(X[order]) for X in complete]
    indicators = one_hot(labels[fitted[order]], c)
    landmarks, regressed = spread(len(order), N_LANDMARKS), spread(len(order), REGRESSED)
    predictors, scores = [], []
    single_views = [[i] for i in range(len(used))]
    steps = []
    for i in used:
        (X,) = scaled([fit.views[i]], [scaling_of_view[i]])
        steps.append(RowSteps(i, mean_row(X), scaling_of_view[i], fit.lifts[i]))
    for views in [range(len(used)), *single_views]:
        features = LandmarkFeatures([rows[i] for i in views], landmarks)
        F = features.of_fitted()
        ridge = LeaveOneOutRidge(F, regressed, features.rank)
        B, out = ridge.coefficients(indicators), ridge.predict(indicators)
        if not predictors:
            axes = randomized_svd(F, min(N_COMPONENTS, *F.shape), random_state=0)[2].T
            B, out = np.hstack([B, axes]), np.hstack([out, F @ axes])
        predictors.append(features.predictor(B, [steps[i] for i in views]))
        scores.append(out[np.argsort(order)])

    # All other samples are predicted in blocks, wherever their rows are.
    roots = np.sqrt(np.bincount(labels[fitted], minlength=c)).astype(np.float32)
    columns = np.empty((n, 1 + len(used) + axes.shape[1]), dtype=np.float32)
    if len(fitted) < n:
        dtype = np.dtype((np.float32, columns.shape[1:]))  # a row of values for each sample
        with use_threads(getattr(fit.model, "n_threads", None), n) as n_threads:
            n_threads = fit.source.threads(n_threads)
            blocks = fit.source.per_row(_block, dtype, predictors, used, labels, roots, n_threads)
            columns[:] = np.asarray(blocks)
    views = [fit.lifted[i] for i in used]
    columns[fitted] = _columns(scores, views, labels[fitted], roots)
    columns[labels < 0] = np.nan
    margin, own_scores, embedding = np.split(columns, [1, 1 + len(used)], axis=1)
    weights = np.zeros((n, len(fit.views)), dtype=np.float32)
    weights[:, used] = softmax(own_scores, axis=1)
    return Relations(margin[:, 0], weights, embedding, fitted)


def _block(first, views, predictors, used, labels, roots, n_threads):
    """The `_columns` of a block of rows."""
    labels = labels[first : first + views[0].shape[0]]
    scores = [predictor.scores(views, n_threads) for predictor in predictors]
    return _columns(scores, [views[i] for i in used], labels, roots)


def _columns(scores, views, labels, roots):
    """Margins, scores of the labels in each view alone, and the embedding, side by side.

    Scores are those of all views together, with the embedding, and then of each view alone.
    """
    (joint, *single), c = scores, len(roots)
    samples = np.arange(len(labels))
    margin, _ = margins_of(joint[:, :c], labels)
    # Scores over the root of the cluster size are comparable between clusters.
    own_scores = [out[samples, labels] * roots[labels] for out in single]
    for values, X in zip(own_scores, views, strict=True):
        values[missing_rows(X)] = -np.inf
    return np.column_stack([margin, *own_scores, joint[:, c:]]).astype(np.float32)


def compute_graphs(fit, relations, n_neighbors):
    """The joint graph, and the distances to the nearest clustered samples in the embedding."""
    # Nearest clustered samples of all samples with a label.
    n, fitted, Z = len(fit.labels), relations.fitted, relations.embedding
    k = min(n_neighbors, len(fitted) - 1)
    search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(Z[fitted])
    predicted = np.setdiff1d(np.flatnonzero(fit.labels >= 0), fitted)
    rows, neighbors = fitted, [search.kneighbors()]
    if len(predicted):
        rows = np.concatenate([fitted, predicted])
        neighbors.append(search.kneighbors(Z[predicted]))
    distance, nearest = map(np.concatenate, zip(*neighbors, strict=True))
    pairs = np.repeat(rows, k), fitted[nearest.ravel()]
    distances = scipy.sparse.csr_array((distance.ravel(), pairs), shape=(n, n))

    # Edges of the affinity matrix, as far as it has any.
    affinity = getattr(fit.model, "affinity_matrix_", None)
    is_joined = np.zeros(n, dtype=bool)
    graph = scipy.sparse.csr_array((n, n), dtype=np.float32)
    if scipy.sparse.issparse(affinity):
        A = edge_weights(affinity)
        ends = fit.clustered[A.row], fit.clustered[A.col]
        graph = scipy.sparse.csr_array((A.data, ends), shape=(n, n))
        is_joined[ends[0]] = True

    # Edges of all other samples, by distances.
    scale = np.ones(n)
    scale[rows] = np.maximum(distance[:, -1], np.finfo(np.float32).tiny)
    weights = np.exp(-(distance.ravel() ** 2) / (scale[pairs[0]] * scale[pairs[1]]))
    is_new = ~is_joined[pairs[0]]
    weights, ends = np.maximum(weights, MIN_WEIGHT)[is_new], (pairs[0][is_new], pairs[1][is_new])
    near = scipy.sparse.csr_array((weights, ends), shape=(n, n))
    graph = graph.maximum(near.maximum(near.T)).minimum(1)
    return graph.astype(np.float32), distances


def edge_weights(affinity):
    """A sparse affinity matrix over the roots of the largest affinities of both samples."""
    A = scipy.sparse.coo_array(affinity)
    top = np.sqrt(scipy.sparse.csr_array(affinity).max(axis=1).toarray().ravel())
    return scipy.sparse.coo_array((A.data / (top[A.row] * top[A.col]), (A.row, A.col)), A.shape)


@limited
def joint_graph(model: Estimator, views: Views, *, n_neighbors: int = 15) -> scipy.sparse.csr_array:
    """Weighted graph of all samples, which clusterings and embeddings of graphs can start from.

    Clustered samples (``samples_``) are joined as in ``affinity_matrix_``, if the model has one
    that is sparse. All others are joined with their nearest clustered samples, in the principal
    components of the features from which labels are predicted. The cost is linear in the number of
    samples.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one.
    views : list or dict of array-like of shape (n_samples, n_features_i)
        The views on which the model, or the pipeline, was fitted, in any form that `fit` accepts.
    n_neighbors : int, default=15
        Number of clustered samples with which every other sample is joined.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
        Symmetric, without a diagonal; weights are in (0, 1]. Samples without any view that is used
        have no edge.

    Raises
    ------
    ValueError
        If the views are not those of `fit`.

    Notes
    -----
    An affinity is divided by the roots of the largest affinities of both samples. The weight of
    another edge is ``exp(-d^2 / (t_i t_j))``, at least .001, where t is the distance of a sample to
    the last of its neighbours.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> from mvsc_fast.explanation import joint_graph
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = ConsensusTLRR(3, random_state=0).fit(views)
    >>> joint_graph(model, views).shape
    (90, 90)
    """
    n_neighbors = check_integer(n_neighbors, "n_neighbors", 1)
    fit = bind_views(model, views)
    return compute_graphs(fit, compute_relations(fit), n_neighbors)[0]


@limited
def annotate(
    data: Any,
    model: Estimator,
    views: Views | None = None,
    *,
    key: str = "mvsc",
    n_neighbors: int = 15,
    batch: str | None = None,
) -> None:
    """Write labels, margins, weights of views and the joint graph into AnnData or MuData.

    scanpy then works on them: ``scanpy.tl.umap(data, neighbors_key=key)``,
    ``scanpy.tl.leiden(data, neighbors_key=key)``, ``scanpy.pl.umap(data, color=key)``, also for
    MuData. For functions that need a modality, such as ``scanpy.tl.rank_genes_groups``, copy the
    labels to all of them first: ``mdata.push_obs([key])``.

    Parameters
    ----------
    data : AnnData or MuData
        Entries of the same names are replaced; all others are left as they are.
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one.
    views : list or dict of array-like of shape (n_samples, n_features_i), optional
        The views on which the model was fitted, with the samples of ``data`` in the same order, as
        from `views.from_anndata`. By default ``data``.
    key : str, default="mvsc"
        Name of the results.
    n_neighbors : int, default=15
        See `joint_graph`.
    batch : str, optional
        A column of ``data.obs``, such as the donor or the run. A warning reports clusters that
        follow it. Numbers with more than 20 different values are cut into ten groups of equal
        sizes, and samples without a value are left out.

    Raises
    ------
    ValueError
        If the views are not those of `fit`, or do not have the samples of ``data``; if there is no
        column ``batch``; if ``key`` is empty, or ``key`` or the name of a view contains "/".

    Warns
    -----
    UserWarning
        If the adjusted mutual information of labels and ``batch`` is above .1. It is about 0 if
        they are independent. Types of cells that not all batches have raise it too.

    Notes
    -----
    Results, for the default ``key``:

    * ``obs["mvsc"]``: labels, categorical; missing for samples without any view that is used;
    * ``obs["mvsc_margin"]``: margin of each sample, see `Explanation`;
    * ``obs["<view>:mvsc_weight"]``: how well this view alone predicts the label of the sample, in
      comparison with the others: the softmax over views of the leave-one-out scores of its label,
      which are about 1 if the view determines the label, and about the share of the cluster if it
      has no information on it. 0 in views that are excluded or that the sample lacks. The fit does
      not use these weights;
    * ``obsp["mvsc_connectivities"]``: `joint_graph`;
    * ``obsp["mvsc_distances"]``: distances to the ``n_neighbors`` nearest clustered samples in the
      embedding, with this number of entries in each row;
    * ``obsm["X_mvsc"]``: the embedding, at most 50 principal components of the features from which
      labels are predicted;
    * ``uns["mvsc"]``: the names of both matrices, and parameters.

    Examples
    --------
    >>> import mvsc_fast, scanpy as sc  # doctest: +SKIP
    >>> model = mvsc_fast.ConsensusTLRR(n_clusters=8).fit(mdata)  # doctest: +SKIP
    >>> mvsc_fast.annotate(mdata, model)  # doctest: +SKIP
    >>> sc.tl.umap(mdata, neighbors_key="mvsc")  # doctest: +SKIP
    >>> sc.pl.umap(mdata, color=["mvsc", "mvsc_margin"])  # doctest: +SKIP
    """
    # Everything that can be refused is refused before the work.
    if not all(hasattr(data, name) for name in ("obs_names", "obsm", "obsp", "uns")):
        raise InvalidParameterError(f"data must be AnnData or MuData, got {type(data).__name__}")
    if not isinstance(key, str) or not key or "/" in key:
        raise InvalidParameterError(f'key must be a name without "/", such as "mvsc", got {key!r}')
    n_neighbors = check_integer(n_neighbors, "n_neighbors", 1)
    if batch is not None and batch not in list(data.obs):
        modalities = getattr(data, "mod", {}).items()
        holders = [name for name, modality in modalities if batch in list(modality.obs)]
        remedy = f"it has {shown(*data.obs) or 'none'}"
        if holders:
            call = f"data.pull_obs({batch!r}, prefix_unique=False)"
            remedy = f"copy it from {shown(*holders)} with {call}"
        raise ValueError(f"data.obs has no column {batch!r}: {remedy}")
    views = data if views is None else views
    names = np.asarray(data.obs_names)
    ids = None if views is data else sample_ids(views)
    if ids is not None and not np.array_equal(ids.astype(str), names.astype(str)):
        raise ValueError(
            "views and data do not have the same samples in the same order: fit on "
            "views.from_anndata(data, use=...), and pass these views"
        )
    fit = bind_views(model, views)
    if len(fit.labels) != len(names):
        raise ValueError(f"the model has {len(fit.labels)} samples, data has {len(names)}")
    slashed = [name for name in fit.names if "/" in str(name)]
    if slashed:
        raise ValueError(f'the names of the views must have no "/", got {shown(*slashed)}')
    if batch is not None:
        _warn_of_batch(data.obs[batch], fit.labels)
    relations = compute_relations(fit)
    graph, distances = compute_graphs(fit, relations, n_neighbors)

    # Columns of cells.
    import pandas as pd

    clusters = np.unique(fit.labels[fit.labels >= 0])
    codes = np.where(fit.labels < 0, -1, np.searchsorted(clusters, fit.labels))
    data.obs[key] = pd.Categorical.from_codes(codes, clusters.astype(str))
    data.obs[f"{key}_margin"] = relations.margin
    for name, weight in zip(fit.names, relations.weights.T, strict=True):
        data.obs[f"{name}:{key}_weight"] = weight

    # The embedding, the matrices, and what scanpy needs to know of them.
    data.obsm[f"X_{key}"] = relations.embedding
    matrices = {"connectivities": graph, "distances": distances}
    for name, matrix in matrices.items():
        data.obsp[f"{key}_{name}"] = scipy.sparse.csr_matrix(matrix)  # scanpy requires a matrix
    data.uns[key] = {f"{name}_key": f"{key}_{name}" for name in matrices} | {
        "params": {
            "method": "umap",  # scanpy expects it, and warns of others
            "metric": "euclidean",
            "n_neighbors": n_neighbors,
            "use_rep": f"X_{key}",
            "estimator": type(fit.model).__name__,
            "n_clusters": len(clusters),
        }
    }


def _warn_of_batch(column, labels):
    """Warn if the clusters follow a column of a data frame."""
    import pandas as pd

    has_value = column.notna().to_numpy()
    column, labels = column[has_value], labels[has_value]
    if column.nunique() < 2:  # no batches
        return
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > MAX_LEVELS:
        column = pd.qcut(column.rank(), N_QUANTILES, duplicates="drop")
    agreement = adjusted_mutual_info_score(column.astype(str), labels)
    if agreement > MAX_AGREEMENT:
        warn_user(
            f"the clusters follow {column.name!r}: their adjusted mutual information is "
            f"{agreement:.2f}. Remove the differences between batches first, and fit on the "
            "integrated embeddings"
        )
