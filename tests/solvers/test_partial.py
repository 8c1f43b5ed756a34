import numpy as np
import pytest
from reference.proximal import symmetric_shrink

from mvsc_fast.solvers.partial import OVERSAMPLING, SMALLEST, PartialShrinkage, _norm_below


def low_rank_plus_noise(values, n=SMALLEST, noise=0.02, seed=0):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, len(values))))[0]
    N = noise * rng.standard_normal((n, n)) / np.sqrt(n)
    return (U * values) @ U.T + N + N.T


@pytest.mark.parametrize("values", [[], [5.0], [5.0, -3.0], [2.0, 1.9, -1.8, 1.7]])
def test_certified_pairs_give_the_shrunken_matrix(values):
    T = np.stack([low_rank_plus_noise(values), low_rank_plus_noise(values, seed=1)])
    expected = symmetric_shrink(T, 1.0)
    solver = PartialShrinkage(2, SMALLEST)
    ranks = solver.shrink(T, 1.0, np.empty(2 * SMALLEST**2))
    np.testing.assert_array_equal(ranks, [len(values)] * 2)
    np.testing.assert_allclose(T, expected, atol=1e-8)
    assert [basis.shape[1] for basis in solver.bases] == [len(values) + OVERSAMPLING] * 2


def test_a_slice_that_cannot_be_certified_leaves_all_as_they_were():
    """Forty eigenvalues above the threshold are more than the subspace holds."""
    T = np.stack([low_rank_plus_noise([5.0]), low_rank_plus_noise(np.linspace(2, 3, 40))])
    before = T.copy()
    assert PartialShrinkage(2, SMALLEST).shrink(T, 1.0, np.empty(2 * SMALLEST**2)) is None
    np.testing.assert_array_equal(T, before)


def test_the_certificate_sees_a_missed_eigenvalue_on_either_side():
    A = np.diag([0.9, -0.9, 0.1])
    scratch = np.empty((3, 3))
    assert _norm_below(A, 0.91, scratch)
    assert not _norm_below(A, 0.89, scratch)
    assert not _norm_below(np.diag([0.9, 0.1, 0.0]), 0.5, scratch)
    assert not _norm_below(np.diag([-0.9, 0.1, 0.0]), 0.5, scratch)


def test_only_large_slices_of_small_rank_are_worth_trying():
    assert PartialShrinkage(1, 400).worth_trying([10])
    assert not PartialShrinkage(1, 400).worth_trying([3, 11])
    assert not PartialShrinkage(1, SMALLEST - 1).worth_trying([0])


def test_the_published_path_is_the_same_with_and_without(monkeypatch):
    from conftest import random_similarities

    from mvsc_fast import tlrr

    W = random_similarities(2, 240) * np.linspace(0.5, 2, 240)[:, None] * np.linspace(0.5, 2, 240)
    steps = []
    shrink = PartialShrinkage.shrink

    def counted(self, *args):
        ranks = shrink(self, *args)
        steps.append(ranks is not None)
        return ranks

    monkeypatch.setattr(PartialShrinkage, "shrink", counted)
    with_partial = tlrr(W, solver="ialm", lam=1.0)
    assert sum(steps) >= 5
    monkeypatch.setattr(PartialShrinkage, "worth_trying", lambda *_: False)
    without = tlrr(W, solver="ialm", lam=1.0)
    assert with_partial.n_iter == without.n_iter
    np.testing.assert_array_equal(with_partial.history["rank"], without.history["rank"])
    np.testing.assert_allclose(with_partial.tensor, without.tensor, atol=1e-7)
