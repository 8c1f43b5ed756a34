"""AnnData and MuData files on the command line."""

import numpy as np
import pytest
import scipy.sparse
from cell_files import IDS, Y, modalities

from mvsc_fast import ConsensusTLRR
from mvsc_fast.cli import main
from mvsc_fast.views import from_anndata

WHY = "needs anndata and mudata: pip install 'mvsc-fast[scverse]'"
ad = pytest.importorskip("anndata", reason=WHY)
md = pytest.importorskip("mudata", reason=WHY)
pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations within these packages


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """all.h5mu, some.h5mu (a cell has no proteins), and rna.h5ad."""
    monkeypatch.chdir(tmp_path)
    data = modalities()
    data["rna"].X = scipy.sparse.csr_matrix(data["rna"].X)
    data["rna"].obs["kind"] = np.array(["B", "T", "NK"])[Y]
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


@pytest.mark.parametrize(
    ("path", "options", "use"),
    [
        ("all.h5mu", [], "X"),
        ("all.h5mu", ["--views", "rna=X_pca"], {"rna": "X_pca"}),
        ("all.h5mu", ["--views", "X_pca"], "X_pca"),
        ("some.h5mu", [], "X"),
        ("rna.h5ad", [], "X"),
        ("rna.h5ad", ["--views", "X_pca,X"], ["X_pca", "X"]),
    ],
)
def test_results_are_those_of_python(folder, path, options, use):
    written = cluster(path, *options, "--save", "m.mvsc")
    data = (md.read_h5mu if path.endswith("mu") else ad.read_h5ad)(path)
    model = ConsensusTLRR(3, random_state=0).fit(from_anndata(data, use))
    assert written[:, 0].tolist() == data.obs_names.tolist()
    assert written[:, 1].astype(int).tolist() == model.labels_.tolist()
    assert (table("predict", "m.mvsc", path) == written).mean() > 0.97


def test_labels_go_into_a_copy_of_the_file(folder, capsys, refused):
    before = (folder / "all.h5mu").read_bytes()
    assert main(["cluster", "all.h5mu", "--clusters", "3", "--labels", "new/out.h5mu"]) == 0
    data = md.read_h5mu("new/out.h5mu")
    assert data.obs["mvsc"].nunique() == 3 and data.obsm["X_mvsc"].shape[0] == 120
    assert capsys.readouterr().out == "" and (folder / "all.h5mu").read_bytes() == before
    options = ("--clusters", "3", "--labels", "b.h5mu", "--certainty")
    assert "mvsc_margin" in refused("cluster", "all.h5mu", *options)


def test_new_cells_may_have_other_columns_and_lack_a_modality(folder, capsys, refused):
    written = cluster("all.h5mu", "--save", "m.mvsc")
    data = md.read_h5mu("all.h5mu")
    md.MuData({"rna": data["rna"][:, ::-1].copy()}).write("new.h5mu")
    assert (table("predict", "m.mvsc", "new.h5mu") == written).all()
    assert "prot is not given" in capsys.readouterr().err
    md.MuData({"rna": data["rna"][:, 1:].copy()}).write("fewer.h5mu")
    assert "fewer.h5mu: no column 'rna0'" in refused("predict", "m.mvsc", "fewer.h5mu")
    md.MuData({"gex": data["rna"]}).write("other.h5mu")
    assert "none of the views 'rna', 'prot'" in refused("predict", "m.mvsc", "other.h5mu")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rna.h5ad", "--views", "pca"], "there is no 'pca': the layers are"),
        (["rna.h5ad", "all.h5mu"], "has all views: give only this file"),
        (["rna.h5ad", "--scores", "kid"], "no column 'kid'; the nearest name to 'kid' is 'kind'"),
        (["rna.h5ad", "--transpose"], "--transpose has no use for rna.h5ad"),
        (["rna.h5ad", "--labels", "out.h5mu"], "--labels out.h5mu: labels are .csv"),
        (["damaged.h5ad"], "damaged.h5ad"),
        (["absent.h5mu"], "absent.h5mu"),
        (["twice.h5ad"], "ids are missing or occur more than once: 'AAAC0-1'"),
    ],
)
def test_bad_input_is_an_error(folder, args, message, refused):
    (folder / "damaged.h5ad").write_bytes((folder / "rna.h5ad").read_bytes()[:2000])
    data = ad.read_h5ad("rna.h5ad")
    data.obs_names = [IDS[0], *IDS[:-1]]
    data.write("twice.h5ad")
    assert message in refused("cluster", *args, "--clusters", "3").splitlines()[-1]


def test_scores_by_a_column_of_obs(folder, capsys):
    cluster("rna.h5ad", "--scores", "kind")
    out = capsys.readouterr().out
    assert float(out.splitlines()[1].split()[1]) == 1 and "NK" in out
