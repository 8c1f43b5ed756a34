from functools import partial

import numpy as np
import pytest
import scipy.sparse
from conftest import random_views
from reference import sparse_graphs as twin
from sklearn.preprocessing import normalize

from mvsc_fast import ConsensusTLRR, datasets, similarity
from mvsc_fast.similarity import _sparse

sparse_representation = partial(similarity.self_representation, sparse=True)


def subspaces(n=150, **options):
    options.setdefault("n_features", (20, 30, 200))
    return datasets.make_multiview_subspaces(n, 4, random_state=0, **options)[0]


def test_a_long_search_is_told(monkeypatch):
    monkeypatch.setattr("mvsc_fast.similarity._sparse.MANY_ROWS", 149)
    with pytest.warns(UserWarning, match="150 samples .*max_samples") as caught:
        ConsensusTLRR(4, random_state=0).fit(subspaces())
    assert caught[0].filename == __file__


CASES = {
    f"{n} samples": [random_views(n, (2,))[0] + 1, np.ones((n, 9)), np.zeros((n, 1))]
    for n in range(2, 7)
}
CASES["subspaces"] = subspaces(48)
X = np.random.default_rng(0).standard_normal((48, 12))
X[7], X[9:30] = 0, X[8]
# Duplicates, rows and views of zeros, a constant view, equal columns.
CASES["degenerate"] = [X, np.ones((48, 3)), np.zeros((48, 2)), X.repeat(8, axis=1)]
CASES["sparse rows"] = [np.maximum(X, 0) for X in subspaces(45, n_features=(10, 200))]


@pytest.mark.parametrize("views", CASES.values(), ids=CASES)
def test_up_to_49_samples_it_is_the_dense_tensor(views):
    W = similarity.self_representation(views)
    for kind in (np.asarray, scipy.sparse.csr_array):
        given = [kind(X) for X in views]
        slices = sparse_representation(given)
        # Of equal samples the dense path rounds 1 - |u|^2 in its own way.
        np.testing.assert_allclose([A.toarray() for A in slices], W, atol=1e-5)


def test_longest_tubes_equal_the_twin():
    """Of 50 candidates each row keeps its 48 longest tubes."""
    views = [twin.unit(X) for X in subspaces(51, n_features=(120, 200))]
    A = np.stack([twin.ridge_entries(X, 0.5) for X in views])
    expected = twin.sparse_tensor(A, ~np.eye(51, dtype=bool), 48)
    sparse = sparse_representation(views)
    np.testing.assert_allclose([A.toarray() for A in sparse], expected, atol=2e-6)
    assert sparse[0].nnz < 51 * 50


def test_the_pattern_is_symmetric_sorted_and_shared():
    slices = sparse_representation(subspaces())
    for A in slices:
        assert A.dtype == np.float32 and A.has_canonical_format
        np.testing.assert_array_equal(A.indices, slices[0].indices)
        np.testing.assert_array_equal(A.toarray(), A.toarray().T)
        assert A.data.min() >= 0 and A.data.max() <= 1.5 and not A.diagonal().any()
    assert len(slices) == 5  # three views, two of them with n >= 4 d


def test_threads_change_no_bit():
    views = subspaces(1100)  # rows in three blocks
    one, three = (sparse_representation(views, n_threads=k) for k in (1, 3))
    for A, B in zip(one, three, strict=True):
        np.testing.assert_array_equal(A.indices, B.indices)
        np.testing.assert_array_equal(A.data, B.data)


def test_entries_that_do_not_fit_in_memory_are_computed_twice(monkeypatch):
    whole = sparse_representation(subspaces())
    monkeypatch.setattr("mvsc_fast.similarity._sparse.MEMORY", 200_000)
    for A, B in zip(whole, sparse_representation(subspaces()), strict=True):
        np.testing.assert_array_equal(A.toarray(), B.toarray())


def test_similarities_near_underflow_are_finite():
    pair = np.array([[1e18, 2e-23], [0, 1]], dtype=np.float32)  # a cosine of 2e-41
    X = np.kron(np.eye(2, dtype=np.float32), pair)
    W = similarity.self_representation([X])[0]
    (sparse,) = sparse_representation([X])
    np.testing.assert_allclose(sparse.toarray(), W, rtol=1e-3)
    assert 0 < W[0, 1] < 1.5 and (W[:2, 2:] == 0).all()


def test_sparse_nearest_neighbors_hold_the_neighbours_alone():
    views = subspaces(60)
    sparse = similarity.nearest_neighbors(views, n_neighbors=4, sparse=True)
    for A, W in zip(sparse, similarity.nearest_neighbors(views, n_neighbors=4), strict=True):
        assert A.dtype == np.float64 and 60 * 4 <= A.nnz <= 60 * 8
        np.testing.assert_array_equal(A.toarray(), W)
    u = normalize(np.abs(views[0])).astype(np.float32)
    (expected,) = similarity.nearest_neighbors([u], n_neighbors=4)
    cosines = _sparse.unit_neighbor_similarities(u, _sparse.nearest_rows(u, 4))
    np.testing.assert_allclose(cosines.toarray(), expected, atol=1e-5)
