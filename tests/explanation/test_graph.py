"""The joint graph covers all samples, and weights of views follow what each view determines."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import memory_map

from mvsc_fast import TLRR, ConsensusTLRR, annotate, datasets, explain
from mvsc_fast.explanation import joint_graph


@pytest.fixture(scope="module")
def blobs():
    """Four clusters: view "a" separates all, view "b" only the first two from the rest."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(4), 60))
    a = 6 * np.eye(4, 8)[y] + rng.standard_normal((240, 8))
    b = 6 * np.eye(4, 8)[np.minimum(y, 2)] + rng.standard_normal((240, 8))
    return {"a": a, "b": b}, y


@pytest.fixture(scope="module", params=[240, 100])
def fitted(blobs, request):
    views, y = blobs
    model = ConsensusTLRR(4, max_samples=request.param, random_state=0)
    return model.fit(views), views, y


def annotated(model, views, **parameters):
    """What `annotate` writes into an object with the attributes of AnnData."""
    n = len(model.labels_)
    index = pd.RangeIndex(n).astype(str)
    obs = pd.DataFrame(index=index)
    data = SimpleNamespace(obs=obs, obs_names=index, obsm={}, obsp={}, uns={})
    annotate(data, model, views, **parameters)
    return data


def weights_of(model, views):
    data = annotated(model, views)
    return data.obs[[f"{name}:mvsc_weight" for name in views]].to_numpy()


def test_the_graph_joins_all_samples_symmetrically(fitted):
    model, views, y = fitted
    graph = joint_graph(model, views)
    assert graph.shape == (240, 240) and graph.dtype == np.float32
    assert abs(graph - graph.T).max() == 0 and not graph.diagonal().any()
    assert graph.data.min() > 0 and graph.data.max() <= 1
    assert (np.diff(graph.indptr) > 0).all()
    A = graph.toarray()
    within = (A * np.equal.outer(y, y)).sum(axis=1) / A.sum(axis=1)
    assert np.median(within) > 2 / 3  # .25 by chance
    # Clustered samples are joined as in the affinity matrix.
    clustered, A = graph[model.samples_][:, model.samples_], model.affinity_matrix_
    assert ((clustered != 0) != (A != 0)).nnz == 0
    top = np.sqrt(A.max(axis=1).toarray().ravel())
    np.testing.assert_allclose(clustered.toarray(), A.toarray() / np.outer(top, top), rtol=1e-5)


def test_other_samples_are_joined_with_clustered_ones(blobs):
    views, _ = blobs
    model = ConsensusTLRR(4, max_samples=100, random_state=0).fit(views)
    graph = joint_graph(model, views, n_neighbors=7)
    others = np.setdiff1d(np.arange(240), model.samples_)
    assert graph[others][:, others].nnz == 0
    assert (np.diff(graph[others].indptr) == 7).all()
    distances = annotated(model, views, n_neighbors=7).obsp["mvsc_distances"]
    t = distances.max(axis=1).toarray().ravel()
    i, j = distances[others].nonzero()
    i = others[i]
    squares = np.asarray(distances[i, j]).ravel() ** 2
    weights = np.maximum(np.exp(-squares / (t[i] * t[j])), 1e-3)
    np.testing.assert_allclose(np.asarray(graph[i, j]).ravel(), weights, rtol=1e-4)
    assert joint_graph(model, views, n_neighbors=500)[others].nnz == len(others) * 99


def test_distances_and_margins_are_those_of_the_embedding_and_the_explanation(fitted):
    model, views, _ = fitted
    data = annotated(model, views, n_neighbors=9)
    distances, embedding = data.obsp["mvsc_distances"], data.obsm["X_mvsc"]
    assert (np.diff(distances.indptr) == 9).all() and embedding.shape == (240, 50)
    i, j = distances.nonzero()
    lengths = np.linalg.norm(embedding[i] - embedding[j], axis=1)
    np.testing.assert_allclose(np.asarray(distances[i, j]).ravel(), lengths, atol=1e-4)
    expected, margin = explain(model, views).samples["margin"], data.obs["mvsc_margin"]
    clustered = ~np.isnan(expected)
    np.testing.assert_allclose(margin[clustered], expected[clustered], atol=1e-5)
    assert (margin[~clustered] >= 0).all()


def test_a_view_has_less_weight_where_it_does_not_determine_the_cluster(fitted):
    model, views, y = fitted
    weights = weights_of(model, views)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    means = [weights[y == k, 1].mean() for k in range(4)]
    assert max(means[2:]) < min(means[:2]) - 0.05
    # A softmax of scores that differ by about a half.
    assert np.mean(means[2:]) == pytest.approx(1 / (1 + np.exp(0.5)), abs=0.03)
    assert abs(np.array(means[:2]) - 0.5).max() < 0.05


@pytest.mark.filterwarnings("ignore:excluded as noise", "ignore:without any")
@pytest.mark.parametrize("m", [240, 201])
def test_views_that_are_missing_or_excluded_have_no_weight(blobs, m):
    views, _ = blobs
    noise = np.random.default_rng(1).standard_normal((240, 8))
    views = {"a": views["a"].copy(), "noise": noise, "b": views["b"].copy()}
    views["b"][5] = np.nan
    for name in ("a", "b"):
        views[name][7] = np.nan
    model = ConsensusTLRR(4, max_samples=m, random_state=0).fit(views)
    data, weights = annotated(model, views), weights_of(model, views)
    assert model.labels_[7] == -1 and np.isnan(data.obs["mvsc_margin"].iloc[7])
    assert data.obs["mvsc"].isna().to_numpy().nonzero()[0].tolist() == [7]
    assert data.obsp["mvsc_connectivities"][[7]].nnz == 0
    assert weights[5].tolist() == [1, 0, 0]
    assert (weights[np.arange(240) != 7, 1] == 0).all()


def test_rows_are_read_in_blocks_wherever_they_are(blobs, tmp_path):
    views, _ = blobs
    model = ConsensusTLRR(4, max_samples=100, random_state=0).fit(views)
    expected = weights_of(model, views)
    stored = {name: memory_map(X, tmp_path) for name, X in views.items()}
    np.testing.assert_array_equal(weights_of(model, stored), expected)
    da = pytest.importorskip("dask.array")
    lazy = {name: da.from_array(X, chunks=(90, 8)) for name, X in views.items()}
    np.testing.assert_array_equal(weights_of(model, lazy), expected)


def test_precomputed_similarities_are_refused(blobs):
    views, _ = blobs
    W = [X[:60] @ X[:60].T for X in views.values()]
    model = TLRR(4, affinity="precomputed", random_state=0).fit([np.maximum(X, 0) for X in W])
    with pytest.raises(ValueError, match="computed from features"):
        joint_graph(model, W)


def test_sparse_views_one_view_and_other_estimators(blobs):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    counts = [scipy.sparse.csr_matrix(np.maximum(X, 0)) for X in views]
    model = ConsensusTLRR(3, max_samples=40, random_state=0).fit(counts)
    assert (np.diff(joint_graph(model, counts).indptr) > 0).all()
    dense = TLRR(3, random_state=0).fit(views)
    assert (np.diff(joint_graph(dense, views, n_neighbors=5).indptr) >= 5).all()
    X = blobs[0]["a"]
    model = ConsensusTLRR(4, max_samples=100, random_state=0).fit([X])
    assert (np.diff(joint_graph(model, [X]).indptr) > 0).all()
    np.testing.assert_array_equal(annotated(model, [X]).obs["0:mvsc_weight"], 1)
