"""A fitted model together with its views."""

from typing import NamedTuple

import numpy as np
from sklearn.metrics import cohen_kappa_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._utils.parameters import check_estimator
from .._utils.validation import NOISE, sample_ids
from ..views._columns import check_columns, in_order
from ..views._facts import check_facts, summarise
from ..views._lift import find_lift, lifted
from ..views._read import read_views
from ..views._row_source import RowSource
from ..views._rows import filled, presence, spread
from ..views._scaling import fill_row, fit_scalings, scaled

MAX_COMPARED = 1000  # samples whose predicted labels are compared with labels_
# Cohen's kappa of these labels. On the views of fit it is at least .42 in 440 fits to 6 to 1500
# samples of four real sets and of noise, if predicted labels are varied; after a permutation of the
# samples it is at most .19 for 100 samples or more.
MIN_KAPPA = 0.25


class BoundModel(NamedTuple):
    """A clusterer and its views."""

    model: object  # the last step of a pipeline
    labels: np.ndarray  # ``labels_`` in memory
    samples: np.ndarray  # indices of the clustered samples that have a label
    rows: np.ndarray  # those of these samples in arrays of the model
    clusters: np.ndarray  # the distinct labels of these samples
    codes: np.ndarray  # index of the cluster of each clustered sample
    ids: np.ndarray  # names of the samples, or their indices
    names: list  # of the views
    # None for similarities:
    columns: list | None = None  # names of the features of each view, or their indices
    source: RowSource | None = None  # all samples
    views: list | None = None  # the clustered samples, as they are
    present: np.ndarray | None = None  # which of them have each view, of shape (v, n)
    lifted: list | None = None  # the same views as a fit sees them, see `ColumnScaling` and `Lift`
    steps: list | None = None  # what was done to each view, see `LandmarkFeatures.predictor`

    @property
    def used(self):
        """Indices of the views that the fit did not exclude."""
        return list(getattr(self.model, "views_used_", range(len(self.names))))


def bind_views(model, views):
    """The `BoundModel` of a model or a pipeline, and of views, which must be those of `fit`."""
    # The clusterer, and what the steps before it make of the views.
    check_is_fitted(check_estimator(model, "model"))
    ids, feature_names = sample_ids(views), None
    if isinstance(model, Pipeline):
        if len(model) > 1:
            feature_names = _names_out(model[:-1])
            views = model[:-1].transform(views)
        model = model[-1]
        check_is_fitted(model)
    labels = np.asarray(getattr(model, "labels_", []))
    samples = getattr(model, "samples_", np.arange(len(labels)))
    in_clusters = np.flatnonzero(~np.isin(labels[samples], NOISE))
    samples = samples[in_clusters]
    if not len(samples):
        raise ValueError(f"{type(model).__name__} has no labels_ to explain, or all are -1")
    clusters, codes = np.unique(labels[samples], return_inverse=True)
    names = list(getattr(model, "view_names_in_", []))
    index = np.arange(len(labels)) if ids is None else np.asarray(ids)
    fit = BoundModel(model, labels, samples, in_clusters, clusters, codes, index, names)
    affinity = getattr(model, "affinity", None)
    if isinstance(affinity, str) and affinity == "precomputed":
        return fit

    # Rows of the clustered samples are read once; the fit's own labels show whether they are right.
    if hasattr(model, "view_names_in_"):
        views = in_order(views, model.view_names_in_)
    source = read_views(views)
    if source.n_samples != len(labels):
        raise ValueError(
            f"the views have {source.n_samples} samples, but the model was fitted on "
            f"{len(labels)}: pass the views of fit, in the same order"
        )
    if hasattr(model, "view_names_in_"):
        check_columns(model, source)
    rows = source.take(samples)
    facts = summarise(0, rows)
    check_facts(facts, source.titles, source.columns)
    if hasattr(model, "predictor_"):  # without scalings, the fit used views as they are
        scalings = getattr(model, "scaling_", [None] * len(rows))
    else:
        scalings = getattr(model, "scaling_", None) or fit_scalings(source, None, facts)
    in_units = scaled(rows, scalings)
    means = list(map(fill_row, in_units, scalings))
    in_units = list(map(filled, in_units, means))
    _check_labels(model, rows, labels[samples])
    # Lifts are those of the fit if it used the view, else as a fit decides: the rows do not tell
    # what the fit decided if it saw other samples as well.
    known = model.predictor_.lifts if hasattr(model, "predictor_") else {}
    present = presence(in_units)
    lifts = [known[i] if i in known else find_lift(X[present[i]]) for i, X in enumerate(in_units)]

    # Names as the user knows them.
    names = names or source.names
    columns = source.columns
    if feature_names is not None:
        columns = [list(feature_names[name]) for name in names]
    pairs = zip(columns, source.n_features, strict=True)
    if ids is None and source.index is not None:  # of views in other containers than lists
        index = np.asarray(source.index)
    return fit._replace(
        ids=index,
        names=names,
        columns=[list(range(d)) if texts is None else texts for texts, d in pairs],
        source=source,
        views=rows,
        present=present,
        lifted=list(map(lifted, in_units, lifts)),
        steps=list(zip(range(len(rows)), means, scalings, lifts, strict=True)),
    )


def _names_out(steps):
    """Names of the columns of each view after these steps of a pipeline, or None."""
    try:
        names = steps.get_feature_names_out()
    except (AttributeError, ValueError):  # steps that do not know them
        return None
    return [names] if isinstance(names, np.ndarray) else names


def _check_labels(model, views, labels):
    """Raise ValueError if labels of the clustered samples are not those that the model predicts.

    Labels are not compared if the model cannot predict, or if it predicts at most half of the
    clusters because there are few distinct samples.
    """
    if not hasattr(model, "predictor_"):
        return
    rows = spread(len(labels), MAX_COMPARED)
    labels, predicted = labels[rows], model.predictor_([X[rows] for X in views])
    if 2 * len(np.unique(predicted)) <= max(2, len(np.unique(labels))):
        return
    if cohen_kappa_score(labels, predicted) < MIN_KAPPA:
        raise ValueError(
            f"the model predicts other labels for {100 * np.mean(predicted != labels):.0f} % of "
            "these samples than it learned in fit: pass the views of fit, with the samples in the "
            "same order and columns in the same units"
        )
