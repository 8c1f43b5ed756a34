"""The number of clusters: found where it is clear, in any order, and drawn."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import datasets, label_predictability, suggest_n_clusters
from mvsc_fast.judge import _n_clusters
from mvsc_fast.judge._n_clusters import (
    _candidates,
    _counts,
    _judged,
    _lead,
    agreement,
    pair_shares,
    supported_counts,
)
from mvsc_fast.views._missing import imputed
from mvsc_fast.views._view_rows import ViewRows


def blobs(c, n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % c)
    return [4 * rng.standard_normal((c, d))[y] + rng.standard_normal((n, d)) for d in (8, 20)]


@pytest.fixture(scope="module")
def five():
    return suggest_n_clusters(blobs(5), random_state=0)


@pytest.mark.parametrize("c", [2, 9])
def test_clear_clusters_are_counted(c):
    assert suggest_n_clusters(blobs(c), max_clusters=14, random_state=0).n_clusters == c


def test_a_suggestion_has_its_reasons(five):
    assert five.n_clusters == 5 and five.candidates[0] == 5 and len(five.candidates) == 3
    assert five.confidence == "high" and five.n_samples == 120
    assert five.counts[five.criterion.argmax()] == 5 and 5 in five.levels
    assert five.stability[3] == pytest.approx(1) and five.predictability[3] > 0.99
    assert repr(five).startswith("ClusterCounts(n_clusters=5, candidates=(5, ")


def test_independent_of_the_order_of_the_samples_and_of_threads(five):
    order = np.random.default_rng(1).permutation(120)
    views = [X[order] for X in blobs(5)]
    again = suggest_n_clusters(views, random_state=0, n_threads=2)
    np.testing.assert_array_equal(again.criterion, five.criterion)


def test_the_clusters_of_many_samples_are_those_of_a_sample():
    views = blobs(4, n=400)
    found = suggest_n_clusters(views, max_samples=156, random_state=0)
    assert found.n_samples == 156 and found.n_clusters == 4 and found.counts[-1] == 50


def test_columns_that_need_scaling_are_named():
    pd = pytest.importorskip("pandas")
    X = blobs(3, n=60)[1]
    X[:, 2] *= 1e4
    view = pd.DataFrame(X).add_prefix("column ")
    with pytest.warns(UserWarning, match="'column 2' of view 'one' .* scale columns") as caught:
        suggest_n_clusters({"one": view}, max_clusters=5, random_state=0)
    assert caught[0].filename == __file__


def test_noise_is_set_aside():
    views = blobs(4, n=220)
    noise = np.random.default_rng(0).standard_normal((220, 30))
    with pytest.warns(UserWarning, match="excluded as noise") as caught:
        found = suggest_n_clusters([*views, noise], max_clusters=8, random_state=0)
    assert caught[0].filename == __file__
    assert found.n_clusters == 4
    with pytest.warns(UserWarning, match="view 2: all samples are equal, ignored"):
        same = suggest_n_clusters([*views, np.ones((220, 3))], max_clusters=8, random_state=0)
    np.testing.assert_array_equal(
        same.criterion, suggest_n_clusters(views, max_clusters=8, random_state=0).criterion
    )


def test_samples_may_lack_views():
    views = blobs(4, n=160)
    views[0][:20], views[1][40:70] = np.nan, np.nan
    named = dict(zip("ab", views, strict=True))
    assert suggest_n_clusters(named, max_clusters=10, random_state=0).n_clusters == 4


def test_views_are_not_changed_and_may_repeat_samples():
    views = blobs(3, n=30)
    views = [np.concatenate([X, X[:3]]) for X in views]
    before = [X.copy() for X in views]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        suggest_n_clusters(views, random_state=0)
    for X, same in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, same)


def test_alike_samples_have_no_clusters():
    with pytest.warns(UserWarning, match="all samples are equal"):
        found = suggest_n_clusters([np.ones((12, 3))], random_state=0)
    assert found.confidence == "low" and np.isfinite(found.criterion).all()


@pytest.mark.parametrize("missing", [0, 9])
def test_graphs_whose_labels_are_not_predictable_weigh_little(missing):
    views = blobs(4, n=80)
    classes = np.random.default_rng(0).permutation(np.arange(80) % 4)  # those of `blobs`
    views[0][:missing] = np.nan
    drawn = np.random.default_rng(1).integers(4, size=80)
    rows = [ViewRows(X) for X in imputed(views)]
    labels = [[classes // 2, classes], [drawn // 2, drawn]]
    weights, predictability, best = _judged(rows, np.array([2, 4]), labels)
    np.testing.assert_allclose(
        predictability, label_predictability(imputed(views), labels[0]), rtol=1e-6
    )
    np.testing.assert_array_equal(best, labels[0])
    np.testing.assert_array_equal(weights[0], 1)
    assert (weights[1] < 0.01).all()


def test_samples_may_lack_the_only_view_that_helps():
    X = blobs(4, n=80)[1]
    X[:5] = np.nan
    with pytest.warns(UserWarning, match="view 1: all samples are equal, ignored"):
        found = suggest_n_clusters([X, np.ones((80, 3))], max_clusters=6, random_state=0)
    assert np.isfinite(found.criterion).all()


def test_candidates_are_apart():
    counts = np.arange(2, 41)
    assert _candidates(counts, -np.abs(counts - 30.0)) == (30, 26, 34)


def test_agreement_is_the_adjusted_rand_index_of_two_labellings():
    rng = np.random.default_rng(0)
    a = rng.integers(4, size=60)
    b = np.concatenate([rng.permutation(a[:30]), a[30:]])  # of the same sizes
    shares = np.array([pair_shares(np.array(both)) for both in ((a, a), (a, b))])
    expected = [1, adjusted_rand_score(a, b)]
    np.testing.assert_allclose(agreement(shares), expected, atol=1e-3)


def test_levels_are_local_maxima_that_are_stable_and_predictable():
    counts = np.arange(2, 14)
    stability = np.array([0.9, 0.99, 0.99, 0.9, 0.8, 0.84, 0.7, 0.9, 0.95, 0.86, 0.8, 0.99])
    high, criterion = np.ones(len(counts)), -np.abs(counts - 4.0)

    def levels(*evidence):
        return counts[supported_counts(counts, *evidence)].tolist()

    assert levels(stability, high, criterion) == [4, 10]  # no number is above 13
    assert levels(stability, high, -criterion) == [3, 10]
    assert levels(stability, np.where(counts == 10, 0.89, 1), criterion) == [4]
    assert levels(stability - 0.11, high, criterion) == [4]


def test_both_levels_of_nested_clusters_are_supported():
    rng = np.random.default_rng(0)
    means = np.hstack([np.repeat(6 * np.eye(3), 3, axis=0), 3.5 * np.eye(9)])  # of 9 in 3 groups
    y = np.arange(180) % 9
    views = [means[y] + rng.normal(0, 1, (180, 12)) for _ in range(2)]
    coarse, *_, fine = suggest_n_clusters(views, max_clusters=14, random_state=0).levels
    assert coarse in (3, 4) and fine == 9


@pytest.mark.parametrize(
    ("stability", "predictability", "lead", "largest", "confidence"),
    [
        (0.95, 0.9, 0.015, 6, "high"),
        (0.94, 1, 1, 6, "low"),
        (1, 0.89, 1, 6, "low"),
        (1, 1, 0.014, 6, "low"),
        (1, 1, 1, 5, "low"),
    ],
)
def test_confidence_is_that_of_the_suggested_number(
    stability, predictability, lead, largest, confidence, monkeypatch
):
    def constant(value):
        return lambda joined: np.full(len(joined), value)

    def judged(rows, counts, labels):
        best = [found[0] for found in labels]
        return np.ones((6, len(counts))), np.full(len(counts), predictability), best

    monkeypatch.setattr(_n_clusters, "agreement", constant(stability))
    monkeypatch.setattr(_n_clusters, "_judged", judged)
    monkeypatch.setattr(_n_clusters, "_lead", constant(lead))
    found = suggest_n_clusters(blobs(5), max_clusters=largest, random_state=0)
    assert (found.n_clusters, found.confidence) == (5, confidence)


def test_a_number_leads_by_the_distance_to_its_next_ones():
    np.testing.assert_allclose(_lead(np.array([3.0, 1, 4, 2])), [2, -3, 2, -2])
    assert _lead(np.array([1.0])) == [np.inf]


def test_counts_are_dense_where_they_are_few():
    counts = _counts(300)
    np.testing.assert_array_equal(counts[:21], np.arange(2, 23))
    assert (np.diff(counts) <= np.maximum(1, counts[:-1] / 10)).all() and counts[-1] == 300


@pytest.mark.parametrize(
    "given, message",
    [
        ({"max_clusters": 1}, "max_clusters == 1, must be >= 2"),
        (
            {"max_clusters": 41},
            "max_clusters=41 is too large for 120 samples: it must be at most 40",
        ),
        ({"max_samples": 5}, "max_samples == 5, must be >= 6"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_parameters_are_checked(given, message):
    with pytest.raises(ValueError, match=message):
        suggest_n_clusters(blobs(5), **given)


def test_too_few_samples_are_refused():
    with pytest.raises(ValueError, match="5 samples: at least 6 are needed"):
        suggest_n_clusters([np.eye(5)])


def test_digits_of_the_package_are_ten():
    views, _ = datasets.load_handwritten()
    fifths = [[X[first::5] for X in views] for first in (0, 3)]
    tie, clear = (suggest_n_clusters(X, max_clusters=14, random_state=0) for X in fifths)
    assert abs(clear.n_clusters - 10) <= 1
    assert min(abs(c - 10) for c in tie.candidates) <= 1


def test_the_smallest_cluster_of_each_suggestion_is_printed(five):
    assert five.smallest[five.counts == 5].tolist() == [24] and five.sizes.tolist() == [24] * 5
    first, second, *_ = str(five).splitlines()
    assert "5 clusters, the smallest of 24 of 120 samples" in first
    for c in five.candidates[1:]:
        assert f"{c} clusters, the smallest of {five.smallest[five.counts == c][0]}" in second
    assert five.hidden == {}


def test_a_group_within_a_cluster_is_named():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(3), [100, 88, 12]))
    means = np.zeros((3, 12))
    means[0, 0], means[2, 1] = 20, 6
    views = [means[y] + rng.standard_normal((200, 12)) for _ in "ab"]
    found = suggest_n_clusters(views, max_clusters=2, random_state=0)
    (cluster,) = found.hidden
    np.testing.assert_array_equal(found.hidden[cluster], np.flatnonzero(y == 2))
    assert found.sizes.tolist() == [100, 100]
    last = str(found).splitlines()[-1]
    assert f"Cluster {cluster} of 100 samples" in last and "12 of its samples" in last


def test_clusters_of_noise_hold_no_groups():
    noise = np.random.default_rng(0).standard_normal((150, 10))
    assert suggest_n_clusters([noise], max_clusters=2, random_state=0).hidden == {}
