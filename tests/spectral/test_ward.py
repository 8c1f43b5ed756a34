"""Ward's clusters of micro-clusters, and the diffusion map that they partition."""

import numpy as np
import pytest
import scipy.sparse
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

from mvsc_fast.spectral._cut import diffusion_map
from mvsc_fast.spectral._eigenvectors import normalized_eigenvectors
from mvsc_fast.spectral._ward import ward_labels


@pytest.mark.parametrize("n_clusters", [6, 9, 20])
def test_labels_of_few_points_are_those_of_scipy(n_clusters):
    """Up to ten points for each cluster are clusters of their own at the start."""
    points = np.random.default_rng(n_clusters).standard_normal((60, 3))
    expected = fcluster(linkage(points, "ward"), n_clusters, "maxclust")
    labels = ward_labels(points, n_clusters)
    assert adjusted_rand_score(expected, labels) == 1
    assert labels.max() == n_clusters - 1


def test_repeated_points_count_with_their_number():
    """Merging starts from the distinct points, whose weights are their frequencies."""
    rng = np.random.default_rng(0)
    distinct = rng.standard_normal((12, 2))
    points = distinct[np.repeat(np.arange(12), rng.integers(1, 20, 12))]
    expected = fcluster(linkage(points, "ward"), 4, "maxclust")
    assert adjusted_rand_score(expected, ward_labels(points, 4)) == 1


def test_small_groups_beside_a_giant_are_clusters():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [2900, 60, 40])
    points = np.array([[0.0, 0], [9, 0], [0, 9]])[y] + rng.standard_normal((3000, 2))
    assert adjusted_rand_score(y, ward_labels(points, 3)) > 0.99


def test_fewer_distinct_points_than_clusters():
    points = np.repeat(np.eye(3), 5, axis=0)
    labels = ward_labels(points, 4)
    assert adjusted_rand_score(np.repeat(np.arange(3), 5), labels) == 1


def test_the_diffusion_map_has_eigenvectors_of_the_random_walk():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((20, 20)) * (rng.random((20, 20)) < 0.5), 1)
    A = A + A.T
    values, vectors = normalized_eigenvectors(A, 5)
    points = diffusion_map(scipy.sparse.csr_array(A), values, vectors)
    walk = A / A.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(walk @ points, points * values, atol=1e-10)
    lengths = np.sqrt((points**2).mean(axis=0))
    np.testing.assert_allclose(lengths, np.maximum(values, 0) ** 3)
