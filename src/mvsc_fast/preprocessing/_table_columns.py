"""Columns of a table by name, prefix, position or slice, and lists and dicts of views."""

from collections import Counter
from difflib import get_close_matches

import numpy as np
import scipy.sparse

from .._utils.containers import checked_csr
from .._utils.parameters import InvalidParameterError
from ..views._frames import is_frame, is_named_frame, text_names


def as_table(X):
    """Return X as a table with columns."""
    if scipy.sparse.issparse(X):
        return checked_csr(X, "X")
    if isinstance(X, (list, tuple)) and any(np.ndim(row) > 1 for row in X if hasattr(row, "ndim")):
        raise ValueError("X is a list of views: ViewSplitter splits the columns of a single table")
    if is_frame(X) and not is_named_frame(X):  # such as a table of pyarrow
        X = X.to_pandas()
    X = X if hasattr(X, "columns") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"X has shape {X.shape}: expected a table of shape (n_samples, n_features)"
        )
    return X


def column_names(X):
    """Names of the columns of a data frame, or None if they are not all strings."""
    return text_names(getattr(X, "columns", None))


def take_columns(X, columns):
    """Columns of a table by their positions."""
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]


def positions_of(columns, names, n_columns, what):
    """Positions of columns given by a prefix, a slice, or by names or positions.

    ``names`` are those of all columns or None; ``what`` is the name of the view in messages.
    """
    # A text alone is a prefix, in a list it is a name. Slices are of positions, because names have
    # no order that a user would expect.
    if isinstance(columns, str):
        _check_named(columns, names, n_columns, what)
        positions = [j for j, name in enumerate(names) if name.startswith(columns)]
        if not positions:
            raise ValueError(f"{what}: no column begins with {columns!r}{alike(columns, names)}")
    elif isinstance(columns, slice):
        try:
            positions = list(range(n_columns)[columns])
        except TypeError as error:
            raise ValueError(f"{what}: {columns} is not a slice of positions") from error
    else:
        columns = [columns] if np.ndim(columns) == 0 else columns
        places: dict[str, list[int]] = {}
        for j, name in enumerate(names or ()):
            places.setdefault(name, []).append(j)
        positions = [_position(column, names, places, n_columns, what) for column in columns]
    if not positions:
        raise ValueError(f"{what} has none of the {n_columns} columns")
    repeated, count = Counter(positions).most_common(1)[0]
    if count > 1:
        raise ValueError(
            f"{what} has column {repeated if names is None else names[repeated]!r} twice"
        )
    return np.array(positions)


def _position(column, names, places, n_columns, what):
    """Position of a column by name or position; ``places`` has the positions of each name."""
    if isinstance(column, str):
        _check_named(column, names, n_columns, what)
        positions = places.get(column, [])
        if len(positions) == 1:
            return positions[0]
        if positions:
            raise ValueError(f"{what}: {len(positions)} columns are called {column!r}")
        raise ValueError(f"{what}: there is no column {column!r}{alike(column, names)}")
    if isinstance(column, (bool, np.bool_)) or not hasattr(column, "__index__"):
        raise InvalidParameterError(
            f"{what}: a column must be given by name or position, got {column!r}"
        )
    if not -n_columns <= column < n_columns:
        raise ValueError(f"{what}: there is no column {column}, the table has {n_columns}")
    return int(column) % n_columns


def _check_named(column, names, n_columns, what):
    if names is None:
        raise ValueError(
            f"{what}: selection by name requires a data frame with column names, but the "
            f"{n_columns} columns of this table have no names: pass positions, not {column!r}"
        )


def alike(name, names):
    """The columns with the most similar names, or the first ones, for a message."""
    nearest = get_close_matches(name, names, n=3) or names[:3]
    ending = ", ..." if len(nearest) < len(names) else ""
    return f"; the table has {', '.join(map(repr, nearest))}{ending}"


def named_items(items):
    """(name, item) pairs of a dict, or of a list, whose items are named by their indices."""
    return list(items.items() if isinstance(items, dict) else enumerate(items))


def with_keys_of(container, items):
    """A dict of the items with the keys of a dict, or a list of them."""
    return dict(zip(container, items, strict=True)) if isinstance(container, dict) else list(items)
