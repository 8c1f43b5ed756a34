"""Blocks of samples and tubes that are certain to be zero."""

import numpy as np
import pytest
import scipy.sparse
from conftest import random_similarities
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from mvsc_fast.solvers import _tlrr_binding as binding
from mvsc_fast.solvers import tlrr

# Problems are drawn at random, and some thresholds exceed every tube.
pytestmark = pytest.mark.filterwarnings("ignore:the tensor is zero")


def screened(W, **parameters):
    """Screening of whole slices."""
    v, n = W.shape[:2]
    return binding.screen(W.reshape(v, n * n), n, **parameters)


def screened_pattern(W, **parameters):
    """Screening of the union of the slices' patterns."""
    pattern = scipy.sparse.csr_array((W != 0).any(axis=0))
    rows = np.repeat(np.arange(len(W[0])), np.diff(pattern.indptr))
    values = np.ascontiguousarray(W[:, rows, pattern.indices])
    places = (array.astype(np.intp) for array in (pattern.indptr, pattern.indices))
    return binding.screen(values, len(W[0]), *places, **parameters)


@given(
    n=st.integers(1, 60),
    seed=st.integers(0, 999),
    density=st.floats(0, 0.2),
    alpha=st.floats(0.1, 8),
    single=st.booleans(),
)
def test_labels_are_scipys_components(n, seed, density, alpha, single):
    rng = np.random.default_rng(seed)
    W = random_similarities(2, n, seed) * (rng.random((n, n)) < density)
    W = (W + W.transpose(0, 2, 1)).astype(np.float32 if single else np.float64)
    parameters = {"omega1": 0.4, "alpha": alpha, "lam": 1.5}
    long = np.sqrt((W**2).sum(axis=0)) > 0.6 * alpha / 3.0
    _, expected = connected_components(scipy.sparse.csr_array(long), directed=False)
    screening = screened(W, **parameters)
    np.testing.assert_array_equal(screening.labels, expected)
    sizes = np.bincount(expected)
    assert (screening.n_blocks, screening.largest) == (len(sizes), sizes.max())
    if W.any():
        np.testing.assert_array_equal(screened_pattern(W, **parameters).labels, expected)


@pytest.mark.parametrize("find", [screened, screened_pattern])
@pytest.mark.parametrize("n", [30, 300])
def test_tubes_longer_than_the_bound_are_counted(n, find):
    W = random_similarities(3, n)
    W[W < 1] = 0
    bound = (0.5 * 6 - 0.5 * np.sqrt(3) - 0.5) / 4
    screening = find(W, omega1=0.5, alpha=6.0, lam=2.0)
    assert screening.bound == pytest.approx(bound)
    assert screening.n_tubes == (np.sqrt((W**2).sum(axis=0)) > bound).sum()


@given(seed=st.integers(0, 999), alpha=st.floats(0.1, 8), omega1=st.floats(0, 0.9))
def test_screened_tubes_are_zero_in_the_minimiser(seed, alpha, omega1):
    """The published iteration knows no screening; its L is small wherever a tube was dropped."""
    W = random_similarities(2, 12, seed)
    parameters = {"omega1": omega1, "alpha": alpha, "lam": 1.5}
    screening = screened(W, **parameters)
    dropped = np.sqrt((W**2).sum(axis=0)) <= screening.bound
    dropped |= screening.labels[:, None] != screening.labels
    L = tlrr(W, **parameters, solver="ialm", tol=1e-7, max_iter=2000).tensor
    assert np.abs(L[:, dropped]).max(initial=0) < 1e-5


def test_weak_tube_weights_keep_every_pair_of_a_component():
    W = np.zeros((1, 5, 5))
    W[0, 0, 1] = W[0, 1, 0] = W[0, 1, 2] = W[0, 2, 1] = W[0, 0, 0] = 5.0
    weak = {"omega1": 0.9, "alpha": 0.1, "lam": 1.0}
    screening = screened(W, **weak)
    np.testing.assert_array_equal(screening.labels, [0, 0, 0, 1, 2])
    assert screening.bound < 0
    dense = tlrr(W, **weak, tol=1e-8)
    sparse = tlrr([scipy.sparse.csr_array(W[0])], **weak, tol=1e-8)
    assert dense.tensor[0, 0, 2] != 0
    np.testing.assert_array_equal(sparse.tensor[0].toarray(), dense.tensor[0])


# The binding refuses arrays that do not fit together.

WEIGHTS = {"omega1": 0.5, "alpha": 9.0, "lam": 4.0}


@pytest.mark.parametrize("short", ["data", "indptr", "indices", "sample_weight", "labels"])
def test_the_binding_refuses_arrays_that_are_too_short(short):
    n = 6
    given = {
        "data": np.ones((2, n * n)),
        "indptr": np.arange(n + 1) * n,
        "indices": np.tile(np.arange(n), n),
        "sample_weight": np.ones(n),
    }
    screening = binding.screen(n=n, **given, **WEIGHTS)
    options = {"tol": 1e-3, "max_iter": 5, "report": lambda **_: False, **WEIGHTS}
    assert binding.solve(n=n, screening=screening, **given, **options)["converged"]
    if short == "labels":
        screening = screening._replace(labels=screening.labels[:-1])
    else:
        given[short] = given[short][..., :-1].copy()
        with pytest.raises(ValueError, match="must have"):
            binding.screen(n=n, **given, **WEIGHTS)
    with pytest.raises(ValueError, match="must have"):
        binding.solve(n=n, screening=screening, **given, **options)
    with pytest.raises(ValueError, match=".2, 49., got .2, 36."):
        binding.screen(np.ones((2, n * n)), n + 1, **WEIGHTS)


@pytest.mark.parametrize("column", [-1, 6])
def test_the_binding_refuses_columns_outside_the_pattern(column):
    indices = np.tile(np.arange(6), 6)
    indices[7] = column
    with pytest.raises(ValueError, match="indices .*36 .*0 to 5"):
        binding.screen(np.ones((2, 36)), 6, np.arange(7) * 6, indices, **WEIGHTS)
