"""Consensus of labellings: distribution, area and heat map, against their definitions."""

from itertools import combinations

import numpy as np
import pytest

from mvsc_fast import ConsensusTLRR, datasets, explain, suggest_n_clusters
from mvsc_fast.explanation import (
    plot_consensus,
    plot_consensus_cdf,
    plot_delta_area,
    write_report,
)
from mvsc_fast.explanation._plots import COLORS
from mvsc_fast.judge._n_clusters import ClusterCounts, pair_shares

LABELLINGS = np.array([[0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [1, 1, 0, 2, 2], [0, 1, 1, 0, 0]])


def counts(joined):
    ks = np.arange(2, 2 + len(joined))
    flat = np.zeros(len(ks))
    return ClusterCounts(3, (3, 2), "low", (), ks, *[flat] * 3, np.array(joined), 5, ks, ks)


def test_pairs_are_counted_by_the_labellings_that_join_them():
    pairs = list(combinations(range(5), 2))
    joined = [sum(one[i] == one[j] for one in LABELLINGS) for i, j in pairs]
    np.testing.assert_array_equal(pair_shares(LABELLINGS) * 10, np.bincount(joined, minlength=5))


def test_the_distribution_of_one_fit():
    ax = plot_consensus_cdf({"labels": LABELLINGS}, title="a title")
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(line.get_ydata(), np.cumsum(pair_shares(LABELLINGS)))
    between = pair_shares(LABELLINGS)[1:4].sum()
    assert line.get_label() == f"4 labellings, {100 * between:.0f} % ambiguous"
    assert ax.get_title() == "a title" and line.get_drawstyle() == "steps-post"


def test_equal_labellings_have_no_ambiguous_pair():
    (line,) = plot_consensus_cdf({"labels": LABELLINGS[[0, 0, 0]]}).lines
    assert "0 % ambiguous" in line.get_label()
    ends = np.zeros(11)
    ends[[0, 1, 9, 10]] = 0.25  # consensus of .1 and .9 is not between them
    assert plot_consensus_cdf(counts([ends, ends])).lines[0].get_label().endswith(", 0 % ambiguous")
    np.testing.assert_allclose(line.get_ydata(), [0.8, 0.8, 0.8, 1])


def test_the_distributions_and_the_area_by_the_number_of_clusters():
    found = counts([[0.2, 0.2, 0.6], [0.5, 0.1, 0.4], [0.8, 0.0, 0.2]])
    lines = plot_consensus_cdf(found).lines
    assert [line.get_label() for line in lines] == [
        "2 clusters, 20 % ambiguous",
        "3 clusters, 10 % ambiguous",
    ]
    ax = plot_delta_area(found)
    area = np.array([0.3, 0.55, 0.8])  # under each distribution, a step function
    curve, zero = ax.lines
    assert (curve.get_color(), zero.get_color()) == (COLORS[0], COLORS[-1])
    assert zero.get_ydata() == [0, 0] and curve.get_xdata().tolist() == [2, 3, 4]
    growth = curve.get_ydata()
    np.testing.assert_allclose(growth, [0.3, 0.55 / 0.3 - 1, 0.8 / 0.55 - 1])
    for line, value in zip(lines, area, strict=False):
        x, y = line.get_xydata().T
        assert value == pytest.approx((np.diff(x) * y[:-1]).sum())


def test_samples_of_the_heat_map_are_sorted_by_label():
    labels = np.array([1, 0, 1, 0, 0])
    image = plot_consensus({"labels": LABELLINGS}, labels).images[0].get_array()
    order = [1, 3, 4, 0, 2]
    expected = (LABELLINGS[:, order, None] == LABELLINGS[:, None, order]).mean(axis=0)
    np.testing.assert_allclose(image, expected)


def test_a_report_shows_the_consensus_and_the_numbers_of_clusters(tmp_path):
    views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    model = ConsensusTLRR(3, random_state=0).fit(views)
    page = write_report(tmp_path / "r.html", model, views).read_text()
    assert "pairs of samples up to each consensus" in page and "growth of the area" not in page
    found = suggest_n_clusters(views, max_clusters=6, random_state=0)
    assert found.joined.shape == (5, 7)
    np.testing.assert_allclose(found.joined.sum(axis=1), 1)
    explained = explain(model, views, counts=found)
    page = write_report(tmp_path / "r.html", model, views, explanation=explained).read_text()
    assert "pairs of samples up to each consensus" in page and "growth of the area" in page
