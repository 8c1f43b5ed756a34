"""AnnData and MuData files on the command line."""

import sys

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast import ConsensusTLRR, annotate
from mvsc_fast.cli import main
from mvsc_fast.views import from_anndata

WHY = "needs anndata and mudata: pip install 'mvsc-fast[scverse]'"
ad = pytest.importorskip("anndata", reason=WHY)
md = pytest.importorskip("mudata", reason=WHY)
pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations within these packages
TWO = ["--use", "rna=X_pca"]


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
    assert main(["cluster", *args, "--clusters", "3", "--labels", "labels.csv"]) == 0
    return labels("labels.csv")


def labels(path):
    return np.loadtxt(path, delimiter=",", dtype=str, skiprows=1)


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
        ("all.h5mu", ["--use", "X_pca"], "X_pca"),
        ("some.h5mu", [], "X"),
        ("rna.h5ad", [], "X"),
        ("rna.h5ad", ["--use", "X_pca,counts"], ["X_pca", "counts"]),
        ("rna.h5ad", ["--memory-limit", "100MB"], "X"),
        ("all.h5mu", ["--memory-limit", "100MB"], "X"),
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
    assert main(["predict", "model.pkl", path, "--labels", "again.csv"]) == 0
    again = labels("again.csv")
    assert again[:, 0].tolist() == written[:, 0].tolist()
    assert (again[:, 1] == written[:, 1]).mean() > 0.97


def test_matrices_remain_on_disk_within_a_memory_limit(folder, monkeypatch):
    seen, fit = [], ConsensusTLRR.fit
    monkeypatch.setattr(
        ConsensusTLRR, "fit", lambda self, views, y=None: seen.append(views) or fit(self, views)
    )
    cluster("all.h5mu", "--memory-limit", "100MB")
    assert seen[0].keys() == {"rna", "prot"}
    assert not any(isinstance(one.X, np.ndarray) for one in seen[0].values())
    assert not any(scipy.sparse.issparse(one.X) for one in seen[0].values())


def test_new_cells_may_have_other_columns_and_lack_a_modality(folder, capsys):
    written = cluster("all.h5mu", "--save", "model.mvsc")
    data = md.read_h5mu("all.h5mu")
    md.MuData({"rna": data["rna"][:, ::-1].copy()}).write("new.h5mu")
    assert main(["predict", "model.mvsc", "new.h5mu", "--labels", "new.csv"]) == 0
    assert "prot is not given" in capsys.readouterr().err
    assert (labels("new.csv") == written).all()
    assert main(["predict", "model.mvsc", "rna=all.h5mu", "--labels", "one.csv"]) == 0
    assert "prot is not given" in capsys.readouterr().err
    assert (labels("one.csv") == labels("new.csv")).all()
    turned = {name: data[name][:, ::-1].copy() for name in ("prot", "rna")}
    md.MuData(turned).write("turned.h5mu")
    assert main(["predict", "model.mvsc", "turned.h5mu", "--labels", "both.csv"]) == 0
    assert (labels("both.csv") == written).all()
    md.MuData({"gex": data["rna"], "prot": data["prot"]}).write("other.h5mu")
    assert main(["predict", "model.mvsc", "other.h5mu"]) == 2
    assert "other.h5mu has 'gex', but the model has the views" in capsys.readouterr().err
    data["rna"][:, 1:].copy().write("fewer.h5ad")
    cluster("rna.h5ad", "--save", "model.pkl")
    assert main(["predict", "model.pkl", "fewer.h5ad"]) == 2
    assert "X lacks columns of the model: 'rna0'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rna.h5ad", "--use", "rna=X_pca"], "--use has modalities ('rna'), but the file has none"),
        (["all.h5mu", "--use", "X_pca,X"], "as in rna=X_pca"),
        (["all.h5mu", "--use", "dna=X_pca"], "use has the keys 'dna'"),
        (["all.h5mu", "--use", "rna=counts,prot=other"], "view 'prot' has no 'other'"),
        (["rna.h5ad", "--columns", "a*"], "--columns is for tables, but rna.h5ad is none"),
        (["rna.h5ad", "--join", "outer"], "rna.h5ad is the only file"),
        (["rna.h5ad", "--scale", "standard"], "X is sparse or on disk"),
        (["rna.h5ad", "all.h5mu"], "contains all views"),
        (["rna.h5ad", "--annotate", "out.h5mu"], "cannot write out.h5mu from rna.h5ad"),
        (["rna.h5ad", "--annotate", "rna.h5ad"], "rna.h5ad is an input file"),
        (["a.csv", "--annotate", "out.h5ad"], "cannot write out.h5ad from a.csv"),
        (["a.csv", "--use", "X_pca"], "--use is for .h5ad and .h5mu"),
        (
            ["rna.h5ad", "--method", "snn", "--affinity", "precomputed"],
            "rna.h5ad contains feat",
        ),
        (["damaged.h5ad"], "damaged.h5ad"),
        (["absent.h5mu"], "absent.h5mu: No such file"),
    ],
)
def test_bad_input_is_an_error(folder, args, message, capsys):
    (folder / "damaged.h5ad").write_bytes((folder / "rna.h5ad").read_bytes()[:2000])
    (folder / "a.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    assert main(["cluster", *args, "--clusters", "3"]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_use_is_checked(capsys):
    for names in ("rna=X_pca,X", "rna=", "rna=a,rna=b"):
        with pytest.raises(SystemExit):
            main(["cluster", "a.h5mu", "--clusters", "3", "--use", names])
        assert f"MODALITY=NAME,MODALITY=NAME, got {names!r}" in capsys.readouterr().err


def test_a_missing_package_is_reported_with_the_extra(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mudata", None)
    assert main(["cluster", "all.h5mu", "--clusters", "3"]) == 2
    assert "needs mudata: pip install 'mvsc-fast[scverse]'" in capsys.readouterr().err


def test_a_copy_keeps_what_anndata_does_not_read_and_may_be_annotated_again(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File("rna.h5ad", "r+") as file:
        file.attrs["laboratory"] = 7
    cluster("rna.h5ad", "--annotate", "once.h5ad")
    cluster("once.h5ad", "--use", "X_pca", "--annotate", "twice.h5ad")
    with h5py.File("twice.h5ad") as file:
        assert file.attrs["laboratory"] == 7
        names = ["note", "mvsc", "mvsc_margin", "X:mvsc_weight", "X_pca:mvsc_weight"]
        assert file["obs"].attrs["column-order"].tolist() == names


def test_a_copy_that_fails_is_an_error_and_leaves_no_file(folder, monkeypatch, capsys):
    def failing(*args):
        raise KeyError("column-order")

    monkeypatch.setattr("anndata.io.write_elem", failing)
    options = ["--clusters", "3", "--labels", "l.csv", "--annotate", "new.h5ad"]
    before = {path.name for path in folder.iterdir()}
    assert main(["cluster", "rna.h5ad", *options]) == 2
    assert "error: new.h5ad: 'column-order'" in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == before | {"l.csv"}
