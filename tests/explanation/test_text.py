"""Text, tables, panels and paragraph of explanations whose numbers are given."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from mvsc_fast import TLRR, ConsensusTLRR
from mvsc_fast.explanation import Explanation, Table, plot_n_clusters
from mvsc_fast.explanation._page import details, figure, html_table
from mvsc_fast.explanation._panels import name_clusters, similarities
from mvsc_fast.explanation._paragraph import given_parameters, methods_paragraph, suggestion
from mvsc_fast.explanation._plots import COLORS, new_figure
from mvsc_fast.explanation._table import shown_value
from mvsc_fast.explanation._text import parts_of
from mvsc_fast.judge import ClusterCounts, Resolutions

GIVEN = {
    "method": "Method",
    "n_samples": 12,
    "labels": np.repeat([0, 1, 2], [5, 3, 2]),
    "samples": np.arange(1, 11),
    "clusters": np.array([4, 5, 7]),
    "sizes": np.array([6, 3, 2]),
    "ids": np.array([f"s{i}" for i in range(12)]),
    "view_names": ["shape", "colour", "$x$"],
    "view_features": [3, 1, 2],
    "view_missing": np.array([0, 2, 0]),
    "n_incomplete": 2,
    "view_support": np.array([0.1, 0.05, 0.09]),
    "excluded_views": {"colour": "all samples are equal"},
    "predictable_share": np.array([1, 0.7, 0.69]),
    "predictability": 0.876,
    "silhouette": np.array([0.004, -0.001, 0.5]),
    "margin": np.array([1, 0.9, 0.8, 0.7, 0, -0.004, 0.5, 0.4, 0.3, -0.2]),
    "certainty": np.array([1, 0.95, 0.9, 0.8, 0.3, 0.25, 0.7, 0.6, 0.5, 0.2]),
    "other": np.array([1, 1, 1, 1, 1, 0, 2, 0, 0, 1]),
    "uncertain": np.array([10, 6, 5]),
    "candidates": {
        "graph": np.array(["unit", "centred"] * 4),
        "n_neighbors": np.arange(8, 16),
        "embedding": np.array(["c", "2c", "c", "diffusion"] * 2),
        "algorithm": np.array(["k-means"] * 7 + ["Ward"]),
        "predictability": np.array([0.1, 0.9, 0.3, 0.9, 0.5, 0.6, 0.7, 0.8]),
    },
    "agreement": np.linspace(0.5, 1, 8),
    "choices": ["A sentence.", "Another."],
    "unknown": ["Something."],
    "methods_paragraph": "We clustered.",
}
TEXT = """\
Method: 12 samples in 3 clusters, 3 views

Clusters
  cluster  samples  share  predictable  silhouette
        4        6   50 %         1.00     4.0e-03
        5        3   25 %         0.70    -1.0e-03
        7        2   17 %         0.69        0.50
  Not well separated from the others: 7.
  predictable: share of samples whose label is predicted from the other
  samples; 0.85 in all clusters. Predictability, an adjusted mutual
  information: 0.88.
  silhouette: 1 far from other clusters, 0 or less between them.

Least certain samples: 3 (30 %)
  sample  cluster  second    margin  certainty
     s10        7       5     -0.20       0.20
      s6        5       4  -4.0e-03       0.25
      s5        4       5      0.00       0.30
  margin: 1 clearly in its cluster, 0 halfway to the second, negative nearer to
  it (2 samples).
  certainty: mean of the margin and of the share of the candidate labellings
  that agree.

Views
  view    features  samples without  support
  shape          3                0     0.10
  colour         1                2     0.05  excluded
  $x$            2                0     0.09  little support for these clusters
  colour was excluded: all samples are equal.
  support: how far the clusters follow the view's own neighbors; large in
  noise, too. structure_test tests for noise.

How the labels were chosen
  A sentence.
  Another.

The 6 most predictable of 8 labellings
  graph    neighbors  embedding  algorithm  predictability  agreement
  centred          9         2c    k-means            0.90       0.57
  centred         11  diffusion    k-means            0.90       0.71
  centred         15  diffusion       Ward            0.80       1.00
  unit            14          c    k-means            0.70       0.93
  centred         13         2c    k-means            0.60       0.86
  unit            12          c    k-means            0.50       0.79

Not available
  Something.

Methods paragraph
  We clustered.
"""


def made(**fields):
    return Explanation(**GIVEN | fields)


def many(count, **fields):
    """Clusters 0, 1, ... of growing size and falling quality, with two samples that are known."""
    quality = np.linspace(0.65, 0.1, count)
    known = {"predictable_share": quality, "silhouette": None}
    return made(
        labels=np.repeat(np.arange(count), 2),
        samples=np.arange(2 * count),
        clusters=np.arange(count),
        sizes=np.arange(count) + 2,
        margin=np.linspace(-0.5, 1, 2 * count),
        certainty=np.linspace(0, 1, 2 * count),
        uncertain=np.arange(count)[::-1] % 12,
        other=np.zeros(2 * count, dtype=int),
        **known | fields,
    )


def words(found):
    return " ".join(str(found).split())


def shown_clusters(found):
    table = str(found).split("\n\n")[1].splitlines()[2:]
    return [line.split()[0] for line in table if re.match(r" +\d+ +\d+ +\d+ %", line)]


def test_the_text_of_an_explanation():
    assert str(made()) == TEXT.rstrip("\n")


def test_the_agreement_of_views_is_a_table_with_a_row_and_a_column_for_each():
    z = np.array([[np.nan, 70.06, -1.2], [70.06, np.nan, 4.96], [-1.2, 4.96, np.nan]])
    lines = str(made(view_agreement=z)).split("Agreement of the views\n")[1].splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["0", "1", "2"],
        ["0", "shape", "70.1", "-1.2"],
        ["1", "colour", "70.1", "5.0"],
        ["2", "$x$", "-1.2", "5.0"],
    ]
    assert "Below 5 they show different clusters" in lines[5] + lines[4]
    numbered = made(view_agreement=z, view_names=[0, 1, 2])
    assert "\n  0        70.1  -1.2\n" in str(numbered)
    for agreement in (np.full((3, 3), np.nan), None):
        assert "Agreement" not in str(made(view_agreement=agreement))
    many_views = {"view_names": [*range(13)], "view_features": [2] * 13, "view_support": None}
    many_views |= {"view_missing": None, "view_agreement": np.ones((13, 13))}
    assert "Agreement" not in str(made(**many_views))
    assert "agreement" in parts_of(made(**many_views), 50)


def test_only_what_is_known_is_in_the_text():
    few = made(
        **dict.fromkeys(
            ["predictable_share", "silhouette", "margin", "certainty", "other", "candidates"]
        ),
        **{"view_names": [], "view_support": None, "excluded_views": {}, "choices": []},
        unknown=[],
    )
    titles = [part.splitlines()[0] for part in str(few).split("\n\n")]
    assert titles == ["Method: 12 samples in 3 clusters", "Clusters", "Methods paragraph"]
    one = made(view_names=[0], view_features=[3], view_missing=None, view_support=None)
    one.excluded_views = {0: "all samples are equal"}
    assert "View 0 was excluded: all samples are equal. How the labels" in words(one)
    assert "3 clusters, 1 view\n" in str(one) and "support:" not in str(one)
    unsupported = made(view_support=None)
    assert "little support" not in str(unsupported) and "1 2 excluded" in words(unsupported)
    assert "candidates" not in str(made(agreement=None)) and "agreement\n" not in str(
        made(agreement=None)
    )
    certain = made(uncertain=np.empty(0, dtype=int))
    assert "Least certain samples\n  No sample is near another cluster." in str(certain)


def test_of_many_clusters_the_weakest_are_shown():
    found = many(14)
    assert shown_clusters(found) == [str(k) for k in range(13, 1, -1)]
    assert "Clusters (12 of 14, the weakest first)" in str(found)
    assert "the others: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more." in words(found)
    assert "Least certain samples: 14 (50 %), the first 12\n" in str(found)
    assert "10, 11." in words(many(12)) and "more" not in words(many(12))
    assert "Clusters\n" in str(many(12)) and "the first" not in str(many(12))
    assert shown_clusters(many(12)) == [str(k) for k in range(12)]


def test_without_a_measure_the_largest_clusters_are_shown():
    found = many(14, predictable_share=None)
    assert shown_clusters(found) == [str(k) for k in range(13, 1, -1)]
    assert "Clusters (12 of 14, the largest first)" in str(found)
    silhouette = np.linspace(0.5, -0.5, 14)
    silhouette[3] = np.nan  # an empty cluster is the weakest
    found = many(14, predictable_share=None, silhouette=silhouette)
    assert shown_clusters(found)[:2] == ["3", "13"] and "the weakest first" in str(found)


def test_the_table_of_some_samples():
    table = made().table([3, 10])
    assert {name: column.tolist() for name, column in table.items()} == {
        "sample": ["s3", "s10"],
        "cluster": [4, 7],
        "second": [5, 5],
        "margin": [0.8, -0.2],
        "certainty": [0.9, 0.2],
    }
    alone = made(certainty=None).table([3])
    assert list(alone) == ["sample", "cluster", "second", "margin"]
    assert made().table()["sample"].tolist() == [f"s{i}" for i in range(1, 11)]


def test_panels_show_the_numbers():
    sizes, quality, certainty, support = made().plot()
    assert [bar.get_height() for bar in sizes.patches] == [6, 3, 2]
    assert to_hex(sizes.patches[0].get_facecolor()) == COLORS[0]
    for ax in (sizes, quality, certainty):
        assert [text.get_text() for text in ax.get_xticklabels()] == ["4", "5", "7"]
        assert ax.get_xlim() == (-0.6, 2.6) and ax.get_xlabel() == "cluster"
    curves = {line.get_label(): line.get_ydata().tolist() for line in quality.lines}
    assert curves == {"predictable share": [1, 0.7, 0.69], "silhouette": [0.004, -0.001, 0.5]}
    assert quality.get_ylim()[0] < -0.001 and quality.get_ylim()[1] == 1.05
    certain, uncertain = (line.get_xydata() for line in certainty.lines)
    assert [line.get_color() for line in certainty.lines] == [COLORS[0], COLORS[3]]
    assert certain[:, 1].tolist() == [1, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5]
    assert uncertain[:, 1].tolist() == [0.3, 0.25, 0.2]
    assert np.round(certain[:, 0]).tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert len({*certain[:, 0], *uncertain[:, 0]}) == 10  # points do not cover each other
    assert certainty.get_title() == "least certain samples: 3" and certainty.get_ylim()[1] == 1.05
    assert [bar.get_width() for bar in support.patches] == [0.1, 0.05, 0.09]
    colors = [to_hex(bar.get_facecolor()) for bar in support.patches]
    assert colors == [COLORS[0], COLORS[-1], COLORS[0]] and support.get_xlim() == (0, 1)
    names = [text.get_text() for text in support.get_yticklabels()]
    assert names == ["shape", "colour (excluded)", r"\$x\$"] and support.yaxis_inverted()
    positive = made(silhouette=None, certainty=np.full(10, 0.5)).plot()
    assert [ax.get_ylim()[0] for ax in positive[1:3]] == [0, 0]


@pytest.mark.parametrize(("count", "named"), [(15, True), (16, False)])
def test_the_names_of_many_clusters_are_left_out(count, named):
    ax = new_figure()
    name_clusters(ax, np.arange(100, 100 + count))
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert (texts == [str(k) for k in range(100, 100 + count)]) == named


COUNTS = ClusterCounts(
    n_clusters=3,
    candidates=(3, 5, 2),
    confidence="low",
    levels=(3, 6),
    counts=np.arange(2, 7),
    criterion=np.array([0.3, 0.9, 0.1, 0.8, 0.2]),
    stability=np.array([0.5, 0.9, 0.7, 0.6, 0.95]),
    predictability=np.array([0.99, 0.98, 0.7, 0.6, 0.9]),
    joined=np.ones((5, 7)),
    n_samples=12,
    smallest=np.array([5, 4, 2, 1, 1]),
    sizes=np.array([4, 4, 4]),
)


def test_candidates_and_supported_numbers_of_clusters_are_marked():
    ax = plot_n_clusters(COUNTS, title="a title")
    drawn = {line.get_label(): line.get_xydata().T.tolist() for line in ax.lines}
    counts = COUNTS.counts.tolist()
    assert drawn == {
        "stability": [counts, COUNTS.stability.tolist()],
        "supported: 3, 6": [[3, 6], [0.9, 0.95]],
        "criterion / 2": [counts, (COUNTS.criterion / 2).tolist()],
        "candidates: 3, 5, 2": [[3, 5, 2], [0.45, 0.4, 0.15]],
        "predictability": [counts, COUNTS.predictability.tolist()],
    }
    assert ax.get_title() == "a title"


def test_supported_resolutions_are_marked():
    x, shares = np.array([0.1, 1, 2]), np.array([0.5, 0.9, 0.7])
    ax = plot_n_clusters(Resolutions((1.0,), x, np.array([2, 5, 9]), shares, shares / 2, 12, x))
    drawn = {line.get_label(): line.get_xydata().T.tolist() for line in ax.lines}
    assert drawn == {
        "stability": [x.tolist(), shares.tolist()],
        "supported: 1.0": [[1.0], [0.9]],
        "predictability": [x.tolist(), (shares / 2).tolist()],
    }
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.1\n(2)", "1\n(5)", "2\n(9)"]
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "resolution (number of clusters)")


def test_a_suggestion_in_words():
    others = "other candidates: 5, 2; supported numbers: 3, 6"
    assert suggestion(COUNTS) == (
        f"suggest_n_clusters suggested 3 clusters (low confidence; {others})"
    )
    alone = SimpleNamespace(n_clusters=1, candidates=(1,), confidence="high", levels=())
    assert suggestion(alone) == (
        "suggest_n_clusters suggested 1 cluster (high confidence; other candidates: none; "
        "supported numbers: none)"
    )


def test_supported_numbers_of_clusters_are_in_the_text():
    title, columns, _ = parts_of(made(counts=COUNTS))["counts"]
    assert title == "Numbers of clusters" and columns == {
        "clusters": ["2", "3", "5", "6"],
        "smallest": ["5", "4", "1", "1"],
        "stability": ["0.50", "0.90", "0.60", "0.95"],
        "predictability": ["0.99", "0.98", "0.60", "0.90"],
        "": ["", "supported", "", "supported"],
    }


def paragraph(model, steps=(), **fields):
    found = made(method=type(model).__name__, **fields)
    return methods_paragraph(found, model, steps).partition(" Software: ")


def test_the_paragraph_tells_what_was_given():
    model = TLRR(n_clusters=3, n_neighbors=7, verbose=1, n_threads=2)
    assert given_parameters(model) == ["n_clusters", "n_neighbors", "n_threads", "verbose"]
    first, _, rest = paragraph(model, counts=COUNTS)
    assert first == (
        "We clustered 12 samples described by 3 views: shape (3 features), colour (1 feature), "
        "$x$ (2 features). 2 samples lacked at least one view. TLRR found 3 clusters "
        "(n_clusters=3, n_neighbors=7, random_state=None; other parameters at their defaults). "
        f"{suggestion(COUNTS)}. Without any view, and with the label -1: 1 sample. 10 of 12 "
        "samples were clustered; the labels of the others were predicted. Views excluded as "
        "uninformative: colour."
    )
    assert "TLRR is the method of Jia Y., Liu H." in rest
    complete = {"n_incomplete": 0, "excluded_views": {}, "sizes": np.array([7, 3, 2])}
    complete["samples"] = np.arange(12)
    model, steps = ConsensusTLRR(2, random_state=4), ["A(\n  b=1)", "C()"]
    for fields, expected in (
        ({"view_names": [0], "view_features": [1]}, "samples described by 1 feature"),
        ({"view_features": []}, "samples"),
        (
            {"view_names": [0, 1], "view_features": [3, 1]},
            "samples described by 2 views: view 0 (3 features), view 1 (1 feature)",
        ),
    ):
        assert paragraph(model, steps, **complete, **fields)[0] == (
            f"We clustered 12 {expected}. Processing: A( b=1), then C(). ConsensusTLRR found 3 "
            "clusters (n_clusters=2, random_state=4; other parameters at their defaults)."
        )
    for count in (12, 13):
        wide = {"view_names": list(range(count)), "view_features": [1] * count}
        text = paragraph(model, **complete, **wide)[0]
        assert text.count("(1 feature)") == 12 and ("(1 feature), ...." in text) == (count == 13)


def test_a_table_prints_its_first_rows_and_a_note():
    table = Table({"k": np.arange(13), "text": np.array(list("abcdefghijklm"))}, note="A note.")
    lines = repr(table).splitlines()
    assert lines[0] == "   k  text" and lines[-2:] == ["  ... 1 more rows", "  A note."]
    assert lines[1:-2] == [f"  {k:2}  {'abcdefghijklm'[k]}" for k in range(12)]
    some = Table({"k": np.arange(3)}, [2, 0])
    assert repr(some) == "  k\n  2\n  0\n  ... 1 more rows" and table.n_rows == 13
    assert repr(Table({"k": np.arange(2)})) == "  k\n  0\n  1"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.005, "0.01"),
        (0.0049, "4.9e-03"),
        (-0.0049, "-4.9e-03"),
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (np.nan, ""),
        (1, "1"),
        (1.239, "1.24"),
        ("a", "a"),
        (None, "None"),
    ],
)
def test_numbers_have_two_decimals_or_more(value, text):
    assert shown_value(value) == text


def test_parts_of_a_page():
    assert html_table([], [["a"]]) == ""
    assert html_table([["r", "1", "2"]], [["", ("<both>", 2)], ["a", "b", "c"]], "wide") == (
        '<div class="scroll" tabindex="0"><table class="wide"><thead><tr><th colspan="1"></th>'
        '<th colspan="2">&lt;both&gt;</th></tr><tr><th colspan="1">a</th><th colspan="1">b</th>'
        '<th colspan="1">c</th></tr></thead><tbody><tr><th scope="row">r</th><td>1</td>'
        "<td>2</td></tr></tbody></table></div>"
    )
    assert details("T", ["<a>", "b"]) == (
        "<details open><summary>T (2)</summary><ul><li>&lt;a&gt;</li><li>b</li></ul></details>"
    )
    assert details("T", []) == (
        "<details open><summary>T (0)</summary><ul><li>nothing</li></ul></details>"
    )


@pytest.mark.parametrize(("points", "pixels"), [(2000, False), (2001, True)])
def test_many_points_are_drawn_as_pixels(points, pixels):
    def draw():
        ax = new_figure()
        ax.plot(np.arange(points), np.arange(points), ".")
        return ax

    text = figure(draw, "name", "A <caption>")
    assert ("<image" in text) == pixels
    assert 'aria-label="A &lt;caption&gt;"' in text and "currentColor" in text
    assert text.startswith("<figure><svg role=") and "metadata" not in text


def test_similarities_of_a_consensus_are_shares_of_labellings():
    candidates = {"labels": np.array([[0, 0, 1, 1], [2, 0, 0, 0]])}
    affinity = np.arange(16.0).reshape(4, 4)
    model = SimpleNamespace(candidates_=candidates, affinity_matrix_=affinity)
    (before, after), labels, _ = similarities(model, np.array([1, 0, 1, 0]))
    order = [1, 3, 0, 2]
    assert labels.tolist() == [0, 0, 1, 1]
    np.testing.assert_array_equal(before, affinity[order][:, order])
    joined = [[2, 1, 1, 1], [1, 2, 0, 2], [1, 0, 2, 0], [1, 2, 0, 2]]
    np.testing.assert_array_equal(after, np.array(joined) / 2)
