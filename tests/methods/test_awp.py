"""AWP against its twin; rotations, weights, and what labels may not depend on."""

import numpy as np
import pytest
import scipy.sparse
from reference.awp import awp as twin
from reference.awp import embedding as embedding_twin
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import datasets
from mvsc_fast.methods import AWP, TRPCA
from mvsc_fast.solvers import awp
from mvsc_fast.solvers._awp import _change, _pivoted_rotations, _rotate


def subspaces(n=60, seed=1):
    return datasets.make_multiview_subspaces(n, 3, quality=(1, 0.9, 0.6), random_state=seed)


def same_clusters(a, b):
    return adjusted_rand_score(a, b) == 1.0


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("n", "k"), [(30, 3), (60, 10), (12, 11), (300, 10)])
def test_embeddings_equal_their_twin(n, k, normalize):
    views = [X + 1.0 for X in subspaces(n)[0]]
    F = awp(views, n_clusters=3, n_neighbors=k, normalize=normalize).embeddings
    for A, X in zip(F, views, strict=True):
        X = X / np.linalg.norm(X, axis=1, keepdims=True) if normalize else X
        B = embedding_twin(X, 3, k)
        np.testing.assert_allclose(A.T @ A, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_equals_its_twin(seed):
    views, _ = subspaces(seed=seed)
    before = [X.copy() for X in views]
    result = awp(views, n_clusters=3, init="axes")
    labels, R, p, values = twin(result.embeddings)
    assert result.n_iter == len(values) and result.converged
    assert same_clusters(result.labels, labels)
    np.testing.assert_allclose(result.rotations, R, atol=1e-6)
    np.testing.assert_allclose(result.weights, 1 / p / np.sum(1 / p), rtol=1e-8)
    np.testing.assert_allclose(result.history["objective"], values, rtol=1e-8)
    for X, same in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, same)


@pytest.mark.parametrize("init", ["pivots", "axes"])
def test_rotations_are_orthogonal_and_nearest(init):
    result = awp(subspaces()[0], n_clusters=3, init=init)
    Y = np.eye(3)[result.embedding.argmax(axis=1)]
    assert same_clusters(result.labels, Y.argmax(axis=1))
    rng = np.random.default_rng(0)
    for F, R in zip(result.embeddings, result.rotations, strict=True):
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
        distance = np.linalg.norm(Y - F @ R)
        for _ in range(20):
            other = np.linalg.qr(rng.standard_normal((3, 3)))[0]
            assert distance <= np.linalg.norm(Y - F @ other)
    assert result.weights.sum() == pytest.approx(1.0)


def test_the_start_at_pivots_forgets_any_rotation_of_the_embeddings():
    rng = np.random.default_rng(0)
    F = np.linalg.qr(rng.standard_normal((2, 20, 4)))[0]
    turn = np.linalg.qr(rng.standard_normal((2, 4, 4)))[0]
    np.testing.assert_allclose(
        (F @ turn) @ _pivoted_rotations(F @ turn), F @ _pivoted_rotations(F), atol=1e-12
    )


def test_separated_clusters_are_found_whatever_their_graph():
    """Three components: the embeddings are any basis of a space of three equal eigenvalues."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(3), 15))
    views = [10 * np.eye(3)[y] + 0.1 * rng.standard_normal((45, 3)) for _ in range(2)]
    result = awp(views, n_clusters=3)
    assert same_clusters(result.labels, y)
    order = rng.permutation(45)
    assert same_clusters(awp([X[order] for X in views], n_clusters=3).labels, y[order])


@pytest.mark.parametrize("seed", range(5))
def test_permuting_samples_permutes_everything(seed):
    views, _ = subspaces(seed=seed)
    order = np.random.default_rng(1).permutation(60)
    first, second = (awp(V, n_clusters=3) for V in (views, [X[order] for X in views]))
    assert same_clusters(first.labels[order], second.labels)
    np.testing.assert_allclose(second.weights, first.weights, rtol=1e-9)


def test_nothing_is_random():
    views, _ = subspaces()
    first, second = (AWP(3, random_state=seed).fit(views) for seed in (0, 1))
    np.testing.assert_array_equal(first.labels_, second.labels_)


def test_every_sample_its_own_cluster():
    """Y = F R is then possible: no distance is left to divide by."""
    views, _ = subspaces(12)
    result = awp(views, n_clusters=12)
    assert len(np.unique(result.labels)) == 12 and result.converged
    assert np.isfinite(result.weights).all()
    assert result.history["objective"][-1] < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_an_empty_cluster_leaves_nothing_to_chance(seed):
    views, _ = subspaces(40, seed=seed)
    order = np.random.default_rng(1).permutation(40)
    first, second = (awp(V, n_clusters=15) for V in (views, [X[order] for X in views]))
    assert same_clusters(first.labels[order], second.labels)
    np.testing.assert_allclose(
        first.rotations @ first.rotations.transpose(0, 2, 1), [np.eye(15)] * 3, atol=1e-12
    )


def test_among_equally_near_rotations_the_nearest_to_the_former():
    rng = np.random.default_rng(0)
    U, V, former = np.linalg.qr(rng.standard_normal((3, 5, 5)))[0]
    M = U[:, :3] @ np.diag([3.0, 2.0, 1.0]) @ V[:, :3].T
    R = _rotate(M, former)
    np.testing.assert_allclose(R.T @ R, np.eye(5), atol=1e-12)
    assert np.vdot(M, R) == pytest.approx(6.0)
    for _ in range(50):
        turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
        other = U[:, :3] @ V[:, :3].T + U[:, 3:] @ turn @ V[:, 3:].T
        assert np.linalg.norm(R - former) <= np.linalg.norm(other - former) + 1e-12


def test_one_cluster():
    result = awp(subspaces(20)[0], n_clusters=1)
    assert not result.labels.any() and result.converged


def test_the_relative_change():
    assert _change([3.0]) == np.inf
    assert _change([3.0, 2.0]) == 1.0
    assert _change([3.0, 2.0, 1.5]) == 0.5 / 1.5
    assert _change([3.0, 2.0, 3.0]) == 0.0  # not 0/0
    assert _change([0.0, 0.0]) == 0.0


def test_kinds_of_input_do_not_matter():
    views = [np.abs(X) for X in subspaces(220)[0]]
    double = awp(views, n_clusters=3)
    sparse = awp([scipy.sparse.csr_matrix(X) for X in views], n_clusters=3)
    assert same_clusters(double.labels, sparse.labels)
    single = awp([X.astype(np.float32) for X in views], n_clusters=3)
    assert adjusted_rand_score(double.labels, single.labels) > 0.95


def test_it_is_no_graph_for_other_methods():
    with pytest.raises(ValueError, match="AWP has no attribute tensor_ after fit"):
        TRPCA(3, affinity=AWP(3)).fit(subspaces(20)[0])


def test_stopping_early():
    views, _ = subspaces()
    result = awp(views, n_clusters=3, tol=0.0, callback=lambda state: state.iteration == 2)
    assert result.n_iter == 2 and not result.converged
    assert awp(views, n_clusters=3, max_iter=0).n_iter == 0


def test_more_clusters_than_samples():
    with pytest.raises(ValueError, match="n_clusters=13 is more than the number of samples"):
        awp(subspaces(12)[0], n_clusters=13)


@pytest.mark.parametrize(
    "views",
    [
        [np.ones((12, 3)), np.random.default_rng(0).standard_normal((12, 4))],
        [np.ones((12, 3))],
        [np.zeros((12, 3))],
        [np.repeat(np.random.default_rng(0).standard_normal((4, 5)), 3, axis=0)],
        [np.outer(np.arange(1.0, 13), np.ones(20))],
        [np.vstack([np.random.default_rng(0).standard_normal((11, 2)), [[1e9, 1e9]]])],
    ],
    ids=["constant view", "constant", "zero", "duplicates", "rank 1", "outlier"],
)
@pytest.mark.parametrize("normalize", [False, True])
def test_degenerate_data(views, normalize):
    result = awp(views, n_clusters=3, n_neighbors=2, normalize=normalize)
    assert result.converged and np.isfinite(result.embedding).all()
    assert set(result.labels) == set(range(result.labels.max() + 1))
