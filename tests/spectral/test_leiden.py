"""Communities: those of largest modularity, whatever igraph's generator is used for elsewhere."""

import random
from itertools import product

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast.spectral._leiden import edge_weights, leiden, leiden_graph

pytest.importorskip("igraph", reason="needs igraph: pip install 'mvsc-fast[leiden]'")


def random_affinity(n=7, seed=0):
    A = np.random.default_rng(seed).random((n, n)) ** 3
    A = np.triu(A, 1)
    return scipy.sparse.csr_array((A + A.T).astype(np.float32))


def modularity(weights, labels, resolution):
    """Reichardt and Bornholdt's, from its definition."""
    degrees = weights.sum(axis=0)
    expected = resolution * np.outer(degrees, degrees) / degrees.sum()
    return ((weights - expected) * np.equal.outer(labels, labels)).sum()


@pytest.mark.parametrize("resolution", [0.3, 1, 2])
def test_communities_have_the_largest_modularity_of_all_partitions(resolution):
    A = random_affinity()
    weights = edge_weights(A).toarray().astype(np.float64)
    found = leiden(leiden_graph(A), resolution, 0)
    largest = max(
        modularity(weights, np.array(labels), resolution)
        for labels in product(range(4), repeat=len(weights))
    )
    assert modularity(weights, found, resolution) == pytest.approx(largest)
    np.testing.assert_array_equal(np.unique(found), np.arange(found.max() + 1))


def test_edge_weights_are_affinities_over_the_largest_of_both_ends():
    A = random_affinity()
    top = np.sqrt(A.toarray().max(axis=0))
    np.testing.assert_allclose(edge_weights(A).toarray(), A.toarray() / np.outer(top, top))


def test_nodes_without_edges_are_no_communities():
    A = np.pad(random_affinity().toarray(), (1, 2))
    labels = leiden(leiden_graph(scipy.sparse.csr_array(A)), 0.1, 0)
    np.testing.assert_array_equal(labels, 0)
    none = leiden(leiden_graph(scipy.sparse.csr_array((3, 3), dtype=np.float32)), 1, 0)
    np.testing.assert_array_equal(none, 0)


def test_equal_seeds_give_equal_labels_and_other_generators_are_as_before():
    graph = leiden_graph(random_affinity(400))
    random.seed(1)
    state = random.getstate()
    first = leiden(graph, 3, 5)
    assert random.getstate() == state
    graph.community_leiden("modularity", n_iterations=1)  # draws from the global generator again
    assert random.getstate() != state
    np.testing.assert_array_equal(leiden(graph, 3, 5), first)
