"""Reading of multi-view data from tables, arrays and cells for the command line."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..datasets._arrays import SUFFIXES, read_arrays
from ..preprocessing import FrameEncoder
from ..views._frames import shown, text_names
from ._cells import parse_use, read_cells, use_of_files, with_columns
from ._columns import (
    check_codes,
    check_names,
    check_text,
    feature_columns,
    is_selecting,
    model_columns,
    note_unused,
    select_columns,
    transpose,
)
from ._files import (
    ALONE,
    CELLS,
    errors_of,
    file_kind,
    read_file,
    shown_name,
    without_packing,
)
from ._matching import ANY, check_ids, match_views
from ._tables import Reading, Table

ALL, NONE = "*", "none"  # of --transpose: all files, or none, so that rows of arrays are samples


class Data(NamedTuple):
    """The views of one data set."""

    views: dict  # of shape (n_samples, n_features_i), by the name of the file or of the array
    y: np.ndarray | None  # labels that the file contains
    ids: np.ndarray | None = None
    id_name: str = "sample"  # the name of the column with the ids
    notes: list = []  # decisions of the reader, such as the columns of ids
    one_table: bool = False  # whether all views are columns of one table
    cells: Any = None  # the AnnData or MuData object of a file, or a dict of several
    encoder: Any = None  # of groups of mixed columns

    @property
    def columns(self):
        """Names of the columns of each view; None if it has none, or numbers."""
        titles = [getattr(X, "var_names", getattr(X, "columns", None)) for X in self.views.values()]
        return list(map(text_names, titles))


class Fitted(NamedTuple):
    """What a model knows of the files that it was fitted to."""

    id_name: str
    names: list  # of the views whose files are given
    columns: dict  # names of the columns of each view, or None, by the name of the view
    n_features: dict  # of each view, by its name
    use: Any = None  # matrices of cells
    encoder: Any = None  # of groups of mixed columns


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
    """The `Data` of one file with all views, or one file for each view.

    ``options``, or ``more`` of them by name, are `Options`. ``lazy`` leaves arrays on disk, to be
    read in blocks, and ``square`` files contain similarities. For new samples, ``fitted`` is the
    `Fitted` of a model.
    """
    options = options or Options(**more)
    paths = list(map(Path, paths))
    kinds = {path: file_kind(path) for path in paths}
    real_paths = {os.path.realpath(path) for path in paths}
    if len(real_paths) < len(paths):
        raise ValueError(f"{', '.join(map(shown_name, paths))}: a file is given more than once")
    turned = _transposed_files(paths, options.transpose)
    _check_options(kinds, options, turned)
    if any(kind in ALONE for kind in kinds.values()):
        return _read_whole(paths, kinds, options, turned, lazy, fitted)
    return _read_tables(kinds, options, turned, lazy, square, fitted)


def _read_tables(kinds, options, turned, lazy, square, fitted):
    """The `Data` of tables and arrays, one for each view or a table for all."""
    # Each file is read once, also if several views are columns of it.
    names = {path: shown_name(path) for path in kinds}
    decimals, id_columns = _by_file(options.decimal, names), _by_file(options.id_column, names)
    id_name = fitted.id_name if fitted else None
    contents = {}
    for path, kind in kinds.items():
        decimal, id_column = decimals[path][-1], id_columns[path][-1]
        if decimal not in (None, ".", ","):
            raise ValueError(
                f"--decimal {decimal!r}: the decimal mark is . or , or, for one file, FILE:MARK "
                "with the path of the command"
            )
        prefix = f"{names[path]}:" if len(kinds) > 1 else ""
        reading = Reading(options.header, decimal, id_column, id_name, path in turned, prefix)
        contents[path] = read_file(path, kind, lazy, reading)
    tables = {path: table for path, table in contents.items() if isinstance(table, Table)}

    # The columns that are chosen are those of the file, which are samples if it is transposed.
    columns = {path: texts[1:] for path, texts in _by_file(options.columns, names).items()}
    if fitted and any(columns.values()) and not turned:
        raise ValueError("--columns needs --transpose: the model knows the names of its columns")
    for path in columns:
        if columns[path] and path not in tables:
            raise ValueError(
                f"--columns {columns[path][0]}: {names[path]} is not a table; FILE:NAMES holds for "
                "one file"
            )
    _orient(tables, columns)

    # Views are columns of tables, or arrays as they are, or encoded from groups of mixed columns.
    encoder, first = fitted.encoder if fitted else None, next(iter(kinds))
    groups = _groups(contents[first], columns[first]) if len(kinds) == 1 and not turned else None
    for table in tables.values():
        table.can_exclude = not (fitted or groups)
    if encoder or groups:
        with errors_of(first):
            encoder, views = _encode_groups(contents[first], groups, encoder)
        files = [names[first]] * len(views)
    else:
        pairs = _views_of_files(columns, turned, fitted)
        files = [names[path] for path, _ in pairs]
        views, features = {}, {path: [] for path in tables}
        for name, (path, selection) in zip(_view_names(pairs, fitted), pairs, strict=True):
            views[name] = contents[path]
            if path in tables:
                views[name] = _view(contents[path], selection, square, fitted)
                features[path] += list(views[name].columns)
        for path in tables if fitted is None else ():
            text = _orientation(contents[path], None if square else features[path])
            may_be_turned = len(kinds) == 1 and not turned and not square
            hint = "; --transpose if these are samples" if may_be_turned else ""
            contents[path].notes.append(text + hint)
    for table in tables.values() if fitted else ():
        note_unused(table, encoder.groups_ if encoder else fitted.columns)

    # Rows of the views correspond by id, or else by position.
    if square and (options.join or options.columns):
        raise ValueError(
            "--join and --columns are for features: similarities are of the same samples in all "
            "files"
        )
    matched, index, notes = match_views(files, list(views.values()), options.join, square)
    views = dict(zip(views, matched, strict=True))
    notes = [note for table in tables.values() for note in table.notes] + notes
    ids, id_name = (None, "sample") if index is None else (index.to_numpy(object), index.name)
    return Data(views, None, ids, id_name, notes, len(kinds) < len(views), encoder=encoder)


# ---------------------------------------------------------------------------------------- options


def _by_file(values, names):
    """The values of an option for each file: None, those for all files, and FILE:VALUE."""
    for_all, for_file = [], {path: [] for path in names}
    for value in values or ():
        head, colon, text = value.rpartition(":")
        file = str(Path(head))  # ./a.csv is a.csv
        owners = [path for path in names if colon and (names[path] == head or str(path) == file)]
        if owners:
            for_file[owners[0]].append(text)
        else:
            for_all.append(value)
    return {path: [None, *for_all, *for_file[path]] for path in names}


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
    files = {Path(path) for path in transpose if path != NONE}
    if files - set(paths):
        raise ValueError(
            f"--transpose {shown_name(min(map(str, files - set(paths))))}: this is not one of the "
            "files; to transpose all files, write --transpose after them"
        )
    return files


# ----------------------------------------------------------------------------------------- tables


def _orient(tables, columns):
    """Turn tables whose columns are samples, and check the ids of all."""
    # Ids of tables with samples in rows tell which columns of the others are samples.
    known_ids = set()
    for table in tables.values():
        if not table.reading.transposed and table.ids is not None:
            known_ids.update(table.ids)
    for path, table in tables.items():
        if table.reading.transposed:
            transpose(table, known_ids, ",".join(columns[path]))
        check_ids(table)


def _views_of_files(columns, turned, fitted):
    """The file of each view, and the text of --columns, or the name of a view of a model."""
    if fitted:
        files = list(columns) * (len(fitted.names) // len(columns))
        return list(zip(files, fitted.names, strict=True))
    if turned:
        return [(path, ",".join(columns[path])) for path in columns]
    # With one file, each text that selects columns is a view.
    views = []
    for path, texts in columns.items():
        selections = [text for text in texts if is_selecting(text)]
        exclusions = [text for text in texts if not is_selecting(text)]
        if len(columns) > 1 or len(selections) < 2:
            selections = [",".join(selections)]
        views += [(path, ",".join(filter(None, [text, *exclusions]))) for text in selections]
    return views


def _view(table, selection, square, fitted):
    """The data frame of the columns of a view."""
    # Columns are those of the model, all of a square or transposed table, or those of the user.
    columns = list(range(len(table.names)))
    if fitted:
        columns = model_columns(table, selection, fitted.columns)
    elif square:
        check_text(table, columns)
    elif not table.reading.transposed:
        columns = feature_columns(table, selection)
    elif not is_selecting(selection):
        check_names(table, columns)
    if fitted or not is_selecting(selection):  # else the user says that all are numbers
        check_codes(table, columns)
    return _frame(table, columns)


def _frame(table, columns):
    """The data frame of some columns with their names, and the ids of the samples as its index."""
    import pandas

    frame = table.cells[columns].set_axis([table.names[j] for j in columns], axis=1)
    if table.ids is None:
        return frame.reset_index(drop=True)
    return frame.set_axis(pandas.Index(table.ids, dtype=object, name=table.ids.name))


def _orientation(table, features=None):
    """What was taken for samples and for features, which no rule can know."""
    sides = ("columns", "rows") if table.unit == "column" else ("rows", "columns")
    samples, origin = range(len(table.cells)), ""
    if table.ids is not None:
        samples = table.ids.tolist()
        origin = f", ids of column {table.ids.name!r}" if sides[0] == "rows" else ""
    text = f"{table.name}: samples are {sides[0]}{origin} ({shown(*samples)})"
    return text if features is None else f"{text}, features are {sides[1]} ({shown(*features)})"


def _view_names(pairs, fitted):
    """A name for each view: the shortest distinct part of its path, or what selects its columns."""
    if fitted:
        return fitted.names
    # Stems are the most readable names, if they differ.
    files = [path for path, _ in pairs]
    for names in ([without_packing(path).stem for path in files], files):
        if len(set(names)) == len(names):
            return list(map(shown_name, names))
    names = [selection for _, selection in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"--columns {name}: two views have the same columns")
    return names


# ------------------------------------------------------------------------- groups of mixed columns


def _groups(table, texts):
    """The columns of each view by its name, if texts of --columns are NAME=COLUMNS, else None."""
    is_table = isinstance(table, Table) and not any("=" in name for name in table.names)
    pairs = [text.partition("=") for text in texts]
    if not is_table or not any(equals for _, equals, _ in pairs):
        return None
    groups = {}
    for name, equals, patterns in pairs:
        if not equals or name in groups:
            raise ValueError(f"--columns: {name!r} needs a name of its own, as in person=age,city")
        columns = select_columns(table, patterns)
        groups[name] = [table.names[j] for j in columns]
    return groups


def _encode_groups(table, groups, encoder):
    """The encoder of groups of mixed columns, fitted if it is None, and their views."""
    names = set().union(*(groups or encoder.groups_).values())
    columns = [j for j, name in enumerate(table.names) if name in names]
    # A word among numbers is an error, not a category.
    words, n_cells = table.words, table.cells.count()
    check_text(table, [j for j in columns if 2 * len(words.get(j, ())) <= n_cells[j]])
    check_codes(table, columns)
    frame = _frame(table, columns)
    if encoder is None:
        encoder = FrameEncoder(groups).fit(frame)
        kinds = (f"{name} ({kind})" for name, kind in encoder.kinds_.items())
        table.notes.append(f"{_orientation(table)}; columns: {', '.join(kinds)}")
    return encoder, encoder.transform(frame)


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
        if fitted:
            use = use_of_files(use, fitted.names, paths)
        with errors_of(files):
            cells, ids, views, notes = read_cells(paths, use, lazy, options.join)
            if fitted and len(paths) > 1:
                views = dict(zip(fitted.names, views.values(), strict=True))
            elif fitted:
                views = _views_of_model(views, fitted, path, notes)
            for name in views if fitted else ():
                views[name] = with_columns(views[name], name, fitted.columns)
        ids, id_name = ids.to_numpy(dtype=object), ids.name or "sample"
        return Data(views, None, ids, id_name, notes, cells=cells)

    with errors_of(path):
        views, y, notes = read_arrays(
            path,
            views=options.views.split(",") if options.views else None,
            truth=options.truth,
            transpose=True if turned else False if NONE in options.transpose else None,
            fit=fitted.n_features if fitted else None,
            lazy=lazy,
        )
        if fitted:
            views = _views_of_model(views, fitted, path, notes)
    return Data(views, y, notes=notes)


def _views_of_model(views, fitted, path, notes):
    """The views of one file by their names in a model; a single one needs no name."""
    if len(views) == len(fitted.names) == 1:
        return dict(zip(fitted.names, views.values(), strict=True))
    names = [name for name in fitted.names if name in views]
    unknown = [name for name in views if name not in fitted.columns]
    if not names or unknown and len(names) < len(fitted.names):
        raise ValueError(
            f"{path} has the views {shown(*views)}, but the model has {shown(*fitted.names)}: give "
            "them the same names, or files as VIEW=FILE"
        )
    if unknown:
        notes.append(f"{path}: views that the model does not have are ignored: {shown(*unknown)}")
    return {name: views[name] for name in names}
