"""Results of a fit, and the joint graph of its samples, in AnnData and MuData objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import randomized_svd

from .._utils.parameters import InvalidParameterError
from .._utils.threads import limited, use_threads
from .._utils.types import Estimator, Views
from .._utils.validation import sample_ids
from ..judge._predictor import margins_of
from ..judge._ridge import judge_of, one_hot
from ._bind import bind_views

N_COMPONENTS = 50  # of the embedding, as many as scanpy's principal components
N_NEIGHBORS = 15  # clustered samples with which every other sample is joined, as in scanpy
MIN_WEIGHT = 1e-3  # of an edge, which would else be zero if one end is in a dense region


@limited
def annotate(data: Any, model: Estimator, views: Views | None = None, *, key: str = "mvsc") -> None:
    """Write labels, margins, a joint embedding and the joint graph into AnnData or MuData.

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

    Raises
    ------
    ValueError
        If the views are not those of `fit`, or do not have the samples of ``data``; if ``key`` is
        empty or contains "/".

    Notes
    -----
    Results, for the default ``key``:

    * ``obs["mvsc"]``: labels, categorical; missing for noise and samples without any used view;
    * ``obs["mvsc_margin"]``: margin of each sample, see `Explanation`;
    * ``obsm["X_mvsc"]``: the embedding of all views, at most 50 principal components of the
      features from which labels are predicted; zeros for samples without any view that is used;
    * ``obsp["mvsc_connectivities"]``: ``affinity_matrix_``, each affinity divided by the roots of
      the largest of both samples. All samples that it does not join are joined with their 15
      nearest clustered samples in the embedding, with weights ``exp(-d^2 / (t_i t_j))``, at least
      .001, where t is the distance of a sample to the last of its neighbours;
    * ``obsp["mvsc_distances"]``: distances to these neighbours;
    * ``uns["mvsc"]``: the names of both matrices, and parameters.

    Examples
    --------
    >>> import mvsc_fast, scanpy as sc  # doctest: +SKIP
    >>> model = mvsc_fast.ConsensusTLRR(n_clusters=8).fit(mdata)  # doctest: +SKIP
    >>> mvsc_fast.annotate(mdata, model)  # doctest: +SKIP
    >>> sc.tl.umap(mdata, neighbors_key="mvsc")  # doctest: +SKIP
    >>> sc.pl.umap(mdata, color=["mvsc", "mvsc_margin"])  # doctest: +SKIP
    """
    if not all(hasattr(data, name) for name in ("obs_names", "obsm", "obsp", "uns")):
        raise InvalidParameterError(f"data must be AnnData or MuData, got {type(data).__name__}")
    if not isinstance(key, str) or not key or "/" in key:
        raise InvalidParameterError(f'key must be a name without "/", such as "mvsc", got {key!r}')
    views = data if views is None else views
    names, ids = np.asarray(data.obs_names), None if views is data else sample_ids(views)
    if ids is not None and not np.array_equal(np.asarray(ids).astype(str), names.astype(str)):
        raise ValueError(
            "views and data do not have the same samples in the same order: fit on "
            "views.from_anndata(data, use=...), and pass these views"
        )
    fit = bind_views(model, views)
    if len(fit.labels) != len(names):
        raise ValueError(f"the model has {len(fit.labels)} samples, data has {len(names)}")
    if fit.views is None:
        raise ValueError("the embedding is of features: pass the views, not similarities")
    margin, embedding = _margins_and_embedding(fit)
    import pandas as pd

    clusters = np.unique(fit.labels[fit.labels >= 0])
    codes = np.where(fit.labels < 0, -1, np.searchsorted(clusters, fit.labels))
    data.obs[key] = pd.Categorical.from_codes(codes, clusters.astype(str))
    data.obs[f"{key}_margin"] = margin
    data.obsm[f"X_{key}"] = np.nan_to_num(embedding)
    # The matrices, and what scanpy needs to know of them.
    names = {f"{name}_key": f"{key}_{name}" for name in ("connectivities", "distances")}
    for name, matrix in zip(names.values(), _joint_graph(fit, embedding), strict=True):
        data.obsp[name] = scipy.sparse.csr_matrix(matrix)  # scanpy requires a matrix
    neighbors = {"method": "umap", "metric": "euclidean", "n_neighbors": N_NEIGHBORS}
    data.uns[key] = names | {"params": neighbors | {"use_rep": f"X_{key}"}}


def _margins_and_embedding(fit):
    """Those of each sample, float32, NaN for samples without any used view.

    They are leave-one-out for clustered samples; all others are predicted.
    """
    labels, samples, n_clusters = fit.labels, fit.samples, int(fit.labels.max()) + 1
    # In an order that depends on the samples only.
    judge, order = judge_of(fit.lifted, fit.used)
    F = judge.ridge.features
    axes = randomized_svd(F, min(N_COMPONENTS, *F.shape), random_state=0)[2].T
    out = np.empty((len(labels), 1 + axes.shape[1]), dtype=np.float32)
    if len(samples) < len(labels):
        B = judge.ridge.coefficients(one_hot(labels[samples[order]], n_clusters))
        steps = [fit.steps[i] for i in fit.used]
        predictor = judge.features.predictor(np.hstack([B, axes]), steps)
        dtype = np.dtype((np.float32, out.shape[1:]))  # a row of values for each sample
        with use_threads(getattr(fit.model, "n_threads", None), len(labels)) as n_threads:
            n_threads = 1 if fit.source.is_lazy else n_threads  # tasks run in parallel
            rows = fit.source.per_row(_predicted, dtype, predictor, labels, n_clusters, n_threads)
            out[:] = np.asarray(rows)
    out[samples[order], 1:], out[samples, 0] = F @ axes, 1
    if len(fit.clusters) > 1:
        indicators = one_hot(fit.codes[order], len(fit.clusters))
        margin, _ = margins_of(judge.ridge.predict(indicators), fit.codes[order])
        out[samples[order], 0] = margin
    out[labels < 0] = np.nan
    return out[:, 0], out[:, 1:]


def _joint_graph(fit, Z):
    """Weights of the edges of all samples, and distances to their nearest clustered samples."""
    # Nearest clustered samples of all samples with a label, in the embedding Z.
    n, k = len(fit.labels), min(N_NEIGHBORS, len(fit.samples) - 1)
    predicted = np.setdiff1d(np.flatnonzero(fit.labels >= 0), fit.samples)
    search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(Z[fit.samples])
    neighbors = [search.kneighbors()]
    if len(predicted):
        neighbors.append(search.kneighbors(Z[predicted]))
    distance, nearest = map(np.concatenate, zip(*neighbors, strict=True))
    rows = np.concatenate([fit.samples, predicted])
    start, end = np.repeat(rows, k), fit.samples[nearest.ravel()]
    distances = scipy.sparse.csr_array((distance.ravel(), (start, end)), shape=(n, n))

    # Edges of the affinity matrix, as far as it has any.
    graph = scipy.sparse.csr_array((n, n), dtype=np.float32)
    affinity = getattr(fit.model, "affinity_matrix_", None)
    if scipy.sparse.issparse(affinity):
        clustered = getattr(fit.model, "samples_", np.arange(n))
        A, top = affinity.tocoo(), np.sqrt(affinity.max(axis=1).toarray().ravel())
        edges = clustered[A.row], clustered[A.col]
        graph = scipy.sparse.csr_array((A.data / (top[A.row] * top[A.col]), edges), shape=(n, n))

    # Edges of all other samples, by distances.
    scale = np.ones(n)
    scale[rows] = np.maximum(distance[:, -1], np.finfo(np.float32).tiny)
    weights = np.maximum(np.exp(-(distance.ravel() ** 2) / (scale[start] * scale[end])), MIN_WEIGHT)
    is_new = np.diff(graph.indptr)[start] == 0
    edges = start[is_new], end[is_new]
    near = scipy.sparse.csr_array((weights[is_new], edges), shape=(n, n))
    return graph.maximum(near.maximum(near.T)).minimum(1).astype(np.float32), distances


def _predicted(first, views, predictor, labels, n_clusters, n_threads):
    """Margins and embedding of a block of rows, side by side."""
    scores = predictor.scores(views, n_threads)
    labels = labels[first : first + len(scores)]
    margin, _ = margins_of(scores[:, :n_clusters], labels)
    return np.column_stack([margin, scores[:, n_clusters:]]).astype(np.float32)
