"""Missing cells and rows against their definitions."""

import re

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from reference.sparse_graphs import unit

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.views import align, check_views, missing
from mvsc_fast.views._rows import filled, mean_row, presence
from mvsc_fast.views._view_rows import imputed

NAN = np.nan


def lost(X):
    """Which rows of a sparse view are missing: those that store NaN."""
    return np.isnan(X.toarray()).any(axis=1)


def test_missing_cells_are_counted_and_limited():
    """Of rows that are not missing; a Dask array in two chunks gives the same numbers."""
    views = [X[:, :10] for X in datasets.make_multiview_subspaces(20, 2, random_state=0)[0]]
    views[1][:3], views[1][3, 6:], views[2][0] = NAN, NAN, NAN
    views[1][5:18, 0] = NAN
    told = r"view 1 lacks 17 cells and 3 of 20 samples, view 2 lacks 1 of 20 samples"
    model = ConsensusTLRR(2, random_state=0)
    for form in (views, [da.from_array(X, chunks=(7, -1)) for X in views]):
        with pytest.warns(UserWarning) as warned:
            model.fit(form)
        assert any(re.match(told, str(warning.message)) for warning in warned)
    views[1][4, 0] = NAN
    with pytest.raises(ValueError, match=r"view 1 lacks 10\.6 % of its cells, .* 10 %"):
        model.fit(views)


def test_missing_rows_alone_are_no_reason_to_warn(capsys):
    views = datasets.make_multiview_subspaces(20, 2, random_state=0)[0]
    views[2][0] = NAN
    ConsensusTLRR(2, verbose=1, random_state=0).fit(views)
    assert "view 2 lacks 1 of 20 samples" in capsys.readouterr().err


def test_the_mean_row_ignores_gaps():
    X = np.array([[2, NAN, -8], [4, 1, NAN], [NAN, NAN, NAN], [6, 3, 0]])
    np.testing.assert_allclose(mean_row(X), [1, 0.5, -1])
    np.testing.assert_allclose(mean_row(np.array([[1.0, -2], [3, -6]])), [0.5, -1])
    np.testing.assert_array_equal(mean_row(np.zeros((2, 2))), [0, 0])
    np.testing.assert_array_equal(mean_row(np.array([[NAN, 2.0], [NAN, 2]])), [0, 1])
    np.testing.assert_array_equal(mean_row(np.array([[2.0, NAN], [2, 1]])), [1, 0.5])
    np.testing.assert_allclose(mean_row(scipy.sparse.csr_array([[1.0, 0], [3, 2]])), [1, 0.5])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_mean_of_centred_columns_is_zero(dtype):
    X = np.random.default_rng(0).standard_normal((300, 5)) + [0, 0, 0, 0, 9]
    X[:, :4] -= X[:, :4].mean(axis=0)
    X[7, 1] = NAN
    X[:, 1] -= np.nanmean(X[:, 1])
    np.testing.assert_array_equal(mean_row(X.astype(dtype)), [0, 0, 0, 0, 1])


def test_cells_are_filled_by_the_multiple_of_the_mean_row_that_fits_best():
    mean = np.array([1, 0.5, -0.25, 0.75], dtype=np.float32)
    rng = np.random.default_rng(0)
    X = 1e3 * rng.standard_normal((5, 4))
    X[0, 1] = X[1, 0] = X[1, 3] = NAN  # half of a row
    X[2, 1:] = NAN  # more than half
    X[3] = NAN
    before, expected = X.copy(), X.copy()
    for row in (0, 1):
        there = ~np.isnan(X[row])
        (multiple,) = np.linalg.lstsq(mean[there, None].astype(float), X[row, there], rcond=None)[0]
        expected[row, ~there] = multiple * mean[~there]
    expected[2] = NAN
    np.testing.assert_allclose(filled(X, mean), expected)
    np.testing.assert_array_equal(X, before)
    zeros = np.array([[0, 0, NAN, 0]])
    np.testing.assert_array_equal(filled(zeros, mean), [[0, 0, 0, 0]])
    largest = np.array([[1.2e308, NAN, NAN, 1.2e308]])  # the sum of which is no number
    np.testing.assert_allclose(filled(largest / 1e308, mean) * 1e308, filled(largest, mean))
    nothing = np.array([0, 0, 1, 0], dtype=np.float32)  # no known cell has a mean
    np.testing.assert_array_equal(filled(np.array([[1.0, 2, NAN, 3]]), nothing), [[1, 2, 0, 3]])
    whole = np.ones((2, 4))
    whole[1] = NAN
    assert filled(whole, mean) is whole
    seven = np.ones((2, 7))
    seven[0, :4] = seven[1, :3] = NAN  # more than half, and less
    lost = np.isnan(filled(seven, np.ones(7, dtype=np.float32)))
    np.testing.assert_array_equal(lost.all(axis=1), [True, False])


@pytest.mark.parametrize("shift", [0, 10])
@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_missing_rows_are_predicted_from_all_other_views(shift, wrap):
    rng = np.random.default_rng(0)
    X, Y, V = (np.abs(rng.standard_normal((12, d))) ** 3 + shift for d in (4, 3, 5))
    X[2:4] = NAN
    Y[3:6] = NAN
    if shift == 0:
        X *= rng.choice([-1, 1], X.shape)  # X has negative entries, Y has none, but a zero
        Y[0, 1] = 0

    def centred(A):
        return np.nan_to_num(unit(A) - np.nanmean(unit(A), axis=0))

    views = [X, Y, wrap(V)]
    found = imputed(views, presence(views))
    for i, given in enumerate((X, Y)):
        has = ~np.isnan(given[:, 0])
        U, m = unit(given), np.nanmean(unit(given), axis=0)
        Z = unit(np.hstack([centred(A) for j, A in enumerate((X, Y, V)) if j != i]))
        expected = U.copy()
        inverse = np.linalg.inv(Z[has] @ Z[has].T + 0.5 * np.eye(has.sum()))
        expected[~has] = m + Z[~has] @ Z[has].T @ inverse @ (U[has] - m)
        if shift == 0:
            assert expected[~has].min() < 0  # without bounds
        if i or shift:
            expected = np.maximum(expected, 0)
        np.testing.assert_allclose(found[i], expected, atol=1e-12)
    complete = [np.ones((3, 2)), np.eye(3)]
    assert imputed(complete, presence(complete)) is complete


def test_missing_rows_of_many_sorted_samples_are_predicted_from_some_of_all():
    X = np.repeat(np.eye(4), [2100, 2000, 120, 80], axis=0)
    Y = X.copy()
    Y[-1] = NAN
    assert imputed([X, Y], presence([X, Y]))[1][-1].argmax() == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_missing_rows_of_arrays_are_nan(dtype):
    X = np.array([[1, 0], [0, 0], [1, 1]], dtype=dtype)
    before = X.copy()
    found = missing(X, [True, False, False])
    np.testing.assert_array_equal(found, [[NAN, NAN], [0, 0], [1, 1]])
    assert found.dtype == (np.float64 if dtype is np.int64 else np.result_type(dtype, np.float32))
    np.testing.assert_array_equal(missing(X), [[1, 0], [NAN, NAN], [1, 1]])
    np.testing.assert_array_equal(X, before)
    assert X.dtype == dtype


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_missing_rows_of_sparse_views_are_not_stored(form, make):
    X = np.zeros((5, 400), dtype=np.float32)
    X[[0, 2, 4], 7] = 2, 3, 4
    given = make(X).asformat(form)
    found = missing(given, [False, False, True, True, False])
    assert found.nnz == 4 and found.dtype == np.float32
    assert isinstance(found, scipy.sparse.csr_array)
    np.testing.assert_array_equal(lost(found), [0, 0, 1, 1, 0])
    kept = [0, 1, 4]
    np.testing.assert_array_equal(found[kept].toarray(), X[kept])
    np.testing.assert_array_equal(lost(missing(given)), [0, 1, 0, 1, 0])
    np.testing.assert_array_equal(given.toarray(), X)
    np.testing.assert_array_equal(lost(missing(found)), [0, 1, 1, 1, 0])


def test_missing_rows_of_frames_keep_ids_and_names():
    frame = pd.DataFrame({"x": [1, 0], "y": [2.5, 0.0]}, index=["s", "t"])
    mask = pd.Series([True, False], index=["s", "t"])
    for found in (missing(frame, mask), missing(frame.iloc[::-1]).iloc[::-1]):
        assert list(found.columns) == ["x", "y"] and list(found.index) == ["s", "t"]
    np.testing.assert_array_equal(missing(frame, mask).to_numpy(), [[NAN, NAN], [0, 0]])
    with pytest.raises(ValueError, match="mask and X .*in another order"):
        missing(frame, mask.iloc[::-1])
    sparse = pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_array(np.eye(2)), index=["s", "t"])
    found = missing(sparse, mask)
    assert found.sparse.density == 0.5
    np.testing.assert_array_equal(lost(check_views(found, missing=True)[0]), [1, 0])


@pytest.mark.parametrize(
    ("X", "mask", "message"),
    [
        (np.eye(3), [True, False], "one boolean for each of 3 rows, got bool of shape .2,."),
        (scipy.sparse.csr_array(np.eye(3)), [1, 0, 1], "one boolean for each of 3 rows, got int64"),
        (np.ones(3), None, r"X has shape \(3,\)"),
        ([["a", "b"]], None, "X, column 0: .*numeric"),
        (da.ones((3, 2)), None, "X is a Array"),
    ],
)
def test_what_cannot_be_made_missing_is_refused(X, mask, message):
    with pytest.raises(ValueError, match=message):
        missing(X, mask)


def test_aligned_sparse_frames_stay_sparse():
    X = scipy.sparse.csr_array(np.eye(3, 50))
    sparse = pd.DataFrame.sparse.from_spmatrix(X, index=["a", "b", "c"])
    dense = pd.DataFrame({"x": [1.0, 2, 3]}, index=["b", "d", "a"])
    found = align([dense, sparse])[1]
    assert list(found.index) == ["b", "d", "a", "c"]
    values = check_views(found, missing=True)[0]
    assert scipy.sparse.issparse(values) and values.nnz == 4
    np.testing.assert_array_equal(lost(values), [0, 1, 0, 0])
    np.testing.assert_array_equal(values[[2, 0, 3]].toarray(), X.toarray())
    inner = align({"x": dense, "y": sparse}, join="inner")["y"]
    np.testing.assert_array_equal(inner.to_numpy(), X.toarray()[[1, 0]])
