"""Parameters of the function, behaviour of the estimator, and accuracy on shuffled samples."""

import sys

import numpy as np
import pytest
import scipy.sparse
from conftest import random_similarities
from processes import run_python
from sklearn.datasets import make_blobs

from mvsc_fast import TLRR, datasets, similarity
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.solvers import tlrr
from mvsc_fast.spectral import fuse


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("d", [3, 10])
def test_n_neighbors_sets_lam_by_the_number_of_tubes_that_survive(sparse, d):
    W = random_similarities(2, 40)
    given = [scipy.sparse.csr_array(A) for A in W] if sparse else W
    result = tlrr(given, n_neighbors=d, max_iter=0)
    lengths = np.sqrt((W**2).sum(axis=0))
    np.fill_diagonal(lengths, 0)
    tau = 0.5 * 9.0 / (2 * result.parameters["lam"])
    assert (lengths > tau).sum() == 40 * d - 2  # a tube of the length tau itself is lost
    kept = np.array([A.toarray() if sparse else A for A in result.tensor]).any(axis=0)
    np.fill_diagonal(kept, False)
    np.testing.assert_array_equal(kept, lengths > tau)


def test_equal_tubes_are_all_kept():
    result = tlrr(np.ones((2, 6, 6)), n_neighbors=1, max_iter=0)
    assert (result.tensor[:, ~np.eye(6, dtype=bool)] > 0).all()


@pytest.fixture(scope="module")
def subspaces():
    return datasets.make_multiview_subspaces(120, 4, random_state=0)


def test_fitted_attributes(subspaces):
    views, y = subspaces
    model = TLRR(4, random_state=0)
    labels = model.fit_predict(views)
    assert labels is model.labels_ and labels.shape == (120,)
    assert model.similarity_.shape == model.tensor_.shape == (4, 120, 120)  # one view twice
    assert model.affinity_matrix_.shape == (120, 120) and model.embedding_.shape == (120, 4)
    assert model.n_features_per_view_ == [40, 60, 30] and model.n_features_in_ == 130
    assert model.n_iter_ >= 1 and model.converged_ and 0 <= model.gap_ <= 1e-3
    np.testing.assert_array_equal(model.similarity_, similarity.self_representation(views))
    expected = tlrr(model.similarity_)
    assert model.lam_ == expected.parameters["lam"] and model.gap_ == expected.gap
    clean, noisy = fuse(model.tensor_), fuse(model.similarity_)
    affinity = 120 * (clean / clean.sum() + 0.01 * noisy / noisy.sum())
    np.testing.assert_allclose(model.affinity_matrix_, affinity)
    assert clustering_scores(y, labels)["acc"] >= 0.95


@pytest.mark.parametrize(
    "affinity", ["self_representation", "nearest_neighbors", "rbf", TSVDMSC(4, lam=0.5)], ids=str
)
@pytest.mark.parametrize("solver", ["dual", "ialm"])
def test_every_affinity_and_solver(affinity, solver):
    X, y = make_blobs(120, n_features=40, centers=4, cluster_std=1.0, random_state=0)
    views = [X[:, :20], X[:, 20:]]
    model = TLRR(4, affinity=affinity, solver=solver, n_neighbors=8, random_state=0)
    assert clustering_scores(y, model.fit_predict(views))["acc"] >= 0.9
    expected = tlrr(model.similarity_, solver=solver, n_neighbors=8)
    np.testing.assert_array_equal(model.tensor_, expected.tensor)
    assert model.n_iter_ == expected.n_iter and model.converged_ == expected.converged
    np.testing.assert_array_equal(model.history_["residual"], expected.history["residual"])
    if isinstance(affinity, str):
        np.testing.assert_array_equal(model.similarity_, getattr(similarity, affinity)(views))


def test_precomputed_similarities(subspaces):
    views, y = subspaces
    W = similarity.self_representation(views)
    model = TLRR(4, affinity="precomputed", random_state=0)
    labels = model.fit(W).labels_
    np.testing.assert_array_equal(labels, TLRR(4, random_state=0).fit_predict(views))
    assert model.n_features_per_view_ == [120] * 4
    named = dict(zip("abcd", W, strict=True))
    for slices, names in ((named, [*"abcd"]), (named.values(), [0, 1, 2, 3])):
        np.testing.assert_array_equal(model.fit(slices).labels_, labels)
        assert model.view_names_in_ == names
    sparse = {name: scipy.sparse.csr_array(A) for name, A in named.items()}
    np.testing.assert_array_equal(model.fit(sparse).labels_, labels)
    assert model.view_names_in_ == [*"abcd"]
    assert all(map(scipy.sparse.issparse, [model.affinity_matrix_, *model.tensor_]))
    assert clustering_scores(y, labels)["acc"] >= 0.95
    W[0, 1, 2] = W[0, 2, 1] = -1
    for given in (W, [scipy.sparse.csr_array(A) for A in W]):
        with pytest.raises(ValueError, match="X: slice 0 .*2 negative"):
            TLRR(4, affinity="precomputed").fit(given)
    with pytest.raises(ValueError, match="empty"):
        model.fit({})


def test_more_than_half_of_the_samples_without_neighbours_are_told():
    W = np.zeros((10, 10))
    W[5:, 5:] = 1
    model = TLRR(2, affinity="precomputed", n_neighbors=2, random_state=0)
    model.fit([W])  # without a warning
    W[5] = W[:, 5] = 0
    with pytest.warns(UserWarning, match="6 of 10 samples"):
        model.fit([W])


def test_accuracy_on_published_similarities(yaleb_tensor):
    """The parameters that the paper prints, on its own tensor in file order (paper: .954)."""
    W, y = yaleb_tensor
    parameters = {"omega1": 0.4, "alpha": 9, "lam": 15}
    model = TLRR(10, affinity="precomputed", random_state=0, **parameters).fit(W)
    assert clustering_scores(y, model.labels_)["acc"] >= 0.95


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no resource")
@pytest.mark.parametrize("solver", ["ialm", "dual"])
def test_peak_memory_in_tensors(solver):
    """Peak of the process over that before W is made, at n = 700, v = 3 and one thread."""
    code = f"""
        import resource, numpy as np
        from mvsc_fast.solvers import tlrr
        tlrr(np.ones((3, 20, 20)), solver={solver!r}, n_threads=1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        n = 700
        W = np.zeros((3, n, n))
        for A in W:
            A[...] = np.random.default_rng(0).random((n, n))
            A += A.T.copy()
        W *= 1e5  # large entries leave nothing to fast-forward; a small tol keeps "dual" going
        tlrr(W, solver={solver!r}, max_iter=2, lam=1e-5, tol=1e-9, n_threads=1)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print((after - before) * {1 if sys.platform == "darwin" else 1024} / W.nbytes)
    """
    assert float(run_python(code)) <= 8
