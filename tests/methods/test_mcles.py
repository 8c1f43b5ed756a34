"""MCLES against its twin, and its quadratic programs."""

import functools

import numpy as np
import pytest
from conftest import examples, fitted, nonnegative_views, random_views
from hypothesis import given
from hypothesis import strategies as st
from reference.latent import drawer
from reference.mcles import mcles as twin
from reference.mcles import simplex_qp

from mvsc_fast.methods import MCLES
from mvsc_fast.methods._mcles import project_rows, simplex_programs


@given(
    n=st.integers(1, 30),
    scale=st.sampled_from([1e-9, 1e-3, 1.0, 1e3, 1e9]),
    seed=st.integers(0, 1000),
    dtype=st.sampled_from([np.float32, np.float64]),
    ties=st.booleans(),
)
@examples(60)
def test_projection_onto_the_simplex(n, scale, seed, dtype, ties):
    rng = np.random.default_rng(seed)
    V = (scale * rng.standard_normal((4, n))).astype(dtype)
    if ties:
        V = np.round(V / scale).astype(dtype) * dtype(scale)
    eps = np.finfo(dtype).eps
    P, tau = project_rows(V, np.full(len(V), -1.0, dtype=V.dtype))
    assert P.min() >= 0 and P.dtype == dtype
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=10 * n * eps)
    # V - P is one number on the support and at most that elsewhere: P is the nearest point.
    shifted = V - V.max(axis=1, keepdims=True)
    np.testing.assert_array_equal(P, np.maximum(shifted - tau[:, None], 0))
    for start in (tau, np.full(4, -1e-3, dtype), np.full(4, -50, dtype)):
        np.testing.assert_allclose(project_rows(V, start)[0], P, atol=10 * n * eps)


def programs(n=25, d=6, seed=0):
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((d, n)) + 3.0  # a large common part, as of non-negative features
    return H, rng.standard_normal((n, n)), np.full((n, n), 1 / n)


@pytest.mark.parametrize("ridge", [1e-2, 0.5, 20.0])
def test_programs_equal_an_active_set(ridge):
    H, C, start = programs()
    S, gap = simplex_programs(H, ridge, C, start, 1e-12, max_iter=20000)
    assert gap <= 1e-12
    A = ridge * np.eye(25) + H.T @ H
    for s, c in zip(S, C, strict=True):
        np.testing.assert_allclose(s, simplex_qp(A, c), atol=1e-5)
    # The gap that is returned is the one of the uncentred programs.
    slope = 2 * S @ A + C
    least = slope.min(axis=1)
    assert np.max(np.sum(slope * S, axis=1) - least) == pytest.approx(gap, abs=1e-12)


def test_the_gap_bounds_the_distance_to_the_minimum():
    H, C, start = programs()

    def value(S):
        return 0.3 * np.sum(S**2, axis=1) + np.sum((S @ H.T) ** 2, axis=1) + np.sum(C * S, axis=1)

    best = value(simplex_programs(H, 0.3, C, start, 1e-13)[0])
    for max_iter in (1, 3, 10, 30):
        S, gap = simplex_programs(H, 0.3, C, start, 0.0, max_iter=max_iter)
        assert np.max(value(S) - best) <= gap + 1e-12


@pytest.mark.parametrize(
    ("n", "dims", "d", "weights"),
    [
        (12, (4, 5), 6, {}),
        (20, (30, 5), 4, {"alpha": 0.5, "beta": 0.2, "gamma": 0.1}),
        (40, (40, 60), 9, {}),
    ],
    ids=str,
)
def test_equals_its_twin(monkeypatch, n, dims, d, weights):
    monkeypatch.setattr("mvsc_fast.methods._mcles.QP_TOL", 1e-13)
    views = nonnegative_views(n, dims)
    model = fitted(MCLES(3, n_components=d, random_state=1, **weights), views)
    draw = drawer(views, 1)
    S, H, F, values = twin(views, draw(d), draw(3).T, **weights)
    assert model.n_iter_ == len(values) and model.converged_
    assert np.all(np.diff(values) <= 1e-5 * np.abs(values[1:]))
    np.testing.assert_allclose(model.history_["objective"], values, rtol=1e-8)
    np.testing.assert_allclose(model.representation_[0], S, atol=1e-5)
    np.testing.assert_allclose(model.latent_, H.T, atol=1e-5)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, F @ F.T, atol=1e-5)


def test_programs_that_do_not_converge_keep_the_method_from_converging(monkeypatch):
    hasty = functools.partial(simplex_programs, max_iter=2)
    monkeypatch.setattr("mvsc_fast.methods._mcles.simplex_programs", hasty)
    model = fitted(MCLES(2, random_state=0), random_views(30, (4, 5)))
    assert not model.converged_ and np.isinf(model.history_["residual"]).all()


def test_more_starts_of_k_means_leave_less_within_the_clusters():
    views = random_views(60, (8, 9))
    scatter = []
    for n_init in (1, 60):
        model = fitted(MCLES(9, n_components=8, n_init=n_init, max_iter=5, random_state=0), views)
        F = model.embedding_
        means = np.stack([F[model.labels_ == k].mean(axis=0) for k in range(9)])
        scatter.append(np.square(F - means[model.labels_]).sum())
    assert scatter[1] < scatter[0] - 1e-3
