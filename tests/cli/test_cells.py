"""AnnData and MuData files on the command line."""

import shutil
import sys

import numpy as np
import pytest
import scipy.sparse
from cell_files import GENES, IDS, SYMBOLS, TYPES, Y, counts, modalities, write_folder, write_tenx

from mvsc_fast import ConsensusTLRR, annotate
from mvsc_fast.cli import main
from mvsc_fast.views import from_anndata

WHY = "needs anndata and mudata: pip install 'mvsc-fast[scverse]'"
ad = pytest.importorskip("anndata", reason=WHY)
md = pytest.importorskip("mudata", reason=WHY)
pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations within these packages
TWO = ["--views", "rna=X_pca"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """all.h5mu, some.h5mu (a cell has no proteins), and rna.h5ad."""
    monkeypatch.chdir(tmp_path)
    data = modalities()
    data["rna"].X = scipy.sparse.csr_matrix(data["rna"].X)
    data["rna"].layers["counts"] = data["rna"].X.copy()
    data["rna"].obs["note"] = "as given"
    data["rna"].write("rna.h5ad")
    md.MuData(data).write("all.h5mu")
    md.MuData({**data, "prot": data["prot"][1:]}).write("some.h5mu")
    return tmp_path


def table(command, *args):
    """The ids and labels that a command writes."""
    assert main([command, *args, "--labels", "labels.csv"]) == 0
    return np.loadtxt("labels.csv", delimiter=",", dtype=str, skiprows=1)


def cluster(*args):
    return table("cluster", *args, "--clusters", "3")


def fitted(path, use):
    read = md.read_h5mu if path.endswith("mu") else ad.read_h5ad
    data = read(path)
    views = from_anndata(data, use)
    return data, views, ConsensusTLRR(3, random_state=0).fit(views)


@pytest.mark.parametrize(
    ("path", "options", "use"),
    [
        ("all.h5mu", [], "X"),
        ("all.h5mu", TWO, {"rna": "X_pca"}),
        ("all.h5mu", ["--views", "X_pca"], "X_pca"),
        ("some.h5mu", [], "X"),
        ("rna.h5ad", [], "X"),
        ("rna.h5ad", ["--views", "X_pca,counts"], ["X_pca", "counts"]),
        ("rna.h5ad", ["--views", "pca=X_pca,rna=X"], {"pca": "X_pca", "rna": "X"}),
    ],
)
def test_results_are_those_of_python(folder, path, options, use):
    before = (folder / path).read_bytes()
    out = f"new/out{path[-5:]}"
    written = cluster(path, *options, "--annotate", out, "--save", "model.pkl")
    data, views, model = fitted(path, use)
    assert written[:, 0].tolist() == data.obs_names.tolist()
    assert written[:, 1].astype(int).tolist() == model.labels_.tolist()
    annotate(data, model, views)
    found = (md.read_h5mu if path.endswith("mu") else ad.read_h5ad)(folder / out)
    assert found.obs.columns.tolist() == data.obs.columns.tolist()
    assert found.obs["mvsc"].tolist() == data.obs["mvsc"].tolist()
    for name in ("mvsc_connectivities", "mvsc_distances"):
        assert abs(found.obsp[name] - data.obsp[name]).max() == 0
    np.testing.assert_array_equal(found.obsm["X_mvsc"], data.obsm["X_mvsc"])
    assert found.uns["mvsc"].keys() == data.uns["mvsc"].keys()
    first = found["rna"] if path.endswith("mu") else found
    assert set(first.obs["note"]) == {"as given"} and (folder / path).read_bytes() == before
    again = table("predict", "model.pkl", path)
    assert again[:, 0].tolist() == written[:, 0].tolist()
    assert (again[:, 1] == written[:, 1]).mean() > 0.97


def test_matrices_remain_on_disk_if_memory_is_small(folder, set_memory, fitted_views):
    expected = cluster("all.h5mu")
    set_memory(0)
    assert (cluster("all.h5mu") == expected).all()
    views = fitted_views[-1]
    assert views.keys() == {"rna", "prot"}
    assert not any(isinstance(one.X, np.ndarray) for one in views.values())
    assert not any(scipy.sparse.issparse(one.X) for one in views.values())


def test_new_cells_may_have_other_columns_and_lack_a_modality(folder, capsys, refused):
    written = cluster("all.h5mu", "--save", "model.mvsc")
    data = md.read_h5mu("all.h5mu")
    md.MuData({"rna": data["rna"][:, ::-1].copy()}).write("new.h5mu")
    for file in ("new.h5mu", "rna=all.h5mu"):
        assert (table("predict", "model.mvsc", file) == written).all()
        assert "prot is not given" in capsys.readouterr().err
    turned = {name: data[name][:, ::-1].copy() for name in ("prot", "rna")}
    md.MuData(turned).write("turned.h5mu")
    assert (table("predict", "model.mvsc", "turned.h5mu") == written).all()
    # Modalities are known by their names.
    md.MuData({"gex": data["rna"], "prot": data["prot"]}).write("other.h5mu")
    assert "'gex', 'prot', but the model" in refused("predict", "model.mvsc", "other.h5mu")
    md.MuData({**data.mod, "tags": data["prot"].copy()}).write("more.h5mu")
    assert (table("predict", "model.mvsc", "more.h5mu") == written).all()
    assert "ignored: 'tags'" in capsys.readouterr().err
    data["rna"][:, 1:].copy().write("fewer.h5ad")
    cluster("rna.h5ad", "--save", "model.pkl")
    message = refused("predict", "model.pkl", "fewer.h5ad")
    assert "lacks 1 column of view 'X' of the model, such as 'rna0'" in message


@pytest.mark.parametrize("use", ["rna=X_pca", "rna=X_pca,prot=X"])
def test_model_files_know_the_matrices_of_the_fit(folder, use):
    written = cluster("all.h5mu", "--views", use, "--save", "model.mvsc")
    files = [f"{name}={name}.h5ad" for name in ("rna", "prot") if name in use]
    for name in ("rna", "prot"):
        md.read_h5mu("all.h5mu")[name].copy().write(f"{name}.h5ad")
    for new in (["all.h5mu"], files):
        assert (table("predict", "model.mvsc", *new) == written).all()
    md.MuData({"rna": ad.read_h5ad("rna.h5ad")}).write("rna.h5mu")
    assert table("predict", "model.mvsc", "rna.h5mu")[:, 0].tolist() == written[:, 0].tolist()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["rna.h5ad", "--views", "rna=pca"],
            "view 'rna' has no 'pca': choose one of the layers",
        ),
        (["all.h5mu", "--views", "X_pca,X"], "as in rna=X_pca"),
        (["all.h5mu", "--views", "rna="], "MODALITY=NAME,MODALITY=NAME"),
        (["all.h5mu", "--views", "rna=X,rna=X_pca"], "MODALITY=NAME,MODALITY=NAME"),
        (["all.h5mu", "--views", "rna=counts,prot=other"], "view 'prot' has no 'other'"),
        (["rna.h5ad", "--columns", "a*"], "--columns is for tables, but rna.h5ad is none"),
        (["rna.h5ad", "--join", "outer"], "rna.h5ad is the only file"),
        (["rna.h5ad", "all.h5mu"], "contains all views"),
        (["rna.h5ad", "--annotate", "out.h5mu"], "cannot write out.h5mu from rna.h5ad"),
        (["rna.h5ad", "--annotate", "rna.h5ad"], "rna.h5ad is an input file"),
        (["a.csv", "--annotate", "out.h5ad"], "cannot write out.h5ad from a.csv"),
        (["a.csv", "--views", "X_pca"], "--views is for .npz, .mat"),
        (["rna.h5ad", "--method", "snn", "--precomputed"], "rna.h5ad contains feat"),
        (["damaged.h5ad"], "damaged.h5ad"),
        (["absent.h5mu"], "absent.h5mu: No such file"),
    ],
)
def test_bad_input_is_an_error(folder, args, message, refused):
    (folder / "damaged.h5ad").write_bytes((folder / "rna.h5ad").read_bytes()[:2000])
    (folder / "a.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    err = refused("cluster", *args, "--clusters", "3")
    assert message in err and err.count("\n") == 1


def test_a_missing_package_is_reported_with_the_extra(folder, monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "mudata", None)
    message = refused("cluster", "all.h5mu", "--clusters", "3")
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
    written = cluster(file)
    err = capsys.readouterr().err
    assert f"120 samples, {widths} features" in err
    assert ("'Gene Expression', 'Antibody Capture'" in err) == ("+" in widths)
    assert written[:, 0].tolist() == IDS
    data = ad.AnnData(scipy.sparse.csr_matrix(counts()[:, : 42 if "+" in widths else 30]))
    data.var["feature_types"] = TYPES[: data.shape[1]]
    expected = ConsensusTLRR(3, random_state=0).fit(data).labels_
    assert written[:, 1].astype(int).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("fit", "new"),
    [("both.h5", "both"), ("both", "both.h5")]
    + [(fit, new) for fit in ("genes.h5", "chosen.h5ad") for new in ("old.h5", "old")],
)
def test_unmodified_tenx_files_are_labelled(tenx, fit, new):
    written = cluster(fit, "--save", "model.pkl")
    found = table("predict", "model.pkl", new)
    assert found[:, 0].tolist() == IDS and (found == written).mean() > 0.95


def test_a_file_of_one_view_is_given_by_the_name_of_the_view(tenx, capsys, refused):
    written = cluster("both.h5", "--save", "model.pkl")
    for file, view, absent in (
        ("genes.h5", "Gene Expression", "Antibody Capture"),
        ("proteins.h5ad", "Antibody Capture", "Gene Expression"),
    ):
        assert "has the views 'X', but the model has 'Gene" in refused("predict", "model.pkl", file)
        found = table("predict", "model.pkl", f"{view}={file}")
        assert f"{absent} is not given" in capsys.readouterr().err
        assert (found == written).mean() > 0.95


def test_repeated_genes_matter_only_if_the_model_needs_them(tenx, refused):
    data = ad.read_h5ad("unique.h5ad")
    data.var_names = GENES
    data.write("repeated.h5ad")
    data[:, 3:9].copy().write("chosen.h5ad")
    cluster("chosen.h5ad", "--save", "model.pkl")
    table("predict", "model.pkl", "repeated.h5ad")
    cluster("genes.h5", "--save", "model.pkl")
    data[:, ::-1].copy().write("other.h5ad")
    message = refused("predict", "model.pkl", "other.h5ad")
    assert "lacks 2 columns of view 'X' of the model, such as 'G1-1'" in message
    ad.read_h5ad("unique.h5ad")[:, :5].copy().write("chosen.h5ad")
    cluster("chosen.h5ad", "--save", "model.pkl")
    message = refused("predict", "model.pkl", "repeated.h5ad")
    assert "columns of the model more than once: 'G1', 'G2'" in message


@pytest.mark.parametrize("name", ["unique.h5ad", "all.h5mu"])
def test_zarr_stores_are_read_as_files(tenx, name):
    pytest.importorskip("zarr")
    genes, proteins = ad.read_h5ad("unique.h5ad"), ad.read_h5ad("proteins.h5ad")
    data = genes if name == "unique.h5ad" else md.MuData({"rna": genes, "prot": proteins})
    data.write(name)
    data.write_zarr("cells.zarr")
    written = cluster(name, "--save", "model.pkl")
    assert (cluster("cells.zarr") == written).all()
    assert (table("predict", "model.pkl", "cells.zarr") == written).all()


def test_a_file_for_each_modality(tenx, refused):
    genes, proteins = ad.read_h5ad("unique.h5ad"), ad.read_h5ad("proteins.h5ad")
    md.MuData({"unique": genes, "proteins": proteins}).write("all.h5mu")
    written = cluster("all.h5mu", "--save", "model.pkl")
    proteins[::-1].copy().write("proteins.h5ad")
    assert (cluster("unique.h5ad", "proteins.h5ad") == written).all()
    new = ["unique.h5ad", "proteins.h5ad"]
    assert (table("predict", "model.pkl", *new) == written).all()
    assert "view 'unique' of the model" in refused("predict", "model.pkl", *new[::-1])
    # Cells that a file lacks need --join.
    proteins[5:].copy().write("proteins.h5ad")
    assert "'AAAC0-1', 'AAAC1-1'" in refused("cluster", *new, "--clusters", "3")
    assert len(cluster(*new, "--join", "inner")) == 115
    assert len(cluster(*new, "--join", "outer")) == 120


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["unique.h5ad", "all.h5mu"], "all.h5mu contains all views"),
        (
            ["unique.h5ad", "new/unique.h5ad"],
            "unique.h5ad, new/unique.h5ad: two of these files have the same name",
        ),
        (
            ["unique.h5ad", "others.h5ad", "--join", "inner"],
            "others and unique have 0 ids in common",
        ),
        (["both.h5", "proteins.h5ad"], "both.h5 has several types of features"),
        (["types.h5ad"], "var['feature_types'] is missing for 2 features"),
        (["unique.h5ad", "--views", "X_pca"], "or the keys of obsm (none) with "),
        (["twice.h5ad"], "obs_names of twice occur more than once ('AAAC0-1')"),
        (["twice.h5mu"], "obs_names of prot occur more than once ('AAAC0-1')"),
        (["genomes.h5"], "['hg19', 'mm10']"),
        (["short"], "short: "),
        (["lone/matrix.mtx.gz"], "barcodes.tsv.gz"),
        (["many"], "it has several matrices ('a_matrix.mtx.gz', 'b_matrix.mtx.gz')"),
        (["genes.h5", "--annotate", "new.h5ad"], "cannot write new.h5ad from genes.h5"),
        (["unique.h5ad", "--scores"], "a column of obs, such as --scores cell_type"),
        (["unique.h5ad", "--scores", "kind"], "obs is called 'kind'; the table has 'cell_type'"),
    ],
)
def test_files_that_are_refused(tenx, args, message, refused):
    h5py = pytest.importorskip("h5py")
    genes, proteins = ad.read_h5ad("unique.h5ad"), ad.read_h5ad("proteins.h5ad")
    md.MuData({"rna": genes, "prot": proteins}).write("all.h5mu")
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
    with h5py.File("genomes.h5", "w") as file:
        for genome in ("hg19", "mm10"):
            file.create_group(genome)["barcodes"] = np.array(IDS, dtype="S")
    write_folder(tenx / "short", counts(), SYMBOLS[:-1], TYPES[:-1])
    write_folder(tenx / "lone", counts(), SYMBOLS, TYPES)
    (tenx / "lone/barcodes.tsv.gz").unlink()
    for prefix in ("a_", "b_"):
        write_folder(tenx / "many", counts(), SYMBOLS, TYPES, prefix)
    before = {path.name for path in tenx.iterdir()}
    last = refused("cluster", *args, "--clusters", "3").splitlines()[-1]
    assert message in last and len(last) < 350
    assert {path.name for path in tenx.iterdir()} == before


def test_one_of_several_matrices_of_a_folder(tenx):
    for prefix, shift in (("a_", 20), ("b_", 0)):
        cells = np.roll(counts(), shift, axis=0)
        write_folder(tenx / "many", cells, SYMBOLS, TYPES, prefix)
    assert (cluster("many/b_matrix.mtx.gz") == cluster("both")).all()


def test_scores_by_a_column_of_obs(tenx, capsys, refused):
    cluster("unique.h5ad", "--scores", "cell_type")
    out = capsys.readouterr().out
    assert float(out.splitlines()[1].split()[1]) == 1
    assert "120 samples by cluster (rows) and known label (columns)" in out and "NK" in out
    data = ad.read_h5ad("unique.h5ad")
    # A table is matched by the names of cells, whatever its other columns are.
    donors = data.obs[["cell_type"]].assign(sample=np.resize(["d1", "d2"], 120))
    donors.to_csv("donors.csv")
    cluster("unique.h5ad", "--scores", "donors.csv")
    assert float(capsys.readouterr().out.splitlines()[1].split()[1]) == 1
    data.obs["empty"] = ""
    data.obs["cell_type"] = data.obs["cell_type"].astype(object).where(np.arange(120) > 9, None)
    md.MuData({"rna": data, "prot": ad.read_h5ad("proteins.h5ad")}).write("all.h5mu")
    cluster("all.h5mu", "--scores", "cell_type")
    assert "110 of 120 samples have a label in cell_type" in capsys.readouterr().err
    words = ["cluster", "all.h5mu", "--clusters", "3", "--scores", "empty"]
    assert "empty has no label of these samples" in refused(*words)


def test_cells_as_many_as_genes(folder, capsys):
    ad.read_h5ad("rna.h5ad")[:30, :30].copy().write("square.h5ad")
    cluster("square.h5ad")
    assert "symmetric" not in capsys.readouterr().err
