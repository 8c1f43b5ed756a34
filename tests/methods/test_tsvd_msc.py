import numpy as np
import pytest
from reference.tsvd_msc import tsvd_msc as twin

from mvsc_fast.solvers import tsvd_msc


def random_views(n, dims, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for d in dims]


@pytest.mark.parametrize("update", ["joint", "sequential"])
@pytest.mark.parametrize("transform", ["dft", "basis"])
@pytest.mark.parametrize(("n", "dims"), [(9, (4,)), (10, (30, 5)), (21, (7, 40, 21))])
def test_equals_the_twin_on_full_features(n, dims, update, transform):
    """Even and odd n, more and fewer features than samples."""
    views = random_views(n, dims)
    basis = None
    if transform == "basis":
        transform = basis = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
    Z, n_iter = twin(views, lam=0.2, update=update, basis=basis)
    result = tsvd_msc(views, lam=0.2, update=update, sample_transform=transform)
    assert result.n_iter == n_iter and result.converged
    np.testing.assert_allclose(result.representation, Z, atol=1e-10)
    W = np.abs(Z) + np.abs(Z).transpose(0, 2, 1)
    np.testing.assert_allclose(result.tensor, W, atol=1e-10)


def test_graph_transform_follows_the_samples():
    views = random_views(20, (15, 30))
    order = np.random.default_rng(0).permutation(20)
    tol = 1e-7
    Z = tsvd_msc(views, tol=tol).representation
    permuted = tsvd_msc([X[order] for X in views], tol=tol).representation
    # Rounding may end one of the runs an iteration earlier, with residuals of up to tol.
    np.testing.assert_allclose(permuted, Z[:, order][:, :, order], rtol=0, atol=2 * tol)


def test_stopping_early():
    views = random_views(12, (5, 6))
    result = tsvd_msc(views, callback=lambda state: state.iteration == 4)
    assert result.n_iter == 4 and not result.converged
    assert np.all(np.diff(result.history["seconds"]) >= 0)
    assert tsvd_msc(views, max_iter=0).n_iter == 0


def test_single_precision():
    views = [X.astype(np.float32) for X in random_views(20, (15, 30))]
    result = tsvd_msc(views, tol=1e-3)
    assert result.representation.dtype == np.float32
    expected = tsvd_msc([X.astype(float) for X in views], tol=1e-3).representation
    np.testing.assert_allclose(result.representation, expected, atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lam": 0.0}, "lam"),
        ({"update": "both"}, "'joint', 'sequential', got 'both'"),
        ({"sample_transform": "fft"}, "'dft', 'graph'"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": -1}, "max_iter"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        tsvd_msc(random_views(6, (3,)), **parameters)
