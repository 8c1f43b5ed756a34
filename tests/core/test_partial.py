import numpy as np
import pytest
import reference.tlrr as twin
from conftest import published_tlrr, random_similarities
from reference.proximal import symmetric_shrink

PARTIAL_MINIMUM = 200


def low_rank_plus_noise(values, n=PARTIAL_MINIMUM, noise=0.005, seed=0):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, len(values))))[0]
    N = noise * rng.standard_normal((n, n)) / np.sqrt(n)
    return (U * values) @ U.T + N + N.T


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [PARTIAL_MINIMUM, 411])
@pytest.mark.parametrize("values", [[], [5.0], [5.0, -3.0], [2.0, 1.9, -1.8, 1.7]])
def test_certified_pairs_give_the_shrunken_matrix(core_parts, values, n, dtype):
    symmetric = np.stack([low_rank_plus_noise(values, n, seed=seed) for seed in range(2)])
    skewed = symmetric.copy()  # what is shrunk is the mean with the transpose
    skewed[0, 1:, 0] += 0.5
    skewed[0, 0, 1:] -= 0.5
    solver = core_parts.PartialShrinkage(2, n, dtype)
    for T in (skewed.astype(dtype), symmetric.astype(dtype)):  # cold, and warm
        np.testing.assert_array_equal(solver.shrink(T, 1.0), [len(values)] * 2)
        atol = 1e-8 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(T, symmetric_shrink(symmetric, 1.0), atol=atol)
        assert solver.sizes.tolist() == [len(values) + 12] * 2


def test_a_slice_that_cannot_be_certified_stays_as_it_was(core_parts):
    """Forty eigenvalues above the threshold are more than the subspace holds."""
    assert core_parts.PARTIAL_MINIMUM == PARTIAL_MINIMUM
    T = np.stack([low_rank_plus_noise([5.0]), low_rank_plus_noise(np.linspace(2, 3, 40))])
    before = T.copy()
    ranks = core_parts.PartialShrinkage(2, PARTIAL_MINIMUM).shrink(T, 1.0)
    np.testing.assert_array_equal(ranks, [1, -1])
    np.testing.assert_array_equal(T[1], before[1])


@pytest.mark.parametrize("sign", [1, -1])
def test_the_certificate_sees_what_the_subspace_missed(core_parts, sign):
    """An eigenvalue hidden from the Krylov space: its eigenvector is orthogonal to the start."""
    n = PARTIAL_MINIMUM
    solver = core_parts.PartialShrinkage(1, n)
    A = np.zeros((1, n, n))
    A[0, 0, 0] = 3.0
    assert solver.shrink(A.copy(), 1.0) == [1]
    # The next call starts from these vectors and four random ones; let the last coordinate be
    # decoupled from all the others, and its eigenvalue too small to win against their noise.
    B = A.copy()
    B[0] += np.diag(np.r_[np.zeros(20), np.linspace(0.9, 0.99999, n - 20)])
    B[0, -1, -1] = sign * 1.0000001
    T = B.copy()
    rank = solver.shrink(T, 1.0)[0]
    if rank < 0:
        np.testing.assert_array_equal(T, B)
    else:
        assert rank == 2
        np.testing.assert_allclose(T, symmetric_shrink(B, 1.0), atol=1e-8)


@pytest.mark.slow
def test_the_published_path_through_small_ranks_is_that_of_the_twin():
    n = PARTIAL_MINIMUM
    W = random_similarities(2, n) * np.linspace(0.5, 2, n)[:, None] * np.linspace(0.5, 2, n)
    L, residuals, _ = twin.tlrr(W, lam=1.0)
    result = published_tlrr(W, solver="ialm", lam=1.0)
    low = (result.history["rank"] > 0) & (result.history["rank"] <= n // 40)
    assert low.all(axis=1).sum() >= 5  # that many iterations are for the partial solver
    assert result.n_iter == len(residuals)
    np.testing.assert_allclose(result.tensor, L, atol=1e-7)
