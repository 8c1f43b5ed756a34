"""The variables in files of arrays, each an array, a sparse matrix, or a list of them."""

import re
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import scipy  # imports scipy.io, which has 36 modules, where it is used
import scipy.sparse

from .._utils.containers import checked_compressed, checked_csr
from .._utils.messages import import_extra

SUFFIXES = (".npz", ".mat", ".h5", ".hdf5", ".zarr")
HDF5 = b"\x89HDF\r\n\x1a\n"
CHECK = "import sys, scipy.io; scipy.io.loadmat(sys.argv[1])"
OCTAVE = "its format is one of Octave: save it with save('-v7', 'FILE.mat', ...)"


def read_variables(path, selected_names=None):
    """Arrays by name; cells are lists, and fields of structs are named ``struct.field``.

    If ``selected_names`` is not None, other arrays may be missing if they cannot be read.
    """
    path.stat()  # a missing file is not a damaged one
    try:
        content = _read(path, selected_names)
    except (ImportError, MemoryError, PermissionError, ValueError):
        raise
    except Exception as error:  # parsers of damaged files may raise any error
        raise ValueError(f"the file is damaged: {error}") from error
    # The only array of a file of SciPy or zarr has no name.
    return _flat(content if isinstance(content, dict) else {"view_0": content})


def _read(path, selected_names):
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _read_npz(path, selected_names)
    if suffix == ".mat":
        return _read_mat(path)
    if suffix == ".zarr":
        return _node(import_extra("zarr", path).open(str(path), mode="r"))
    return _node(import_extra("h5py", path).File(path, "r"))


def _flat(value, name=""):
    """Variables by name, also those in structs, groups and arrays of structs."""
    if isinstance(value, list) and value and all(isinstance(cell, dict) for cell in value):
        value = {field: [cell.get(field) for cell in value] for field in value[0]}
    if not isinstance(value, dict):
        return {name: value}
    variables = {}
    for field, part in value.items():
        variables |= _flat(part, f"{name}.{field}" if name else field)
    return variables


def _read_npz(path, selected_names):
    if not zipfile.is_zipfile(path):
        raise ValueError("it is damaged, or no file of numpy.savez")
    # If numpy cannot read a file that it has opened, it does not close it.
    with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as store:
        if {"format", "shape", "data"} <= set(store):
            return checked_csr(scipy.sparse.load_npz(path), "the sparse matrix of the file")
        content = {}
        for name in store:
            try:
                A = store[name]
            except ValueError as error:
                if selected_names is None or name in selected_names:
                    raise ValueError(
                        f"{name}: {error}; name the other arrays with --views and --scores"
                    ) from error
            else:
                content[name] = np.char.decode(A, "utf-8", "replace") if A.dtype.kind == "S" else A
        return content


def _read_mat(path):
    with open(path, "rb") as file:
        head = file.read(512 + len(HDF5))
    if HDF5 in (head[: len(HDF5)], head[512:]):
        return _node(import_extra("h5py", path).File(path, "r"))
    if head.startswith((b"# Created by Octave", b"# name:", b"Octave-1-", b"\x1f\x8b")):
        raise ValueError(OCTAVE)
    # Another process tries first, because a damaged file may end this one.
    if _crashes_reader(path):
        raise ValueError("the MATLAB file is damaged and crashes the reader")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of variables with equal names, and of objects
        content = scipy.io.loadmat(path)
    return {name: _value(A) for name, A in content.items() if not name.startswith("__")}


def _crashes_reader(path):
    """Whether a signal ends a Python that reads a MATLAB file, as some damaged ones cause.

    False if there is no Python beside this one, as in frozen applications.
    """
    if getattr(sys, "frozen", False) or "python" not in Path(sys.executable or "").name.lower():
        return False
    command = [sys.executable, "-c", CHECK, str(path.absolute())]
    status = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ).returncode
    return status < 0 or status > 255  # a signal, or an exception of Windows


def _value(A):
    """A variable of `scipy.io.loadmat`."""
    if scipy.sparse.issparse(A):  # not converted, because other formats may be much larger
        return checked_compressed(scipy.sparse.csc_array(A), "a sparse matrix of the file")
    if isinstance(A, (scipy.io.matlab.MatlabOpaque, scipy.io.matlab.MatlabFunction)):
        return None
    if isinstance(A, np.ndarray) and A.dtype.names:
        cells = [{field: _value(cell[field]) for field in A.dtype.names} for cell in A.ravel()]
        return cells[0] if len(cells) == 1 else cells
    if isinstance(A, np.ndarray) and A.dtype.kind == "O":
        return [_value(cell) for cell in A.ravel()]
    return A


def _numerical(name):
    """A key that sorts names by the numbers in them."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _node(node):
    """A variable of HDF5 or zarr, also of MATLAB 7.3; matrices remain on disk."""
    # Formats that cannot be read are refused with the remedy.
    if "OCTAVE_NEW_FORMAT" in node.attrs:
        raise ValueError(OCTAVE)
    if "pandas_type" in node.attrs:
        raise ValueError("it contains data frames of pandas: write them with frame.to_parquet")
    # Sparse matrices are groups of three arrays, by MATLAB or by AnnData.
    if "MATLAB_sparse" in node.attrs:
        indptr = node["jc"][:].astype(np.int64)
        parts = (
            (node["data"][:], node["ir"][:]) if "ir" in node else (np.zeros(0), np.zeros(0, int))
        )
        shape = (int(node.attrs["MATLAB_sparse"]), len(indptr) - 1)
        return checked_compressed(
            scipy.sparse.csc_array((*parts, indptr), shape=shape), f"the sparse matrix {node.name}"
        )
    encoding = node.attrs.get("encoding-type")
    if encoding in ("csr_matrix", "csc_matrix"):
        matrix = scipy.sparse.csr_array if "csr" in encoding else scipy.sparse.csc_array
        parts = tuple(node[name][:] for name in ("data", "indices", "indptr"))
        A = matrix(parts, shape=tuple(node.attrs["shape"]))
        return checked_compressed(A, f"the matrix {node.name}")
    # Other groups are structs, whose fields keep the order of their numbers.
    if hasattr(node, "keys"):
        names = sorted((name for name in node if not name.startswith("#")), key=_numerical)
        return {name: _node(node[name]) for name in names}
    # MATLAB stores text as numbers, cells as references, and matrices transposed.
    kind = node.attrs.get("MATLAB_class", b"")
    if "MATLAB_object_decode" in node.attrs:
        return None
    if node.shape is None or "MATLAB_empty" in node.attrs:
        return np.empty((0, 0))
    if kind == b"char":
        rows = np.atleast_2d(node[()].T).tolist()
        return np.array(["".join(map(chr, row)) for row in rows])
    if node.dtype.kind in "OT" or node.dtype.kind == "S":
        values = np.ravel(node[()])
        if kind or values.size and type(values[0]).__name__ == "Reference":
            return [_node(node.file[value]) for value in values]
        return np.array([v.decode() if isinstance(v, bytes) else str(v) for v in values])
    if kind:
        return node[()].T
    return node if node.ndim == 2 else node[()]
