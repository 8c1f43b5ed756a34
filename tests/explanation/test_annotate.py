"""Results are written where scanpy reads them, for AnnData and MuData."""

import numpy as np
import pytest
from cell_files import modalities

from mvsc_fast import ConsensusTLRR, annotate, explain
from mvsc_fast.views import from_anndata

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
    annotate(mdata, model, key="joint")
    mdata.write(tmp_path / "out.h5mu")
    data = md.read_h5mu(tmp_path / "out.h5mu")
    assert data.obs["joint"].dtype == "category"
    assert data.obs["joint"].astype(int).tolist() == model.labels_.tolist()
    expected, margin = explain(model, mdata).samples["margin"], data.obs["joint_margin"]
    clustered = ~np.isnan(expected)
    np.testing.assert_allclose(margin[clustered], expected[clustered], atol=1e-5)
    assert (margin[~clustered] >= 0).all()
    Z = data.obsm["X_joint"]
    assert Z.shape[0] == 120 and np.isfinite(Z).all()
    nearest = (np.linalg.norm(Z[:, None] - Z, axis=2) + 1e9 * np.eye(120)).argmin(axis=1)
    assert (model.labels_[nearest] == model.labels_).mean() > 0.95
    graph, near = (data.obsp[f"joint_{name}"] for name in ("connectivities", "distances"))
    assert abs(graph - graph.T).max() == 0 and 0 < graph.data.min() and graph.data.max() <= 1
    assert (np.diff(graph.indptr) > 0).all() and (np.diff(near.indptr) == 15).all()
    assert graph.multiply(model.labels_[:, None] == model.labels_).sum() > 0.9 * graph.sum()
    A, inside = model.affinity_matrix_.toarray(), np.ix_(model.samples_, model.samples_)
    weights = np.minimum(A / np.sqrt(np.outer(A.max(axis=0), A.max(axis=0))), 1)
    np.testing.assert_allclose(graph.toarray()[inside][A > 0], weights[A > 0], rtol=1e-5)
    known = data.uns["joint"]
    assert known["connectivities_key"] == "joint_connectivities"
    assert known["params"]["use_rep"] == "X_joint" and known["params"]["n_neighbors"] == 15


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


def test_names_that_cannot_be_stored_are_refused(mdata):
    model = ConsensusTLRR(3, random_state=0).fit(mdata)
    before = list(mdata.obs)
    for key in (5, None, "", "a/b"):
        with pytest.raises(ValueError, match=f"key must be a name .* got {key!r}") as error:
            annotate(mdata, model, key=key)
        assert isinstance(error.value, TypeError)
    assert list(mdata.obs) == before
