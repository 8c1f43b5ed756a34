"""Labels of new samples, from fitted models and from model files."""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .._utils.parameters import check_flag
from .._utils.progress import Progress
from .._utils.threads import use_threads
from .._utils.types import GappyViews, LabelArray
from ..judge._landmarks import MARGIN, Predictor
from ..judge._model_file import names_in, with_names
from ..views._columns import check_columns, column_attributes, with_absent
from ..views._passes import Summary, labels_of, warn_of_lost, warn_of_zeros
from ..views._read import read_views
from ..views._row_source import block_rows, check_bytes


class SavedPredictor(BaseEstimator):
    """Predict labels from a file that `ConsensusTLRR.to_native` wrote.

    Unlike a pickle, such a file cannot run code. ``mvsc-fast cluster --save`` writes it if the
    suffix is ``.mvsc``. Columns are scaled as they were in the fit (``scale="standard"``).

    Parameters
    ----------
    path : path-like
    memory_limit, n_threads
        As in `ConsensusTLRR`.

    Attributes
    ----------
    view_names_in_ : list
        Names of the views of the fit.
    n_features_per_view_ : list of int
    feature_names_in_ : list of (ndarray of str or None)
        Names of the columns of each view, if any view has names.
    n_clusters_ : int

    Raises
    ------
    ValueError
        If the file is not a model, or damaged.
    """

    path: str | PathLike[str]
    memory_limit: int | str | None
    n_threads: int | None
    view_names_in_: list[Any]
    n_features_per_view_: list[int]
    n_features_in_: int
    feature_names_in_: list[NDArray[np.object_] | None]
    n_clusters_: int

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        memory_limit: int | str | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.path, self.memory_limit, self.n_threads = path, memory_limit, n_threads
        try:
            self.predictor_ = Predictor(np.fromfile(path, dtype=np.uint8))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        names, columns, n_features, _ = names_in(self.predictor_.model.image)
        numbered = names == [str(i) for i in range(len(names))]
        self.view_names_in_ = list(range(len(names))) if numbered else names
        self.n_features_per_view_ = n_features
        self.n_features_in_ = sum(n_features)
        self.n_clusters_ = self.predictor_.model.n_clusters
        for name, value in column_attributes(columns).items():
            setattr(self, name, value)

    def predict(self, X: GappyViews) -> LabelArray:
        """Predict the labels of new samples, see `ConsensusTLRR.predict`.

        Parameters
        ----------
        X : list or dict of array-like or sparse matrix of shape (n_new, n_features_i)

        Returns
        -------
        ndarray of shape (n_new,)
        """
        return predicted(self, X)

    def predict_margin(self, X: GappyViews, *, return_unlike: bool = False) -> Any:
        """Margins of the labels of new samples, see `ConsensusTLRR.predict_margin`.

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


def predicted_margin(model, X, return_unlike):
    """Margins of new samples, and which of them are unlike the fitted ones; see `ConsensusTLRR`."""
    check_flag(return_unlike, "return_unlike")
    if return_unlike and not model.predictor_.has_limits:
        raise ValueError(
            "the model has no distances of the fitted samples, which return_unlike=True needs: fit "
            "and save it again"
        )
    found = predicted(model, X, margins=True)
    return (found["margin"], found["unlike"] > 0) if return_unlike else found["margin"]


def predicted(model, X, *, margins=False):
    """Labels or margins of new samples, from a model with a predictor; see `ConsensusTLRR`."""
    predictor, n_features = model.predictor_, model.n_features_per_view_
    X = with_absent(X, model.view_names_in_, n_features)
    source = read_views(X, min_samples=1)
    if not source.listed and len(n_features) == 1:
        validate_data(model, X, skip_check_array=True, reset=False)
    check_columns(model, source)
    if source.n_features != n_features:
        raise ValueError(
            f"the views have {source.n_features} features, expected {n_features} as in fit: pass "
            "the same views in the same order, None for an absent one"
        )
    if model.memory_limit is not None:
        limit = check_bytes(model.memory_limit, "memory_limit")
        source.rows = block_rows(source.n_features, limit)
    notes: list[Summary] = []
    unlike: list[list[int]] = []
    call = predictor.margins if margins else partial(predictor, unlike=unlike)
    none = np.empty(0, dtype=MARGIN if margins else np.int64)
    with use_threads(model.n_threads, source.n_samples) as n_threads:
        call = partial(call, n_threads=source.threads(n_threads))
        found = labels_of(source, call, np.empty(0, dtype=np.intp), none, notes)
    if notes:  # blocks of Dask arrays are read later, by other processes
        summary = reduce(add, notes)
        predictor.warn_of_rows(summary, source.titles)
        warn_of_zeros(np.concatenate(summary.zeros))
        warn_of_lost(np.flatnonzero((found["margin"] if margins else found) < 0))
    if notes and unlike:
        name, verbose = type(model).__name__, getattr(model, "verbose", 0)
        predictor.tell_unlike(unlike, Progress(name, verbose).log)
    return found


def native_model(model, names, columns, note=""):
    """The bytes of the file of a fitted model, see `with_names`."""
    image = model.predictor_.model.image
    return with_names(image, names, columns, model.n_features_per_view_, note)
