"""L-MSC against its twin, whose matrices are dense."""

import numpy as np
import pytest
from conftest import fitted
from reference.latent import drawer
from reference.lmsc import lmsc as twin

from mvsc_fast.methods import LMSC

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


@pytest.mark.parametrize(("n", "expected"), [(2, 1), (12, 3), (90, 22), (450, 100)])
def test_the_latent_space_has_a_quarter_of_the_samples_at_most(n, expected):
    model = fitted(LMSC(2, max_iter=0, random_state=0), random_views(n, (60, 80)))
    assert model.latent_.shape == (n, expected) and not model.representation_.any()
