"""The joint graph covers all samples, and weights of views follow what each view determines."""

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast import TLRR, ConsensusTLRR, datasets, explain
from mvsc_fast.explanation import joint_graph, view_weights
from mvsc_fast.explanation._fitted import fitted_with
from mvsc_fast.explanation._graph import graphs_of, relations_of


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


def test_clustered_samples_are_joined_as_in_the_affinity_matrix(fitted):
    model, views, _ = fitted
    graph = joint_graph(model, views)[model.samples_][:, model.samples_]
    A = model.affinity_matrix_
    assert (graph != 0).nnz == A.nnz and ((graph != 0) != (A != 0)).nnz == 0
    top = np.sqrt(A.max(axis=1).toarray().ravel())
    np.testing.assert_allclose(graph.toarray(), A.toarray() / np.outer(top, top), rtol=1e-5)


def test_other_samples_are_joined_with_clustered_ones(blobs):
    views, _ = blobs
    model = ConsensusTLRR(4, max_samples=100, random_state=0).fit(views)
    graph = joint_graph(model, views, n_neighbors=7)
    others = np.setdiff1d(np.arange(240), model.samples_)
    assert graph[others][:, others].nnz == 0
    assert (np.diff(graph[others].indptr) == 7).all()
    fit = fitted_with(model, views)
    distances = graphs_of(fit, relations_of(fit), 7)[1]
    t = distances.max(axis=1).toarray().ravel()
    i, j = distances[others].nonzero()
    i = others[i]
    weights = np.maximum(np.exp(-(distances[i, j] ** 2) / (t[i] * t[j])), 1e-3)
    np.testing.assert_allclose(graph[i, j], weights, rtol=1e-4)
    assert joint_graph(model, views, n_neighbors=500)[others].nnz == len(others) * 99


def test_distances_have_as_many_entries_in_each_row(fitted):
    model, views, _ = fitted
    fit = fitted_with(model, views)
    relations = relations_of(fit)
    _, distances = graphs_of(fit, relations, 9)
    assert (np.diff(distances.indptr) == 9).all()
    i, j = distances.nonzero()
    lengths = np.linalg.norm(relations.embedding[i] - relations.embedding[j], axis=1)
    np.testing.assert_allclose(distances[i, j], lengths, atol=1e-4)


def test_margins_are_those_of_the_explanation(fitted):
    model, views, _ = fitted
    margin = relations_of(fitted_with(model, views)).margin
    np.testing.assert_allclose(margin[model.samples_], explain(model, views).margin, atol=1e-5)
    others = np.setdiff1d(np.arange(240), model.samples_)
    assert (margin[others] >= 0).all()


def test_a_view_has_less_weight_where_it_does_not_determine_the_cluster(fitted):
    model, views, y = fitted
    weights = view_weights(model, views)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    means = [weights[y == k, 1].mean() for k in range(4)]
    assert max(means[2:]) < min(means[:2]) - 0.05
    assert abs(np.array(means[:2]) - 0.5).max() < 0.05


@pytest.mark.filterwarnings("ignore:excluded as noise", "ignore:without any")
def test_views_that_are_missing_or_excluded_have_no_weight(blobs):
    views, _ = blobs
    noise = np.random.default_rng(1).standard_normal((240, 8))
    views = {"a": views["a"].copy(), "noise": noise, "b": views["b"].copy()}
    views["b"][5] = np.nan
    for name in ("a", "b"):
        views[name][7] = np.nan
    for m in (240, 201):
        model = ConsensusTLRR(4, max_samples=m, random_state=0).fit(views)
        assert model.labels_[7] == -1
        fit = fitted_with(model, views)
        relations = relations_of(fit)
        weights, (graph, _) = relations.weights, graphs_of(fit, relations, 15)
        np.testing.assert_array_equal(weights[5], [1, 0, 0])
        assert np.isnan(relations.margin[7]) and graph[[7]].nnz == 0
        assert (weights[np.arange(240) != 7, 1] == 0).all()


def test_sparse_views_and_other_estimators(blobs):
    views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    counts = [scipy.sparse.csr_matrix(np.maximum(X, 0)) for X in views]
    model = ConsensusTLRR(3, max_samples=40, random_state=0).fit(counts)
    assert (np.diff(joint_graph(model, counts).indptr) > 0).all()
    dense = TLRR(3, random_state=0).fit(views)
    assert (np.diff(joint_graph(dense, views, n_neighbors=5).indptr) >= 5).all()


def test_rows_are_read_in_blocks_wherever_they_are(blobs, tmp_path):
    views, _ = blobs
    model = ConsensusTLRR(4, max_samples=100, random_state=0).fit(views)
    expected = view_weights(model, views)
    for name, X in views.items():
        np.save(tmp_path / f"{name}.npy", X)
    stored = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in views}
    np.testing.assert_array_equal(view_weights(model, stored), expected)
    da = pytest.importorskip("dask.array")
    lazy = {name: da.from_array(X, chunks=(90, 8)) for name, X in views.items()}
    np.testing.assert_array_equal(view_weights(model, lazy), expected)


def test_precomputed_similarities_are_refused(blobs):
    views, _ = blobs
    W = [X[:60] @ X[:60].T for X in views.values()]
    model = TLRR(4, affinity="precomputed", random_state=0).fit([np.maximum(X, 0) for X in W])
    with pytest.raises(ValueError, match="computed from features"):
        joint_graph(model, W)
