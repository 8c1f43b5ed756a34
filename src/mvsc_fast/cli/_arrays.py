"""Files that hold all views as arrays: .npz, .mat, HDF5 and zarr; pickles are never loaded."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse

from .._utils.containers import checked_compressed

VIEW_NAMES = ("X", "data", "fea", "views", "features", "Xs", "x")
LABEL_NAMES = ("y", "Y", "gt", "gnd", "truth", "labels", "label", "truelabel", "gtruth", "s")


def _read_npz(path, lazy):
    # numpy leaves a file open that it fails to read, unless the file is ours.
    with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
        names = _numbered(path, file.files)
        views = {name: file[name] for name in names}
        y = file["y"] if "y" in file.files else None
    for name, A in (*views.items(), ("y", y)):
        if A is not None and not isinstance(A, np.ndarray):
            raise ValueError(f"{path}: {name} is not an array")
    return views, None if y is None else y.ravel()


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
        raise ImportError(f"{path} needs {package}: pip install {package}") from error
    store = module.open(str(path), mode="r") if package == "zarr" else module.File(path, "r")
    views = {name: store[name] for name in _numbered(path, list(store))}
    for name, X in views.items():
        if len(getattr(X, "shape", ())) != 2 or X.dtype.kind not in "fiub":
            raise ValueError(f"{path}: {name} is not a matrix of numbers")
    if not lazy:
        views = {name: X[:] for name, X in views.items()}
    return views, np.ravel(store["y"][:]) if "y" in store else None


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
            raise ValueError(f"{path}: the MATLAB file is damaged and crashes the reader")
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
    """Reassemble the value that `_matlab.parts` took apart."""
    if "array" in node:
        return node["array"]
    if "indptr" in node:
        parts = node["data"], node["indices"], node["indptr"]
        A = scipy.sparse.csc_array(parts, shape=tuple(node["shape"].tolist()))
        return checked_compressed(A, "a sparse matrix of the file")
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
    return dict(zip(names, _samples_as_rows(views, y), strict=True)), y


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


# By suffix, functions of a path and of whether arrays stay on the disk: (views by name, y).
WHOLE = {
    ".npz": _read_npz,
    ".mat": _read_mat,
    ".h5": _read_store,
    ".hdf5": _read_store,
    ".zarr": _read_store,
}
