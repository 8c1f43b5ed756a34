"""Transformer from a data frame of mixed columns to views of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .._utils.messages import warn_user
from .._utils.parameters import InvalidParameterError
from ..views._frames import shown
from ..views._missing import missing

if TYPE_CHECKING:
    from typing_extensions import Self

MIN_FREQUENCY = 0.01  # share of samples below which categories are joined as rare ones
MAX_WORDS = 5000  # most frequent words of a text that are counted
MIN_TEXT_WORDS = 3  # mean number of words of a value from which on a column is text
MAX_NUMBER = 1e150  # largest number whose squares can be added
ORDINARY = (str, Real, Decimal, np.bool_)  # types of values that can be encoded


class FrameEncoder(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Encode the columns of a data frame as views, by what they contain.

    Numbers are standardised. Categories become one column each, of 0 and 1; those of less than 1 %
    of the samples are joined as "rare" ones. Text becomes term frequencies times inverse document
    frequencies (TF-IDF) of words. Missing values remain missing: an empty cell of numbers or
    categories is NaN, and a sample whose text is empty or has no word of `fit`, or whose cells of a
    group are all empty, lacks the view.

    Parameters
    ----------
    groups : dict of list of str, optional
        Columns of each view; the keys are the names of the views. A column of text is a view of its
        own. Columns in no group are not used. None makes a view of all numbers, one of all
        categories, and one of each text.

    Attributes
    ----------
    groups_ : dict of list of str
        Columns of each view.
    kinds_ : dict of str
        "number", "category" or "text" for each column that is used. Columns of bool and of Decimal
        are numbers. Columns of strings are text if their values have more than three words on
        average.
    text_views_ : list of str
        Names of the views of text, whose words `explain` shows.
    encoders_ : dict
        The fitted transformer of scikit-learn of each column: StandardScaler, OneHotEncoder or
        TfidfVectorizer.

    Raises
    ------
    ValueError
        If X is not a pandas data frame; if a column does not exist, or occurs twice in X or in a
        group; has dates, complex numbers, lists, infinite values, numbers too large to be squared,
        no values, no words, or a different string in more than half of the rows; or if text shares
        a group with other columns. In `transform`, if a column of numbers has other values.

    Warns
    -----
    UserWarning
        In `transform`, if a column has categories that `fit` has not seen. They count as rare ones
        if `fit` had any, else as none of the categories.

    See Also
    --------
    ViewSplitter : Splits a table of numbers into views.

    Examples
    --------
    >>> import pandas as pd
    >>> from mvsc_fast.preprocessing import FrameEncoder
    >>> frame = pd.DataFrame({"age": [20, 40, None], "plan": ["a", "b", "a"]})
    >>> views = FrameEncoder({"person": ["age"], "contract": ["plan"]}).fit_transform(frame)
    >>> views["contract"]
       plan_a  plan_b
    0     1.0     0.0
    1     0.0     1.0
    2     1.0     0.0
    """

    groups: Mapping[str, Sequence[str]] | None
    groups_: dict[str, list[str]]
    kinds_: dict[str, str]
    text_views_: list[str]
    encoders_: dict[str, Any]

    def __init__(self, groups: Mapping[str, Sequence[str]] | None = None) -> None:
        self.groups = groups

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the scales, categories and words of each column.

        Parameters
        ----------
        X : pandas.DataFrame of shape (n_samples, n_columns)
        y : ignored

        Returns
        -------
        self
        """
        # Groups of the user, or one view for each kind of column.
        columns = getattr(X, "columns", ()) if self.groups is None else self._columns()
        check_frame(X, columns)
        kinds = {column: kind_of(X[column], column) for column in columns}
        if self.groups is None:
            groups = groups_by_kind(kinds)
        else:
            groups = {name: [*columns] for name, columns in self.groups.items()}
        # Words of a text would outweigh single columns beside them.
        texts = [column for column, kind in kinds.items() if kind == "text"]
        for name, columns in groups.items():
            text = next((column for column in columns if column in texts), None)
            if text is not None and len(columns) > 1:
                raise ValueError(
                    f"group {shown(name)} has text in column {shown(text)} beside other columns: "
                    "make the text a group of its own"
                )
        self.encoders_ = {column: fitted_encoder(kind, X[column]) for column, kind in kinds.items()}
        self.groups_, self.kinds_ = groups, kinds
        self.text_views_ = [name for name, columns in groups.items() if columns[0] in texts]
        self.feature_names_in_ = np.array([*kinds], dtype=object)
        self.n_features_in_ = len(kinds)
        return self

    def transform(self, X: Any) -> dict[str, Any]:
        """Encode the columns of a data frame.

        Parameters
        ----------
        X : pandas.DataFrame of shape (n_samples, n_columns)
            Columns are taken by their names; others than those of `fit` are not used.

        Returns
        -------
        dict of pandas.DataFrame
            The views, with the index of X. Those of text have sparse columns.
        """
        check_is_fitted(self)
        check_frame(X, self.kinds_)
        import pandas as pd

        views = {}
        for name, columns in self.groups_.items():
            parts = [
                encoded(self.kinds_[column], self.encoders_[column], X[column])
                for column in columns
            ]
            views[name] = parts[0] if len(parts) == 1 else pd.concat(parts, axis=1)
        return views

    def get_feature_names_out(self, input_features: Any = None) -> dict[str, NDArray[Any]]:
        """Get the feature names of each view.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        dict of ndarray of str
        """
        check_is_fitted(self)
        return {
            name: np.concatenate([names_of(self.encoders_[column], column) for column in columns])
            for name, columns in self.groups_.items()
        }

    def set_output(self, *, transform: str | None = None) -> Self:
        """Return the encoder as it is, because views are always pandas data frames.

        Parameters
        ----------
        transform : ignored

        Returns
        -------
        self
        """
        return self

    def _columns(self):
        """The columns of all groups."""
        if not isinstance(self.groups, Mapping) or not self.groups:
            raise InvalidParameterError(
                f"groups must be a dict of the columns of each view, got {self.groups!r}"
            )
        for name, columns in self.groups.items():
            is_list = hasattr(columns, "__getitem__") and not isinstance(columns, (str, Mapping))
            if not is_list or len(columns) == 0:
                raise InvalidParameterError(
                    f"group {shown(name)} must be a list of columns, got {columns!r}: "
                    f"for a single column pass [{columns!r}]"
                )
            columns = [*columns]
            repeated = [column for j, column in enumerate(columns) if column in columns[:j]]
            if repeated:
                raise ValueError(f"group {shown(name)} has column {shown(repeated[0])} twice")
        return [column for columns in self.groups.values() for column in columns]


def check_frame(X, columns):
    """Raise an error unless X is a pandas data frame that has each of the columns once."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        raise InvalidParameterError(
            f"X must be a pandas data frame, got {type(X).__name__}: "
            "pandas.DataFrame(X), or X.to_pandas() of polars, makes one"
        )
    absent = [
        column for column in columns if not isinstance(column, Hashable) or column not in X.columns
    ]
    if absent:
        raise ValueError(f"no column {shown(*absent)} in the data frame, which has {shown(*X)}")
    repeated = [column for column in columns if X[column].ndim == 2]
    if repeated:
        raise ValueError(f"several columns {shown(repeated[0])} in the data frame: rename them")


def kind_of(column, name):
    """Kind of a column of a data frame: "number", "category" or "text"."""
    from pandas import CategoricalDtype

    # What cells contain decides: numbers may be stored as objects, too.
    is_category = isinstance(column.dtype, CategoricalDtype)
    if not is_category and column.dtype.kind in "fiub":
        return "number"
    cells = column.astype(object).dropna()
    other = next((value for value in cells if not isinstance(value, ORDINARY)), None)
    if other is not None and not is_category:
        raise ValueError(
            f"column {shown(name)} has values of type {type(other).__name__}, such as "
            f"{str(other):.40}: make columns of numbers or strings of them, such as days since a "
            "date, or leave the column out of groups"
        )
    strings = cells[cells != ""]
    if not any(isinstance(value, str) for value in strings):
        return "category" if is_category else "number"
    # Strings are texts if they are long, ids if nearly all differ, else categories.
    strings = strings.astype(str)
    if not is_category and strings.str.split().str.len().mean() > MIN_TEXT_WORDS:
        return "text"
    if len(strings) > 20 and strings.nunique() > len(strings) / 2:
        raise ValueError(
            f"column {shown(name)} has {strings.nunique()} different values in {len(strings)} "
            "rows, as an id has: leave it out of groups, or make it the index of the data frame; "
            "pandas.to_numeric converts numbers that are strings, and PerView with TfidfVectorizer "
            f"counts words of texts of at most {MIN_TEXT_WORDS} words"
        )
    return "category"


def has_values(column):
    """Which cells of a column are neither missing nor empty strings."""
    return (column.notna() & (column != "").fillna(False)).to_numpy(dtype=bool)


def groups_by_kind(kinds):
    """Columns of numbers, of categories, and of each text."""
    views = {
        "numbers": [column for column, kind in kinds.items() if kind == "number"],
        "categories": [column for column, kind in kinds.items() if kind == "category"],
    }
    texts = {
        f"text {column}" if column in views else column: [column]
        for column, kind in kinds.items()
        if kind == "text"
    }
    return {name: columns for name, columns in (views | texts).items() if columns}


def fitted_encoder(kind, column):
    """The transformer of scikit-learn for a column, fitted to its values that are not missing."""
    values = column[has_values(column)]
    if len(values) == 0:
        raise ValueError(f"column {shown(column.name)} has no values: leave it out of groups")
    if kind == "number":
        return StandardScaler().fit(numbers_of(values))
    if kind == "category":
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist", min_frequency=MIN_FREQUENCY, sparse_output=False
        )
        return encoder.fit(strings_of(values))
    encoder = TfidfVectorizer(sublinear_tf=True, max_features=MAX_WORDS)
    try:
        return encoder.fit(values.astype(str))
    except ValueError as error:
        raise ValueError(
            f"column {shown(column.name)} has no words of two letters or more: leave it out of "
            "groups"
        ) from error


def numbers_of(values):
    """Numbers of a column as an array of one column; raises ValueError if they are none."""
    try:
        if values.dtype.kind in "mMc":  # NumPy would convert them
            raise TypeError(f"they are of type {values.dtype}")
        numbers = values.to_numpy(dtype=np.float64)[:, None]
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"column {shown(values.name)} has values that are no numbers, unlike in fit: {error}"
        ) from error
    if (np.abs(numbers) > MAX_NUMBER).any():
        raise ValueError(
            f"column {shown(values.name)} has infinite values or numbers above {MAX_NUMBER:g}, "
            "which cannot be squared: replace them by NaN if they stand for missing values, or "
            "divide the column"
        )
    return numbers


def strings_of(values):
    """Strings of a column as an array of one column.

    Whole floats are the strings of integers: pandas makes floats of integers beside a gap.
    """
    return values.map(without_fraction).astype(str).to_numpy(dtype=object)[:, None]


def without_fraction(value):
    """A whole float as an int, other values as they are."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def names_of(encoder, column):
    """Names of the columns that a transformer of scikit-learn makes of a column."""
    if isinstance(encoder, TfidfVectorizer):
        return encoder.get_feature_names_out()
    names = encoder.get_feature_names_out([str(column)]).tolist()
    return np.array([name.replace("_infrequent_sklearn", "_rare") for name in names], dtype=object)


def encoded(kind, encoder, column):
    """A data frame of one column, or of one for each category or word."""
    import pandas as pd

    names = names_of(encoder, column.name)
    if kind == "text":
        texts = column.astype(object).where(column.notna(), "").astype(str)
        values = missing(encoder.transform(texts))
        return pd.DataFrame.sparse.from_spmatrix(values, column.index, names)
    # Missing values are not encoded: their rows are NaN, which a fit can fill.
    has_value = has_values(column)
    if kind == "number":
        X = numbers_of(column[has_value])
    else:
        X = strings_of(column[has_value])
        unseen = np.setdiff1d(X, encoder.categories_[0])
        if len(unseen):
            warn_user(
                f"column {shown(column.name)} has categories that are not in the data of fit: "
                f"{shown(*unseen)}"
            )
    values = np.full((len(column), len(names)), np.nan)
    if len(X):
        values[has_value] = encoder.transform(X)
    return pd.DataFrame(values, column.index, names)
