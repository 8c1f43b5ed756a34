"""Reading of multi-view data from tables, arrays and cells for the command line."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..datasets._arrays import SUFFIXES, read_arrays
from ..views._frames import shown
from ..views._square import matrix_doubt
from ._cells import CELLS, columns_of, parse_use, read_cells
from ._columns import check_cells, check_ids, check_text, feature_columns, model_columns
from ._files import ALONE, STDIN, file_kind, naming, read_file, shown_name, without_packing
from ._matching import ANY, View, match_views
from ._samples import transpose
from ._tables import Reading, Table, is_selecting, select_columns

ALL, NONE = "*", "none"  # of --transpose: all files, or none, so that rows of arrays are samples


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
    use: Any = None  # matrices of cells


class Options(NamedTuple):
    """The options of the command line that say how to read files."""

    id_column: list = []
    columns: list = []
    decimal: list = []
    header: bool = True
    transpose: list = []
    join: str | None = None
    views: str | None = None
    truth: str | None = None  # variable with the labels


def load_data(paths, options=None, *, lazy=False, square=False, fitted=None, **more):
    """The `Data` of one file with all views, or one file for each view; "-" is the standard input.

    ``options``, or ``more`` of them by name, are `Options`. ``lazy`` leaves arrays on disk, to be
    read in blocks, and ``square`` files contain similarities. For new samples, ``fitted`` is the
    `Fitted` of a model.
    """
    options = options or Options(**more)
    paths = [path if path == STDIN else Path(path) for path in paths]
    if not paths:
        raise ValueError("no file was given")
    kinds = {path: file_kind(path) for path in paths}
    real_paths = {os.path.realpath(path) for path in paths}
    if len(real_paths) < len(paths):
        raise ValueError(f"{', '.join(map(shown_name, paths))}: a file is given more than once")
    turned = _transposed_files(paths, options.transpose)
    _check_options(kinds, options, turned)
    if any(kind in ALONE for kind in kinds.values()):
        return _read_whole(paths, kinds, options, turned, lazy, fitted)

    # Each file is read once, also if several views are columns of it.
    names = {path: shown_name(path) for path in paths}
    by_file = {
        option: _split_by_file(option, getattr(options, option), names)
        for option in ("id_column", "decimal", "columns")
    }
    contents = {}
    for path, kind in kinds.items():
        reading = Reading(
            options.header,
            _single("decimal", by_file["decimal"][path], names[path]),
            _single("id-column", by_file["id_column"][path], names[path]),
            fitted.id_name if fitted else None,
            path in turned,
        )
        if reading.decimal not in (None, ".", ","):
            raise ValueError(f"--decimal {reading.decimal!r}: the decimal mark is . or ,")
        contents[path] = naming(path, read_file, path, kind, lazy, reading)
    tables = {path: table for path, table in contents.items() if isinstance(table, Table)}
    for path in tables if len(paths) > 1 else ():
        tables[path].prefix = f"{names[path]}:"
    columns = by_file["columns"]
    _check_exclusions(columns, tables)
    if fitted and any(columns.values()) and not turned:
        raise ValueError("--columns needs --transpose: the model knows the names of its columns")
    tables = _with_samples(tables, turned, columns, options.header)

    # Views are columns of tables, or arrays as they are.
    pairs = list(columns.items())
    if fitted:
        pairs = list(zip(paths * (len(fitted.names) // len(paths)), fitted.names, strict=True))
    elif len(pairs) == 1 and not turned:
        pairs = _split_views(*pairs[0])
    views = []
    for path, selection in pairs:
        view = contents[path]
        if path in tables:
            if fitted:
                others = [name for file, name in pairs if file == path and name != selection]
                how = (selection, fitted.columns, others)
                features = naming(path, model_columns, tables[path], *how)
            else:
                features = naming(path, _features, tables[path], selection, square)
            view = naming(path, _view, tables[path], features)
        views.append(view)
    view_names = fitted.names if fitted else _distinct_names(pairs)

    # Rows of the views correspond by id, or else by position.
    matrices, ids, notes = match_views(views, options.join, square)
    notes = [note for table in tables.values() for note in table.notes] + notes
    id_name = next((view.id_name for view in views if view.id_name), "sample")
    frames = {}
    for name, X, view in zip(view_names, matrices, views, strict=True):
        if square and (doubt := matrix_doubt(X)):
            raise ValueError(f"{view.name} {doubt}")
        frames[name] = as_frame(X, None if square else view.columns, ids, id_name)
    titles = [view.columns for view in views]
    return Data(frames, None, ids, id_name, notes, titles, len(names) < len(views))


# ---------------------------------------------------------------------------------------- options


def _split_by_file(option, values, names):
    """The values of an option by path: those for one file, as FILE:VALUE, else those for all.

    The texts of --columns for all files hold for each.
    """
    by_file, for_all = {path: [] for path in names}, []
    for value in values or ():
        head, colon, text = value.rpartition(":")
        owners = [path for path, name in names.items() if colon and head in (name, Path(name).name)]
        if owners:
            by_file[owners[0]].append(text)
        else:
            for_all.append(value)
    if option == "columns":
        return {path: for_all + texts for path, texts in by_file.items()}
    return {path: texts or for_all for path, texts in by_file.items()}


def _single(option, values, name):
    """The only value of an option for a file, or None."""
    if len(values) > 1:
        raise ValueError(f"--{option} is given twice for {name}: {shown(*values)}")
    return values[0] if values else None


def _check_exclusions(columns, tables):
    """Raise ValueError if --columns excludes a column that none of its tables has."""
    for text in {text for texts in columns.values() for text in texts}:
        owners = [table for path, table in tables.items() if text in columns[path]]
        if not owners:
            path = next(path for path, texts in columns.items() if text in texts)
            raise ValueError(f"--columns {path}:{text}: this file is not a table")
        names = [name for table in owners for name in table.names]
        files = " and ".join(table.name for table in owners)
        for part in text.split(","):
            if part.strip().startswith("!"):
                select_columns(names, part, files)


def _split_views(path, texts):
    """The file and the texts of --columns for each view: those that select columns are views."""
    selecting = [text for text in texts if is_selecting(text)]
    if len(selecting) < 2:
        return [(path, texts)]
    return [(path, [text, *(set(texts) - set(selecting))]) for text in selecting]


def _check_options(kinds, options, turned):
    """Raise ValueError if an option would be ignored, because it is for other files."""
    # An ignored option is an error, because its user expects an effect.
    not_tables = [path for path, kind in kinds.items() if kind in (".npy", *ALONE)]
    tables_only = {
        "--id-column": options.id_column,
        "--columns": options.columns,
        "--decimal": options.decimal,
        "--no-header": not options.header,
    }
    for option, value in tables_only.items():
        if value and len(not_tables) == len(kinds):
            raise ValueError(f"{option} is for tables, but {not_tables[0]} is none")
    if turned & {path for path in not_tables if kinds[path] not in SUFFIXES}:
        raise ValueError(
            f"--transpose is for tables and arrays, but {not_tables[0]} is none of them"
        )
    if options.views is not None and not set(ALONE) & set(kinds.values()):
        raise ValueError(f"--views is for {', '.join(ALONE)}, but there is no such file")


def _transposed_files(paths, transpose):
    """The files to transpose."""
    if ALL in transpose:
        return set(paths)
    files = {path if path == STDIN else Path(path) for path in transpose if path != NONE}
    if files - set(paths):
        raise ValueError(
            f"--transpose {shown_name(min(map(str, files - set(paths))))}: this is not one of the "
            "files; to transpose all files, write --transpose after them"
        )
    return files


# ----------------------------------------------------------------------------------------- tables


def _with_samples(tables, turned, columns, header):
    """The tables with samples as rows, and their ids."""
    # Ids of tables with samples in rows tell which columns of the others are samples.
    rows = [table for path, table in tables.items() if path not in turned]
    known_ids = {text for table in rows for text in table.ids or ()}
    headers = {path: set(table.names) for path, table in tables.items() if path in turned}
    oriented = {}
    for path, table in tables.items():
        if path in turned:
            titles = {name for other in headers if other != path for name in headers[other]}
            how = (known_ids, titles, columns[path], header)
            table = naming(path, transpose, table, *how)
        if table.ids is not None:
            check_ids(table)
            if path not in turned:
                table.notes.append(f"ids are column {table.id_name!r} of {table.name}")
        oriented[path] = table
    return oriented


def _features(table, selection, square):
    """The columns of a view: by the texts of --columns, or those of similarities."""
    if not square:
        return feature_columns(table, selection)
    columns = _square_columns(table)
    check_text(table, columns)
    return columns


def _view(table, columns):
    """The `View` of some columns of a table."""
    # A matrix of all columns is not copied.
    all_columns = columns == list(range(len(table.names)))
    X = table.values if all_columns else table.values[:, columns]
    check_cells(table, columns, X)
    titles = [table.names[j] for j in columns]
    return View(table.name, X, table.ids, table.id_name, titles)


def _square_columns(table):
    """The columns of similarities in the order of the rows, by their ids."""
    if table.ids is None:
        return list(range(len(table.names)))
    positions = {name: j for j, name in enumerate(table.names)}
    if positions.keys() != set(table.ids) or len(positions) < len(table.names):
        differing = sorted(positions.keys() ^ set(table.ids))
        raise ValueError(
            f"{table.name}: its rows and columns do not have the same ids ({shown(*differing)}), "
            "as similarities must"
        )
    return [positions[text] for text in table.ids]


def as_frame(X, columns, ids, id_name):
    """A data frame of the columns of a table, or an array as it is."""
    if columns is None:
        return X
    import pandas

    index = None if ids is None else pandas.Index(ids, name=id_name)
    return pandas.DataFrame(X, columns=columns, index=index)


# ----------------------------------------------------------------------------- arrays and cells


def _read_whole(paths, kinds, options, turned, lazy, fitted):
    """The `Data` of a file of arrays, or of files of cells."""
    # A file that contains all views cannot be combined with others, unless all are cells.
    path = next(path for path in paths if kinds[path] in ALONE)
    if len(paths) > 1 and not set(kinds.values()) <= set(CELLS):
        raise ValueError(f"{path} contains all views: pass only this file")
    if options.join not in (None, ANY) and len(paths) == 1:
        raise ValueError(f"--join matches several files by ids, but {path} is the only file")
    # Cells keep their ids; arrays have none.
    if kinds[path] in CELLS:
        files = path if len(paths) == 1 else ", ".join(map(str, paths))
        use = parse_use(options.views) if options.views else fitted.use if fitted else None
        cells, ids, views, notes = naming(files, read_cells, paths, use, lazy, options.join)
        columns = list(map(columns_of, views.values()))
        id_name = ids.name or "sample"
        ids = ids.to_numpy(dtype=object)
        return Data(views, None, ids, id_name, notes, columns=columns, cells=cells)

    def read(path):
        return read_arrays(
            path,
            views=options.views.split(",") if options.views else None,
            truth=options.truth,
            transpose=True if turned else False if NONE in options.transpose else None,
            fit=fitted.n_features if fitted else None,
            lazy=lazy,
        )

    views, y, notes = naming(path, read, path)
    return Data(views, y, notes=notes, columns=[None] * len(views))


def _distinct_names(pairs):
    """A name for each view: the shortest distinct part of its path, or what selects its columns."""
    # Stems are the most readable names, if they differ.
    for part in (lambda path: without_packing(path).stem, lambda path: path.name, str):
        names = [path if path == STDIN else shown_name(part(path)) for path, _ in pairs]
        if len(set(names)) == len(names):
            return names
    names = [texts[0] for _, texts in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"--columns {names[0]}: two views have the same columns")
    return names
