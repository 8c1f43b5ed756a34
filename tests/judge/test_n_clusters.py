"""The number of clusters: found where it is clear, in any order, and drawn."""

import numpy as np
import pytest

from mvsc_fast import datasets, suggest_n_clusters


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
    # Far apart, clusters have silhouettes near 1 and the modularity 1 - 1 / 5.
    assert five.criterion[3] == pytest.approx(1.78, abs=0.04)
    assert repr(five).startswith("ClusterCounts(n_clusters=5, candidates=(5, ")
    assert five.smallest[five.counts == 5].tolist() == [24] and five.sizes.tolist() == [24] * 5
    first, second, *_ = str(five).splitlines()
    assert "5 clusters, the smallest of 24 of 120 samples" in first
    for c in five.candidates[1:]:
        assert f"{c} clusters, the smallest of {five.smallest[five.counts == c][0]}" in second


def test_independent_of_the_order_of_the_samples_and_of_threads(five, threads_at_any_size):
    order = np.random.default_rng(1).permutation(120)
    views = [X[order] for X in blobs(5)]
    again = suggest_n_clusters(views, random_state=0, n_threads=2)
    np.testing.assert_array_equal(again.criterion, five.criterion)


def test_the_clusters_of_many_samples_are_those_of_a_sample_which_may_lack_views():
    views = blobs(4, n=400)
    views[0][:50], views[1][100:170] = np.nan, np.nan
    named = dict(zip("ab", views, strict=True))
    result = suggest_n_clusters(named, max_samples=156, random_state=0)
    assert result.n_samples == 156 and result.n_clusters == 4 and result.counts[-1] == 50


NOISE = np.random.default_rng(0).standard_normal((220, 30)), "excluded as noise", 4, 0.01
CONSTANT = np.ones((220, 3)), "view 2", 2, 0


@pytest.mark.parametrize(("other", "warning", "least", "atol"), [NOISE, CONSTANT])
def test_views_without_clusters_are_set_aside(other, warning, least, atol):
    views = blobs(4, n=220)
    expected = suggest_n_clusters(views, max_clusters=8, random_state=0)
    with pytest.warns(UserWarning, match=warning) as caught:
        result = suggest_n_clusters([*views, other], max_clusters=8, random_state=0)
    assert caught[0].filename == __file__ and result.n_clusters == 4
    # Beside noise, rounding decides which of the four are one if there are fewer clusters.
    same = expected.counts >= least
    criteria = result.criterion[same], expected.criterion[same]
    np.testing.assert_allclose(*criteria, rtol=0, atol=atol)


def test_the_only_view_that_helps_may_lack_samples():
    X = blobs(4, n=80)[1]
    X[:5] = np.nan
    with pytest.warns(UserWarning, match="view 1"):
        result = suggest_n_clusters([X, np.ones((80, 3))], max_clusters=6, random_state=0)
    assert np.isfinite(result.criterion).all()


def test_both_levels_of_nested_clusters_are_supported():
    rng = np.random.default_rng(0)
    means = np.hstack([np.repeat(6 * np.eye(3), 3, axis=0), 3.5 * np.eye(9)])  # of 9 in 3 groups
    y = np.arange(180) % 9
    views = [means[y] + rng.normal(0, 1, (180, 12)) for _ in range(2)]
    coarse, *_, fine = suggest_n_clusters(views, max_clusters=14, random_state=0).levels
    assert coarse in (3, 4) and fine == 9


@pytest.mark.parametrize("distance", [1.5, 2, 3, 6])
def test_confidence_and_levels_follow_from_the_curves(distance):
    """High: stable, predictable and leading; levels: stable, predictable peaks of stability."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 5
    views = [distance * np.eye(5, d)[y] + 0.7 * rng.standard_normal((120, d)) for d in (9, 20)]
    result = suggest_n_clusters(views, max_clusters=20, random_state=0)
    best = result.criterion.argmax()
    assert result.counts[best] == result.n_clusters == result.candidates[0]
    lead = result.criterion[best] - np.delete(result.criterion, best)[max(best - 1, 0) :][:2].max()
    sure = result.stability[best] >= 0.95 and result.predictability[best] >= 0.9 and lead >= 0.015
    assert (result.confidence == "high") == sure
    for level in result.levels:
        i = result.counts.tolist().index(level)
        near = np.abs(result.counts - level) <= max(1, 0.2 * level)
        assert result.stability[i] >= 0.85 and result.predictability[i] >= 0.9
        assert result.stability[i] == pytest.approx(result.stability[near].max(), abs=0.02)
    pairs = [(a, b) for a in result.candidates for b in result.candidates if a < b]
    assert all(b - a >= max(1, 0.1 * a) for a, b in pairs)


@pytest.mark.filterwarnings("ignore:a few columns make up most")
def test_two_numbers_that_are_about_as_good_are_not_sure():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    means = np.zeros((4, 12))
    means[[0, 1, 2, 3], [0, 1, 2, 2]], means[3, 3] = 8, 2.1  # the last two are three apart
    views = [means[y] + 0.7 * rng.standard_normal((120, 12)) for _ in "ab"]
    result = suggest_n_clusters(views, max_clusters=6, random_state=0)
    assert result.stability[1] == 1 and result.predictability[1] == pytest.approx(1)
    assert 0 < result.criterion[1] - result.criterion[2] < 0.015
    assert result.n_clusters == 3 and result.confidence == "low"


def test_the_largest_number_is_neither_sure_nor_supported():
    """No larger one is known to be worse."""
    views = blobs(3)
    few, more = (suggest_n_clusters(views, max_clusters=c, random_state=0) for c in (3, 6))
    assert (few.n_clusters, few.confidence, few.levels) == (3, "low", ())
    assert (more.n_clusters, more.confidence, more.levels) == (3, "high", (3,))


def test_counts_are_dense_where_they_are_few_and_candidates_differ_by_more_than_a_tenth():
    result = suggest_n_clusters(blobs(22, n=330), max_clusters=40, random_state=0)
    np.testing.assert_array_equal(result.counts[:21], np.arange(2, 23))
    steps = np.diff(result.counts)
    assert (steps <= np.maximum(1, result.counts[:-1] / 10)).all() and result.counts[-1] == 40
    best, *others = result.candidates
    assert best == 22 and len(others) == 2
    assert min(abs(c - best) for c in others) > 2.2


def test_too_few_samples_are_refused():
    with pytest.raises(ValueError, match="5 sample.* 6 "):
        suggest_n_clusters([np.eye(5)])


def test_digits_of_the_package_are_ten():
    views, _ = datasets.load_handwritten()
    result = suggest_n_clusters([X[3::8] for X in views], max_clusters=13, random_state=0)
    assert min(abs(c - 10) for c in result.candidates) <= 1


def test_nothing_of_a_picture_is_cut_off(five):
    pytest.importorskip("matplotlib")
    figure = five.plot().figure
    figure.draw_without_rendering()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0) >= 0 and box.x1 <= width and box.y1 <= height


def test_stability_is_the_kappa_of_fleiss(monkeypatch):
    """Labels of the graphs are random in part, and their clusters of different sizes."""
    rng, labellings, y = np.random.default_rng(0), [], np.arange(60) % 3

    def partly_random(embedding):
        labels = rng.integers(embedding.shape[1], size=60)
        labellings.append(np.where(rng.uniform(size=60) < 0.8, y % embedding.shape[1], labels))
        return labellings[-1]

    monkeypatch.setattr("mvsc_fast.judge._n_clusters._kmeans", partly_random)
    result = suggest_n_clusters(blobs(3, n=60), max_clusters=4, random_state=0)
    i, j = np.triu_indices(60, 1)
    for t, stability in enumerate(result.stability):
        rows = np.array(labellings[t::3])
        m, votes = len(rows), (rows[:, i] == rows[:, j]).sum(axis=0)
        agreeing = (votes * (votes - 1) + (m - votes) * (m - votes - 1)).mean() / (m * (m - 1))
        share = votes.mean() / m
        chance = share**2 + (1 - share) ** 2
        assert stability == pytest.approx((agreeing - chance) / (1 - chance))
    assert result.sizes[0] > result.sizes[-1] and (np.diff(result.sizes) <= 0).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_more_clusters_are_suggested_than_there_are_distinct_samples():
    X = np.random.default_rng(0).standard_normal((3, 5))[np.arange(80) % 3]
    result = suggest_n_clusters([X])
    assert result.n_clusters == 3 and result.counts.tolist() == [2, 3]
    with pytest.raises(ValueError, match="all samples are equal"):
        suggest_n_clusters([np.ones((80, 5)), np.ones((80, 2))])
