"""Labels of new samples, from fitted models and from model files."""

from __future__ import annotations

import json
import operator
from functools import partial, reduce
from numbers import Integral
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .._utils.parameters import CHECKS, check_flag
from .._utils.progress import Progress
from .._utils.threads import use_threads
from .._utils.types import GappyViews, LabelArray
from ..judge._model_file import names_in, with_names
from ..judge._predictor import PREDICTION, Predictor
from ..views._anndata import unpacked
from ..views._columns import check_columns, column_attributes, has_names_by_view, with_absent
from ..views._facts import check_facts, summarise, warn_of_lost, warn_of_zeros
from ..views._read import read_views


class SavedPredictor:
    """Predict labels from a file that `ConsensusTLRR.to_native` wrote.

    Unlike a pickle, such a file cannot run code. ``mvsc-fast cluster --save`` writes it if the
    suffix is ``.mvsc``. Columns are scaled as they were in the fit (``scale="standard"``). It is no
    estimator of scikit-learn, because it has no fit: read another file with a new `SavedPredictor`.

    Parameters
    ----------
    path : path-like
        The file, which is read at once.
    n_threads
        As in `ConsensusTLRR`.

    Attributes
    ----------
    view_names_in_ : list
        Names of the views of the fit. The keys of a dict of new views may be their text, as
        formats such as JSON and HDF5 have it.
    n_features_in_ : int
        Total number of features of all views.
    n_features_per_view_ : list of int
        Number of features of each view.
    feature_names_in_ : list of (ndarray of str or None)
        Names of the columns of each view, if any view has names.
    n_clusters_ : int
        Number of clusters.
    note_ : dict
        Other facts in the file, such as those that ``mvsc-fast cluster --save`` writes.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not a model, or damaged, or a parameter is invalid.
    """

    path: str | PathLike[str]
    n_threads: int | None
    view_names_in_: list[Any]
    n_features_per_view_: list[int]
    n_features_in_: int
    feature_names_in_: list[NDArray[np.object_] | None]
    n_clusters_: int
    note_: dict[str, Any]

    def __init__(self, path: str | PathLike[str], *, n_threads: int | None = None) -> None:
        self.path, self.n_threads = path, CHECKS["n_threads"](n_threads, "n_threads")
        try:
            self.predictor_ = Predictor(np.fromfile(fspath(path), dtype=np.uint8))
            texts, columns, n_features, note = names_in(self.predictor_.model.image)
            self.note_ = _note_content(note)
            # Names may have been integers, of which the file has the texts.
            names = self.note_.pop("view_names", texts)
            if not isinstance(names, list) or list(map(str, names)) != texts:
                raise ValueError("the names of views in its note are not those of the file")
        except ValueError as error:  # of bytes that are no text, too
            raise ValueError(f"{path}: {error}") from error
        self.view_names_in_ = names
        self.n_features_per_view_ = n_features
        self.n_features_in_ = sum(n_features)
        self.n_clusters_ = self.predictor_.model.n_clusters
        vars(self).update(column_attributes(columns))

    def __repr__(self) -> str:
        return f"SavedPredictor({str(self.path)!r})"

    def predict(self, X: GappyViews) -> LabelArray:
        """Predict the labels of new samples, see `ConsensusTLRR.predict`.

        Parameters
        ----------
        X : list or dict of array-like or sparse matrix of shape (n_new, n_features_i)

        Returns
        -------
        ndarray of shape (n_new,)
        """
        return predicted_labels(self, X)

    def predict_margin(self, X: GappyViews, *, return_unlike: bool = False) -> Any:
        """Compute the margins of the labels of new samples, see `ConsensusTLRR.predict_margin`.

        Parameters
        ----------
        X : list or dict of array-like or sparse matrix of shape (n_new, n_features_i)
        return_unlike : bool, default=False

        Returns
        -------
        margin : ndarray of shape (n_new,)
        unlike : ndarray of shape (n_new,) of bool
            If ``return_unlike=True``.
        """
        return predicted_margin(self, X, return_unlike)


def _named(X, names):
    """The views of a dict by their names in the fit, of which keys may be the text."""
    X = unpacked(X)
    if type(X) is not dict:
        return X
    names = {str(name): name for name in names}
    views = {names.get(str(key), key): view for key, view in X.items()}
    return views if len(views) == len(X) else X  # else it has both, such as 0 and "0"


def predicted_margin(model, X, return_unlike):
    """Margins of new samples, and which of them are unlike the fitted ones; see `ConsensusTLRR`."""
    check_predictor(model)
    check_flag(return_unlike, "return_unlike")
    if return_unlike:
        check_limits(model)
    rows = predicted_rows(model, X)
    return (rows["margin"], rows["unlike"] > 0) if return_unlike else rows["margin"]


def check_predictor(model):
    """Raise an error if a model is not fitted, or was fitted without a predictor."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    if not hasattr(model, "predictor_"):
        raise ValueError(
            'the model was fitted with store="labels" and cannot predict: fit with '
            'store="predictor" or "all"'
        )


def check_limits(model):
    """Raise ValueError if a model cannot tell which samples are unlike the fitted ones."""
    if not model.predictor_.has_limits:
        raise ValueError(
            "the model has no distances of the fitted samples, which return_unlike=True needs: fit "
            "and save it again"
        )


def predicted_labels(model, X):
    """Labels of new samples, from a model with a predictor; see `ConsensusTLRR`."""
    check_predictor(model)
    rows = predicted_rows(model, X)
    if not isinstance(rows, np.ndarray):  # rows of Dask arrays, which are read later
        return rows["label"]
    progress = Progress(type(model).__name__, getattr(model, "verbose", 0))
    model.predictor_.tell_unlike(rows, progress.log)
    return rows["label"].copy()


def predicted_rows(model, X):
    """What is predicted of each new sample, see `PREDICTION`; lazy for Dask arrays."""
    predictor, n_features = model.predictor_, model.n_features_per_view_
    # The views must be those of the fit; absent ones are rows of NaN.
    if isinstance(model, SavedPredictor):
        X = _named(X, model.view_names_in_)
    X = with_absent(X, model.view_names_in_, n_features)
    source = read_views(X, min_samples=1)
    # scikit-learn compares the columns of a single matrix that was fitted as such.
    is_single = not source.listed and len(n_features) == 1 and isinstance(model, BaseEstimator)
    if is_single and not has_names_by_view(model):
        validate_data(model, X, skip_check_array=True, reset=False)
    check_columns(model, source)
    arguments = source.titles, source.columns
    with use_threads(model.n_threads, source.n_samples) as n_threads:
        if source.is_lazy:  # nothing is known of rows that other processes read later
            predict = predictor.predictions
            return source.per_row(checked_labels, PREDICTION, predict, *arguments)
        predict = partial(predictor.predictions, n_threads=n_threads)
        rows, facts = zip(*source.map(checked_rows, predict, *arguments), strict=True)
    rows, facts = np.concatenate(rows), reduce(operator.add, facts)
    predictor.warn_of_rows(facts, source.titles)
    warn_of_zeros(facts.zeros)
    warn_of_lost(np.flatnonzero(rows["label"] < 0))
    return rows


def label_rows(source, predict, samples, labels):
    """Labels of all rows of a source, given those of some samples.

    ``predict(views)`` computes labels of rows, each from its row alone, -1 for those without any
    view; ``samples`` ascend. The rows were checked when samples were drawn.
    """
    if len(samples) == source.n_samples:
        return source.labels_like(labels)
    return source.per_row(_labelled, labels.dtype, predict, samples, labels)


def _labelled(first, views, predict, samples, labels):
    """Labels of one block: those of samples that have one, and predicted ones."""
    out, is_unlabelled = np.empty(views[0].shape[0], labels.dtype), np.ones(views[0].shape[0], bool)
    low, high = np.searchsorted(samples, [first, first + len(out)])
    positions = samples[low:high] - first
    out[positions], is_unlabelled[positions] = labels[low:high], False
    if is_unlabelled.any():
        out[is_unlabelled] = predict([X[is_unlabelled] for X in views])
    return out


def checked_rows(first, views, predict, titles, columns):
    """What ``predict`` returns for the rows of one block, and their `Facts`."""
    facts = summarise(first, views)
    check_facts(facts, titles, columns)
    return predict(views, facts), facts


def checked_labels(*args):
    """The first result of `checked_rows`, for rows that are read later and elsewhere."""
    return checked_rows(*args)[0]


def native_model(model, names, columns, **facts):
    """The bytes of the file of a fitted model, with facts for the note; see `with_names`."""
    names = [int(name) if isinstance(name, Integral) else str(name) for name in names]
    note = json.dumps({"view_names": names, **facts})
    image = model.predictor_.model.image
    return with_names(image, names, columns, model.n_features_per_view_, note)


def _note_content(note):
    """The dict that `native_model` wrote into a model file; empty for other notes."""
    try:
        content = json.loads(note)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
