"""Multi-view data from tables, arrays and MATLAB files; no pickle is ever loaded."""

import io
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ._matching import matched
from ._tables import Table, read_table
from ._text_tables import is_text_table

__all__ = ["Data", "load_data", "load_views"]

VIEW_NAMES = ("X", "data", "fea", "views", "features", "Xs", "x")
LABEL_NAMES = ("y", "Y", "gt", "gnd", "truth", "labels", "label", "truelabel", "gtruth", "s")
TABLES = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "excel", ".xlsm": "excel"}
KNOWN = ".npz, .mat, .h5, .zarr, or a .csv, .tsv, .txt (.gz), .parquet, .xlsx or .npy of each view"
STDIN, STDIN_NAME = "-", "standard input"


class Data(NamedTuple):
    """The views of one data set.

    Attributes
    ----------
    views : dict of str to DataFrame, ndarray, sparse matrix, or array on disk
        Of shape (n_samples, n_features_i), by name of the file or of the array in it.
    y : ndarray of shape (n_samples,) or None
        Labels that the file holds.
    ids : ndarray of shape (n_samples,) or None
        Integers or texts.
    id_name : str
        What the column with the ids is called.
    notes : list of str
        What was decided on the way: ids that were recognised, rows that were matched.
    """

    views: dict
    y: np.ndarray | None
    ids: np.ndarray | None = None
    id_name: str = "sample"
    notes: list = []


def load_views(paths):
    """The views of one data set as arrays: `load_data` without names and ids.

    Returns
    -------
    views : list of ndarray or sparse matrix of shape (n_samples, n_features_i)
    y : ndarray of shape (n_samples,) or None

    Warns
    -----
    UserWarning
        What `load_data` notes, such as a column that is taken as ids and not as a feature.
    """
    data = load_data(paths)
    for note in data.notes:
        warnings.warn(note, UserWarning, stacklevel=2)
    views = data.views.values()
    return [X if scipy.sparse.issparse(X) else np.asarray(X) for X in views], data.y


def load_data(paths, *, id_column="auto", columns=None, join=None, lazy=False):
    """Read the views of one data set, with the ids of its samples.

    Parameters
    ----------
    paths : sequence of str or Path
        One file with all views, or one file for each view.

        * .npz, .h5, .hdf5, .zarr: arrays ``view_0``, ``view_1``, ... with samples as rows, optional
          labels ``y``;
        * .mat (up to version 7): a cell array named X, data, fea, views or features, or matrices
          X1, X2, ...; optional labels y, Y, gt, gnd, truth or labels. Samples may be rows or
          columns: the labels, or the size that all views share, decide;
        * .npy: one matrix of numbers;
        * tables, samples as rows: .csv, .tsv, .txt, .tab, .dat, each also .gz, .parquet, .xlsx (its
          first sheet; the notes say so where there are more). Separator, decimal comma, encoding
          and header are recognised. Without pandas only text files of plain numbers are read.
        * "-" is the standard input: a table as text, or what is in a .npy file.
    id_column : str or None, default="auto"
        Name or number (from 1) of the column with the ids of the samples. "auto" recognises it by
        its name (id, index, sample_id, ..., or none where other columns have one), as texts that
        all differ, or in front as integers that count or ascend. None: there is no such column.
    columns : str or list of str, optional
        Features: names, beginnings of names followed by a star, numbers from 1 and their ranges,
        separated by commas: "height,mfcc*,4-9". A list has one for each file, or, of a single
        table, one for each view.
    join : {"inner", "outer"}, optional
        What to do where tables with ids do not have the same samples: keep those that all have, or
        all, with rows of NaN for the views that a sample lacks. None raises.
    lazy : bool, default=False
        Leave .npy, .h5 and .zarr on the disk, to be read in blocks.

    Returns
    -------
    Data
        Rows of tables that have ids are matched by them.

    Raises
    ------
    ValueError
        If a file does not hold what is described above; the message names the file, and line and
        column as an editor counts them.
    OSError
        If a file cannot be opened.
    ImportError
        If a file needs pandas, h5py or zarr: ``pip install mvsc_fast[files]``.
    """
    paths = [path if path == STDIN else Path(path) for path in paths]
    if not paths:
        raise ValueError("no file was given")
    kinds = [_kind(path) for path in paths]
    whole = [path for path, kind in zip(paths, kinds, strict=True) if kind in WHOLE]
    if whole and len(paths) > 1:
        raise ValueError(f"{whole[0]} holds all views: give it alone, or one file per view")
    tables = [
        path for path, kind in zip(paths, kinds, strict=True) if kind in ("text", STDIN, *TABLES)
    ]
    for name, given in (("--id-column", id_column != "auto"), ("--columns", columns is not None)):
        if given and len(tables) < len(paths):
            other = next(path for path in paths if path not in tables)
            raise ValueError(f"{name} is for tables: {other} has no named columns")
    if whole:
        if join is not None:
            raise ValueError(f"--join matches files by ids: {whole[0]} has none")
        return _named(lambda path: WHOLE[kinds[0]](path, lazy), paths[0])
    if isinstance(columns, (list, tuple)) and len(columns) == 1:
        columns = columns[0]
    if columns is None or isinstance(columns, str):
        columns = [columns] * len(paths)
    elif len(paths) == 1:
        paths, kinds = paths * len(columns), kinds * len(columns)
    elif len(columns) != len(paths):
        raise ValueError(f"--columns is given {len(columns)} times for {len(paths)} files")
    content = sys.stdin.buffer.read() if STDIN in paths else None

    def one_view(path, kind, own):
        if kind == STDIN:
            return _from_bytes(content, id_column, own)
        return _one_view(path, kind, lazy, id_column, own)

    read = [
        _named(lambda path, kind=kind, own=own: one_view(path, kind, own), path)
        for path, kind, own in zip(paths, kinds, columns, strict=True)
    ]
    views, ids, notes = matched(read, join)
    id_name = next((table.id_name for table in read if table.ids is not None), "sample")
    notes = [note for table in read for note in table.notes] + notes
    return Data(dict(zip(_distinct_names(paths, columns), views, strict=True)), None, ids, id_name,
                list(dict.fromkeys(notes)))  # fmt: skip


def _kind(path):
    """What a path is read as: its suffix, or "text"."""
    if path == STDIN:
        return STDIN
    suffix = path.suffix.lower()
    if is_text_table(path):
        return "text"
    if suffix in (".npy", *WHOLE, *TABLES):
        return suffix
    raise ValueError(f"{path}: unknown file type, expected {KNOWN}")


def _distinct_names(paths, columns):
    """A name for each view: that of its file, as short as tells them apart."""
    for names in ([path if path == STDIN else path.name for path in paths], list(map(str, paths))):
        if len(set(names)) == len(names):
            return names
    if len(set(paths)) == 1 and len(set(columns)) == len(columns):
        return list(columns)
    raise ValueError(f"{', '.join(map(str, paths))}: a file is given more than once")


def _from_bytes(content, id_column, columns):
    """The table, or the matrix, that the standard input holds."""
    if content.startswith(b"\x93NUMPY"):
        return _array_table(STDIN_NAME, np.load(io.BytesIO(content), allow_pickle=False))
    return read_table(STDIN_NAME, "text", content=content, id_column=id_column, columns=columns)


def _one_view(path, kind, lazy, id_column, columns):
    if kind == ".npy":
        # A map leaves its file open where the file is refused.
        X = np.load(path, allow_pickle=False, mmap_mode="r" if lazy else None)
        return _array_table(path, X)
    return read_table(path, TABLES.get(kind, kind), id_column=id_column, columns=columns)


def _array_table(path, X):
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"{path}: an array of {X.dtype} of shape {X.shape}, no matrix of numbers")
    return Table(str(path), X, None, "sample", [])


def _named(read, path):
    """What ``read`` finds in a file, whose name stands in every message."""
    try:
        return read(path)
    except ImportError:
        raise
    except Exception as error:  # parsers of damaged files raise whatever they like
        if isinstance(error, OSError) and error.filename is not None:
            raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        name = STDIN_NAME if path == STDIN else str(path)
        prefix = "" if message.startswith(name) else f"{name}: "
        raise ValueError(f"{prefix}{message}") from error


def _read_npz(path, lazy):
    # numpy leaves a file open that it fails to read, unless the file is ours.
    with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
        names = _numbered(path, file.files)
        views = {name: file[name] for name in names}
        y = file["y"] if "y" in file.files else None
    for name, A in (*views.items(), ("y", y)):
        if A is not None and not isinstance(A, np.ndarray):
            raise ValueError(f"{path}: {name} is not an array")
    return Data(views, None if y is None else y.ravel())


def _numbered(path, held):
    """The names view_0, view_1, ... in their order."""
    names = sorted(
        (name for name in held if re.fullmatch(r"view_\d+", name)), key=lambda name: int(name[5:])
    )
    if not names:
        raise ValueError(
            f"{path}: no arrays view_0, view_1, ... (it holds {', '.join(held) or 'nothing'})"
        )
    return names


def _read_store(path, lazy):
    """Arrays of HDF5 or zarr."""
    path.stat()
    package = "zarr" if path.suffix.lower() == ".zarr" else "h5py"
    try:
        module = __import__(package)
    except ImportError as error:
        raise ImportError(f"{path} needs {package}: pip install mvsc_fast[files]") from error
    store = module.open(str(path), mode="r") if package == "zarr" else module.File(path, "r")
    views = {name: store[name] for name in _numbered(path, list(store))}
    for name, X in views.items():
        if len(getattr(X, "shape", ())) != 2 or X.dtype.kind not in "fiub":
            raise ValueError(f"{path}: {name} is no matrix of numbers")
    if not lazy:
        views = {name: X[:] for name, X in views.items()}
    return Data(views, np.ravel(store["y"][:]) if "y" in store else None)


def _load_mat(path):
    """All variables of a MATLAB file: matrices, sparse matrices, or lists of them."""
    path.stat()  # a missing file is not a damaged one
    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "content.npz"
        program = Path(__file__).with_name("_matlab.py")
        command = [sys.executable, str(program), str(path), str(converted)]
        run = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if run.returncode == 2 and run.stderr:
            raise ValueError(f"{path}: {run.stderr.splitlines()[-1]}")
        if run.returncode != 0:
            raise ValueError(f"{path}: damaged MATLAB file, it crashes the reader")
        with np.load(converted, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    tree = {}
    for key, A in arrays.items():
        *branch, leaf = key.split("/")
        node = tree
        for name in branch:
            node = node.setdefault(name, {})
        node[leaf] = A
    return {name: _assemble(node) for name, node in tree.items()}


def _assemble(node):
    """What `_matlab.parts` took apart."""
    if "array" in node:
        return node["array"]
    if "indptr" in node:
        parts = node["data"], node["indices"], node["indptr"]
        A = scipy.sparse.csc_array(parts, shape=tuple(node["shape"].tolist()))
        A.check_format(full_check=True)  # nothing else looks at indices before they are used
        return A
    return [_assemble(cell) for cell in node.values()]


def _read_mat(path, lazy):
    content = _load_mat(path)
    labels = next((content[name] for name in LABEL_NAMES if _is_labels(content.get(name))), None)
    y = None if labels is None else np.asarray(labels).ravel()
    for name in VIEW_NAMES:
        if name in content:
            views = content[name] if isinstance(content[name], list) else [content[name]]
            names = [f"{name}[{i}]" for i in range(len(views))]
            break
    else:
        names = sorted(
            (name for name in content if re.fullmatch(r"(?:X|x|view|fea|data)_?\d+", name)),
            key=lambda name: int(re.search(r"\d+", name).group()),
        )
        if not names:
            held = ", ".join(content) or "nothing"
            raise ValueError(
                f"{path}: no cell array {', '.join(VIEW_NAMES[:5])} and no X1, X2, ... "
                f"(it holds {held})"
            )
        views = [content[name] for name in names]
    for i, A in enumerate(views):
        if isinstance(A, list) or A.ndim != 2 or A.dtype.kind not in "fiub":
            raise ValueError(f"{path}: view {i} is not a matrix of real numbers")
    return Data(dict(zip(names, _samples_as_rows(views, y), strict=True)), y)


def _is_labels(value):
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind in "fiu"
        and 1 < value.size == max(value.shape, default=0)
    )


def _samples_as_rows(views, y):
    rows = {A.shape[0] for A in views}
    columns = {A.shape[1] for A in views}
    if y is not None:
        if rows != {len(y)} and columns == {len(y)}:
            return [A.T for A in views]
    elif len(rows) > 1 and len(columns) == 1:
        return [A.T for A in views]
    return views


WHOLE = {
    ".npz": _read_npz,
    ".mat": _read_mat,
    ".h5": _read_store,
    ".hdf5": _read_store,
    ".zarr": _read_store,
}
