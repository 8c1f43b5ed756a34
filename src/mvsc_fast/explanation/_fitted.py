"""A fitted model together with its views."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.metrics import cohen_kappa_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..spectral import spectral_embedding
from ..views._columns import check_columns, in_order
from ..views._lift import lifted
from ..views._missing import filled, mean_row
from ..views._passes import check_entries
from ..views._read import read_views
from ..views._row_source import RowSource
from ..views._rows import spread
from ..views._scaling import scaled

COMPARED = 1000  # maximum number of samples whose predicted labels are compared with labels_
# Cohen's kappa of these labels. On the views of fit it is at least .42 in 440 fits to 6 to 1500
# samples of four real sets and of noise, if predicted labels are varied; after a permutation of the
# samples it is at most .19 for 100 samples or more.
LEAST_KAPPA = 0.25


class Fitted(NamedTuple):
    """A clusterer and its views."""

    model: object  # the last step of a pipeline
    steps: list  # the earlier steps
    labels: np.ndarray  # ``labels_`` in memory
    samples: np.ndarray  # indices of the clustered samples
    source: RowSource | None  # all samples; None if views are not given, or not features
    views: list | None  # the clustered samples, with filled cells; None as ``source``
    lifted: list | None  # the same views as a fit sees them, see `ColumnScaling` and `Lift`
    lifts: list | None  # their lifts
    names: list
    columns: list  # names of the features of each view, or their indices
    ids: np.ndarray  # names of the samples, or their indices


def fitted_with(model, views):
    """The `Fitted` of a model or a pipeline, and of views, which must be those of `fit`."""
    check_is_fitted(model)
    ids, steps, named = ids_of(views), [], None
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
        if views is not None and len(model) > 1:
            named, views = _names_out(model[:-1]), model[:-1].transform(views)
        model = model[-1]
        check_is_fitted(model)
    if not hasattr(model, "labels_"):
        raise ValueError(f"{type(model).__name__} has no labels_ to explain")
    labels = np.asarray(model.labels_)
    samples = getattr(model, "samples_", np.arange(len(labels)))
    ids = np.arange(len(labels)) if ids is None else ids
    if views is None or takes_similarities(model):
        names = getattr(model, "view_names_in_", range(len(getattr(model, "view_support_", []))))
        return Fitted(model, steps, labels, samples, *[None] * 4, list(names), [], ids)
    if hasattr(model, "view_names_in_"):
        views = in_order(views, model.view_names_in_)
    source = read_views(views)
    _check_views(model, source, labels)
    rows = source.take(samples)
    check_entries(0, rows, source.titles, source.columns)
    as_given = rows
    rows = learned = [filled(X, mean_row(X)) for X in as_given]
    if hasattr(model, "scaling_"):
        learned = [filled(X, mean_row(X)) for X in scaled(as_given, model.scaling_)]
    _check_labels(model, rows, labels[samples])
    names = list(getattr(model, "view_names_in_", source.names))
    own = source.columns if named is None else [list(named[name]) for name in names]
    columns = [
        list(range(d)) if known is None else known
        for known, d in zip(own, source.n_features, strict=True)
    ]
    learned, lifts = lifted(learned)
    return Fitted(model, steps, labels, samples, source, rows, learned, lifts, names, columns, ids)


def _names_out(steps):
    """Names of the columns of each view after these steps of a pipeline, or None."""
    try:
        names = steps.get_feature_names_out()
    except (AttributeError, ValueError):  # steps that do not know them
        return None
    return [names] if isinstance(names, np.ndarray) else names


def _check_views(model, source, labels):
    """Raise ValueError if views have other shapes or names of columns than those of `fit`."""
    if source.n_samples != len(labels):
        raise ValueError(
            f"the views have {source.n_samples} samples, but the model was fitted on "
            f"{len(labels)}: pass the views of fit, in the same order"
        )
    expected = getattr(model, "n_features_per_view_", source.n_features)
    if source.n_features != expected:
        raise ValueError(
            f"the views have {source.n_features} features, expected {expected}: pass the views of "
            "fit"
        )
    if hasattr(model, "view_names_in_"):
        check_columns(model, source)


def _check_labels(model, views, labels):
    """Raise ValueError if labels of the clustered samples are not those that the model predicts.

    Labels are not compared if the model cannot predict, or if it predicts at most half of the
    clusters because there are few distinct samples.
    """
    if not hasattr(model, "samples_") or model.store == "labels":
        return
    rows = spread(len(labels), COMPARED)
    labels, predicted = labels[rows], model.predictor_([X[rows] for X in views])
    if 2 * len(np.unique(predicted)) <= max(2, len(np.unique(labels))):
        return
    if cohen_kappa_score(labels, predicted) < LEAST_KAPPA:
        raise ValueError(
            f"the model predicts other labels for {100 * np.mean(predicted != labels):.0f} % of "
            "these samples than it learned in fit: pass the views of fit, with the samples in the "
            "same order and columns in the same units"
        )


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
