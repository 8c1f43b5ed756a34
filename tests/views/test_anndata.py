"""AnnData and MuData objects as views."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mvsc_fast import ConsensusTLRR, annotate, datasets, explain
from mvsc_fast.views import align, check_views, from_anndata

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations within anndata and mudata
IDS = [f"p{i}" for i in range(60)]


@pytest.fixture(scope="module")
def arrays():
    views, _ = datasets.make_multiview_subspaces(60, 3, n_features=(20, 15), random_state=0)
    return dict(zip(("rna", "atac"), views, strict=True))


def test_an_object_with_the_attributes_of_anndata_is_read_and_annotated(arrays):
    X, ids = arrays["rna"], pd.Index(IDS)
    one = SimpleNamespace(X=X, obs_names=ids, var_names=[f"g{j}" for j in range(20)])
    assert check_views({"rna": one})[0] is X
    with pytest.raises(ValueError, match="view 0 .*another order"):
        check_views([one, pd.DataFrame(X, index=IDS[::-1])])
    # Its columns have names, alone as in a dict.
    model = ConsensusTLRR(3, random_state=0).fit(one)
    assert [list(names) for names in model.feature_names_in_] == [one.var_names]
    turned = SimpleNamespace(X=X[:, ::-1], obs_names=ids, var_names=one.var_names[::-1])
    with pytest.raises(ValueError, match="in another order"):
        model.predict(turned)
    # Its matrices are selected by the names of views.
    vars(one).update(layers={}, var={}, obsm={"X_pca": X[:, :2]})
    (frame,) = from_anndata(one, use={"X": "X_pca"}).values()
    assert frame.shape == (60, 2)
    with pytest.raises(TypeError, match="use must name .*'X_pca'"):
        from_anndata({"rna": one}, use=["X_pca", "X"])
    assert check_views(pd.DataFrame(X[:, :2], columns=["obs_names", "X"]))[0].shape == (60, 2)
    # Results are written into its tables.
    vars(one).update(obs=pd.DataFrame(index=ids), obsp={}, uns={})
    annotate(one, model)
    assert one.obs["mvsc"].astype(int).tolist() == model.labels_.tolist()
    expected = explain(model, one).samples["margin"]
    np.testing.assert_allclose(one.obs["mvsc_margin"], expected, atol=1e-5)
    assert one.obsm["X_mvsc"].shape[0] == one.obsp["mvsc_connectivities"].shape[0] == 60


# ------------------------------------------------------------------ the real packages

WHY = "needs anndata and mudata: pip install anndata mudata"


@pytest.fixture
def modalities(arrays):
    ad = pytest.importorskip("anndata", reason=WHY)
    out = {}
    for name, X in arrays.items():
        one = out[name] = ad.AnnData(X.copy())
        one.obs_names, one.var_names = IDS, [f"{name}{j}" for j in range(X.shape[1])]
        one.obsm["X_pca"], one.layers["twice"] = X[:, :5].copy(), 2 * X
    return out


def mudata_of(modalities):
    return pytest.importorskip("mudata", reason=WHY).MuData(modalities)


def test_fits_of_anndata_and_mudata_are_those_of_their_arrays(arrays, modalities):
    plain = ConsensusTLRR(3, random_state=0).fit(arrays)
    mdata = mudata_of(modalities)
    for given in (mdata, modalities, list(modalities.values())):
        model = ConsensusTLRR(3, random_state=0).fit(given)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        assert [names[0] for names in model.feature_names_in_] == ["rna0", "atac0"]
    model.fit(mdata)
    assert model.view_names_in_ == ["rna", "atac"]
    np.testing.assert_array_equal(model.predict(mdata), plain.predict(arrays))
    turned = mudata_of(dict(reversed(modalities.items())))
    np.testing.assert_array_equal(model.predict(turned), plain.predict(arrays))
    assert explain(model, turned).samples.n_rows == 60


def test_modalities_with_other_samples_lack_views(arrays, modalities):
    parts = {"rna": modalities["rna"][:50].copy(), "atac": modalities["atac"][:9:-1].copy()}
    parts["atac"].X = scipy.sparse.csr_matrix(parts["atac"].X)
    mdata = mudata_of(parts)
    given = check_views(mdata, missing=True)
    frames = from_anndata(mdata)
    order = [IDS.index(one) for one in frames["rna"].index]
    assert sorted(order) == list(range(60)) and list(frames["atac"].index) == list(mdata.obs_names)
    ascending = from_anndata(mdata[IDS])
    assert list(ascending["rna"].index) == IDS
    for found, frame, (name, X) in zip(given, frames.values(), arrays.items(), strict=True):
        expected = X.copy()
        expected[slice(50, None) if name == "rna" else slice(None, 10)] = np.nan
        assert scipy.sparse.issparse(found) == (name == "atac")
        for rows in (found, *check_views(frame, missing=True)):
            values = np.array(rows.toarray() if name == "atac" else rows)
            values[np.isnan(values[:, 0])] = np.nan  # sparse rows store a single one
            np.testing.assert_array_equal(values, expected[order])
    assert ConsensusTLRR(3, random_state=0).fit(mdata).labels_.shape == (60,)
    with pytest.raises(ValueError, match="have different ids"):
        ConsensusTLRR(3).fit(parts)


def test_layers_and_embeddings_are_selected(arrays, modalities):
    one = modalities["rna"]
    both = from_anndata(one, use=["twice", "X_pca"])
    np.testing.assert_array_equal(both["twice"], 2 * arrays["rna"])
    assert list(both["twice"].index) == IDS and both["X_pca"].shape == (60, 5)
    frames = from_anndata(mudata_of(modalities), use={"rna": "X_pca"})
    assert [frame.shape for frame in frames.values()] == [(60, 5), (60, 15)]
    frames = from_anndata(list(modalities.values()), "X_pca")
    assert [frame.shape for frame in frames] == [(60, 5)] * 2
    one.X = scipy.sparse.csr_matrix(one.X)
    (frame,) = from_anndata(one).values()
    assert scipy.sparse.issparse(check_views(frame)[0])
    with pytest.raises(ValueError, match="no 'pca': .*'twice'"):
        from_anndata(modalities, use={"rna": "pca"})
    with pytest.raises(ValueError, match="'prot', .*'rna', 'atac'"):
        from_anndata(modalities, use={"prot": "X"})
    one.X = None
    with pytest.raises(ValueError, match="there is no 'X'"):
        check_views(modalities)


def test_objects_of_different_samples_are_aligned(arrays, modalities):
    rna, atac = modalities["rna"], modalities["atac"][5:]
    aligned = align({"rna": rna, "atac": atac}, join="inner")
    assert list(aligned["rna"].index) == list(atac.obs_names)
    np.testing.assert_array_equal(aligned["atac"], atac.X)
    mixed = align([rna.to_df(), atac], join="inner")
    np.testing.assert_array_equal(mixed[1], atac.X)


def test_types_of_features_are_views(arrays, modalities):
    ad = pytest.importorskip("anndata", reason=WHY)
    both = ad.concat(modalities.values(), axis=1)
    both.var["feature_types"] = ["Gene Expression"] * 20 + ["Peaks"] * 15
    frames = from_anndata(both)
    assert list(frames) == ["Gene Expression", "Peaks"]
    for frame, X in zip(frames.values(), arrays.values(), strict=True):
        np.testing.assert_array_equal(frame, X)
    model = ConsensusTLRR(3, random_state=0).fit(both)
    assert model.view_names_in_ == ["Gene Expression", "Peaks"]
    np.testing.assert_array_equal(model.predict(both), model.predict(frames))
    # An embedding belongs to all features, and one type of features is no reason to split.
    both.obsm["X_pca"] = arrays["rna"][:, :5]
    assert {name: X.shape for name, X in from_anndata(both, "X_pca").items()} == {"X_pca": (60, 5)}
    assert list(from_anndata(both[:, :20])) == ["X"]


def test_repeated_ids_of_modalities_are_named(modalities):
    modalities["atac"].obs_names = [IDS[0], *IDS[:-1]]
    with pytest.raises(ValueError, match="view 'atac' .*once: 'p0'"):
        ConsensusTLRR(3).fit(mudata_of(modalities))
