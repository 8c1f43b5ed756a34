"""Multi-view data from .npz, .mat, or one .csv or .npy per view; no pickle is ever loaded."""

import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse

__all__ = ["load_views"]

VIEW_NAMES = ("X", "data", "fea", "views", "features", "Xs", "x")
LABEL_NAMES = ("y", "Y", "gt", "gnd", "truth", "labels", "label", "truelabel", "gtruth", "s")


def load_views(paths):
    """Read the views of one data set.

    Parameters
    ----------
    paths : sequence of str or Path
        One .npz or .mat file with all views, or one .csv or .npy file for each view.

        * .npz: arrays ``view_0``, ``view_1``, ... with samples as rows, optional labels ``y``;
        * .mat (up to version 7): a cell array named X, data, fea, views or features, or matrices
          X1, X2, ...; optional labels y, Y, gt, gnd, truth or labels. Samples may be rows or
          columns: the labels, or the size that all views share, decide;
        * .csv: numbers separated by commas, samples as rows, one header line allowed.

    Returns
    -------
    views : list of ndarray or sparse matrix of shape (n_samples, n_features_i)
    y : ndarray of shape (n_samples,) or None

    Raises
    ------
    ValueError
        If a file does not hold what is described above; the message names the file.
    OSError
        If a file cannot be opened.
    """
    paths = [Path(path) for path in paths]
    if not paths:
        raise ValueError("no file was given")
    for path in paths:
        if path.suffix.lower() not in (".npz", ".mat", ".csv", ".npy"):
            raise ValueError(f"{path}: unknown file type, expected .npz, .mat, .csv or .npy")
    readers = {".npz": _read_npz, ".mat": _read_mat}
    whole = [path for path in paths if path.suffix.lower() in readers]
    if whole and len(paths) > 1:
        raise ValueError(f"{whole[0]} holds all views: give it alone, or one file per view")
    if whole:
        return _named(readers[paths[0].suffix.lower()], paths[0])
    return [_named(_read_matrix, path) for path in paths], None


def _named(read, path):
    """What ``read`` finds in a file, whose name stands in every message."""
    try:
        return read(path)
    except Exception as error:  # parsers of damaged files raise whatever they like
        if isinstance(error, OSError) and error.filename is not None:
            raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        prefix = "" if message.startswith(str(path)) else f"{path}: "
        raise ValueError(f"{prefix}{message}") from error


def _read_npz(path):
    # numpy leaves a file open that it fails to read, unless the file is ours.
    with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
        names = sorted(
            (name for name in file.files if re.fullmatch(r"view_\d+", name)),
            key=lambda name: int(name[5:]),
        )
        if not names:
            held = ", ".join(file.files) or "nothing"
            raise ValueError(f"{path}: no arrays view_0, view_1, ... (it holds {held})")
        views = [file[name] for name in names]
        y = file["y"] if "y" in file.files else None
    for name, A in zip([*names, "y"], [*views, y], strict=True):
        if A is not None and not isinstance(A, np.ndarray):
            raise ValueError(f"{path}: {name} is not an array")
    return views, None if y is None else y.ravel()


def _read_matrix(path):
    if path.suffix.lower() == ".npy":
        X = np.load(path, allow_pickle=False)
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise ValueError(
                f"{path}: an array of {X.dtype} of shape {X.shape}, no matrix of numbers"
            )
        return X
    with open(path, encoding="utf-8-sig") as file:
        first = file.readline()
    fields = first.split(",")
    words = [k for k, field in enumerate(fields) if not _is_number(field)]
    if 0 < len(words) < len(fields):
        raise ValueError(
            f"{path}: line 1 has both numbers and text (field {words[0] + 1} is "
            f"{fields[words[0]].strip()!r}): a header is all names, samples are all numbers"
        )
    header = bool(words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of empty files, an error below
        try:
            X = np.loadtxt(path, delimiter=",", skiprows=int(header), ndmin=2, encoding="utf-8-sig")
        except ValueError as error:
            raise ValueError(f"{path}: {str(error).split(';')[0]}") from error
    if X.size == 0:
        raise ValueError(f"{path}: no numbers found")
    return X


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def _read_mat(path):
    content = _load_mat(path)
    labels = next((content[name] for name in LABEL_NAMES if _is_labels(content.get(name))), None)
    y = None if labels is None else np.asarray(labels).ravel()
    for name in VIEW_NAMES:
        if name in content:
            views = content[name] if isinstance(content[name], list) else [content[name]]
            break
    else:
        numbered = sorted(
            (name for name in content if re.fullmatch(r"(?:X|x|view|fea|data)_?\d+", name)),
            key=lambda name: int(re.search(r"\d+", name).group()),
        )
        if not numbered:
            held = ", ".join(content) or "nothing"
            raise ValueError(
                f"{path}: no cell array {', '.join(VIEW_NAMES[:5])} and no X1, X2, ... "
                f"(it holds {held})"
            )
        views = [content[name] for name in numbered]
    for i, A in enumerate(views):
        if isinstance(A, list) or A.ndim != 2 or A.dtype.kind not in "fiub":
            raise ValueError(f"{path}: view {i} is not a matrix of real numbers")
    return _samples_as_rows(views, y), y


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
