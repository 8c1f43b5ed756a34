"""AnnData, MuData and 10x files: their views, and copies of the files with the results."""

import shutil
import warnings
from pathlib import Path

import numpy as np

from .._utils.containers import checked_csr
from .._utils.messages import import_extra
from ..explanation._cells import annotate
from ..preprocessing._table_columns import alike
from ..views import from_anndata
from ..views._anndata import is_anndata, split_by_type
from ..views._frames import repeated, shown
from ._columns import find_columns
from ._matching import ANY, check_same_ids, match_note
from ._outputs import replaced

EXTRA = "'mvsc-fast[scverse]'"
CELLS = {".h5ad": "anndata", ".h5mu": "mudata", "10x": "scanpy"}  # and the package of each kind
MATRIX = "matrix.mtx"


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


def parse_use(text):
    """Names of matrices: one, a list such as "X_pca,X_lsi", or a dict as "rna=X_pca,prot=X_clr"."""
    names = text.split(",")
    if not any("=" in name for name in names):
        return text if len(names) == 1 else names
    pairs = [name.split("=") for name in names]
    if any(len(pair) != 2 or not all(pair) for pair in pairs) or len(dict(pairs)) < len(pairs):
        raise ValueError(f"--views {text}: expected NAME,NAME or MODALITY=NAME,MODALITY=NAME")
    return dict(pairs)


def use_of_files(use, names, paths):
    """The matrices ``use`` of the views ``names`` of a fit, by the names of new files.

    A file of one modality has the name of the file, if there are several, and else none.
    """
    if not isinstance(use, dict) or cells_kind(paths[0]) not in (".h5ad", "10x"):
        return use
    matrices = [use.get(name, "X") for name in names]
    if len(paths) == 1:
        return matrices[0] if len(names) == 1 else dict(zip(names, matrices, strict=True))
    return dict(zip((path.stem for path in paths), matrices, strict=True))


def read_cells(paths, use, lazy, join):
    """The AnnData or MuData object of files, its ids, its views by name, and notes.

    Several files are modalities of a dict. ``use`` is that of `from_anndata`, or None for ``X``,
    which remains on disk if ``lazy``.
    """
    use, notes = use or "X", []
    objects = [_read(path, lazy) for path in paths]
    data = objects[0]
    if len(paths) > 1:
        data = _join_modalities(paths, objects, join)
        notes.append(match_note([part.obs_names for part in objects]))
    if isinstance(use, dict) and join == ANY and not is_anndata(data):
        # New cells may lack modalities.
        use = {name: use[name] for name in use if name in getattr(data, "mod", data)} or use
    # Matrices of all cells can stay on disk; cells that lack a modality get rows of NaN in memory.
    views = split_by_type(data) if use == "X" else None
    if is_anndata(views):
        views = {"X": views}
    elif views is not None and is_anndata(data):
        notes.append(f"views by var['feature_types']: {shown(*views)}")
    cells = data if hasattr(data, "obs_names") else next(iter(data.values()))
    if views is None or not all(cells.obs_names.equals(part.obs_names) for part in views.values()):
        views = from_anndata(data, use)
    view = next(iter(views.values()))
    return data, view.obs_names if is_anndata(view) else view.index, views, notes


def _read(path, lazy):
    """The AnnData or MuData object of one file, in which each id occurs once."""
    kind = cells_kind(path)
    package = import_extra(CELLS[kind], path, EXTRA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of later versions, and of repeated names
        if kind == "10x":
            data = _read_tenx(path, package)
        elif path.is_dir():
            data = package.read_zarr(path)
        else:
            data = getattr(package, f"read_{kind[1:]}")(path, backed="r" if lazy else None)
    for name, part in getattr(data, "mod", {path.stem: data}).items():
        if len(duplicates := repeated(part.obs_names)):
            raise ValueError(
                f"obs_names of {name} occur more than once ({shown(*duplicates)}): make them "
                "distinct with obs_names_make_unique(), or join samples with anndata.concat(..., "
                "index_unique='-')"
            )
    return data


def _read_tenx(path, scanpy):
    """AnnData of an .h5 file of Cell Ranger, of a folder, or of a matrix beside its tables."""
    if path.suffix.lower() in (".h5", ".hdf5"):
        data = scanpy.read_10x_h5(path, gex_only=False)
    else:
        parts = path.iterdir() if path.is_dir() else [path]
        matrices = sorted(part for part in parts if is_matrix(part.name))
        if len(matrices) > 1:
            names = shown(*(matrix.name for matrix in matrices))
            raise ValueError(f"it has several matrices ({names}): pass one of these files")
        prefix = matrices[0].name.partition(MATRIX)[0]
        data = scanpy.read_10x_mtx(matrices[0].parent, gex_only=False, prefix=prefix)
    data.X = checked_csr(data.X, "the matrix of counts")
    data.var_names_make_unique()
    return data


def _join_modalities(paths, objects, join):
    """AnnData by name with the same cells in the same order, unless all cells are joined."""
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise ValueError("two of these files have the same name: rename one")
    for path, part in zip(paths, objects, strict=True):
        if not is_anndata(part):
            raise ValueError(f"{path} contains all views: pass only this file")
        if split_by_type(part) is not part:
            raise ValueError(
                f"{path} has several types of features, which are views: pass it alone, or save "
                "each type as a file"
            )
    modalities = dict(zip(names, objects, strict=True))
    ids = objects[0].obs_names
    for name, part in modalities.items():
        check_same_ids(name, part.obs_names, names[0], objects[0].obs_names, join)
        ids = ids[ids.isin(part.obs_names)]
    if join != "inner" and any(len(part) > len(ids) for part in objects):
        return modalities
    return {
        name: part if part.obs_names.equals(ids) else part[ids] for name, part in modalities.items()
    }


def with_columns(view, name, columns):
    """A view of a file with the ``columns`` that a model has for the views, by their names."""
    titles = list(view.var_names if is_anndata(view) else view.columns)
    order = find_columns(titles, name, columns, name)
    return view[:, order] if is_anndata(view) else view.iloc[:, order]


def labels_of(data, name, ids):
    """Labels of samples, None for those without, from a column of ``obs`` of a part of the data."""
    parts = data if isinstance(data, dict) else {"": data, **getattr(data, "mod", {})}
    column = next((part.obs[name] for part in parts.values() if name in part.obs), None)
    if column is None:
        titles = [title for part in parts.values() for title in part.obs]
        others = alike(name, titles) if titles else "; obs has no columns"
        raise ValueError(f"no file or column of obs is called {name!r}{others}")
    column = column.reindex(ids)
    return np.where(column.notna(), column.to_numpy(dtype=object), None)


def write_annotated(path, source, data, model, views):
    """Write a copy of the file ``source`` of ``data`` with the results of a fitted model."""
    h5py = import_extra("h5py", path)
    write_elem = import_extra("anndata.io", path, "'anndata>=0.11'").write_elem
    annotate(data, model, views)
    # Matrices are copied with the file, because they may be larger than memory.
    with replaced(path, "wb") as stream:
        shutil.copyfile(source, stream.name)
        with h5py.File(stream.name, "r+") as file:
            write_elem(file, "obs", data.obs)
            for name in ("obsm", "obsp", "uns"):
                write_elem(file, name, dict(getattr(data, name)))
