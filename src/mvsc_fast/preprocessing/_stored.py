"""Transformers of views, block by block if a view is stored outside memory."""

from functools import partial
from itertools import pairwise

import numpy as np
import scipy.sparse
from sklearn.preprocessing import FunctionTransformer

from .._utils.validation import check_memory, first_cell, shown_cell
from ..views._frames import view_title
from ..views._lazy import LazyView
from ..views._read import read_views
from ..views._row_source import block_rows, is_dask, is_stored, stacked
from ._table_columns import column_names

FIT_MEMORY = 2**26  # bytes for the blocks of a fit


def fitted(transformer, view, name, y=None):
    """Fit a transformer on a view, in blocks if the view is stored and it has ``partial_fit``."""
    whole = _whole(transformer, view, name)
    if whole is not None:
        return named(name, transformer.fit, whole, y)
    first = 0
    for block in _batches(view, name, getattr(transformer, "n_components", None)):
        named(name, transformer.partial_fit, block, first=first)
        first += block.shape[0]
    return transformer


def transformed(transformer, view, name):
    """A transformed view; a stored view is transformed when it is read, if it was fitted so."""
    whole = _whole(transformer, view, name)
    if whole is not None:
        return _same_rows(named(name, transformer.transform, whole), view, transformer, name)
    block_of = partial(_block, transformer, name)
    if not is_dask(view):
        return LazyView(view, view_title(name), transform=block_of)
    like = block_of(0, read_views({name: view}, min_samples=1).take([0])[0])
    return view.map_blocks(
        partial(_dask_block, block_of, like[:0]),
        dtype=like.dtype,
        chunks=(view.chunks[0], (like.shape[1],)),
        meta=like[:0],
    )


def _same_rows(found, view, transformer, name):
    """The transformed view, which must have the samples of the view."""
    n, n_found = (X.shape[0] if hasattr(X, "shape") else len(X) for X in (view, found))
    if n_found != n:
        raise ValueError(
            f"{view_title(name)}: {type(transformer).__name__} returned {n_found} rows for {n} "
            "samples. A vectorizer needs the texts alone: select their column in ViewSplitter by "
            'its name, "text" instead of ["text"]'
        )
    return found


def _whole(transformer, view, name):
    """The view for a transformer that needs all rows at once; None if it takes blocks."""
    identity = isinstance(transformer, FunctionTransformer) and transformer.func is None
    if not is_stored(view) or identity:
        return view
    if hasattr(transformer, "partial_fit"):
        return None
    check_memory(
        view.dtype.itemsize * view.shape[0] * view.shape[1],
        f"{view_title(name)} in memory",
        "use a transformer with partial_fit, such as StandardScaler, which reads blocks",
    )
    return read_views({name: view}, min_samples=1).load()[0]


def _batches(view, name, n_components):
    """Yield blocks of rows, at least ``n_components`` each.

    Their sizes depend on the shape of the view alone, so that the fit does not depend on its form.
    """
    source = read_views({name: view})
    source.rows = block_rows(source.n_features, FIT_MEMORY)
    size = max(source.rows, n_components if isinstance(n_components, int) else 0)
    parts = source.map(lambda first, blocks: blocks[0])
    if is_dask(view):
        ends = np.cumsum([0, *filter(None, view.chunks[0])])
        parts = (source.take(np.arange(*pair))[0] for pair in pairwise(ends))
    rest = next(parts)
    for part in parts:
        rest = stacked([rest, part])
        while rest.shape[0] >= 2 * size:
            yield rest[:size]
            rest = rest[size:]
    yield rest


def _block(transformer, name, first, block):
    """Transformed rows, the first of which has the index ``first``."""
    found = named(name, transformer.transform, block, first=first)
    return found if scipy.sparse.issparse(found) else np.asarray(found)


def _dask_block(block_of, nothing, block, block_info=None):
    first = block_info[0]["array-location"][0][0]
    return block_of(first, block) if block.shape[0] else nothing


def named(name, function, X, *args, first=0):
    """Result of a transformer's method; its errors name the view, and cells that are not finite.

    ``first`` is the index in the view of the first row of X.
    """
    try:
        return function(X, *args)
    except ValueError as error:
        where = _not_finite(X, first, str(error))
        raise ValueError(
            f"{view_title(name)} has {where}: impute or remove such samples first"
            if where
            else f"{view_title(name)}: {error}"
        ) from error


def _not_finite(X, first, message):
    """The first NaN or infinite cell, if scikit-learn's message reports one."""
    if "infinity" not in message and "contains NaN" not in message:
        return ""
    kind, is_bad = ("inf", np.isinf) if "infinity" in message else ("nan", np.isnan)
    cell = first_cell(X if scipy.sparse.issparse(X) else np.asarray(X, dtype=float), is_bad)
    if cell is None:  # finite, but too large for float32
        return ""
    return f"{kind} in {shown_cell(first + cell[0], cell[1], column_names(X))}"
