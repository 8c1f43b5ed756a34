"""Three groups of 40 cells: as AnnData, and as counts in the formats of 10x Genomics."""

import gzip
import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse

Y = np.repeat(np.arange(3), 40)
IDS = [f"AAAC{i}-1" for i in range(120)]
GENES = [f"G{j}" for j in range(28)] + ["G1", "G2"]  # two symbols occur twice, as in 10x files
TYPES = np.repeat(["Gene Expression", "Antibody Capture"], [30, 12])
SYMBOLS = [*GENES, *(f"CD{j}" for j in range(12))]
ACCESSIONS = [f"ENSG{j}" for j in range(42)]


def modalities():
    """AnnData of two modalities, each with an embedding."""
    ad = pytest.importorskip("anndata", reason="pip install 'mvsc-fast[scverse]'")
    rng, data = np.random.default_rng(0), {}
    for name, width in (("rna", 30), ("prot", 12)):
        X = (5 * np.eye(3, width)[Y] + rng.standard_normal((120, width))).astype(np.float32)
        data[name] = ad.AnnData(X)
        data[name].obs_names, data[name].obsm["X_pca"] = IDS, X[:, :6]
        data[name].var_names = [f"{name}{j}" for j in range(width)]
    return data


def counts():
    """Counts of 30 genes and 12 proteins in three groups of 40 cells."""
    rng = np.random.default_rng(0)
    means = np.hstack([1 + 9 * np.eye(3)[Y].repeat(d, axis=1) for d in (10, 4)])
    return rng.poisson(means)


def write_tenx(name, X, symbols, types):
    """Write an .h5 file of Cell Ranger; without types, of its second version."""
    h5py = pytest.importorskip("h5py")
    matrix = scipy.sparse.csc_matrix(X.T)
    accessions = ACCESSIONS[: len(symbols)]
    features = {"id": accessions, "name": symbols, "feature_type": types}
    if types is None:
        features = {"genes": accessions, "gene_names": symbols}
    with h5py.File(name, "w") as file:
        group = file.create_group("GRCh38" if types is None else "matrix")
        for part in ("data", "indices", "indptr", "shape"):
            group[part] = getattr(matrix, part)
        group["barcodes"] = np.array(IDS, dtype="S")
        place = group if types is None else group.create_group("features")
        for part, values in features.items():
            place[part] = np.array(values, dtype="S")


def write_folder(name, X, symbols, types, prefix="", end=".gz"):
    """Write a folder of Cell Ranger; without types, of its second version."""
    columns = [ACCESSIONS[: len(symbols)], symbols, *([] if types is None else [types])]
    table = "genes.tsv" if types is None else "features.tsv"
    matrix = io.BytesIO()
    scipy.io.mmwrite(matrix, scipy.sparse.coo_matrix(X.T))
    lines = {"barcodes.tsv": IDS, table: map("\t".join, zip(*columns, strict=True))}
    files = {part: "".join(f"{line}\n" for line in own).encode() for part, own in lines.items()}
    name.mkdir(exist_ok=True)
    for part, content in {"matrix.mtx": matrix.getvalue(), **files}.items():
        content = gzip.compress(content) if end else content
        (name / f"{prefix}{part}{end}").write_bytes(content)
