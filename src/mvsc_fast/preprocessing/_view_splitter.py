"""Transformer that makes views of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .._utils.containers import checked_csr
from .._utils.parameters import InvalidParameterError
from .._utils.types import Estimator, View
from ..views._columns import warn_of_names
from ..views._frames import is_frame, is_named_frame, view_title

if TYPE_CHECKING:
    from typing_extensions import Self

Part: TypeAlias = str | slice | Sequence[str] | Sequence[int] | NDArray[Any] | Estimator


class ViewSplitter(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Make views of the columns of a table, as they are or encoded by transformers.

    Parameters
    ----------
    views : dict or list
        The columns of each view, or a transformer that makes it; the keys of a dict are the names
        of the views. Columns are a prefix of their names, a list of names or of positions, or a
        slice of positions, which count from 0. Names require a data frame. A transformer, such as
        a `ColumnTransformer` of scikit-learn, gets the whole table. Views may share columns.

    Attributes
    ----------
    views_ : dict
        The columns of each view, as a list of names, or of positions if the table has no names,
        and the fitted clones of the transformers.

    Raises
    ------
    ValueError
        If columns do not exist or occur more than once, or a view has none. Errors of a
        transformer get the name of the view.

    Examples
    --------
    A table of numbers:

    >>> import numpy as np
    >>> from mvsc_fast.preprocessing import ViewSplitter
    >>> table = np.arange(12).reshape(2, 6)
    >>> shape, colour = ViewSplitter([[0, 2], slice(3, None)]).fit_transform(table)
    >>> shape
    array([[0, 2],
           [6, 8]])

    A data frame of numbers, categories and texts, some of which are empty:

    >>> import pandas as pd
    >>> from mvsc_fast.views import missing
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
    >>> columns = {"age": [20, 40, 60], "plan": list("aba"), "review": ["good", "", "bad"]}
    >>> frame = pd.DataFrame(columns)
    >>> person = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["plan"]))
    >>> words = make_column_transformer((TfidfVectorizer(), "review"))
    >>> review = make_pipeline(words, FunctionTransformer(missing))
    >>> views = ViewSplitter({"person": person, "review": review}).fit_transform(frame)
    >>> views["person"].shape, views["review"].shape
    ((3, 3), (3, 2))
    """

    views: Mapping[Any, Part] | Sequence[Part]
    views_: dict[Any, Any]

    def __init__(self, views: Mapping[Any, Part] | Sequence[Part]) -> None:
        self.views = views

    def fit(self, X: View, y: Any = None) -> Self:
        """Find the columns of each view, and fit the transformers.

        A warning lists encoded columns that have names of labels, outcomes or ids. `fit` of an
        estimator warns of the others.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        if not isinstance(self.views, (dict, list, tuple)) or not self.views:
            raise InvalidParameterError(f"views must be a dict or list of columns: {self.views!r}")
        X = _as_table(X)
        # A table that does not fit the views leaves an earlier fit as it was.
        self.views_ = {name: _call(name, _fitted, part, X) for name, part in self._parts().items()}
        validate_data(self, X, skip_check_array=True)
        warn_of_names(map(view_title, self.views_), map(_encoded, self.views_.values()))
        return self

    def transform(self, X: View) -> Any:
        """Make the views of a table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The columns of a data frame are found by name: it may have others, in any order.

        Returns
        -------
        dict or list of array, csr_matrix or data frame
            The views, a dict or a list as ``views``. Columns are of the type of X; stored arrays
            and Dask arrays are read into memory.
        """
        check_is_fitted(self)
        X = _as_table(X)
        if not hasattr(X, "columns"):
            validate_data(self, X, reset=False, skip_check_array=True)
        return self._like_views([_call(name, _made, part, X) for name, part in self.views_.items()])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Get the feature names of each view.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        dict or list of ndarray of str
            Names of the columns, or "x0", "x1", ... if the table has no names, and the names that
            transformers give.
        """
        check_is_fitted(self)
        return self._like_views([_names(part) for part in self.views_.values()])

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the output of the transformers; columns stay of the type of the table.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional

        Returns
        -------
        self
        """
        for part in [*self._parts().values(), *getattr(self, "views_", {}).values()]:
            if hasattr(part, "set_output"):
                part.set_output(transform=transform)
        return self

    def _parts(self):
        return self.views if isinstance(self.views, dict) else dict(enumerate(self.views))

    def _like_views(self, items):
        return dict(zip(self.views, items, strict=True)) if isinstance(self.views, dict) else items


def _as_table(X):
    """X as a csr matrix, a data frame with names, or an array."""
    if scipy.sparse.issparse(X):
        return checked_csr(X, "X")
    if is_frame(X):
        return X if is_named_frame(X) else X.to_pandas()  # such as a table of pyarrow
    return check_array(X, dtype=None, ensure_all_finite=False)


def _fitted(part, X):
    """A fitted clone of a transformer, or a list of the names or positions of columns."""
    if hasattr(part, "fit"):
        return clone(part).fit(X)
    # Positions become names if the table has them, so that new tables are read by name.
    names = X.columns if hasattr(X, "columns") else np.arange(X.shape[1])
    if isinstance(part, str):
        columns = [name for name in names if str(name).startswith(part)]
    else:
        chosen = range(len(names))[part] if isinstance(part, slice) else part
        columns = [name if isinstance(name, str) else names[name] for name in chosen]
    if not columns:
        raise ValueError(f"none of the {len(names)} columns")
    if _made(columns, X[:1]).shape[1] > len(set(columns)):
        raise ValueError("columns occur more than once")
    return columns


def _made(part, X):
    """The view that a transformer, or a list of columns, makes of a table."""
    if isinstance(part, list):
        return X[part] if hasattr(X, "columns") else X[:, part]
    view = part.transform(X)
    if view.shape[0] != X.shape[0]:  # as of a vectorizer, which reads the names of a data frame
        raise ValueError(
            f"{X.shape[0]} samples, {view.shape[0]} rows: text needs a ColumnTransformer"
        )
    return view


def _names(part):
    """Names of the features of a view."""
    if not isinstance(part, list):
        return part.get_feature_names_out()
    return np.array([name if isinstance(name, str) else f"x{name}" for name in part], dtype=object)


def _encoded(part):
    """Names of the columns that a `ColumnTransformer` encodes, which the fit will not see."""
    steps = [step for step in getattr(part, "transformers_", ()) if step[1] != "drop"]
    return [name for step in steps for name in np.atleast_1d(step[2]) if isinstance(name, str)]


def _call(name, function, part, X):
    try:
        return function(part, X)
    except Exception as error:  # tables of other packages, and transformers, have their own
        raise ValueError(f"{view_title(name)}: {error}") from error
