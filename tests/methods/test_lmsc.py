"""L-MSC against its twin, and what its factored iteration must keep."""

import numpy as np
import pytest
import scipy.sparse
from reference.lmsc import lmsc as twin
from reference.proximal import svt

from mvsc_fast import datasets
from mvsc_fast.methods import LMSC
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.solvers import lmsc
from mvsc_fast.solvers._latent import Stack
from mvsc_fast.solvers._lmsc import _latent, _low_rank, _polar

# Some have fewer features than K, some more samples than 4 K, where Woodbury's identity is used.
cases = pytest.mark.parametrize(
    ("n", "dims", "K"), [(9, (4, 5), 6), (12, (2, 3), 4), (60, (40, 60), 5), (50, (100,), 20)]
)


def random_views(n, dims, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for d in dims]


def start(views, K, seed):
    """What `lmsc` draws."""
    return Stack(views).draw(K, np.random.RandomState(seed))


@pytest.mark.parametrize("lam", [0.02, 0.1, 2.0])
@cases
def test_equals_its_twin(n, dims, K, lam):
    views = random_views(n, dims)
    before = [X.copy() for X in views]
    result = lmsc(views, lam=lam, n_components=K, random_state=1)
    Z, H, n_iter = twin(views, start(views, K, 1), lam, max_iter=200)
    assert result.n_iter == n_iter and result.converged
    np.testing.assert_allclose(result.representation[0], Z, atol=1e-8)
    np.testing.assert_allclose(result.latent, H.T, atol=1e-8)
    for X, same in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, same)


def test_the_shift_of_the_released_code_changes_nothing_that_counts():
    views = random_views(20, (30, 5))
    H = start(views, 4, 0)
    plain, shifted = (twin(views, H, shift=shift)[0] for shift in (0.0, 1e-8))
    np.testing.assert_allclose(shifted, plain, atol=1e-6)


@pytest.mark.parametrize(("n", "p"), [(10, 2), (9, 4), (12, 6), (8, 20)])
def test_the_latent_step_solves_its_equation(n, p):
    rng = np.random.default_rng(0)
    left, right, C = (rng.standard_normal(shape) for shape in [(n, p), (p, n), (3, n)])
    T = np.eye(n) - left @ right
    H = _latent(C, left, right, 1.01)
    np.testing.assert_allclose(1.01 * H + H @ T @ T.T, C, atol=1e-9)


@pytest.mark.parametrize("p", [0, 1, 4, 12])
def test_shrinkage_of_a_product(p):
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((8, p)), rng.standard_normal((p, 8))
    U, V = _low_rank(left, right, 1.5)
    np.testing.assert_allclose(U @ V, svt(left @ right, 1.5), atol=1e-12)
    assert U.shape[1] == np.linalg.matrix_rank(U @ V) if p else U.shape[1] == 0


def test_the_polar_factor_is_the_nearest_with_orthonormal_columns():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((7, 3))
    P = _polar(M)
    np.testing.assert_allclose(P.T @ P, np.eye(3), atol=1e-12)
    for _ in range(20):
        Q = np.linalg.qr(rng.standard_normal((7, 3)))[0]
        assert np.linalg.norm(M - P) <= np.linalg.norm(M - Q)


def test_the_constraints_hold_at_the_end():
    views = random_views(40, (30, 20))
    result = lmsc(views, n_components=6, random_state=0)
    X = np.hstack([V / np.linalg.norm(V, axis=1, keepdims=True) for V in views]).T
    H = result.latent.T
    # P is not returned: with the error column-sparse, most columns of X are in its range.
    P = np.linalg.lstsq(H.T, X.T, rcond=None)[0].T
    assert np.linalg.norm(X - P @ H) < np.linalg.norm(X)
    assert result.history["residual"][-1] <= 1e-6 < result.history["residual"][0]
    assert result.tensor.shape == (1, 40, 40)


def test_permuting_samples_permutes_everything():
    views = random_views(40, (30, 20))
    order = np.random.default_rng(1).permutation(40)
    first = lmsc(views, n_components=8, random_state=2)
    second = lmsc([X[order] for X in views], n_components=8, random_state=2)
    np.testing.assert_allclose(second.latent, first.latent[order], atol=1e-8)
    Z = first.representation[:, order][:, :, order]
    np.testing.assert_allclose(second.representation, Z, atol=1e-8)


def test_kinds_of_input_do_not_matter():
    views = [np.abs(X) for X in random_views(220, (30, 20))]
    dense = lmsc(views, n_components=10, random_state=0)
    sparse = [scipy.sparse.csr_matrix(X) for X in views]
    again = lmsc(sparse, n_components=10, random_state=0)
    np.testing.assert_allclose(again.representation, dense.representation, atol=1e-8)


def test_single_precision_and_stopping_early():
    views = [X.astype(np.float32) for X in random_views(30, (20, 25))]
    single = lmsc(views, n_components=6, tol=1e-3, random_state=0)
    double = lmsc([X.astype(float) for X in views], n_components=6, tol=1e-3, random_state=0)
    assert single.representation.dtype == single.latent.dtype == np.float32
    np.testing.assert_allclose(single.representation, double.representation, atol=1e-2)
    result = lmsc(views, callback=lambda state: state.iteration == 3)
    assert result.n_iter == 3 and not result.converged
    assert not lmsc(views, max_iter=0).representation.any()


@pytest.mark.parametrize(
    "views",
    [
        [np.ones((12, 3)), np.random.default_rng(0).standard_normal((12, 4))],
        [np.ones((12, 3))],
        [np.zeros((12, 3))],
        [np.repeat(np.random.default_rng(0).standard_normal((4, 5)), 3, axis=0)],
        [np.outer(np.arange(1.0, 13), np.ones(20))],
        [np.eye(2)],
    ],
    ids=["constant view", "constant", "zero", "duplicates", "rank 1", "two samples"],
)
def test_degenerate_data(views):
    result = lmsc(views, random_state=0)
    assert np.isfinite(result.representation).all() and result.converged
    assert result.latent.shape[1] <= max(1, len(views[0]) // 4)


def test_subspaces_are_found():
    views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    model = LMSC(3, random_state=0).fit(views)
    assert clustering_scores(y, model.labels_)["acc"] >= 0.95
    assert model.latent_.shape == (90, 22)
