"""DiMSC against its twin, and the descent of its objective."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from conftest import fitted
from reference.dimsc import dimsc as twin
from reference.dimsc import laplacian, objective
from reference.dimsc import sylvester as sylvester_twin

from mvsc_fast import datasets
from mvsc_fast.methods import DiMSC
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.solvers._representation import sylvester

shapes = pytest.mark.parametrize(
    ("n", "dims"), [(9, (4,)), (10, (30, 5)), (21, (7, 40, 21)), (8, (9, 3, 5, 8))]
)


def random_views(n, dims, seed=0):
    rng = np.random.default_rng(seed)
    return [np.abs(rng.standard_normal((n, d))) for d in dims]


def unit_rows(views):
    return [X / np.linalg.norm(X, axis=1, keepdims=True) for X in views]


# ------------------------------------------------------------------ Sylvester equations


def eigen(A, rank=None):
    a, Q = np.linalg.eigh(A)
    return (a, Q) if rank is None else (a[-rank:], Q[:, -rank:])


def symmetric(rng, n, rank):
    A = rng.standard_normal((n, rank))
    return A @ A.T


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 7), (7, 3), (6, 6)])
def test_sylvester_equals_lapack(m, n):
    rng = np.random.default_rng(0)
    A, B, C = symmetric(rng, m, m), symmetric(rng, n, n), rng.standard_normal((m, n))
    a, Q = eigen(A)
    Z = sylvester((a, Q), eigen(B), Q.T @ C)
    np.testing.assert_allclose(A @ Z + Z @ B, C, atol=1e-10)
    np.testing.assert_allclose(Z, scipy.linalg.solve_sylvester(A, B, C), atol=1e-8)
    np.testing.assert_allclose(Z, sylvester_twin(A, B, C), atol=1e-10)


def test_a_singular_sylvester_equation_has_its_shortest_solution():
    rng = np.random.default_rng(0)
    A, B = symmetric(rng, 5, 3), symmetric(rng, 6, 4)
    C = A @ rng.standard_normal((5, 6)) + rng.standard_normal((5, 6)) @ B
    a, Q = eigen(A)
    Z = sylvester((a, Q), eigen(B), Q.T @ C)
    np.testing.assert_allclose(A @ Z + Z @ B, C, atol=1e-10)
    whole = np.kron(A, np.eye(6)) + np.kron(np.eye(5), B)
    shortest = np.linalg.lstsq(whole, C.ravel(), rcond=1e-10)[0].reshape(5, 6)
    np.testing.assert_allclose(Z, shortest, atol=1e-9)


def test_an_equation_without_solution_has_that_of_least_squares():
    rng = np.random.default_rng(0)
    A, B, C = symmetric(rng, 5, 3), symmetric(rng, 6, 4), rng.standard_normal((5, 6))
    a, Q = eigen(A)
    whole = np.kron(A, np.eye(6)) + np.kron(np.eye(5), B)
    expected = np.linalg.lstsq(whole, C.ravel(), rcond=1e-10)[0].reshape(5, 6)
    np.testing.assert_allclose(sylvester((a, Q), eigen(B), Q.T @ C), expected, atol=1e-9)


def test_eigenvectors_that_do_not_matter_may_be_left_out():
    rng = np.random.default_rng(0)
    A, B = symmetric(rng, 6, 2), symmetric(rng, 6, 6)
    a, Q = eigen(A, 2)
    Z = sylvester((a, Q), eigen(B), Q.T @ A)
    np.testing.assert_allclose(A @ Z + Z @ B, A, atol=1e-10)


# ------------------------------------------------------------------ the method


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
@shapes
def test_equals_its_twin(n, dims, normalize, signed):
    views = random_views(n, dims)
    if signed:
        views[0][:, 0] *= -0.3
    before = [X.copy() for X in views]
    settings = {"lam_s": 0.05, "lam_d": 2.0, "normalize": normalize, "signed": signed}
    model = fitted(DiMSC(2, **settings, tol=0.0, max_iter=10), views)
    np.testing.assert_allclose(model.representation_, twin(views, **settings), atol=1e-8)
    for X, same in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, same)


@shapes
def test_every_pass_lowers_the_objective(n, dims):
    views = random_views(n, dims)
    views[0] -= views[0].mean(axis=0)  # of both signs
    model = fitted(DiMSC(2, lam_s=0.1, lam_d=3.0, tol=1e-9, max_iter=500), views)
    values = model.history_["objective"]
    assert np.all(np.diff(values) <= 1e-12 * values[0]) and model.converged_
    Z = model.representation_
    expected = objective(Z, unit_rows(views), 0.1, 3.0, signed=False)
    np.testing.assert_allclose(values[-1], expected, rtol=1e-10)
    rng = np.random.default_rng(0)
    for i in range(len(views)):
        for scale in (1e-1, 1e-3):
            other = Z.copy()
            other[i] += scale * rng.standard_normal((n, n))
            assert objective(other, unit_rows(views), 0.1, 3.0, signed=False) > values[-1]


def test_the_last_view_is_stationary():
    views = random_views(15, (20, 6, 9))
    Z = fitted(DiMSC(2, tol=0.0, max_iter=3), views).representation_
    G = [X @ X.T for X in unit_rows(views)]
    H = np.eye(15) - 1 / 15
    C = sum(H @ A.T @ A @ H for A in Z[:2])
    residual = G[2] @ Z[2] + Z[2] @ (0.01 * laplacian(G[2]) + 20.0 * C) - G[2]
    assert np.abs(residual).max() < 1e-10


def test_negative_inner_products_make_the_released_model_unbounded():
    views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    values = fitted(DiMSC(3, signed=True), views).history_["objective"]
    assert values.min() < 0 and np.diff(values).max() > 0
    model = DiMSC(3, random_state=0).fit(views)
    assert model.converged_ and clustering_scores(y, model.labels_)["acc"] >= 0.95


@pytest.mark.parametrize(
    "views",
    [
        [np.ones((12, 3)), np.random.default_rng(0).standard_normal((12, 4))],
        [np.ones((12, 3))],
        [np.zeros((12, 3)), np.eye(12)],
        [np.repeat(np.random.default_rng(0).standard_normal((4, 5)), 3, axis=0)] * 2,
        [np.outer(np.arange(1.0, 13), np.ones(20))],
        [np.eye(2)],
    ],
    ids=["constant view", "constant", "zero view", "duplicates", "rank 1", "two samples"],
)
@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_degenerate_data(views, lam):
    model = fitted(DiMSC(2, lam_s=lam, lam_d=lam), views)
    assert np.isfinite(model.representation_).all() and model.converged_
    np.testing.assert_allclose(
        model.history_["objective"][-1],
        objective(model.representation_, unit_rows_or_zero(views), lam, lam, signed=False),
        atol=1e-9,
    )


def unit_rows_or_zero(views):
    return [X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12) for X in views]
