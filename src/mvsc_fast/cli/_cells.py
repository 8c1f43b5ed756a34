"""AnnData, MuData and 10x files: their views, and copies of the files with the results."""

import re
import shutil
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

from .._utils.containers import checked_csr
from .._utils.messages import import_extra
from ..explanation._cells import annotate
from ..views import from_anndata
from ..views._anndata import frames_of, is_anndata, split_by_type
from ..views._frames import only_in, repeated, shown, text_names
from ._outputs import replaced

CELLS = {".h5ad": "anndata", ".h5mu": "mudata", "10x": "anndata"}  # and the package of each kind
KEY = "mvsc"  # of the results, as in `annotate`
MATRIX = "matrix.mtx"
# Names in version 2 of the .h5 files; later versions have them in a group "features".
OLD_NAMES = {"id": "genes", "name": "gene_names"}


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


def parse_use(text):
    """Names of matrices: one, a list such as "X_pca,X_lsi", or a dict as "rna=X_pca,prot=X_clr"."""
    names = text.split(",")
    if not any("=" in name for name in names):
        return text if len(names) == 1 else names
    pairs = [name.split("=") for name in names]
    if any(len(pair) != 2 or not all(pair) for pair in pairs) or len(dict(pairs)) < len(pairs):
        raise ValueError(f"--views {text}: expected NAME,NAME or MODALITY=NAME,MODALITY=NAME")
    return dict(pairs)


def read_cells(paths, use, lazy, join):
    """The AnnData or MuData object of files, its ids, its views by name, and notes.

    Several files are modalities of a dict. ``use`` is that of `from_anndata`, or None for ``X``,
    which remains on disk if ``lazy``.
    """
    # Several files are modalities of the same cells, so each must be one table.
    use = use or "X"
    objects = [_read(path, lazy) for path in paths]
    data = objects[0]
    if len(paths) > 1:
        if not all(map(is_anndata, objects)):
            whole = [
                path for path, part in zip(paths, objects, strict=True) if not is_anndata(part)
            ]
            raise ValueError(f"{whole[0]} contains all views: pass only this file")
        names = [path.stem for path in paths]
        if len(set(names)) < len(names):
            raise ValueError("two of these files have the same name: rename one")
        for path, part in zip(paths, objects, strict=True):
            types = split_by_type(part)
            if use == "X" and types is not part:
                raise ValueError(
                    f"{path} has several types of features ({shown(*types)}), which are views: "
                    "pass it alone, or save each type as a file"
                )
        data = _with_same_ids(dict(zip(names, objects, strict=True)), join)
    # Views of all cells can stay on disk; cells that lack a modality get rows of NaN in memory.
    _check_use(use, data)
    frames = frames_of(data, use, "--views")
    ids = data.obs_names if hasattr(data, "obs_names") else next(iter(frames.values())).index
    if all(ids.equals(frame.index) for frame in frames.values()):
        parts = split_by_type(data) if use == "X" else data
        views = {name: _view(parts, name, frame) for name, frame in frames.items()}
    else:  # some cells lack a modality
        views = from_anndata(data, use)
        ids = next(iter(views.values())).index
    # What was decided for the user is said.
    notes = []
    if use == "X" and is_anndata(data) and len(views) > 1:
        notes.append(f"views by var['feature_types']: {shown(*views)}")
    if "10x" in map(cells_kind, paths):
        notes.append(
            "counts are used as they are; the page 'Coming from Seurat or muon' prepares them"
        )
    return data, ids, views, notes


def _read(path, lazy):
    """The AnnData or MuData object of one file, in which each id occurs once."""
    kind = cells_kind(path)
    package = import_extra(CELLS[kind], path, "'mvsc-fast[scverse]'")
    path.stat()  # a missing file is not a damaged one
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of later versions, and of repeated names
        if kind == "10x":
            data = read_tenx(path)
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


def _with_same_ids(modalities, join):
    """AnnData by name with the same cells in the same order, unless all cells are joined."""
    first, *names = modalities
    ids = modalities[first].obs_names
    for name in names:
        other = modalities[name]
        # Differences are an error unless the user has said how to join.
        extra, absent = other.obs_names.difference(ids), ids.difference(other.obs_names)
        lack = only_in((extra, name), (absent, first))
        if lack and join is None:
            raise ValueError(
                f"{name} and {first} do not have the same cells ({lack}): use --join inner to keep "
                "those in every file, or --join outer to keep all; files of samples instead of "
                "modalities are joined with anndata.concat"
            )
        if lack and join != "inner":
            return modalities
        ids = ids[ids.isin(other.obs_names)]
    if not len(ids):
        raise ValueError(f"no cell occurs in all of {shown(*modalities)}")
    same = {name: part.obs_names.equals(ids) for name, part in modalities.items()}
    return {name: part if same[name] else part[ids] for name, part in modalities.items()}


def _check_use(use, data):
    """Raise ValueError if --views has another form than the data."""
    if isinstance(use, dict) and is_anndata(data):
        raise ValueError(f"--views has modalities ({shown(*use)}), but the file has none")
    if isinstance(use, list) and not is_anndata(data):
        modality = next(iter(getattr(data, "mod", data)))
        raise ValueError(f"--views needs a modality for each name, as in {modality}={use[0]}")
    if isinstance(use, list) and len(set(use)) < len(use):
        raise ValueError(f"--views {','.join(use)} has a name more than once")


def _view(data, name, frame):
    """A data frame of a dense matrix, else AnnData, also of ``X`` on disk."""
    from anndata import AnnData
    from pandas import DataFrame

    if isinstance(frame.values, np.ndarray):
        return DataFrame(frame.values, frame.index, frame.columns)
    if scipy.sparse.issparse(frame.values):
        columns = DataFrame(index=list(map(str, frame.columns)))
        return AnnData(frame.values, DataFrame(index=frame.index), columns)
    return data if is_anndata(data) else getattr(data, "mod", data)[name]


def columns_of(view):
    """Names of the columns of a view, or None if they are numbers."""
    return text_names(view.var_names if hasattr(view, "var_names") else view.columns)


def with_columns(view, columns, name):
    """The given columns of a view, in their order; raise ValueError if one is absent or repeated.

    Other columns do not matter.
    """
    titles = columns_of(view)
    if columns is None or titles is None or titles == columns:
        return view
    positions = {}
    for position, column in enumerate(_distinct(titles, columns)):
        positions.setdefault(column, []).append(position)
    if absent := [column for column in columns if column not in positions]:
        raise ValueError(
            f"{name} lacks columns of the model: {shown(*absent)}. Give files in the order of the "
            "fit, or as VIEW=FILE"
        )
    counts = Counter(columns)
    if duplicates := [title for title in counts if counts[title] > 1 or len(positions[title]) > 1]:
        raise ValueError(
            f"{name} or its fit has columns of the model more than once: {shown(*duplicates)}. "
            "Give the names of the fit to those that are meant, and make the others distinct with "
            "var_names_make_unique()"
        )
    order = [positions[column][0] for column in columns]
    if not hasattr(view, "var_names"):
        return view.iloc[:, order].set_axis(columns, axis=1)
    view = view[:, order]
    if list(view.var_names) != columns:
        view = view.to_memory()  # names of a part of a file cannot be changed
        view.var_names = columns
    return view


def views_by_columns(views, names, columns, path):
    """A dict: each view of a model, and the view of the file that has all its columns."""
    keys, titles = {}, {key: columns_of(view) or [] for key, view in views.items()}
    model_columns = {name: set(part or ()) for name, part in zip(names, columns, strict=True)}
    # Views of a file may have other names: they are known by having all columns of a model's view.
    for name, part in model_columns.items():
        having = [key for key in titles if part and part <= {*_distinct(titles[key], part)}]
        if len(having) > 1:
            raise ValueError(f"{path}: {shown(*having)} all have the columns of {name}")
        if having:
            keys[name] = having[0]
    # A view that has only some of the columns is not taken for one that is not given.
    others = [key for key in titles if key not in keys.values()]
    for name in [name for name in names if name not in keys]:
        for key in others:
            if model_columns[name].intersection(titles[key]):
                absent = sorted(model_columns[name].difference(titles[key]))
                raise ValueError(
                    f"{path}: {key} lacks columns of {name} of the model: {shown(*absent)}"
                )
    if not keys:
        raise ValueError(
            f"{path} has {shown(*views)}, but the model has the views {shown(*names)}, and no view "
            "has all columns of one of them"
        )
    return keys


def _distinct(names_in_file, columns):
    """The names as AnnData's ``make_index_unique`` writes them, if the model has such names."""
    from anndata.utils import make_index_unique
    from pandas import Index

    names = Index(names_in_file)
    stems = {column.rpartition("-")[0] for column in set(columns).difference(names_in_file)}
    return names_in_file if stems.isdisjoint(repeated(names)) else list(make_index_unique(names))


def column_of(data, name):
    """A column of ``obs`` of AnnData or MuData or of one of its modalities, or None."""
    parts = data if isinstance(data, dict) else {"": data, **getattr(data, "mod", {})}
    return next((part.obs[name] for part in parts.values() if name in part.obs), None)


# ------------------------------------------------------------------------------ 10x Genomics


def is_matrix(name):
    """Whether a file of this name is a matrix of counts in text."""
    return name.removesuffix(".gz").endswith(MATRIX)


def read_tenx(path):
    """AnnData of counts with a row for each cell."""
    from anndata import AnnData
    from pandas import DataFrame

    folder = path.is_dir() or is_matrix(path.name)
    X, barcodes, features = (_read_folder if folder else _read_hdf5)(path)
    # Files have features in rows, but some tools write them transposed.
    if X.shape == (len(barcodes), len(features["id"])):
        X = X.T
    if X.shape != (len(features["id"]), len(barcodes)):
        raise ValueError(
            f"the matrix is {X.shape[0]} x {X.shape[1]}, but there are "
            f"{len(features['id'])} features and {len(barcodes)} barcodes"
        )
    counts = scipy.sparse.csr_matrix(checked_csr(X, "the matrix of counts").T)
    names = list(features.pop("name", features["id"]))
    return AnnData(counts, DataFrame(index=list(barcodes)), DataFrame(features, index=names))


def _read_hdf5(path):
    """The matrix, barcodes and features of an .h5 file of Cell Ranger."""
    with import_extra("h5py", path).File(path, "r") as file:
        genomes = [name for name in file if "barcodes" in file[name]]
        if len(genomes) > 1:
            raise ValueError(f"it has several genomes ({shown(*genomes)}): save one of them")
        group = file[genomes[0]]
        features = {key: group[name].asstr()[:] for key, name in OLD_NAMES.items() if name in group}
        for key, name in (("id", "id"), ("name", "name"), ("feature_types", "feature_type")):
            if name in group.get("features", ()):
                features[key] = group["features"][name].asstr()[:]
        parts = tuple(group[name][:] for name in ("data", "indices", "indptr"))
        X = scipy.sparse.csc_matrix(parts, shape=tuple(group["shape"][:]))
        return X, group["barcodes"].asstr()[:], features


def _read_folder(path):
    """The matrix, barcodes and features of a folder, or of a matrix and the tables beside it."""
    matrices = (
        [part for part in path.iterdir() if is_matrix(part.name)] if path.is_dir() else [path]
    )
    if len(matrices) > 1:
        names = shown(*sorted(matrix.name for matrix in matrices))
        raise ValueError(f"it has several matrices ({names}): pass one of these files")
    beside, prefix = matrices[0].parent, matrices[0].name.partition(MATRIX)[0]
    tables = [_table(beside, prefix, names) for names in (("barcodes",), ("features", "genes"))]
    keys = ("id", "name", "feature_types")
    features = {key: tables[1][k].to_list() for k, key in enumerate(keys) if k in tables[1]}
    return scipy.io.mmread(matrices[0]), tables[0][0].to_list(), features


def _table(folder, prefix, names):
    """The table of one of these names beside a matrix."""
    pandas = import_extra("pandas", f"{prefix}{MATRIX}")
    for name in names:
        for end in ("tsv", "tsv.gz"):
            if (path := folder / f"{prefix}{name}.{end}").exists():
                options = {"sep": "\t", "header": None, "quoting": 3}
                return pandas.read_csv(path, dtype=str, keep_default_na=False, **options)
    raise ValueError(f"there is no {prefix}{names[0]}.tsv or {prefix}{names[0]}.tsv.gz")


# ----------------------------------------------------------------------------------------- copies


def check_source(path):
    """Raise ValueError if a copy of the file cannot get results."""
    try:
        with import_extra("h5py", path).File(path, "r") as file:
            if "column-order" in getattr(file.get("obs"), "attrs", ()):
                return
    except OSError:
        return  # it is absent or damaged, as its reader will say
    raise ValueError(
        f"--annotate: {path} has the format of anndata before 0.7: rewrite it with "
        "anndata.read_h5ad(FILE).write_h5ad(NEW)"
    )


def write_annotated(name, source, data, model, views):
    """Write a copy of the file ``source`` of ``data`` with the results of a fitted model."""
    # The copy is changed in place, so that parts which no package knows remain.
    h5py, write_elem = import_extra("h5py", name), import_extra("anndata.io", name).write_elem
    annotate(data, model, views, key=KEY)
    results = data.uns[KEY]
    with replaced(name, "wb") as stream:
        shutil.copyfile(source, stream.name)
        with h5py.File(stream.name, "r+") as file:
            names = re.compile(rf"{KEY}(_margin)?|.+:{KEY}_weight")
            columns = list(filter(names.fullmatch, data.obs))
            for column in columns:
                write_elem(file["obs"], column, data.obs[column].values)
            order = file["obs"].attrs["column-order"]
            file["obs"].attrs["column-order"] = list(dict.fromkeys([*order, *columns]))
            for group in ("obsm", "obsp", "uns"):
                if group not in file:
                    write_elem(file, group, {})
            embedding = results["params"]["use_rep"]
            write_elem(file, f"obsm/{embedding}", data.obsm[embedding])
            for key in (results["connectivities_key"], results["distances_key"]):
                write_elem(file, f"obsp/{key}", data.obsp[key])
            write_elem(file, f"uns/{KEY}", results)
