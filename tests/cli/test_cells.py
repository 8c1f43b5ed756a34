"""AnnData and MuData files on the command line."""

import re
import shutil
import sys

import numpy as np
import pytest
import scipy.sparse
from tenx_files import GENES, IDS, SYMBOLS, TYPES, Y, counts, write_folder, write_tenx

from mvsc_fast import ConsensusTLRR, annotate
from mvsc_fast.cli import _cluster_command, main
from mvsc_fast.views import from_anndata

WHY = "needs anndata and mudata: pip install 'mvsc-fast[scverse]'"
ad = pytest.importorskip("anndata", reason=WHY)
md = pytest.importorskip("mudata", reason=WHY)
pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations within these packages
TWO = ["--views", "rna=X_pca"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """all.h5mu, some.h5mu (a cell has no proteins), and rna.h5ad, of three groups of 40 cells."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y, ids = np.repeat(np.arange(3), 40), [f"cell{i}" for i in range(120)]
    given = {}
    for name, width in (("rna", 30), ("prot", 12)):
        X = (5 * np.eye(3, width)[y] + rng.standard_normal((120, width))).astype(np.float32)
        given[name] = ad.AnnData(scipy.sparse.csr_matrix(X) if name == "rna" else X)
        given[name].obs_names, given[name].obsm["X_pca"] = ids, X[:, :6]
        given[name].var_names = [f"{name}{j}" for j in range(width)]
    given["rna"].layers["counts"] = given["rna"].X.copy()
    given["rna"].obs["note"] = "as given"
    given["rna"].write("rna.h5ad")
    md.MuData(given).write("all.h5mu")
    md.MuData({**given, "prot": given["prot"][1:]}).write("some.h5mu")
    return tmp_path


def cluster(*args):
    """Ids and labels that the command writes."""
    return written("cluster", *args, "--clusters", "3")


def predict(*args):
    return written("predict", *args)


def written(*words):
    assert main([*words, "--labels", "labels.csv"]) == 0
    return np.loadtxt("labels.csv", delimiter=",", dtype=str, skiprows=1)


def read(path):
    return (md.read_h5mu if str(path).endswith("mu") else ad.read_h5ad)(path)


@pytest.mark.parametrize(
    ("path", "options", "use"),
    [
        ("all.h5mu", [], "X"),
        ("all.h5mu", TWO, {"rna": "X_pca"}),
        ("all.h5mu", ["--views", "X_pca"], "X_pca"),
        ("some.h5mu", [], "X"),
        ("rna.h5ad", [], "X"),
        ("rna.h5ad", ["--views", "X_pca,counts"], ["X_pca", "counts"]),
    ],
)
def test_results_are_those_of_python(folder, path, options, use):
    before = (folder / path).read_bytes()
    out = f"new/out{path[-5:]}"
    table = cluster(path, *options, "--annotate", out, "--save", "model.pkl")
    data = read(path)
    views = from_anndata(data, use)
    model = ConsensusTLRR(3, random_state=0).fit(views)
    assert table[:, 0].tolist() == data.obs_names.tolist()
    assert table[:, 1].astype(int).tolist() == model.labels_.tolist()
    annotate(data, model, views)
    copy = read(folder / out)
    assert copy.obs.columns.tolist() == data.obs.columns.tolist()
    assert copy.obs["mvsc"].tolist() == data.obs["mvsc"].tolist()
    for name in ("mvsc_connectivities", "mvsc_distances"):
        assert abs(copy.obsp[name] - data.obsp[name]).max() == 0
    np.testing.assert_array_equal(copy.obsm["X_mvsc"], data.obsm["X_mvsc"])
    assert copy.uns["mvsc"].keys() == data.uns["mvsc"].keys()
    first = copy["rna"] if path.endswith("mu") else copy
    assert set(first.obs["note"]) == {"as given"} and (folder / path).read_bytes() == before
    again = predict("model.pkl", path)
    assert again[:, 0].tolist() == table[:, 0].tolist()
    assert (again[:, 1] == table[:, 1]).mean() > 0.97


def test_matrices_remain_on_disk_if_memory_is_small(folder, monkeypatch):
    seen, fit = [], ConsensusTLRR.fit
    monkeypatch.setattr(
        ConsensusTLRR, "fit", lambda self, views, y=None: seen.append(views) or fit(self, views)
    )
    expected = cluster("all.h5mu")
    seen.clear()
    monkeypatch.setattr(_cluster_command, "available_memory", lambda: 0)
    assert (cluster("all.h5mu") == expected).all()
    assert seen[0].keys() == {"rna", "prot"}
    for data in seen[0].values():
        assert not isinstance(data.X, np.ndarray) and not scipy.sparse.issparse(data.X)


def test_new_cells_may_have_other_columns_and_lack_a_modality(folder, capsys, refused):
    table = cluster("all.h5mu", "--save", "model.mvsc")
    rna, prot = read("all.h5mu").mod.values()
    turned = [rna[:, ::-1].copy(), prot[:, ::-1].copy()]
    files = {
        "new": {"rna": turned[0]},
        "turned": {"prot": turned[1], "rna": turned[0]},
        "other": {"gex": rna, "prot": prot},
        "narrow": {"gex": rna[:, 1:].copy(), "prot": prot},
        "none": {"gex": rna[:, :0].copy(), "dna": rna[:, :0].copy()},
    }
    for name, modalities in files.items():
        md.MuData(modalities).write(f"{name}.h5mu")
    for file, told in (
        ("new.h5mu", "prot is not given"),
        ("rna=all.h5mu", "prot is not given"),
        ("turned.h5mu", ""),
        ("other.h5mu", "'gex', 'prot' as 'rna', 'prot'"),
    ):
        assert (predict("model.mvsc", file) == table).all()
        assert told in capsys.readouterr().err
    for file, message in (
        ("narrow.h5mu", "gex lacks columns of rna of the model: 'rna0'"),
        ("none.h5mu", "none.h5mu has 'gex', 'dna', but the model has the views"),
    ):
        assert message in refused("predict", "model.mvsc", file)
    rna[:, 1:].copy().write("fewer.h5ad")
    cluster("rna.h5ad", "--save", "model.pkl")
    message = refused("predict", "model.pkl", "fewer.h5ad")
    assert "X lacks columns of the model: 'rna0'" in message


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("rna.h5ad --views rna=X_pca", "--views has modalities ('rna'), but the file has none"),
        ("all.h5mu --views X_pca,X", "as in rna=X_pca"),
        ("all.h5mu --views rna=", "MODALITY=NAME,MODALITY=NAME"),
        ("all.h5mu --views rna=X,rna=X_pca", "MODALITY=NAME,MODALITY=NAME"),
        ("all.h5mu --views dna=X_pca", "use has the keys 'dna'"),
        ("all.h5mu --views rna=counts,prot=other", "view 'prot' has no 'other'"),
        ("rna.h5ad --columns a*", "--columns is for tables, but rna.h5ad is none"),
        ("rna.h5ad --join outer", "rna.h5ad is the only file"),
        ("rna.h5ad all.h5mu", "contains all views"),
        ("rna.h5ad --annotate out.h5mu", "cannot write out.h5mu from rna.h5ad"),
        ("rna.h5ad --annotate rna.h5ad", "rna.h5ad is an input file"),
        ("a.csv --annotate out.h5ad", "cannot write out.h5ad from a.csv"),
        ("rna.h5ad --method snn --precomputed", "rna.h5ad contains feat"),
        ("damaged.h5ad", "damaged.h5ad"),
        ("absent.h5mu", "absent.h5mu: No such file"),
    ],
)
def test_bad_input_is_an_error(folder, args, message, refused):
    (folder / "damaged.h5ad").write_bytes((folder / "rna.h5ad").read_bytes()[:2000])
    (folder / "a.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    err = refused("cluster", *args.split(), "--clusters", 3)
    assert message in err and err.count("\n") == 1


def test_a_missing_package_is_reported_with_the_extra(folder, monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "mudata", None)
    message = refused("cluster", "all.h5mu", "--clusters", 3)
    assert "needs mudata: pip install 'mvsc-fast[scverse]'" in message


def test_a_copy_keeps_what_anndata_does_not_read_and_may_be_annotated_again(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File("rna.h5ad", "r+") as file:
        file.attrs["laboratory"] = 7
    cluster("rna.h5ad", "--annotate", "once.h5ad")
    cluster("once.h5ad", "--views", "X_pca", "--annotate", "twice.h5ad")
    with h5py.File("twice.h5ad") as file:
        assert file.attrs["laboratory"] == 7
        names = ["note", "mvsc", "mvsc_margin", "X:mvsc_weight", "X_pca:mvsc_weight"]
        assert file["obs"].attrs["column-order"].tolist() == names


def test_a_copy_that_fails_is_an_error_and_leaves_no_file(folder, monkeypatch, refused):
    def failing(*args):
        raise KeyError("column-order")

    monkeypatch.setattr("anndata.io.write_elem", failing)
    options = ["--clusters", "3", "--labels", "l.csv", "--annotate", "new.h5ad"]
    before = {path.name for path in folder.iterdir()}
    assert "error: new.h5ad: 'column-order'" in refused("cluster", "rna.h5ad", *options)
    assert {path.name for path in folder.iterdir()} == before | {"l.csv"}


# ------------------------------------------------------------------- files of other kinds


@pytest.fixture
def tenx(tmp_path, monkeypatch):
    """Both types of features in both.h5 and in a folder, genes alone in genes.h5 and old.h5."""
    monkeypatch.chdir(tmp_path)
    X = counts()
    write_tenx("both.h5", X, SYMBOLS, TYPES)
    write_tenx("genes.h5", X[:, :30], GENES, TYPES[:30])
    write_tenx("old.h5", X[:, :30], GENES, None)
    write_folder(tmp_path / "both", X, SYMBOLS, TYPES)
    write_folder(tmp_path / "old", X[:, :30], GENES, None, end="")
    genes = ad.AnnData(scipy.sparse.csr_matrix(X[:, :30].astype(np.float32)))
    genes.obs_names, genes.var_names = IDS, GENES
    genes.var_names_make_unique()
    genes.obs["cell_type"] = np.array(["B", "T", "NK"])[Y]
    genes.write("unique.h5ad")
    genes[:, ["G3", "G0", "G27", "G15"]].copy().write("chosen.h5ad")
    proteins = ad.AnnData(X[:, 30:].astype(np.float32))
    proteins.obs_names, proteins.var_names = IDS, SYMBOLS[30:]
    proteins.write("proteins.h5ad")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "widths"),
    [
        ("both.h5", "30 + 12"),
        ("both", "30 + 12"),
        ("both/matrix.mtx.gz", "30 + 12"),
        ("genes.h5", "30"),
        ("old.h5", "30"),
        ("old", "30"),
    ],
)
def test_tenx_files_are_read_as_they_are(tenx, capsys, file, widths):
    table = cluster(file)
    err = capsys.readouterr().err
    assert f"120 samples, {widths} features" in err and "counts are used as they are" in err
    assert ("'Gene Expression', 'Antibody Capture'" in err) == ("+" in widths)
    assert table[:, 0].tolist() == IDS
    data = ad.AnnData(scipy.sparse.csr_matrix(counts()[:, : 42 if "+" in widths else 30]))
    data.var["feature_types"] = TYPES[: data.shape[1]]
    expected = ConsensusTLRR(3, random_state=0).fit(data).labels_
    assert table[:, 1].astype(int).tolist() == expected.tolist()


@pytest.mark.parametrize("fit", ["genes.h5", "both.h5", "both", "unique.h5ad", "chosen.h5ad"])
def test_unmodified_tenx_files_are_labelled(tenx, fit):
    table = cluster(fit, "--save", "model.pkl")
    for new in ("genes.h5", "both.h5", "old.h5", "both", "old"):
        labels = predict("model.pkl", new)
        assert labels[:, 0].tolist() == IDS and (labels == table).mean() > 0.95


def test_views_of_a_model_that_a_file_lacks_are_reported(tenx, capsys):
    table = cluster("both.h5", "--save", "model.pkl")
    for file, view, absent in (
        ("genes.h5", "Gene Expression", "Antibody Capture"),
        ("proteins.h5ad", "Antibody Capture", "Gene Expression"),
    ):
        assert (predict("model.pkl", file) == table).mean() > 0.95
        err = capsys.readouterr().err
        assert f"'X' as '{view}'" in err and f"{absent} is not given" in err


def test_scaled_models_label_sparse_files(tenx):
    table = cluster("proteins.h5ad", "--scale", "standard", "--save", "model.pkl")
    assert (predict("model.pkl", "both.h5") == table).mean() > 0.95


def test_repeated_genes_matter_only_if_the_model_needs_them(tenx, refused):
    data = ad.read_h5ad("unique.h5ad")
    data[:, ["G0", "G1", "G3"]].copy().write("chosen.h5ad")  # the file does not tell which G1
    cluster("chosen.h5ad", "--save", "model.pkl")
    message = "columns of the model more than once: 'G1'"
    assert message in refused("predict", "model.pkl", "genes.h5")
    cluster("genes.h5", "--save", "model.pkl")
    data.var_names = [name.replace("-", " copy ") for name in data.var_names]
    data.write("other.h5ad")
    assert message in refused("predict", "model.pkl", "other.h5ad")


@pytest.mark.parametrize("name", ["unique.h5ad", "all.h5mu"])
def test_zarr_stores_are_read_as_files(tenx, name):
    pytest.importorskip("zarr")
    genes, proteins = ad.read_h5ad("unique.h5ad"), ad.read_h5ad("proteins.h5ad")
    data = genes if name == "unique.h5ad" else md.MuData({"rna": genes, "prot": proteins})
    data.write(name)
    data.write_zarr("cells.zarr")
    table = cluster(name, "--save", "model.pkl")
    assert (cluster("cells.zarr") == table).all()
    assert (predict("model.pkl", "cells.zarr") == table).all()


def test_a_file_for_each_modality(tenx, refused):
    genes, proteins = ad.read_h5ad("unique.h5ad"), ad.read_h5ad("proteins.h5ad")
    md.MuData({"unique": genes, "proteins": proteins}).write("all.h5mu")
    table = cluster("all.h5mu", "--save", "model.pkl")
    proteins[::-1].copy().write("proteins.h5ad")
    new = ["unique.h5ad", "proteins.h5ad"]
    assert (cluster(*new) == table).all() and (predict("model.pkl", *new) == table).all()
    message = refused("predict", "model.pkl", *new[::-1])
    assert re.search("proteins.h5ad: unique lacks columns .* VIEW=FILE", message)
    # Cells that a file lacks need --join.
    proteins[5:].copy().write("proteins.h5ad")
    assert "'AAAC0-1', 'AAAC1-1'" in refused("cluster", *new, "--clusters", 3)
    assert len(cluster(*new, "--join", "inner")) == 115
    assert len(cluster(*new, "--join", "outer")) == 120


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("unique.h5ad new/unique.h5ad", "unique.h5ad: two of these files have the same name"),
        ("unique.h5ad others.h5ad --join inner", "no cell occurs in all of 'unique', 'others'"),
        ("both.h5 proteins.h5ad", "both.h5 has several types of features ('Gene Expression',"),
        ("types.h5ad", "var['feature_types'] is missing for 2 features"),
        ("unique.h5ad --views X_pca", "or the keys of obsm (none) with --views"),
        ("twice.h5ad", "obs_names of twice occur more than once ('AAAC0-1')"),
        ("twice.h5", "obs_names of twice occur more than once ('AAAC0-1')"),
        ("twice.h5mu", "obs_names of prot occur more than once ('AAAC0-1')"),
        ("genomes.h5", "it has several genomes ('hg19', 'mm10'): save one of them"),
        ("short", "the matrix is 42 x 120, but there are 41 features and 120 barcodes"),
        ("lone/matrix.mtx.gz", "there is no barcodes.tsv or barcodes.tsv.gz"),
        ("many", "it has several matrices ('a_matrix.mtx.gz', 'b_matrix.mtx.gz')"),
        ("genes.h5 --annotate new.h5ad", "cannot write new.h5ad from genes.h5"),
        ("ancient.h5ad --annotate new.h5ad", "the format of anndata before 0.7"),
        ("unique.h5ad --scores", "name a column of obs, such as --scores cell_type"),
        ("unique.h5ad --scores kind", "neither a file of labels nor a column of obs"),
    ],
)
def test_files_that_are_refused(tenx, refused, args, message):
    h5py = pytest.importorskip("h5py")
    proteins = ad.read_h5ad("proteins.h5ad")
    (tenx / "new").mkdir()
    shutil.copy("unique.h5ad", "new/unique.h5ad")
    proteins.var["feature_types"] = [None, None, *"aaaaa", *"bbbbb"]
    proteins.write("types.h5ad")
    del proteins.var["feature_types"]
    proteins.obs_names = [f"other {name}" for name in IDS]
    proteins.write("others.h5ad")
    proteins.obs_names = [IDS[0], *IDS[:-1]]
    proteins.write("twice.h5ad")
    md.MuData({"prot": proteins}).write("twice.h5mu")
    write_tenx("twice.h5", counts(), SYMBOLS, TYPES, proteins.obs_names)
    with h5py.File("genomes.h5", "w") as file:
        for genome in ("hg19", "mm10"):
            file.create_group(genome)["barcodes"] = np.array(IDS, dtype="S")
    write_folder(tenx / "short", counts(), SYMBOLS[:-1], TYPES[:-1])
    write_folder(tenx / "lone", counts(), SYMBOLS, TYPES)
    (tenx / "lone/barcodes.tsv.gz").unlink()
    for prefix in ("a_", "b_"):
        write_folder(tenx / "many", counts(), SYMBOLS, TYPES, prefix)
    shutil.copy("unique.h5ad", "ancient.h5ad")
    with h5py.File("ancient.h5ad", "r+") as file:
        del file["obs"].attrs["column-order"]
    before = {path.name for path in tenx.iterdir()}
    *_, last = refused("cluster", *args.split(), "--clusters", 3).splitlines()
    assert message in last and len(last) < 350
    assert {path.name for path in tenx.iterdir()} == before


def test_one_of_several_matrices_of_a_folder(tenx):
    for prefix, scale in (("a_", 1), ("b_", 2)):
        write_folder(tenx / "many", scale * counts(), SYMBOLS, TYPES, prefix)
    expected = cluster("both")
    assert (cluster("many/a_matrix.mtx.gz") == expected).all()


def test_scores_by_a_column_of_obs(tenx, capsys):
    cluster("unique.h5ad", "--scores", "cell_type")
    out = capsys.readouterr().out
    assert float(out.splitlines()[1].split()[1]) == 1
    assert "120 samples by cluster (rows) and known label (columns)" in out and "NK" in out
    data = ad.read_h5ad("unique.h5ad")
    data.obs["cell_type"] = data.obs["cell_type"].astype(object).where(np.arange(120) > 9, None)
    md.MuData({"rna": data, "prot": ad.read_h5ad("proteins.h5ad")}).write("all.h5mu")
    cluster("all.h5mu", "--scores", "cell_type")
    assert "110 of 120 samples have a label in cell_type" in capsys.readouterr().err
