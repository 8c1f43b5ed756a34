"""Files that contain all views as arrays: .npz, .mat, HDF5 and zarr; pickles are never loaded."""

import re
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import numpy as np
import scipy.io
import scipy.sparse

from .._utils.containers import checked_compressed
from .._utils.messages import import_extra

VIEW_NAMES = ("X", "data", "fea", "views", "features", "Xs", "x")
LABEL_NAMES = ("y", "Y", "gt", "gnd", "truth", "labels", "label", "truelabel", "gtruth", "s")


def _numbered(held, pattern):
    """The names that match a pattern such as ``view_\\d+``, in numerical order."""
    names = [name for name in held if re.fullmatch(pattern, name)]
    return sorted(names, key=lambda name: int(re.search(r"\d+", name).group()))


def _read_store(path, lazy):
    """The arrays view_0, view_1, ... and y of a .npz, HDF5 or zarr file."""
    path.stat()  # a missing file is not a damaged one
    suffix = path.suffix.lower()
    if suffix == ".npz":
        # If numpy cannot read a file that it has opened, it does not close it.
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as store:
            return _from_store(path, store, False)
    if suffix == ".zarr":
        return _from_store(path, import_extra("zarr", path).open(str(path), mode="r"), lazy)
    return _from_store(path, import_extra("h5py", path).File(path, "r"), lazy)


def _from_store(path, store, lazy):
    names = _numbered(store, r"view_\d+")
    if not names:
        raise ValueError(
            f"{path} has no arrays view_0, view_1, ... (it has {', '.join(store) or 'none'})"
        )
    views = {name: store[name] for name in names}
    _check_matrices(views, path)
    if not lazy:
        views = {name: X[:] for name, X in views.items()}
    return views, np.ravel(store["y"][:]) if "y" in store else None


def _load_mat(path):
    """All variables of a MATLAB file, each a matrix, a sparse matrix, or a list of them."""
    path.stat()
    # In a separate process, because a damaged file can crash the interpreter.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            content = pool.submit(scipy.io.loadmat, path).result()
        except NotImplementedError as error:
            raise ValueError("MATLAB 7.3 file; save it with save(..., '-v7')") from error
        except BrokenProcessPool as error:
            raise ValueError("the MATLAB file is damaged and crashes the reader") from error
    return {name: _value(A) for name, A in content.items() if not name.startswith("__")}


def _value(A):
    if scipy.sparse.issparse(A):  # not converted, because other formats may be much larger
        return checked_compressed(scipy.sparse.csc_array(A), "a sparse matrix of the file")
    if isinstance(A, np.ndarray) and A.dtype.kind == "O":
        return [_value(cell) for cell in A.ravel()]
    return A


def _check_matrices(views, path):
    for name, A in views.items():
        if len(getattr(A, "shape", ())) != 2 or A.dtype.kind not in "fiub":
            raise ValueError(f"{path}: {name} is not a matrix of real numbers")


def _read_mat(path, lazy):
    content = _load_mat(path)
    vectors = (
        A
        for A in map(content.get, LABEL_NAMES)
        if isinstance(A, np.ndarray) and A.dtype.kind in "fiu" and 1 < A.size == max(A.shape)
    )
    y = next(map(np.ravel, vectors), None)
    name = next((name for name in VIEW_NAMES if name in content), None)
    if name is not None:
        cells = content[name] if isinstance(content[name], list) else [content[name]]
        views = {f"{name}[{i}]": A for i, A in enumerate(cells)}
    else:
        names = _numbered(content, r"(?:X|x|view|fea|data)_?\d+")
        if not names:
            raise ValueError(
                f"no cell array {', '.join(VIEW_NAMES[:5])} and no X1, X2, ... (the file has "
                f"{', '.join(content) or 'no variables'})"
            )
        views = {name: content[name] for name in names}
    _check_matrices(views, path)
    rows, columns = ({A.shape[axis] for A in views.values()} for axis in (0, 1))
    lengths = {len(y)} if y is not None else columns if len(columns) == 1 < len(rows) else rows
    if rows != lengths == columns:  # samples are columns
        views = {name: A.T for name, A in views.items()}
    return views, y


# Functions by suffix. They take a path and ``lazy``, and return a dict of views and y.
WHOLE = {".mat": _read_mat, **dict.fromkeys((".npz", ".h5", ".hdf5", ".zarr"), _read_store)}
