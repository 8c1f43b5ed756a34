"""Files by their kind, and their names in messages."""

import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .._utils.messages import import_extra
from ..datasets._arrays import SUFFIXES
from ._tables import EXCEL, PACKED, PARQUET, TEXT, read_table

CELLS = {".h5ad": "anndata", ".h5mu": "mudata", "10x": "scanpy"}  # and the package of each kind
MATRIX = "matrix.mtx"
ALONE = (*SUFFIXES, *CELLS)  # files that contain all views
KNOWN = (
    ".npz, .mat, .h5, .zarr, .h5ad, .h5mu, a folder with matrix.mtx, or a .csv, .tsv, .txt (.gz), "
    ".parquet, .xlsx or .npy of each view"
)


def shown_name(path):
    """The name of a file as text that can be displayed everywhere."""
    return os.fsencode(str(path)).decode("utf-8", "replace")


def without_packing(path):
    """A path without .gz and the like."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def file_kind(path):
    """The kind of a file: that of cells by its content, or its suffix without .gz.

    Raise ValueError if it is unknown.
    """
    with errors_of(path):
        kind = cells_kind(path)
    if kind:
        return kind
    suffix = without_packing(path).suffix.lower()
    is_packed = path.suffix.lower() != suffix
    if suffix in TEXT or not is_packed and suffix in (".npy", *ALONE, *EXCEL, *PARQUET):
        return suffix
    reason = "is a folder" if path.is_dir() else "has an unknown file type"
    raise ValueError(f"{path} {reason}, expected {KNOWN}")


def read_file(path, kind, lazy, reading):
    """The `Table` of a file of some kind, or an array."""
    with errors_of(path):
        if kind == ".npy":
            return _read_array(path, lazy)
        return read_table(path, shown_name(path), kind, reading)


def _read_array(path, lazy):
    try:
        X = np.load(path, mmap_mode="r" if lazy else None, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"the array contains objects or is damaged ({error})") from error
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"expected a matrix of numbers with a row for each sample, got an array of "
            f"{X.dtype} of shape {X.shape}"
        )
    return X


def cells_kind(path):
    """The key of CELLS for a file or folder, by its suffix or its content, or None."""
    path = Path(path)
    suffix, names = path.suffix.lower(), set()
    if suffix in CELLS or is_matrix(path.name):
        return suffix if suffix in CELLS else "10x"
    if path.is_dir():
        names = {part.name for part in path.iterdir()}
        if any(map(is_matrix, names)):
            return "10x"
    elif suffix in (".h5", ".hdf5") and path.exists():
        with import_extra("h5py", path).File(path, "r") as file:
            names = set(file)
            if any(hasattr(group, "keys") and "barcodes" in group for group in file.values()):
                return "10x"
    if not {"obs", "var"} <= names:
        return None
    return ".h5mu" if "mod" in names else ".h5ad"


def is_matrix(name):
    """Whether a file of this name is a matrix of counts in text."""
    return name.removesuffix(".gz").endswith(MATRIX)


@contextmanager
def errors_of(path):
    """Add the name of the file at ``path`` to all errors."""
    try:
        yield
    except ImportError:
        raise
    except Exception as error:  # parsers of damaged files may raise any error
        if isinstance(error, OSError) and error.filename is not None:
            raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        name = shown_name(path)
        prefix = "" if message.startswith((name, str(path))) else f"{name}: "
        raise ValueError(f"{prefix}{message}") from error
