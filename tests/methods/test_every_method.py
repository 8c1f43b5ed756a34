"""What holds for all methods: order and kinds of the samples, precision, early ends, odd data."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from conftest import fitted, nonnegative_views
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import TLRR, datasets
from mvsc_fast.methods import AWP, ESTIMATORS, ETLMSC
from mvsc_fast.metrics import clustering_scores

MODELS = {name: estimator(3, random_state=0) for name, estimator in ESTIMATORS.items()}
ITERATIVE = [name for name in ESTIMATORS if name != "consensus-tlrr"]
VARIANTS = {
    **MODELS,
    "etlmsc columns": ETLMSC(3, axis=1, random_state=0),
    "etlmsc refreshed": ETLMSC(3, sample_transform=TLRR(3, n_neighbors=8), random_state=0),
}
LEARNED = "representation_", "tensor_", "latent_", "weights_"


def learned(model):
    """The arrays that a fit found, by name."""
    return {name: np.asarray(getattr(model, name)) for name in LEARNED if hasattr(model, name)}


def assert_equal(attribute, first, second, expected, atol):
    """What ``second`` learned is ``expected``, which ``first`` learned, up to where they stopped.

    Rounding may end one of the runs an iteration earlier. A run that stops at a gap knows how far
    it is from the minimiser, which both have in common; the others end near their limits.
    """
    values = learned(second)[attribute]
    if getattr(first, "gap_", None) is None or first.n_iter_ == second.n_iter_:
        np.testing.assert_allclose(values, expected, atol=atol, err_msg=attribute)
        return
    bounds = [np.sqrt(model.gap_ / 2) * np.linalg.norm(model.tensor_) for model in (first, second)]
    assert np.linalg.norm(values - expected) <= sum(bounds) + atol, attribute


def short(name, **parameters):
    """The estimator with fewer iterations, if it has any."""
    model = MODELS[name]
    known = model.get_params(deep=False)
    return clone(model).set_params(**{key: parameters[key] for key in parameters if key in known})


@pytest.mark.parametrize("name", VARIANTS)
def test_permuting_samples_permutes_labels_and_what_is_learned(name):
    """No fit uses the global generator of random numbers."""
    state = np.random.get_state()[1].copy()
    views, _ = datasets.make_multiview_subspaces(60, 3, quality=(1, 0.9, 0.6), random_state=1)
    order = np.random.default_rng(0).permutation(60)
    first = clone(VARIANTS[name]).fit(views)
    second = clone(VARIANTS[name]).fit([X[order] for X in views])
    assert adjusted_rand_score(first.labels_[order], second.labels_) == 1
    assert first.labels_.dtype == np.int64
    for attribute, expected in learned(first).items():
        if expected.ndim == 3:
            expected = expected[:, order][:, :, order]
        elif attribute == "latent_":
            expected = expected[order]
        assert_equal(attribute, first, second, expected, atol=1e-5)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_sparse_views_are_those_of_dense_ones_and_none_is_changed(name):
    views = nonnegative_views(220)
    before = [X.copy() for X in views]
    model = short(name, max_iter=3)
    dense = fitted(clone(model), views)
    sparse = fitted(model, [scipy.sparse.csr_matrix(X) for X in views])
    if name in ("consensus-tlrr", "awp"):  # labels of the others say little after three iterations
        assert adjusted_rand_score(dense.labels_, sparse.labels_) == 1
    for attribute, expected in learned(dense).items():
        assert_equal(attribute, dense, sparse, expected, atol=1e-6)
    for X, same in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, same)


@pytest.mark.parametrize("name", ITERATIVE)
def test_single_precision(name):
    views = [X.astype(np.float32) for X in nonnegative_views(30, (20, 25))]
    model = short(name, tol=1e-3, n_components=6)
    single = fitted(clone(model), views)
    double = fitted(model, [X.astype(float) for X in views])
    for attribute, expected in learned(double).items():
        values = learned(single)[attribute]
        assert values.dtype == (expected.dtype if attribute == "weights_" else np.float32)
        # Both stop at a tolerance, at iterates that differ by more than single precision.
        assert np.linalg.norm(values - expected) < 0.05 * np.linalg.norm(expected), attribute


@pytest.mark.filterwarnings("ignore:.* have no neighbour")
@pytest.mark.parametrize("name", ITERATIVE)
def test_iterations_end_at_max_iter_with_a_warning_and_by_a_callback_without(name):
    views, _ = datasets.make_multiview_subspaces(40, 3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="2 iterations") as caught:
        model = short(name, max_iter=2, tol=1e-12).fit(views)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 2 and not model.converged_
    assert short(name, max_iter=0).fit(views).n_iter_ == 0
    assert np.all(np.diff(model.history_["seconds"]) >= 0)
    if name != "awp":  # which takes no callback
        model = short(name, tol=0.0, callback=lambda state: state.iteration == 3).fit(views)
        assert model.n_iter_ == 3 and not model.converged_


NORMAL = np.random.default_rng(0).standard_normal((12, 4))
DEGENERATE = {
    "constant view": [np.ones((12, 3)), NORMAL],
    "constant": [np.ones((12, 3))],
    "zero": [np.zeros((12, 3))],
    "zero view": [np.zeros((12, 3)), np.eye(12)],
    "duplicates": [NORMAL[:4].repeat(3, axis=0)] * 2,
    "rank 1": [np.outer(np.arange(1.0, 13), np.ones(20))],
    "outlier": [np.vstack([NORMAL[:11, :2], [[1e9, 1e9]]])],
    "two samples": [np.eye(2)],
}


@pytest.mark.parametrize("views", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_degenerate_data(name, views):
    n = len(views[0])
    model = fitted(short(name, n_clusters=min(3, n)), views)
    assert model.labels_.shape == (n,) and set(model.labels_) <= {0, 1, 2}
    for attribute, values in learned(model).items():
        assert np.isfinite(values).all(), attribute
    assert getattr(model, "converged_", True)


@pytest.mark.parametrize("name", sorted({*ESTIMATORS} - {"etlmsc", "trpca"}))  # which find less
def test_subspaces_are_found(name):
    views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    assert clustering_scores(y, clone(MODELS[name]).fit_predict(views))["acc"] >= 0.95


@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_cluster_and_more_clusters_than_samples(name):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    model = clone(MODELS[name]).set_params(n_clusters=1).fit(views)
    assert not model.labels_.any()
    assert not hasattr(model, "predict") or not model.predict(views).any()
    with pytest.raises(ValueError, match="n_clusters=61 .*n_samples=60"):
        model.set_params(n_clusters=61).fit(views)


def test_a_second_view_in_place_of_labels_is_refused():
    X, Y = nonnegative_views(12)
    for y in (Y, [Y], Y.tolist(), [X, Y], scipy.sparse.csr_array(Y)):
        with pytest.raises(ValueError, match="y looks like a view"):
            AWP(3).fit(X, y)
    expected = AWP(3).fit(X).labels_
    for y in ([], np.zeros(12), np.zeros((12, 1)), [0] * 12):
        np.testing.assert_array_equal(AWP(3).fit(X, y).labels_, expected)


@pytest.mark.parametrize("model", [MODELS["tlrr"], MODELS["consensus-tlrr"]])
def test_names_of_columns_are_checked_before_the_work(model):
    stages = []
    model = clone(model).set_params(callback=lambda state: stages.append(state.stage))
    X = nonnegative_views(40, (4,))[0]
    if not sklearn.__version__.startswith(("1.6", "1.7")):  # which accept names that occur twice
        with pytest.raises(ValueError, match="(?s)column names.*'a'"):
            model.fit(pd.DataFrame(X, columns=list("abca")))
    with pytest.raises(TypeError, match=r"\['int', 'str'\]"):
        model.fit(pd.DataFrame(X, columns=["a", "b", "c", 0]))
    assert stages == []
