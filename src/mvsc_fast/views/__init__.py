"""Validation of views, which may be given in any common form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from .._utils.messages import counted
from .._utils.parameters import InvalidParameterError, check_flag, check_option
from .._utils.types import Frames, Views
from .._utils.validation import check_finite
from ._anndata import from_anndata, is_anndata
from ._facts import refuse, summarise
from ._frames import is_sparse_frame, repeated, shown, view_title
from ._missing import missing
from ._read import listed_views, read_views
from ._row_source import RowSource
from ._rows import missing_rows
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
    """A `RowSource` with all rows in memory, validated as by `check_views`, and their `Summary`."""
    memory = RowSource(source.load(), **{name: getattr(source, name) for name in ABOUT})
    memory.summary = summary = summarise(0, memory.views)
    if missing:
        refuse(summary.bad, memory.titles, memory.columns)
        return memory
    # Whole missing rows are told apart from single missing cells, because the remedy differs.
    for X, facts, title, columns in zip(
        memory, summary.views, memory.titles, memory.columns, strict=True
    ):
        if not (facts.n_missing or facts.is_partial or facts.entry == np.inf):
            continue
        rows = np.flatnonzero(missing_rows(X))
        if len(rows):
            raise ValueError(
                f"{title} is NaN in most of {counted(len(rows), 'row')} (the first is row "
                f"{rows[0]}): ConsensusTLRR supports samples that lack a view; otherwise impute or "
                "remove these rows"
            )
        check_finite(X, title, columns)
    return memory


def scaled_views(views):
    """Validated views whose squares can be represented, see `fit_scalings`."""
    source = loaded(read_views(views))
    return scaled(source.views, fit_scalings(source, None, source.summary.views))


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
        with the others.

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
    named_frames, listed = listed_views(frames)
    if not listed:
        raise InvalidParameterError("align takes a list or a dict of data frames or AnnData")
    named_frames = [
        (name, from_anndata(table, use=["X"])["X"] if is_anndata(table) else table)
        for name, table in named_frames
    ]
    # Every view needs ids, and each id once, or rows could not be matched.
    for name, frame in named_frames:
        title = view_title(name)
        if not hasattr(frame, "reindex") or frame.ndim != 2:
            raise ValueError(
                f"{title} is neither a pandas DataFrame nor AnnData, and has no ids to align by: "
                'convert other data frames with frame.to_pandas().set_index("id")'
            )
        if n_unknown := len(frame.index) - len(frame.index.dropna()):
            raise ValueError(f"{title} has {counted(n_unknown, 'row')} without an id: remove them")
        if len(duplicates := repeated(frame.index)):
            raise ValueError(f"ids occur more than once in {title}: {shown(*duplicates)}")
    # The order is that of the first view; others append the ids that are new.
    index = named_frames[0][1].index
    for name, frame in named_frames[1:]:
        common = index[index.isin(frame.index)]
        if len(common) == 0:
            raise ValueError(
                f"{view_title(name)} (ids {shown(*frame.index)}) shares no id with the views "
                f"before it ({shown(*index)}): check that the ids have the same form"
            )
        new = frame.index[~frame.index.isin(index)]
        index = common if join == "inner" else index.append(new)
    aligned = {name: _reindexed(frame, index) for name, frame in named_frames}
    as_given = aligned if isinstance(frames, Mapping) else list(aligned.values())
    return as_given  # type: ignore[return-value]


def _reindexed(frame, index):
    """The rows of a frame for an index; those of samples that it lacks are missing."""
    if not is_sparse_frame(frame):
        return frame.reindex(index)
    # reindex would fill sparse columns with their zeros, which are no gaps.
    positions = frame.index.get_indexer(index)  # -1 for absent samples, whose rows are replaced
    return missing(frame.iloc[positions].set_axis(index), positions < 0)
