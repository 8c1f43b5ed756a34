"""From an affinity matrix to labels: fusion, eigenvectors at every size, k-means."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from conftest import FULL, random_similarities, random_sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from mvsc_fast.methods import AWP, ConsensusTLRR
from mvsc_fast.spectral import _eigenvectors, _filter, fuse, spectral_embedding, spectral_labels
from mvsc_fast.spectral._cut import (
    N_COMPARED,
    assign,
    distinct_rows,
    even_starts,
    simplified_silhouette,
)
from mvsc_fast.spectral._eigenvectors import leading_block, normalized_eigenvectors


def block_affinity(sizes, weak=0.0, seed=0):
    y = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.random.default_rng(seed).uniform(0.5, 1, (len(y), len(y)))
    S = (noise + noise.T) * np.where(y[:, None] == y, 1.0, weak)
    np.fill_diagonal(S, 0)
    return S, y


def test_fuse_sums_absolute_slices_and_symmetrises():
    T = np.random.default_rng(0).standard_normal((3, 5, 5))
    S = np.abs(T).sum(axis=0)
    expected = (S + S.T) / 2
    np.testing.assert_allclose(fuse(T, keep_diagonal=True), expected)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(fuse(T), expected)


def test_embedding_spans_the_leading_eigenvectors():
    S, _ = block_affinity([10, 10], weak=0.1)
    embedding = spectral_embedding(S, 2)
    np.testing.assert_allclose(np.linalg.norm(embedding, axis=1), 1)
    d = 1 / np.sqrt(S.sum(axis=1))
    vectors = np.linalg.eigh(d[:, None] * S * d)[1][:, :-3:-1]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(embedding), np.abs(vectors), atol=1e-10)


def normalised(A):
    """D^-1/2 A D^-1/2 as a dense array of float64."""
    A = (A.toarray() if scipy.sparse.issparse(A) else A).astype(np.float64)
    root = 1 / np.sqrt(A.sum(axis=1))
    return A * root[:, None] * root


def groups(sizes, link, dtype=np.float32):
    """A sparse graph of rings of samples, the first sample of each linked to the next ring."""
    rng, n, first = np.random.default_rng(0), sum(sizes), 0
    rows, columns, values = [], [], []
    for size in sizes:
        own = np.arange(first, first + size)
        for step in range(1, 9):
            rows.append(own)
            columns.append(np.roll(own, step))
            values.append(rng.uniform(0.5, 1.5, size))
        rows.append([first])
        first += size
        columns.append([first % n])
        values.append([link])
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    A = scipy.sparse.csr_array(entries, shape=(n, n)).astype(dtype)
    A = scipy.sparse.csr_array(A + A.T)
    A.eliminate_zeros()
    return A


def blocks(n, link, seed):
    """A sparse graph of 12 random groups, some pairs of which are linked, and the groups."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(12, size=n))
    first, last = np.searchsorted(y, y), np.searchsorted(y, y, side="right")
    own, other = rng.integers(first, last, size=(20, n)), rng.integers(n, size=n)
    columns = np.vstack([own, other]).ravel()
    values = np.vstack([rng.uniform(0.5, 1.5, (20, n)), np.full(n, link)]).ravel()
    A = scipy.sparse.coo_array((values, (np.tile(np.arange(n), 21), columns)), shape=(n, n)).tocsr()
    move = rng.permutation(n)
    A = (A + A.T)[move][:, move]
    A.sort_indices()
    return A, y[move]


def assert_eigenpairs(A, values, vectors, atol):
    N = A * 1.0 if scipy.sparse.issparse(A) else A
    root = 1 / np.sqrt(A.sum(axis=1))[:, None]
    np.testing.assert_allclose(root * (N @ (root * vectors)), vectors * values, atol=atol)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=atol)
    assert values.dtype == vectors.dtype == np.float64


def test_filters_and_lapack_agree():
    """Filters find the eigenvectors of sparse matrices of float32."""
    A = groups([80, 110, 120], 0.3)
    expected = scipy.linalg.eigvalsh(normalised(A))[:-6:-1]
    labels = np.repeat(np.arange(3), [80, 110, 120])
    for S, atol in [(A, 1e-4), (A.toarray(), 1e-7), (A.astype(np.float64), 1e-12)]:
        values, vectors = normalized_eigenvectors(S, 5)
        np.testing.assert_allclose(values, expected, atol=atol)
        assert_eigenpairs(A.astype(np.float64), values, vectors, 10 * atol)
        assert adjusted_rand_score(labels, spectral_labels(S, 3, random_state=0)[0]) == 1


@pytest.mark.parametrize("count", [5, 10])
@pytest.mark.parametrize("link", [0, 1e-5, 1e-3, 0.01])
def test_no_eigenvector_of_groups_that_are_hardly_linked_is_lost(link, count):
    A = groups([100, 120, 80, 90, 110], link)
    expected = scipy.linalg.eigvalsh(normalised(A))[: -count - 1 : -1]
    block = None
    for _ in range(2):
        values, block = leading_block(A, count, block)  # as the scan goes on to the next size
        vectors = block[:, :count].astype(np.float64)
        np.testing.assert_allclose(values, expected, atol=1e-3)
        assert_eigenpairs(A, values, vectors, 1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("link", [0.03, 0.3])
def test_no_eigenvector_of_groups_that_are_linked_alike_is_lost(link, dtype):
    """Eleven eigenvalues are equal, and not near 1."""
    rng = np.random.default_rng(0)
    block = rng.uniform(size=(300, 300)) * (rng.uniform(size=(300, 300)) < 0.1)
    block += block.T
    alike = scipy.sparse.kron(np.ones((12, 12)), scipy.sparse.eye_array(300))
    A = scipy.sparse.csr_array(scipy.sparse.kron(scipy.sparse.eye_array(12), block) + link * alike)
    # Eigenvectors are equal in all groups, where the links add to the diagonal, or of sum zero.
    degree = block.sum(axis=1) + 12 * link
    spectra = [
        scipy.linalg.eigvalsh(B / np.sqrt(np.outer(degree, degree)))
        for B in [block + 12 * link * np.eye(300), *[block] * 11]
    ]
    expected = np.sort(np.concatenate(spectra))[:-13:-1]
    assert np.ptp(expected[1:]) < 1e-12 and expected[1] < 0.99
    values, vectors = normalized_eigenvectors(A.astype(dtype), 12)
    np.testing.assert_allclose(values, expected, atol=1e-3)
    assert_eigenpairs(A, values, vectors, 1e-3)


@pytest.mark.parametrize(("n", "kind"), [(3001, "dense"), (3001, "sparse"), (3600, "sparse")])
@pytest.mark.parametrize("link", [0, 1e-4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_beyond_lapack_no_eigenvector_is_lost(dtype, link, n, kind):
    for seed in range(1 if kind == "dense" or not FULL else 3):
        A, y = blocks(n, link, seed)
        A = (A.toarray() if kind == "dense" else A).astype(dtype)
        values, vectors = normalized_eigenvectors(A, 12)
        assert (values > 0.99).all()
        assert_eigenpairs(A, values, vectors, 1e-3)
        labels, embedding = spectral_labels(A, 12, n_init=3, random_state=seed)
        assert adjusted_rand_score(labels, y) == 1
        lengths = np.linalg.norm(vectors, axis=1)[:, None]
        np.testing.assert_allclose(embedding, vectors / lengths, rtol=1e-14, atol=1e-15)


def test_beyond_lapack_estimators_find_all_groups():
    """The graph of nearest neighbours of AWP falls apart into groups."""
    rng = np.random.default_rng(0)
    y = rng.integers(12, size=3001)
    views = [np.eye(12)[y] + 0.02 * rng.standard_normal((3001, 12)) for _ in range(2)]
    for init in ("pivots", "axes"):
        assert adjusted_rand_score(AWP(12, init=init).fit_predict(views), y) == 1


def test_the_order_of_many_samples_does_not_matter():
    A, _ = blocks(3001, 0.05, 0)
    labels, _ = spectral_labels(A, 12, n_init=3, random_state=0)
    move = np.random.default_rng(1).permutation(3001)
    moved, _ = spectral_labels(A[move][:, move], 12, n_init=3, random_state=0)
    np.testing.assert_array_equal(moved, labels[move])


@pytest.mark.parametrize("dense", [False, True])
def test_the_largest_of_many_components_are_taken(dense):
    A = groups([600, 1500, 400, 900], 0)
    A = scipy.sparse.block_diag([A, scipy.sparse.csr_array((200, 200))])  # isolated samples, and
    rows, columns = np.append(A.row, [0, 1000]), np.append(A.col, [1000, 0])  # zeros, no links
    A = scipy.sparse.csr_array((np.append(A.data, [0, 0]), (rows, columns)), shape=(3600, 3600))
    values, vectors = normalized_eigenvectors(A.toarray() if dense else A, 2)
    np.testing.assert_array_equal(values, 1)
    first, second = np.abs(vectors.T) > 0
    np.testing.assert_array_equal(np.flatnonzero(first), np.arange(600, 2100))
    np.testing.assert_array_equal(np.flatnonzero(second), np.arange(2500, 3400))


@pytest.mark.parametrize("n", [30, 300])
@pytest.mark.parametrize("n_loops", [0, 1, 4])
def test_a_graph_without_links_has_eigenvectors(n, n_loops):
    A = scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 * (np.arange(n) < n_loops)))
    values, vectors = normalized_eigenvectors(A, 3)
    np.testing.assert_allclose(values, np.arange(3) < n_loops, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("link", [1e-4, 1e-2])
def test_of_more_eigenvalues_near_1_than_are_asked_for_some_are_taken(link, dtype):
    """Which are taken is below the tolerance; at a smaller one Lanczos took minutes, or failed."""
    A = groups([150] * 24, link, dtype)
    values, vectors = normalized_eigenvectors(A, 8)
    np.testing.assert_allclose(values, 1, atol=1e-3)
    assert_eigenpairs(A, values, vectors, 1e-3)


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_disconnected_graphs_and_isolated_samples(n_clusters):
    S, y = block_affinity([10, 10, 10])
    S = np.pad(S, (0, 4))
    labels, embedding = spectral_labels(S, n_clusters, random_state=0)
    again, _ = spectral_labels(S, n_clusters, random_state=0)
    assert np.isfinite(embedding).all()
    np.testing.assert_array_equal(labels, again)
    assert set(labels) == set(range(n_clusters))


def test_equal_eigenvalues_in_large_numbers():
    """The all-ones graph has one eigenvalue n - 1 times; LAPACK's subset drivers lose some or fail.

    By processor: of the 30 samples, without a diagonal, they fail with kernels for AVX2.
    """
    for n in (6, 30, 100):
        for S, c in [(np.ones((n, n)), 3), (np.ones((n, n)) - np.eye(n), 6)]:
            labels, embedding = spectral_labels(S, c, random_state=0)
            assert embedding.shape == (n, c) and np.isfinite(embedding).all()


def test_no_similarity_at_all_gives_labels():
    labels, embedding = spectral_labels(np.zeros((6, 6)), 2, random_state=0)
    assert np.isfinite(embedding).all() and labels.min() >= 0 and labels.max() <= 1


def test_permuting_the_samples_permutes_the_labels():
    S, _ = block_affinity([15, 25, 20, 12], weak=0.9)  # hardly separated
    labels, _ = spectral_labels(S, 4, random_state=0)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(S))
        permuted, _ = spectral_labels(S[np.ix_(order, order)], 4, random_state=0)
        np.testing.assert_array_equal(permuted, labels[order])


@pytest.mark.parametrize("keep_diagonal", [False, True])
def test_fusing_sparse_slices_is_fusing_dense_ones(keep_diagonal):
    T = random_similarities(3, 12, seed=1) - 1.5
    T[np.abs(T) < 0.6] = 0
    fused = fuse([scipy.sparse.csr_array(A) for A in T], keep_diagonal=keep_diagonal)
    expected = fuse(T, keep_diagonal=keep_diagonal)
    np.testing.assert_allclose(fused.toarray(), expected, atol=1e-15)


def test_starts_of_k_means_on_some_rows_give_the_partition_of_all():
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=700)
    rows = 3 * rng.standard_normal((5, 6))[y] + 0.3 * rng.standard_normal((700, 6))
    order = rng.standard_normal(700)
    labels = assign(rows, 5, order=order, random_state=0, max_rows=90)
    assert adjusted_rand_score(labels, y) == 1
    move = rng.permutation(700)
    permuted = assign(rows[move], 5, order=order[move], random_state=0, max_rows=90)
    np.testing.assert_array_equal(permuted, labels[move])
    # No structure: the passes over all rows still bring every row to the nearest mean.
    rows = rng.uniform(size=(700, 2))
    labels = assign(rows, 3, random_state=0, max_rows=90, passes=100)
    means = np.stack([rows[labels == k].mean(axis=0) for k in range(3)])
    distance = ((rows[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(distance.argmin(axis=1), labels)


@pytest.mark.parametrize("offset", [0.0, 1 / 6, 5 / 6])
def test_starts_of_k_means_are_spaced_evenly_in_squared_distances(offset):
    points = np.random.default_rng(1).standard_normal((40, 3))
    distances = ((points[:, None] - points) ** 2).sum(axis=2)
    expected, nearest = [], np.ones(40)
    for _ in range(6):
        passed = np.cumsum(nearest / nearest.sum())
        compared = [(passed <= (i + offset) / N_COMPARED).sum() for i in range(N_COMPARED)]
        left = [distances[expected + [p]].min(axis=0) for p in compared]
        expected.append(compared[np.argmin([one.sum() for one in left])])
        nearest = distances[expected].min(axis=0)
    np.testing.assert_array_equal(even_starts(points, 6, offset=offset), points[expected])


def test_starts_of_k_means_are_one_for_each_distant_cluster():
    y = np.random.default_rng(0).integers(5, size=200)
    points = 50 * np.eye(5)[y] + np.random.default_rng(1).standard_normal((200, 5))
    wide = np.zeros((200, 130))  # random projections are compared
    wide[:, ::26] = points
    for offset in (0.1, 0.5, 0.9):
        starts = even_starts(points, 5, offset=offset)
        assert sorted(starts.argmax(axis=1)) == [0, 1, 2, 3, 4]
        assert sorted(even_starts(wide, 5, offset=offset).argmax(axis=1) // 26) == [0, 1, 2, 3, 4]
    assert even_starts(np.ones((4, 2)), 3).shape == (3, 2)  # equal points


def test_simplified_silhouette_is_its_definition():
    rng = np.random.default_rng(0)
    E, labels = rng.standard_normal((30, 3)), np.arange(30) % 4
    means = np.array([E[labels == k].mean(axis=0) for k in range(4)])
    D = np.linalg.norm(E[:, None] - means, axis=2)
    a = D[np.arange(30), labels]
    D[np.arange(30), labels] = np.inf
    b = D.min(axis=1)
    expected = (b - a) / np.maximum(a, b)
    np.testing.assert_allclose(simplified_silhouette(E, labels), expected)
    assert (simplified_silhouette(np.ones((4, 2)), np.array([0, 0, 1, 1])) == 0).all()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_rows_that_differ_by_rounding_are_not_distinct(count):
    rng = np.random.default_rng(0)
    rows = normalize(rng.standard_normal((count, 4)))[rng.permutation(np.arange(60) % count)]
    rows *= 1 + 1e-15 * rng.standard_normal(rows.shape)
    assert distinct_rows(rows) == count
    assert distinct_rows(np.zeros((3, 4))) == 1


def _changed(S, index, value):
    S = S.copy()
    S[index] = value
    return S


S = block_affinity([5, 5], weak=0.1)[0]


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
@pytest.mark.parametrize(
    ("S", "message"),
    [
        (S[:4], r"S has shape \(4, 10\), it must be square"),
        (_changed(S, (1, 2), np.nan), "S contains 1 NaN value, the first in row 1, column 2"),
        (
            _changed(S, (0, 3), -1),
            r"S has 1 negative entries \(smallest -1\)",
        ),
        (S * 1j, "S: Complex data not supported"),
        (S * 1e200, r"S has entries up to .*e\+200, too large to be squared"),
        (S[:0, :0], "S has no samples"),
    ],
)
def test_matrices_that_are_no_affinities_are_refused(S, message, container):
    for call in (spectral_embedding, spectral_labels):
        with pytest.raises(ValueError, match=message):
            call(container(S), 2)


def test_parameters_are_checked_before_the_affinity():
    for call, name in ((spectral_embedding, "n_components"), (spectral_labels, "n_clusters")):
        with pytest.raises(ValueError, match=f"{name} == 0, must be >= 1"):
            call(None, 0)
        with pytest.raises(ValueError, match=f"{name}=11 is more than the number of samples"):
            call(S, 11)
    with pytest.raises(ValueError, match="n_init == 0"):
        spectral_labels(None, 2, n_init=0)
    with pytest.raises(ValueError, match="random_state: "):
        spectral_labels(None, 2, random_state="x")
    with pytest.raises(ValueError, match="keep_diagonal must be True or False"):
        fuse(None, keep_diagonal=2)


@pytest.mark.parametrize("container", [np.asarray, np.ndarray.tolist, scipy.sparse.csr_array])
def test_an_affinity_is_not_changed_and_averaged_with_its_transpose(container):
    skewed = _changed(S, (0, 1), 2 * S[0, 1])
    given = container(skewed)
    with pytest.warns(UserWarning, match="S is not symmetric .*: it is averaged") as caught:
        found = spectral_embedding(given, 2)
    assert caught[0].filename == __file__
    expected = spectral_embedding((skewed + skewed.T) / 2, 2)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-12)
    np.testing.assert_array_equal(scipy.sparse.csr_array(given).toarray(), skewed)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        ([], "tensor is empty"),
        (S, r"tensor must be a list of n x n matrices or .*, got an array of shape \(10, 10\)"),
        ([S, S[:3, :3]], "tensor: slice 1 has 3 samples, slice 0 has 10"),
        ([S, _changed(S, (2, 1), np.inf)], "tensor: slice 1 contains 1 infinite value"),
        ([scipy.sparse.csr_array(S), S[:, :3]], r"tensor: slice 1 has shape \(10, 3\)"),
    ],
)
def test_tensors_that_cannot_be_fused_are_refused(tensor, message):
    with pytest.raises(ValueError, match=message):
        fuse(tensor)


def test_fusing_takes_lists_and_mixtures_of_slices():
    expected = fuse(np.stack([S, -2 * S]))
    np.testing.assert_array_equal(fuse([S.tolist(), (-2 * S).tolist()]), expected)
    np.testing.assert_array_equal(fuse([S, scipy.sparse.coo_array(-2 * S)]).toarray(), expected)
    assert fuse(np.ones((1, 2, 2), dtype=np.int8)).tolist() == [[0, 1], [1, 0]]


def test_eigenvectors_that_do_not_converge_are_an_error_in_words(monkeypatch):
    monkeypatch.setattr(_eigenvectors, "LAPACK_LIMIT", 50)
    monkeypatch.setattr(_eigenvectors, "LAST_RESORT", 119)
    monkeypatch.setattr(_eigenvectors, "TOLERANCE", {np.float64: 1e-14})
    monkeypatch.setattr(_eigenvectors, "MAX_FILTERS", 1)
    noise = random_similarities(1, 120)[0]
    with pytest.raises(ValueError, match="of 3 eigenvectors .* converged to 1e-14: red"):
        spectral_labels(noise, 3)


@pytest.mark.parametrize("seed", [1, 2])
def test_eigenvalues_of_more_eigenvectors_than_a_block_holds_converge(monkeypatch, seed):
    """Graphs of equal samples have the eigenvalue 0 often; it is among those that are sought."""
    monkeypatch.setattr(_eigenvectors, "LAST_RESORT", 0)
    rng = np.random.RandomState(seed)
    views = [np.repeat(rng.randn(6, 20), 100, axis=0) for _ in range(2)]
    labels = ConsensusTLRR(6, random_state=0).fit_predict(views)
    assert adjusted_rand_score(np.repeat(np.arange(6), 100), labels) == 1


def test_lapack_is_used_if_filters_do_not_converge(monkeypatch):
    monkeypatch.setattr(_eigenvectors, "MAX_FILTERS", 1)
    A = scipy.sparse.csr_array(random_similarities(1, 300)[0].astype(np.float32))
    values, vectors = leading_block(A, 5)
    assert_eigenpairs(A.toarray().astype(np.float64), values, vectors, 1e-9)


@pytest.mark.parametrize("p", [8, 16, 40, 72])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_filtered_blocks_are_those_of_the_recurrence(p, n_threads):
    rng = np.random.default_rng(p)
    A = random_sparse((90, 90), 0.1, rng).astype(np.float32)
    X, Y = rng.standard_normal((2, 90, p), dtype=np.float32)
    steps = rng.uniform(0.2, 1, (5, 3))
    for count in (0, 1, 5):
        x, y = X.astype(np.float64), Y.astype(np.float64)
        for scale, shift, keep in steps[:count]:
            x, y = y, scale * (A @ y - shift * y) - keep * x
        found = _filter.filtered(A, steps[:count], X.copy(), Y.copy(), n_threads)
        np.testing.assert_allclose(found, [x, y], atol=1e-3)
        alone = _filter.filtered(A, steps[:count], X.copy(), Y.copy(), 1)
        np.testing.assert_array_equal(found, alone)
    with pytest.raises(ValueError, match="multiple of 8, got 7"):
        _filter.filtered(A, steps, X[:, :7].copy(), Y[:, :7].copy())


def test_a_basis_of_dependent_columns_is_orthonormal():
    X = np.random.default_rng(0).standard_normal((50, 8), dtype=np.float32)
    X[:, 3] = X[:, 0]
    basis = _eigenvectors._orthonormal(X)
    np.testing.assert_allclose(basis.T @ basis, np.eye(8), atol=1e-5)
    np.testing.assert_allclose(basis @ (basis.T @ X), X, atol=1e-5)
