"""t-SVD-MSC, Ut-SVD-MSC, LT-MSC, ETLMSC, SCMV-3DT, L-MSC against their twins; the order."""

import numpy as np
import pytest
import scipy.linalg
from conftest import fitted, random_views
from reference.etlmsc import etlmsc as etlmsc_twin
from reference.latent import drawer
from reference.lmsc import lmsc as lmsc_twin
from reference.lt_msc import lt_msc as lt_msc_twin
from reference.scmv_3dt import equal_features, objective
from reference.scmv_3dt import scmv_3dt as scmv_3dt_twin
from reference.tsvd_msc import tsvd_msc as tsvd_msc_twin

from mvsc_fast import TLRR
from mvsc_fast.methods import ETLMSC, LMSC, LTMSC, SCMV3DT, TSVDMSC, UtSVDMSC

shapes = pytest.mark.parametrize(
    ("n", "dims"),
    [(9, (4,)), (10, (30, 5)), (21, (7, 40, 21)), (8, (9, 3, 5, 8)), (6, (3,) * 5)]
    + [(30, (2, 3, 4)), (30, (5, 6, 7))],  # fewer features than samples: common coordinates
    ids=str,
)


def orthonormal_basis(n):
    return np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]


@pytest.mark.parametrize("update", ["joint", "sequential"])
@pytest.mark.parametrize("transform", ["dft", "basis"])
@pytest.mark.parametrize(("n", "dims"), [(9, (4,)), (10, (30, 5)), (21, (7, 40, 21))], ids=str)
def test_tsvd_msc_equals_its_twin(n, dims, update, transform):
    """Even and odd n, more and fewer features than samples."""
    views = random_views(n, dims)
    basis = orthonormal_basis(n) if transform == "basis" else None
    transform = "dft" if basis is None else basis
    Z, n_iter = tsvd_msc_twin(views, lam=0.2, update=update, basis=basis)
    model = fitted(TSVDMSC(2, lam=0.2, update=update, sample_transform=transform), views)
    assert model.n_iter_ == n_iter and model.converged_
    np.testing.assert_allclose(model.representation_, Z, atol=1e-10)
    W = np.abs(Z) + np.abs(Z).transpose(0, 2, 1)
    np.testing.assert_allclose(model.tensor_, W, atol=1e-10)
    assert model.similarity_ is model.tensor_


def test_the_basis_of_the_samples_is_that_of_an_estimator():
    views = random_views(20, (30, 5))
    graph = fitted(TLRR(2, n_neighbors=5, random_state=0), views)
    A = graph.affinity_matrix_
    roots = np.sqrt(A.sum(axis=1))
    transforms = (graph, np.linalg.eigh(A / np.outer(roots, roots))[1], "graph")
    Z, expected, other = (
        fitted(TSVDMSC(2, sample_transform=transform, random_state=0), views).representation_
        for transform in transforms
    )
    np.testing.assert_allclose(Z, expected, atol=1e-10)
    assert np.abs(Z - other).max() > 1e-3


def test_the_basis_of_the_views_may_be_a_matrix():
    views = random_views(10, (30, 5, 7))
    identity, same, dft = (
        fitted(UtSVDMSC(2, lam=0.2, view_transform=transform, n_init=1), views).representation_
        for transform in ("identity", np.eye(3), "dft")
    )
    np.testing.assert_array_equal(identity, same)
    assert np.abs(identity - dft).max() > 1e-3


@pytest.mark.parametrize("update", ["joint", "sequential"])
@shapes
def test_ut_svd_msc_equals_its_twin(n, dims, update):
    views = random_views(n, dims)
    model = fitted(UtSVDMSC(2, lam=0.2, update=update, n_init=1), views)
    Z, n_iter = tsvd_msc_twin(views, lam=0.2, update=update, rotate=False)
    assert model.n_iter_ == n_iter and model.converged_
    np.testing.assert_allclose(model.representation_, Z, atol=1e-8)


@pytest.mark.parametrize(
    ("lam", "gamma"), [(0.1, 1.0), (1.0, (1.0, 0.5, 0.2)), (20.0, 1.0)], ids=str
)
@shapes
def test_lt_msc_equals_its_twin(n, dims, lam, gamma):
    views = random_views(n, dims)
    model = fitted(LTMSC(2, lam=lam, gamma=gamma, n_init=1), views)
    Z, n_iter = lt_msc_twin(views, lam, np.broadcast_to(gamma, 3))
    assert model.n_iter_ == n_iter and model.converged_
    np.testing.assert_allclose(model.representation_, Z, atol=1e-8)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("transform", ["dft", "basis"])
@shapes
def test_etlmsc_equals_its_twin(n, dims, transform, axis):
    views = random_views(n, dims)
    basis = orthonormal_basis(n) if transform == "basis" else None
    transform = "dft" if basis is None else basis
    model = fitted(ETLMSC(2, sample_transform=transform, axis=axis, n_init=1), views)
    Z, n_iter = etlmsc_twin(views, 11.0 / n, axis=axis, basis=basis)
    assert model.n_iter_ == n_iter and model.converged_
    np.testing.assert_allclose(model.representation_, Z, atol=1e-8)
    assert np.abs(Z).max() > 1e-3  # the default lam lets Z in at any n


@pytest.mark.parametrize("features", ["pca", "pad"])
@shapes
def test_scmv_3dt_equals_its_twin(n, dims, features):
    views = random_views(n, dims)
    model = fitted(SCMV3DT(2, lam=0.5, alpha=0.02, beta=0.1, features=features, n_init=1), views)
    Z, n_iter = scmv_3dt_twin(equal_features(views, features), 0.5, 0.02, 0.1)
    assert model.n_iter_ == n_iter
    np.testing.assert_allclose(model.representation_, Z, atol=1e-8)


def test_the_twin_of_scmv_3dt_approaches_the_minimum_of_the_objective():
    """Slow growth of the penalty; no nearby tensor may be better."""
    X = equal_features(random_views(8, (5, 6, 5)), "pca")
    weights = {"lam": 0.5, "alpha": 0.02, "beta": 0.1}
    Z, _ = scmv_3dt_twin(X, **weights, rho=1.01, mu=0.5, max_iter=2000)
    value = objective(Z, X, **weights)
    rng = np.random.default_rng(0)
    for scale in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            other = Z + scale * rng.standard_normal(Z.shape)
            assert objective(other, X, **weights) >= value - 1e-5


@pytest.mark.parametrize("lam", [0.02, 0.1, 2.0])
@pytest.mark.parametrize(
    ("n", "dims", "K"),
    [(9, (4, 5), 6), (12, (2, 3), 4), (60, (40, 60), 5), (50, (100,), 20)],
    ids=str,
)
def test_lmsc_equals_its_twin(n, dims, K, lam):
    """Fewer features than K; more samples than 4 K, where Woodbury's identity is used."""
    views = random_views(n, dims)
    model = fitted(LMSC(2, lam=lam, n_components=K, random_state=1), views)
    Z, H, n_iter = lmsc_twin(views, drawer(views, 1)(K), lam, max_iter=200)
    assert model.n_iter_ == n_iter and model.converged_
    np.testing.assert_allclose(model.representation_[0], Z, atol=1e-8)
    np.testing.assert_allclose(model.latent_, H.T, atol=1e-8)


@pytest.mark.parametrize(("n", "expected"), [(2, 1), (12, 3), (90, 22), (450, 100)])
def test_the_latent_space_has_a_quarter_of_the_samples_at_most(n, expected):
    model = fitted(LMSC(2, max_iter=0, random_state=0), random_views(n, (60, 80)))
    assert model.latent_.shape == (n, expected) and not model.representation_.any()


@pytest.mark.parametrize("estimator", [TSVDMSC, ETLMSC])
def test_the_dft_warns_that_the_order_counts_at_the_call_of_fit(estimator):
    views = random_views(20, (15, 30))
    with pytest.warns(UserWarning, match="order of the samples") as caught:
        estimator(2, sample_transform="dft").fit(views)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("seed", range(3))
def test_views_without_a_common_direction_have_one_result_in_any_order(seed):
    """Sums of rows that decide signs are rounding errors here, and components share eigenvalues."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(60)
    rows = [rng.standard_normal((60, 6)) for _ in range(2)]
    balanced = [X - X.mean(axis=1, keepdims=True) for X in rows]
    blocks = [scipy.linalg.block_diag(*rng.standard_normal((3, 20, 5))) for _ in range(2)]
    # All runs have as many iterations, where a tolerance could end one of two earlier.
    parameters = {"tol": 0.0, "callback": lambda state: state.iteration == 30, "random_state": 0}
    for model, views in ((SCMV3DT(3, **parameters), balanced), (TSVDMSC(3, **parameters), blocks)):
        Z = fitted(model, views).representation_
        permuted = fitted(model, [X[order] for X in views]).representation_
        np.testing.assert_allclose(permuted, Z[:, order][:, :, order], atol=1e-9)
