"""The dual solver finds the minimiser, and its certificate is true."""

import numpy as np
import pytest
import reference.dual as twin
import reference.tlrr as model
import scipy.sparse
from conftest import published_tlrr, random_similarities
from hypothesis import given
from hypothesis import strategies as st

from mvsc_fast import TLRR
from mvsc_fast.similarity import self_representation
from mvsc_fast.solvers import tlrr

# Problems are drawn at random, and some thresholds exceed every tube.
pytestmark = pytest.mark.filterwarnings("ignore:the tensor is zero")

PARAMETERS = [
    {"omega1": 0.5, "alpha": 5.0, "lam": 4.0},
    {"omega1": 0.5, "alpha": 0.5, "lam": 2.0},
    {"omega1": 0.0, "alpha": 1.0, "lam": 1.0},
    {"omega1": 1.0, "alpha": 1.0, "lam": 1.0},
    {"omega1": 0.3, "alpha": 0.0, "lam": 3.0},
]


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("v", [1, 2, 4])
@pytest.mark.parametrize("n", [1, 2, 12])
def test_finds_the_minimiser(v, n, parameters):
    W = random_similarities(v, n, seed=v)
    expected, gaps = twin.tlrr(W, **parameters, iterations=250)
    result = published_tlrr(W, **parameters, tol=1e-9, max_iter=2000)
    certified = np.sqrt(gaps.min().clip(0) / (2 * parameters["lam"])) + result.error_bound
    assert np.linalg.norm(result.tensor - expected) <= certified + 1e-7
    assert result.gap <= 1e-7
    assert model.objective_of(result, W) <= model.objective(expected, W, **parameters) * (1 + 1e-6)


@given(
    v=st.integers(1, 4),
    n=st.integers(2, 10),
    seed=st.integers(0, 999),
    omega1=st.floats(0, 1),
    alpha=st.floats(0, 6),
    lam=st.floats(0.2, 8),
    steps=st.integers(0, 6),
    by_callback=st.booleans(),
)
def test_the_error_never_exceeds_the_bound(v, n, seed, omega1, alpha, lam, steps, by_callback):
    W = random_similarities(v, n, seed)
    parameters = {"omega1": omega1, "alpha": alpha, "lam": lam}
    by_count = {"tol": 0, "callback": lambda state: state.iteration >= steps}
    early = published_tlrr(W, **parameters, **(by_count if by_callback else {"max_iter": steps}))
    best = published_tlrr(W, **parameters, tol=1e-12, max_iter=300)
    error = np.linalg.norm(early.tensor - best.tensor)
    assert error <= early.error_bound + best.error_bound
    least = model.objective_of(best, W)
    excess = model.objective_of(early, W) - least
    assert excess <= 2 * lam * early.error_bound**2 + 1e-9 * least


@given(
    n=st.integers(12, 24),
    seed=st.integers(0, 99),
    spike=st.floats(0, 100),
    steps=st.integers(1, 40),
)
def test_the_gap_holds_where_rounding_is_all_that_is_left_of_it(n, seed, spike, steps):
    """Hard problems in single precision, down to its last digits, against double precision."""
    W = flat_similarities(n, seed=seed).astype(np.float32)
    W[:, : n // 3, : n // 3] += spike * W.max()
    single = tlrr(W, tol=0, max_iter=steps)
    lam = single.parameters["lam"]
    W = W.astype(np.float64)
    best = tlrr(W, lam=lam, tol=1e-9, max_iter=1000)
    objective = model.objective_of(single, W)
    gap = 2 * lam * single.error_bound**2
    assert objective - model.objective_of(best, W) <= gap + 1e-12 * objective
    error = np.linalg.norm(single.tensor - best.tensor)
    assert error <= single.error_bound + best.error_bound


def test_exact_minimiser_of_yaleb(yaleb_tensor):
    W, _ = yaleb_tensor
    result = published_tlrr(W, omega1=0.4, alpha=9, lam=15, tol=1e-6)
    assert result.n_iter <= 8
    excess = model.objective_of(result, W) - 12921.50615
    assert -1e-4 <= excess <= 2 * 15 * result.error_bound**2
    assert np.linalg.norm(result.tensor) == pytest.approx(14.5558668739, abs=result.error_bound)
    assert result.gap <= 1e-6


def test_no_iterations_give_the_tube_shrinkage_and_its_certificate():
    W = random_similarities(3, 20)
    parameters = {"omega1": 0.5, "alpha": 3.0, "lam": 1.0}
    result = published_tlrr(W, **parameters, max_iter=0, tol=1e-9)
    zero = np.zeros_like(W)
    np.testing.assert_allclose(result.tensor, twin.primal(zero, zero, W, *parameters.values()))
    expected = twin.gap(zero, zero, W, *parameters.values())
    assert 2 * parameters["lam"] * result.error_bound**2 == pytest.approx(expected, rel=1e-5)


def block_tensor(sizes, seed=0):
    """Strong similarities within blocks, weak ones between, samples in random order."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    order = np.random.default_rng(seed).permutation(len(y))
    y = y[order]
    strength = np.where(y[:, None] == y, 1.0, 0.02)
    return random_similarities(3, len(y), seed) * strength, y


@pytest.mark.parametrize("n_threads", [1, 3])
def test_blocks_of_every_size_are_solved_as_if_alone(n_threads):
    """Above 256 samples one by one with all threads, the others side by side."""
    W, y = block_tensor([300, 40, 40, 8, 1])
    parameters = {"omega1": 0.5, "alpha": 3.0, "lam": 2.0, "tol": 1e-6}
    result = published_tlrr(W, **parameters, n_threads=n_threads)
    assert len(set(result.blocks)) == 5
    assert not result.tensor[:, y[:, None] != y].any()
    for c in range(5):
        inside = np.flatnonzero(y == c)
        alone = published_tlrr(W[:, inside][:, :, inside].copy(), **parameters)
        np.testing.assert_array_equal(result.tensor[:, inside][:, :, inside], alone.tensor)


def test_many_blocks_need_memory_of_the_blocks_only():
    """200 blocks of 50 samples: a dense tensor of all would hold 10 000^2 numbers per view."""
    block = random_similarities(2, 50) / 4
    W = [scipy.sparse.block_diag([scipy.sparse.csr_array(A)] * 200, format="csr") for A in block]
    result = published_tlrr(W, omega1=0.5, alpha=3.0, lam=8.0)
    alone = published_tlrr(block, omega1=0.5, alpha=3.0, lam=8.0)
    assert result.converged and len(set(result.blocks)) == 200
    for A, B in zip(result.tensor, alone.tensor, strict=True):
        assert A.nnz == 200 * np.count_nonzero(B)
        np.testing.assert_array_equal(A[-50:, -50:].toarray(), B)


def flat_similarities(n, width=4, seed=0):
    """Three views of few columns: most tubes that remain are only a little longer than tau."""
    rng = np.random.default_rng(seed)
    return self_representation([rng.random((n, width + i)) for i in range(3)])


@pytest.mark.parametrize(
    ("n", "tol", "most"),
    [
        pytest.param(100, 1e-3, 18, id="tubes close to the threshold"),  # projected gradients: 41
        pytest.param(100, 3e-5, 80, id="small eigenvalues"),  # with a constant rho over 100
        pytest.param(200, 1e-3, 80, id="the minimiser vanishes"),  # 41 to 52, by the processor
    ],
)
def test_hard_problems_need_few_iterations(n, tol, most):
    result = tlrr(flat_similarities(n), tol=tol)
    assert result.converged and result.n_iter <= most
    assert result.tensor.any() == (n == 100) and (n == 100 or result.gap == 0.0)


@pytest.mark.parametrize("solver", ["dual", "ialm"])
@pytest.mark.parametrize("n", [100, pytest.param(300, marks=pytest.mark.slow)])
def test_the_number_of_threads_changes_no_bit(n, solver, threads_at_any_size):
    W, max_iter = flat_similarities(n), {"dual": 6, "ialm": 80}[solver]
    expected, *others = (tlrr(W, solver=solver, n_threads=k, max_iter=max_iter) for k in (1, 2, 3))
    for result in others:
        assert result.gap == expected.gap
        np.testing.assert_array_equal(result.tensor, expected.tensor)


def test_a_large_eigenvalue_does_not_end_the_iteration_in_single_precision():
    """The rounding of Z, by the largest eigenvalue, was more than the gap after two iterations."""
    W = flat_similarities(100)
    W[:, :30, :30] += 10 * W.max()
    exact, single = tlrr(W, tol=1e-8), tlrr(W.astype(np.float32), tol=5e-6)
    assert single.converged
    error = np.linalg.norm(single.tensor - exact.tensor)
    assert error <= single.error_bound + exact.error_bound


def test_the_callback_learns_whose_iteration_it_is():
    W, _ = block_tensor([20, 30, 1, 12])
    seen = {}

    def watch(state):
        seen.setdefault(state.block, []).append(state.iteration)

    result = published_tlrr(W, alpha=3.0, lam=2.0, tol=1e-8, callback=watch)
    assert set(seen) == set(result.blocks)
    for iterations in seen.values():
        assert iterations == list(range(1, len(iterations) + 1))
    assert max(map(len, seen.values())) == result.n_iter == len(result.history["residual"])
    assert result.history["residual"][-1] == result.gap
    assert np.all(np.diff(result.history["seconds"]) >= 0)


@pytest.mark.parametrize(
    ("dtype", "powers"), [(np.float32, [-100, -70, 30]), (np.float64, [-1000, -540, -90, 400])]
)
def test_a_power_of_two_changes_no_bit(dtype, powers):
    """Of tlrr and TLRR, which find lam by the lengths of the tubes, dense and sparse."""
    W = np.round(random_similarities(2, 20, dtype=dtype), 3)  # no entry becomes subnormal
    expected, model = tlrr(W), TLRR(3, affinity="precomputed", random_state=0)
    labels = model.fit(W).labels_
    for k in powers:
        scaled = np.ldexp(W, k)
        result = tlrr(scaled)
        np.testing.assert_array_equal(result.tensor, np.ldexp(expected.tensor, k))
        assert result.gap == expected.gap and expected.tensor.any()
        np.testing.assert_array_equal(model.fit(scaled).labels_, labels)
        sparse = tlrr([scipy.sparse.csr_array(A) for A in scaled])
        for A, B in zip(sparse.tensor, result.tensor, strict=True):
            np.testing.assert_array_equal(A.toarray(), B)
        with pytest.warns(UserWarning, match="the tensor is zero"):
            tlrr(scaled, lam=np.ldexp(0.1, -k))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_zero_is_the_minimiser_up_to_the_norm_of_the_frontal_slices(dtype, weighted):
    W = random_similarities(2, 20, dtype=dtype) - dtype(0.3)
    m = np.linspace(0.5, 2, 20) if weighted else np.ones(20)
    bound = 0.5 / np.linalg.norm(W * np.sqrt(m[:, None] * m), 2, axis=(1, 2)).max()
    weights = {"sample_weight": m} if weighted else {}
    below, above = (tlrr(W, omega1=1.0, lam=share * bound, **weights) for share in (0.999, 1.001))
    assert below.converged and below.n_iter <= 1 and below.gap == 0 and not below.tensor.any()
    assert above.tensor.any()


@pytest.mark.parametrize(
    "parameters", [{"omega1": 0.5, "alpha": 0.0}, {"omega1": 0.0, "alpha": 0.0}, {"omega1": 1.0}]
)
def test_small_weights_of_the_misfit_end_at_zero_at_once(parameters):
    W = random_similarities(3, 30)
    result = tlrr(W, lam=1e-3, **parameters)
    assert result.converged and result.n_iter <= 1 and result.gap == 0 and not result.tensor.any()
    zero, small = (
        model.objective(L, W, lam=1e-3, **{"alpha": 9.0, **parameters}) for L in (0 * W, 1e-3 * W)
    )
    assert zero < small


def test_a_weight_out_of_range_is_refused_for_slices_without_entries():
    empty = [scipy.sparse.csr_array((5, 5))] * 2
    assert tlrr(empty, lam=1.0).converged
    with pytest.raises(ValueError, match=r"lam=1e\+200 .* up to 0 "):
        tlrr(empty, lam=1e200)


def test_a_sparse_block_too_large_for_lapack_is_refused():
    n = 32_767
    chain = scipy.sparse.diags([np.ones(n - 1)] * 2, [-1, 1], format="csr")
    with pytest.raises(ValueError, match="32767 .*LAPACK"):
        published_tlrr([chain])
