"""The one reader of views: every form of data, in memory, in files and on other machines."""

from collections.abc import Iterator, Mapping, ValuesView
from numbers import Number
from os import PathLike

import numpy as np
import scipy.sparse

from .._utils.containers import check_container, checked_csr
from .._utils.messages import warn_user
from ._anndata import is_anndata, read_anndata, unpacked
from ._frames import (
    Frame,
    check_objects,
    check_same_index,
    is_frame,
    is_series,
    read_frame,
    refusal,
    repeated,
    shown,
    text_names,
    view_title,
)
from ._row_source import RowSource, is_dask, is_stored


def read_views(X, *, min_samples=2):
    """The `RowSource` of views in any form, alone or mixed, as `check_views` accepts them.

    Data frames, AnnData and sequences become arrays, and their ids and columns are compared and
    kept. Memory maps, HDF5 data sets, zarr arrays, backed AnnData and Dask arrays remain where they
    are. Entries are not yet known to be finite.
    """
    matrices, listed = listed_views(X)
    names = [name.item() if isinstance(name, np.generic) else name for name, _ in matrices]
    titles = [view_title(name) for name in names] if listed else ["X"]
    tables = [read_view(view, title) for (_, view), title in zip(matrices, titles, strict=True)]
    values = [table.values for table in tables]
    about = {
        "titles": titles,
        "names": names,
        "columns": [text_names(table.columns) for table in tables],
        "index": _common_index(tables, titles),
        "listed": listed,
    }
    if any(map(is_dask, values)):
        from ._dask import DaskSource

        source = DaskSource(values, **about)
    else:
        source = RowSource(values, **about)
    if source.n_samples < min_samples:
        raise ValueError(
            f"{titles[0]}: found array with {source.n_samples} sample(s) (shape="
            f"{source.views[0].shape}) while a minimum of {min_samples} is required"
        )
    return source


def listed_views(views):
    """The pairs (name, matrix) of all views, and False if a single matrix was given."""
    if scipy.sparse.issparse(views):  # some are mappings
        return [(0, views)], False
    views = unpacked(views)
    if isinstance(views, Mapping):
        if not views:
            raise ValueError("the dict of views is empty: pass at least one feature matrix")
        return list(views.items()), True
    if isinstance(views, (Iterator, ValuesView)):
        views = list(views)
    if is_series(views) or isinstance(views, np.ndarray):  # cells of MATLAB, as SciPy reads them
        entries = np.asarray(views)
        if entries.dtype == object and entries.size and all(map(_is_cell, entries.flat)):
            views = list(entries.flat)
    if isinstance(views, (list, tuple)):
        if len(views) == 0:
            raise ValueError("the list of views is empty: pass at least one feature matrix")
        if any(map(_is_matrix, views)):
            return list(enumerate(views)), True
        if all(is_series(X) or isinstance(X, np.ndarray) and X.ndim == 1 for X in views):
            raise ValueError(
                f"got a list of {len(views)} arrays that are 1D: pass numpy.stack(X) if they are "
                "samples, X[:, None] of each if they are views of one column, or X[None] of each "
                "if they are views of one sample"
            )
    return [(0, views)], False


def _is_matrix(X):
    if X is None or isinstance(X, (str, bytes, Number)):
        return False
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and isinstance(X[0], (list, tuple, np.ndarray))
    two_d = scipy.sparse.issparse(X) or is_frame(X) or not _is_array(X) or np.ndim(X) >= 2
    return two_d or _is_vectors(X)


def _is_vectors(X):
    """Whether X is a Series or another sequence with a type, whose entries are vectors."""
    is_sequence = len(getattr(X, "shape", ())) == 1 and hasattr(X, "__array__") and not is_dask(X)
    return is_sequence and len(X) > 0 and np.ndim(next(iter(X))) == 1


def _is_cell(X):
    """Whether an entry of an array of objects is a matrix."""
    return (isinstance(X, np.ndarray) or scipy.sparse.issparse(X)) and X.ndim == 2


def _is_array(X):
    """Whether X supports conversion by NumPy, which treats other objects as nested sequences."""
    return any(hasattr(X, name) for name in ("__array__", "__array_interface__", "__buffer__"))


def read_view(X, title):
    """A view as a `Frame` whose rows can be read; raise ValueError if it is not a table."""
    if type(X) is np.ndarray and X.dtype.kind in "fiub":
        return Frame(X)
    if X is None:
        raise ValueError(
            f"{title} is None: remove it, or pass rows of NaN for the samples that lack this view"
        )
    if is_stored(X) or is_dask(X) and hasattr(X, "chunks"):
        return Frame(X)
    if is_frame(X):
        return read_frame(X, title)
    if is_anndata(X):
        frame = read_anndata(X, title)
        return frame._replace(values=_matrix(frame.values, title))
    texts = X if isinstance(X, (list, tuple)) else [X]
    if len(texts) and all(isinstance(text, (str, bytes, PathLike)) for text in texts):
        raise ValueError(
            f"{title} contains text, {texts[0]!r:.40}: read files first, for example with "
            "numpy.load or pandas.read_csv, and convert text to numbers (TfidfVectorizer of "
            "scikit-learn)"
        )
    if is_dask(X) or not (texts is X or scipy.sparse.issparse(X) or _is_array(X)):
        raise ValueError(
            f"{title} is of type {type(X).__name__}: pass an array, a sparse matrix, a data frame "
            "(in polars frame.collect(), in Dask frame.to_dask_array(lengths=True)) or an AnnData "
            "object"
        )
    if _is_vectors(X):  # such as the embeddings of a column
        return Frame(_matrix(list(X), title), index=getattr(X, "index", None))
    return Frame(_matrix(X, title))


def _matrix(X, title):
    """A sequence, an array or a sparse matrix as a matrix of numbers; stored ones as they are."""
    if is_stored(X) or scipy.sparse.issparse(X) and X.ndim != 2:
        return X
    for part in X if isinstance(X, (list, tuple)) else [X]:
        check_container(part, title)
    if scipy.sparse.issparse(X):
        return checked_csr(X, title)
    try:
        X = np.asarray(X)
    except ValueError as error:  # rows of unlike lengths
        raise ValueError(f"{title} has no rows of equal length: {error}") from error
    if X.dtype.kind in "mM":
        raise ValueError(refusal(title, str(X.dtype)))
    # Text and objects are numbers if they say so.
    if X.ndim == 2 and X.dtype.kind in "OUS":
        for j, column in enumerate(X.T):
            check_objects(column, title, j)
        X = X.astype(np.float64)
    return X


def _common_index(tables, titles):
    """The index that all data frames share, or None; repeated ids are reported."""
    indexed = [
        (table.index, title)
        for table, title in zip(tables, titles, strict=True)
        if table.index is not None
    ]
    if not indexed:
        return None
    first, title = indexed[0]
    for index, other in indexed[1:]:
        check_same_index(first, index, other, title)
    if len(duplicates := repeated(first)):
        warn_user(
            f"ids occur more than once in the index of {title}, and their rows are treated as "
            f"different samples: {shown(*duplicates)}"
        )
    return first
