import numpy as np
import pytest
import scipy.sparse
from conftest import FULL
from reference import sparse_graphs as twin

from mvsc_fast import ConsensusTLRR, datasets, similarity
from mvsc_fast.judge._scan import neighbor_graphs
from mvsc_fast.similarity import _factored, _nearest_rows
from mvsc_fast.similarity import _sparse as sparse_graphs
from mvsc_fast.similarity._factors import ridge_factors as all_ridge_factors
from mvsc_fast.similarity._factors import view_factors
from mvsc_fast.similarity._nearest_rows import approximate_nearest_rows, listed_rows, nearest_rows
from mvsc_fast.similarity._sparse import sparse_tensor
from mvsc_fast.spectral._eigenvectors import normalized_eigenvectors
from mvsc_fast.views._view_rows import ViewRows


def subspaces(n=150, **options):
    options.setdefault("n_features", (20, 30, 200))
    return datasets.make_multiview_subspaces(n, 4, random_state=0, **options)[0]


def unit_rows(n, d, seed=0):
    return twin.unit(np.random.default_rng(seed).standard_normal((n, d)))


def ridge_factors(X, ridge):
    return all_ridge_factors(X, [ridge])[0]


def dense(tensor):
    return np.stack([A.toarray() for A in tensor.slices()])


@pytest.mark.parametrize("shape", [(60, 12), (60, 60), (60, 61), (60, 300)])
@pytest.mark.parametrize("ridge", [0.05, 0.5, 40.0])
def test_factors_are_ridge_regression(shape, ridge):
    X = unit_rows(*shape)
    u, h = ridge_factors(X, ridge)
    assert u.dtype == h.dtype == np.float32 and u.flags.c_contiguous
    A = np.maximum(0, (u @ u.T) * (h[:, None] + h))
    np.fill_diagonal(A, 0)
    expected = twin.ridge_entries(X, ridge)
    np.testing.assert_allclose(A, expected, atol=2e-6 * expected.max())


@pytest.mark.parametrize("shape", [(60, 12), (60, 300)])
def test_factors_of_sparse_rows(shape):
    X = np.maximum(unit_rows(*shape), 0)
    for dense_part, sparse_part in zip(
        ridge_factors(X, 0.5),
        ridge_factors(scipy.sparse.csr_array(X), 0.5),
        strict=True,
    ):
        np.testing.assert_allclose(sparse_part, dense_part, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n, d, count", [(700, 20, 10), (513, 3, 50), (40, 5, 39), (3, 2, 2)])
def test_nearest_rows_are_those_of_largest_cosine(n, d, count):
    u = unit_rows(n, d).astype(np.float32)
    found = nearest_rows(u, count)
    assert found.shape == (n, count) and found.dtype == np.int32
    cosine = u.astype(np.float64) @ u.T.astype(np.float64)
    for j, (row, expected) in enumerate(zip(found, twin.nearest(u, count), strict=True)):
        row = row[row >= 0]
        assert len(set(row.tolist())) == len(row) == len(expected) and j not in row
        assert np.all(np.diff(cosine[j, row]) < 1e-6)
        np.testing.assert_allclose(
            np.sort(cosine[j, row]), np.sort(cosine[j, list(expected)]), atol=1e-6
        )


def test_equally_near_rows_are_taken_by_index():
    u = np.ones((600, 4), dtype=np.float32)
    found = nearest_rows(u, 5)
    np.testing.assert_array_equal(found[0], [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(found[500], [0, 1, 2, 3, 4])


def test_rows_of_zeros_have_no_neighbours():
    u = unit_rows(30, 4).astype(np.float32)
    u[3] = 0
    found = nearest_rows(u, 29)
    assert np.all(found[3] == -1) and not np.any(found == 3)


@pytest.mark.skipif(not FULL, reason="numba compiles for half a minute: MVSC_STRESS=full")
def test_the_approximate_search_finds_nearly_all():
    pytest.importorskip("pynndescent", reason="the extra mvsc_fast[large] is not installed")
    u = unit_rows(1500, 20).astype(np.float32)
    u[7] = 0
    found = approximate_nearest_rows(u, 30)
    assert found.shape == (1500, 30) and found.dtype == np.int32
    assert np.all(found[7] == -1) and not np.any(found == 7)
    assert not np.any(found == np.arange(1500)[:, None])
    exact = nearest_rows(u, 30)
    recall = [len(np.intersect1d(a, b)) / 30 for a, b in zip(found, exact, strict=True)]
    assert np.mean(np.delete(recall, 7)) >= 0.95
    np.testing.assert_array_equal(found, approximate_nearest_rows(u, 30))


def test_many_samples_are_searched_approximately_where_that_is_installed(monkeypatch, capsys):
    monkeypatch.setattr(_nearest_rows, "EXACT_LIMIT", 149)
    monkeypatch.setattr(_nearest_rows, "find_spec", lambda name: name == "pynndescent")
    monkeypatch.setattr(_nearest_rows, "approximate_nearest_rows", nearest_rows)
    ConsensusTLRR(4, verbose=1, random_state=0).fit(subspaces())
    assert "approximate neighbor search by pynndescent" in capsys.readouterr().err


def test_many_samples_without_it_are_searched_exactly_with_a_warning(monkeypatch):
    monkeypatch.setattr(_nearest_rows, "EXACT_LIMIT", 149)
    monkeypatch.setattr(_nearest_rows, "find_spec", lambda name: None)
    model = ConsensusTLRR(4, random_state=0)
    with pytest.warns(
        UserWarning, match="among 150 samples takes .*pip install pynndescent"
    ) as said:
        model.fit(subspaces())
    assert said[0].filename == __file__


def test_with_all_candidates_it_is_the_dense_tensor():
    views = subspaces()
    W = similarity.self_representation(views)
    sparse = similarity.sparse_self_representation(views, n_candidates=149, n_longest=149)
    np.testing.assert_allclose([A.toarray() for A in sparse], W, atol=1e-6)


def test_on_its_pattern_it_is_the_dense_tensor():
    views = subspaces(400)
    factors = view_factors([twin.unit(X) for X in views])
    tensor = sparse_tensor(factors, listed_rows(factors, len(views), 50))
    W = similarity.self_representation(views)
    rows = np.repeat(np.arange(400), np.diff(tensor.indptr))
    assert len(W) == len(tensor.values) == 5 and len(rows) < 400 * 60
    lists = listed_rows(factors, len(views), 50)
    seen = np.zeros((400, 400), dtype=bool)
    for found in lists:
        np.put_along_axis(seen, found.astype(np.intp), True, axis=1)
    for slice_, (u, h), values in zip(W, factors, tensor.values, strict=True):
        A = np.maximum(0, (u @ u.T) * (h[:, None] + h))
        np.fill_diagonal(A, 0)
        scales = np.sort(np.where(seen, A, 0), axis=1)[:, -10]
        same = scales >= np.sort(A, axis=1)[:, -10] * (1 - 1e-5)  # candidates hold the ten largest
        assert same.mean() > 0.9
        exact = same[rows] & same[tensor.indices]
        expected = slice_[rows, tensor.indices]
        np.testing.assert_allclose(values[exact], expected[exact], atol=1e-6)
        assert np.all(values >= expected - 1e-6)  # smaller scales only make entries larger


def test_lists_of_one_slice_of_each_view_unless_they_hold_all_rows():
    factors = view_factors([twin.unit(X) for X in subspaces(90, n_features=(9, 12, 30))])
    assert len(factors) == 5
    for found, (u, _) in zip(listed_rows(factors, 3, 20), factors[:3], strict=True):
        np.testing.assert_array_equal(found, nearest_rows(u, 20))
    assert len(listed_rows(factors, 3, 89)) == 5


@pytest.mark.parametrize("n_longest", [1, 7, 30])
@pytest.mark.parametrize("n_candidates", [1, 12, 40])
def test_longest_tubes_equal_the_twin(n_candidates, n_longest):
    views = [twin.unit(X) for X in subspaces(90)]
    factors = view_factors(views)
    candidates = [nearest_rows(u, n_candidates) for u, _ in factors]
    tensor = sparse_tensor(factors, candidates, n_longest=n_longest)
    seen = np.zeros((90, 90), dtype=bool)
    for found in candidates:
        for j, row in enumerate(found):
            seen[j, row[row >= 0]] = True
    A = np.stack([np.maximum(0, (u @ u.T) * (h[:, None] + h)) for u, h in factors])
    W = twin.sparse_tensor(A.astype(np.float64), seen, n_longest)
    np.testing.assert_allclose(dense(tensor), W, atol=2e-6)
    np.testing.assert_allclose(tensor.lengths, np.linalg.norm(tensor.values, axis=0), rtol=1e-6)


def test_the_pattern_is_symmetric_sorted_and_shared():
    factors = view_factors(subspaces())
    tensor = sparse_tensor(factors, listed_rows(factors, 3, 50), n_longest=9)
    for A in tensor.slices():
        assert A.dtype == np.float32 and A.has_canonical_format
        assert A.data.flags.c_contiguous and np.shares_memory(A.indices, tensor.indices)
        np.testing.assert_array_equal(A.toarray(), A.toarray().T)
        assert A.data.min() >= 0 and A.data.max() <= 1.5 and not A.diagonal().any()
    assert len(tensor.slices()) == 5  # three views, two of them with n >= 4 d


def test_threads_change_no_bit():
    views = subspaces(1100)  # rows in three blocks
    one, three = (
        similarity.sparse_self_representation(views, n_longest=20, n_threads=k) for k in (1, 3)
    )
    for A, B in zip(one, three, strict=True):
        np.testing.assert_array_equal(A.indices, B.indices)
        np.testing.assert_array_equal(A.data, B.data)


def test_entries_that_do_not_fit_in_memory_are_computed_twice(monkeypatch):
    factors = view_factors(subspaces())
    candidates = listed_rows(factors, 3, 50)
    whole = sparse_tensor(factors, candidates)
    monkeypatch.setattr(sparse_graphs, "MEMORY", 200_000)
    for a, b in zip(whole, sparse_tensor(factors, candidates), strict=True):
        np.testing.assert_array_equal(a, b)


def test_permuting_samples_permutes_the_graph():
    views = subspaces()
    order = np.random.default_rng(1).permutation(150)
    permuted = similarity.sparse_self_representation([X[order] for X in views])
    for A, B in zip(similarity.sparse_self_representation(views), permuted, strict=True):
        np.testing.assert_allclose(B.toarray(), A.toarray()[order][:, order], atol=1e-5)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_few_samples(n):
    views = [unit_rows(n, 2) + 1, np.ones((n, 9)), np.zeros((n, 1))]
    W = similarity.self_representation(views)
    sparse = similarity.sparse_self_representation(views)
    np.testing.assert_allclose([A.toarray() for A in sparse], W, atol=1e-6)


def test_similarities_near_underflow_are_finite():
    pair = np.array([[1e38, 2e-3], [0, 1e-3]], dtype=np.float32)  # a cosine of 2e-41
    X = np.kron(np.eye(2, dtype=np.float32), pair)
    W = similarity.self_representation([X], scale_neighbors=1)[0]
    (sparse,) = similarity.sparse_self_representation([X], scale_neighbors=1)
    np.testing.assert_allclose(sparse.toarray(), W, rtol=1e-3)
    assert 0 < W[0, 1] < 1.5 and (W[:2, 2:] == 0).all()


def test_duplicates_zero_rows_and_constant_views():
    X = np.random.default_rng(0).standard_normal((80, 12))
    X[7] = 0
    X[9:30] = X[8]
    views = [X, np.ones((80, 3)), np.zeros((80, 2)), X.repeat(8, axis=1)]
    W = similarity.self_representation(views)
    sparse = similarity.sparse_self_representation(views, n_candidates=79, n_longest=79)
    # Of equal samples the dense path rounds 1 - |u|^2 in its own way.
    np.testing.assert_allclose([A.toarray() for A in sparse], W, atol=1e-5)


def test_scales_of_rows_with_few_positive_entries():
    values = np.array([3, 0, 1, 2, 0, 0, 5], dtype=np.float32)
    indptr = np.array([0, 4, 6, 7], dtype=np.intp)
    scales = np.empty(3, dtype=np.float32)
    _factored.local_scales(values, indptr, 0, 3, 2, scales)
    np.testing.assert_array_equal(scales, [2, 1, 5])


@pytest.mark.parametrize("name", ["n_candidates", "n_longest", "scale_neighbors", "cap", "scales"])
def test_parameters_out_of_range(name):
    with pytest.raises(ValueError, match=name):
        similarity.sparse_self_representation(subspaces(20), **{name: 0})


def test_sparse_nearest_neighbors_hold_the_neighbours_alone():
    views = subspaces(60)
    sparse = similarity.sparse_nearest_neighbors(views, n_neighbors=4)
    for A, W in zip(sparse, similarity.nearest_neighbors(views, n_neighbors=4), strict=True):
        assert A.dtype == np.float64 and 60 * 4 <= A.nnz <= 60 * 8
        np.testing.assert_array_equal(A.toarray(), W)


def test_neighbours_of_unit_rows_are_nearest_neighbours():
    U = unit_rows(90, 8).astype(np.float32)
    U[5] = U[6]
    found = sparse_graphs.unit_neighbor_similarities(U, nearest_rows(U, 6), n_threads=2)
    (expected,) = similarity.nearest_neighbors([U], n_neighbors=6)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)
    (few,) = similarity.nearest_neighbors([U[:4]], n_neighbors=6)
    found = sparse_graphs.unit_neighbor_similarities(U[:4], nearest_rows(U[:4], 6))
    assert (found.toarray() <= few + 1e-6).all()


def test_rows_of_zeros_are_no_neighbours():
    U = unit_rows(30, 3).astype(np.float32)
    U[[4, 9]] = 0
    found = sparse_graphs.unit_neighbor_similarities(U, nearest_rows(U, 5)).toarray()
    assert np.isfinite(found).all() and not found[[4, 9]].any() and not np.diag(found).any()
    assert found[0].any()


def test_the_graph_of_neighbours_is_the_sum_over_views_and_their_samples():
    views = [ViewRows(X) for X in (unit_rows(40, 5), unit_rows(25, 6, seed=1))]
    present = np.ones((2, 40), dtype=bool)
    present[1, ::2] = False
    present[1, :10] = True
    graphs = neighbor_graphs(views, present, (5, 3), 3, 1)
    for n_neighbors, (kind, size, A, values, vectors) in zip((5, 3), graphs, strict=True):
        expected = similarity.nearest_neighbors([views[0].centred], n_neighbors=n_neighbors)[0]
        has = np.ix_(present[1], present[1])
        expected[has] += similarity.nearest_neighbors([views[1].centred], n_neighbors=n_neighbors)[
            0
        ]
        assert (kind, size) == ("neighbors", n_neighbors) and vectors.shape == (40, 3)
        np.testing.assert_allclose(A.toarray(), expected, atol=1e-6)
        np.testing.assert_allclose(values, normalized_eigenvectors(expected, 3)[0], atol=1e-5)


def pattern_problem(n=7, d=3, v=2):
    """Arguments of the kernels on the pattern of all entries."""
    rng = np.random.default_rng(0)
    indptr = np.arange(n + 1) * n
    indices = np.tile(np.arange(n, dtype=np.int32), n)

    def single(*shape):
        return rng.random(shape, dtype=np.float32)

    return {
        "products": [single(n, d), single(n), indptr, indices, 4, 7, single(3 * n)],
        "local_scales": [single(3 * n), indptr, 4, 7, 1, single(n)],
        "longest_tubes": [
            single(v, 3 * n),
            single(v, n),
            indptr,
            indices,
            4,
            7,
            1.0,
            np.zeros((n, 4), np.int32),
            single(v, n, 4),
            single(n, 4),
        ],
    }


@pytest.mark.parametrize("name", ["products", "local_scales", "longest_tubes"])
def test_kernels_refuse_arrays_that_are_too_short(name):
    kernel, arguments = getattr(_factored, name), pattern_problem()[name]
    kernel(*arguments)
    for place, array in enumerate(arguments):
        if isinstance(array, np.ndarray) and array is not arguments[-1]:
            for wrong in (array[:-1], array[None]):
                with pytest.raises(ValueError):
                    kernel(*arguments[:place], wrong, *arguments[place + 1 :])


@pytest.mark.parametrize("name", ["products", "longest_tubes"])
@pytest.mark.parametrize("column", [-1, 7])
def test_kernels_refuse_columns_outside_the_pattern(name, column):
    arguments = pattern_problem()[name]
    arguments[3][4 * 7] = column  # a row that is read
    with pytest.raises(ValueError, match="indices must have 49 entries from 0 to 6"):
        getattr(_factored, name)(*arguments)


@pytest.mark.parametrize(
    "starts",
    [[0, 7, 14, 21, 28, 50, 42, 49], [0, 7, 14, 21, -28, 35, 42, 49], [0, 7, 14, 21, 28, 70]],
)
@pytest.mark.parametrize(
    "name, place", [("products", 2), ("local_scales", 1), ("longest_tubes", 2)]
)
def test_kernels_refuse_starts_outside_the_pattern(name, place, starts):
    arguments = pattern_problem()[name]
    arguments[place] = np.array(starts)
    with pytest.raises(ValueError, match="indptr"):
        getattr(_factored, name)(*arguments)
