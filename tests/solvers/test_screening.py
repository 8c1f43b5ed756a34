import numpy as np
import scipy.sparse
from conftest import random_similarities
from hypothesis import given
from hypothesis import strategies as st

from mvsc_fast import tlrr
from mvsc_fast.solvers.screening import screen

PARAMETERS = {"omega1": 0.5, "alpha": 6.0, "lam": 2.0}


def test_blocks_are_the_components_of_the_long_tubes():
    W = np.zeros((2, 6, 6))
    for j, k, value in [(0, 3, 2.0), (3, 5, 2.0), (1, 2, 2.0), (0, 1, 0.5), (4, 1, 0.9)]:
        W[:, j, k] = W[:, k, j] = value / np.sqrt(2)
    blocks, labels = screen(W, **PARAMETERS)  # tau = 0.75
    assert [sorted(block.members) for block in blocks] == [[0, 3, 5], [1, 2, 4]]
    assert labels[0] == labels[3] == labels[5] != labels[1] == labels[2] == labels[4]
    np.testing.assert_array_equal(np.diff(blocks[0].indptr), [1, 2, 1])


def test_pattern_rows_and_mirror_address_the_values():
    W = random_similarities(3, 30)
    blocks, _ = screen(W, **PARAMETERS)
    for block in blocks:
        rows, columns = block.members[block.rows], block.members[block.indices]
        np.testing.assert_array_equal(block.values, W[:, rows, columns])
        np.testing.assert_array_equal(block.rows[block.mirror], block.indices)
        np.testing.assert_array_equal(block.indices[block.mirror], block.rows)


@given(seed=st.integers(0, 999), alpha=st.floats(0.1, 8), omega1=st.floats(0, 0.9))
def test_screened_tubes_are_zero_in_the_minimiser(seed, alpha, omega1):
    """The published iteration knows no screening; its L is small wherever a tube was dropped."""
    W = random_similarities(2, 12, seed)
    parameters = {"omega1": omega1, "alpha": alpha, "lam": 1.5}
    kept = np.zeros((12, 12), dtype=bool)
    for block in screen(W, **parameters)[0]:
        kept[block.members[block.rows], block.members[block.indices]] = True
    L = tlrr(W, **parameters, solver="ialm", tol=1e-7, max_iter=2000).tensor
    assert np.abs(L[:, ~kept]).max(initial=0) < 1e-5


def test_weak_tube_weights_keep_every_pair_of_a_component():
    W = np.zeros((1, 5, 5))
    W[0, 0, 1] = W[0, 1, 0] = W[0, 1, 2] = W[0, 2, 1] = 5.0
    (block,), labels = screen(W, omega1=0.9, alpha=0.1, lam=1.0)
    assert sorted(block.members) == [0, 1, 2] and len(block.indices) == 9
    assert labels[3] != labels[4]


def test_sparse_and_dense_input_are_screened_alike():
    W = random_similarities(3, 30)
    W[W < 1] = 0
    dense, _ = screen(W, **PARAMETERS)
    sparse, _ = screen([scipy.sparse.csr_array(A) for A in W], **PARAMETERS)
    for a, b in zip(dense, sparse, strict=True):
        np.testing.assert_array_equal(a.members, b.members)
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_array_equal(a.values, b.values)
