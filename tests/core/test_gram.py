"""Singular value shrinkage of slices and unfoldings equals its definition by an SVD."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import proximal

from mvsc_fast import _kernels as kernels
from mvsc_fast._utils.threads import blas_threads

TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}
dtypes = pytest.mark.parametrize("dtype", TOLERANCE)
THRESHOLDS = [0.0, 1e-9, 1e-3, 0.3, 2.0, 9.0, 1e3]


def complex_shrink(T, t):
    """The shrunken ``T[0] + 1j * T[1]``, and its rank."""
    A = T[:1] + 1j * T[1]
    ranks = kernels.frontal_shrink(A, t)
    return A[0], ranks[0]


def random_tensor(v, n, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((v, n, n)).astype(dtype)


@dtypes
@pytest.mark.parametrize("v", [1, 2, 5])
@pytest.mark.parametrize("n", [1, 2, 7, 40, 65])
@pytest.mark.parametrize("t", THRESHOLDS)
def test_real_shrinkage_equals_its_definition(dtype, v, n, t):
    T = random_tensor(v, n, dtype=dtype)
    exact = T.astype(np.float64)
    scale = TOLERANCE[dtype] * np.sqrt(n) * max(np.abs(T).max(), 1.0)
    out = T.copy()
    ranks = kernels.frontal_shrink(out, t)
    np.testing.assert_allclose(out, proximal.frontal_shrink(exact, t), atol=scale)
    expected = [(np.linalg.svd(A, compute_uv=False) > t).sum() for A in exact]
    if 1e-3 <= t:
        np.testing.assert_array_equal(ranks, expected)
    for axis in (1, 2):
        out = T.copy()
        kernels.mode_shrink(out, t, axis)
        np.testing.assert_allclose(out, proximal.mode_shrink(exact, t, axis), atol=scale)


@dtypes
@pytest.mark.parametrize(("m", "n"), [(1, 9), (3, 9), (4, 9), (30, 40), (9, 4)])
@pytest.mark.parametrize("t", THRESHOLDS)
def test_slices_need_not_be_square(dtype, m, n, t):
    """3 x 3 rows are as many as the columns, 4 x 3 more: the other Gram matrix of the unfolding."""
    T = np.random.default_rng(0).standard_normal((3, m, n)).astype(dtype)
    exact = T.astype(np.float64)
    scale = TOLERANCE[dtype] * 10
    out = T.copy()
    kernels.frontal_shrink(out, t)
    np.testing.assert_allclose(out, proximal.frontal_shrink(exact, t), atol=scale)
    for axis in (1, 2):
        out = T.copy()
        rank = kernels.mode_shrink(out, t, axis)
        np.testing.assert_allclose(out, proximal.mode_shrink(exact, t, axis), atol=scale)
        unfolding = np.hstack(exact) if axis == 1 else np.vstack(exact)
        if 1e-3 <= t:
            assert rank == (np.linalg.svd(unfolding, compute_uv=False) > t).sum()
    expected = proximal.svt(exact[0] + 1j * exact[1], t)
    np.testing.assert_allclose(complex_shrink(T, t)[0], expected, atol=scale)


@dtypes
@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("t", THRESHOLDS)
def test_complex_shrinkage_equals_its_definition(dtype, n, t):
    T = random_tensor(2, n, dtype=dtype)
    expected = proximal.svt(T[0].astype(np.float64) + 1j * T[1], t)
    tolerance = TOLERANCE[dtype] * np.sqrt(n) * 5
    np.testing.assert_allclose(complex_shrink(T, t)[0], expected, atol=tolerance)


@pytest.mark.parametrize("n", [288, 323])
def test_large_complex_slices(n):
    """LAPACK reduces them in panels of columns."""
    T = random_tensor(2, n)
    exact = T[0] + 1j * T[1]
    U, s, Vh = np.linalg.svd(exact)
    t = s[n // 2 - 1 : n // 2 + 1].mean()  # at a singular value rounding decides
    out, rank = complex_shrink(T, t)
    assert rank == n // 2
    np.testing.assert_allclose(out, (U * np.maximum(s - t, 0)) @ Vh, atol=1e-12)


@pytest.mark.parametrize("t", [1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("decay", [1e-4, 1e-8, 1e-12])
def test_small_singular_values_beside_large_ones(t, decay):
    """A Gram matrix squares them away; the error stays below what it could at worst do."""
    rng = np.random.default_rng(0)
    Q, R = (np.linalg.qr(rng.standard_normal((30, 30)))[0] for _ in range(2))
    A = (Q * np.geomspace(1.0, decay, 30)) @ R.T
    out = A[None].copy()
    kernels.frontal_shrink(out, t)
    error = np.abs(out[0] - proximal.svt(A, t)).max()
    assert error <= 1e-9


def test_low_rank_matrices_and_zeros():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((25, 3)) @ rng.standard_normal((3, 25))
    T = np.stack([A, np.zeros((25, 25))])
    out = T.copy()
    np.testing.assert_array_equal(kernels.frontal_shrink(out, 1e-3), [3, 0])
    np.testing.assert_allclose(out, proximal.frontal_shrink(T, 1e-3), atol=1e-12)
    assert not out[1].any()


@given(st.integers(0, 10**6), st.sampled_from([1e-150, 1e-8, 1.0, 1e8, 1e150]))
def test_shrinkage_follows_the_scale(seed, scale):
    T = random_tensor(2, 6, seed)
    out, scaled = T.copy(), scale * T
    kernels.mode_shrink(out, 1.0, 1)
    kernels.mode_shrink(scaled, scale, 1)
    np.testing.assert_allclose(scaled / scale, out, atol=1e-12)


def test_bad_shapes():
    with pytest.raises(ValueError, match="floating-point numbers, got int64"):
        kernels.frontal_shrink(np.zeros((2, 3, 3), dtype=np.int64), 1.0)
    assert kernels.frontal_shrink(np.zeros((2, 0, 0)), 1.0).tolist() == [0, 0]
    assert kernels.mode_shrink(np.zeros((0, 3, 3)), 1.0, 1) == 0


def test_thread_count_of_blas_does_not_matter_much():
    T = random_tensor(3, 150)
    results = []
    for threads in (1, 2):
        out = T.copy()
        with blas_threads(threads):
            kernels.mode_shrink(out, 5.0, 2)
        results.append(out)
    np.testing.assert_allclose(results[0], results[1], atol=1e-12)
