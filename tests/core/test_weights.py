"""Weighted samples: the problem in which sample p stands m_p times, solved without repeating it."""

import numpy as np
import pytest
import scipy.sparse
from conftest import examples, published_tlrr, random_similarities
from hypothesis import given
from hypothesis import strategies as st

# Problems are drawn at random, and some thresholds exceed every tube.
pytestmark = pytest.mark.filterwarnings("ignore:the tensor is zero")

MULTIPLICITIES = st.lists(st.integers(1, 6), min_size=1, max_size=7)


def expand(T, m):
    """Every row and column p of the slices m_p times."""
    return np.repeat(np.repeat(T, m, axis=1), m, axis=2)


@given(
    m=MULTIPLICITIES,
    v=st.integers(1, 3),
    seed=st.integers(0, 999),
    omega1=st.floats(0, 1),
    alpha=st.floats(0, 6),
    lam=st.floats(0.2, 8),
    sparse=st.booleans(),
)
def test_equals_the_expanded_problem(m, v, seed, omega1, alpha, lam, sparse):
    W = random_similarities(v, len(m), seed)
    if sparse:
        W[:, (W < 0.8).all(axis=0)] = 0
    given_W = [scipy.sparse.csr_array(A) for A in W] if sparse else W
    parameters = {"omega1": omega1, "alpha": alpha, "lam": lam, "tol": 1e-9, "max_iter": 3000}
    weighted = published_tlrr(given_W, sample_weight=m, **parameters)
    whole = published_tlrr(expand(W, m), **parameters)
    L = np.stack([A.toarray() for A in weighted.tensor]) if sparse else weighted.tensor
    distance = np.linalg.norm(expand(L, m) - whole.tensor)
    assert distance <= weighted.error_bound + whole.error_bound
    if weighted.converged and whole.converged:  # a gap of 1e-9 allows 3e-5
        assert distance <= 1e-5 * np.linalg.norm(whole.tensor)
    if not sparse:
        value = weighted.objective(W)
        assert value == pytest.approx(whole.objective(expand(W, m)), rel=1e-6, abs=1e-9)
    repeated = np.repeat(weighted.blocks, m)
    joined = whole.blocks[:, None] == whole.blocks
    assert np.all((repeated[:, None] == repeated)[joined])


@pytest.mark.parametrize("alpha", [0.3, 3.0])
def test_agrees_to_1e_6_at_a_gap_of_1e_9(alpha):
    rng = np.random.default_rng(0)
    m = rng.integers(1, 12, 20, dtype=np.intp)
    W = random_similarities(3, 20)
    parameters = {"alpha": alpha, "lam": 2.0, "tol": 1e-9, "max_iter": 3000}
    weighted = published_tlrr(W, sample_weight=m, **parameters)
    whole = published_tlrr(expand(W, m), **parameters)
    assert weighted.converged and whole.converged
    distance = np.linalg.norm(expand(weighted.tensor, m) - whole.tensor)
    assert distance <= 1e-6 * np.linalg.norm(whole.tensor)
    assert weighted.objective(W) == pytest.approx(whole.objective(expand(W, m)), rel=1e-9)


@given(m=MULTIPLICITIES, seed=st.integers(0, 999), steps=st.integers(0, 4))
def test_the_certificate_is_that_of_the_expanded_problem(m, seed, steps):
    W = random_similarities(2, len(m), seed)
    parameters = {"alpha": 2.0, "lam": 1.0}
    early = published_tlrr(W, sample_weight=m, max_iter=steps, **parameters)
    best = published_tlrr(expand(W, m), tol=1e-11, max_iter=2000, **parameters)
    error = np.linalg.norm(expand(early.tensor, m) - best.tensor)
    assert error <= early.error_bound + best.error_bound
    norm = np.linalg.norm(expand(early.tensor, m))
    assert 2 * early.error_bound**2 == pytest.approx(early.gap * norm**2, abs=1e-12)


def test_weights_of_one_change_no_bit():
    for dtype in (np.float32, np.float64):
        W = random_similarities(3, 40, dtype=dtype)
        plain = published_tlrr(W, lam=2.0)
        weighted = published_tlrr(W, lam=2.0, sample_weight=np.ones(40))
        np.testing.assert_array_equal(weighted.tensor, plain.tensor)
        assert (weighted.gap, weighted.error_bound) == (plain.gap, plain.error_bound)


@given(
    m=st.lists(st.floats(0.05, 3.0), min_size=2, max_size=10),
    seed=st.integers(0, 999),
    alpha=st.floats(1, 12),
    omega1=st.floats(0, 0.9),
)
@examples(12)
def test_weights_below_one_screen_no_tube_that_is_needed(m, seed, alpha, omega1):
    """Every pattern a problem can have: the same tensor among samples that no screening touches."""
    W = random_similarities(2, len(m), seed)
    parameters = {"omega1": omega1, "alpha": alpha, "lam": 1.5, "tol": 1e-9, "max_iter": 2000}
    result = published_tlrr(W, sample_weight=m, **parameters)
    L = twin_minimiser(W, np.array(m), omega1, alpha, 1.5)
    root = np.sqrt(np.outer(m, m))
    value = tlrr_objective(L, W, m, omega1, alpha, 1.5)
    assert result.objective(W) <= value + 1e-6 * max(value, 1.0)
    excess = value - result.objective(W) + 2 * 1.5 * result.error_bound**2
    assert (
        np.linalg.norm(root * (L - result.tensor))
        <= result.error_bound + np.sqrt(max(excess, 0) / 1.5) + 1e-6
    )


def tlrr_objective(L, W, m, omega1, alpha, lam):
    """By its definition, in M = D^1/2 L D^1/2."""
    both = np.sqrt(np.outer(m, m))
    M, A = both * L, both * W
    frontal = sum(np.linalg.norm(X, "nuc") for X in M)
    rows = sum(np.sqrt(m[p]) * np.linalg.norm(M[:, p], "nuc") for p in range(len(m)))
    tubes = (both * np.sqrt((M**2).sum(axis=0))).sum()
    return (omega1 * frontal + (1 - omega1) * (rows + alpha * tubes)) + lam * ((A - M) ** 2).sum()


def twin_minimiser(W, m, omega1, alpha, lam, iterations=400):
    """Projected gradient ascent of the dual without screening, every norm by its SVD."""
    root, both, omega2 = np.sqrt(m), np.sqrt(np.outer(m, m)), 1 - omega1
    A, tau = both * W, omega2 * alpha / (2 * lam) * both
    P, Q = np.zeros_like(A), np.zeros_like(A)

    def primal(P, Q):
        T = A - (P + (Q + Q.transpose(0, 2, 1)) / 2) / (2 * lam)
        length = np.sqrt((T**2).sum(axis=0))
        return T * np.maximum(1 - tau / np.maximum(length, 1e-300), 0)

    def clip(M, t):
        U, s, V = np.linalg.svd(M, full_matrices=False)
        return (U * np.minimum(s, t)) @ V

    P_momentum, Q_momentum, t = P, Q, 1.0
    for _ in range(iterations):
        M = primal(P_momentum, Q_momentum)
        P_next = np.stack([clip(X, omega1) for X in P_momentum + lam * M])
        Q_next = np.stack(
            [
                clip(X, omega2 * r)
                for X, r in zip((Q_momentum + lam * M).transpose(1, 0, 2), root, strict=True)
            ],
            axis=1,
        )
        uphill = ((P_momentum - P_next) * (P_next - P)).sum()
        uphill += ((Q_momentum - Q_next) * (Q_next - Q)).sum()
        t = 1.0 if uphill > 0 else t
        t_next = (1 + np.sqrt(1 + 4 * t * t)) / 2
        P_momentum = P_next + (t - 1) / t_next * (P_next - P)
        Q_momentum = Q_next + (t - 1) / t_next * (Q_next - Q)
        P, Q, t = P_next, Q_next, t_next
    return primal(P, Q) / both


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2, 3], r"3 entries, but W has 4 samples"),
        ([1, 2, 0, 3], r"sample_weight\[2\] == 0, must be > 0"),
        ([1, -2, 1, 3], r"sample_weight\[1\] == -2, must be > 0"),
        ([1, np.nan, 1, 3], "sample_weight contains NaN"),
        ([1, np.inf, 1, 3], "sample_weight contains infinity"),
        ([1, 1e13, 1, 3], "between 1e-12 and 1e12"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        published_tlrr(random_similarities(2, 4), sample_weight=weight)


def test_the_published_iteration_has_no_weights():
    with pytest.raises(ValueError, match="no sample weights"):
        published_tlrr(random_similarities(2, 4), sample_weight=np.ones(4), solver="ialm")
