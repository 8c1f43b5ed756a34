"""A fitted model together with its views."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..spectral import spectral_embedding
from ..views import loaded
from ..views._columns import in_order
from ..views._missing import filled, mean_row
from ..views._read import read_views
from ..views._row_source import is_dask, is_stored


class Fitted(NamedTuple):
    """A clusterer and its views."""

    model: object  # the last step of a pipeline
    steps: list  # the earlier steps
    views: list | None  # with filled cells; None if not given, not features, or not in memory
    names: list
    columns: list  # names of the features of each view, or their indices
    ids: np.ndarray  # names of the samples, or their indices


def fitted_with(model, views):
    """Return the `Fitted` for a model or a pipeline and the views on which it was fitted.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If it has no ``labels_``, or the views are not those of `fit`.
    """
    check_is_fitted(model)
    ids, steps = ids_of(views), []
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
        views = views if views is None or len(model) == 1 else model[:-1].transform(views)
        model = model[-1]
        check_is_fitted(model)
    if not hasattr(model, "labels_"):
        raise ValueError(f"{type(model).__name__} has no labels_ to explain")
    n = len(model.labels_)
    ids = np.arange(n) if ids is None else ids
    source = None
    if not (views is None or takes_similarities(model)):
        names = getattr(model, "view_names_in_", None)
        source = read_views(views if names is None else in_order(views, names))
    if source is None or any(is_dask(view) or is_stored(view) for view in source):
        names = getattr(model, "view_names_in_", range(len(getattr(model, "view_support_", []))))
        return Fitted(model, steps, None, list(names), [], ids)
    given = loaded(source, missing=True)
    views, names = given.arrays, getattr(model, "view_names_in_", given.names)
    if views[0].shape[0] != n:
        raise ValueError(
            f"the views have {views[0].shape[0]} samples, but the model was fitted on {n}: "
            "pass the views of fit, in the same order"
        )
    n_features = [X.shape[1] for X in views]
    expected = getattr(model, "n_features_per_view_", n_features)
    if n_features != expected:
        raise ValueError(
            f"the views have {n_features} features, expected {expected}: pass the views of fit"
        )
    columns = [
        list(range(d)) if own is None else own
        for own, d in zip(given.columns, n_features, strict=True)
    ]
    views = [filled(X, mean_row(X)) for X in views]
    return Fitted(model, steps, views, list(names), columns, ids)


def takes_similarities(model):
    """Whether a clusterer is fitted on precomputed similarities."""
    affinity = getattr(model, "affinity", None)
    return isinstance(affinity, str) and affinity == "precomputed"


def ids_of(views):
    """Index of the first pandas frame or names of the first AnnData among views, or None."""
    if isinstance(views, Mapping):
        views = list(views.values())
    views = views if isinstance(views, (list, tuple)) else [views]
    indexes = (X.index if hasattr(X, "iloc") else getattr(X, "obs_names", None) for X in views)
    return next((np.asarray(index) for index in indexes if index is not None), None)


def embedding_of(model, n_clusters):
    """Embedding of the samples, or None if the model has none."""
    if hasattr(model, "embedding_"):
        return model.embedding_
    if not hasattr(model, "affinity_matrix_"):
        return None
    return spectral_embedding(model.affinity_matrix_, n_clusters)


def neighbor_votes(affinity):
    """The function Y -> D^-1 A Y for an affinity A whose diagonal is ignored."""
    if affinity is None:
        return None
    own = affinity.diagonal()
    degree = np.asarray(affinity.sum(axis=1)).ravel() - own
    weight = np.where(degree > 0, 1 / np.where(degree > 0, degree, 1), 0)[:, None]
    A = scipy.sparse.csr_array(affinity) if scipy.sparse.issparse(affinity) else affinity
    return lambda Y: ((A @ Y - own[:, None] * Y) * weight).astype(np.float32)
