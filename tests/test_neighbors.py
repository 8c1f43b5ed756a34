import numpy as np
import pytest
from conftest import random_similarities

from mvsc_fast import neighbors
from mvsc_fast.neighbors import count_neighbors, label_stability, tube_thresholds


def test_thresholds_keep_the_asked_number_of_tubes():
    W = random_similarities(3, 50)
    for d, tau in zip([2, 5, 20], tube_thresholds(W, [2, 5, 20]), strict=True):
        assert count_neighbors(W, tau * (1 - 1e-12)) == pytest.approx(d, abs=0.05)


def test_more_neighbors_than_tubes_keep_the_shortest_tube():
    W = np.zeros((1, 10, 10))
    W[0, 0, 1] = W[0, 1, 0] = 2.0
    W[0, 2, 3] = W[0, 3, 2] = 1.0
    np.testing.assert_allclose(tube_thresholds(W, [6]), [1.0])


def test_ties_at_the_longest_tube_all_survive():
    W = np.ones((4, 20, 20))
    (tau,) = tube_thresholds(W, [3])
    assert tau == 1.0  # half the length of a tube of four ones
    assert count_neighbors(W, tau) == 19


def test_an_empty_tensor_has_a_threshold():
    np.testing.assert_array_equal(tube_thresholds(np.zeros((2, 5, 5)), [1, 2]), [1.0, 1.0])


def test_stability_is_the_mean_agreement_with_both_sides():
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    np.testing.assert_allclose(label_stability(np.stack([a, a, b])), [1, 0.5, 0], atol=1e-12)
    np.testing.assert_array_equal(label_stability(a[None]), [1])


def test_scan_finds_the_blocks():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    W = 0.2 * random_similarities(2, 60) + (y[:, None] == y) * rng.uniform(1, 2, (60, 60))
    W = (W + W.transpose(0, 2, 1)) / 2
    path = neighbors.stable_neighbors(W, 3, tail=0.01, n_init=5, random_state=0, n_threads=1)
    assert list(path.neighbors) == [6, 8, 11, 15]
    assert path.labels.shape == (4, 60)
    assert np.all(np.diff(path.tau) < 0)
    assert len({tuple(path.labels[path.best][y == c]) for c in range(3)}) == 3
    assert path.stability[path.best] == path.stability.max()


def test_tiny_data_have_a_grid():
    W = random_similarities(1, 5)
    path = neighbors.stable_neighbors(W, 2, tail=0.01, n_init=2, random_state=0, n_threads=1)
    assert list(path.neighbors) == [1]
