"""Ut-SVD-MSC, LT-MSC, ETLMSC and SCMV-3DT against their twins, and the order of the samples."""

import numpy as np
import pytest
from reference.etlmsc import etlmsc as etlmsc_twin
from reference.lt_msc import lt_msc as lt_msc_twin
from reference.scmv_3dt import objective
from reference.scmv_3dt import scmv_3dt as scmv_3dt_twin
from reference.tsvd_msc import tsvd_msc as tsvd_msc_twin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import TLRR, datasets
from mvsc_fast.methods import ESTIMATORS, ETLMSC, TSVDMSC
from mvsc_fast.solvers import etlmsc, lt_msc, scmv_3dt, tsvd_msc, ut_svd_msc
from mvsc_fast.solvers._scmv_3dt import _equal_features

FUNCTIONS = [tsvd_msc, ut_svd_msc, lt_msc, etlmsc, scmv_3dt]
shapes = pytest.mark.parametrize(
    ("n", "dims"),
    [(9, (4,)), (10, (30, 5)), (21, (7, 40, 21)), (8, (9, 3, 5, 8)), (6, (3,) * 5)]
    + [(30, (2, 3, 4)), (30, (5, 6, 7))],  # fewer features than samples: common coordinates
)


def random_views(n, dims, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for d in dims]


@pytest.mark.parametrize("update", ["joint", "sequential"])
@shapes
def test_ut_svd_msc_equals_its_twin(n, dims, update):
    views = random_views(n, dims)
    result = ut_svd_msc(views, lam=0.2, update=update)
    Z, n_iter = tsvd_msc_twin(views, lam=0.2, update=update, rotate=False)
    assert result.n_iter == n_iter and result.converged
    np.testing.assert_allclose(result.representation, Z, atol=1e-8)


@pytest.mark.parametrize(("lam", "gamma"), [(0.1, 1.0), (1.0, (1.0, 0.5, 0.2)), (20.0, 1.0)])
@shapes
def test_lt_msc_equals_its_twin(n, dims, lam, gamma):
    views = random_views(n, dims)
    result = lt_msc(views, lam=lam, gamma=gamma)
    Z, n_iter = lt_msc_twin(views, lam, np.broadcast_to(gamma, 3))
    assert result.n_iter == n_iter and result.converged
    np.testing.assert_allclose(result.representation, Z, atol=1e-8)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("transform", ["dft", "basis"])
@shapes
def test_etlmsc_equals_its_twin(n, dims, transform, axis):
    views = random_views(n, dims)
    basis = None
    if transform == "basis":
        transform = basis = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
    result = etlmsc(views, sample_transform=transform, axis=axis)
    Z, n_iter = etlmsc_twin(views, 11.0 / n, axis=axis, basis=basis)
    assert result.n_iter == n_iter and result.converged
    np.testing.assert_allclose(result.representation, Z, atol=1e-8)
    assert np.abs(Z).max() > 1e-3  # the default lam lets Z in at any n


@pytest.mark.parametrize("features", ["pca", "pad"])
@shapes
def test_scmv_3dt_equals_its_twin(n, dims, features):
    views = random_views(n, dims)
    result = scmv_3dt(views, lam=0.5, alpha=0.02, beta=0.1, features=features)
    X = _equal_features(views, features)
    Z, n_iter = scmv_3dt_twin(X, 0.5, 0.02, 0.1)
    assert result.n_iter == n_iter
    np.testing.assert_allclose(result.representation, Z, atol=1e-8)


def test_scmv_3dt_approaches_the_minimum_of_its_objective():
    """Slow growth of the penalty; no nearby tensor may be better."""
    views = random_views(8, (5, 6, 5))
    weights = {"lam": 0.5, "alpha": 0.02, "beta": 0.1}
    Z = scmv_3dt(views, **weights, rho=1.01, mu=0.5, max_iter=2000).representation
    X = _equal_features(views, "pca")
    value = objective(Z, X, **weights)
    rng = np.random.default_rng(0)
    for scale in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            other = Z + scale * rng.standard_normal(Z.shape)
            assert objective(other, X, **weights) >= value - 1e-5


def test_padding_keeps_inner_products():
    views = [X / np.linalg.norm(X, axis=1)[:, None] for X in random_views(7, (3, 5))]
    padded = _equal_features(views, "pad")
    reduced = _equal_features(views, "pca")
    assert padded.shape == (2, 5, 7) and reduced.shape == (2, 3, 7)
    np.testing.assert_allclose(padded[0].T @ padded[0], views[0] @ views[0].T, atol=1e-12)
    np.testing.assert_allclose(reduced[0].T @ reduced[0], views[0] @ views[0].T, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_stopping_early_and_single_precision(function):
    views = random_views(12, (5, 6))
    result = function(views, callback=lambda state: state.iteration == 3)
    assert result.n_iter == 3 and not result.converged
    assert np.all(np.diff(result.history["seconds"]) >= 0)
    assert function(views, max_iter=0).n_iter == 0
    single = function([X.astype(np.float32) for X in views], tol=1e-3)
    assert single.representation.dtype == np.float32
    double = function([X.astype(np.float32).astype(float) for X in views], tol=1e-3)
    np.testing.assert_allclose(single.representation, double.representation, atol=3e-3)


@pytest.mark.parametrize(
    ("function", "parameters", "message"),
    [
        (ut_svd_msc, {"lam": 0.0}, "lam"),
        (ut_svd_msc, {"update": "both"}, "'joint', 'sequential', got 'both'"),
        (ut_svd_msc, {"view_transform": "graph"}, "'dft', 'identity'"),
        (lt_msc, {"gamma": -1.0}, "gamma"),
        (lt_msc, {"gamma": (1.0, 2.0)}, "gamma must be one number or 3, got 2"),
        (lt_msc, {"max_iter": -1}, "max_iter"),
        (etlmsc, {"lam": -1.0}, "lam"),
        (etlmsc, {"axis": 2}, "axis must be 0 or 1, got 2"),
        (etlmsc, {"sample_transform": np.eye(3)}, r"expected \(6, 6\)"),
        (scmv_3dt, {"features": "zeros"}, "'pca', 'pad'"),
        (scmv_3dt, {"beta": -1.0}, "beta"),
    ],
)
def test_bad_parameters(function, parameters, message):
    with pytest.raises(ValueError, match=message):
        function(random_views(6, (3, 4)), **parameters)


# ------------------------------------------------------------------ order of the samples

MODELS = {
    **{name: estimator(3, random_state=0) for name, estimator in ESTIMATORS.items()},
    "etlmsc columns": ETLMSC(3, axis=1, random_state=0),
    "etlmsc refreshed": ETLMSC(3, sample_transform=TLRR(3, n_neighbors=8), random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_permuting_samples_permutes_labels(name):
    views, _ = datasets.make_multiview_subspaces(60, 3, quality=(1, 0.9, 0.6), random_state=1)
    order = np.random.default_rng(0).permutation(60)
    labels = MODELS[name].fit_predict(views)
    permuted = MODELS[name].fit_predict([X[order] for X in views])
    assert adjusted_rand_score(labels[order], permuted) == 1.0


def test_the_dft_depends_on_the_order():
    views, y = datasets.make_multiview_subspaces(60, 3, quality=(0.5, 0.4, 0.4), random_state=1)
    by_class = np.argsort(y, kind="stable")
    Z = tsvd_msc(views, sample_transform="dft").representation
    sorted_Z = tsvd_msc([X[by_class] for X in views], sample_transform="dft").representation
    assert np.abs(sorted_Z - Z[:, by_class][:, :, by_class]).max() > 1e-2


@pytest.mark.parametrize("estimator", [TSVDMSC, ETLMSC])
def test_the_dft_warns_that_the_order_counts_at_the_call_of_fit(estimator):
    views = random_views(20, (15, 30))
    with pytest.warns(UserWarning, match="labels depend on the order of the samples") as caught:
        estimator(2, sample_transform="dft").fit(views)
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:40 of 40 samples have no neighbour")
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if ESTIMATORS[name]._function])
@pytest.mark.filterwarnings("ignore:.* have no neighbour")
def test_convergence_is_monitored(name):
    views, _ = datasets.make_multiview_subspaces(40, 2, random_state=0)
    model = ESTIMATORS[name](2, max_iter=2, tol=1e-12, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match="did not converge: .* after 2 iterations"
    ) as caught:
        model.fit(views)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 2 and not model.converged_
