import numpy as np
import pytest
import scipy.sparse
from conftest import random_similarities
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from mvsc_fast.solvers import tlrr

# Problems are drawn at random, and some thresholds exceed every tube.
pytestmark = pytest.mark.filterwarnings("ignore:the tensor is zero")

PARAMETERS = {"omega1": 0.5, "alpha": 6.0, "lam": 2.0}  # tau = 0.75


@pytest.fixture(scope="module")
def screen_blocks(core_parts):
    return core_parts.screen_blocks


@pytest.fixture(scope="module")
def screen(screen_blocks):
    """Screening of the whole slices of a tensor."""

    def on_slices(W, **parameters):
        v, n = W.shape[:2]
        return screen_blocks(W.reshape(v, n * n), n, **parameters)

    return on_slices


def on_pattern(W):
    """Values, indptr and indices of the union of the slices' patterns."""
    pattern = scipy.sparse.csr_array((W != 0).any(axis=0))
    rows = np.repeat(np.arange(len(pattern.indptr) - 1), np.diff(pattern.indptr))
    return (
        np.ascontiguousarray(W[:, rows, pattern.indices]),
        pattern.indptr.astype(np.intp),
        pattern.indices.astype(np.intp),
    )


def test_blocks_are_the_components_of_the_long_tubes(screen):
    W = np.zeros((2, 6, 6))
    for j, k, value in [(0, 3, 2.0), (3, 5, 2.0), (1, 2, 2.0), (0, 1, 0.3), (4, 1, 0.9)]:
        W[:, j, k] = W[:, k, j] = value / np.sqrt(2)
    labels, n_tubes, patterns = screen(W, **PARAMETERS)
    np.testing.assert_array_equal(labels, [0, 1, 1, 0, 1, 0])
    assert n_tubes == 8  # the tube of length 0.3 is below the bound
    members, indptr = patterns[0][:2]
    np.testing.assert_array_equal(members, [0, 3, 5])
    np.testing.assert_array_equal(np.diff(indptr), [1, 2, 1])


@given(
    n=st.integers(1, 60),
    seed=st.integers(0, 999),
    density=st.floats(0, 0.2),
    alpha=st.floats(0.1, 8),
    single=st.booleans(),
)
def test_labels_are_scipys_components(screen, screen_blocks, n, seed, density, alpha, single):
    rng = np.random.default_rng(seed)
    W = random_similarities(2, n, seed) * (rng.random((n, n)) < density)
    W = (W + W.transpose(0, 2, 1)).astype(np.float32 if single else np.float64)
    parameters = {"omega1": 0.4, "alpha": alpha, "lam": 1.5}
    long = np.sqrt((W**2).sum(axis=0)) > 0.6 * alpha / 3.0
    _, expected = connected_components(scipy.sparse.csr_array(long), directed=False)
    labels, _, _ = screen(W, **parameters)
    np.testing.assert_array_equal(labels, expected)
    values, indptr, indices = on_pattern(W)
    if len(indices):
        labels, _, _ = screen_blocks(values, n, indptr, indices, **parameters)
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n", [30, 300])
def test_patterns_address_the_values_and_their_mirror_images(screen_blocks, n, sparse):
    W = random_similarities(3, n)
    W[W < 1] = 0
    bound = (0.5 * 6 - 0.5 * np.sqrt(3) - 0.5) / 4
    squares = (W**2).sum(axis=0)
    data = on_pattern(W) if sparse else (W.reshape(3, n * n),)
    _, n_tubes, patterns = screen_blocks(data[0], n, *data[1:], **PARAMETERS)
    found = 0
    for members, indptr, indices, mirror, position in patterns:
        rows = np.repeat(np.arange(len(members)), np.diff(indptr))
        np.testing.assert_array_equal(rows[mirror], indices)
        np.testing.assert_array_equal(indices[mirror], rows)
        inside = squares[np.ix_(members, members)]
        expected = np.argwhere(inside > bound**2)
        np.testing.assert_array_equal(np.transpose([rows, indices]), expected)
        values = data[0][:, position]
        np.testing.assert_array_equal(values, W[:, members[rows], members[indices]])
        found += len(indices)
    assert 0 < found <= n_tubes


@given(seed=st.integers(0, 999), alpha=st.floats(0.1, 8), omega1=st.floats(0, 0.9))
def test_screened_tubes_are_zero_in_the_minimiser(screen, seed, alpha, omega1):
    """The published iteration knows no screening; its L is small wherever a tube was dropped."""
    W = random_similarities(2, 12, seed)
    parameters = {"omega1": omega1, "alpha": alpha, "lam": 1.5}
    kept = np.zeros((12, 12), dtype=bool)
    for members, indptr, indices, _, _ in screen(W, **parameters)[2]:
        kept[np.repeat(members, np.diff(indptr)), members[indices]] = True
    L = tlrr(W, **parameters, solver="ialm", tol=1e-7, max_iter=2000).tensor
    assert np.abs(L[:, ~kept]).max(initial=0) < 1e-5


def test_weak_tube_weights_keep_every_pair_of_a_component(screen):
    W = np.zeros((1, 5, 5))
    W[0, 0, 1] = W[0, 1, 0] = W[0, 1, 2] = W[0, 2, 1] = W[0, 0, 0] = 5.0
    weak = {"omega1": 0.9, "alpha": 0.1, "lam": 1.0}
    labels, _, patterns = screen(W, **weak)
    np.testing.assert_array_equal(labels, [0, 0, 0, 1, 2])
    assert [len(pattern[2]) for pattern in patterns] == [9, 1, 1]
    dense = tlrr(W, **weak, tol=1e-8)
    sparse = tlrr([scipy.sparse.csr_array(W[0])], **weak, tol=1e-8)
    assert dense.tensor[0, 0, 2] != 0
    np.testing.assert_array_equal(sparse.tensor[0].toarray(), dense.tensor[0])


def test_slices_that_are_not_symmetric_do_no_harm(screen):
    W = np.ones((1, 4, 4))
    W[0, 1:, 0] = 0
    with pytest.raises(ValueError, match="not symmetric"):
        screen(W, **PARAMETERS)
