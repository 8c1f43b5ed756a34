"""The lift of narrow views: unit rows that keep their lengths, whatever unit and origin."""

import numpy as np
import pytest
import reference.predictability as twin
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, datasets, label_predictability
from mvsc_fast.views._lift import centre_rows, correlation_of_lengths, find_lift, fit_lift

NAN = float("nan")


def groups(sizes, n_features, distance=6, seed=0):
    """Views of Gaussian groups, and their numbers."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    places = [distance * rng.permutation(len(sizes))[:, None] for _ in n_features]
    centres = [place * np.full(d, d**-0.5) for place, d in zip(places, n_features, strict=True)]
    # On a grid: sums and differences of translated views are exact.
    views = [C[y] + rng.standard_normal((len(y), C.shape[1])) for C in centres]
    return [np.round(64 * X) / 64 for X in views], y


def test_lifted_rows_are_those_of_their_definition():
    X = np.random.default_rng(0).standard_normal((200, 3)) + [5, 0, -7]
    np.testing.assert_allclose(fit_lift(X)(X), twin.lifted(X), atol=1e-13)


def test_order_missing_rows_and_powers_of_two_change_no_bit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 7))
    order, lift = rng.permutation(300), fit_lift(X)
    other = fit_lift(X[order])
    assert other.mean.tobytes() == lift.mean.tobytes() and other.radius == lift.radius
    assert lift(X[order]).tobytes() == lift(X)[order].tobytes()
    assert lift(X[7:9]).tobytes() == lift(X)[7:9].tobytes()
    assert np.isnan(lift(np.full((1, 7), NAN))).all()
    for scaled in (np.ldexp(X, -40), np.ldexp(X, 40)):
        assert fit_lift(scaled)(scaled).tobytes() == lift(X).tobytes()


def spread_groups(n_features, seed=0):
    """A large group, whose directions are random, and a small one far away."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, n_features))
    X[:30] += 12 * n_features**-0.5
    return X


def is_lifted(X, nonnegative=None):
    return find_lift(X, nonnegative) is not None


def test_views_are_lifted_where_like_directions_have_like_lengths():
    rng = np.random.default_rng(0)
    for d, expected in ((3, True), (4, True), (80, True), (81, False)):
        X = spread_groups(d)
        assert is_lifted(X) is expected
        assert is_lifted(np.hstack([X, np.full((300, 3), 7.0)])) is expected
        assert is_lifted(scipy.sparse.csr_array(np.hstack([X, 0 * X]))) is expected
    for d, expected in ((3, True), (4, False), (20, False)):
        assert is_lifted(rng.standard_normal((300, d))) is expected
    (subspaces, _) = datasets.make_multiview_subspaces(300, 3, n_features=(20, 15), random_state=0)
    assert not any(is_lifted(X) for X in subspaces)
    for d, expected in ((3, True), (4, False)):  # without negative entries
        X = spread_groups(d) + 20
        assert is_lifted(X) is is_lifted(X, nonnegative=True) is expected
        assert is_lifted(X, nonnegative=False)


def test_the_choice_does_not_depend_on_the_order_of_equal_lengths():
    """Rows of ones and zeros have few lengths, and many neighbours at the same distance."""
    rng = np.random.default_rng(0)
    for d in (4, 6, 9):
        X = rng.integers(0, 2, (400, d)) - 0.5
        X[:50] *= 3
        bar, order = correlation_of_lengths(*centre_rows(X)[:2]), rng.permutation(400)
        assert correlation_of_lengths(*centre_rows(X[order])[:2]) == pytest.approx(bar, abs=1e-12)


def test_sparse_and_constant_views():
    rng = np.random.default_rng(0)
    X = rng.random((20, 5))
    sparse = scipy.sparse.csr_array(X)
    np.testing.assert_array_equal(fit_lift(sparse)(sparse), fit_lift(X)(X))
    assert fit_lift(np.full((20, 5), 0.1)) is None
    assert fit_lift(np.full((20, 5), NAN)) is None
    assert find_lift(np.column_stack([np.ones(20), 1e-170 * X[:, 0]])) is None
    few = np.zeros((1000, 1))
    few[:5] = 1  # beyond the quantile
    assert len(np.unique(fit_lift(few)(few), axis=0)) == 2


@pytest.mark.parametrize("n_features", [(1, 1, 1), (3, 12)])
def test_groups_of_any_size_are_found_in_few_columns(n_features):
    views, y = groups((160, 80, 40, 20), n_features, distance=12)
    model = ConsensusTLRR(4, random_state=0).fit(views)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert adjusted_rand_score(y, model.predict(views)) > 0.95
    assert label_predictability(views, y) > 0.9


def test_unit_origin_and_empty_columns_change_no_cluster():
    views, y = groups((100, 60, 40), (2, 5))
    model = ConsensusTLRR(3, random_state=0)
    labels = model.fit(views).labels_
    assert adjusted_rand_score(y, labels) > 0.95
    scaled = [views[0] * 2.0**900, views[1] / 8]
    np.testing.assert_array_equal(model.fit(scaled).labels_, labels)
    for other in (
        [views[0] + 8, views[1] - 2.0**20],
        [np.hstack([X, np.zeros((200, 1))]) for X in views],
        [np.hstack([np.full((200, 1), 7.0), X]) for X in views],
    ):
        assert adjusted_rand_score(model.fit(other).labels_, labels) == 1


def test_correlation_is_that_of_its_definition():
    values = []
    for distance in (1, 1.2, 1.4):
        X = np.random.default_rng(0).standard_normal((300, 12))
        X[:30] += distance
        X[0] *= 100  # an outlier
        values.append(twin.correlation_of_lengths(X))
        assert correlation_of_lengths(*centre_rows(X)[:2]) == pytest.approx(values[-1])
        assert is_lifted(X) is bool(values[-1] >= 0.4)
    assert 0.2 < min(values) < 0.4 < max(values) < 0.6


def test_views_whose_lengths_tell_nothing_are_not_lifted():
    rng = np.random.default_rng(0)
    half = rng.integers(-3, 4, (100, 4))
    with_centre = np.vstack([half, -half, np.zeros((5, 4))])  # rows without a direction
    corners = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, 16).T  # of equal lengths
    for X in (with_centre, corners):
        assert -1 <= correlation_of_lengths(*centre_rows(X)[:2]) < 0.4 and not is_lifted(X)
    for X in (np.ones((20, 5)), rng.normal(size=(6, 4)), spread_groups(4) - spread_groups(4).min()):
        assert not is_lifted(X)
