"""The number of clusters: found where it is clear, in any order, and drawn."""

import warnings

import numpy as np
import pytest

from mvsc_fast import datasets, suggest_n_clusters
from mvsc_fast.explanation import plot_n_clusters
from mvsc_fast.judge._n_clusters import ClusterCounts, _chosen, _counts, _weights
from mvsc_fast.views._missing import imputed
from mvsc_fast.views._rows import ViewRows


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
    np.testing.assert_allclose(five.criterion, five.silhouette + five.modularity)
    assert five.counts[five.criterion.argmax()] == 5
    assert repr(five).startswith("ClusterCounts(n_clusters=5, candidates=(5, ")


def test_independent_of_the_order_of_the_samples_and_of_threads(five):
    order = np.random.default_rng(1).permutation(120)
    views = [X[order] for X in blobs(5)]
    again = suggest_n_clusters(views, random_state=0, n_threads=2)
    np.testing.assert_array_equal(again.criterion, five.criterion)


def test_the_clusters_of_many_samples_are_those_of_a_sample():
    views = blobs(4, n=400)
    found = suggest_n_clusters(views, max_samples=100, max_clusters=10, random_state=0)
    assert found.n_samples == 100 and found.n_clusters == 4


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
    weights = _weights(rows, [2, 4], [[classes // 2, classes], [drawn // 2, drawn]])
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
    criterion = -np.abs(counts - 30.0)
    found = _chosen(counts, criterion, 0 * criterion, None, 200)
    assert found.candidates == (30, 26, 34)


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


def test_the_candidates_are_marked_in_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    counts = np.array([2, 3, 4, 5, 6, 8])
    criterion = np.array([0.5, 0.9, 0.6, 0.8, 0.4, 0.3])
    found = ClusterCounts(
        3, (3, 5, 8), "low", counts, criterion, criterion, 0 * criterion, 50, np.ones((6, 1))
    )
    ax = plot_n_clusters(found, title="counts")
    assert "candidates 3, 5, 8" in ax.get_legend_handles_labels()[1]
    np.testing.assert_array_equal(ax.lines[-1].get_xdata(), [3, 5, 8])
    assert ax.get_xlabel() == "number of clusters"
    ax.figure.savefig(tmp_path / "counts.png")


def test_digits_of_the_package_are_ten():
    views, _ = datasets.load_handwritten()
    fifths = [[X[first::5] for X in views] for first in (0, 3)]
    tie, clear = (suggest_n_clusters(X, max_clusters=14, random_state=0) for X in fifths)
    assert abs(clear.n_clusters - 10) <= 1
    assert min(abs(c - 10) for c in tie.candidates) <= 1
