"""Views in pipelines of scikit-learn: one table split into views, a transformer for each view."""

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted, validate_data

from ._table_columns import as_table, column_names, listed, positions_of, take_columns

__all__ = ["PerView", "ViewSplitter"]


class ViewSplitter(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Columns of one table as views.

    Parameters
    ----------
    views : dict or list
        Columns of each view; the keys of a dict are the names of the views. Columns are a string,
        the beginning of their names; a list of names or of positions; one position; a slice of
        positions; or a list of booleans, one for each column. Views may share columns. Names need
        a data frame; positions count from 0, also in data frames.

    Attributes
    ----------
    columns_ : dict or list of ndarray of int
        Positions of the columns of each view.
    unused_ : ndarray of int
        Positions of the columns in no view, such as those of an id: they are left out.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Of data frames whose columns have names. New tables are then split by these names: the
        order of columns does not matter, nor do further ones.

    Raises
    ------
    ValueError
        In `fit`, for a column that is not there, or twice in one view, or a view without columns.

    See Also
    --------
    PerView : Transformers of the views.

    Examples
    --------
    >>> import numpy as np
    >>> from mvsc_fast.preprocessing import ViewSplitter
    >>> table = np.arange(12).reshape(2, 6)
    >>> shape, colour = ViewSplitter([[0, 2], slice(3, None)]).fit_transform(table)
    >>> shape
    array([[0, 2],
           [6, 8]])
    >>> colour.shape
    (2, 3)
    """

    def __init__(self, views):
        self.views = views

    def fit(self, X, y=None):
        """Find the columns of each view.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        if not isinstance(self.views, (dict, list, tuple)) or len(self.views) == 0:
            raise ValueError(
                f"views must be a dict or a list of the columns of each view, got {self.views!r}"
            )
        X = as_table(X)
        names = column_names(X)
        self.columns_ = _like(
            self.views,
            [
                positions_of(columns, names, X.shape[1], f"view {name!r}")
                for name, columns in _items(self.views)
            ],
        )
        found = np.concatenate([columns for _, columns in _items(self.columns_)])
        self.unused_ = np.setdiff1d(np.arange(X.shape[1]), found)
        validate_data(self, X, skip_check_array=True)
        return self

    def transform(self, X):
        """The views of a table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        dict or list of array, csr_matrix or data frame
            As ``views`` is a dict or a list, and X of one kind or another; data frames after
            ``set_output(transform="pandas")``.

        Raises
        ------
        ValueError
            If a column is missing.
        """
        check_is_fitted(self)
        X = as_table(X)
        place = np.arange(self.n_features_in_)
        names = column_names(X)
        if names is not None and hasattr(self, "feature_names_in_"):
            needed = np.setdiff1d(place, self.unused_)
            place[needed] = positions_of(
                self.feature_names_in_[needed].tolist(), names, X.shape[1], "X"
            )
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
        chosen = _chosen_output(self).get("transform", get_config()["transform_output"])
        if chosen != "default":
            X = _unchanged(chosen).fit_transform(X)
        found = [take_columns(X, place[columns]) for _, columns in _items(self.columns_)]
        return _like(self.views, found)

    def set_output(self, *, transform=None):
        """Give every view as a data frame, whose columns have names.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            "default" leaves views of the kind of the table; None changes nothing.

        Returns
        -------
        self
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # which `clone` keeps
        return self

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of each view.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        dict or list of ndarray of str
            "x0", "x1", ... where the columns have no names.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
        return _like(self.views, [names[columns] for _, columns in _items(self.columns_)])


class PerView(TransformerMixin, _BaseComposition, auto_wrap_output_keys=None):
    """A transformer for each view.

    The clustering estimators scale every row of a view to unit length, so that the units of a whole
    view never matter. Those of its columns do. To be scaled: columns that measure different things,
    or whose ranges differ by much (`StandardScaler`). To be left as they are: counts, histograms,
    term weights, spectra, pixels, and vectors that a network has learned, whose columns are of one
    kind. Words need a vectorizer, categories an encoder.

    Parameters
    ----------
    transformers : transformer, dict or list
        One for each view: a list in the order of the views, or a dict by their names, which are the
        numbers from 0 where the views are a list. A single one is for all views, each of which gets
        its own clone. None or "passthrough" leaves a view as it is.

    Attributes
    ----------
    transformers_ : dict or list of transformer
        The fitted clones, by view as the views of `fit`.

    Raises
    ------
    ValueError
        In `fit`, if there is no transformer for a view, or no view for a transformer. What a
        transformer finds wrong is raised with the view's name.

    Notes
    -----
    Parameters of transformers are set and searched by view, as ``perview__shape__with_mean`` or
    ``perview__0__with_mean`` in a pipeline; those of a single one for all as
    ``perview__transformers__with_mean``. Grid search splits a table by rows, which a list of views
    is not: begin the pipeline with `ViewSplitter`.

    Examples
    --------
    >>> from mvsc_fast import TLRR
    >>> from mvsc_fast.preprocessing import PerView, ViewSplitter
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(
    ...     ViewSplitter([slice(6), slice(6, 13)]),
    ...     PerView(StandardScaler()),
    ...     TLRR(3, random_state=0),
    ... )
    >>> model.fit_predict(X).shape
    (178,)
    """

    def __init__(self, transformers):
        self.transformers = transformers

    def fit(self, X, y=None):
        """Fit a clone of each transformer on its view.

        Parameters
        ----------
        X : list or dict of views
            Whatever the transformers take: arrays, sparse matrices, data frames, lists of texts.
        y : optional
            Handed to every transformer.

        Returns
        -------
        self
        """
        views = _items(_check_container(X))
        fitted = []
        for (name, view), given in zip(views, self._by_view(X), strict=True):
            if _passes(given):
                given = _unchanged(**_chosen_output(self))
            if not hasattr(given, "transform"):
                raise ValueError(
                    f'view {name!r}: a transformer, None or "passthrough" is needed, got {given!r}'
                )
            fitted.append(_named(name, clone(given).fit, view, y))
        self.transformers_ = _like(X, fitted)
        return self

    def transform(self, X):
        """Transform every view.

        Parameters
        ----------
        X : list or dict of views
            The same views as in `fit`.

        Returns
        -------
        list or dict of views
            As X is.
        """
        check_is_fitted(self)
        views = dict(_items(_check_container(X)))
        fitted = _items(self.transformers_)
        if [*views] != [name for name, _ in fitted]:
            raise ValueError(
                f"X has the views {listed(views)}, fit had {listed(dict(fitted))}: pass the same "
                "views in the same order"
            )
        return _like(X, [_named(name, one.transform, views[name]) for name, one in fitted])

    def set_output(self, *, transform=None):
        """Give every view as a data frame, whose columns have names.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            For the ``set_output`` of every transformer, fitted or to be fitted. "default" leaves
            views that pass through as they are; None changes nothing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a transformer has no ``set_output``.
        """
        if transform is None:
            return self
        given = self.transformers
        if not isinstance(given, (dict, list, tuple)):
            given = [given]
        parts = [*_items(given), *_items(getattr(self, "transformers_", []))]
        parts = [(name, one) for name, one in parts if not _passes(one)]
        for name, one in parts:
            if not hasattr(one, "set_output"):
                raise ValueError(f"view {name!r}: {one!r} has no set_output")
        for _, one in parts:
            one.set_output(transform=transform)
        self._sklearn_output_config = {"transform": transform}  # which `clone` keeps
        return self

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of each view after its transformer.

        Parameters
        ----------
        input_features : dict or list of array-like of str, optional
            Names before, by view, as ``get_feature_names_out`` of `ViewSplitter` gives them.

        Returns
        -------
        dict or list of ndarray of str
        """
        check_is_fitted(self)
        fitted = _items(self.transformers_)
        names = dict.fromkeys(name for name, _ in fitted)
        if input_features is not None:
            names = dict(_items(input_features))
        return _like(
            self.transformers_,
            [_named(name, one.get_feature_names_out, names[name]) for name, one in fitted],
        )

    def get_params(self, deep=True):
        """Parameters, of the transformers too if ``deep``.

        Returns
        -------
        dict
        """
        return self._get_params("_steps", deep=deep)

    def set_params(self, **parameters):
        """Set parameters by the names that `get_params` gives.

        Returns
        -------
        self
        """
        self._set_params("_steps", **parameters)
        return self

    @property
    def _steps(self):
        """(name, transformer) of every view, as scikit-learn's compositions keep them."""
        if not isinstance(self.transformers, (dict, list, tuple)):
            return []
        return [(str(name), one) for name, one in _items(self.transformers)]

    @_steps.setter
    def _steps(self, steps):
        self.transformers = _like(self.transformers, [one for _, one in steps])

    def _by_view(self, X):
        """The transformer given for every view of X."""
        names, given = [name for name, _ in _items(X)], self.transformers
        if not isinstance(given, (dict, list, tuple)):
            return [given] * len(names)
        if isinstance(given, dict):
            for name in names:
                if name not in given:
                    raise ValueError(
                        f'no transformer for view {name!r}: give one, or "passthrough" to leave '
                        "the view as it is"
                    )
            for name in given:
                if name not in names:
                    raise ValueError(
                        f"a transformer for view {name!r}, but the views are {listed(names)}"
                    )
            return [given[name] for name in names]
        if len(given) != len(names):
            raise ValueError(
                f"{len(given)} transformers for {len(names)} views: give one for each view, or a "
                "single one for all"
            )
        return given


def _passes(given):
    """Whether a view is left as it is."""
    return given is None or (isinstance(given, str) and given == "passthrough")


def _chosen_output(transformer):
    """Arguments of its last ``set_output``."""
    return vars(transformer).get("_sklearn_output_config", {})


def _unchanged(transform=None):
    """The transformer that leaves a table as it is, or makes a data frame of it."""
    out = FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")
    return out if transform is None else out.set_output(transform=transform)


def _items(given):
    """(name, item) of a dict or of a list, whose items are named by number."""
    return list(given.items() if isinstance(given, dict) else enumerate(given))


def _like(given, items):
    """Items under the keys of a dict, or a list of them."""
    return dict(zip(given, items, strict=True)) if isinstance(given, dict) else items


def _named(name, function, *args):
    """Result of a transformer's method, whose complaint is raised with the name of the view."""
    try:
        return function(*args)
    except ValueError as error:
        raise ValueError(f"view {name!r}: {error}") from error


def _check_container(X):
    """X, which must be a list or a dict of views."""
    if not isinstance(X, (dict, list, tuple)):
        raise ValueError(
            f"X must be a list or a dict of views, got {type(X).__name__}: split one table by "
            "ViewSplitter"
        )
    if len(X) == 0:
        raise ValueError("X has no views")
    return X
