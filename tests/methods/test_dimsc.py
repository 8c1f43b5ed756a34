"""DiMSC against its twin, and the descent of its objective."""

import numpy as np
import pytest
from conftest import fitted, nonnegative_views
from reference.dimsc import dimsc as twin
from reference.dimsc import objective
from sklearn.preprocessing import normalize

from mvsc_fast import datasets
from mvsc_fast.methods import DiMSC

shapes = pytest.mark.parametrize(
    ("n", "dims"), [(9, (4,)), (10, (30, 5)), (21, (7, 40, 21)), (8, (9, 3, 5, 8))], ids=str
)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
@shapes
def test_equals_its_twin(n, dims, normalize, signed):
    views = nonnegative_views(n, dims)
    if signed:
        views[0][:, 0] *= -0.3
    settings = {"lam_s": 0.05, "lam_d": 2.0, "normalize": normalize, "signed": signed}
    model = fitted(DiMSC(2, **settings, tol=0.0, max_iter=10), views)
    np.testing.assert_allclose(model.representation_, twin(views, **settings), atol=1e-8)


@pytest.mark.parametrize("lam", [0.0, 1.0])
@shapes
def test_every_pass_lowers_the_objective_to_a_minimum(n, dims, lam):
    views = nonnegative_views(n, dims)
    views[0] -= views[0].mean(axis=0)  # of both signs
    model = fitted(DiMSC(2, lam_s=0.1 * lam, lam_d=3.0 * lam, tol=1e-9, max_iter=500), views)
    values, Z = model.history_["objective"], model.representation_
    units = [normalize(X) for X in views]
    assert np.all(np.diff(values) <= 1e-12 * values[0]) and model.converged_

    def value(Z):
        return objective(Z, units, 0.1 * lam, 3.0 * lam, signed=False)

    np.testing.assert_allclose(values[-1], value(Z), rtol=1e-10, atol=1e-9)
    rng = np.random.default_rng(0)
    for i in range(len(views)):
        for scale in (1e-1, 1e-3):
            other = Z.copy()
            other[i] += scale * rng.standard_normal((n, n))
            assert value(other) > values[-1] - 1e-12


def test_negative_inner_products_make_the_released_model_unbounded():
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    values = fitted(DiMSC(3, signed=True), views).history_["objective"]
    assert values.min() < 0 and np.diff(values).max() > 0
