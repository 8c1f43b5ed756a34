"""Views and labels in files of arrays: .npz, .mat, HDF5 and zarr; pickles are never loaded."""

import re
from pathlib import Path

import numpy as np
import scipy  # imports scipy.io, which has 36 modules, where it is used
import scipy.sparse

from .._utils.containers import checked_compressed, checked_csr
from .._utils.messages import counted, import_extra

SUFFIXES = (".npz", ".mat", ".h5", ".hdf5", ".zarr")
DOCUMENTED = re.compile(r"view_\d+")
MAX_SHOWN = 12  # number of variables in a message


def read_arrays(path, *, views=None, truth=None, transpose=False, lazy=False):
    """The views of a file by name, and its labels or None.

    ``views`` and ``truth`` name variables; fields of structs and members of groups are named
    ``struct.field``. ``lazy`` leaves matrices of HDF5 and zarr on disk.
    """
    variables = read_variables(Path(path))
    matrices = {}
    for name in views or _usual_names(variables):
        value = _variable(variables, name)
        cells = value if isinstance(value, list) else [value]
        for i, X in enumerate(cells):
            if len(getattr(X, "shape", ())) != 2 or X.dtype.kind not in "fiub":
                raise ValueError(f"{name} is no matrix of numbers: {_described(variables)}")
            # Matrices on disk cannot be transposed there.
            X = X if scipy.sparse.issparse(X) or lazy and not transpose else X[:]
            matrices[f"{name}[{i}]" if cells is value else name] = X.T if transpose else X
    if not matrices:
        raise ValueError(f"the views are empty: the file has {_described(variables)}")
    sizes = {X.shape[0] for X in matrices.values()}
    if len(sizes) > 1:
        listed = ", ".join(f"{name} ({_shape(X)})" for name, X in matrices.items())
        raise ValueError(
            f"views have different numbers of samples, {listed}: name other "
            "views, or say with transpose or --transpose whether columns are samples"
        )
    return matrices, None if truth is None else _labels(variables, truth, sizes.pop())


def _usual_names(variables):
    """The names of views that nobody has named."""
    names = sorted(filter(DOCUMENTED.fullmatch, variables), key=lambda name: int(name[5:]))
    cells = [name for name, A in variables.items() if _is_cell_of_matrices(A)]
    if not names and len(cells) != 1:
        raise ValueError(
            "which variables are views? Name them, as in views=['a', 'b'] or --views a,b, unless "
            f"they are called view_0, view_1, ...: the file has {_described(variables)}"
        )
    return names or cells


def _is_cell_of_matrices(A):
    sizes = (min(getattr(X, "shape", ()), default=0) for X in A) if isinstance(A, list) else ()
    return min(sizes, default=0) > 1


def _variable(variables, name):
    if name not in variables:
        raise ValueError(f"no variable {name!r}: the file has {_described(variables)}")
    return variables[name]


def _labels(variables, name, n):
    """A vector of numbers or texts, also one in each cell."""
    y = _variable(variables, name)
    y = [np.ravel(cell)[0] for cell in y if np.size(cell)] if isinstance(y, list) else y
    y = np.array([]) if scipy.sparse.issparse(y) else np.ravel(y)
    if y.dtype.kind == "f" and np.array_equal(y, np.rint(y)):
        y = y.astype(int)
    if len(y) != n or y.dtype.kind not in "iubU":
        raise ValueError(f"{name} has no label for each of {n} samples: {_described(variables)}")
    return y


def _described(variables):
    """Names and shapes of variables in a message."""
    shown = [f"{name} ({_shape(A)})" for name, A in variables.items()]
    return ", ".join(shown[:MAX_SHOWN]) + (", ..." if len(shown) > MAX_SHOWN else "")


def _shape(A):
    if isinstance(A, list):
        return f"{counted(len(A), 'cell')} of {_shape(A[0])}" if A else "empty"
    return " x ".join(map(str, getattr(A, "shape", ()))) or "no array"


# ------------------------------------------------------------------------------------------- files


def read_variables(path):
    """Arrays by name; cells are lists, and fields of structs are named ``struct.field``."""
    path.stat()  # a missing file is not a damaged one
    suffix = path.suffix.lower()
    try:
        if suffix == ".npz":
            content = _read_npz(path)
        elif suffix == ".zarr":
            content = _node(import_extra("zarr", path).open(str(path), mode="r"))
        elif suffix == ".mat":
            content = _read_mat(path)
        else:
            content = _node(import_extra("h5py", path).File(path, "r"))
    except (ImportError, MemoryError, PermissionError, ValueError):
        raise
    except Exception as error:  # parsers of damaged files may raise any error
        raise ValueError(f"the file is damaged: {error}") from error
    # The only array of a file of SciPy or zarr has no name.
    return _flat(content if isinstance(content, dict) else {"view_0": content})


def _flat(value, name=""):
    """Variables by name, also those in structs and groups."""
    if not isinstance(value, dict):
        return {name: value}
    variables = {}
    for field, part in value.items():
        if not field.startswith("__"):
            variables |= _flat(part, f"{name}.{field}" if name else field)
    return variables


def _read_npz(path):
    with np.lib.npyio.NpzFile(path, allow_pickle=False) as store:  # np.load would take a pickle
        if {"format", "shape", "data"} <= set(store):
            return checked_csr(scipy.sparse.load_npz(path), "the sparse matrix of the file")
        return dict(store)


def _read_mat(path):
    try:
        variables = scipy.io.loadmat(path)
    except NotImplementedError:  # of version 7.3
        return _node(import_extra("h5py", path).File(path, "r"))
    except ValueError as error:  # Octave's text, which is its default
        raise ValueError(f"{error}: save it with the option -v7") from error
    return {name: _value(A) for name, A in variables.items()}


def _value(A):
    """A variable of `scipy.io.loadmat`."""
    if scipy.sparse.issparse(A):  # not converted, because other formats may be much larger
        return checked_compressed(scipy.sparse.csc_array(A), "a sparse matrix of the file")
    if isinstance(A, np.ndarray) and A.dtype.names and A.size == 1:
        return {field: _value(A.item()[k]) for k, field in enumerate(A.dtype.names)}
    if isinstance(A, np.ndarray) and A.dtype.kind == "O":
        return [_value(cell) for cell in A.ravel()]
    return A


def _node(node):
    """A variable of HDF5 or zarr, also of MATLAB 7.3; matrices remain on disk."""
    if "MATLAB_sparse" in node.attrs:
        if "data" not in node:
            return None
        parts = node["data"][:], node["ir"][:], node["jc"][:].astype(np.int64)
        shape = int(node.attrs["MATLAB_sparse"]), len(parts[2]) - 1
        return checked_compressed(scipy.sparse.csc_array(parts, shape=shape), node.name)
    if hasattr(node, "keys"):
        return {name: _node(node[name]) for name in node if not name.startswith("#")}
    # MATLAB stores text as numbers, cells as references, and matrices transposed.
    kind = node.attrs.get("MATLAB_class", b"")
    if node.shape is None or "MATLAB_empty" in node.attrs:
        return np.empty((0, 0))
    if kind == b"char":
        return np.array("".join(map(chr, np.ravel(node[()].T))))
    if kind == b"cell":
        return [_node(node.file[reference]) for reference in np.ravel(node[()])]
    if kind:
        return node[()].T
    if node.dtype.kind in "OST":
        return np.array(
            [v.decode() if isinstance(v, bytes) else str(v) for v in np.ravel(node[()])]
        )
    return node
