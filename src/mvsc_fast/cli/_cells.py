"""AnnData and MuData files: their views, and copies of the files with the results."""

import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse

from .._utils.messages import import_extra
from ..explanation import annotate
from ..views import from_anndata
from ..views._anndata import frames_of
from ..views._frames import shown, text_names
from ._outputs import replaced

CELLS = {".h5ad": "anndata", ".h5mu": "mudata"}  # and the package that reads them
KEY = "mvsc"  # of the results, as in `annotate`


def is_cells(path):
    """Whether a path has the suffix of AnnData or MuData files."""
    return Path(path).suffix.lower() in CELLS


def read_cells(path, use, lazy):
    """The AnnData or MuData object in a file, and its views by name.

    ``use`` is that of `from_anndata`, or None for ``X``; ``X`` remains on disk if ``lazy``.
    """
    suffix = path.suffix.lower()
    package = import_extra(CELLS[suffix], path, "'mvsc-fast[scverse]'")
    path.stat()  # a missing file is not a damaged one
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of later versions, and of repeated names in modalities
        data = getattr(package, f"read_{suffix[1:]}")(path, backed="r" if lazy else None)
    use = use or "X"
    if suffix == ".h5ad" and isinstance(use, dict):
        raise ValueError(f"--use has modalities ({shown(*use)}), but the file has none")
    if suffix == ".h5mu" and isinstance(use, list):
        raise ValueError(
            f"--use needs a modality for each name, as in {next(iter(data.mod))}={use[0]}"
        )
    frames = frames_of(data, use)
    if all(data.obs_names.equals(frame.index) for frame in frames.values()):
        return data, {name: _view(data, name, frame) for name, frame in frames.items()}
    return data, from_anndata(data, use)


def _view(data, name, frame):
    """A data frame of a dense matrix, else AnnData, also of ``X`` on disk."""
    from anndata import AnnData
    from pandas import DataFrame

    if isinstance(frame.values, np.ndarray):
        return DataFrame(frame.values, frame.index, frame.columns)
    if scipy.sparse.issparse(frame.values):
        columns = DataFrame(index=list(map(str, frame.columns)))
        return AnnData(frame.values, DataFrame(index=frame.index), columns)
    return getattr(data, "mod", {name: data})[name]


def columns_of(view):
    """Names of the columns of a view, or None if they are numbers."""
    return text_names(view.var_names if hasattr(view, "var_names") else view.columns)


def with_columns(view, columns, name):
    """The given columns of a view, in their order; raise ValueError if one is absent."""
    known = columns_of(view)
    if columns is None or known is None or known == columns:
        return view
    if absent := [one for one in columns if one not in set(known)]:
        raise ValueError(f"{name} lacks columns of the model: {shown(*absent)}")
    return view[:, columns] if hasattr(view, "var_names") else view[columns]


def write_annotated(name, source, data, model, views):
    """Write a copy of the file ``source`` of ``data`` with the results of a fitted model."""
    h5py, write_elem = import_extra("h5py", name), import_extra("anndata.io", name).write_elem
    annotate(data, model, views, key=KEY)
    known = data.uns[KEY]
    with replaced(name, "wb") as stream:
        shutil.copyfile(source, stream.name)
        with h5py.File(stream.name, "r+") as file:
            names = re.compile(rf"{KEY}(_margin)?|.+:{KEY}_weight")
            columns = list(filter(names.fullmatch, data.obs))
            for one in columns:
                write_elem(file["obs"], one, data.obs[one].values)
            order = file["obs"].attrs["column-order"]
            file["obs"].attrs["column-order"] = list(dict.fromkeys([*order, *columns]))
            embedding = known["params"]["use_rep"]
            write_elem(file, f"obsm/{embedding}", data.obsm[embedding])
            for key in (known["connectivities_key"], known["distances_key"]):
                write_elem(file, f"obsp/{key}", data.obsp[key])
            write_elem(file, f"uns/{KEY}", known)
