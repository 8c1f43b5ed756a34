"""Reading of multi-view data from tables and arrays for the command line."""

import functools
import io
import os
import re
import sys
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..datasets._arrays import SUFFIXES, read_arrays
from ..views._frames import shown
from ..views._square import matrix_doubt
from ._cells import CELLS, cells_kind, columns_of, read_cells
from ._features import (
    check_exclusions,
    check_hidden_ids,
    check_numbers,
    features,
    model_columns,
    select,
    values_for,
    with_ids,
)
from ._matching import ANY, View, matched
from ._notation import Notation
from ._orientation import check_orientation
from ._orientation import transpose as transposed
from ._tables import EXCEL, PACKED, PARQUET, TEXT, Table, read_table

KNOWN = (
    ".npz, .mat, .h5, .zarr, .h5ad, .h5mu, a folder with matrix.mtx, or a .csv, .tsv, .txt (.gz), "
    ".parquet, .xlsx or .npy of each view"
)
ALONE = (*SUFFIXES, *CELLS)  # files that contain all views
ALL, NONE = "*", "none"  # of --transpose: all files, or none, so that rows of arrays are samples
STDIN, STDIN_NAME = "-", "standard input"


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


class Fitted(NamedTuple):
    """What a model knows of the files that it was fitted to."""

    id_name: str
    names: list  # of the views whose files are given
    columns: dict  # names of the columns of each view, or None, by the name of the view
    n_features: dict  # of each view, by its name; empty in old models


def load_data(
    paths,
    *,
    id_column=None,
    columns=None,
    join=None,
    transpose=(),
    samples=None,
    header=True,
    decimal=None,
    thousands=None,
    use=None,
    arrays=None,
    truth=None,
    lazy=False,
    square=False,
    fitted=None,
):
    """The `Data` of one file with all views, or one file for each view; "-" is the standard input.

    The parameters are the options of the command line; ``id_column``, ``columns``, ``decimal`` and
    ``thousands`` are lists of texts, which may begin with the name of a file. ``arrays`` and
    ``truth`` are the names of the variables that are views and labels. ``lazy`` leaves arrays on
    disk, to be read in blocks, and ``square`` files contain similarities. For new samples,
    ``fitted`` is the `Fitted` of a model.
    """
    paths = [path if path == STDIN else Path(path) for path in paths]
    if not paths:
        raise ValueError("no file was given")
    kinds = {path: file_kind(path) for path in paths}
    if len(kinds) < len(paths):
        raise ValueError(f"{', '.join(map(shown_name, paths))}: a file is given more than once")
    present = [path for path in kinds if path != STDIN and path.exists()]
    for path, other in combinations(present, 2):
        if path.samefile(other):
            raise ValueError(f"{path} and {other} are the same file: pass it once")
    to_turn = _transposed(paths, transpose)
    tables_only = {"--id-column": id_column, "--columns": columns, "--no-header": not header}
    tables_only |= {"--decimal": decimal, "--thousands": thousands, "--samples": samples}
    _check_options(kinds, tables_only, to_turn, use, {"--views": arrays, "--truth": truth})
    if any(kind in ALONE for kind in kinds.values()):
        options = {"views": arrays, "truth": truth, "fit": fitted.n_features if fitted else None}
        options["transpose"] = True if to_turn else False if NONE in transpose else None
        return _whole(paths, kinds, join, use, lazy, options)

    # Each file is read once, also if several views are columns of it.
    names = {path: shown_name(path) for path in paths}
    id_columns, contents = {}, {}
    for path, kind in kinds.items():
        id_columns[path], *marks = (
            _value_for(names[path], option, values, names.values())
            for option, values in (
                ("--id-column", id_column),
                ("--decimal", decimal),
                ("--thousands", thousands),
            )
        )
        keep = {id_columns[path] or "", fitted.id_name if fitted else ""} - {""}
        options = {"notation": Notation(*marks), "header": header, "keep": keep}
        contents[path] = naming(path, read_file, path, kind, lazy, options)
    tables = {path: table for path, table in contents.items() if isinstance(table, Table)}
    for path in tables if len(paths) > 1 else ():
        tables[path].prefix = f"{names[path]}:"
    tables = _with_samples(tables, id_columns, to_turn, samples, fitted)

    # Views are columns of tables, or arrays as they are.
    if fitted:
        pairs = list(zip(paths * (len(fitted.names) // len(paths)), fitted.names, strict=True))
    else:
        pairs = _selections(columns, names, tables)
    views = []
    for path, selection in pairs:
        if path in tables:
            titles = fitted.columns if fitted else None
            views.append(naming(path, _view, tables[path], selection, square, titles))
        else:
            views.append(contents[path])
    view_names = _distinct_names([path for path, _ in pairs], [part for _, part in pairs])

    # Rows of the views correspond by id, or else by position.
    matrices, ids, notes = matched(views, join, square)
    notes = _merged([note for table in tables.values() for note in table.notes]) + notes
    id_name = next((view.id_name for view in views if view.id_name), "sample")
    frames = {}
    for name, X, view in zip(view_names, matrices, views, strict=True):
        if square and (doubt := matrix_doubt(X)):
            raise ValueError(f"{view.name} {doubt}")
        frames[name] = as_frame(X, None if square else view.columns, ids, id_name)
    titles = [view.columns for view in views]
    one_table = len(names) < len(views)
    return Data(frames, None, ids, id_name, list(dict.fromkeys(notes)), titles, one_table)


# ----------------------------------------------------------------------------------------- tables


def _value_for(name, option, values, names):
    """The value of an option for one file, else that for all files, else None."""
    for_name, for_all = values_for(name, values, names)
    chosen = for_name or for_all or [None]
    if len(chosen) > 1:
        raise ValueError(f"{option} is given twice for {name}: {shown(*chosen)}")
    return chosen[0]


def _with_samples(tables, id_columns, to_turn, samples, fitted):
    """The tables with samples as rows, and their ids."""
    if samples is not None and not to_turn:
        raise ValueError("--samples selects columns, and needs --transpose")
    # Tables with samples in rows come first, because their ids tell the columns that are samples.
    headers = {path: set(tables[path].names.values()) for path in tables if path in to_turn}
    oriented, known_ids = {}, set()
    for path in [path for path in tables if path not in headers]:
        table, option = tables[path], id_columns[path]
        if option is None and fitted and fitted.id_name in table.names.values():
            option = fitted.id_name
        oriented[path] = naming(path, with_ids, table, option)
        known_ids.update(oriented[path].ids or ())
        if option is None:
            check_orientation(oriented[path])
    for path in headers:
        titles = {title for other in headers if other != path for title in headers[other]}
        oriented[path] = naming(path, transposed, tables[path], known_ids, titles, samples)
        check_orientation(oriented[path])
    oriented = {path: oriented[path] for path in tables}
    check_hidden_ids(list(oriented.values()))
    return oriented


def _merged(notes):
    """Notes, those that say the same of the ids of several files as one."""
    merged = {}
    for note in notes:
        what, of, name = note.rpartition(" of ")
        key = what if note.startswith("ids are ") else note
        merged[key] = f"{merged[key]}, {name}" if key in merged and of else note
    return list(merged.values())


def _selections(columns, names, tables):
    """The file of each view, and what --columns says of it."""
    for_one, for_all = {}, []
    for path, name in names.items():
        for_one[path], for_all = values_for(name, columns, names.values())
        for text in for_one[path]:
            select(tables[path].names, text, name)
    check_exclusions(for_all, list(tables.values()))
    selecting = [text for text in for_all if re.search(r"(?:^|,)\s*[^!\s]", text)]
    if len(names) == 1 < len(selecting):  # views of one table
        (path,) = names
        rest = [text for text in for_all if text not in selecting]
        return [(path, [text, *for_one[path], *rest]) for text in selecting]
    return [(path, [*for_all, *for_one[path]]) for path in names]


def _view(table, selection, square, fitted):
    """The `View` of a table.

    ``selection`` are texts of --columns, or a view of a model with the ``fitted`` columns by view.
    """
    if fitted:
        columns = model_columns(table, selection, fitted)
    elif square:
        columns = _square_columns(table)
    else:
        columns = features(table, selection)
    X = table.matrix(columns)
    check_numbers(table, columns, X)
    names = list(map(table.label, columns))
    return View(table.name, X, table.ids, table.id_name if table.ids else "", names)


def _square_columns(table):
    """The columns of similarities in the order of the rows, by their ids."""
    columns, names = list(table.cells), table.names
    if table.ids is None or not any(names[k] for k in columns):
        return columns
    positions = {names[k]: k for k in columns}
    if positions.keys() != set(table.ids) or len(positions) < len(columns):
        extra = [name for name in positions if name not in set(table.ids)]
        extra += [text for text in table.ids if text not in positions]
        raise ValueError(
            f"{table.name}: its rows and columns do not have the same ids ({shown(*extra)}), as "
            "similarities must"
        )
    return [positions[text] for text in table.ids]


def as_frame(X, columns, ids, id_name):
    """A data frame of the columns of a table, or an array as it is."""
    if columns is None:
        return X
    import pandas

    index = None if ids is None else pandas.Index(ids, name=id_name)
    return pandas.DataFrame(X, columns=columns, index=index)


# ------------------------------------------------------------------------------------------ files


def shown_name(path):
    """The name of a file as text that can be displayed everywhere."""
    return STDIN_NAME if path == STDIN else os.fsencode(str(path)).decode("utf-8", "replace")


def _unpacked(path):
    """A path without .gz and the like."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def file_kind(path):
    """The suffix of a path, without .gz."""
    if path == STDIN:
        return STDIN
    if kind := naming(path, cells_kind, path):
        return kind
    suffix = _unpacked(path).suffix.lower()
    if suffix in TEXT or path.suffix.lower() == suffix in (".npy", *ALONE, *EXCEL, *PARQUET):
        return suffix
    what = "is a folder" if path.is_dir() else "has an unknown file type"
    raise ValueError(f"{path} {what}, expected {KNOWN}")


def _check_options(kinds, tables_only, to_turn, use, arrays_only):
    """Raise ValueError if an option would be ignored, because it is for other files."""
    others = [path for path, kind in kinds.items() if kind in (".npy", *ALONE)]
    stores = {path for path, kind in kinds.items() if kind in SUFFIXES}
    for option, value in tables_only.items():
        if value and len(others) == len(kinds):
            raise ValueError(f"{option} is for tables, but {others[0]} is none")
    if to_turn & set(others) - stores:
        raise ValueError(f"--transpose is for tables and arrays, but {others[0]} is none of them")
    if use is not None and not set(CELLS) & set(kinds.values()):
        raise ValueError("--use is for .h5ad and .h5mu, but there is no such file")
    for option, value in arrays_only.items():
        if value is not None and not stores:
            raise ValueError(f"{option} is for {', '.join(SUFFIXES)}, but there is no such file")


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


def read_file(path, kind, lazy, options):
    """The `Table` of a file or of the standard input, or the `View` of an array."""
    name = shown_name(path)
    if kind == ".npy":
        return _array(name, path, mmap_mode="r" if lazy else None)
    if kind != STDIN:
        return read_table(path, name, kind, **options)
    if sys.stdin is None:
        raise ValueError("it is closed")
    content = sys.stdin.buffer.read()
    if content.startswith(b"\x93NUMPY"):
        return _array(name, io.BytesIO(content))
    return read_table(content, name, kind, **options)


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


def _distinct_names(paths, selections):
    """A name for each view: the shortest distinct part of its path."""
    for part in (lambda path: _unpacked(path).stem, lambda path: path.name, str):
        names = [path if path == STDIN else shown_name(part(path)) for path in paths]
        if len(set(names)) == len(names):
            return names
    if len(set(paths)) == 1 and len(set(map(str, selections))) == len(selections):
        return [str(selection[0]) for selection in selections]
    raise ValueError(f"{', '.join(map(shown_name, paths))}: a file is given more than once")
