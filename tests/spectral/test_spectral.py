"""From an affinity matrix to labels: fusion, eigenvectors at every size, k-means."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from conftest import changed, random_similarities
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from mvsc_fast.spectral import _ward, fuse, spectral_embedding, spectral_labels


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
    assert fuse(np.ones((1, 2, 2), dtype=np.int8)).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("scale", [1, 1e-9, 1e9])
def test_embedding_spans_the_leading_eigenvectors_of_an_affinity_of_any_scale(scale):
    S, _ = block_affinity([10, 10], weak=0.1)
    embedding = spectral_embedding(scale * S, 2)
    np.testing.assert_allclose(np.linalg.norm(embedding, axis=1), 1)
    d = 1 / np.sqrt(S.sum(axis=1))
    vectors = np.linalg.eigh(d[:, None] * S * d)[1][:, :-3:-1]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(embedding), np.abs(vectors), atol=1e-10)


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
        for S, c in [(np.ones((n, n)), 3), (np.ones((n, n)) - np.eye(n), 6), (np.zeros((n, n)), 2)]:
            labels, embedding = spectral_labels(S, c, random_state=0)
            assert embedding.shape == (n, c) and np.isfinite(embedding).all()


def test_permuting_the_samples_permutes_the_labels():
    S, _ = block_affinity([15, 25, 20, 12], weak=0.9)  # hardly separated
    labels, _ = spectral_labels(S, 4, random_state=0)
    by_degree = labels[np.argsort(S.sum(axis=1), kind="stable")]
    assert list(dict.fromkeys(by_degree)) == [0, 1, 2, 3]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(S))
        permuted, _ = spectral_labels(S[np.ix_(order, order)], 4, random_state=0)
        np.testing.assert_array_equal(permuted, labels[order])


@pytest.mark.parametrize("keep_diagonal", [False, True])
def test_fusing_sparse_slices_is_fusing_dense_ones(keep_diagonal):
    T = random_similarities(3, 12, seed=1) - 1.5
    T[np.abs(T) < 0.6] = 0
    expected = fuse(T, keep_diagonal=keep_diagonal)
    for slices in ([scipy.sparse.csr_array(A) for A in T], [scipy.sparse.coo_array(T[0]), *T[1:]]):
        fused = fuse(slices, keep_diagonal=keep_diagonal)
        np.testing.assert_allclose(fused.toarray(), expected, atol=1e-15)


def test_k_means_of_many_samples_starts_from_some(monkeypatch):
    """The means of some rows are improved by passes over all, until no sample would move."""
    for weak, rows in ((0.05, 50), (0.97, 12)):
        S, _ = block_affinity([40, 60, 30], weak)
        expected, _ = spectral_labels(S, 3, random_state=0)
        with monkeypatch.context() as patch:
            patch.setattr("mvsc_fast.spectral._cut.KMEANS_ROWS", rows)
            labels, embedding = spectral_labels(S, 3, random_state=0)
        means = np.stack([embedding[labels == k].mean(axis=0) for k in range(3)])
        distances = np.linalg.norm(embedding[:, None] - means, axis=2)
        np.testing.assert_array_equal(labels, distances.argmin(axis=1))
        assert weak > 0.05 or labels.tolist() == expected.tolist()


S = block_affinity([5, 5], weak=0.1)[0]


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
@pytest.mark.parametrize(
    ("S", "message"),
    [
        (S[:4], r"S .*\(4, 10\)"),
        (changed(S, (1, 2), np.nan), "S .*1 NaN .*row 1, column 2"),
        (changed(S, (0, 3), -1), "S .*1 negative .*-1"),
        (S * 1j, "S: Complex"),
        (S * 1e200, r"S .*e\+200"),
        (S[:0, :0], "S .*no samples"),
    ],
)
def test_matrices_that_are_no_affinities_are_refused(S, message, container):
    for call in (spectral_embedding, spectral_labels):
        with pytest.raises(ValueError, match=message):
            call(container(S), 2)


def test_parameters_are_checked_before_the_affinity():
    for call, name in ((spectral_embedding, "n_components"), (spectral_labels, "n_clusters")):
        with pytest.raises(ValueError, match=f"{name} == 0.* 1"):
            call(None, 0)
        with pytest.raises(ValueError, match=f"{name}=11 .*10"):
            call(S, 11)
    with pytest.raises(ValueError, match="n_init == 0"):
        spectral_labels(None, 2, n_init=0)


def test_tensors_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="tensor: slice 1 .*1 infinite"):
        fuse([S, changed(S, (2, 1), np.inf)])


def test_clusters_of_few_distinct_points_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((20, 2)), rng.integers(1, 30, 20), axis=0)
    expected = AgglomerativeClustering(4).fit_predict(X)
    assert adjusted_rand_score(_ward.ward_labels(X, 4), expected) == 1
    assert set(_ward.ward_labels(X[[0, 99, -1]], 4)) == {0, 1, 2}


def test_merges_of_ties_up_to_rounding_end(monkeypatch):
    """Distances of scikit-learn are not symmetric in their last bit."""
    less = np.nextafter(2.0, 0)
    squares = np.array([[0, less, 2], [2, 0, less], [less, 2, 0]])
    monkeypatch.setattr(_ward, "euclidean_distances", lambda X, squared: squares)
    assert len(_ward._merges(np.eye(3), np.ones(3, dtype=int))) == 2
