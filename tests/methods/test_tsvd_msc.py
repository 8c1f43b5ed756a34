import numpy as np
import pytest
from conftest import fitted
from reference.tsvd_msc import tsvd_msc as twin

from mvsc_fast.methods import TSVDMSC


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
    model = fitted(TSVDMSC(2, lam=0.2, update=update, sample_transform=transform), views)
    assert model.n_iter_ == n_iter and model.converged_
    np.testing.assert_allclose(model.representation_, Z, atol=1e-10)
    W = np.abs(Z) + np.abs(Z).transpose(0, 2, 1)
    np.testing.assert_allclose(model.tensor_, W, atol=1e-10)
    assert model.similarity_ is model.tensor_


def test_graph_transform_follows_the_samples():
    views = random_views(20, (15, 30))
    order = np.random.default_rng(0).permutation(20)
    tol = 1e-7
    Z = TSVDMSC(2, tol=tol).fit(views).representation_
    permuted = TSVDMSC(2, tol=tol).fit([X[order] for X in views]).representation_
    # Rounding may end one of the runs an iteration earlier, with residuals of up to tol.
    np.testing.assert_allclose(permuted, Z[:, order][:, :, order], rtol=0, atol=2 * tol)


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
        TSVDMSC(2, **parameters).fit(random_views(6, (3,)))
