"""Views from files, by the contract of docs/files.md."""

from typing import Any, NamedTuple

import numpy as np

from .._utils.messages import counted, import_extra
from ..datasets._arrays import SUFFIXES as ARRAYS
from ..datasets._arrays import read_arrays
from ..views import align, from_anndata
from ..views._frames import only_in, repeated, shown
from ._tables import TABLES, TEXT, errors_of, kind_of, nearest, numbers, read_table, selected

CELLS = {".h5ad": "anndata", ".h5mu": "mudata"}  # and the package of each
WHOLE = (*ARRAYS, *CELLS)  # files with all views
KINDS = f"a {', '.join(TABLES)} or .npy of each view, or one {', '.join(WHOLE)} with all"
MIXED = "name their column with --id-column, or match all by position with --id-column none"
LABELS = ("cluster", "label")  # names of a column of labels beside others


class Data(NamedTuple):
    """The views of some samples."""

    views: dict  # by name
    ids: Any = None  # pandas index of the samples, if they have ids
    labels: Any = None  # known ones that a file of views has
    cells: Any = None  # AnnData or MuData


def check_options(files, options, labels=None):
    """Raise ValueError for an option that none of the files, or of known labels, has a use for."""
    for file in files:
        if kind_of(file) not in (*TABLES, *WHOLE, ".npy"):
            raise ValueError(f"{file}: expected {KINDS}")
    kinds = set(map(kind_of, files))
    views, tables = kinds.intersection(TABLES), {*kinds, kind_of(labels or "")}.intersection(TABLES)
    uses = {"columns": views, "join": views, "sep": tables.intersection(TEXT), "decimal": tables}
    uses["id_column"] = tables or options.id_column == ["none"]
    uses |= {"views": kinds.intersection(WHOLE), "transpose": not kinds.intersection(CELLS)}
    for name, is_used in uses.items():
        if getattr(options, name) and not is_used:
            raise ValueError(f"--{name.replace('_', '-')} has no use for {' '.join(files)}")
    if options.transpose and options.id_column == ["none"]:
        raise ValueError("--id-column none: with --transpose, the header has the ids")


def read(files, options, note, *, truth=None, columns=None):
    """The `Data` of one file with all views, or of a file for each view.

    Parameters
    ----------
    files : dict of str
        Paths by the name of the view; of a file with several views only the path counts.
    options : namespace
        With the attributes ``id_column``, ``sep``, ``decimal``, ``transpose``, ``columns``,
        ``views`` and ``join``.
    note : function
        It is called with the text of what was taken as samples and as features.
    truth : str, optional
        Name of the labels in a file with all views, or in the only table.
    columns : dict of (list of str or None), optional
        The columns of a model by the name of the view, which new samples must have.
    """
    paths = list(dict.fromkeys(files.values()))
    whole = [path for path in paths if kind_of(path) in WHOLE]
    if whole and len(paths) > 1:
        raise ValueError(f"{whole[0]} has all views: give only this file")
    if whole:
        read_whole = _read_cells if kind_of(whole[0]) in CELLS else _read_arrays
        with errors_of(whole[0]):
            return read_whole(whole[0], options, note, truth, columns)
    if truth is not None and (len(paths) > 1 or kind_of(paths[0]) not in TABLES):
        raise ValueError(f"--scores {truth}: there is no such file")

    # Each file is read once, and may have several views.
    contents, labels = {}, None
    for path in paths:
        with errors_of(path):
            contents[path] = _read_file(path, options, truth)
    if truth is not None:
        frame = contents[paths[0]]
        if truth not in frame:
            raise ValueError(f"--scores: no file or column {truth!r}{nearest([truth], frame)}")
        labels, contents[paths[0]] = _label_values(frame[truth]), frame.drop(columns=truth)
    views, known = {}, [name for X in contents.values() for name in getattr(X, "columns", ())]
    for name, (path, selection) in _selections(files, options.columns, columns).items():
        with errors_of(path):
            views[name] = X = _features(contents[path], selection, known, options.decimal)
            note(f"{path}: {_described(X)}")
    matched, ids = _matched(views, "outer" if columns else options.join, note)
    if options.join and ids is None:
        raise ValueError(f"--join {options.join}: the files have no ids")
    return Data(matched, ids, labels)


# ------------------------------------------------------------------------------ a file for a view


def _read_file(path, options, truth):
    """A memory map of numbers, or a data frame whose index has a name if it has ids."""
    if kind_of(path) == ".npy":
        X = np.lib.format.open_memmap(path, mode="r")
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise ValueError(f"expected a matrix of numbers, got {X.dtype} of shape {X.shape}")
        return X.T if options.transpose else X
    frame = read_table(path, options, truth)
    if not options.transpose:
        return frame
    # The ids of the rows become the names of the features, and the header has the ids of samples.
    turned = numbers(frame, options.decimal, is_turned=True).astype(float).T
    turned = turned.rename_axis(index="id", columns=None)
    return turned.set_axis(map(str, turned.columns), axis=1)


def _selections(files, texts, columns):
    """The file of each view by its name, and its columns: names, a text with patterns, or None."""
    if columns is not None:
        return {name: (path, columns[name]) for name, path in files.items()}
    if not texts or len(files) > 1:
        return {name: (path, ",".join(texts or []) or None) for name, path in files.items()}
    ((file_name, path),) = files.items()
    usual = file_name if len(texts) == 1 else None
    pairs = [text.split("=", 1) if "=" in text else (usual or text, text) for text in texts]
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"--columns {' '.join(texts)}: two views have the same name")
    return {name: (path, text) for name, text in pairs}


def _features(X, selection, known=(), decimal=None):
    """The columns of a file that are features, all numbers; ``known`` are those of all files."""
    if not hasattr(X, "columns"):
        return X
    if isinstance(selection, str):
        selection = selected(list(X), selection, known)
    if selection is not None:
        if absent := [name for name in selection if name not in X]:
            spare = [name for name in X if name not in set(selection)]
            raise ValueError(f"no column {shown(*absent)}{nearest(absent, spare or X)}")
        X = X[selection]
    return numbers(X, decimal)


def _described(X):
    """The samples, ids and features of a view, for the user."""
    n, d = X.shape
    index = getattr(X, "index", None)
    ids = "" if index is None or index.name is None else f" (ids {index.name!r}: {shown(*index)})"
    features = f" ({shown(*X.columns)})" if hasattr(X, "columns") else ""
    return f"{counted(n, 'sample')}{ids}, {counted(d, 'feature')}{features}"


def _matched(views, join, note):
    """Views with the same rows by id, and the ids; or by position, and None."""
    indexes = {name: getattr(X, "index", None) for name, X in views.items()}
    ids = {name: index for name, index in indexes.items() if getattr(index, "name", None)}
    without = [name for name in views if name not in ids]
    if ids and without:
        raise ValueError(f"{shown(*ids)} has ids and {shown(*without)} has none: {MIXED}")
    if not ids:
        sizes = {name: X.shape[0] for name, X in views.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"files without ids have different numbers of samples: {sizes}")
        if len(views) > 1:
            note("the files have no ids: rows are matched by position")
        return views, None
    # Other ids are an error, unless the user has said which samples to keep.
    (first_name, first), *others = ids.items()
    for name, index in others:
        lack = only_in(index, name, first, first_name)
        if lack and join is None:
            remedy = "--join inner keeps the samples of all files, --join outer those of any"
            raise ValueError(f"{first_name} and {name} have different ids ({lack}): {remedy}")
    if not all(map(first.equals, ids.values())):
        views = align(views, join or "inner")
        n_common = len(set(first).intersection(*ids.values()))
        n_all = len(set(first).union(*ids.values()))
        note(f"rows are matched by id: {n_common} of {counted(n_all, 'sample')} in every file")
    return views, next(iter(views.values())).index.rename(first.name)


# ------------------------------------------------------------------------------- arrays and cells


def _read_arrays(path, options, note, truth, columns):
    """The `Data` of a file of arrays."""
    names = [name.strip() for name in options.views.split(",")] if options.views else None
    if columns is not None and names is None:  # X[0] is a cell of X
        names = list(dict.fromkeys(name.partition("[")[0] for name in columns))
    form = {"views": names, "transpose": options.transpose, "lazy": True}
    views, labels = read_arrays(path, truth=truth, **form)
    for name, X in views.items():
        note(f"{path}: view {name} has {_described(X)}")
    return Data(views, labels=labels)


def _read_cells(path, options, note, truth, columns):
    """The `Data` of a file of anndata or mudata."""
    package = import_extra(CELLS[kind_of(path)], path, "'mvsc-fast[scverse]'")
    cells = getattr(package, f"read_{kind_of(path)[1:]}")(path)
    if truth is not None and truth not in cells.obs:
        raise ValueError(f"obs has no column {truth!r}{nearest([truth], cells.obs)}")
    views = from_anndata(cells, _use(options.views))
    for name, X in views.items():
        if len(duplicates := repeated(X.index)):
            raise ValueError(f"cells occur more than once: {shown(*duplicates)}")
        note(f"{path}: view {name} has {_described(X)}")
    # New cells may lack modalities of the fit, and have others.
    if columns is not None:
        names = [name for name in columns if name in views]
        views = {name: _features(views[name], columns[name]) for name in names}
        if not views:
            raise ValueError(f"it has none of the views {shown(*columns)} of the model")
    ids = next(iter(views.values())).index
    labels = None if truth is None else _label_values(cells.obs[truth].reindex(ids))
    return Data(views, ids.rename(ids.name or "cell"), labels, cells)


def _use(text):
    """What `from_anndata` uses: "X", or names as "X_pca,X_lsi" or "rna=X_pca,prot=X"."""
    names = [name.strip() for name in (text or "X").split(",")]
    if "=" in names[0]:
        return dict(name.split("=", 1) for name in names)
    return names if len(names) > 1 else names[0]


# ----------------------------------------------------------------------------------- known labels


def read_labels(path, options, ids, n_samples):
    """Known labels of samples, None for those without: by ids, or else by position."""
    with errors_of(path):
        if kind_of(path) not in TABLES:
            raise ValueError(f"expected a table ({', '.join(TABLES)}) of labels")
        frame = read_table(path, options)
        names = [name for name in LABELS if name in frame] or list(frame)
        if len(names) != 1:
            raise ValueError(f"labels are one column, or called cluster or label: {shown(*names)}")
        labels = frame[names[0]]
        has_ids = frame.index.name is not None
        if has_ids != (ids is not None):
            who = "only it has ids" if has_ids else "only the views have ids"
            raise ValueError(f"{who}: {MIXED}")
        if has_ids:
            if not labels.index.isin(ids).any():
                raise ValueError(f"no id is one of the views, such as {shown(*ids)}")
            labels = labels.reindex(ids)
        elif len(labels) != n_samples:
            raise ValueError(f"{len(labels)} labels of {n_samples} samples without ids")
        return _label_values(labels)


def _label_values(column):
    """The labels in a column of a data frame as text, None where they are missing."""
    is_known = column.notna().to_numpy()
    return column.map(str, na_action="ignore").astype(object).where(is_known, None).to_numpy()
