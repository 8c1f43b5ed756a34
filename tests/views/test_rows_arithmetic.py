"""Rows against their definitions: missing rows, unit length, comparable scales, equal samples."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import random_sparse
from sklearn.exceptions import ConvergenceWarning

from mvsc_fast.views._rows import (
    centred,
    comparable,
    constant_views,
    direction_sums,
    equal_samples,
    incomplete_rows,
    missing_rows,
    observed,
    presence,
    row_hashes,
    row_keys,
    spread,
    unit_rows,
    warn_of_few,
    zero_samples,
)
from mvsc_fast.views._view_rows import ViewRows, leading_map, n_components

NAN = np.nan


def test_a_row_is_missing_if_more_than_half_of_its_cells_are():
    X = np.array([[NAN, NAN, 1, 1], [NAN, NAN, NAN, 1], [1, 2, 3, 4], [NAN] * 4])
    np.testing.assert_array_equal(missing_rows(X), [False, True, False, True])
    np.testing.assert_array_equal(missing_rows(X[:, :3]), [True, True, False, True])
    sparse = scipy.sparse.csr_array(np.array([[NAN, NAN], [NAN, 0], [0, 1], [NAN, NAN]]))
    np.testing.assert_array_equal(missing_rows(sparse), [True, True, False, True])
    sparse = scipy.sparse.csr_array(np.array([[NAN, NAN], [NAN, 5], [0, 1], [NAN, NAN]]))
    np.testing.assert_array_equal(missing_rows(sparse), [True, False, False, True])


def test_infinite_values_that_cancel_are_no_missing_cells():
    X = np.array([[np.inf, -np.inf], [1, NAN], [1e308, 1e308]])
    np.testing.assert_array_equal(incomplete_rows(X), [False, True, False])


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_samples_of_zeros_may_lack_cells_and_have_no_small_number(wrap):
    X = np.array([[0.0, NAN], [NAN, NAN], [0, 1], [0, 0], [0, -5e-324], [np.inf, 0]])
    Y = np.zeros((6, 3))
    Y[3, 2] = -1
    np.testing.assert_array_equal(zero_samples([X]), [1, 1, 0, 1, 0, 0])
    np.testing.assert_array_equal(zero_samples([X, wrap(Y)]), [1, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(zero_samples([wrap(Y), X]), [1, 1, 0, 0, 0, 0])
    explicit = scipy.sparse.csr_array((np.zeros(2), [0, 1], [0, 1, 2]), (2, 2))
    assert zero_samples([explicit]).all() and not zero_samples([explicit, np.eye(2)]).any()


def test_presence_is_none_if_no_row_is_missing():
    X, Y = np.ones((3, 2)), np.array([[1.0, 2], [NAN, NAN], [3, 4]])
    assert presence([X, X]) is None and observed([X])[0] is X
    np.testing.assert_array_equal(presence([X, Y]), [[True] * 3, [True, False, True]])
    np.testing.assert_array_equal(observed([X, Y])[1], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(presence([scipy.sparse.csr_array(X), Y])[0], [True] * 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_unit_rows_of_any_scale(dtype, wrap):
    info = np.finfo(dtype)
    X = np.array([[3, -4, 0], [0, 0, 0], [-1, 2, 2]], dtype=dtype)
    unit = np.array([[0.6, -0.8, 0], [0, 0, 0], [-1 / 3, 2 / 3, 2 / 3]])
    for scale in (1, info.max / 4, info.tiny, 8 * info.smallest_subnormal):
        found = unit_rows(wrap((X * dtype(scale)).astype(dtype)))
        found = found.toarray() if scipy.sparse.issparse(found) else found
        assert found.dtype == dtype
        np.testing.assert_allclose(found, unit, rtol=1e-6)
    assert unit_rows(wrap(np.empty((0, 3), dtype=dtype))).shape == (0, 3)


def test_keys_are_cosines_with_the_mean_direction():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((50, 9)), rng.standard_normal((50, 4))
    Y[3] = NAN
    expected = 0
    for Z in (X, Y):
        unit = np.nan_to_num(Z / np.linalg.norm(Z, axis=1, keepdims=True))
        mean = unit.mean(axis=0)
        expected = expected + unit @ mean / np.linalg.norm(mean)
    np.testing.assert_allclose(row_keys([X, Y]) / 2.0**44, expected, atol=1e-7)
    part = row_keys([X[:7], Y[:7]], direction_sums([X, Y]))
    np.testing.assert_array_equal(part, row_keys([X, Y])[:7])


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_keys_do_not_depend_on_what_means_nothing(wrap):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((50, 9)), np.abs(rng.standard_normal((50, 4)))
    order = np.argsort(row_keys([wrap(X), wrap(Y)]))
    wide = np.hstack([X, np.zeros((50, 3))])[:, rng.permutation(12)]
    scaled = Y * rng.lognormal(size=(50, 1))
    np.testing.assert_array_equal(np.argsort(row_keys([wrap(scaled), wrap(wide)])), order)
    noisy = X * (1 + 1e-12 * rng.standard_normal(X.shape))
    np.testing.assert_array_equal(np.argsort(row_keys([wrap(noisy), wrap(Y)])), order)
    rotation = np.linalg.qr(rng.standard_normal((9, 9)))[0]
    np.testing.assert_array_equal(np.argsort(row_keys([X @ rotation, Y])), order)


def splitmix(bits):
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
    return bits ^ bits >> 31


def test_hashes_are_sums_of_mixed_bits_with_a_weight_for_each_column():
    X, Y = np.array([[1.5, -0.0], [0.1, 1e300]]), np.array([[NAN, 2, 3], [4, -np.nan, 0]])
    expected = [0, 0]
    for i, Z in enumerate((X, Y)):
        for row, cells in enumerate(Z):
            for j, x in enumerate(cells):
                bits = int(np.float64(abs(x) if x == 0 or x != x else x).view(np.uint64))
                expected[row] += splitmix(bits) * (splitmix(j + (i << 40)) | 1)
    assert row_hashes([X, Y]).tolist() == [one % 2**64 for one in expected]
    assert row_hashes([scipy.sparse.csr_array(X), Y]).tolist() == row_hashes([X, Y]).tolist()


def test_spread_has_both_ends_and_even_steps():
    np.testing.assert_array_equal(spread(9, 5), [0, 2, 4, 6, 8])
    np.testing.assert_array_equal(spread(3, 5), [0, 1, 2])


def test_comparable_views_keep_ratios_and_stay_if_their_squares_fit():
    X = np.array([[1.0, -2], [3, 4]])
    subnormal = X * 2.0**-1070
    same, small, *scaled_views = comparable([X, X * 2.0**-13, X * 1e-300, X * 1e200, subnormal])
    assert same is X and (small == X * 2.0**-3).all()
    for scaled in scaled_views:
        assert 0.5 <= np.abs(scaled).max() < 1
        np.testing.assert_allclose(scaled / scaled[0, 0], X)
    edge = np.array([[2.0**-10], [0]])
    assert comparable([edge])[0] is edge
    zeros = np.zeros((2, 2))
    assert comparable([zeros])[0] is zeros
    limit = np.sqrt(np.finfo(float).max / 4) / 4
    assert comparable([X])[0] is X
    inside, outside = np.full((2, 2), limit), np.full((2, 2), 1.01 * limit)
    assert comparable([inside])[0] is inside and comparable([outside])[0] is not outside
    with pytest.raises(ValueError, match=r"view 1 has entries up to 1e\+200, .* 1e-200 in row 2"):
        comparable([X, np.array([[1e200], [0], [1e-200]])])


def test_equal_samples_have_equal_directions_and_gaps():
    X = np.array([[1.0, 2], [2, 4], [NAN, NAN], [NAN, NAN], [2, 1]])
    Y = np.array([[5.0, 1], [5, 1], [1, 1], [2, 2], [0, 1]])
    X32, Y32 = (Z.astype(np.float32) for Z in (X, Y))
    np.testing.assert_array_equal(equal_samples([X, Y]), [0, 0, 1, 1, 2])
    np.testing.assert_array_equal(equal_samples([X32, Y32]), [0, 0, 1, 1, 2])
    with pytest.warns(ConvergenceWarning, match="3 distinct values, fewer than n_clusters=4"):
        assert warn_of_few(np.array([0, 0, 1, 1, 2]), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not warn_of_few(np.array([0, 1, 2]), 3)


def test_constant_views_are_named():
    views = [np.ones((3, 2)), np.eye(3), np.zeros((3, 1))]
    with pytest.warns(UserWarning, match="^views 'a' and 'c': all samples are equal, ignored$"):
        assert constant_views(views, "ignored", ["a", "b", "c"]) == [0, 2]
    with pytest.warns(UserWarning, match="^view 0: all samples are equal, kept$"):
        assert constant_views(views[:2], "kept") == [0]


@pytest.mark.parametrize("d", [4, 30, 3000])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_view_rows_have_the_inner_products_of_unit_rows(d, counts, wrap):
    rng = np.random.default_rng(0)
    X = rng.poisson(2, (10, d)) + 1.0 if counts else rng.standard_normal((10, d))
    given = wrap(X)
    rows = ViewRows(given)
    assert rows.nonnegative == counts and rows.n_features == d and rows.rank == min(10, d)

    def unit(A):
        return A / np.linalg.norm(A, axis=1, keepdims=True)

    Z = unit(np.sqrt(X) if counts else X)
    assert rows.roots.shape == rows.unit.shape == (10, min(10, d))
    atol = 1e-5 if d < 10 else 5e-3  # codes have a hundredth of the precision of their row
    np.testing.assert_allclose(rows.roots @ rows.roots.T, Z @ Z.T, atol=atol)
    U = unit(X)
    np.testing.assert_allclose(rows.unit @ rows.unit.T, U @ U.T, atol=atol)
    np.testing.assert_allclose(rows.mean, rows.roots.mean(axis=0), atol=1e-6)
    fresh = ViewRows(given).some_unit(np.array([1, 4]))
    np.testing.assert_allclose(fresh, rows.unit[[1, 4]], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows.centred, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(centred(U), unit(U - U.mean(axis=0)), atol=1e-12)
    if d > 10:
        mapped = Z @ (rows.codes * rows.steps[:, None])
        np.testing.assert_allclose(rows.roots, mapped, atol=1e-5)
    else:
        assert rows.codes is None and rows.steps is None


def low_rank(n, d, rank, noise=0.01, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, rank)) * 2.0 ** -np.arange(rank)) @ rng.standard_normal((rank, d))
    return (X + noise * rng.standard_normal((n, d))).astype(np.float32)


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_the_leading_map_is_that_of_the_singular_value_decomposition(wrap):
    X = low_rank(80, 300, 5)
    V = leading_map(wrap(X), 5)
    left, values, right = np.linalg.svd(X.astype(np.float64), full_matrices=False)
    assert V.shape == (300, 5) and V.dtype == np.float32
    np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-5)
    np.testing.assert_allclose((V.T @ right[:5].T) ** 2, np.eye(5), atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(X @ V, axis=0), values[:5], rtol=1e-3)
    np.testing.assert_array_equal(V, leading_map(wrap(X), 5))


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("noise", [1.0, 1e-3], ids=["independent", "ill-conditioned"])
def test_a_map_of_all_directions_is_an_orthonormal_basis_of_the_rows(wrap, noise):
    X = low_rank(80, 300, 5, noise=noise)
    V = leading_map(wrap(X), 80)
    assert V.shape == (300, 80) and V.dtype == np.float32
    np.testing.assert_allclose(V.T @ V, np.eye(80), atol=2e-2)
    np.testing.assert_allclose(X @ V @ V.T, X, atol=1e-3 * np.abs(X).max())
    np.testing.assert_array_equal(V, leading_map(wrap(X), 80))


def test_directions_of_rounding_errors_are_no_components():
    X = low_rank(40, 300, 3, noise=0)
    assert leading_map(X, 40).shape == leading_map(X, 20).shape == (300, 3)
    assert leading_map(np.zeros((4, 9), dtype=np.float32), 4).shape == (9, 1)
    assert not ViewRows(np.zeros((4, 9))).roots.any()


def test_the_map_has_at_most_as_many_codes_as_fit_into_a_model():
    assert [n_components(500, d) for d in (501, 7000, 35_000, 10**6)] == [500, 500, 100, 64]
    X = random_sparse((300, 35_000), 0.01, np.random.default_rng(0))
    rows = ViewRows(X)
    # About 1700 of the columns have no entry, and count as little as if they were not there.
    count = n_components(300, len(rows.columns))
    assert 30_000 < len(rows.columns) < 34_000 and 100 < count < 120
    assert rows.roots.shape == rows.unit.shape == (300, count)
    assert rows.codes.shape == (len(rows.columns), count) and rows.rank == 300
