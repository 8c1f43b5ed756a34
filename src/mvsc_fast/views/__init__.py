"""Validation of views, which may be given in any common form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, ValuesView
from numbers import Number
from os import PathLike
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from .._utils.containers import check_container, checked_csr
from .._utils.messages import counted, warn_user
from .._utils.types import Frames, Views
from .._utils.validation import are_finite, check_finite, check_memory, check_option
from ._anndata import from_anndata, is_anndata, read_anndata, unpacked
from ._frames import (
    check_objects,
    check_same_index,
    is_frame,
    is_series,
    read_frame,
    refusal,
    repeated,
    shown,
    view_title,
)
from ._rows import missing_rows

__all__ = ["align", "check_views", "from_anndata"]

Join = Literal["outer", "inner"]


class NamedViews(NamedTuple):
    """Validated views and their names.

    Attributes
    ----------
    arrays : list of ndarray or csr_matrix of shape (n_samples, n_features_i)
    names : list
        Keys of a mapping, else 0, 1, ...
    columns : list of (list of str or None)
        Names of the columns of each data frame, if all of them are strings; None for other views.
    listed : bool
        False if a single matrix was given.
    """

    arrays: list
    names: list
    columns: list
    listed: bool


def check_views(views: Views, *, ensure_min_samples: int = 2, missing: bool = False) -> list[Any]:
    """Validate multi-view features.

    Parameters
    ----------
    views : list, tuple, dict or generator of array-like, sparse matrix, data frame or AnnData
        One matrix of shape (n_samples, n_features_i) for each view, all with the same samples in
        the same order; the keys of a dict name the views in messages. The indexes of pandas frames
        must agree (see `align`). A single matrix (array, sparse matrix or data frame) is one view.
        ``X`` of AnnData is read, and MuData is a dict of its modalities (see `from_anndata`).
    ensure_min_samples : int, default=2
    missing : bool, default=False
        Whether cells may be NaN, as in the rows of samples without that view. Sparse views may have
        rows that are NaN as a whole, and then become dense.

    Returns
    -------
    list of ndarray or csr_matrix
        Views as float32 if all of them are float32, else as float64, and C-contiguous. Views that
        are given in this form are not copied.

    Raises
    ------
    ValueError
        If the list is empty, views have different numbers of samples or different ids, entries
        are infinite, NaN without ``missing``, or not real numbers, a sample is missing in all
        views, or there are fewer samples than ``ensure_min_samples``.
    """
    return named_views(views, ensure_min_samples=ensure_min_samples, missing=missing).arrays


def named_views(views, *, ensure_min_samples=2, missing=False):
    """Validate views as `check_views` does, and return the names of views and columns too.

    Returns
    -------
    NamedViews
    """
    given, listed = _listed(views)
    names = [name for name, _ in given]
    titles = [view_title(name) for name in names] if listed else ["X"]
    read = [_read(X, title) for (_, X), title in zip(given, titles, strict=True)]
    indexed = [
        (frame.index, title)
        for frame, title in zip(read, titles, strict=True)
        if frame.index is not None
    ]
    for index, title in indexed[1:]:
        check_same_index(indexed[0][0], index, title, indexed[0][1])
    if indexed and len(twice := repeated(indexed[0][0])):
        warn_user(
            f"ids occur more than once in the index of {indexed[0][1]}, and their rows are "
            f"treated as different samples: {shown(*twice)}"
        )
    arrays = []
    for frame, title in zip(read, titles, strict=True):
        X = _numeric(frame, title, ensure_min_samples)
        if X.shape[0] != (arrays or [X])[0].shape[0]:
            raise ValueError(
                f"{title} has {X.shape[0]} samples, {titles[0]} has {arrays[0].shape[0]}: "
                "every view must describe the same samples"
            )
        arrays.append(_finite(X, title, frame.columns, missing))
    dtype = np.result_type(*(X.dtype for X in arrays))
    arrays = [X.astype(dtype, copy=False) for X in arrays]
    if missing:
        _check_presence(arrays, titles, ensure_min_samples)
    return NamedViews(arrays, names, [_names_of(frame.columns) for frame in read], listed)


class _Matrix(NamedTuple):
    """A view without ids and names of columns."""

    values: object
    columns: None = None
    index: None = None  # type: ignore[assignment]


def _listed(views):
    """The pairs (name, matrix) of all views, and False if a single matrix was given."""
    first = views[0] if isinstance(views, (list, tuple)) and len(views) else views
    if isinstance(first, (str, bytes, PathLike)):
        raise ValueError(
            f"got {first[:40] if isinstance(first, (str, bytes)) else first!r} instead of a view: "
            "read files first, for example with numpy.load or pandas.read_csv, and convert text to "
            "numbers (TfidfVectorizer of scikit-learn)"
        )
    if scipy.sparse.issparse(views):  # some are mappings
        return [(0, views)], False
    views = unpacked(views)
    if isinstance(views, Mapping):
        if not views:
            raise ValueError("the dict of views is empty: pass at least one feature matrix")
        return list(views.items()), True
    if isinstance(views, (Iterator, ValuesView)):
        views = list(views)
        if views and not any(map(_is_matrix, views)):
            raise ValueError("the iterable yields no matrices: every view must be 2-D")
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
    elif getattr(views, "ndim", 2) == 3:
        raise ValueError(
            f"got one array of shape {views.shape}: pass a list of (n_samples, n_features) "
            'arrays, or affinity="precomputed" for a stack of similarity matrices'
        )
    return [(0, views)], False


def _is_matrix(X):
    if X is None or isinstance(X, (str, bytes, Number)):
        return False
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and isinstance(X[0], (list, tuple, np.ndarray))
    return scipy.sparse.issparse(X) or is_frame(X) or not _is_array(X) or np.ndim(X) >= 2


def _is_array(X):
    """Whether X supports conversion by NumPy, which treats other objects as nested sequences."""
    return any(hasattr(X, name) for name in ("__array__", "__array_interface__", "__buffer__"))


def _read(X, title):
    """A view as a `Frame` or `_Matrix`; raise ValueError if it is not a table."""
    if X is None:
        raise ValueError(
            f"{title} is None: remove it, or pass rows of NaN for the samples that lack this view"
        )
    if isinstance(X, (str, bytes)):
        raise ValueError(f"{title} is the string {X[:40]!r}: pass a matrix")
    if is_frame(X):
        return read_frame(X, title)
    if is_anndata(X):
        return read_anndata(X, title)
    if not (isinstance(X, (list, tuple)) or scipy.sparse.issparse(X) or _is_array(X)):
        raise ValueError(
            f"{title} is of type {type(X).__name__}: pass an array, a sparse matrix, a data frame "
            "or an AnnData object"
        )
    if isinstance(X, (list, tuple)) and len(X) and all(isinstance(x, str) for x in X):
        raise ValueError(refusal(title, "text"))
    for part in X if isinstance(X, (list, tuple)) else [X]:
        check_container(part, title)
    if isinstance(X, np.ndarray) and X.dtype.kind in "USmM":
        raise ValueError(refusal(title, "text" if X.dtype.kind in "US" else "dates"))
    return _Matrix(X)


def _numeric(frame, title, ensure_min_samples):
    """The matrix in float32 or float64, not yet known to be finite."""
    X = frame.values
    if scipy.sparse.issparse(X) and X.ndim == 2:
        X = checked_csr(X, title)
    elif not hasattr(X, "__array_function__"):
        X = np.asarray(X)
    if X.ndim == 1:
        raise ValueError(
            f"{title} is a 1D array of {X.shape[0]} entries, but every view must be 2D. Reshape "
            "your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample; "
            "omit labels, which are not a view"
        )
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {title} has dtype {X.dtype}")
    if X.dtype == object or X.dtype.kind in "US":
        X = _from_objects(X, title)
    return check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=ensure_min_samples,
        input_name=title,
    )


def _from_objects(X, title):
    """Convert objects or text to float64; raise ValueError with the column if this fails."""
    for j, column in enumerate(X.T if X.ndim == 2 else [X.ravel()]):
        check_objects(column, title, j)
    return X.astype(np.float64)


def _finite(X, title, columns, missing):
    """X, with finite entries only, or also NaN if views may have ``missing`` entries."""
    sparse = scipy.sparse.issparse(X)
    if are_finite(X.data if sparse else X):
        return X
    rows = missing_rows(X)
    if missing and sparse and rows.any():
        check_memory(X.shape[0] * X.shape[1] * X.dtype.itemsize, f"{title} as a dense matrix")
        X, sparse = X.toarray(), False
    if missing and not sparse:
        check_finite(np.nan_to_num(X, posinf=np.inf, neginf=-np.inf), title, columns)
        return X
    if rows.any():
        which = np.flatnonzero(rows)
        raise ValueError(
            f"{title} is NaN in most of {counted(len(which), 'row')} (the first is row "
            f"{which[0]}): ConsensusTLRR supports samples that lack a view; otherwise impute or "
            "remove these rows"
        )
    check_finite(X, title, columns)
    return X


def _check_presence(arrays, titles, ensure_min_samples):
    """Raise if a sample is missing in all views, or a view has too few samples."""
    rows = np.array([missing_rows(X) for X in arrays])
    if not rows.any():
        return
    lost = np.flatnonzero(rows.all(axis=0))
    if len(lost):
        raise ValueError(
            f"every view lacks {counted(len(lost), 'sample')} (rows {shown(*lost)}): remove them"
        )
    left = (~rows).sum(axis=1)
    if left.min() < ensure_min_samples > 1:
        i = int(left.argmin())
        raise ValueError(f"{titles[i]} has only {counted(left[i], 'row')} without NaN: remove it")


def _names_of(columns):
    """Names of the columns if all of them are strings, as in scikit-learn, else None."""
    named = columns is not None and all(isinstance(name, str) for name in columns)
    return list(columns) if named else None


def align(frames: Frames, join: Join = "outer") -> Frames:
    """Align data frames by their ids, so that they have the same rows in the same order.

    Parameters
    ----------
    frames : list or dict of pandas.DataFrame
        The views. Their index contains the ids of the samples, each once
        (``frame.set_index("id")``).
    join : {"outer", "inner"}, default="outer"
        "outer" keeps the samples of all frames, with a row of NaN in the frames that lack a
        sample, as `ConsensusTLRR` accepts them; "inner" keeps the samples that every frame has.

    Returns
    -------
    list or dict of pandas.DataFrame
        Frames whose rows are in the order of the first frame, followed by the samples that it
        lacks.

    Raises
    ------
    ValueError
        If a frame has no index, an id occurs more than once in it, or a frame shares no id with
        the others.

    Examples
    --------
    >>> import pandas as pd
    >>> from mvsc_fast.views import align
    >>> a = pd.DataFrame({"x": [1.0, 2.0]}, index=["s", "t"])
    >>> b = pd.DataFrame({"y": [3.0, 4.0]}, index=["t", "u"])
    >>> align([a, b])[1]["y"].tolist()
    [nan, 3.0, 4.0]
    >>> align({"a": a, "b": b}, join="inner")["a"].index.tolist()
    ['t']
    """
    check_option(join, "join", get_args(Join))
    given, listed = _listed(frames)
    if not listed:
        raise ValueError("align takes a list or a dict of data frames")
    for name, frame in given:
        title = view_title(name)
        if not hasattr(frame, "reindex"):
            raise ValueError(
                f"{title} is not a pandas DataFrame and has no ids to align by: "
                'convert other data frames with frame.to_pandas().set_index("id")'
            )
        if len(twice := repeated(frame.index)):
            raise ValueError(f"ids occur more than once in {title}: {shown(*twice)}")
    index = given[0][1].index
    for name, frame in given[1:]:
        common = index[index.isin(frame.index)]
        if len(common) == 0:
            raise ValueError(
                f"{view_title(name)} (ids {shown(*frame.index)}) shares no id with the views "
                f"before it ({shown(*index)}): check that the ids have the same form"
            )
        new = frame.index[~frame.index.isin(index)]
        index = common if join == "inner" else index.append(new)
    aligned = {name: frame.reindex(index) for name, frame in given}
    as_given = aligned if isinstance(frames, Mapping) else list(aligned.values())
    return as_given  # type: ignore[return-value]
