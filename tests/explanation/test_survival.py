"""Survival of clusters: the curves, the log-rank test, and what it says of itself."""

import numpy as np
import pytest
from scipy import stats

from mvsc_fast import ConsensusTLRR, datasets, explain
from mvsc_fast.explanation import compare_survival, plot_survival, write_report


def patients(n=90, c=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(c, size=n)
    time = np.ceil(rng.exponential(10 * (1 + labels)))  # with ties
    censored = np.ceil(rng.exponential(25, n))
    return labels, np.column_stack([np.minimum(time, censored), time <= censored])


def test_two_clusters_are_compared_as_by_scipy():
    labels, survival = patients(c=2)
    found = compare_survival(labels, survival)
    some = [
        stats.CensoredData.right_censored(*(survival[labels == k] * [1, -1] + [0, 1]).T)
        for k in (0, 1)
    ]
    expected = stats.logrank(*some)
    assert found.degrees == 1
    assert found.statistic == pytest.approx(expected.statistic**2)
    assert found.p_value == pytest.approx(expected.pvalue)
    for curve, data in zip(found.curves, some, strict=True):
        known = ~np.isnan(curve)
        values = stats.ecdf(data).sf.evaluate(found.times)
        np.testing.assert_allclose(curve[known], values[known])
        last = max(np.append(data._right, data._uncensored))
        np.testing.assert_array_equal(known, found.times <= last)


@pytest.mark.filterwarnings("ignore")  # of lifelines
def test_several_clusters_are_compared_as_by_lifelines():
    statistics = pytest.importorskip("lifelines.statistics")
    for seed, c in ((0, 3), (1, 5)):
        labels, survival = patients(c=c, seed=seed)
        found = compare_survival(labels, survival)
        test = statistics.multivariate_logrank_test(survival[:, 0], labels, survival[:, 1])
        assert found.degrees == c - 1
        assert found.statistic == pytest.approx(test.test_statistic)
        assert found.p_value == pytest.approx(test.p_value)


def test_the_test_holds_its_level():
    rng = np.random.default_rng(0)
    p = [
        compare_survival(rng.permutation(labels), survival).p_value
        for labels, survival in (patients(60, seed=seed) for seed in range(200))
    ]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_unknown_samples_are_left_out():
    labels, survival = patients()
    expected = compare_survival(labels[6:], survival[6:])
    labels[:2] = -1
    survival[2:4, 0], survival[4:6, 1] = np.nan, np.nan
    found = compare_survival(labels, survival)
    assert found.p_value == expected.p_value and "(84 samples, " in str(found)


def test_medians_and_a_cluster_without_events():
    labels = [0, 0, 0, 0, 1, 1]
    found = compare_survival(labels, [[0, 1], [1, 1], [2, 0], [3, 1], [4, 0], [5, 0]])
    np.testing.assert_array_equal(found.table["median time"], [1, np.nan])
    np.testing.assert_array_equal(found.table["samples"], [4, 2])
    np.testing.assert_array_equal(found.table["events"], [3, 0])
    np.testing.assert_array_equal(found.curves[1], np.ones(6))
    alone = compare_survival([0, 0], [[1, 1], [2, 1]])
    assert alone.degrees == 0 and np.isnan(alone.p_value)


def test_the_index_of_a_frame_is_that_of_the_samples():
    pd = pytest.importorskip("pandas")
    _, survival = patients()
    frame = pd.DataFrame(survival, columns=["time", "event"])
    views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    names = [f"p{i}" for i in range(90)]
    views = [pd.DataFrame(X, index=names) for X in views]
    model = ConsensusTLRR(3, random_state=0).fit(views)
    found = explain(model, views, survival=frame.set_axis(names))
    assert found.survival.p_value == compare_survival(model.labels_, survival).p_value
    with pytest.raises(ValueError, match="the index 'p89' in row 0, but the sample is 'p0': align"):
        explain(model, views, survival=frame.set_axis(names[::-1]))


@pytest.mark.parametrize(
    "survival, message",
    [
        ([[1.0, 1.0]], r"shape \(1, 2\), expected \(2, 2\)"),
        ([[1, 1], [-2, 1]], r"survival has \[-2.0, 1.0\] in row 1, expected a finite time from 0"),
        ([[1, 1], [np.inf, 1]], r"\[inf, 1.0\] in row 1"),
        ([[1, 10], [0, 5]], r"\[1.0, 10.0\] in row 0, .* an event that is 0 or 1"),
        ([[1, 0], [2, 0]], "no sample with a label has an event"),
        ([[1, 0], [2, np.nan]], "no sample with a label has an event"),
    ],
)
def test_times_and_events_are_checked(survival, message):
    with pytest.raises(ValueError, match=message):
        compare_survival([0, 1], survival)


def test_survival_is_in_the_text_and_in_the_report(tmp_path):
    pytest.importorskip("matplotlib")
    views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    model = ConsensusTLRR(3, random_state=0).fit(views)
    survival = np.column_stack([1 + np.arange(90) % 7 + 5 * y, np.arange(90) % 2])
    found = explain(model, views, survival=survival)
    text = " ".join(str(found).split())
    assert "Log-rank test over 3 clusters: chi-squared" in text
    assert "does not validate the clusters if survival took part" in text
    page = write_report(tmp_path / "r.html", model, views, explanation=found).read_text()
    assert "Kaplan-Meier curves" in page and "Log-rank test over 3 clusters" in page
    ax = plot_survival(found.survival, title="a title")
    assert len(ax.lines) == 3 and ax.get_title() == "a title"
    assert all(line.get_drawstyle() == "steps-post" for line in ax.lines)
    for line, curve in zip(ax.lines, found.survival.curves, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [0, *found.survival.times])
        np.testing.assert_array_equal(line.get_ydata(), [1, *curve])
    sizes = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sizes == [f"{k} ({n})" for k, n in enumerate(found.survival.table["samples"])]
