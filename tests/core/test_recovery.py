"""The fused passes of TRPCA and SNN equal their twins at the sizes where their loops change."""

import numpy as np
import pytest
from reference import recovery

from mvsc_fast import _kernels as kernels

TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}
CHUNK, TILE = 256, 32  # tubes, and entries of a tile's edge, that are handled together
dtypes = pytest.mark.parametrize("dtype", TOLERANCE)


@dtypes
@pytest.mark.parametrize("n", [CHUNK - 1, CHUNK, CHUNK + 1])
def test_the_pass_of_trpca_is_its_twin(dtype, n):
    rng = np.random.default_rng(0)
    W, L, S, Y, X = rng.standard_normal((5, 3, 4, n)).astype(dtype)
    basis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    expected = recovery.trpca_pass(
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
    expected = recovery.snn_pass(
        *(A.astype(np.float64) for A in (W, E, L1, Y1, X, L3, Y3)), mapper, mu=2.0, mu_next=2.2
    )
    change, gram = kernels.snn_pass(
        W, E, L1, Y1, X, L3, Y3, mapper, mu=2.0, mu_next=2.2, n_threads=2
    )
    for found, twin in zip((E, L1, Y1, X, L3, Y3, change, gram), expected, strict=True):
        np.testing.assert_allclose(found, twin, atol=TOLERANCE[dtype] * 20, rtol=1e-5)
