"""Eigenvectors of sparse and dense graphs of every size, and the polynomials that find them."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from conftest import FULL, random_similarities, random_sparse
from sklearn.metrics import adjusted_rand_score

from mvsc_fast.methods import ConsensusTLRR
from mvsc_fast.spectral import _eigenvectors, _filter, spectral_labels
from mvsc_fast.spectral._eigenvectors import leading_block, normalized_eigenvectors


def normalised(A):
    """D^-1/2 A D^-1/2 as a dense array of float64."""
    A = (A.toarray() if scipy.sparse.issparse(A) else A).astype(np.float64)
    root = 1 / np.sqrt(A.sum(axis=1))
    return A * root[:, None] * root


def groups(sizes, link, dtype=np.float32):
    """A sparse graph of rings of samples, the first sample of each linked to the next ring."""
    rng, steps = np.random.default_rng(0), np.arange(1, 9)[:, None]
    rings = []
    for size in sizes:
        rows, columns = np.broadcast_arrays(np.arange(size), (np.arange(size) + steps) % size)
        entries = rng.uniform(0.5, 1.5, rows.size), (rows.ravel(), columns.ravel())
        rings.append(scipy.sparse.coo_array(entries, shape=(size, size)))
    A = scipy.sparse.block_diag(rings, format="lil", dtype=dtype)
    first = np.cumsum([0, *sizes[:-1]])
    A[first, np.roll(first, -1)] = link
    return scipy.sparse.csr_array(A + A.T)


def blocks(n, link, seed):
    """A sparse graph of 12 random groups, some pairs of which are linked, and the groups."""
    rng = np.random.default_rng(seed)
    y = rng.integers(12, size=n)
    alike = y[:, None] == y
    linked = rng.random((n, n)) < np.where(alike, 240 / n, 1 / n)
    A = linked * np.where(alike, rng.uniform(0.5, 1.5, (n, n)), link)
    return scipy.sparse.csr_array(A + A.T), y


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
@pytest.mark.slow
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


def test_eigenvalues_of_more_eigenvectors_than_a_block_holds_converge(monkeypatch):
    """Graphs of equal samples have the eigenvalue 0 often; it is among those that are sought."""
    monkeypatch.setattr(_eigenvectors, "LAST_RESORT", 0)
    rng = np.random.RandomState(1)
    views = [np.repeat(rng.randn(6, 20), 100, axis=0) for _ in range(2)]
    labels = ConsensusTLRR(6, random_state=0).fit_predict(views)
    assert adjusted_rand_score(np.repeat(np.arange(6), 100), labels) == 1


def test_lapack_is_used_if_filters_do_not_converge_unless_there_are_too_many_samples(monkeypatch):
    monkeypatch.setattr(_eigenvectors, "MAX_FILTERS", 1)
    A = scipy.sparse.csr_array(random_similarities(1, 300)[0].astype(np.float32))
    values, vectors = leading_block(A, 5)
    assert_eigenpairs(A.toarray().astype(np.float64), values, vectors, 1e-9)
    monkeypatch.setattr(_eigenvectors, "LAST_RESORT", 299)
    with pytest.raises(ValueError, match="5 eigenvectors .*0.0002"):
        spectral_labels(A, 5)


@pytest.mark.parametrize("p", [8, 16, 40, 72])
def test_filtered_blocks_are_those_of_the_recurrence(p):
    rng = np.random.default_rng(p)
    A = random_sparse((90, 90), 0.1, rng).astype(np.float32)
    X, Y = rng.standard_normal((2, 90, p), dtype=np.float32)
    steps = rng.uniform(0.2, 1, (5, 3))
    for count in (0, 1, 5):
        x, y = X.astype(np.float64), Y.astype(np.float64)
        for scale, shift, keep in steps[:count]:
            x, y = y, scale * (A @ y - shift * y) - keep * x
        blocks = [_filter.filtered(A, steps[:count], X.copy(), Y.copy(), k) for k in (3, 1)]
        np.testing.assert_allclose(blocks[0], [x, y], atol=1e-3)
        np.testing.assert_array_equal(*blocks)
    with pytest.raises(ValueError, match="8, got 7"):
        _filter.filtered(A, steps, X[:, :7].copy(), Y[:, :7].copy())


@pytest.mark.parametrize("distance", [0, 1e-7, 1e-5, 3e-4])
def test_a_basis_of_dependent_columns_is_orthonormal(distance):
    """Rounding decides whether the Cholesky factor of their Gram matrix exists."""
    X = np.random.default_rng(0).standard_normal((50, 8), dtype=np.float32)
    X[:, 3] = X[:, 0] + np.float32(distance) * X[:, 7]
    basis = _eigenvectors._orthonormal(X)
    np.testing.assert_allclose(basis.T @ basis, np.eye(8), atol=1e-5)
    np.testing.assert_allclose(basis @ (basis.T @ X), X, atol=1e-5)
