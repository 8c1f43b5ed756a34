"""Formulas, thresholds and rounds of the judge against their definitions."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import random_sparse
from sklearn.metrics import adjusted_mutual_info_score

from mvsc_fast.judge._landmarks import LandmarkFeatures, limits_of, residuals
from mvsc_fast.judge._model_file import ALIGNMENT, _memory, aligned
from mvsc_fast.judge._n_clusters import _counts, _curve, _cut, _judged
from mvsc_fast.judge._ridge import Judge, LeaveOneOutRidge, one_hot, refined_labellings
from mvsc_fast.judge._scan import neighbor_graphs, sizes_of
from mvsc_fast.judge._support import ViewGraphs, permutation_z, view_support
from mvsc_fast.similarity._nearest_rows import nearest_rows
from mvsc_fast.similarity._sparse import unit_neighbor_similarities
from mvsc_fast.views._missing import Gaps
from mvsc_fast.views._passes import Summary
from mvsc_fast.views._rows import canonical_order
from mvsc_fast.views._view_rows import ViewRows


class Predictions:
    """A regression that predicts one labelling after the other, and counts how many were asked."""

    def __init__(self, *labellings):
        self.labellings, self.asked = labellings, 0

    def predicted(self, labellings, n_clusters, add):
        self.asked += 1
        return [np.array(self.labellings[(self.asked - 1) % len(self.labellings)])]


def test_refinement_ends_after_four_rounds_or_when_nothing_changes():
    graph = scipy.sparse.csr_array(np.ones((4, 4)) - np.eye(4))
    start, other = np.array([0, 0, 1, 1]), [0, 1, 0, 1]
    unsteady = Predictions(other, start)
    np.testing.assert_array_equal(refined_labellings([start], 2, unsteady, graph), [start])
    assert unsteady.asked == 4
    steady = Predictions(other, other)
    np.testing.assert_array_equal(refined_labellings([start], 2, steady, graph), [other])
    assert steady.asked == 2


def test_refinement_does_not_empty_a_cluster():
    graph = scipy.sparse.csr_array(np.ones((4, 4)) - np.eye(4))
    start = np.array([0, 0, 1, 1])
    np.testing.assert_array_equal(
        refined_labellings([start], 2, Predictions([0] * 4), graph), [start]
    )


def test_refinement_adds_means_of_neighbours():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((20, 5)).astype(np.float32)
    A = random_sparse((20, 20), 0.3, rng) * 40
    A = scipy.sparse.csr_array(A + A.T)
    A.setdiag(0)
    ridge, labels = LeaveOneOutRidge(F), np.arange(20) % 3
    expected = labels
    for _ in range(4):
        Y = one_hot(expected, 3)
        score = ridge.predict(Y.copy()) + A.toarray() / A.sum(axis=1)[:, None] @ Y
        new = score.argmax(axis=1)
        if (new == expected).all() or len(np.unique(new)) < len(np.unique(expected)):
            break
        expected = new
    (found,) = refined_labellings([labels], 3, ridge, A)
    np.testing.assert_array_equal(found, expected)
    assert (found != labels).any()


def test_labellings_are_refined_as_each_alone():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((40, 5)).astype(np.float32)
    A = random_sparse((40, 40), 0.2, rng)
    A = scipy.sparse.csr_array(A + A.T)
    ridge, labellings = LeaveOneOutRidge(F), rng.integers(0, 4, size=(6, 40))
    labellings[4], labellings[5] = labellings[0], (labellings[0] + 1) % 4
    alone = [refined_labellings([labels], 4, ridge, A)[0] for labels in labellings]
    np.testing.assert_array_equal(refined_labellings(labellings, 4, ridge, A), alone)
    assert len(np.unique(alone, axis=0)) == 5 and (labellings != alone).any(axis=1).sum() >= 5


def test_indicators_are_divided_by_the_roots_of_cluster_sizes():
    expected = [[0.5, 0, 0], [0, 0, 1], [0.5, 0, 0], [0.5, 0, 0], [0.5, 0, 0]]
    np.testing.assert_array_equal(one_hot(np.array([0, 2, 0, 0, 0]), 3), expected)


def test_a_sample_that_alone_decides_a_coefficient_has_finite_predictions():
    F = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    F[:, 3] = 0
    F[7] = [0, 0, 0, 1e5]
    assert np.isfinite(LeaveOneOutRidge(F).predict(np.eye(30, 2, dtype=np.float32))).all()


def test_one_cluster_is_not_predictable():
    X = np.random.default_rng(0).standard_normal((30, 4))
    y = np.arange(30) % 2
    same, two = Judge([ViewRows(X)])([np.zeros(30, dtype=int), y], 2)
    assert same == 0 < two


def test_repeated_landmarks_count_once():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((6, 3)), 5, axis=0)
    features = LandmarkFeatures([ViewRows(X)], np.arange(30))
    assert features.n_columns == 3 and features.n_features <= 3 + 6
    assert np.isfinite(features.of_fitted()).all()


@pytest.mark.parametrize("n", [5, 8, 30, 61])
@pytest.mark.parametrize("weight", [1, 0.1, 1 / 3, 1e-4])
def test_graphs_without_variance_are_not_associated(n, weight):
    A = weight * (1 - np.eye(n))
    assert permutation_z(A, A) == 0


def test_support_is_the_agreement_with_the_votes_of_neighbours():
    rng = np.random.default_rng(0)
    A = rng.uniform(size=(40, 40))
    A = (A + A.T) * 0.1
    y = np.arange(40) % 4
    A += y[:, None] == y
    noise = rng.uniform(size=(40, 40))
    labels = np.where(rng.uniform(size=40) < 0.8, y, 0)
    size = np.bincount(labels)
    expected = []
    for graph in (A, noise):
        alone = graph - np.diag(np.diag(graph))
        votes = [
            np.argmax([alone[j, labels == k].sum() / size[k] ** 0.5 for k in range(4)])
            for j in range(40)
        ]
        expected.append(max(0, adjusted_mutual_info_score(labels, votes)))
    np.testing.assert_allclose(view_support([A, noise], labels), expected)
    assert view_support([A + 100 * np.eye(40)], labels)[0] == pytest.approx(expected[0])
    unlike = (labels[:, None] != labels).astype(float)
    assert view_support([unlike], labels)[0] >= 0


def graphs_with_z(across, within, n=200, d=4):
    rng = np.random.default_rng(0)
    graphs = ViewGraphs([rng.standard_normal((n, d)) for _ in across])
    graphs.across = lambda views: np.array([across[i] for i in views])
    graphs.own = lambda i: within[i]
    return graphs


def test_views_with_z_below_five_are_noise():
    with pytest.warns(
        UserWarning, match=r"^excluded as noise, both z below 5: view 1 \(z 4\.9 with"
    ):
        assert graphs_with_z([9, 4.9, 5], [9, 4.9, 4]).helpful([0, 1, 2]) == [0, 2]
    with pytest.warns(UserWarning, match=r"^no other view agrees with view 'b' \(z 4\.9\): kept"):
        assert graphs_with_z([9, 4.9, 9], [9, 5, 9]).helpful([0, 1, 2], "abc") == [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert graphs_with_z([9, 1, 9], [9, 1, 9], n=199).helpful([0, 1, 2]) == [0, 1, 2]
        assert graphs_with_z([9, 5, 9], [0, 0, 0]).helpful([0, 1, 2]) == [0, 1, 2]
    with pytest.warns(UserWarning, match="kept"):
        assert graphs_with_z([9, 1, 9], [9, 1, 9], d=3).helpful([0, 1, 2]) == [0, 1, 2]
    with pytest.warns(UserWarning, match="^excluded as noise.*view 1 .*view 2") as caught:
        assert graphs_with_z([1, 1, 1], [9, 1, 1]).helpful([0, 1, 2]) == [0]
    assert len(caught) == 1  # the only view that is left cannot agree with others


def test_residuals_are_distances_from_the_centre_of_a_cluster():
    labels = np.array([0, 1, 1, 2, 2, 2, 2])
    np.testing.assert_allclose(residuals(one_hot(labels, 3), np.bincount(labels)), 0, atol=1e-6)
    scores = np.array([[0.5, 0.25], [0.2, 0.6]], dtype=np.float32)
    np.testing.assert_allclose(residuals(scores, [4, 1]), [0.25, np.hypot(0.4, 0.4)], rtol=1e-6)


def test_views_are_compared_on_the_samples_that_have_both():
    rng = np.random.default_rng(0)
    X, Y = (rng.standard_normal((260, 5)) for _ in range(2))
    X[:30], Y[230:] = np.nan, np.nan
    graphs = ViewGraphs([X, Y])
    assert [len(A) for A in graphs.graphs] == [230, 230]
    A = graphs.graphs[0][:200, :200]  # in canonical order of all samples
    both = graphs.present.all(axis=0)
    A, B = (
        G[np.ix_(*2 * [both[has]])] for G, has in zip(graphs.graphs, graphs.present, strict=True)
    )
    assert A.shape == (200, 200)
    np.testing.assert_allclose(graphs.across([0, 1]), permutation_z(A, B))
    Y[229] = np.nan
    assert (ViewGraphs([X, Y]).across([0, 1]) == np.inf).all()
    X[:61] = np.nan
    assert ViewGraphs([X, Y]).own(0) == np.inf
    labels = np.arange(260) % 3
    for count in (1, 0):  # of the samples of the graphs, which are 1000 of all
        Y[count:] = np.nan
        assert ViewGraphs([X, Y]).support(labels)[1] == 0


def test_graphs_have_samples_in_canonical_order():
    views = [np.random.default_rng(0).standard_normal((20, 3))]
    np.testing.assert_array_equal(ViewGraphs(views).samples, canonical_order(views))
    np.testing.assert_array_equal(ViewGraphs(views, in_order=True).samples, np.arange(20))


def test_new_samples_are_compared_with_the_signs_of_the_fit():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((20, 3)), rng.uniform(size=(20, 3)), rng.uniform(size=(20, 3))]
    features = LandmarkFeatures([ViewRows(X) for X in views], np.arange(20))
    B = np.ones((features.n_features, 2), dtype=np.float32)
    predictor, titles = features.predictor(B, [0, 2, 3]), ["a", "b", "c", "d"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predictor.warn_of_rows(Summary(np.array([-1.0, -1, 0, 0]), 4 * [Gaps(9, 3)]), titles)
    with pytest.warns(UserWarning, match="^negative values in d, but none in fit"):
        predictor.warn_of_rows(Summary(np.array([-1.0, -1, 0, -1e-9]), 4 * [Gaps(9, 3)]), titles)


def test_a_criterion_of_a_count_is_silhouette_and_modularity():
    rng = np.random.default_rng(0)
    A = rng.uniform(size=(30, 30)) * (rng.uniform(size=(30, 30)) < 0.4)
    A = np.triu(A, 1) + np.triu(A, 1).T
    vectors = rng.standard_normal((30, 5))
    vectors[4] = 0
    silhouette, modularity, labels = _curve(scipy.sparse.csr_array(A), vectors, [2, 4])
    for c, s, q, found in zip([2, 4], silhouette, modularity, labels, strict=True):
        lengths = np.linalg.norm(vectors[:, :c], axis=1, keepdims=True)
        rows = vectors[:, :c] / np.where(lengths > 0, lengths, 1)
        np.testing.assert_array_equal(found, _cut(rows))
        means = np.array([rows[found == k].mean(axis=0) for k in range(c)])
        apart = np.sort(np.linalg.norm(rows[:, None] - means, axis=2), axis=1)
        assert s == pytest.approx(np.mean(1 - apart[:, 0] / apart[:, 1]), abs=0.02)
        same = found[:, None] == found
        degree = A.sum(axis=1)
        expected = ((A - np.outer(degree, degree) / A.sum()) * same).sum() / A.sum()
        assert q == pytest.approx(expected)


def test_weights_are_powers_of_predictability():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = np.eye(3)[y] + 0.4 * rng.standard_normal((60, 3))
    some = np.where(rng.uniform(size=60) < 0.97, y, 0)
    J = Judge([ViewRows(X)])([y, some], 3)
    found = _judged([ViewRows(X)], np.array([3]), [[y], [some]])[0][:, 0]
    assert found.min() < 1
    np.testing.assert_allclose(found, (J / J.max()) ** 32)


def test_counts_are_all_up_to_22_and_end_at_the_largest():
    assert _counts(2).tolist() == [2] and _counts(5).tolist() == [2, 3, 4, 5]
    steps = [25, 27, 29, 31, 33, 35, 37, 39, 42, 45, 48, 51, 54, 58, 60]
    assert _counts(60).tolist() == [*range(2, 24), *steps]


@pytest.mark.parametrize(
    ("n", "sizes", "kept"),
    [(9, [2, 3, 4], [2, 3]), (10, [8, 15], [3]), (2, [8], [1]), (24, [8, 15], [8])],
)
def test_neighbourhoods_are_a_third_of_the_samples_at_most(n, sizes, kept):
    assert sizes_of(n, sizes) == kept


def test_the_graph_of_neighbours_is_the_sum_over_the_views_that_a_sample_has():
    rng = np.random.default_rng(0)
    present = rng.uniform(size=(3, 40)) < 0.8
    present[2] = np.arange(40) == 7  # a single sample has no neighbour
    rows = [ViewRows(rng.standard_normal((has.sum(), 6))) for has in present]
    ((kind, size, A, values, vectors),) = neighbor_graphs(rows, present, [5], 4, 1)
    expected = np.zeros((40, 40))
    for view, has in zip(rows[:2], present, strict=False):
        similarities = unit_neighbor_similarities(view.centred, nearest_rows(view.centred, 5))
        expected[np.ix_(has, has)] += similarities.toarray()
    assert (kind, size) == ("neighbors", 5) and (values.shape, vectors.shape) == ((4,), (40, 4))
    np.testing.assert_allclose(A.toarray(), expected, rtol=1e-6)


def test_models_are_at_addresses_that_suit_their_arrays():
    for size in (1, 63, 64, 65, 1000):
        memory = _memory(size)
        assert len(memory) == size and memory.ctypes.data % ALIGNMENT == 0
    image = _memory(130)[:129]
    image[:] = np.arange(129)
    assert aligned(image) is image
    shifted = _memory(130)[1:]
    shifted[:] = image
    found = aligned(shifted)
    assert found.ctypes.data % ALIGNMENT == 0
    np.testing.assert_array_equal(found, image)


def test_every_cluster_has_a_limit_that_a_twentieth_of_new_samples_exceed():
    rng = np.random.default_rng(0)
    sizes, scales = np.array([2000, 300, 40, 1, 0]), np.array([0.1, 0.3, 0.5, 0.9, 1])
    clusters = np.repeat(np.arange(5), sizes)
    limits = limits_of(scales[clusters] * rng.gamma(9, size=2341), clusters, 5)
    exceeding = (scales * rng.gamma(9, size=(4000, 5)) > limits).mean(axis=0)
    np.testing.assert_allclose(exceeding[:3], 0.05, atol=0.025)
    assert np.isfinite(limits).all() and (limits > 0).all()
    equal = limits_of(np.zeros(6), np.repeat([0, 1], 3), 2)  # of copies
    assert np.isfinite(equal).all()
