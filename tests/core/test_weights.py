"""Weighted samples: the problem in which sample p stands m_p times, solved without repeating it."""

import numpy as np
import pytest
import reference.dual as twin
import reference.tlrr as model
import scipy.sparse
from conftest import examples, published_tlrr, random_similarities
from hypothesis import given
from hypothesis import strategies as st

# Problems are drawn at random, and some thresholds exceed every tube.
pytestmark = pytest.mark.filterwarnings("ignore:the tensor is zero")


def expand(T, m):
    """Every row and column p of the slices m_p times."""
    return np.repeat(np.repeat(T, m, axis=1), m, axis=2)


@given(
    m=st.lists(st.integers(1, 6), min_size=1, max_size=7),
    v=st.integers(1, 3),
    seed=st.integers(0, 999),
    omega1=st.floats(0, 1),
    alpha=st.floats(0, 6),
    lam=st.floats(0.2, 8),
    sparse=st.booleans(),
    steps=st.sampled_from([0, 1, 2, 4, 3000, 3000]),
)
def test_equals_the_expanded_problem(m, v, seed, omega1, alpha, lam, sparse, steps):
    """As far as the certificate says, which is that of the expanded problem, too."""
    W = random_similarities(v, len(m), seed)
    if sparse:
        W[:, (W < 0.8).all(axis=0)] = 0
    given_W = [scipy.sparse.csr_array(A) for A in W] if sparse else W
    parameters = {"omega1": omega1, "alpha": alpha, "lam": lam, "tol": 1e-9}
    weighted = published_tlrr(given_W, sample_weight=m, max_iter=steps, **parameters)
    whole = published_tlrr(expand(W, m), max_iter=3000, **parameters)
    L = np.stack([A.toarray() for A in weighted.tensor]) if sparse else weighted.tensor
    distance = np.linalg.norm(expand(L, m) - whole.tensor)
    assert distance <= weighted.error_bound + whole.error_bound
    norm = np.linalg.norm(expand(L, m))
    assert 2 * weighted.error_bound**2 == pytest.approx(weighted.gap * norm**2, abs=1e-12)
    if not sparse:
        values = model.objective_of(weighted, W), model.objective_of(whole, expand(W, m))
        excess = 2 * lam * max(weighted.error_bound, whole.error_bound) ** 2
        assert values[0] == pytest.approx(values[1], rel=1e-9, abs=excess)
    repeated = np.repeat(weighted.blocks, m)
    joined = whole.blocks[:, None] == whole.blocks
    assert np.all((repeated[:, None] == repeated)[joined])


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
    L, _ = twin.tlrr(W, omega1, alpha, 1.5, np.array(m), iterations=400)
    root = np.sqrt(np.outer(m, m))
    value = model.objective(L, W, omega1, alpha, 1.5, m)
    least = model.objective_of(result, W)
    assert least <= value + 1e-6 * max(value, 1.0)
    excess = value - least + 2 * 1.5 * result.error_bound**2
    distance = np.linalg.norm(root * (L - result.tensor))
    assert distance <= result.error_bound + np.sqrt(max(excess, 0) / 1.5) + 1e-6
