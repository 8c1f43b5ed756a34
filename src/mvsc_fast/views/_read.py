"""The one reader of views: every form of data, in memory, in files and on other machines."""

from collections.abc import Iterator, ValuesView
from numbers import Number

import numpy as np
import scipy.sparse

from .._utils.containers import check_container, checked_csr
from ._anndata import is_anndata, read_anndata, unpacked
from ._frames import Frame, as_numbers, check_same_index, is_frame, read_frame, view_title
from ._row_source import RowSource, is_dask, is_stored


def read_views(X, *, min_samples=2):
    """The `RowSource` of views in any form, alone or mixed, as `check_views` accepts them.

    Data frames, AnnData and sequences become arrays, and their ids and columns are compared and
    kept. Memory maps, HDF5 data sets, zarr arrays, backed AnnData and Dask arrays remain where they
    are. Entries are not yet known to be finite.
    """
    # Every view as a matrix, under the name that messages have for it.
    matrices, listed = listed_views(X)
    names = [name.item() if isinstance(name, np.generic) else name for name, _ in matrices]
    titles = [view_title(name) for name in names] if listed else ["X"]
    tables = [read_view(view, title) for (_, view), title in zip(matrices, titles, strict=True)]
    values = [table.values for table in tables]
    columns = [table.text_columns for table in tables]
    # All data frames have one index, and messages name the first of them.
    index = first = None
    for table, title in zip(tables, titles, strict=True):
        if index is None:
            index, first = table.index, title
        elif table.index is not None:
            check_same_index(index, table.index, title, first)
    # One Dask array among the views makes all of them lazy.
    Source = RowSource
    if any(map(is_dask, values)):
        from ._dask import DaskSource as Source
    source = Source(values, titles=titles, names=names, columns=columns, index=index, listed=listed)
    if source.n_samples < min_samples:
        raise ValueError(
            f"{titles[0]}: found array with {source.n_samples} sample(s) (shape="
            f"{source.views[0].shape}) while a minimum of {min_samples} is required"
        )
    return source


def listed_views(views):
    """The pairs (name, matrix) of all views, and False if a single matrix was given."""
    views = unpacked(views)
    is_cells = isinstance(views, np.ndarray) and views.dtype == object
    if is_cells and all(map(_is_matrix, views.flat)):  # of MATLAB, as SciPy reads them
        views = list(views.flat)
    is_list = isinstance(views, (list, tuple)) and (not views or any(map(_is_matrix, views)))
    if type(views) is dict:
        matrices = list(views.items())
    elif is_list or isinstance(views, (Iterator, ValuesView)):
        matrices = list(enumerate(views))
    else:
        return [(0, views)], False
    if not matrices:
        raise ValueError(f"the {type(views).__name__} of views is empty: pass at least one matrix")
    return matrices, True


def _is_matrix(X):
    """Whether an entry of a list is a matrix of its own, and no row of one."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and isinstance(X[0], (list, tuple, np.ndarray))
    if hasattr(X, "shape"):
        return len(X.shape) >= 2 or _is_vectors(X)
    return not (X is None or isinstance(X, (str, bytes, Number)))


def _is_vectors(X):
    """Whether X is a Series or another sequence with a type, whose entries are vectors."""
    is_sequence = len(getattr(X, "shape", ())) == 1 and hasattr(X, "__array__") and not is_dask(X)
    return is_sequence and len(X) > 0 and np.ndim(next(iter(X))) == 1


def read_view(X, title):
    """A view as a `Frame` whose rows can be read; raise ValueError if it is not a table."""
    # What is read by slices stays where it is, and plain arrays of numbers are not copied.
    if is_stored(X) or is_dask(X) or type(X) is np.ndarray and X.dtype.kind in "fiub":
        return Frame(X)
    if is_frame(X):
        return read_frame(X, title)
    if is_anndata(X):
        frame = read_anndata(X)
        return frame._replace(values=read_view(frame.values, title).values)
    if _is_vectors(X):  # such as the embeddings of a column
        return Frame(_matrix(list(X), title), index=getattr(X, "index", None))
    return Frame(_matrix(X, title))


def _matrix(X, title):
    """A sequence, an array or a sparse matrix as a matrix of numbers."""
    if scipy.sparse.issparse(X):
        return checked_csr(X, title)
    for part in X if isinstance(X, (list, tuple)) else [X]:
        check_container(part, title)
    return as_numbers(X, title)
