"""AWP against its twin; rotations, weights, and what labels may not depend on."""

import numpy as np
import pytest
from conftest import fitted
from reference.awp import awp as twin
from reference.awp import embedding as embedding_twin
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize as normalized

from mvsc_fast import datasets
from mvsc_fast.methods import AWP, TRPCA


def subspaces(n=60, seed=1):
    return datasets.make_multiview_subspaces(n, 3, quality=(1, 0.9, 0.6), random_state=seed)


def same_clusters(a, b):
    return adjusted_rand_score(a, b) == 1.0


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(
    ("n", "k", "seed"), [(30, 3, 1), (13, 11, 1), *((60, 10, seed) for seed in range(5))]
)
def test_equals_its_twin(n, k, seed, normalize):
    views = [X + 0.1 for X in subspaces(n, seed)[0]]
    model = AWP(3, n_neighbors=k, normalize=normalize, init="axes").fit(views)
    F = np.stack([embedding_twin(normalized(X) if normalize else X, 3, k) for X in views])
    largest = np.take_along_axis(F, np.abs(F).argmax(axis=1)[:, None], axis=1)
    labels, R, p, values = twin(F * np.sign(largest))
    assert same_clusters(model.labels_, labels)
    np.testing.assert_allclose(model.weights_, 1 / p / np.sum(1 / p), rtol=1e-6)
    # Eigenvectors of other routines: a last value may equal the one before exactly, or nearly.
    assert abs(model.n_iter_ - len(values)) <= 1 and model.converged_
    common = min(model.n_iter_, len(values))
    np.testing.assert_allclose(model.history_["objective"][:common], values[:common], rtol=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of few samples
def test_every_sample_its_own_cluster():
    """Y = F R is then possible: no distance is left to divide by."""
    model = AWP(12).fit(subspaces(12)[0])
    assert len(np.unique(model.labels_)) == 12 and model.converged_
    assert np.isfinite(model.weights_).all()
    assert model.history_["objective"][-1] < 1e-6


@pytest.mark.parametrize("init", ["pivots", "axes"])
def test_labels_are_the_largest_entries_of_the_embedding(init):
    model = AWP(3, init=init).fit(subspaces()[0])
    assert same_clusters(model.labels_, model.embedding_.argmax(axis=1))
    assert model.weights_.sum() == pytest.approx(1.0)


def test_a_repeated_objective_converges_to_any_tolerance():
    model = AWP(3, tol=0.0).fit(subspaces()[0])
    assert model.converged_ and model.history_["residual"][-1] == 0


def test_separated_clusters_are_found_whatever_their_graph():
    """Three components: the embeddings are any basis of a space of three equal eigenvalues."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(3), 15))
    views = [10 * np.eye(3)[y] + 0.1 * rng.standard_normal((45, 3)) for _ in range(2)]
    assert same_clusters(fitted(AWP(3), views).labels_, y)
    order = rng.permutation(45)
    assert same_clusters(fitted(AWP(3), [X[order] for X in views]).labels_, y[order])


@pytest.mark.parametrize("seed", range(5))
def test_an_empty_cluster_leaves_nothing_to_chance(seed):
    views, _ = subspaces(40, seed=seed)
    order = np.random.default_rng(1).permutation(40)
    first, second = (fitted(AWP(15), V) for V in (views, [X[order] for X in views]))
    assert same_clusters(first.labels_[order], second.labels_)


def test_it_is_no_graph_for_other_methods():
    with pytest.raises(ValueError, match="AWP .*tensor_"):
        TRPCA(3, affinity=AWP(3)).fit(subspaces(20)[0])
