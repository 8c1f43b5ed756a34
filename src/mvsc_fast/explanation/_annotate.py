"""Results of a fitted model in AnnData and MuData objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_mutual_info_score

from .._utils.messages import import_extra, warn_user
from .._utils.parameters import check_integer
from .._utils.types import Estimator, Views
from ..views._frames import shown
from ..views._passes import MOST_AGREEMENT
from ._fitted import fitted_with, ids_of
from ._graph import graphs_of, relations_of


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
        follow it.

    Raises
    ------
    ValueError
        If the views are not those of `fit`, or do not have the samples of ``data``; if there is no
        column ``batch``; if ``key`` is empty or contains "/".

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
    * ``obs["<view>:mvsc_weight"]``: see `view_weights`;
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
    if not all(hasattr(data, name) for name in ("obs_names", "obsm", "obsp", "uns")):
        raise ValueError(f"data must be AnnData or MuData, got {type(data).__name__}")
    if not isinstance(key, str) or not key or "/" in key:
        raise ValueError(f'key must be a name without "/", such as "mvsc", got {key!r}')
    n_neighbors = check_integer(n_neighbors, "n_neighbors", 1)
    if batch is not None and batch not in data.obs:
        parts = getattr(data, "mod", {}).items()
        holders = [name for name, part in parts if batch in part.obs]
        remedy = f"copy it from {shown(*holders)} with data.pull_obs({batch!r})"
        columns = f"it has {shown(*data.obs) or 'none'}"
        raise ValueError(f"data.obs has no column {batch!r}: {remedy if holders else columns}")
    views = data if views is None else views
    names = np.asarray(data.obs_names)
    ids = None if views is data else ids_of(views)
    if ids is not None and not np.array_equal(ids.astype(str), names.astype(str)):
        raise ValueError(
            "views and data do not have the same samples in the same order: fit on "
            "views.from_anndata(data, use=...), and pass these views"
        )
    fit = fitted_with(model, views)
    if len(fit.labels) != len(names):
        raise ValueError(f"the model has {len(fit.labels)} samples, data has {len(names)}")
    if batch is not None:
        agreement = adjusted_mutual_info_score(data.obs[batch].astype(str), fit.labels)
        if agreement > MOST_AGREEMENT:
            warn_user(
                f"the clusters follow {batch!r}: their adjusted mutual information is "
                f"{agreement:.2f}. Remove the differences between batches first, and fit on the "
                "integrated embeddings"
            )
    relations = relations_of(fit)
    graph, distances = graphs_of(fit, relations, n_neighbors)
    clusters = np.unique(fit.labels[fit.labels >= 0])
    pandas = import_extra("pandas", "a categorical column")
    data.obs[key] = pandas.Categorical.from_codes(
        np.where(fit.labels < 0, -1, np.searchsorted(clusters, fit.labels)), clusters.astype(str)
    )
    data.obs[f"{key}_margin"] = relations.margin
    for name, weight in zip(fit.names, relations.weights.T, strict=True):
        data.obs[f"{name}:{key}_weight"] = weight
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
