"""The regression that predicts labels, and the refinement that repeats it."""

import numpy as np
import pytest
import reference.predictability as twin
import scipy.sparse
from conftest import random_sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

from mvsc_fast.judge import _ridge


class Predictions:
    """A regression that predicts one labelling after the other, and counts how often."""

    def __init__(self, *labellings):
        self.labellings, self.count = labellings, 0

    def predicted(self, labellings, n_clusters, add):
        self.count += 1
        return [np.array(self.labellings[(self.count - 1) % len(self.labellings)])]


@pytest.mark.parametrize("shape", [(30, 8), (30, 30), (30, 70)], ids=str)
def test_leave_one_out_is_leaving_one_out(shape):
    rng = np.random.default_rng(0)
    F = rng.standard_normal(shape).astype(np.float32)
    Y = rng.standard_normal((30, 5))
    ridge = _ridge.LeaveOneOutRidge(F)
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
    ridge, alone = _ridge.LeaveOneOutRidge(F, some), _ridge.LeaveOneOutRidge(F[some])
    B = alone.coefficients(Y[some])
    np.testing.assert_allclose(ridge.coefficients(Y), B, atol=1e-12)
    predicted = ridge.predict(Y)
    np.testing.assert_allclose(predicted[some], alone.predict(Y[some]), atol=1e-5)
    np.testing.assert_allclose(predicted[1::2], F[1::2] @ B, atol=1e-5)


def test_some_samples_alone_have_the_ridge_of_all_columns():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((40, 8)).astype(np.float32)
    Y = rng.standard_normal((30, 5))
    predicted = _ridge.LeaveOneOutRidge(F, rank=20).restricted(np.arange(30)).predict(Y)
    K = F[:30].astype(float) @ F[:30].T
    np.testing.assert_allclose(predicted, twin.leave_one_out(K, 0.5 * 30 / 20, Y), atol=2e-3)


def test_many_samples_alone_are_regressed_on_evenly_spaced_ones():
    rng = np.random.default_rng(0)
    F, Y = rng.standard_normal((9000, 2)).astype(np.float32), rng.standard_normal((8193, 3))
    B = _ridge.LeaveOneOutRidge(F).restricted(np.arange(8193)).coefficients(Y)
    some = np.linspace(0, 8192, 4096).astype(int)
    K = F[some].astype(float)
    expected = np.linalg.solve(K.T @ K + 0.5 * 4096 / 2 * np.eye(2), K.T @ Y[some])
    np.testing.assert_allclose(B, expected, atol=1e-5)


def test_leaving_out_is_exact_up_to_a_leverage_of_more_than_995_thousandths():
    rng = np.random.default_rng(0)
    F, Y = rng.standard_normal((30, 4)).astype(np.float32), rng.standard_normal((30, 3))
    F[:, 3], F[7, 3] = 0, 30
    K, g = F.astype(float) @ F.T, 0.5 * 30 / 4
    assert 1 - g * np.linalg.inv(K + g * np.eye(30))[7, 7] > 0.995
    expected = twin.leave_one_out(K, g, Y)
    np.testing.assert_allclose(_ridge.LeaveOneOutRidge(F).predict(Y), expected, atol=1e-3)


def test_a_sample_that_alone_decides_a_coefficient_has_finite_predictions():
    F = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    F[:, 3] = 0
    F[7] = [0, 0, 0, 1e5]
    assert np.isfinite(_ridge.LeaveOneOutRidge(F).predict(np.eye(30, 2, dtype=np.float32))).all()


def test_refinement_ends_after_four_rounds_or_when_nothing_changes():
    graph = scipy.sparse.csr_array(np.ones((4, 4)) - np.eye(4))
    start, other = np.array([0, 0, 1, 1]), [0, 1, 0, 1]
    unsteady, steady = Predictions(other, start), Predictions(other, other)
    np.testing.assert_array_equal(_ridge.refined_labellings([start], 2, unsteady, graph), [start])
    np.testing.assert_array_equal(_ridge.refined_labellings([start], 2, steady, graph), [other])
    assert (unsteady.count, steady.count) == (4, 2)
    emptying = Predictions([0] * 4)
    np.testing.assert_array_equal(_ridge.refined_labellings([start], 2, emptying, graph), [start])


def test_refinement_adds_means_of_neighbours():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((20, 5)).astype(np.float32)
    A = random_sparse((20, 20), 0.3, rng) * 40
    A = scipy.sparse.csr_array(A + A.T)
    A.setdiag(0)
    ridge, labels = _ridge.LeaveOneOutRidge(F), np.arange(20) % 3
    expected = labels
    for _ in range(4):
        Y = _ridge.one_hot(expected, 3)
        score = ridge.predict(Y.copy()) + A.toarray() / A.sum(axis=1)[:, None] @ Y
        new = score.argmax(axis=1)
        if (new == expected).all() or len(np.unique(new)) < len(np.unique(expected)):
            break
        expected = new
    (refined,) = _ridge.refined_labellings([labels], 3, ridge, A)
    np.testing.assert_array_equal(refined, expected)
    assert (refined != labels).any()


def test_labellings_are_refined_as_each_alone():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((40, 5)).astype(np.float32)
    A = random_sparse((40, 40), 0.2, rng)
    A = scipy.sparse.csr_array(A + A.T)
    ridge, labellings = _ridge.LeaveOneOutRidge(F), rng.integers(0, 4, size=(6, 40))
    labellings[4], labellings[5] = labellings[0], (labellings[0] + 1) % 4
    alone = [_ridge.refined_labellings([labels], 4, ridge, A)[0] for labels in labellings]
    np.testing.assert_array_equal(_ridge.refined_labellings(labellings, 4, ridge, A), alone)
    assert (labellings != alone).any(axis=1).sum() >= 5


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_mutual_information_is_that_of_scikit_learn(pairs):
    """Adjusted information is not more than 0 if labels do not agree more than by chance."""
    a, b = np.array(pairs).T
    expected = normalized_mutual_info_score(a, b)
    assert _ridge.mutual_information(a, b, 3) == pytest.approx(expected, abs=1e-12)
    # Where all samples are alone in their clusters, scikit-learn 1.6 divides rounding errors.
    assume(max(np.bincount(a).max(), np.bincount(b).max()) > 1)
    by_chance = np.bincount(a, minlength=3) @ np.bincount(b, minlength=3) / len(a)
    expected = adjusted_mutual_info_score(a, b)
    expected = expected if (a == b).sum() >= by_chance else min(0, expected)
    assert _ridge.adjusted_mutual_information(a, b) == pytest.approx(expected, abs=1e-9)
