"""Text, page, pictures and notebook show the same parts: whole, once, and without network."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from mvsc_fast import ConsensusTLRR, datasets, explain, structure_test, suggest_n_clusters
from mvsc_fast.explanation import Table

VOID = {"meta", "br", "path", "use", "image", "rect"}
TITLES = [
    "Structure",
    "Warnings of the fit",
    "Clusters, the largest first",
    "Markers",
    "Least certain samples",
    "Views",
    "Numbers of clusters",
]


class Page(HTMLParser):
    """Whether tags are closed in their order, and the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"svg", "style"} & set(self.open):
            self.words.append(data)


@pytest.fixture(scope="module")
def views():
    views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    noise = np.random.RandomState(1).standard_normal
    frames = [pd.DataFrame(X + 0.4 * noise(X.shape)).add_prefix("f") for X in views[:2]]
    return {"text": frames[0], "<image>": frames[1], "constant": pd.DataFrame(np.ones((90, 4)))}


@pytest.fixture(scope="module")
def explanation(views):
    model = ConsensusTLRR(3, scale="standard", random_state=0)
    with pytest.warns(UserWarning, match="constant"):
        model.fit(views)
    informative = dict(list(views.items())[:2])
    counts = suggest_n_clusters(informative, random_state=0)
    structure = structure_test(informative, 3, n_rotations=2, max_samples=30, random_state=0)
    ids = [f"id{i}" for i in range(90)]
    return explain(model, views, ids=ids, counts=counts, structure=structure), model, structure


def test_a_report_has_all_parts_and_needs_no_network(explanation, tmp_path):
    told, model, _ = explanation
    path = told.write_report(tmp_path / "r.html", notes=["<b> & said", "a & b"])
    report = path.read_text(encoding="utf-8")
    assert [part.title.split(":")[0] for part in told.parts] == TITLES
    # A page that is sent to someone else loads nothing.
    assert not re.search(r'(?:src|href)="(?!#|data:)', report) and "url(http" not in report
    assert "prefers-color-scheme: dark" in report
    words = " ".join(Page(report).words)
    for expected in (*TITLES, "<b> & said", "a & b", "<image>", "samples without"):
        assert expected in words
    assert all(words.count(warning) == 1 for warning in model.warnings_)
    for part in told.parts:
        assert all(line in words for text in part.sentences for line in text.splitlines())
        assert str(part) in str(told)
    assert report.count("<figure") == sum(len(part.pictures) for part in told.parts) == 8


def test_pictures_show_the_numbers(explanation):
    told, *_ = explanation
    assert told.plot()._repr_png_().startswith(b"\x89PNG")  # what Jupyter shows
    axes = told.plot().axes
    titles = {ax.get_title().replace("\n", " "): ax for ax in axes}
    sizes = [bar.get_width() for bar in titles["Samples of each cluster"].patches]
    assert sizes == sorted(told.clusters["samples"], reverse=True)
    (certainty,) = [ax for title, ax in titles.items() if title.startswith("Certainty")]
    certain, uncertain = (line.get_ydata() for line in certainty.lines)
    values = told.samples["certainty"]
    assert sorted(uncertain) == sorted(values[told.uncertain])
    assert len(certain) + len(uncertain) == 90
    support = titles["Support of each view for the clusters"]
    assert [bar.get_width() for bar in support.patches] == told.views["support"].tolist()
    names = [text.get_text() for text in support.get_yticklabels()]
    assert names == ["text", "<image>", "constant"] and support.yaxis_inverted()


@pytest.mark.parametrize("count", [15, 16, 40])
def test_names_of_many_clusters_do_not_overlap(count):
    X = np.repeat(10 * np.eye(count), 3, axis=0)
    model = KMeans(count, n_init=1, random_state=0).fit(X)
    model.labels_ = np.repeat(np.arange(100, 100 + count), 3)
    sizes = explain(model, [X]).plot().axes[0]
    names = [text.get_text() for text in sizes.get_yticklabels()]
    step = -(-count // 15)
    assert names == [str(k) for k in range(100, 100 + count, step)]


def test_the_text_of_an_explanation():
    X = pd.DataFrame({"age": np.repeat([20.0, 60.0], [10, 30]) + np.tile(np.arange(10) / 10, 4)})
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    model.labels_ = np.repeat([3, 8], [10, 30])
    lines = str(explain(model, X)).splitlines()
    assert lines[0] == "KMeans: 40 samples in 2 clusters, 1 view" and lines[1] == ""
    for line in (
        "  cluster  samples  share  predictable",
        "        8       30   0.75         1.00",
        "        3       10   0.25         1.00",
        "  cluster  differs most in",
        "        8  age 60.5 (50.5, +135.7)",
        "        3  age 20.4 (50.5, -135.7)",
        "  view  features  samples without  support",
        "  0            1                0     1.00",
        "  Whether noise has as much structure is not known: structure_test tells.",
    ):
        assert line in lines


def test_a_notebook_shows_tables(explanation):
    told, _, structure = explanation
    html = told._repr_html_()
    assert told.title in " ".join(Page(html).words) and "svg" not in html
    assert structure.sentence in structure._repr_html_()
    assert told.samples._repr_html_().count("<tr>") == 1 + 50


def test_what_is_unknown_is_not_drawn(tmp_path):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    told = explain(KMeans(3, n_init=1, random_state=0).fit(views[0]), [views[0]])
    text = told.write_report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Map of" not in text and "Affinity" not in text
    bare = explain(KMeans(1).fit(views[0]), [views[0]])
    assert [ax.get_title() for ax in bare.plot().axes] == ["Samples of each cluster"]


def test_many_points_are_drawn_as_pixels(tmp_path):
    X = np.random.default_rng(0).standard_normal((2400, 2)) + 9 * np.eye(2)[np.arange(2400) % 2]
    model = ConsensusTLRR(2, random_state=0).fit([X])
    text = explain(model, [X]).write_report(tmp_path / "r.html").read_text(encoding="utf-8")
    certainty = text[text.index("Certainty of each sample") :].partition("</svg>")[0]
    assert "<image" in certainty and certainty.count("<use") < 500


def test_a_table_prints_its_first_rows():
    letters = np.array(list("abcdefghijklm"))
    table = Table({"k": np.arange(13), "text": letters})
    lines = repr(table).splitlines()
    assert lines[0] == "   k  text" and lines[-1] == "  ... 1 more rows"
    assert lines[1:-1] == [f"  {k:2}  {letters[k]}" for k in range(12)]
    assert Table({}).n_rows == 0 and repr(Table({})) == ""
    assert table.to_frame().shape == (13, 2) and "more rows" not in table._repr_html_()


def test_a_long_last_column_is_wrapped():
    table = Table({"k": [1, 2], "text": ["12345 % " * 20, "short"]})
    lines = repr(table).splitlines()
    assert max(map(len, lines)) < 80 and lines[-1] == "  2  short"
    assert " ".join(lines[1:-1]).split() == ["1", *["12345", "%"] * 20]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.005, "0.01"), (0.0049, "4.9e-03"), (-0.0049, "-4.9e-03"), (-0.0, "0.00"), (np.nan, "")]
    + [(1, "1"), (1.239, "1.24"), (58.16, "58.2"), (1234.5, "1234"), (1e6, "1.0e+06"), ("a", "a")],
)
def test_numbers_have_about_three_digits(value, text):
    column = np.array([value], dtype=object if isinstance(value, str) else None)
    assert repr(Table({"": column})).split() == text.split()


def test_cells_of_tables_are_lines():
    dates = np.array(["2026-01-01"], dtype="M8[ns]")
    text = repr(Table({"sample": dates, "f": np.array(["a\nb"], dtype=object), "k": [1]}))
    assert len(text.splitlines()) == 2 and "2026-01-01  a b" in text
