"""Validation of views, which may be given in any common form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from .._utils.messages import counted
from .._utils.parameters import InvalidParameterError, check_flag, check_option
from .._utils.types import Frames, View, Views
from .._utils.validation import check_finite, index_of
from ._anndata import from_anndata, is_anndata
from ._facts import check_facts, summarise
from ._frames import check_same_index, is_sparse_frame, repeated, shown, view_title
from ._read import listed_views, read_view, read_views
from ._row_source import RowSource, check_matrix, is_dask, is_stored
from ._rows import missing_rows, zero_or_missing_rows
from ._scaling import fit_scalings, scaled

__all__ = ["align", "check_views", "from_anndata", "missing"]

Join = Literal["outer", "inner"]
ABOUT = ("titles", "names", "columns", "index", "listed")  # attributes besides the rows


def check_views(views: Views, *, missing: bool = False) -> list[Any]:
    """Validate multi-view features.

    Parameters
    ----------
    views : list, tuple, dict or generator of array-like, sparse matrix, data frame or AnnData
        One matrix of shape (n_samples, n_features_i) for each view, all with the same samples in
        the same order; the keys of a dict name the views in messages. The indexes of pandas frames
        must agree (see `align`). A single matrix (array, sparse matrix or data frame) is one view.
        ``X`` of AnnData is read, and MuData is a dict of its modalities (see `from_anndata`).
    missing : bool, default=False
        Whether cells may be NaN, as in the rows of samples without that view. Sparse views may have
        rows that store NaN and nothing else, see `missing`.

    Returns
    -------
    list of ndarray or csr_matrix
        Views as float32 if all of them are float32, else as float64, and C-contiguous. Views that
        are given in this form are not copied.

    Raises
    ------
    ValueError
        If the list is empty, views have different numbers of samples or different ids, entries
        are infinite, NaN without ``missing``, or not real numbers, or there are fewer than two
        samples.
    """
    check_flag(missing, "missing")
    return loaded(read_views(views), missing=missing).views


def loaded(source, *, missing=False):
    """A `RowSource` with all rows in memory, validated as by `check_views`."""
    # What was stored elsewhere is checked after it was read, as everything else.
    memory = RowSource(source.load(), **{name: getattr(source, name) for name in ABOUT})
    memory.facts = facts = summarise(0, memory.views)
    for i, X in enumerate([] if missing else memory.views):
        # Whole missing rows are told apart from single missing cells, because the remedy differs.
        if n_missing := facts.n_missing[i]:
            raise ValueError(
                f"{memory.titles[i]} is NaN in most of {counted(n_missing, 'row')} (the first is "
                f"row {missing_rows(X).argmax()}): ConsensusTLRR supports samples without a view, "
                "otherwise impute or remove these rows"
            )
        if facts.is_partial[i] or facts.largest[i] == np.inf:
            check_finite(X, memory.titles[i], memory.columns[i])
    check_facts(facts, memory.titles, memory.columns)
    return memory


def scaled_views(views):
    """Views as by `check_views`, of whose entries all squares can be represented."""
    source = loaded(read_views(views))
    return scaled(source.views, fit_scalings(source, None, source.facts))


def align(frames: Frames, join: Join = "outer") -> Frames:
    """Align views by their ids, so that they have the same rows in the same order.

    Parameters
    ----------
    frames : list or dict of pandas.DataFrame or AnnData
        The views; of AnnData, ``X`` is used. Their index, or ``obs_names``, contains the ids of the
        samples, each once (``frame.set_index("id")``).
    join : {"outer", "inner"}, default="outer"
        "outer" keeps the samples of all views, with a row of NaN in the views that lack a
        sample, as `ConsensusTLRR` accepts them (of frames with sparse columns, as `missing` returns
        it); "inner" keeps the samples that every view has.

    Returns
    -------
    list or dict of pandas.DataFrame
        Data frames whose rows are in the order of the first view, followed by the samples that it
        lacks.

    Raises
    ------
    ValueError
        If a view or a row has no id, an id occurs more than once in a view, or a view shares no id
        with those before it.

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
    tables = {
        name: from_anndata(table, use=["X"])["X"] if is_anndata(table) else table
        for name, table in listed_views(frames)[0]
    }
    # Rows can only be matched by ids that every row has, and has alone.
    for name, frame in tables.items():
        if not hasattr(frame, "reindex") or frame.ndim != 2:
            raise InvalidParameterError(
                f"{view_title(name)} is neither a pandas DataFrame nor AnnData"
            )
        if len(duplicates := repeated(frame.index)) or frame.index.to_frame().isna().any(axis=None):
            raise ValueError(
                f"rows of {view_title(name)} need one id each, but ids are missing or occur more "
                f"than once: {shown(*duplicates) or 'NaN'}"
            )
    # The order is that of the first view; others append the ids that are new.
    indexes = [frame.index for frame in tables.values()]
    index = indexes[0]
    for other, name in zip(indexes[1:], list(tables)[1:], strict=True):
        if index.dtype != other.dtype:  # a common type may not have all ids
            index, other = index.astype(object), other.astype(object)
        if not index.isin(other).any():
            raise ValueError(
                f"{view_title(name)} (ids {shown(*other)}) shares no id with the views before it "
                f"({shown(*index)}): check that the ids have the same form"
            )
        # Not by operations on sets, such as union, which sort some indexes.
        is_new = ~other.isin(index)
        index = index.append(other[is_new]) if join == "outer" else index[index.isin(other)]
    aligned = {name: _reindexed(frame, index) for name, frame in tables.items()}
    as_given = aligned if isinstance(frames, Mapping) else list(aligned.values())
    return as_given  # type: ignore[return-value]


def _reindexed(frame, index):
    """The rows of a frame for an index; those of samples that it lacks are missing."""
    if not is_sparse_frame(frame):
        return frame.reindex(index)
    # reindex would fill sparse columns with their zeros, which are no gaps.
    positions = frame.index.get_indexer(index)  # -1 for absent samples, whose rows are replaced
    return missing(frame.iloc[positions].set_axis(index), positions < 0)


def missing(X: View, mask: ArrayLike | None = None) -> Any:
    """Make rows of a view missing, as for samples in which nothing was measured.

    Parameters
    ----------
    X : array-like, sparse matrix or pandas.DataFrame of shape (n_samples, n_features)
        A view in memory.
    mask : array-like of bool of shape (n_samples,), optional
        Which rows are missing. None marks the rows that are all zero, such as those of empty texts
        in the result of a vectorizer.

    Returns
    -------
    ndarray, sparse matrix or pandas.DataFrame
        A copy of X with rows of NaN, in which integers are floats. A sparse matrix, in format csr,
        or a data frame with sparse columns stores a single NaN in the first column of these rows,
        which marks the whole row, and nothing else.

    Raises
    ------
    ValueError
        If X is not in memory, or the mask is not one boolean for each row.

    See Also
    --------
    align : Views of different samples, with missing rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mvsc_fast.views import missing
    >>> missing([[1, 2], [3, 4]], [False, True])
    array([[ 1.,  2.],
           [nan, nan]])
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> step = FunctionTransformer(missing, feature_names_out="one-to-one")
    >>> model = make_pipeline(TfidfVectorizer(), step)
    >>> model.fit_transform(["a good shop", "", "good"]).toarray()[:, 0]
    array([0.60534851,        nan, 1.        ])
    """
    frame: Any = X
    values = read_view(X, "X").values
    check_matrix(values, "X")
    if is_dask(values) or is_stored(values):
        raise ValueError(f"X is a {type(X).__name__}: write NaN into rows of views in files")
    values = values.astype(np.result_type(values.dtype, np.float32), copy=False)
    if hasattr(X, "iloc") and (mask_index := index_of(mask)) is not None:
        check_same_index(frame.index, mask_index, "mask", "X")
    if mask is None:
        mask = zero_or_missing_rows(values) & ~missing_rows(values)
    rows = np.asarray(mask)
    if rows.dtype != bool or rows.shape != values.shape[:1]:
        raise InvalidParameterError(
            f"mask must be one boolean for each of {counted(values.shape[0], 'row')}, got "
            f"{rows.dtype} of shape {rows.shape}"
        )
    # A sparse view marks a row by one NaN, as it would else be dense: that of a row below it.
    if scipy.sparse.issparse(values):
        n, d = values.shape
        below = scipy.sparse.csr_array(([np.nan], ([0], [0])), shape=(1, d), dtype=values.dtype)
        stacked = scipy.sparse.vstack([values, below], format="csr")
        values = stacked[np.where(rows, n, np.arange(n))]
    else:
        values = np.where(rows[:, None], values.dtype.type(np.nan), values)
    if not (hasattr(X, "columns") and hasattr(X, "index")):
        return values
    make = type(frame).sparse.from_spmatrix if scipy.sparse.issparse(values) else type(frame)
    return make(values, index=frame.index, columns=frame.columns)
