"""Reading of multi-view data from tables, arrays and cells for the command line."""

import os
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..datasets._arrays import SUFFIXES, read_arrays
from ..views._frames import shown
from ._cells import CELLS, cells_kind, labels_of, parse_use, read_cells, use_of_files, with_columns
from ._columns import (
    array_orientation,
    encode_groups,
    find_groups,
    is_selecting,
    note_unused,
    orientation,
    transpose,
    view_of_table,
)
from ._matching import ANY, check_ids, match_views
from ._outputs import check_printable, errors_of, note_user, shown_name
from ._saved import Saved
from ._tables import FileTable, Reading, read_table, table_kind, without_packing

ALL, NONE = "*", "none"  # of --transpose: all files, or none, so that rows of arrays are samples
ALONE = (*SUFFIXES, *CELLS)  # files that contain all views
NO_TABLES = (".npy", *ALONE)
KNOWN = (
    ".npz, .mat, .h5, .zarr, .h5ad, .h5mu, a folder with matrix.mtx, or a .csv, .tsv, .txt (.gz), "
    ".parquet, .xlsx or .npy of each view"
)
SAMPLE_COLUMNS = "with --transpose, columns that are samples"


class Data(NamedTuple):
    """The views of one data set."""

    views: dict  # of shape (n_samples, n_features_i), by the name of the file or of the array
    y: np.ndarray | None  # labels that the file contains, None for samples without
    ids: np.ndarray | None = None
    id_name: str = "sample"  # the name of the column with the ids
    notes: list = []  # decisions of the reader, such as the columns of ids
    one_table: bool = False  # whether all views are columns of one table
    cells: Any = None  # the AnnData or MuData object of a file, or a dict of several
    encoder: Any = None  # of groups of mixed columns
    frame: Any = None  # these columns
    id_names: dict = {}  # the name of the column with the ids of each view


class Options(NamedTuple):
    """How files are read."""

    # Of the command line:
    id_column: list = []
    columns: list = []
    decimal: list = []
    header: bool = True
    transpose: list = []
    join: str | None = None
    views: str | None = None
    # Of the commands:
    truth: str | None = None  # variable or column of cells with the labels
    lazy: bool = False  # whether arrays stay on disk, to be read in blocks
    square: bool = False  # whether files contain similarities
    saved: Saved | None = None  # a model for whose views samples are read,
    names: list = []  # and those of its views that the files have


def add_input(parser, files, columns):
    """Add the files and the options that say how to read them; returns their group.

    ``files`` and ``columns`` are the help of the files and of --columns.
    """
    group = parser.add_argument_group("input")
    group.add_argument("files", nargs="+", metavar="FILE", help=files)
    group.add_argument(
        "--id-column",
        metavar="NAME",
        action="append",
        help="column with the ids of the samples: a name or, of a column without one, its number "
        "from 1, or none; FILE:NAME for one file; by default the first column, if it has text or a "
        "name such as id",
    )
    group.add_argument("--columns", metavar="NAMES", action="append", help=columns)
    group.add_argument(
        "--transpose",
        metavar="FILE",
        action="append",
        nargs="?",
        const=ALL,
        default=[],
        help="read columns as samples, in this file or, without FILE, in all files, also of "
        "arrays; none if the rows of arrays are samples and the file does not tell",
    )
    group.add_argument(
        "--no-header",
        action="store_false",
        dest="header",
        help="the first line is a sample, not the names of the columns",
    )
    group.add_argument(
        "--decimal",
        metavar="MARK",
        action="append",
        help="decimal mark of text tables, . or ,; the other mark and blanks may then separate "
        "thousands; FILE:MARK for one file",
    )
    group.add_argument(
        "--views",
        metavar="NAMES",
        help="matrices of a file to use as views: variables of .npz, .mat, .h5 or .zarr, such as "
        "X1,X2; of .h5ad, X (default), raw, layers or keys of obsm, such as X_pca,X_lsi; of .h5mu, "
        "one of each modality, such as rna=X_pca,prot=X_clr",
    )
    return group


def read_files(args, files, **more):
    """The `Data` of files as the arguments of a command and ``more`` say, after its notes."""
    names = set(vars(args)).intersection(Options._fields)
    data = load_data(files, **{name: getattr(args, name) for name in names}, **more)
    for note in data.notes:
        note_user(note)
    if args.labels is None:
        check_printable([data.id_name, *(() if data.ids is None else data.ids)])
    return data


def load_data(paths, **options):
    """The `Data` of one file with all views, or one file for each view; see `Options`."""
    options, paths = Options(**options), list(map(Path, paths))
    kinds = {path: _file_kind(path) for path in paths}
    if len(set(map(os.path.realpath, paths))) < len(paths):
        raise ValueError(f"{', '.join(map(shown_name, paths))}: a file is given more than once")
    readings = _readings(kinds, options)
    # A file that contains all views cannot be combined with others, unless all are cells.
    path = next((path for path in paths if kinds[path] in ALONE), None)
    if path is None:
        return _read_tables(kinds, readings, options)
    if len(paths) > 1 and not set(kinds.values()) <= set(CELLS):
        raise ValueError(f"{path} contains all views: pass only this file")
    with errors_of(path if len(paths) == 1 else ", ".join(map(str, paths))):
        if kinds[path] in CELLS:
            return _read_cells(paths, options)
        return _read_arrays(path, readings[path].transposed, options)


def _file_kind(path):
    """The kind of a file: that of cells by its content, or its suffix without .gz.

    Raise ValueError if it is unknown.
    """
    with errors_of(path):
        path.stat()  # a missing file has no kind
        kind = cells_kind(path) or table_kind(path)
    suffix = path.suffix.lower()
    if kind or suffix in (".npy", *SUFFIXES):
        return kind or suffix
    reason = "is a folder" if path.is_dir() else "has an unknown file type"
    raise ValueError(f"{path} {reason}, expected {KNOWN}")


# ---------------------------------------------------------------------------------------- options


def _readings(kinds, options):
    """How each file is read; raise ValueError if an option would be ignored."""
    # An ignored option is an error, because its user expects an effect.
    tables, first = [path for path in kinds if kinds[path] not in NO_TABLES], next(iter(kinds))
    if not options.header and not tables:
        raise ValueError(f"--no-header is for tables, but {first} is none")
    if options.views is not None and not set(ALONE) & set(kinds.values()):
        raise ValueError(f"--views is for {', '.join(ALONE)}, but there is no such file")
    if options.join not in (None, ANY) and len(kinds) == 1:
        raise ValueError(f"--join matches several files by ids, but {first} is the only file")
    if options.square and (options.join or options.columns):
        raise ValueError(
            "--join and --columns are for features: similarities are of the same samples in all "
            "files"
        )
    named = {Path(name) for name in options.transpose if name != NONE}
    turned = set(kinds) if ALL in options.transpose else named
    if unknown := turned.difference(kinds):
        raise ValueError(
            f"--transpose {shown_name(min(map(str, unknown)))}: this is not one of the files; to "
            "transpose all files, write --transpose after them"
        )
    for path in turned:
        if kinds[path] in CELLS:
            raise ValueError(f"--transpose is for tables and arrays, but {path} has cells")

    # Options for all files, and those for one.
    id_columns = _by_file("--id-column", options.id_column, kinds)
    columns = _by_file("--columns", options.columns, kinds)
    decimals = _by_file("--decimal", options.decimal, kinds)
    id_names, readings, saved = dict.fromkeys(kinds), {}, options.saved
    id_names |= zip(cycle(kinds), saved.id_names(options.names), strict=False) if saved else ()
    for path in kinds:
        decimal = decimals[path][-1]
        if decimal not in (None, ".", ","):
            raise ValueError(
                f"--decimal {decimal!r}: the decimal mark is . or , or, for one file, FILE:MARK "
                "with the path of the command"
            )
        readings[path] = Reading(
            options.header,
            decimal,
            id_columns[path][-1],
            id_names[path],
            path in turned,
            f"{shown_name(path)}:" if len(kinds) > 1 else "",
            columns[path][1:],
        )
    return readings


def _by_file(option, values, kinds):
    """The values of an option for each file: None, those for all files, and FILE:VALUE."""
    for_all, for_file = [], {path: [] for path in kinds}
    names = {name: path for path in kinds for name in (str(path), shown_name(path))}
    for value in values or ():
        # Names of files and of columns may have colons, and ./a.csv is a.csv.
        heads = [value[:i] for i, letter in enumerate(value) if letter == ":"]
        head = next((head for head in heads if str(Path(head)) in names), None)
        if head is None:
            for_all.append(value)
        else:
            for_file[names[str(Path(head))]].append(value[len(head) + 1 :])
    others = [path for path in kinds if kinds[path] in NO_TABLES]
    is_for_others = len(others) == len(kinds) or option == "--columns"
    for path in others:
        if for_file[path] or for_all and is_for_others:
            raise ValueError(f"{option} is for tables, but {path} is none; FILE:VALUE is for one")
    return {path: [None, *for_all, *for_file[path]] for path in kinds}


# ----------------------------------------------------------------------------------------- tables


def _read_tables(kinds, readings, options):
    """The `Data` of tables and arrays, one for each view or a table for all."""
    # Each file is read once, also if several views are columns of it.
    contents, saved, taken = {}, options.saved, []
    for path, kind in kinds.items():
        with errors_of(path):
            if kind == ".npy":
                contents[path] = _read_array(path, options.lazy, readings[path].transposed)
            else:
                contents[path] = read_table(path, shown_name(path), kind, readings[path])
    tables = [table for table in contents.values() if isinstance(table, FileTable)]
    turned = [path for path in kinds if readings[path].transposed]
    if saved and not tables and (saved.encoder or len(kinds) < len(options.names)):
        raise ValueError(
            f"{next(iter(kinds))} has no names of columns, which tell the views of the model "
            "apart: give a table"
        )
    if saved and any(readings[path].columns for path in kinds if path not in turned):
        raise ValueError("--columns needs --transpose: the model knows the names of its columns")
    _orient(tables)

    # Views are columns of tables, or arrays as they are, or encoded from groups of mixed columns.
    encoder, frame, path = saved.encoder if saved else None, None, next(iter(kinds))
    is_plain = len(kinds) == 1 and not turned
    groups = find_groups(tables[0]) if tables and is_plain else None
    for table in tables:
        table.can_exclude = not (saved or groups or options.square)
    if encoder or groups:
        with errors_of(path):
            encoder, frame = encode_groups(tables[0], groups, encoder)
            views = encoder.transform(frame)
        files = [shown_name(path)] * len(views)
    else:
        views, files, features = {}, [], {path: [] for path in kinds}
        for name, path, selection in _views_of_files(readings, options):
            files.append(shown_name(path))
            views[name] = contents[path]
            if isinstance(contents[path], FileTable):
                views[name] = view_of_table(contents[path], selection, options)
                features[path] += list(views[name].columns)
        hint = "; --transpose if these are samples" if is_plain and not options.square else ""
        for path, content in contents.items() if saved is None else ():
            if isinstance(content, FileTable):
                text = orientation(content, None if options.square else features[path])
            else:
                text = array_orientation(shown_name(path), content, path in turned)
            taken.append(text + hint)
    for table in tables if saved else ():
        note_unused(table, encoder.groups_ if encoder else saved.columns)

    # Rows of the views correspond by id, or else by position.
    id_names = {name: view.index.name for name, view in views.items() if hasattr(view, "index")}
    matched, index, notes = match_views(files, list(views.values()), options.join, options.square)
    views = dict(zip(views, matched, strict=True))
    notes = [*(note for table in tables for note in table.notes), *taken, *notes]
    ids, id_name = (None, "sample") if index is None else (index.to_numpy(object), index.name)
    one_table = len(kinds) < len(views)
    return Data(views, None, ids, id_name, notes, one_table, None, encoder, frame, id_names)


def _read_array(path, lazy, is_turned):
    X = np.lib.format.open_memmap(path, mode="r")  # never loads objects, nor advises it
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"expected a matrix of numbers with a row for each sample, got an array of "
            f"{X.dtype} of shape {X.shape}"
        )
    X = X.T if is_turned else X
    return X if lazy else np.array(X)


def _orient(tables):
    """Turn tables whose columns are samples, and check the ids of all."""
    # Ids of tables with samples in rows tell which columns of the others are samples.
    known_ids = set()
    for table in tables:
        if not table.reading.transposed and table.ids is not None:
            known_ids.update(table.ids)
    for table in tables:
        if table.reading.transposed:
            transpose(table, known_ids)
        check_ids(table)


def _views_of_files(readings, options):
    """The name of each view, its file, and the text of --columns, or again the name in a model."""
    if options.saved:
        files = list(readings) * (len(options.names) // len(readings))
        return list(zip(options.names, files, options.names, strict=True))
    # With one file, each text that selects columns is a view, of which these are the name.
    views = []
    for path, reading in readings.items():
        selections = [text for text in reading.columns if is_selecting(text)]
        exclusions = [text for text in reading.columns if not is_selecting(text)]
        if len(readings) > 1 or len(selections) < 2 or reading.transposed:
            selections = [",".join(selections)]
        views += [(path, ",".join(filter(None, [text, *exclusions]))) for text in selections]
    files, texts = zip(*views, strict=True)
    # Stems are the most readable names of files, if they differ.
    stems = [without_packing(path).stem for path in files]
    for names in (stems, files, texts):
        if len(set(names)) == len(names):
            return list(zip(map(shown_name, names), files, texts, strict=True))
    raise ValueError(f"--columns {' '.join(texts)}: two views have the same columns")


# ----------------------------------------------------------------------------- arrays and cells


def _read_cells(paths, options):
    """The `Data` of files of cells, which have ids."""
    saved, names = options.saved, options.names
    use = parse_use(options.views) if options.views is not None else saved.use if saved else None
    if saved:
        use = use_of_files(use, names, paths)
    cells, ids, views, notes = read_cells(paths, use, options.lazy, options.join)
    if saved and len(paths) > 1:
        views = dict(zip(names, views.values(), strict=True))
    elif saved:
        views = _views_of_model(views, options, paths[0], notes)
    for name in views if saved else ():
        views[name] = with_columns(views[name], name, saved.columns)
    y = labels_of(cells, options.truth, ids) if options.truth else None
    id_name = ids.name or "sample"
    ids, id_names = ids.to_numpy(dtype=object), dict.fromkeys(views, id_name)
    return Data(views, y, ids, id_name, notes, cells=cells, id_names=id_names)


def _read_arrays(path, is_turned, options):
    """The `Data` of a file of arrays, which have no ids."""
    views, y, notes = read_arrays(
        path,
        views=None if options.views is None else options.views.split(","),
        truth=options.truth,
        transpose=True if is_turned else False if NONE in options.transpose else None,
        fit=options.saved.n_features if options.saved else None,
        lazy=options.lazy,
    )
    if options.saved:
        views = _views_of_model(views, options, path, notes)
    return Data(views, y, notes=notes)


def _views_of_model(views, options, path, notes):
    """The views of one file by their names in a model; a single one needs no name."""
    fitted, known = options.names, options.saved.columns
    if len(views) == len(fitted) == 1:
        return dict(zip(fitted, views.values(), strict=True))
    names = [name for name in fitted if name in views]
    unknown = [name for name in views if name not in known]
    if not names or unknown and len(names) < len(fitted):
        raise ValueError(
            f"{path} has the views {shown(*views)}, but the model has {shown(*fitted)}: give "
            "them the same names, or files as VIEW=FILE"
        )
    if unknown:
        notes.append(f"{path}: views that the model does not have are ignored: {shown(*unknown)}")
    return {name: views[name] for name in names}
