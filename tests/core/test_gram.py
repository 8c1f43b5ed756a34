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


def random_tensor(v, n, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((v, n, n)).astype(dtype)


SQUARES = [(v, n, n) for v in (1, 2, 5) for n in (1, 2, 7, 40, 65)]
OBLONGS = [(3, m, n) for m, n in ((1, 9), (3, 9), (4, 9), (30, 40), (9, 4))]


@dtypes
@pytest.mark.parametrize("shape", SQUARES + OBLONGS)
@pytest.mark.parametrize("t", THRESHOLDS)
def test_shrinkage_equals_its_definition(dtype, shape, t):
    """3 x 3 rows are as many as 9 columns, 3 x 4 more: the other Gram matrix of the unfolding."""
    T = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    exact = T.astype(np.float64)
    scale = TOLERANCE[dtype] * np.sqrt(shape[2]) * max(np.abs(T).max(), 1.0)
    out = T.copy()
    ranks = kernels.frontal_shrink(out, t)
    np.testing.assert_allclose(out, proximal.svt(exact, t), atol=scale)
    if t >= 1e-3:
        expected = (np.linalg.svd(exact, compute_uv=False) > t).sum(axis=1)
        np.testing.assert_array_equal(ranks, expected)
    for axis, unfolding in ((1, np.hstack(exact)), (2, np.vstack(exact))):
        out = T.copy()
        rank = kernels.mode_shrink(out, t, axis)
        np.testing.assert_allclose(out, proximal.mode_shrink(exact, t, axis), atol=scale)
        assert t < 1e-3 or rank == (np.linalg.svd(unfolding, compute_uv=False) > t).sum()
    pair = exact[0] + 1j * exact[-1]
    out = (T[:1] + 1j * T[-1]).copy()
    kernels.frontal_shrink(out, t)
    np.testing.assert_allclose(out[0], proximal.svt(pair, t), atol=2 * scale)


@pytest.mark.parametrize("n", [288, 323])
def test_large_complex_slices(n):
    """LAPACK reduces them in panels of columns."""
    T = random_tensor(2, n)
    A = T[0] + 1j * T[1]
    U, s, Vh = np.linalg.svd(A)
    t = s[n // 2 - 1 : n // 2 + 1].mean()  # at a singular value rounding decides
    out = A[None].copy()
    assert kernels.frontal_shrink(out, t) == n // 2
    np.testing.assert_allclose(out[0], (U * np.maximum(s - t, 0)) @ Vh, atol=1e-12)


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
    np.testing.assert_allclose(out, proximal.svt(T, 1e-3), atol=1e-12)
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
