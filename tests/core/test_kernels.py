"""Every kernel equals its definition."""

from itertools import product

import numpy as np
import pytest
from reference import proximal
from reference import recovery as twins

from mvsc_fast import _kernels as kernels
from mvsc_fast.solvers._transforms import Fourier

TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}
MAPS = {
    kernels.tube_shrink: proximal.tube_shrink,
    kernels.slice_shrink: proximal.slice_shrink,
    kernels.slice_clip: proximal.slice_clip,
    kernels.symmetric_shrink: proximal.symmetric_shrink,
    kernels.symmetric_clip: proximal.symmetric_clip,
}
by_map = pytest.mark.parametrize(
    ("kernel", "twin"), MAPS.items(), ids=[kernel.__name__ for kernel in MAPS]
)
dtypes = pytest.mark.parametrize("dtype", TOLERANCE)


def apply(kernel, T, t, **kwargs):
    out = T.copy()
    kernel(out, t, **kwargs)
    return out


def random_tensor(v, m, n, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((v, m, n)).astype(dtype)


@by_map
@dtypes
@pytest.mark.parametrize("n", [1, 2, 7, 40, 65])
def test_equals_its_definition(kernel, twin, dtype, n):
    for v, t in product([1, 2, 3, 6], [0.0, 1e-9, 0.3, 2.0, 9.0, 1e3]):
        T = random_tensor(v, n, n, dtype=dtype)
        expected = twin(T.astype(np.float64), t)
        scale = TOLERANCE[dtype] * np.sqrt(n) * np.abs(T).max()
        np.testing.assert_allclose(apply(kernel, T, t), expected, atol=scale, err_msg=f"{v, t}")


CHUNK, TILE = 256, 32  # tubes, and entries of a tile's edge, that are handled together
ROWS = [(3, 4, 9), (2, 9, 4), (5, 3, 2), (1, 3, 300)]
ROWS += [(3, 2, n) for n in (CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1)]
SQUARES = [(1, n, n) for n in (TILE - 1, TILE, TILE + 1, CHUNK - 1, CHUNK, CHUNK + 1)]
SQUARES += [(4, 70, 70)]


@by_map
@dtypes
def test_threads_and_sizes_where_loops_change(kernel, twin, dtype):
    """Any number of threads gives the same bits; symmetric maps return symmetric slices."""
    symmetric = kernel in (kernels.symmetric_shrink, kernels.symmetric_clip)
    t = 5.0 if symmetric else 1.3
    for shape in SQUARES if symmetric else ROWS:
        T = random_tensor(*shape, dtype=dtype)
        out = apply(kernel, T, t, n_threads=3)
        tolerance = TOLERANCE[dtype] * 30
        np.testing.assert_allclose(out, twin(T.astype(np.float64), t), atol=tolerance)
        np.testing.assert_array_equal(out, apply(kernel, T, t))
        if symmetric:
            np.testing.assert_array_equal(out, out.transpose(0, 2, 1))


@pytest.mark.parametrize("shift", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("kernel", [kernels.symmetric_shrink, kernels.symmetric_clip])
@pytest.mark.parametrize("t", [0.1, 3.0, 8.0, 14.0, 25.0])
def test_symmetric_maps_on_every_side_of_the_spectrum(kernel, shift, t):
    """The spectrum of a 100 x 100 Gaussian matrix reaches from -14 to 14; shifted by 14 it lies
    on one side, so that every recipe and both tridiagonal eigensolvers are used."""
    T = random_tensor(2, 100, 100) + 14 * shift * np.eye(100)
    np.testing.assert_allclose(apply(kernel, T, t), MAPS[kernel](T, t), atol=1e-12)


def test_repeated_and_zero_eigenvalues():
    half = np.diag([3.0] * 10 + [0] * 10)
    T = np.stack([np.zeros((20, 20)), np.eye(20), np.ones((20, 20)), half])
    for kernel in (kernels.symmetric_shrink, kernels.symmetric_clip):
        np.testing.assert_allclose(apply(kernel, T, 0.5), MAPS[kernel](T, 0.5), atol=1e-13)
    expected = proximal.svt(T, 0.5)
    np.testing.assert_array_equal(kernels.frontal_shrink(T, 0.5), [0, 20, 1, 10])
    np.testing.assert_allclose(T, expected, atol=1e-12)


def test_singular_values_below_the_resolution_of_a_gram_matrix():
    """s = 1 and 1e-10, t = 5e-11: a Gram matrix loses the second one; the fallback keeps it."""
    rng = np.random.default_rng(0)
    left = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    right = np.linalg.qr(rng.standard_normal((50, 2)))[0].T
    T = ((left * [1.0, 1e-10]) @ right)[:, None, :]
    out = apply(kernels.slice_shrink, T, 5e-11)
    np.testing.assert_allclose(
        np.linalg.svd(out[:, 0], compute_uv=False), [1 - 5e-11, 5e-11], rtol=1e-5
    )


@dtypes
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("n", [1, 2, 30, 200])
def test_a_norm_is_proven_down_to_rounding_and_never_below_itself(core_parts, n, sign, dtype):
    """Most eigenvalues are at the norm, as those of a clipped matrix are."""
    rng = np.random.default_rng(n)
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.where(np.arange(n) <= n / 2, sign, rng.uniform(-0.9, 0.9, n))
    A = ((U * values) @ U.T).astype(dtype)
    A = (A + A.T) / 2
    norm = np.abs(np.linalg.eigvalsh(A.astype(np.float64))).max()
    assert core_parts.proven_below(A, norm * (1 + 1e-9))
    assert not core_parts.proven_below(A, norm * (1 - 1e-13))


def test_counts():
    T = random_tensor(3, 20, 20)
    assert kernels.tube_shrink(T.copy(), 1.5) == (np.linalg.norm(T, axis=0) > 1.5).sum()
    ranks = kernels.slice_shrink(T.copy(), 4.0)
    expected = [(np.linalg.svd(T[:, j], compute_uv=False) > 4.0).sum() for j in range(20)]
    np.testing.assert_array_equal(ranks, expected)
    eigenvalues = np.linalg.eigvalsh((T + T.transpose(0, 2, 1)) / 2)
    outside = kernels.symmetric_shrink(T.copy(), 2.0)
    np.testing.assert_array_equal(outside, (np.abs(eigenvalues) > 2.0).sum(axis=1))


@dtypes
@pytest.mark.parametrize("m", [1, 2, 3, 8, 9])
def test_halfcomplex_shrink_is_the_rotated_tensor_nuclear_prox(dtype, m):
    for v, t in product([1, 3, 6], [0.0, 1e-9, 1.0, 5.0, 100.0]):
        T = random_tensor(v, m, 12, dtype=dtype)
        hat = Fourier().forward(T, axis=1)
        Fourier().shrink(hat, t, n_threads=2)
        result = Fourier().inverse(hat, axis=1)
        expected = proximal.tensor_nuclear_shrink(T.astype(np.float64), t)
        np.testing.assert_allclose(result, expected, atol=20 * TOLERANCE[dtype], err_msg=f"{v, t}")


def test_halfcomplex_singular_values_below_the_resolution_of_a_gram_matrix():
    rng = np.random.default_rng(0)
    T = rng.standard_normal((3, 8, 10)) * np.array([1.0, 1e-5, 1e-10])[:, None, None]
    out = apply(kernels.halfcomplex_shrink, T, 1e-11)
    row = np.linalg.svd(T[:, 1] + 1j * T[:, 2], compute_uv=False)
    np.testing.assert_allclose(
        np.linalg.svd(out[:, 1] + 1j * out[:, 2], compute_uv=False),
        row - np.sqrt(2) * 1e-11,
        rtol=1e-4,
    )


def test_not_converged_is_an_error_that_names_the_slice():
    T = random_tensor(2, 5, 5)
    T[1, 2, 3] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="frontal slice of view 1"):
        kernels.symmetric_shrink(T, 1.0)


# ------------------------------------------------------------------ large slices and unfoldings

SQUARE_SHAPES = [(v, n, n) for v in (1, 2, 5) for n in (1, 2, 7, 40, 65)]
OBLONG_SHAPES = [(3, m, n) for m, n in ((1, 9), (3, 9), (4, 9), (30, 40), (9, 4))]


@dtypes
@pytest.mark.parametrize("shape", SQUARE_SHAPES + OBLONG_SHAPES)
def test_shrinkage_equals_its_definition(dtype, shape):
    """3 x 3 rows are as many as 9 columns, 3 x 4 more: the other Gram matrix of the unfolding."""
    T = random_tensor(*shape, dtype=dtype)
    exact = T.astype(np.float64)
    scale = TOLERANCE[dtype] * np.sqrt(shape[2]) * max(np.abs(T).max(), 1.0)
    for t in (0.0, 1e-9, 1e-3, 0.3, 2.0, 9.0, 1e3):
        out = T.copy()
        ranks = kernels.frontal_shrink(out, t)
        np.testing.assert_allclose(out, proximal.svt(exact, t), atol=scale, err_msg=f"{t}")
        if t >= 1e-3:
            expected = (np.linalg.svd(exact, compute_uv=False) > t).sum(axis=1)
            np.testing.assert_array_equal(ranks, expected)
        for axis, unfolding in ((1, np.hstack(exact)), (2, np.vstack(exact))):
            out = T.copy()
            rank = kernels.mode_shrink(out, t, axis)
            np.testing.assert_allclose(out, proximal.mode_shrink(exact, t, axis), atol=scale)
            assert t < 1e-3 or rank == (np.linalg.svd(unfolding, compute_uv=False) > t).sum()
        pair = exact[0] + 1j * exact[-1]
        out = apply(kernels.frontal_shrink, T[:1] + 1j * T[-1], t)
        np.testing.assert_allclose(out[0], proximal.svt(pair, t), atol=2 * scale)


@pytest.mark.parametrize("n", [288, 323])
def test_large_complex_slices(n):
    """LAPACK reduces them in panels of columns."""
    T = random_tensor(2, n, n)
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
    out = apply(kernels.frontal_shrink, A[None], t)
    np.testing.assert_allclose(out[0], proximal.svt(A, t), rtol=0, atol=1e-9)


# ------------------------------------------------------------------ passes of TRPCA and SNN


@dtypes
@pytest.mark.parametrize("n", [CHUNK - 1, CHUNK, CHUNK + 1])
def test_the_pass_of_trpca_is_its_twin(dtype, n):
    rng = np.random.default_rng(0)
    W, L, S, Y, X = rng.standard_normal((5, 3, 4, n)).astype(dtype)
    basis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    expected = twins.trpca_pass(
        *(A.astype(np.float64) for A in (W, L, S, Y, X)), basis, lam=0.4, mu=2.0, mu_next=2.2
    )
    change = kernels.trpca_pass(W, L, S, Y, X, basis, lam=0.4, mu=2.0, mu_next=2.2, n_threads=2)
    for found, twin in zip((L, S, Y, X, change), expected, strict=True):
        np.testing.assert_allclose(found, twin, atol=TOLERANCE[dtype] * 10)


@dtypes
@pytest.mark.parametrize("n", [1, TILE - 1, TILE, TILE + 1, 3 * TILE])
def test_the_pass_of_snn_is_its_twin(dtype, n):
    rng = np.random.default_rng(0)
    W, E, L3, Y3 = rng.standard_normal((4, 3, n, n)).astype(dtype)
    W, E, L3, Y3 = (A + A.transpose(0, 2, 1) for A in (W, E, L3, Y3))
    L1, Y1, X = rng.standard_normal((3, 3, n, n)).astype(dtype)
    mapper = rng.standard_normal((3, 3))
    expected = twins.snn_pass(
        *(A.astype(np.float64) for A in (W, E, L1, Y1, X, L3, Y3)), mapper, mu=2.0, mu_next=2.2
    )
    change, gram = kernels.snn_pass(
        W, E, L1, Y1, X, L3, Y3, mapper, mu=2.0, mu_next=2.2, n_threads=2
    )
    for found, twin in zip((E, L1, Y1, X, L3, Y3, change, gram), expected, strict=True):
        np.testing.assert_allclose(found, twin, atol=TOLERANCE[dtype] * 20, rtol=1e-5)


# ------------------------------------------------------------------ refusals


def test_kernels_refuse_arrays_they_cannot_work_on():
    with pytest.raises(ValueError, match="4 x 5"):
        kernels.symmetric_shrink(np.zeros((1, 4, 5)), 1.0)
    with pytest.raises(ValueError, match="float64.*, got .*int64"):
        kernels.tube_shrink(np.zeros((2, 3, 3), dtype=int), 1.0)
    with pytest.raises(ValueError, match="floating-point numbers, got int64"):
        kernels.frontal_shrink(np.zeros((2, 3, 3), dtype=np.int64), 1.0)
    assert kernels.frontal_shrink(np.zeros((2, 0, 0)), 1.0).tolist() == [0, 0]
    assert kernels.mode_shrink(np.zeros((0, 3, 3)), 1.0, 1) == 0
    with pytest.raises(ValueError, match="contiguous"):
        kernels.slice_shrink(np.zeros((2, 3, 4)).transpose(0, 2, 1), 1.0)
    W = np.zeros((2, 3, 3))
    steps = {"mu": 1.0, "mu_next": 1.0}
    for other in (W.astype(np.float32), W[:, :2].copy()):
        with pytest.raises(ValueError, match="tensor"):
            kernels.trpca_pass(W, *[other] * 4, np.eye(2), lam=1.0, **steps)
    with pytest.raises(ValueError, match=r"basis .*\(2, 2\), got \(1, 2\)"):
        kernels.trpca_pass(W, *[W.copy() for _ in range(4)], np.ones((1, 2)), lam=1.0, **steps)
    with pytest.raises(ValueError, match=r"mapper .*\(2, 2\), got \(1, 2\)"):
        kernels.snn_pass(W, *[W.copy() for _ in range(6)], np.ones((1, 2)), **steps)
    W = np.zeros((2, 4, 3))
    with pytest.raises(ValueError, match=r"W .*\(2, 4, 4\), got \(2, 4, 3\)"):
        kernels.snn_pass(W, *[W.copy() for _ in range(6)], np.eye(2), **steps)


@dtypes
@pytest.mark.parametrize("shape", [(1, 7), (40, 33), (0, 3)])
def test_cells_are_scanned_as_numpy_does(shape, dtype):
    X = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    X[::3, ::2], X[1::5], X[2::7, :1], X[4:5, 1:2] = 0, np.nan, np.nan, -np.inf
    least, entry, n_gaps, largest, gaps, blank = kernels.scan_cells(X)
    assert least == np.fmin.reduce(X, axis=None, initial=np.inf)
    assert entry == np.fmax.reduce(abs(X), axis=None, initial=-np.inf)
    np.testing.assert_array_equal(largest, np.fmax.reduce(abs(X), axis=0, initial=-np.inf))
    np.testing.assert_array_equal(gaps, np.isnan(X).sum(axis=1))
    np.testing.assert_array_equal(blank, ~((X < 0) | (X > 0)).any(axis=1))
    assert n_gaps == gaps.sum() and largest.dtype == dtype
