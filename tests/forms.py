"""Forms of data: functions from the array of a view to an equal view in another container."""

import itertools
import warnings

import dask.array as da
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr
from conftest import memory_map

_files = itertools.count()
IDS, COLUMNS = "sample_", "feature_"  # beginnings of the names of samples and columns


def _frame(X, names, ids, folder):
    return pd.DataFrame(X, ids, names)


def _polars(X, names, ids, folder):
    return pytest.importorskip("polars").DataFrame(X, schema=names, nan_to_null=True)


def _arrow(X, names, ids, folder):
    arrow = pytest.importorskip("pyarrow")
    return arrow.Table.from_arrays([arrow.array(x, from_pandas=True) for x in X.T], names=names)


def _anndata(X, names, ids, folder):
    anndata = pytest.importorskip("anndata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own deprecations
        var = pd.DataFrame(index=pd.Index(names, dtype=object))  # others cannot be written
        return anndata.AnnData(X, obs=pd.DataFrame(index=ids), var=var)


def _backed(X, names, ids, folder):
    path = folder / f"{next(_files)}.h5ad"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _anndata(X, names, ids.astype(object), folder).write_h5ad(path)
        return pytest.importorskip("anndata").read_h5ad(path, backed="r")


def _hdf5(X, names, ids, folder):
    # Without a file on disk, which would be open until the end of the tests.
    file = h5py.File(folder / f"{next(_files)}.h5", "w", driver="core", backing_store=False)
    return file.create_dataset("X", data=X, chunks=(7, 2))


# Every function takes the array, the names of its columns, the ids of the samples and a folder.
FORMS = {
    "C array": lambda X, *_: np.ascontiguousarray(X),
    "F array": lambda X, *_: np.asfortranarray(X),
    "float32 array": lambda X, *_: X.astype(np.float32),
    "nested list": lambda X, *_: X.tolist(),
    "pandas": _frame,
    "pandas with NA": lambda *given: _frame(*given).astype("Float64").convert_dtypes(),
    "polars": _polars,
    "pyarrow": _arrow,
    "AnnData": _anndata,
    "sparse AnnData": lambda X, *about: _anndata(scipy.sparse.csr_matrix(X), *about),
    "backed AnnData": _backed,
    "csr": lambda X, *_: scipy.sparse.csr_array(X),
    "coo": lambda X, *_: scipy.sparse.coo_array(X),
    "memory map": lambda X, names, ids, folder: memory_map(X, folder),
    "hdf5": _hdf5,
    "zarr": lambda X, *_: zarr.array(X, chunks=(25, 3)),
    "dask": lambda X, *_: da.from_array(X, chunks=((len(X) // 3, 0, len(X) - len(X) // 3), -1)),
}
NAMED = {
    "pandas", "pandas with NA", "polars", "pyarrow", "AnnData", "sparse AnnData", "backed AnnData"
}  # fmt: skip
WITH_IDS = NAMED - {"polars", "pyarrow"}
SPARSE = {"sparse AnnData", "csr", "coo"}

# The form of each of three views.
MIXES = {
    "frame, memory map, dask": ("pandas", "memory map", "dask"),
    "AnnData, hdf5, frame": ("AnnData", "hdf5", "pandas"),
    "csr, zarr, csr": ("csr", "zarr", "csr"),
    "float32, list, F array": ("float32 array", "nested list", "F array"),
    "polars, frame with NA, array": ("polars", "pandas with NA", "C array"),
    "dask, coo, pyarrow": ("dask", "coo", "pyarrow"),
    "backed AnnData, sparse AnnData, dask": ("backed AnnData", "sparse AnnData", "dask"),
    "F array, float32 map, pyarrow": ("F array", "float32 memory map", "pyarrow"),
}
ALL = {**{name: (name,) * 3 for name in FORMS}, **MIXES}
FORMS["float32 memory map"] = lambda X, names, ids, folder: memory_map(X.astype("f4"), folder)


def plain(form):
    """Forms of the plain counterpart of views: arrays, or csr_array for sparse forms."""
    kinds = ALL[form]
    if all(kind.startswith("float32") for kind in kinds):
        return ("float32 array",) * 3
    return tuple("csr" if kind in SPARSE else "C array" for kind in kinds)


def converted(views, kinds, folder):
    """Views in the given forms, with ids, names of columns and files in a folder; None remains."""
    found = []
    for i, (X, kind) in enumerate(zip(views, kinds, strict=True)):
        if X is not None:
            names = [f"{COLUMNS}{i}_{j}" for j in range(X.shape[1])]
            X = FORMS[kind](X, names, pd.Index([f"{IDS}{k}" for k in range(len(X))]), folder)
        found.append(X)
    return found
