"""L-MSC against its twin, whose matrices are dense."""

import numpy as np
import pytest
import scipy.sparse
from conftest import fitted
from reference.latent import drawer
from reference.lmsc import lmsc as twin

from mvsc_fast import datasets
from mvsc_fast.methods import LMSC
from mvsc_fast.metrics import clustering_scores

# Some have fewer features than K, some more samples than 4 K, where Woodbury's identity is used.
cases = pytest.mark.parametrize(
    ("n", "dims", "K"), [(9, (4, 5), 6), (12, (2, 3), 4), (60, (40, 60), 5), (50, (100,), 20)]
)


def random_views(n, dims, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for d in dims]


@pytest.mark.parametrize("lam", [0.02, 0.1, 2.0])
@cases
def test_equals_its_twin(n, dims, K, lam):
    views = random_views(n, dims)
    before = [X.copy() for X in views]
    model = fitted(LMSC(2, lam=lam, n_components=K, random_state=1), views)
    Z, H, n_iter = twin(views, drawer(views, 1)(K), lam, max_iter=200)
    assert model.n_iter_ == n_iter and model.converged_
    np.testing.assert_allclose(model.representation_[0], Z, atol=1e-8)
    np.testing.assert_allclose(model.latent_, H.T, atol=1e-8)
    for X, same in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, same)


def test_the_shift_of_the_released_code_changes_nothing_that_counts():
    views = random_views(20, (30, 5))
    H = drawer(views, 0)(4)
    plain, shifted = (twin(views, H, shift=shift)[0] for shift in (0.0, 1e-8))
    np.testing.assert_allclose(shifted, plain, atol=1e-6)


def test_the_constraints_hold_at_the_end():
    views = random_views(40, (30, 20))
    model = LMSC(2, n_components=6, random_state=0).fit(views)
    X = np.hstack([V / np.linalg.norm(V, axis=1, keepdims=True) for V in views]).T
    H = model.latent_.T
    # P is not stored: with the error column-sparse, most columns of X are in its range.
    P = np.linalg.lstsq(H.T, X.T, rcond=None)[0].T
    assert np.linalg.norm(X - P @ H) < np.linalg.norm(X)
    assert model.history_["residual"][-1] <= 1e-6 < model.history_["residual"][0]
    assert model.tensor_.shape == (1, 40, 40)


def test_permuting_samples_permutes_everything():
    views = random_views(40, (30, 20))
    order = np.random.default_rng(1).permutation(40)
    first = LMSC(2, n_components=8, random_state=2).fit(views)
    second = LMSC(2, n_components=8, random_state=2).fit([X[order] for X in views])
    np.testing.assert_allclose(second.latent_, first.latent_[order], atol=1e-8)
    Z = first.representation_[:, order][:, :, order]
    np.testing.assert_allclose(second.representation_, Z, atol=1e-8)


def test_kinds_of_input_do_not_matter():
    views = [np.abs(X) for X in random_views(220, (30, 20))]
    sparse = [scipy.sparse.csr_matrix(X) for X in views]
    model = LMSC(2, n_components=10, random_state=0)
    expected = model.fit(views).representation_
    np.testing.assert_allclose(model.fit(sparse).representation_, expected, atol=1e-8)


def test_single_precision_and_stopping_early():
    views = [X.astype(np.float32) for X in random_views(30, (20, 25))]
    model = LMSC(2, n_components=6, tol=1e-3, random_state=0)
    double = fitted(model, [X.astype(float) for X in views]).representation_
    single = fitted(model, views)
    assert single.representation_.dtype == single.latent_.dtype == np.float32
    np.testing.assert_allclose(single.representation_, double, atol=1e-2)
    stopped = fitted(LMSC(2, callback=lambda state: state.iteration == 3), views)
    assert stopped.n_iter_ == 3 and not stopped.converged_
    assert not fitted(LMSC(2, max_iter=0), views).representation_.any()


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
    model = fitted(LMSC(2, random_state=0), views)
    assert np.isfinite(model.representation_).all() and model.converged_
    assert model.latent_.shape[1] <= max(1, len(views[0]) // 4)


def test_subspaces_are_found():
    views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    model = LMSC(3, random_state=0).fit(views)
    assert clustering_scores(y, model.labels_)["acc"] >= 0.95
    assert model.latent_.shape == (90, 22)
