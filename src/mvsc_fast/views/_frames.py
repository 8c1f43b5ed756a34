"""Data frames as matrices, and comparison of their columns and ids."""

from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

SHOWN = 3  # number of names or ids in a message
REFUSED = ArithmeticError, TypeError, ValueError  # of entries that are no numbers


class Frame(NamedTuple):
    """A view as a matrix, with the names of its columns and the ids of its rows if it has them."""

    values: np.ndarray
    columns: list | None = None
    index: object = None  # type: ignore[assignment]

    @property
    def text_columns(self):
        """The names of the columns if all of them are strings, as in scikit-learn, else None."""
        are_texts = self.columns is not None and all(isinstance(c, str) for c in self.columns)
        return list(self.columns) if are_texts else None


def is_frame(X):
    """Whether X is a data frame of pandas or polars, or another table that they can read."""
    is_table = hasattr(X, "to_pandas") and len(getattr(X, "shape", ())) == 2
    return is_named_frame(X) or is_table


def is_named_frame(X):
    """Whether X has the attributes of data frames of pandas and polars."""
    # First what lazy frames of polars lack, as they warn when asked for the others.
    return all(hasattr(X, name) for name in ("to_numpy", "columns", "dtypes"))


def is_sparse_frame(X):
    """Whether all columns of a pandas frame are sparse, with zeros that are not stored."""
    zeros = [getattr(dtype, "fill_value", None) == 0 for dtype in X.dtypes]
    return bool(zeros) and all(zeros)


def read_frame(X, title):
    """The `Frame` of a data frame of numbers, with nulls as NaN; sparse ones stay sparse."""
    if not is_named_frame(X):  # such as a table of pyarrow
        return read_frame(X.to_pandas(), title)._replace(index=None)
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        if getattr(dtype, "is_temporal", bool)():  # polars would count days or microseconds
            raise TypeError(f"{title}, column {name!r}: {dtype} is no number")
    is_sparse = is_sparse_frame(X)
    values = scipy.sparse.csr_array(X.sparse.to_coo()) if is_sparse else as_numbers(X, title)
    return Frame(values, list(X.columns), X.index if hasattr(X, "iloc") else None)


def as_numbers(X, title):
    """An array of real numbers, as scikit-learn makes it; errors name the view and the column."""
    try:
        return _numbers(X)
    except REFUSED as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        text = " ".join(str(error).split())  # an array may follow, which would fill the screen
        raise kind(f"{title}{_first_refused(X)}: {text:.200}") from error


def _numbers(X):
    options = {"ensure_2d": False, "allow_nd": True, "ensure_all_finite": False}
    values = check_array(X, **options, ensure_min_samples=0)
    if values.dtype == object:  # such as categories, and what scikit-learn before 1.7 leaves
        values = check_array(X, dtype=np.float64, **options, ensure_min_samples=0)
    return values


def _first_refused(X):
    """The first column of a table that has an entry that is no number, for a message."""
    values = np.empty(0)
    with suppress(*REFUSED, OSError):  # of texts in HDF5, and of parts of different shapes
        values = np.asarray(X, dtype=object)
    if values.ndim == 2:
        names = getattr(X, "columns", range(values.shape[1]))
        for name, column in zip(names, values.T, strict=True):
            try:
                _numbers(column)
            except REFUSED:
                return f", column {name!r}"
    return ""


def shown(*names):
    """Names for a message, truncated after the third; NumPy's scalars as Python's."""
    texts = [repr(name.item() if isinstance(name, np.generic) else name) for name in names[:SHOWN]]
    return ", ".join(texts if len(names) <= SHOWN else [*texts, f"... ({len(names)} in all)"])


def view_title(name):
    """Name of a view in messages: view 0, view 'text'."""
    return f"view {shown(name)}"


def repeated(index):
    """The distinct ids that a pandas index contains more than once."""
    return index[index.duplicated()].unique()


def only_in(names, title, other_names, other_title):
    """Ids or names that only one of two tables has, for a message; empty if there are none."""
    sides = [(names, set(other_names), title), (other_names, set(names), other_title)]
    parts = [([name for name in side if name not in known], where) for side, known, where in sides]
    return "; ".join(f"only in {where}: {shown(*some)}" for some, where in parts if some)


def check_same_index(first, index, title, other_title):
    """Raise ValueError, with the first differences, if two views have different rows.

    ``first`` and ``other_title`` are of the first view, ``index`` and ``title`` of the other one.
    """
    if first.equals(index) or first.astype(object).equals(index.astype(object)):
        return
    lack = only_in(index, title, first, other_title)
    raise ValueError(
        f"the rows of {title} and {other_title} have different ids "
        f"({lack or 'in another order, or some more than once'}): align them by "
        "mvsc_fast.views.align, or give both the same index"
    )
