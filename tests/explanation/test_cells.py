"""Results are written where scanpy reads them, for AnnData and MuData."""

import warnings

import numpy as np
import pytest
from cell_files import IDS, modalities
from sklearn.metrics import adjusted_mutual_info_score

from mvsc_fast import ConsensusTLRR, annotate
from mvsc_fast.explanation import joint_graph
from mvsc_fast.views import from_anndata

ad = pytest.importorskip("anndata", reason="pip install anndata mudata")
md = pytest.importorskip("mudata", reason="pip install anndata mudata")
pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations within these packages


@pytest.fixture
def mdata():
    """Two modalities; one cell lacks the proteins."""
    data = modalities()
    return md.MuData({**data, "prot": data["prot"][1:]})


@pytest.mark.parametrize("max_samples", ["auto", 70])
def test_results_are_complete_and_can_be_stored(mdata, max_samples, tmp_path):
    model = ConsensusTLRR(3, max_samples=max_samples, random_state=0).fit(mdata)
    annotate(mdata, model, key="joint", n_neighbors=9)
    mdata.write(tmp_path / "out.h5mu")
    data = md.read_h5mu(tmp_path / "out.h5mu")
    assert data.obs["joint"].dtype == "category"
    assert data.obs["joint"].astype(int).tolist() == model.labels_.tolist()
    assert data.obs["joint_margin"].notna().all()
    assert data.obs.loc[IDS[0], ["rna:joint_weight", "prot:joint_weight"]].tolist() == [1, 0]
    known = data.uns["joint"]
    graph, distances = (data.obsp[known[f"{name}_key"]] for name in ("connectivities", "distances"))
    assert abs(graph - joint_graph(model, mdata, n_neighbors=9)).max() == 0
    assert (np.diff(distances.indptr) == 9).all()
    expected = {"method": "umap", "metric": "euclidean", "n_neighbors": 9, "use_rep": "X_joint"}
    assert known["params"] == {**expected, "estimator": "ConsensusTLRR", "n_clusters": 3}
    assert data.obsm["X_joint"].shape[0] == 120


def test_views_may_be_embeddings_and_must_have_the_samples_of_the_data(mdata):
    views = from_anndata(mdata, use="X_pca")
    model = ConsensusTLRR(3, random_state=0).fit(views)
    annotate(mdata, model, views)
    assert mdata.obs["mvsc"].astype(int).tolist() == model.labels_.tolist()
    before = list(mdata.obs)
    turned = {name: X[::-1] for name, X in views.items()}
    with pytest.raises(ValueError, match="views .*data .*from_anndata"):
        annotate(mdata, model, turned, key="other")
    with pytest.raises(ValueError, match=r"\[30, 12\].*\[6, 6\]"):
        annotate(mdata, model, key="other")
    with pytest.raises(ValueError, match="must be AnnData or MuData, got dict"):
        annotate(views, model)
    with pytest.raises(ValueError, match="the model has 120 samples, data has 119"):
        annotate(mdata["prot"], model, [X.to_numpy() for X in views.values()])
    assert list(mdata.obs) == before


@pytest.mark.parametrize("max_samples", ["auto", 70])
@pytest.mark.parametrize("single", [False, True])
def test_scanpy_works_on_the_results(mdata, single, max_samples):
    sc = pytest.importorskip("scanpy", reason="pip install mvsc-fast[scverse]")
    data = mdata["rna"] if single else mdata
    model = ConsensusTLRR(3, max_samples=max_samples, random_state=0).fit(data)
    annotate(data, model)
    sc.tl.umap(data, neighbors_key="mvsc")
    assert data.obsm["X_umap"].shape == (120, 2) and np.isfinite(data.obsm["X_umap"]).all()
    sc.tl.leiden(data, neighbors_key="mvsc", flavor="igraph", n_iterations=2, directed=False)
    assert data.obs["leiden"].nunique() >= 3
    if not single:
        mdata.push_obs(["mvsc"])
    sc.tl.rank_genes_groups(mdata["rna"], "mvsc")
    best = [mdata["rna"].uns["rank_genes_groups"]["names"][0][k] for k in range(3)]
    assert sorted(best) == ["rna0", "rna1", "rna2"]


def test_clusters_that_follow_a_batch_are_reported(mdata):
    model = ConsensusTLRR(3, random_state=0).fit(mdata)
    mdata.obs["run"] = model.labels_ // 2
    mdata.obs["dose"] = model.labels_ + np.arange(120) / 1000
    mdata.obs["partly"] = np.where(np.arange(120) % 3, None, (model.labels_ // 2).astype(str))
    mdata.obs["donor"] = np.arange(120) % 2
    mdata.obs["single"] = np.where(model.labels_ == 0, "a", None)
    mdata.obs["counts"] = np.arange(120) * 37 % 120
    mdata.obs.loc[mdata.obs_names[:60], "counts"] = np.nan
    mdata.obs.loc[mdata.obs_names[-1], ["dose", "counts"]] = np.inf
    for batch in ("run", "dose", "partly"):
        with pytest.warns(UserWarning, match=f"the clusters follow '{batch}': .* is 0.[5-9]"):
            annotate(mdata, model, batch=batch)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for batch in ("donor", "counts", "single"):
            annotate(mdata, model, batch=batch)
    i = np.arange(120)
    for every, agreement in ((2, 0.20), (4, 0.04)):
        batch = np.where(i % every, i * 7 % 5 % 3, model.labels_)
        assert adjusted_mutual_info_score(model.labels_, batch) == pytest.approx(
            agreement, abs=0.01
        )
        mdata.obs[f"every {every}"] = batch
    with pytest.warns(UserWarning, match=r"the clusters follow 'every 2': .* is 0\.2"):
        annotate(mdata, model, batch="every 2")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        annotate(mdata, model, batch="every 4")
    with pytest.raises(ValueError, match="no column 'x': it has"):
        annotate(mdata, model, batch="x")
    mdata["rna"].obs["site"] = "a"
    with pytest.raises(ValueError, match=r"pull_obs\('site', prefix_unique=False\)"):
        annotate(mdata, model, batch="site")


def test_names_that_cannot_be_stored_are_refused(mdata):
    views = {"rna/1": mdata["rna"].X}
    model = ConsensusTLRR(3, random_state=0).fit(views)
    before = list(mdata.obs)
    with pytest.raises(ValueError, match="'rna/1'"):
        annotate(mdata, model, views)
    for key in (5, None, "", "a/b"):
        with pytest.raises(ValueError, match=f"key must be a name .* got {key!r}") as error:
            annotate(mdata, model, views, key=key)
        assert isinstance(error.value, TypeError)
    assert list(mdata.obs) == before
