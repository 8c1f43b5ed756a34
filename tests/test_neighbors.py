import numpy as np
import pytest
from conftest import random_similarities

from mvsc_fast import neighbors
from mvsc_fast._kernels import tube_shrink
from mvsc_fast.neighbors import count_neighbors, label_stability, tube_lengths, tube_thresholds
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


def test_stability_is_the_mean_agreement_with_both_sides():
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    np.testing.assert_allclose(label_stability(np.stack([a, a, b])), [1, 0.5, 0], atol=1e-12)
    np.testing.assert_array_equal(label_stability(a[None]), [1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("t", [1e-3, 1.0, 2.5, 100.0])
def test_a_shrunk_affinity_is_that_of_the_shrunk_tensor(t, dtype):
    W = random_similarities(3, 40, dtype=dtype)
    W[:, 3] = W[:, :, 3] = 0.0
    found = neighbors.shrink_affinity(fuse(W), tube_lengths(W), np.float64(t))
    tube_shrink(W, t)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, fuse(W), atol=1e-13 if dtype == np.float64 else 1e-5)


def scan(W, n_clusters, n_init):
    return neighbors.stable_neighbors(
        fuse(W), tube_lengths(W), n_clusters, tail=0.01, n_init=n_init, random_state=0
    )


def test_scan_finds_the_blocks():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    W = 0.2 * random_similarities(2, 60) + (y[:, None] == y) * rng.uniform(1, 2, (60, 60))
    W = (W + W.transpose(0, 2, 1)) / 2
    path = scan(W, 3, n_init=5)
    assert list(path.n_neighbors) == [6, 8, 11, 15]
    assert path.labels.shape == (4, 60)
    assert np.all(np.diff(path.tau) < 0)
    assert len({tuple(path.labels[path.best][y == c]) for c in range(3)}) == 3
    assert path.stability[path.best] == path.stability.max()


def test_tiny_data_have_a_grid():
    W = random_similarities(1, 5)
    path = scan(W, 2, n_init=2)
    assert list(path.n_neighbors) == [1]
