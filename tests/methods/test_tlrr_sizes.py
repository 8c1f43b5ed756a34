"""TLRR on sparse tensors and on samples, its certificate there, and labels of new samples."""

import dataclasses
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from reference import dual as dual_twin
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mvsc_fast import SNN, TLRR, TSVDMSC, datasets, graphs, tlrr
from mvsc_fast._sparse._factors import view_factors
from mvsc_fast._sparse._graphs import longest_tubes, sparse_tensor, unseen_tubes
from mvsc_fast._sparse._nearest_rows import nearest_rows
from mvsc_fast.methods import _cost, _tlrr_size, _voters
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.solvers._tubes import solve_tubes
from mvsc_fast.views._rows import spread


@pytest.fixture(scope="module")
def mixture():
    """Three views of 300 samples around 4 centres, and their clusters."""
    rng = np.random.RandomState(0)
    y = rng.randint(4, size=300)
    return [rng.randn(4, d)[y] + 0.4 * rng.randn(300, d) for d in (12, 20, 30)], y


@pytest.fixture
def all_neighbors(monkeypatch):
    monkeypatch.setattr(_voters, "CANDIDATES", 10_000)
    monkeypatch.setattr(_voters, "LONGEST", 10_000)


def test_all_neighbors_kept_give_the_labels_of_the_dense_path(mixture, all_neighbors):
    views, _ = mixture
    sparse = TLRR(4, size="sparse", random_state=0).fit(views)
    dense = TLRR(4, size="dense", max_iter=0, random_state=0).fit(views)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    assert sparse.complete_ and dense.complete_
    for A, B in zip(sparse.similarity_, dense.similarity_, strict=True):
        np.testing.assert_allclose(A.toarray(), B, atol=1e-5)
    for A, B in zip(sparse.tensor_, dense.tensor_, strict=True):
        np.testing.assert_allclose(A.toarray(), B, atol=1e-5)
    np.testing.assert_allclose(sparse.affinity_.toarray(), dense.affinity_, atol=1e-5)


def test_what_a_sparse_fit_learns(mixture):
    views, y = mixture
    model = TLRR(4, size="sparse", random_state=0).fit(views)
    assert model.size_ == "sparse" and model.labels_from_ == "tensor"
    assert len(model.similarity_) == len(model.tensor_) == 6  # every view twice
    assert scipy.sparse.issparse(model.affinity_) and model.affinity_.nnz < 300 * 2 * 64
    assert model.n_iter_ == 0 and not model.converged_ and model.gap_bound_ > 0
    assert clustering_scores(y, model.labels_)["acc"] == 1.0
    for L, W in zip(model.tensor_, model.similarity_, strict=True):
        assert (L > W).nnz == 0 and L.nnz < W.nnz
    for slices in (model.similarity_, model.tensor_):  # nothing that scipy sorts in place
        assert all(A.has_canonical_format and A.shape == (300, 300) for A in slices)
        assert all(np.shares_memory(A.indices, slices[0].indices) for A in slices)


@pytest.mark.parametrize("n_neighbors", [6, 20])
def test_the_bound_holds_for_the_true_gap(mixture, n_neighbors):
    views, _ = mixture
    model = TLRR(4, size="sparse", n_neighbors=n_neighbors, random_state=0).fit(views)
    W = np.stack([A.toarray() for A in model.similarity_]).astype(np.float64)
    L = np.stack([A.toarray() for A in model.tensor_]).astype(np.float64)
    parameters = {"alpha": 9.0, "lam": model.lam_}
    exact = tlrr(W, **parameters, tol=1e-7)
    first = tlrr(W, **parameters, max_iter=0)
    np.testing.assert_allclose(first.tensor, L, atol=1e-5)
    objective = first.objective(W)
    gap = (objective - exact.objective(W)) / (model.lam_ * (L**2).sum())
    assert 0 < gap <= model.gap_bound_


def test_a_tensor_below_the_threshold_has_no_gap():
    W = np.full((2, 5, 5), 0.1)
    tensor = longest_tubes(W)
    values, gap_bound, n_iter = solve_tubes(tensor, omega1=0.5, alpha=9.0, lam=0.5, max_iter=3)
    assert not values.any() and gap_bound == 0.0 and n_iter == 0


@pytest.fixture(scope="module")
def sparse_problem():
    """The longest tubes of 60 samples in 3 slices, W and the minimiser for a threshold."""
    views, _ = datasets.make_multiview_subspaces(60, 4, n_features=(20, 25, 60), random_state=0)
    factors = view_factors([X / np.linalg.norm(X, axis=1)[:, None] for X in views])
    tensor = sparse_tensor(factors, n_longest=20)
    W = np.stack([A.toarray() for A in tensor.slices()]).astype(np.float64)
    model = {"omega1": 0.4, "alpha": 9.0, "lam": 0.6 * 9.0 / 2 / np.quantile(tensor.lengths, 0.4)}
    return tensor, W, model, tlrr(W, **model, tol=1e-6)


@pytest.mark.parametrize("max_iter", [0, 1, 6])
def test_steps_for_the_row_terms_equal_the_twin(sparse_problem, max_iter):
    tensor, W, model, _ = sparse_problem
    values, gap_bound, n_iter = solve_tubes(tensor, **model, max_iter=max_iter)
    L, bound = dual_twin.row_terms(W, **model, steps=max_iter)
    found = np.stack([A.toarray() for A in tensor._replace(values=values).slices()])
    np.testing.assert_allclose(found, L, atol=2e-6)
    np.testing.assert_array_equal(found, found.transpose(0, 2, 1))
    assert n_iter == max_iter and gap_bound == pytest.approx(bound, rel=1e-4)
    again = solve_tubes(tensor, **model, max_iter=max_iter, n_threads=3)
    np.testing.assert_array_equal(again[0], values)
    assert again[1:] == (gap_bound, n_iter)


def test_steps_for_the_row_terms_lead_to_the_minimiser(sparse_problem):
    """The bound holds for the true gap, and falls with the steps as the distance does."""
    tensor, W, model, exact = sparse_problem
    bounds, distances = [], []
    least = exact.objective(W)
    for max_iter in (0, 1, 5):
        values, gap_bound, _ = solve_tubes(tensor, **model, max_iter=max_iter)
        L = np.stack([A.toarray() for A in tensor._replace(values=values).slices()])
        L = L.astype(np.float64)
        scale = model["lam"] * (L**2).sum()
        result = dataclasses.replace(exact, tensor=L)
        assert 0 < result.objective(W) - least <= gap_bound * scale
        bounds.append(gap_bound * scale)
        distances.append(np.linalg.norm(L - exact.tensor))
        assert distances[-1] <= np.sqrt(bounds[-1] / model["lam"])
    assert np.all(np.diff(bounds) < 0) and np.all(np.diff(distances) < 0)
    assert distances[-1] < 0.7 * distances[0]


def test_steps_end_where_no_more_can_be_gained(sparse_problem):
    tensor, _, model, _ = sparse_problem
    rows_alone = {"omega1": 0.0, "alpha": 9.0, "lam": model["lam"] / 0.6}
    _, gap_bound, n_iter = solve_tubes(tensor, **rows_alone, tol=1e-3, max_iter=500)
    assert gap_bound <= 1e-3 and 0 < n_iter < 500
    _, gap_bound, n_iter = solve_tubes(tensor, **model, tol=1e-3, max_iter=500)
    assert gap_bound > 1e-3 and 0 < n_iter < 500


@pytest.mark.parametrize("size", ["sparse", "sample"])
def test_a_sparse_fit_takes_the_steps_asked_for(mixture, size):
    views, y = mixture
    model = TLRR(4, size=size, max_iter=5, n_neighbors=30, random_state=0).fit(views)
    assert model.size_ == size and model.n_iter_ == 5 and not model.converged_
    assert clustering_scores(y, model.labels_)["acc"] == 1.0
    first = TLRR(4, size=size, n_neighbors=30, random_state=0).fit(views)
    assert first.n_iter_ == 0 and first.lam_ == model.lam_
    bounds = [m.gap_bound_ * sum((A.data**2).sum() for A in m.tensor_) for m in (model, first)]
    assert bounds[0] < bounds[1]
    assert scipy.sparse.issparse(model.affinity_)


def test_a_tolerance_that_is_not_reached_is_said(mixture):
    with pytest.warns(
        ConvergenceWarning, match=r"gap_bound_=.* after 2 steps is above tol="
    ) as said:
        TLRR(4, size="sparse", max_iter=2, tol=1e-3, random_state=0).fit(mixture[0])
    assert said[0].filename == __file__


def test_no_tube_outside_the_lists_is_longer_than_its_bound(mixture):
    views, _ = mixture
    factors = view_factors([X / np.linalg.norm(X, axis=1)[:, None] for X in views])
    candidates = [nearest_rows(u, 20) for u, _ in factors]
    tensor = sparse_tensor(factors, candidates=candidates)
    bound = unseen_tubes(factors, candidates, tensor.scales)
    roots = 1 / np.sqrt(tensor.scales)
    W = [
        np.minimum(1.5, np.maximum(0, (u @ u.T) * np.add.outer(h, h) * np.outer(r, r)))
        for (u, h), r in zip(factors, roots, strict=True)
    ]
    lengths = np.sqrt((np.array(W) ** 2).sum(axis=0))
    np.fill_diagonal(lengths, 0)
    for j in range(300):
        lengths[j, np.concatenate([columns[j] for columns in candidates])] = 0
    assert np.all(lengths <= bound[:, None] * (1 + 1e-5))
    everything = [nearest_rows(u, 299) for u, _ in factors]
    assert not unseen_tubes(factors, everything, tensor.scales).any()


@pytest.mark.parametrize("graph", ["selfrep", "knn", "gaussian"])
@pytest.mark.parametrize("size", ["dense", "sparse", "sample"])
def test_new_samples(mixture, graph, size):
    views, y = mixture
    parameters = {"graph": graph, "size": size, "max_samples": 120, "random_state": 0}
    if size == "dense":
        parameters["max_iter"] = 0
    model = TLRR(4, **parameters).fit([X[:220] for X in views])
    assert len(model.samples_) == (120 if size == "sample" else 220)
    assert len(model.labels_) == 220
    assert np.mean(model.predict([X[:220] for X in views]) == model.labels_) >= 0.95
    together = np.concatenate([model.labels_, model.predict([X[220:] for X in views])])
    assert clustering_scores(y, together)["acc"] >= 0.98


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", ["dense", "sparse", "sample"])
def test_precomputed_similarities(mixture, size, sparse):
    views, y = mixture
    W = graphs.sparse_self_representation(views)
    new = [A[220:, :220] for A in W]
    fitted = [A[:220, :220] for A in W]
    if not sparse:
        new, fitted = (np.stack([A.toarray() for A in part]) for part in (new, fitted))
    parameters = {"max_iter": 0} if size == "dense" else {"size": size, "max_samples": 120}
    model = TLRR(4, graph="precomputed", random_state=0, **parameters).fit(fitted)
    assert model.size_ == ("sparse" if sparse and size == "dense" else size)
    together = np.concatenate([model.labels_, model.predict(new)])
    assert clustering_scores(y, together)["acc"] >= 0.98
    with pytest.raises(ValueError, match="slice 0 has 219 columns, fit had 220 samples"):
        model.predict([A[:, 1:] for A in new])
    with pytest.raises(ValueError, match=f"X has 1 slices, the similarities of fit had {len(W)}"):
        model.predict(new[:1])
    with pytest.raises(ValueError, match="X: slice 0 has entries up to 1.*e.25, whose squares"):
        model.predict([1e25 * A for A in new])
    with pytest.raises(ValueError, match="X: slice 1 contains"):
        model.predict([new[0], np.nan * new[1], *new[2:]])
    with pytest.raises(ValueError, match="X: slice 1 has 5 rows, slice 0 has"):
        model.predict([new[0], new[1][:5], *new[2:]])


def test_slices_of_new_similarities_are_not_scaled_each_by_itself(mixture):
    W = graphs.sparse_self_representation(mixture[0])
    other = np.random.RandomState(0).permutation(W[0].shape[0])
    W = [W[0], *[2.0**-20 * A[other][:, other] for A in W[1:]]]
    model = TLRR(4, graph="precomputed", n_neighbors=8, size="sample", max_samples=90)
    model.set_params(random_state=0).fit(W)
    rest = np.delete(np.arange(W[0].shape[0]), model.samples_)
    np.testing.assert_array_equal(model.predict([A[rest] for A in W]), model.labels_[rest])


def test_one_sparse_matrix_is_one_slice(mixture):
    W = graphs.sparse_self_representation(mixture[0][:1], scales=[0.5])[0]
    given = {"n_clusters": 4, "graph": "precomputed", "n_neighbors": 8, "random_state": 0}
    model = TLRR(**given).fit(W)
    np.testing.assert_array_equal(model.labels_, TLRR(**given).fit([W]).labels_)
    np.testing.assert_array_equal(model.predict(W[:9]), model.predict([W[:9]]))


def test_sparse_similarities_must_not_be_negative():
    W = scipy.sparse.csr_array(np.eye(6) - 1)
    with pytest.raises(ValueError, match="X: slice 1 has 30 negative entries"):
        TLRR(2, graph="precomputed").fit([abs(W), W])


def test_what_auto_stands_for():
    choose = partial(_tlrr_size.chosen_size, limit=20_000)
    usual = {"factored": True, "sparse": False, "iterates": False}
    assert choose(500, 4, **usual) == "dense"
    assert choose(500, 5, **usual) == "sparse"
    assert choose(1000, 3, **usual | {"factored": False}) == "dense"
    assert choose(500, 4, **usual | {"sparse": True}) == "sparse"
    assert choose(20_001, 4, **usual) == "sample"
    assert choose(2500, 4, **usual | {"iterates": True}) == "dense"
    assert choose(2501, 4, **usual | {"iterates": True}) == "sparse"
    assert choose(20_001, 4, **usual | {"iterates": True}) == "sample"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"refine": "yes"}, "refine must be True or False, got 'yes'"),
        ({"size": "huge"}, "size must be one of 'auto', 'dense', 'sparse', 'sample'"),
        ({"size": "sparse", "solver": "ialm"}, 'give solver="dual"'),
        ({"size": "sample", "solver": "ialm"}, 'or size="dense"'),
        ({"max_samples": 1}, "max_samples == 1, must be >= 2"),
        ({"max_samples": 3}, "max_samples=3 is less than n_clusters=4"),
    ],
)
def test_bad_parameters(mixture, parameters, message):
    with pytest.raises(ValueError, match=message):
        TLRR(4, **parameters).fit(mixture[0])


def test_new_samples_must_have_the_features_of_fit(mixture):
    model = TLRR(4, size="sparse", random_state=0).fit(mixture[0])
    with pytest.raises(ValueError, match=r"views have \[20, 12, 30\] features, those of fit"):
        model.predict([mixture[0][1], mixture[0][0], mixture[0][2]])


def test_what_native_code_cannot_label_with_is_said(mixture):
    views, _ = mixture
    with pytest.raises(NotFittedError):
        TLRR(4).voters()
    few = TLRR(4, size="sparse", random_state=0).fit([X[:25] for X in views])
    with pytest.raises(ValueError, match="slice 2, of view 2, was fitted on fewer samples than"):
        few.voters()
    W = graphs.sparse_self_representation([X[:80] for X in views])
    model = TLRR(4, graph="precomputed", random_state=0).fit(W)
    with pytest.raises(ValueError, match="precomputed similarities have no factors"):
        model.voters()
    views, _ = datasets.make_multiview_subspaces(60, 4, n_features=(10, 12), random_state=0)
    views[0][3] = np.nan
    lacking = TLRR(4, size="sparse", n_neighbors=8, random_state=0).fit(views)
    with pytest.raises(ValueError, match="samples that lack views have no factors"):
        lacking.voters()


def test_some_of_a_sample_vote_in_fit_in_predict_and_in_native_code(mixture, monkeypatch):
    views, y = mixture
    assert _tlrr_size.count_voters(20_000, 10) == 5000
    assert _tlrr_size.count_voters(20_000, 60) == 15_000
    assert _tlrr_size.count_voters(4000, 60) == 4000
    monkeypatch.setattr(_tlrr_size, "VOTERS", 90)
    monkeypatch.setattr(_tlrr_size, "VOTERS_PER_CLUSTER", 20)
    model = TLRR(4, size="sample", max_samples=200, random_state=0).fit(views)
    rest = np.delete(np.arange(300), model.samples_)
    np.testing.assert_array_equal(model.predict(views)[rest], model.labels_[rest])
    assert clustering_scores(y[rest], model.labels_[rest])["acc"] > 0.95
    arrays = model.voters()
    assert arrays["scales"].shape == (6, 90) and arrays["labels"].shape == (90,)
    assert [u.shape for u in arrays["u"]] == 2 * [(90, 12), (90, 20), (90, 30)]
    monkeypatch.setattr(_tlrr_size, "VOTERS", 200)
    every = TLRR(4, size="sample", max_samples=200, random_state=0).fit(views)
    where = spread(200, 90)
    np.testing.assert_array_equal(arrays["labels"], every.voters()["labels"][where])
    np.testing.assert_array_equal(arrays["u"][3], every.voters()["u"][3][where])
    np.testing.assert_array_equal(arrays["scales"], every.voters()["scales"][:, where])
    sparse = TLRR(4, size="sparse", random_state=0).fit(views)
    assert sparse.voters()["labels"].shape == (300,)


def test_what_does_not_fit_is_refused_before_any_work(mixture, monkeypatch):
    monkeypatch.setattr(_cost, "available_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"with 300 samples needs.*size=\"sample\" fits"):
        TLRR(4, size="dense", graph="knn").fit(mixture[0])


def test_labels_of_a_sample_do_not_depend_on_threads(mixture):
    views, _ = mixture
    one, two = (
        TLRR(4, size="sample", max_samples=250, random_state=0, n_threads=k).fit(views)
        for k in (1, 2)
    )
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.predict(views), two.predict(views))


def test_permuting_the_samples_permutes_the_labels_of_a_sparse_fit():
    views, _ = datasets.make_multiview_subspaces(100, 4, noise=0.2, random_state=1)
    order = np.random.default_rng(0).permutation(100)
    labels = TLRR(4, size="sparse", random_state=0).fit_predict(views)
    permuted = TLRR(4, size="sparse", random_state=0).fit_predict([X[order] for X in views])
    np.testing.assert_array_equal(permuted, labels[order])


@pytest.mark.parametrize(
    "chain",
    [
        lambda model: SNN(4, graph=model, tol=1e-4, random_state=0),
        lambda model: TSVDMSC(4, sample_transform=model, random_state=0),
    ],
)
def test_a_sparse_fit_may_be_the_first_of_a_chain(mixture, chain):
    views, y = mixture
    labels = chain(TLRR(4, size="sparse")).fit_predict(views)
    assert clustering_scores(y, labels)["acc"] > 0.9
