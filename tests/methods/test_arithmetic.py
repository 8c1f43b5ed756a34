"""Plans, ties and limits of the estimators against their definitions."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.methods import _plan
from mvsc_fast.methods._ensemble import _extended, fused_labels
from mvsc_fast.methods._labeller import _agreed
from mvsc_fast.methods._nested import learned_by
from mvsc_fast.methods._plan import fit_bytes, plan_fit
from mvsc_fast.views._row_source import BLOCK, COPIES, LEAST_ROWS, block_rows


def source(n, *n_features):
    return SimpleNamespace(n_samples=n, n_features=list(n_features))


def test_the_number_of_clustered_samples():
    def fitted(n, c, given="auto"):
        return plan_fit(source(n, 5, 6), c, given, None).n_fitted

    assert fitted(300, 5) == 300 and fitted(300, 5, 40) == 40 and fitted(300, 5, 5) == 5
    assert fitted(10**5, 5) == 4000
    with pytest.raises(ValueError, match="max_samples=4 is less than n_clusters=5"):
        fitted(300, 5, 4)


def test_many_clusters_are_fitted_on_three_hundred_samples_each(monkeypatch):
    monkeypatch.setattr(_plan, "check_memory", lambda *_: None)
    assert plan_fit(source(10**5, 5, 6), 50, "auto", None).n_fitted == 15_000
    assert plan_fit(source(10**5, 5, 6), 500, "auto", None).n_fitted == 20_000
    assert plan_fit(source(10**5, 5, 6), 1000, "auto", None).n_fitted == 40_000


def test_blocks_leave_room_for_what_is_kept_of_all_samples():
    n = 2 * 10**7  # keys of so many take more than the least block
    limit = 8 * n * 4 + 20 * COPIES * 8 * LEAST_ROWS * 50_000
    assert plan_fit(source(n, 30_000, 20_000), 3, 100, limit).block_rows == 20 * LEAST_ROWS
    least = 8 * n * 4 + COPIES * 8 * LEAST_ROWS * 50_000
    assert fit_bytes(n, 100, [30_000, 20_000], 3) < least
    assert plan_fit(source(n, 30_000, 20_000), 3, 100, least).block_rows == LEAST_ROWS
    with pytest.raises(MemoryError, match="is too small: clustering 100 samples needs about"):
        plan_fit(source(n, 30_000, 20_000), 3, 100, least - 1)


def bytes_of_the_judge(m, width, squares):
    """Features, Gram matrices, and the squares of the widths of views."""
    return 4 * (width + 600) * 4 * m + 16 * (width + 600) ** 2 + 8 * squares


@pytest.mark.parametrize(
    ("m", "d", "c", "parts"),
    [
        # maps of wide rows, factors, and the largest of three stages: W and affinities
        (100, [300, 100], 5, [24 * 100 * 300, 4 * 100 * 200, 100**2 * 56 + 48 * 100 * 5]),
        # the sweep over candidates
        (2000, [20, 20, 20], 5, [0, 4 * 2000 * 6 * 20, 4 * 2000 * 6 * 300 + 2000 * 256 * 60]),
        # the views
        (500, [3000], 3, [24 * 500 * 3000, 4 * 500 * 500, 12 * 500 * 3000 + 8 * 500**2]),
    ],
)
def test_the_estimate_is_the_sum_of_the_largest_arrays(m, d, c, parts):
    ranks, v = np.minimum(m, d), len(d)
    squares = (ranks**2).sum() * (3 if m == 2000 else 2)  # a view has one or two slices
    parts = [*parts, bytes_of_the_judge(m, ranks.sum(), squares), 16 * v * min(m, 1000) ** 2]
    assert fit_bytes(10**4, m, d, c) == sum(parts) + 8 * 10**4 * (v + 2) + 2**24


def test_rows_of_a_block():
    size = COPIES * 8 * LEAST_ROWS * 10
    assert block_rows([4, 6], size) == LEAST_ROWS == block_rows([4, 6], 1)
    assert block_rows([4, 6], 3 * size) == 3 * LEAST_ROWS == block_rows([4, 6], 4 * size - 1)
    assert block_rows([4, 6], 10**12) == BLOCK


def test_predictions_keep_to_the_limit():
    views, _ = datasets.make_multiview_subspaces(1000, 3, random_state=0)
    limit = 3 * COPIES * 8 * LEAST_ROWS * sum(X.shape[1] for X in views)
    model = ConsensusTLRR(3, max_samples=60, random_state=0).fit(views)
    expected, predictor, blocks = model.predict(views), model.predictor_, []

    class Recorded:
        warn_of_rows = staticmethod(predictor.warn_of_rows)

        def __call__(self, rows, n_threads, unlike):
            blocks.append(len(rows[0]))
            return predictor(rows, n_threads)

    model.predictor_ = Recorded()
    model.set_params(memory_limit=limit)
    np.testing.assert_array_equal(model.predict(views), expected)
    assert max(blocks) == 3 * LEAST_ROWS and sum(blocks) == 1000


def test_equal_samples_get_their_most_frequent_label():
    labels, equal = np.array([2, 1, 1, 0, 0, 2]), np.array([0, 0, 0, 1, 2, 2])
    np.testing.assert_array_equal(_agreed(labels, equal, 3), [1, 1, 1, 0, 0, 0])
    assert _agreed(labels, np.arange(6), 3) is labels


def test_rare_tuples_get_the_label_of_the_most_similar_and_most_frequent_one():
    tuples = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 2], [2, 2, 2], [0, 0, 1]])
    size, kept = np.array([5, 9, 1, 20, 1]), np.array([0, 1, 3])
    found = _extended(np.array([7, 8, 9]), tuples, size, kept)
    np.testing.assert_array_equal(found, [7, 8, 8, 9, 8])  # the last: two of three, twice


def test_as_many_tuples_as_clusters_are_the_clusters():
    labellings = [np.array([1, 1, 0, 0, 2]), np.array([0, 0, 0, 0, 1])]
    found = fused_labels(labellings, 3, seed=0, n_threads=1)
    np.testing.assert_array_equal(found.labels, [1, 1, 0, 0, 2])
    assert (found.n_tuples, found.gap) == (3, 0)
    np.testing.assert_array_equal(
        fused_labels(labellings, 4, seed=0, n_threads=1).labels, labellings[0]
    )


def test_the_most_frequent_tuples_are_fused():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    labellings = [
        np.where(rng.uniform(size=90) < 0.8, y, rng.integers(3, size=90)) for _ in range(5)
    ]
    whole, some = (fused_labels(labellings, 3, seed=0, n_threads=1, max_tuples=m) for m in (400, 8))
    assert whole.n_tuples == some.n_tuples > 20
    assert (some.labels[:30] == np.bincount(some.labels[:30]).argmax()).mean() > 0.8
    assert len(np.unique(some.labels)) == len(np.unique(whole.labels)) == 3


class Nested(BaseEstimator):
    def __init__(self, n_threads=None, random_state=None, shape=(2, 6, 6)):
        self.n_threads, self.random_state, self.shape = n_threads, random_state, shape

    def fit(self, views):
        self.tensor_ = np.full(self.shape, 100.0 * self.n_threads + self.random_state)
        return self


def test_nested_estimators_inherit_what_they_lack():
    views, given = [np.eye(6)], Nested()
    assert (learned_by(given, "tensor_", views, 7, 3) == 307).all()
    assert not hasattr(given, "tensor_") and given.n_threads is None
    assert (learned_by(Nested(1, 2), "tensor_", views, 7, 3) == 102).all()
    slices = Nested(1, 2).fit(views)
    slices.tensor_ = [scipy.sparse.csr_array(A) for A in slices.tensor_]
    assert (learned_by(slices, "tensor_", views, 7, 3) == np.full((2, 6, 6), 102.0)).all()
    fitted = Nested(1, 2).fit(views)
    assert learned_by(fitted, "tensor_", views, 7, 3) is fitted.tensor_
    with pytest.raises(ValueError, match="Nested was fitted on 5 samples, but the views have 6"):
        learned_by(Nested(shape=(2, 5, 5)), "tensor_", views, 7, 3)
    with pytest.raises(ValueError, match="^Nested has no attribute affinity_matrix_ after fit"):
        learned_by(Nested(), "affinity_matrix_", views, 7, 3)
