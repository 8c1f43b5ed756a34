"""Transformer that splits a table into views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._utils.parameters import InvalidParameterError
from .._utils.types import IntArray, View
from ..views._frames import view_title
from ._table_columns import (
    as_table,
    column_names,
    named_items,
    positions_of,
    take_columns,
    with_keys_of,
)

if TYPE_CHECKING:
    from typing_extensions import Self

Columns: TypeAlias = str | int | slice | Sequence[str] | Sequence[int] | NDArray[Any]


class ViewSplitter(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Split the columns of a table into views.

    Parameters
    ----------
    views : dict or list
        Columns of each view; the keys of a dict are the names of the views. The columns of a view
        are given as a string (a prefix of their names), a list of names or of positions, a
        position, or a slice of positions. Views may share columns. Names require a data frame;
        positions count from 0, also in data frames.

    Attributes
    ----------
    columns_ : dict or list of ndarray of int
        Positions of the columns of each view.
    unused_ : ndarray of int
        Positions of the columns that are in no view, such as that of an id.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Column names, if the table is a data frame with column names. New tables are then split by
        these names, so that their columns may have another order, and there may be others.

    Raises
    ------
    ValueError
        In `fit`, if a column does not exist or is twice in a view, or if a view has no columns.

    See Also
    --------
    PerView : Transformers of the views.
    FrameEncoder : Views of a table of numbers, categories and texts.

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

    views: Mapping[Any, Columns] | Sequence[Columns]
    columns_: Any
    unused_: IntArray
    n_features_in_: int
    feature_names_in_: Any

    def __init__(self, views: Mapping[Any, Columns] | Sequence[Columns]) -> None:
        self.views = views

    def fit(self, X: View, y: Any = None) -> Self:
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
            raise InvalidParameterError(
                f"views must be a dict or a list of the columns of each view, got {self.views!r}"
            )
        X = as_table(X)
        names = column_names(X)
        positions = [
            positions_of(columns, names, X.shape[1], view_title(name))
            for name, columns in named_items(self.views)
        ]
        self.columns_ = with_keys_of(self.views, positions)
        self.unused_ = np.setdiff1d(np.arange(X.shape[1]), np.hstack(positions))
        validate_data(self, X, skip_check_array=True)
        return self

    def transform(self, X: View) -> Any:
        """Split a table into views.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        dict or list of array, csr_matrix or data frame
            The views, a dict or a list as ``views``, of the same type as X. HDF5 data sets, zarr
            and Dask arrays are read into memory.

        Raises
        ------
        ValueError
            If a column is missing.
        """
        check_is_fitted(self)
        X = as_table(X)
        # Columns are found by name, so that new tables may have others and another order.
        positions = np.arange(self.n_features_in_)
        names = column_names(X)
        if names is not None and hasattr(self, "feature_names_in_"):
            fitted = self.feature_names_in_.tolist()
            if names != fitted:  # else each column is where it was
                needed = np.setdiff1d(positions, self.unused_)
                chosen = [fitted[j] for j in needed]
                positions[needed] = positions_of(chosen, names, X.shape[1], "X")
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
        tables = [take_columns(X, positions[columns]) for _, columns in named_items(self.columns_)]
        return with_keys_of(self.views, tables)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Return the splitter as it is, because views are always of the type of the table.

        Parameters
        ----------
        transform : ignored

        Returns
        -------
        self
        """
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Get the feature names of each view.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        dict or list of ndarray of str
            Names of the columns, or "x0", "x1", ... if the columns have no names.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
        return with_keys_of(
            self.views, [names[columns] for _, columns in named_items(self.columns_)]
        )
