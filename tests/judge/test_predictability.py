"""The judge of labels equals leaving out one sample after the other, and prefers the truth."""

import numpy as np
import pandas as pd
import pytest
import reference.predictability as twin
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from mvsc_fast import datasets, label_predictability
from mvsc_fast.judge._landmarks import LandmarkFeatures
from mvsc_fast.judge._ridge import Judge, LeaveOneOutRidge, mutual_information, refined_labellings
from mvsc_fast.views._rows import canonical_order
from mvsc_fast.views._view_rows import ViewRows


@pytest.fixture(scope="module")
def subspaces():
    return datasets.make_multiview_subspaces(
        120, 4, n_features=(20, 300, 9), noise=0.3, random_state=0
    )


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=120)
    views = [3 * rng.standard_normal((4, d))[y] + rng.standard_normal((120, d)) for d in (9, 30)]
    return views, y


def test_missing_rows_are_predicted_and_samples_without_views_are_not_scored(subspaces):
    views, y = [X.copy() for X in subspaces[0]], subspaces[1]
    complete = label_predictability(views, y)
    views[1][:6] = np.nan
    gappy = label_predictability(views, y)
    assert gappy == pytest.approx(complete, abs=0.1) and gappy != complete
    views[0][:2] = views[2][:2] = np.nan
    expected = label_predictability([X[2:] for X in views], y[2:])
    assert label_predictability(views, np.append([-1, -1], y[2:])) == expected
    views[0][7, 0] = np.nan
    with pytest.warns(UserWarning, match="lacks 1 cell .*: cells are filled"):
        assert label_predictability(views, y) == pytest.approx(expected, abs=0.1)
    views[0][20:90, :8] = np.nan
    with pytest.raises(ValueError, match="at most 10 % can be filled"):
        label_predictability(views, y)


@pytest.mark.parametrize("shape", [(30, 8), (30, 30), (30, 70)])
def test_leave_one_out_is_leaving_one_out(shape):
    rng = np.random.default_rng(0)
    F = rng.standard_normal(shape).astype(np.float32)
    Y = rng.standard_normal((30, 5))
    ridge = LeaveOneOutRidge(F)
    g = 0.5 * 30 / min(shape)
    K = F.astype(float) @ F.T
    np.testing.assert_allclose(ridge.predict(Y), twin.leave_one_out(K, g, Y), atol=2e-3)
    B = np.linalg.solve(F.T.astype(float) @ F + g * np.eye(shape[1]), F.T @ Y)
    np.testing.assert_allclose(ridge.coefficients(Y), B, atol=1e-4)


@pytest.mark.parametrize("d", [8, 40])
def test_fitted_samples_predict_the_others(d):
    rng = np.random.default_rng(0)
    F = rng.standard_normal((40, d)).astype(np.float32)
    Y = rng.standard_normal((40, 5))
    some = np.arange(0, 40, 2)
    ridge, alone = LeaveOneOutRidge(F, some), LeaveOneOutRidge(F[some])
    B = alone.coefficients(Y[some])
    np.testing.assert_array_equal(ridge.coefficients(Y), B)
    predicted = ridge.predict(Y)
    np.testing.assert_allclose(predicted[some], alone.predict(Y[some]), atol=1e-5)
    np.testing.assert_allclose(predicted[1::2], F[1::2] @ B, atol=1e-5)


def test_some_samples_alone_have_the_ridge_of_all_columns():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((40, 8)).astype(np.float32)
    Y = rng.standard_normal((30, 5))
    found = LeaveOneOutRidge(F, rank=20).of(np.arange(30)).predict(Y)
    K = F[:30].astype(float) @ F[:30].T
    np.testing.assert_allclose(found, twin.leave_one_out(K, 0.5 * 30 / 20, Y), atol=2e-3)


def test_regressions_are_fitted_on_some_of_many_samples(subspaces):
    """Two maps score these samples; the third scores all, the others by its coefficients."""
    views, y = subspaces
    labels = np.where(np.random.default_rng(0).uniform(size=120) < 0.8, y, 0)
    some = np.linspace(0, 119, 80).astype(int)

    def indicators(labels):
        return (labels[:, None] == np.arange(4)) / np.sqrt(np.bincount(labels))

    parts = [twin.unit(X)[some] for X in views]
    maps = [np.hstack(parts), np.hstack([twin.unit(U - U.mean(axis=0)) for U in parts])]
    Y = indicators(labels[some])
    expected = [twin.leave_one_out(F @ F.T / 3, 0.5, Y).argmax(axis=1) for F in maps]
    features = LandmarkFeatures([ViewRows(X) for X in views], np.arange(120))
    F = features.of_fitted().astype(float)
    K, Y = F @ F[some].T, indicators(labels)[some]
    score = K @ np.linalg.solve(K[some] + 0.5 * np.eye(80), Y)
    score[some] = twin.leave_one_out(K[some], 0.5, Y)
    judge = Judge([ViewRows(X) for X in views], 80)
    found = judge.predictions([labels], 4)
    for (_, (labels,)), right in zip(found, [*expected, score.argmax(axis=1)], strict=True):
        np.testing.assert_array_equal(labels, right)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_equal_to_its_definition(subspaces, nonnegative):
    views, y = subspaces
    if nonnegative:
        views = [np.abs(X) for X in views]
    rng = np.random.default_rng(0)
    labels = np.where(rng.uniform(size=len(y)) < 0.8, y, rng.integers(4, size=len(y)))
    expected = twin.label_predictability(views, labels)
    assert 0.05 < expected < 0.9
    assert label_predictability(views, labels) == pytest.approx(expected, abs=1e-9)


def test_the_truth_is_more_predictable_than_what_differs_from_it(blobs):
    views, y = blobs
    rng = np.random.default_rng(0)
    labellings = [
        np.where(rng.uniform(size=120) < p, rng.integers(4, size=120), y) for p in (0, 0.1, 0.3, 1)
    ]
    scores = label_predictability(views, labellings)
    assert (np.diff(scores) < 0).all() and scores[0] > 0.9 and scores[-1] < 0.1


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # of scikit-learn 1.7
@pytest.mark.parametrize("n_clusters", [3, 30, 120])
def test_random_labels_are_not_predictable_in_any_number(subspaces, n_clusters):
    labels = np.random.default_rng(0).permutation(np.arange(120) % n_clusters)
    assert label_predictability(subspaces[0], labels) < 0.05


def test_names_of_labels_do_not_matter(subspaces):
    views, y = subspaces
    score = label_predictability(views, y)
    assert isinstance(score, float)
    named = label_predictability(views, np.array(list("dbca"))[y])
    assert named == pytest.approx(score, rel=1e-14)  # clusters are summed in another order
    assert label_predictability(views, 7 - 3 * y) == pytest.approx(score, rel=1e-14)
    sparse = [scipy.sparse.csr_matrix(X) for X in views]
    assert label_predictability(sparse, y) == pytest.approx(score, rel=1e-14)


def test_independent_of_the_order_of_the_samples(subspaces):
    views, y = subspaces
    order = np.random.default_rng(0).permutation(120)
    assert label_predictability(views, y) == label_predictability(
        [X[order] for X in views], y[order]
    )


def test_a_single_cluster_says_nothing(subspaces):
    assert label_predictability(subspaces[0], np.zeros(120)) == 0.0


def test_labels_must_match_the_samples(subspaces):
    views, y = subspaces
    with pytest.raises(ValueError, match="labels has 119 labels, but the number of samples is 120"):
        label_predictability(views, y[1:])
    frames = [pd.DataFrame(X, index=[f"s{i}" for i in range(120)]) for X in views]
    series = pd.Series(y, index=frames[0].index)
    assert label_predictability([views[0], *frames[1:]], series) == label_predictability(views, y)
    with pytest.raises(ValueError, match="labels and the views have different indexes"):
        label_predictability(frames, series[::-1])
    with pytest.raises(ValueError, match="labelling 1 and the views have different indexes"):
        label_predictability([views[0], *frames[1:]], [y, series[::-1]])
    with pytest.raises(ValueError, match="labelling 1 has 119 labels"):
        label_predictability(views, [y, y[1:]])
    with pytest.raises(ValueError, match=r"labels has shape \(0, 120\)"):
        label_predictability(views, np.empty((0, 120)))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_mutual_information_is_that_of_scikit_learn(pairs):
    a, b = np.array(pairs).T
    expected = normalized_mutual_info_score(a, b)
    assert mutual_information(a, b, 3) == pytest.approx(expected, abs=1e-12)


def test_refinement_ends_where_every_label_is_predicted(blobs):
    views, y = blobs
    rows = [ViewRows(X) for X in views]
    features = LandmarkFeatures(rows, np.arange(120))
    ridge = LeaveOneOutRidge(features.of_fitted())
    votes = scipy.sparse.csr_array((120, 120), dtype=np.float32)
    wrong = y.copy()
    wrong[:6] = (wrong[:6] + 1) % 4
    np.testing.assert_array_equal(refined_labellings([wrong], 4, ridge, votes), [y])


@pytest.mark.parametrize("d", [7, 200])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_rows_have_the_inner_products_of_unit_rows(d, sparse, nonnegative):
    X = np.random.default_rng(0).standard_normal((60, d))
    X = np.abs(X) if nonnegative else X
    given = scipy.sparse.csr_matrix(X) if sparse else X
    view = ViewRows(given)
    atol = 1e-6 if d < 60 else 5e-3  # of codes
    np.testing.assert_allclose(view.unit @ view.unit.T, twin.unit(X) @ twin.unit(X).T, atol=atol)


def test_rows_of_equal_sums_have_one_canonical_order():
    rng = np.random.default_rng(0)
    X = np.array([rng.permutation([1, 1, 0, 0, 0, 2, 0, 1, 0, 0]) for _ in range(50)])
    X = np.unique(X, axis=0)
    order = rng.permutation(len(X))
    sorted_once = X[canonical_order([X])]
    np.testing.assert_array_equal(sorted_once, X[order][canonical_order([X[order]])])
