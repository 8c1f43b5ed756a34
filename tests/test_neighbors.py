import numpy as np
import pytest
import scipy.sparse
from conftest import random_similarities

from mvsc_fast._judge import judge_by_graph
from mvsc_fast._sparse._graphs import longest_tubes
from mvsc_fast._sparse._spectral import thresholded_affinity
from mvsc_fast.neighbors import count_neighbors, scan_neighbors, tube_lengths, tube_thresholds
from mvsc_fast.spectral import fuse


def test_thresholds_keep_the_asked_number_of_tubes():
    lengths = tube_lengths(random_similarities(3, 50))
    for d, tau in zip([2, 5, 20], tube_thresholds(lengths, [2, 5, 20]), strict=True):
        assert count_neighbors(lengths, tau * (1 - 1e-12)) == pytest.approx(d, abs=0.05)


def test_more_neighbors_than_tubes_keep_the_shortest_tube():
    W = np.zeros((1, 10, 10))
    W[0, 0, 1] = W[0, 1, 0] = 2.0
    W[0, 2, 3] = W[0, 3, 2] = 1.0
    np.testing.assert_allclose(tube_thresholds(tube_lengths(W), [6]), [1.0])


def test_ties_at_the_longest_tube_all_survive():
    lengths = tube_lengths(np.ones((4, 20, 20)))
    (tau,) = tube_thresholds(lengths, [3])
    assert tau == 1.0  # half the length of a tube of four ones
    assert count_neighbors(lengths, tau) == 19


def test_an_empty_tensor_has_a_threshold():
    np.testing.assert_array_equal(tube_thresholds(np.zeros((5, 5)), [1, 2]), [1.0, 1.0])


def blocks(sizes=(20, 20, 20), slices=2):
    """Noisy similarities of groups of samples, and the groups."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    n = len(y)
    W = 0.2 * random_similarities(slices, n) + (y[:, None] == y) * rng.uniform(1, 2, (n, n))
    return (W + W.transpose(0, 2, 1)) / 2, y


def scan(W, n_clusters, judge):
    return scan_neighbors(longest_tubes(W), n_clusters, judge, tail=0.01, random_state=0)[0]


def test_scan_finds_the_blocks():
    W, y = blocks()
    path = scan(W, 3, judge_by_graph(scipy.sparse.csr_array(fuse(W))))
    assert list(path.n_neighbors) == [6, 6, 11, 11]
    assert list(path.embedding) == ["c", "2c"] * 2
    assert path.labels.shape == (4, 60) and path.predictability.shape == (4,)
    assert np.all(np.diff(path.tau[::2]) < 0) and np.all(path.tau[::2] == path.tau[1::2])
    assert path.predictability[path.best] == path.predictability.max()
    assert len({tuple(path.labels[path.best][y == c]) for c in range(3)}) == 3


def test_labellings_judged_alike_give_the_largest_size():
    W, _ = blocks()

    def judge(labellings, n_clusters):
        assert n_clusters == 3
        return np.array([0.9 + 1e-12, 0.2, 0.9, 0.9])

    path = scan(W, 3, judge)
    assert path.best == 2 and path.n_neighbors[2] == 11 and path.embedding[2] == "c"


def test_tiny_data_have_a_grid():
    path = scan(random_similarities(1, 5), 2, lambda labellings, c: np.ones(len(labellings)))
    assert list(path.n_neighbors) == [1, 1]


def test_no_larger_neighborhood_than_tubes_are_stored():
    tensor = longest_tubes(blocks()[0], n_longest=7)
    assert len(tensor.indices) / 60 < 15
    path, _ = scan_neighbors(
        tensor, 3, lambda labellings, c: np.ones(len(labellings)), tail=0.01, random_state=0
    )
    assert path.n_neighbors.max() <= len(tensor.indices) / 60


def test_eigenpairs_are_those_at_the_size_chosen():
    W, _ = blocks()
    tensor = longest_tubes(W)
    path, (values, vectors) = scan_neighbors(
        tensor, 3, lambda labellings, c: np.array([0, 1, 0, 0]), tail=0.01, random_state=0
    )
    assert path.best == 1 and vectors.shape == (60, 6) and vectors.dtype == np.float32
    A = thresholded_affinity(tensor, path.tau[1], 0.01).toarray()
    root = 1 / np.sqrt(A.sum(axis=1))
    np.testing.assert_allclose((A * root * root[:, None]) @ vectors, vectors * values, atol=1e-5)
