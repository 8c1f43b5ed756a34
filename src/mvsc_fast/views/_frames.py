"""Conversion of data frames to matrices, and comparison of their columns and ids."""

import re
from typing import NamedTuple

import numpy as np
import scipy.sparse

SHOWN = 3  # number of names or ids in a message
# Names of the numeric dtypes of pandas, Arrow and polars; objects are checked one by one.
NUMERIC = re.compile(r"(?i)u?int\d|float|double|halffloat|bool|decimal|object|null|sparse")


class Frame(NamedTuple):
    """A view as a matrix, with the names of its columns and the ids of its rows if it has them."""

    values: np.ndarray
    columns: list | None = None
    index: object = None  # type: ignore[assignment]


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


def is_series(X):
    """Whether X is a single column of a data frame."""
    return hasattr(X, "to_numpy") and not is_frame(X) and getattr(X, "ndim", 1) == 1


def read_frame(X, title):
    """The `Frame` of a data frame whose columns are all numeric, with nulls as NaN."""
    is_pandas = hasattr(X, "iloc")
    if not is_pandas and not is_named_frame(X):  # such as a table of pyarrow
        return read_frame(X.to_pandas(), title)._replace(index=None)
    columns = list(X.columns)
    for name, dtype in zip(columns, X.dtypes, strict=True):
        if not NUMERIC.match(str(dtype)):
            raise ValueError(refusal(title, str(dtype), shown(name)))
    if is_pandas:
        return Frame(_pandas_values(X, title, columns), columns, X.index)
    values = X.to_numpy()
    if values.dtype == object:
        for name, column in zip(columns, values.T, strict=True):
            check_objects(column, title, name)
    return Frame(np.asarray(values, dtype=_float_type(values.dtype)), columns, None)


def _pandas_values(X, title, columns):
    for j, dtype in enumerate(X.dtypes):
        if getattr(dtype, "kind", "") == "O":  # also of Arrow
            check_objects(X.iloc[:, j].dropna(), title, columns[j])
    # Nulls become NaN, and sparse frames stay sparse.
    if any(str(dtype) == "object" for dtype in X.dtypes):
        X = X.where(X.notna(), np.nan)  # na_value does not replace nulls among objects
    if is_sparse_frame(X):
        if len({dtype.subtype.kind == "b" for dtype in X.dtypes}) == 2:  # their type is object
            X = X.astype(type(X.dtypes.iloc[0])(float, 0.0))
        return scipy.sparse.csr_array(X.sparse.to_coo())
    dtype = np.result_type(*(_float_type(dtype) for dtype in X.dtypes)) if columns else float
    return X.to_numpy(dtype=dtype, na_value=np.nan)


def check_objects(column, title, name):
    """Raise ValueError if an entry of a column of objects is not a real number.

    None and text that is a number are accepted, but not "1_5". A container raises TypeError, as in
    scikit-learn.
    """
    for value in column:
        try:
            if isinstance(value, (complex, np.complexfloating)):
                raise TypeError("complex")
            if isinstance(value, (str, bytes)) and "_" in str(value):
                raise ValueError("float accepts it")
            if value is not None:
                float(value)
        # Text, containers and other objects get the message that helps with each.
        except (TypeError, ValueError, OverflowError):
            if isinstance(value, str):
                raise ValueError(refusal(title, "text", shown(name))) from None
            entry = f"{str(value)[:40]} ({type(value).__name__})"
            if isinstance(value, (dict, list, tuple, set)):
                raise TypeError(
                    f"{title} has {entry} in column {shown(name)}: the argument must be a string "
                    "or a real number"
                ) from None
            raise ValueError(
                f"{title} has {entry} in column {shown(name)}, which is not a real number in "
                "double precision: replace it, or remove the sample"
            ) from None


def _float_type(dtype):
    """The floating type to which a column of this dtype is converted."""
    return np.float32 if str(dtype).lower() in ("float32", "float[pyarrow]") else np.float64


def refusal(title, kind, column=None):
    """The message for a view with entries that are not numbers."""
    where = "" if column is None else f" in column {column}"
    if re.search(r"(?i)date|time|duration|period", kind):
        return (
            f"{title} contains {kind}{where}: convert it to numbers, such as days since a date, or "
            "remove it"
        )
    return (
        f"{title} contains {kind}{where}: convert it to numbers (OneHotEncoder or TfidfVectorizer "
        "of scikit-learn), make it the index of a pandas frame if it contains ids, or remove it"
    )


def shown(*names):
    """Names for a message, truncated after the third; NumPy's scalars as Python's."""
    text = ", ".join(
        [repr(name.item() if isinstance(name, np.generic) else name) for name in names[:SHOWN]]
    )
    return text if len(names) <= SHOWN else f"{text}, ... ({len(names)} in all)"


def view_title(name):
    """Name of a view in messages: view 0, view 'text'."""
    return f"view {shown(name)}"


def text_names(columns):
    """Names of columns if all of them are strings, as in scikit-learn, else None."""
    are_texts = columns is not None and all(isinstance(name, str) for name in columns)
    return list(columns) if are_texts else None


def repeated(index):
    """The distinct ids that a pandas index contains more than once."""
    return index[index.duplicated()].unique()


def only_in(*sides):
    """Ids that only one of two tables has, for a message; sides are pairs of ids and a name."""
    return "; ".join(f"only in {name}: {shown(*ids)}" for ids, name in sides if len(ids))


def are_same_ids(first, index):
    """Whether two pandas indexes have the same ids in this order, of whatever types."""
    return first.equals(index) or first.astype(object).equals(index.astype(object))


def check_same_index(first, index, title, other_title):
    """Raise ValueError, with the first differences, if two views have different rows.

    ``first`` and ``other_title`` are of the first view, ``index`` and ``title`` of the other one.
    """
    if are_same_ids(first, index):
        return
    # Different ids, repeated ids and another order have different remedies, and are told in this
    # order.
    absent = first[~first.isin(index)]
    extra = index[~index.isin(first)]
    if len(absent) or len(extra):
        lack = only_in((extra, title), (absent, other_title))
        raise ValueError(
            f"the rows of {title} and {other_title} have different ids ({lack}). "
            'mvsc_fast.views.align(views, join="inner") keeps the samples that all views have, '
            'join="outer" all samples, with rows of NaN; if the rows do match, set the same ids: '
            "frame.index = other.index, or adata.obs_names = other.obs_names of AnnData"
        )
    if len(first) != len(index):
        raise ValueError(
            f"{title} has {len(index)} rows and {other_title} has {len(first)} with the same ids: "
            "some ids occur more than once. Keep one row for each, as in "
            "frame[~frame.index.duplicated()], or adata[~adata.obs_names.duplicated()] of AnnData"
        )
    row = int(np.flatnonzero(first.astype(object) != index.astype(object))[0])
    raise ValueError(
        f"the rows of {title} have the ids of {other_title} in another order (row {row} is "
        f"{shown(first[row])} in {other_title} and {shown(index[row])} in {title}): align them "
        "with frame.loc[other.index], or adata[other.obs_names] of AnnData"
    )


def check_same_columns(title, columns, fitted):
    """Raise ValueError if a view does not have the columns of fit in the same order."""
    columns, fitted = list(columns), list(fitted)
    if columns == fitted:
        return
    absent = [name for name in fitted if name not in columns]
    extra = [name for name in columns if name not in fitted]
    differences = [] if absent or extra else ["in another order"]
    if absent:
        differences.append(f"without {shown(*absent)}")
    if extra:
        differences.append(f"with {shown(*extra)}")
    raise ValueError(
        f"the columns of {title} are not those of fit, {' and '.join(differences)}: "
        "pass frame[columns], or adata[:, columns] of AnnData, with the columns of "
        "feature_names_in_"
    )
