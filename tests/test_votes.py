"""Votes of fitted samples, whose rows are independent of each other and of threads."""

import numpy as np
import pytest
import scipy.sparse
from reference import sparse_graphs as twin

from mvsc_fast import TLRR, _factored, datasets
from mvsc_fast._sparse._factors import Factors, ridge_maps, view_maps
from mvsc_fast._sparse._graphs import sparse_tensor
from mvsc_fast._sparse._votes import N_VOTES, precomputed_votes, vote_scores
from mvsc_fast.threads import blas_threads


def rows_of(factors, rows):
    return [
        Factors(np.ascontiguousarray(u[rows]), np.ascontiguousarray(h[rows])) for u, h in factors
    ]


@pytest.fixture(scope="module")
def problem():
    """Factors of 150 new and 700 fitted samples, local scales, and labels of the fitted."""
    views, y = datasets.make_multiview_subspaces(
        850, 5, n_features=(33, 900), noise=0.3, random_state=0
    )
    views = [twin.unit(X) for X in views]
    maps = view_maps([X[:700] for X in views])
    fitted = [ridge_map.factors for ridge_map in maps]
    new = [ridge_map(views[ridge_map.view][700:]) for ridge_map in maps]
    assert [ridge_map.view for ridge_map in maps] == [0, 1, 0]
    return new, fitted, sparse_tensor(fitted).scales, y[:700]


def entries(new, fitted):
    return np.stack(
        [
            np.maximum(0, (a.u @ b.u.T) * (a.h[:, None] + b.h)).astype(np.float64)
            for a, b in zip(new, fitted, strict=True)
        ]
    )


@pytest.mark.parametrize("n_votes, scale_neighbors, cap", [(20, 10, 1.5), (1, 1, 0.7), (90, 70, 3)])
def test_votes_equal_the_twin(problem, n_votes, scale_neighbors, cap):
    new, fitted, scales, labels = problem
    found = vote_scores(
        new, fitted, scales, labels, 5, n_votes=n_votes, scale_neighbors=scale_neighbors, cap=cap
    )
    expected = twin.vote_scores(
        entries(new, fitted), scales, labels, 5, n_votes, rank=scale_neighbors, cap=cap
    )
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-4)


@pytest.mark.parametrize("n_listed, n_candidates", [(1, 30), (2, 21), (2, 300), (2, 699)])
def test_votes_of_candidates_equal_the_twin(problem, n_listed, n_candidates):
    new, fitted, scales, labels = problem
    sizes = {"n_listed": n_listed, "n_candidates": n_candidates}
    found = vote_scores(new, fitted, scales, labels, 5, n_votes=20, **sizes)
    expected = twin.vote_scores(entries(new, fitted), scales, labels, 5, 20, **sizes)
    np.testing.assert_allclose(found, expected, atol=2e-4)
    full = vote_scores(new, fitted, scales, labels, 5, n_votes=20)
    assert (found != full).any() and (found.argmax(axis=1) == full.argmax(axis=1)).mean() > 0.98


@pytest.mark.parametrize("n", [1, 2, 15, 50])
def test_fewer_fitted_samples_than_votes(problem, n):
    new, fitted, scales, labels = problem
    fitted, scales = rows_of(fitted, slice(n)), scales[:, :n]
    found = vote_scores(new, fitted, scales, labels[:n], 5)
    n_votes = min(N_VOTES, n - 1)
    expected = twin.vote_scores(entries(new, fitted), scales, labels[:n], 5, n_votes)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_many_tubes_of_the_same_length():
    """Entries at the cap tie: none of them is longer than the next longest."""
    fitted = [Factors(np.ones((400, 3), np.float32), np.ones(400, np.float32))]
    new = [Factors(np.ones((2, 3), np.float32), np.ones(2, np.float32))]
    labels = np.zeros(400, dtype=int)
    scales = np.full((1, 400), 0.01, np.float32)
    np.testing.assert_array_equal(vote_scores(new, fitted, scales, labels, 2), 0)
    fitted[0].u[7:10] = -1
    fitted[0].u[300:315] = 2
    labels[300:315] = 1
    found = vote_scores(new, fitted, np.ones((1, 400)), labels, 2, cap=1e9)
    np.testing.assert_allclose(found, [[0, 15 * 6 / np.sqrt(12)]] * 2, rtol=1e-6)


@pytest.mark.parametrize("n_listed", [None, 2])
def test_rows_and_threads_change_no_bit(problem, n_listed):
    new, fitted, scales, labels = problem

    def scores(rows=slice(None), n_threads=1):
        return vote_scores(
            rows_of(new, rows), fitted, scales, labels, 5, n_listed=n_listed, n_threads=n_threads
        )

    whole = scores()
    np.testing.assert_array_equal(scores(n_threads=3), whole)
    for first, last in [(0, 1), (0, 64), (0, 128), (128, 150)]:
        np.testing.assert_array_equal(scores(slice(first, last)), whole[first:last])
    others = np.random.default_rng(0).permutation(150)
    others[70] = 70
    np.testing.assert_array_equal(scores(others)[70], whole[70])


@pytest.mark.parametrize("new", [False, True])
def test_rows_and_threads_change_no_bit_of_factors(new):
    rng = np.random.default_rng(0)
    X = twin.unit(rng.standard_normal((150, 40)))
    lower = np.tril(np.linalg.inv(np.linalg.cholesky(X.T @ X + 0.3 * np.eye(40))))

    def factors(X, n_threads=1):
        u, h = np.empty((len(X), 40), np.float32), np.empty(len(X), np.float32)
        with blas_threads(1):
            _factored.factor_rows(lower, np.arange(40), X, u, h, new, n_threads)
        return np.column_stack([u, h])

    whole = factors(X)
    w = X @ lower.T
    squares = (w * w).sum(axis=1, keepdims=True)
    h = 1 + squares if new else 1 / (1 - squares)
    np.testing.assert_allclose(whole, np.hstack([w / h if new else w, h]), rtol=2e-6, atol=1e-7)
    np.testing.assert_array_equal(factors(X, 3), whole)
    for first, last in [(0, 1), (0, 64), (128, 150)]:
        np.testing.assert_array_equal(factors(X[first:last]), whole[first:last])


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_array])
def test_votes_of_similarities_equal_the_twin(layout):
    rng = np.random.default_rng(0)
    W = np.maximum(0, rng.standard_normal((3, 40, 200)))
    labels = rng.integers(0, 4, 200)
    found = precomputed_votes([layout(A) for A in W], labels, 4, n_threads=2)
    lengths = np.sqrt((W**2).sum(axis=0))
    for row, length in zip(found, lengths, strict=True):
        order = np.argsort(-length)[: N_VOTES + 1]
        votes = length[order] - length[order[N_VOTES]]
        expected = [votes[labels[order] == k].sum() for k in range(4)]
        np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-5)


def test_votes_label_new_samples():
    views, y = datasets.make_multiview_subspaces(400, 4, n_features=(30, 200), random_state=1)
    views = [twin.unit(X) for X in views]
    maps = view_maps([X[:300] for X in views])
    fitted = [ridge_map.factors for ridge_map in maps]
    new = [ridge_map(views[ridge_map.view][300:]) for ridge_map in maps]
    scores = vote_scores(new, fitted, sparse_tensor(fitted).scales, y[:300], 4)
    assert np.mean(scores.argmax(axis=1) == y[300:]) > 0.95


def test_a_sample_that_resembles_none_has_no_votes():
    (ridge_map,) = ridge_maps(np.eye(30)[:, :20], [0.5])
    new = Factors(np.zeros((1, 20), np.float32), np.ones(1, np.float32))
    scores = vote_scores([new], [ridge_map.factors], np.ones((1, 30)), np.zeros(30, int), 2)
    np.testing.assert_array_equal(scores, 0)


@pytest.mark.parametrize("slices", ["listed", "listed and not"])
def test_similarities_that_overflow_are_refused(slices):
    huge, usual = (
        Factors(np.full((90, 2), x, np.float32), np.ones(90, np.float32)) for x in (1e30, 1.0)
    )
    factors = [huge] if slices == "listed" else [usual, huge]
    scales = np.ones((len(factors), 90))
    with pytest.raises(ValueError, match="leave the range of float32"):
        vote_scores(factors, factors, scales, np.zeros(90, int), 2, n_listed=1)


def test_a_sample_that_lacks_a_view_changes_no_other_label():
    views, _ = datasets.make_multiview_subspaces(
        700, 5, n_features=(20, 35), noise=1.2, random_state=0
    )
    model = TLRR(5, size="sparse", random_state=0).fit([X[:300] for X in views])
    views = [X[300:] for X in views]
    complete = model._voters.scores(views, model.labels_, 5, 1)
    views[1] = views[1].copy()
    views[1][[3, 200]] = np.nan
    found = model._voters.scores(views, model.labels_, 5, 1)
    assert set(np.flatnonzero((found != complete).any(axis=1))) == {3, 200}
