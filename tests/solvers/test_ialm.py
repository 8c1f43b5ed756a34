"""The five-tensor form is the published iteration, to rounding."""

import numpy as np
import pytest
import reference.tlrr as twin
from conftest import FULL, published_tlrr, random_similarities

PARAMETERS = [{}, {"omega1": 0.2, "alpha": 0.5, "lam": 2.0}, {"omega1": 1.0}, {"omega1": 0.0}]


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("v", [1, 2, 3, 6])
@pytest.mark.parametrize("n", [1, 5, 33])
def test_equals_the_thirteen_tensor_twin(v, n, parameters):
    W = random_similarities(v, n, seed=n)
    L, residuals, penalties = twin.tlrr(W, **parameters)
    result = published_tlrr(W, solver="ialm", **parameters)
    assert result.n_iter == len(residuals) and result.converged
    np.testing.assert_allclose(result.tensor, L, atol=1e-9)
    np.testing.assert_allclose(result.history["residual"], residuals, atol=1e-9)
    np.testing.assert_allclose(result.history["mu"], penalties, rtol=1e-12)


def test_fast_forward_ends_where_a_block_becomes_non_zero():
    """Up to there all blocks are zero, so the residual is that of a multiple of W."""
    W = random_similarities(3, 20)
    result = published_tlrr(W, solver="ialm")
    assert 0 < result.n_fast_forward < result.n_iter
    for omitted in (0, 1):
        steps = result.n_fast_forward + omitted
        L = twin.tlrr(W, max_iter=steps)[0]
        assert (np.abs(L).max() > 0) == bool(omitted)


def test_ranks_are_those_of_the_twin():
    W, ranks = random_similarities(3, 60), []

    def watch(L1, *_):
        ranks.append(np.linalg.matrix_rank(L1, tol=1e-9, hermitian=True))

    twin.tlrr(W, **PARAMETERS[1], watch=watch)
    result = published_tlrr(W, solver="ialm", **PARAMETERS[1])
    np.testing.assert_array_equal(result.history["rank"], ranks)


def test_golden_trace_of_yaleb(shared, yaleb_tensor):
    W, _ = yaleb_tensor
    golden = np.genfromtxt(
        shared / "golden" / "tlrr_yaleb10_selfrep.csv", delimiter=",", names=True, skip_header=1
    )
    steps = 1000 if FULL else 60
    result = published_tlrr(W, omega1=0.4, alpha=9, lam=15, solver="ialm", max_iter=steps)
    expected = golden[:steps]
    np.testing.assert_allclose(result.history["residual"], expected["residual"], rtol=1e-6)
    for i in range(3):
        np.testing.assert_array_equal(result.history["rank"][:, i], expected[f"rank_view{i}"])
    all_zero = (golden["mean_rank_slices"] == 0) & (golden["kept_fraction_L3"] == 0)
    for i in range(3):
        all_zero &= golden[f"rank_view{i}"] == 0
    assert result.n_fast_forward == all_zero.sum() == 35
    if not FULL:
        return
    assert result.n_iter == len(golden) == 148
    # Values listed beside the trace; its slices are columns, ours rows.
    assert result.tensor[0, 1, 0] == pytest.approx(1.85339398349e-06, rel=1e-6)
    assert result.tensor[1, 9, 5] == pytest.approx(0.000472750235019, rel=1e-6)
    assert np.linalg.norm(result.tensor) == pytest.approx(14.556044858, rel=1e-9)


def test_single_precision_stays_single_and_agrees():
    W = random_similarities(3, 40)
    double = published_tlrr(W, solver="ialm")
    single = published_tlrr(W.astype(np.float32), solver="ialm")
    assert single.tensor.dtype == np.float32
    assert abs(single.n_iter - double.n_iter) <= 1
    np.testing.assert_allclose(single.tensor, double.tensor, atol=2e-3)
