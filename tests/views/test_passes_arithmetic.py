"""Passes over blocks of rows against what they say of all rows, and reports of columns."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast.views._columns import _largest_columns, warn_of_columns
from mvsc_fast.views._lift import lifted
from mvsc_fast.views._passes import (
    Summary,
    _least,
    check_entries,
    drawn,
    labels_of,
    lacking_all,
    summarised,
    warn_of_lost,
)
from mvsc_fast.views._read import read_views

NAN = np.nan


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((40, 3)), rng.uniform(1, 2, (40, 2))]
    views[0][[3, 9]] = NAN
    views[1][[3, 5]] = NAN
    views[1][7, 1] = NAN
    return views


def test_least_entries_and_samples_without_views(views):
    np.testing.assert_array_equal(_least(views), [np.nanmin(X) for X in views])
    np.testing.assert_array_equal(
        _least([scipy.sparse.csr_array(np.eye(2) * 3), views[0][:0]]), [0, np.inf]
    )
    np.testing.assert_array_equal(np.flatnonzero(lacking_all(views)), [3])
    np.testing.assert_array_equal(np.flatnonzero(lacking_all(views[:1])), [3, 9])


def test_the_summary_is_of_all_samples(views):
    summary = summarised(read_views(views))
    np.testing.assert_array_equal(summary.lost, [3])
    assert summary.bad is None
    assert [(gap.rows, gap.cells) for gap in summary.gaps] == [(2, 0), (2, 1)]
    assert all(known.all() for known in summary.known)


def test_blocks_are_added_in_order(views):
    first, second = (
        summarised(read_views([X[rows] for X in views])) for rows in (slice(8), slice(8, 40))
    )
    whole = summarised(read_views(views))
    for part in (first, second):
        part.lost = [part.lost]
    joined = first + second
    np.testing.assert_array_equal(joined.least, whole.least)
    assert joined.gaps == whole.gaps
    np.testing.assert_array_equal(np.concatenate(joined.lost), whole.lost)
    first.bad, second.bad = (1, 7, 0, np.inf), (0, 12, 3, np.inf)
    assert (first + second).bad == (second + first).bad == (0, 12, 3, np.inf)
    first.bad = None
    assert (first + second).bad == (0, 12, 3, np.inf)


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_the_first_entry_of_a_block_that_cannot_be_used_is_reported(wrap):
    X = np.eye(4)
    check_entries(0, [wrap(X)], ["a"], [None])
    X[1, 3], X[2, 0] = -np.inf, np.inf
    with pytest.raises(ValueError, match="^b has -inf in row 11, column 3: impute or remove"):
        check_entries(10, [np.eye(4), wrap(X)], ["a", "b"], [None, None])
    with pytest.raises(ValueError, match="^b has -inf in row 1, column 'z'"):
        check_entries(0, [np.eye(4), wrap(X)], ["a", "b"], [None, list("wxyz")])


def test_missing_cells_are_no_reason_to_refuse_dense_rows_alone():
    X = np.eye(3)
    X[2, 1] = NAN
    check_entries(0, [X], ["a"], [None])
    with pytest.raises(ValueError, match="^a has nan in row 2, column 1"):
        check_entries(0, [scipy.sparse.csr_array(X)], ["a"], [None])


def test_all_samples_with_a_view_are_drawn_if_there_are_few(views):
    views[1][0, 0] = 0
    with pytest.warns(UserWarning, match="lack|without"):
        found = drawn(read_views(views), 100, 3, 0)
    assert sorted(found.samples) == [i for i in range(40) if i != 3]
    assert found.kept == [0, 1] and found.nonnegative == [False, False]
    np.testing.assert_array_equal(found.lost, [3])
    for X, Z, lift in zip(views, found.views, found.lifts, strict=True):
        known = ~np.isnan(X[found.samples]).any(axis=1)
        np.testing.assert_array_equal(Z[known], lift(X[found.samples[known]]))
    place = int(np.flatnonzero(found.samples == 7)[0])
    assert np.abs(found.views[1][place, 1]) < 1 and np.abs(found.mean_rows[1]).max() == 1


def test_views_are_lifted_by_their_columns():
    rng = np.random.default_rng(0)
    few, many = rng.random((40, 3)), rng.random((40, 81))
    found = drawn(read_views([few, scipy.sparse.csr_array(few), many]), 40, 2, 0)
    assert [lift is None for lift in found.lifts] == [False, False, True]
    assert found.nonnegative == [False, False, True]
    assert [X.shape[1] for X in found.views] == [4, 4, 81]
    np.testing.assert_array_equal(found.views[0], found.views[1])
    plain = drawn(read_views([few, many]), 40, 2, 0, lift=False)
    assert plain.lifts == [None] * 2 and [X.shape[1] for X in plain.views] == [3, 81]


@pytest.mark.filterwarnings("ignore:view 0 lacks", "ignore:without any")
def test_a_subsample_depends_on_the_seed_and_not_on_the_order(views):
    one, again, other = (drawn(read_views(views), 12, 3, seed) for seed in (0, 0, 1))
    assert len(set(one.samples)) == 12 and 3 not in one.samples
    np.testing.assert_array_equal(one.samples, again.samples)
    assert set(one.samples) != set(other.samples)
    back = drawn(read_views([X[::-1] for X in views]), 12, 3, 0)
    np.testing.assert_array_equal(39 - back.samples, one.samples)


@pytest.mark.filterwarnings("ignore:view 0 lacks")
@pytest.mark.parametrize("present", [1, 2])
def test_a_view_needs_two_samples(present):
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((20, 4)), rng.standard_normal((20, 3))]
    views[1][present:] = NAN
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = drawn(read_views(views), 20, 2, 0)
    excluded = [str(w.message) for w in caught if "excluded" in str(w.message)]
    assert found.kept == ([0] if present == 1 else [0, 1])
    assert [text[:77] for text in excluded] == (present == 1) * [
        "excluded, because fewer than 2 of the 20 clustered samples have it: view 1 (1"
    ]


def test_columns_without_values_are_refused(views):
    views[0][:, 2] = NAN
    views[0] = np.hstack([views[0], *[np.ones((40, 9))] * 4])
    with pytest.raises(ValueError, match="^view 0 has no values in column 2: remove it$"):
        drawn(read_views(views), 40, 3, 0)


def test_as_many_samples_as_clusters_are_enough():
    drawn(read_views([np.eye(3)]), 3, 3, 0)
    with pytest.raises(ValueError, match="n_clusters"):
        drawn(read_views([np.eye(3)]), 3, 4, 0)
    with pytest.raises(ValueError):
        drawn(read_views([np.ones((1, 3))]), 3, 1, 0)


def test_labels_of_samples_stay_and_those_of_others_are_predicted(views):
    samples, labels, notes = np.array([0, 6, 39]), np.array([7, 8, 9]), []
    asked = []

    def predict(rows):
        asked.append(len(rows[0]))
        return np.ones(len(rows[0]), dtype=int)

    found = labels_of(read_views(views), predict, samples, labels, notes)
    expected = np.ones(40, dtype=int)
    expected[samples], expected[3] = labels, -1
    np.testing.assert_array_equal(found, expected)
    assert sum(asked) == 36
    total = sum(notes[1:], notes[0])
    assert [(gap.rows, gap.cells) for gap in total.gaps] == [(2, 0), (2, 1)]
    np.testing.assert_array_equal(total.least, _least(views))
    joined = Summary(np.array([0.0, 9]), total.gaps) + Summary(np.array([1.0, 2]), total.gaps)
    np.testing.assert_array_equal(joined.least, [0, 2])
    assert joined.gaps[1].rows == 4


def test_samples_without_views_are_counted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_lost(np.array([], dtype=int))
    with pytest.warns(UserWarning, match=r"used: 2 samples \(rows 3, 8\), with the label -1$"):
        warn_of_lost(np.array([3, 8]))


def columns(*lengths):
    """Rows whose squared lengths have the given shares."""
    return np.sqrt(np.array([lengths], dtype=float)) * np.array([[1.0], [-1], [2]])


def test_one_or_two_columns_outweigh_the_others():
    which, share = _largest_columns(columns(0.05, 0.92, 0.02, 0.01))
    assert list(which) == [1] and share == pytest.approx(0.92)
    which, share = _largest_columns(columns(0.05, 0.46, 0.02, 0.47))
    assert list(which) == [3, 1] and share == pytest.approx(0.93)
    assert _largest_columns(columns(0.06, 0.44, 0.05, 0.45)) is None  # 89 %
    assert _largest_columns(columns(0.95, 0.04, 0.01)) is None  # few columns
    assert _largest_columns(np.zeros((3, 5))) is None
    which, share = _largest_columns(scipy.sparse.csr_array(columns(0.05, 0.46, 0.02, 0.47)))
    assert list(which) == [3, 1] and share == pytest.approx(0.93)


def test_half_of_the_views_must_have_columns_that_outweigh_others():
    skewed, even = columns(0.97, 0.01, 0.01, 0.01), columns(0.25, 0.25, 0.25, 0.25)
    message = r"rows: 0 of view 'a' \(97 %\)\. Similarities"
    with pytest.warns(UserWarning, match=message):
        warn_of_columns([skewed, even], "ab", [None, None])
    with pytest.warns(UserWarning, match=r"rows: 'w' of view 'b' \(97 %\)\. "):
        warn_of_columns([even, skewed], "ab", [None, list("wxyz")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_columns([skewed, even, even], "abc", [None] * 3)
        warn_of_columns([even], "a", [None])
    with pytest.warns(UserWarning, match=r"^fewer than 4 features: view 'a' \(3\)\. Rows"):
        varied = np.array([[1.0, 2, 3], [2, 1, 3], [3, 1, 1]])
        warn_of_columns([varied, np.ones((3, 2)), even], "abc", [None] * 3)


def test_lifted_views_may_have_few_columns_but_none_that_outweighs_all_others():
    rng = np.random.default_rng(0)
    narrow, even = rng.standard_normal((60, 2)), 1e3 + rng.standard_normal((60, 4))
    even[:6] += 30  # a small group far from the large one
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        views, lifts = lifted([narrow, even])
        warn_of_columns(views, "ab", [None] * 2, lifts)
    views, lifts = lifted([narrow, even * [9, 1, 1, 1]])
    with pytest.warns(UserWarning, match=r"rows: 0 of view 'b' \(9\d\.?\d? %\)\. "):
        warn_of_columns(views, "ab", [None] * 2, lifts)
