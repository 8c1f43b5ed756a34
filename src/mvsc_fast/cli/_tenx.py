"""Counts in the formats of 10x Genomics: .h5 files, and folders with matrix.mtx."""

import scipy.io
import scipy.sparse

from .._utils.containers import checked_csr
from .._utils.messages import import_extra
from ..views._frames import shown

MATRIX = "matrix.mtx"
# Names in version 2 of the .h5 files; later versions have them in a group "features".
OLD_NAMES = {"id": "genes", "name": "gene_names"}


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
