"""Reading of multi-view data from tables and arrays for the command line."""

import functools
import io
import os
import sys
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._utils.messages import counted
from ..datasets._arrays import SUFFIXES, read_arrays
from ..views._frames import shown
from ._cells import CELLS, cells_kind, columns_of, read_cells
from ._columns import LABEL, check_exclusions, check_numbers, features, selected
from ._ids import Column, check_alike, check_distinct, find_ids
from ._matching import ANY, View, matched
from ._scratch import taken
from ._tables import ALL, PARQUET, Table, is_missing, parquet_table, table_of
from ._text import EXCEL, TEXT, excel_rows, text_rows

KNOWN = (
    ".npz, .mat, .h5, .zarr, .h5ad, .h5mu, a folder with matrix.mtx, or a .csv, .tsv, .txt (.gz), "
    ".parquet, .xlsx or .npy of each view"
)
ALONE = (*SUFFIXES, *CELLS)  # files that contain all views
STDIN, STDIN_NAME = "-", "standard input"
NONE = "none"  # of --transpose: rows are samples


class Data(NamedTuple):
    """The views of one data set."""

    views: dict  # of shape (n_samples, n_features_i), by the name of the file or of the array
    y: np.ndarray | None  # labels that the file contains
    ids: np.ndarray | None = None
    id_name: str = "sample"  # the name of the column with the ids
    notes: list = []  # decisions of the reader, such as the columns of ids
    columns: list = []  # names of the columns of each view, or None
    one_table: bool = False  # whether all views are columns of one table
    cells: Any = None  # the AnnData or MuData object of a file, or a dict of several


def load_data(
    paths,
    *,
    id_column="auto",
    id_name=None,
    columns=None,
    join=None,
    transpose=(),
    use=None,
    arrays=None,
    truth=None,
    fit=None,
    lazy=False,
):
    """The `Data` of one file with all views, or one file for each view; "-" is the standard input.

    The parameters are the options of the command line; ``columns`` is a list with a text, a list of
    names or None for all files, for each file, or for each of several views of one table.
    ``id_name`` is the column of ids if all files have it and ``id_column`` is "auto". If the ids of
    files differ, ``join`` "inner" keeps the samples of all tables, "outer" and "any" those of any
    table, with rows of NaN. ``arrays`` and ``truth`` are the names of the variables of a file of
    arrays that are views and labels; ``fit`` has the numbers of features of the views of a model,
    by name. ``lazy`` leaves arrays on disk, to be read in blocks.
    """
    paths = [path if path == STDIN else Path(path) for path in paths]
    if not paths:
        raise ValueError("no file was given")
    kinds = {path: _kind(path) for path in paths}
    there = [path for path in kinds if path != STDIN and path.exists()]
    for path, other in combinations(there, 2):
        if path.samefile(other):
            raise ValueError(f"{path} and {other} are the same file: pass it once")
    others = [path for path, kind in kinds.items() if kind in (".npy", *ALONE)]
    turned = _transposed(paths, transpose)
    stores = {path for path, kind in kinds.items() if kind in SUFFIXES}
    for name, wrong in (
        ("--id-column", id_column != "auto" and others),
        ("--columns", str in map(type, columns or ()) and others),
        ("--transpose", turned & set(others) - stores),
    ):
        if wrong:
            raise ValueError(f"{name} is for tables, but {min(wrong)} is none")
    if use is not None and not set(CELLS) & set(kinds.values()):
        raise ValueError("--use is for .h5ad and .h5mu, but there is no such file")
    for name, option in (("--views", arrays), ("--truth", truth)):
        if option is not None and not stores:
            raise ValueError(f"{name} is for {', '.join(SUFFIXES)}, but there is no such file")
    if any(kind in ALONE for kind in kinds.values()):
        options = {"views": arrays, "truth": truth, "fit": fit}
        options["transpose"] = True if turned else False if NONE in transpose else None
        return _whole(paths, kinds, join, use, lazy, options)
    keep = id_name if id_column == "auto" else id_column
    read = {path: naming(path, _read, path, kind, lazy, keep) for path, kind in kinds.items()}
    tables = {
        path: naming(path, one.turned) if path in turned else one
        for path, one in read.items()
        if isinstance(one, Table)
    }
    columns = _for_each(columns, paths)
    paths = paths * (len(columns) // len(paths))
    given = list(zip(paths, columns, strict=True))
    for one in {own for own in columns if isinstance(own, str)}:
        check_exclusions(one, [tables[path] for path, own in given if own == one])
    chosen = [selected(tables[path], own) if path in tables else None for path, own in given]
    named = {path: set() for path in tables}
    for path, own in zip(paths, chosen, strict=True):
        if own is not None:
            named[path] |= own.named
    if id_column == "auto" and id_name and all(id_name in one.names for one in tables.values()):
        id_column = id_name
    found, copies, notes = find_ids(list(tables.values()), id_column, list(named.values()))
    ids = dict(zip(tables, zip(found, copies, strict=True), strict=True))
    views = [
        read[path] if own is None else _view(tables[path], *ids[path], own)
        for path, own in zip(paths, chosen, strict=True)
    ]
    matrices, index, more = matched(views, join)
    notes = [note for table in tables.values() for note in table.notes] + notes + more
    id_name = next((view.id_name for view in views if view.id_name), "sample")
    framed = [
        as_frame(X, view.columns, index, id_name) for X, view in zip(matrices, views, strict=True)
    ]
    named = dict(zip(_distinct_names(paths, columns), framed, strict=True))
    names = [view.columns for view in views]
    return Data(
        named, None, index, id_name, list(dict.fromkeys(notes)), names, len(set(paths)) < len(paths)
    )


def load_labels(path, ids, n_samples):
    """Labels from a table, by the ids of the samples if there are any, and the labelled samples."""
    table = naming(Path(path), _read, Path(path), _kind(Path(path)), False, ALL)
    if isinstance(table, View):
        raise ValueError(f"{table.name}: expected a table with ids and labels")
    rows, others = table.filled, list(range(len(table.names)))
    if ids is None:
        if len(rows) != n_samples:
            raise ValueError(
                f"{table.name} has {counted(len(rows), 'label')} for "
                f"{counted(n_samples, 'sample')}, and there are no ids to match them"
            )
        samples = np.arange(n_samples)
    else:
        place = {one: sample for sample, one in enumerate(ids)}
        columns = [Column(table, k, rows) for k in others]
        column = max(columns, key=lambda one: len(one.set & place.keys()))
        if not column.set & place.keys():
            raise ValueError(f"{table.name} has no column with ids such as {shown(*ids[:2])}")
        check_distinct(column)
        others.remove(column.k)
        samples = np.array([place.get(one, -1) for one in column.keys])
        extra = sorted(column.set - place.keys() - {None})
        check_alike("the files", [one for one in ids if one not in column.set], table.name, extra)
    if len(others) != 1:
        named = [k for k in others if LABEL.fullmatch(table.names[k])]
        if len(named) != 1:
            titles = ", ".join(table.title(k) for k in (named or others)[:8])
            raise ValueError(
                f"{table.name} must have one column of labels besides the ids, but has "
                f"{titles or 'none'}"
            )
        others = named
    k = others[0]
    if k in table.words:
        labels = np.array(table.text[k], dtype=object)[rows]
        there = np.array([not is_missing(one) for one in labels.tolist()])
    else:
        labels = table.numbers[rows, k]
        there = ~np.isnan(labels)
    there &= samples >= 0
    if not there.any():
        raise ValueError(f"{table.name} has no label of these samples")
    return labels[there], samples[there]


# ------------------------------------------------------------------------------------------ files


def shown_name(path):
    """The name of a file as text that can be displayed everywhere."""
    return STDIN_NAME if path == STDIN else os.fsencode(str(path)).decode("utf-8", "replace")


def _unzipped(path):
    """A path without .gz."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def _kind(path):
    """The suffix of a path, without .gz."""
    if path == STDIN:
        return STDIN
    if kind := naming(path, cells_kind, path):
        return kind
    suffix = _unzipped(path).suffix.lower()
    if suffix in TEXT or path.suffix.lower() == suffix in (".npy", *ALONE, *EXCEL, *PARQUET):
        return suffix
    what = "is a folder" if path.is_dir() else "has an unknown file type"
    raise ValueError(f"{path} {what}, expected {KNOWN}")


def _whole(paths, kinds, join, use, lazy, options):
    """The `Data` of a file of arrays, or of files of cells; ``options`` are of `read_arrays`."""
    path = next(path for path in paths if kinds[path] in ALONE)
    if len(paths) > 1 and not set(kinds.values()) <= set(CELLS):
        raise ValueError(f"{path} contains all views: pass only this file")
    if join not in (None, ANY) and len(paths) == 1:
        raise ValueError(f"--join matches several files by ids, but {path} is the only file")
    if kinds[path] in CELLS:
        files = path if len(paths) == 1 else ", ".join(map(str, paths))
        cells, ids, views, notes = naming(files, read_cells, paths, use, lazy, join)
        columns = list(map(columns_of, views.values()))
        id_name = ids.name or "sample"
        ids = ids.to_numpy(dtype=object)
        return Data(views, None, ids, id_name, notes, columns=columns, cells=cells)
    read = functools.partial(read_arrays, lazy=lazy, **options)
    views, y, notes = naming(path, read, path)
    return Data(views, y, notes=notes, columns=[None] * len(views))


def _for_each(columns, paths):
    """The --columns option for each view."""
    columns = [None] if columns is None else list(columns)
    if len(columns) == 1:
        return columns * len(paths)
    if len(paths) not in (1, len(columns)):
        raise ValueError(f"--columns is given {len(columns)} times for {len(paths)} files")
    return columns


def _transposed(paths, transpose):
    """The files to transpose."""
    if ALL in transpose:
        return set(paths)
    named = {path if path == STDIN else Path(path) for path in transpose if path != NONE}
    if named - set(paths):
        raise ValueError(
            f"--transpose {shown_name(min(map(str, named - set(paths))))}: this is not one of the "
            "files; to transpose all files, write --transpose after them"
        )
    return named


def _read(path, kind, lazy, keep):
    """The `Table` of a file or of the standard input, or the `View` of an array."""
    name = shown_name(path)
    if kind == ".npy":
        return _array(name, path, mmap_mode="r" if lazy else None)
    if kind in PARQUET:
        return parquet_table(path, name, keep=keep, lazy=lazy)
    if kind in EXCEL:
        return table_of(name, *excel_rows(path, name), keep=keep, lazy=lazy)
    if kind == STDIN and sys.stdin is None:
        raise ValueError("it is closed")
    content = sys.stdin.buffer.read() if kind == STDIN else path.read_bytes()
    if content.startswith(b"\x93NUMPY"):
        return _array(name, io.BytesIO(content))
    return table_of(name, *text_rows(content, name), keep=keep, lazy=lazy)


def _array(name, file, mmap_mode=None):
    try:
        X = np.load(file, mmap_mode=mmap_mode, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"the array contains objects or is damaged ({error})") from error
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"expected a matrix of numbers with a row for each sample, got an array of "
            f"{X.dtype} of shape {X.shape}"
        )
    return View(name, X)


def naming(path, function, *args):
    """Call a function, and add the name of the file at ``path`` to all errors."""
    try:
        return function(*args)
    except ImportError:
        raise
    except Exception as error:  # parsers of damaged files may raise any error
        if isinstance(error, OSError) and error.filename is not None:
            raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        name = shown_name(path)
        prefix = "" if message.startswith((name, str(path))) else f"{name}: "
        raise ValueError(f"{prefix}{message}") from error


def _distinct_names(paths, columns):
    """A name for each view: the shortest distinct part of its path."""
    for part in (lambda path: _unzipped(path).stem, lambda path: path.name, str):
        names = [path if path == STDIN else shown_name(part(path)) for path in paths]
        if len(set(names)) == len(names):
            return names
    columns = [str(one) for one in columns]
    if len(set(paths)) == 1 and len(set(columns)) == len(columns):
        return columns
    raise ValueError(f"{', '.join(map(shown_name, paths))}: a file is given more than once")


# ------------------------------------------------------------------------------------------- rows


def _view(table, column, copies, selection):
    """The `View` of a table."""
    k = None if column is None else column.k
    chosen = features(table, k, selection, copies)
    rows = np.arange(len(table.rows)) if column is None else column.rows
    X = taken(table.numbers, rows, chosen)
    if not isinstance(X, np.memmap):  # else the fit checks blocks
        check_numbers(table, chosen, X, rows)
    names = list(map(table.label, chosen))
    ids = (None, "") if column is None else (column.keys, table.names[k] or "id")
    return View(table.name, X, *ids, names)


def as_frame(X, columns, ids, id_name):
    """A data frame of the columns of a table if pandas is installed, else the matrix."""
    if columns is None or isinstance(X, np.memmap):
        return X
    try:
        import pandas
    except ImportError:
        return X
    index = None if ids is None else pandas.Index(ids, name=id_name)
    return pandas.DataFrame(X, columns=columns, index=index)
