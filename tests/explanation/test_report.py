"""The page that shows a result: whole, without network, and with what the fit says."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvsc_fast import (
    TLRR,
    ConsensusTLRR,
    datasets,
    explain,
    structure_test,
    suggest_n_clusters,
)
from mvsc_fast.cli import main
from mvsc_fast.explanation import write_report
from mvsc_fast.methods import AWP
from mvsc_fast.preprocessing import PerView

VOID = {"meta", "br", "path", "use", "image", "rect"}


class Page(HTMLParser):
    """Whether tags are closed in their order, and the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.tags = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def views():
    found, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    return {"text": found[0], "image": found[1]}


def read(path):
    text = path.read_text(encoding="utf-8")
    # A page that is sent to someone else loads nothing.
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "prefers-color-scheme: dark" in text
    page = Page(text)
    return page, " ".join(page.words)


def test_a_report_of_tlrr(views, tmp_path):
    model = TLRR(3, random_state=0).fit(views)
    page, words = read(write_report(tmp_path / "r.html", model, views, notes=["<b> & said"]))
    # four panels, markers, before and after, embedding
    assert page.tags.count("figure") == 8
    said = ["text", "image", "<b> & said", "n_neighbors", f"{model.gap_:.4g}", "NumPy"]
    for word in (*said, "90 samples in 3 clusters", "TLRR of mvsc_fast", "samples without"):
        assert word in words


def test_a_report_of_the_consensus_with_a_suggested_number(views, tmp_path):
    ids = np.array([f"id{i}" for i in range(90)], dtype=object)
    noisy = {
        name: X + 0.4 * np.random.RandomState(1).standard_normal(X.shape)
        for name, X in views.items()
    }
    model = ConsensusTLRR(3, random_state=0).fit(noisy)
    counts = suggest_n_clusters(noisy, random_state=0)
    structure = structure_test(noisy, 3, n_rotations=2, max_samples=30, random_state=0)
    found = explain(model, noisy, counts=counts, ids=ids, structure=structure)
    path = write_report(tmp_path / "r.html", model, noisy, explanation=found, notes=["once"] * 2)
    page, words = read(path)
    assert page.tags.count("figure") == 13 and "Modularity of the samples" in words
    assert "Least certain samples" in words and re.search(r"\bid\d+\b", words)
    assert f"suggested, {counts.confidence} confidence" in words and words.count("once") == 1
    assert found.methods_paragraph in words and words.count("doi:10.1109") == 1
    assert re.search(rf"0 text\s+{model.view_agreement_[0, 1]:.1f}\s", words)


@pytest.mark.filterwarnings("ignore")
def test_warnings_of_the_fit_are_reported_once(views, tmp_path):
    model = ConsensusTLRR(3, random_state=0).fit({**views, "constant": np.ones((90, 4))})
    notes = ["a note", *model.warnings_]
    _, words = read(write_report(tmp_path / "r.html", model, notes=notes))
    assert words.count(model.warnings_[0]) == words.count("a note") == 1
    assert words.index(model.warnings_[0]) < words.index("How it was computed")


def test_a_report_of_what_has_no_affinity(views, tmp_path):
    model = AWP(3, random_state=0).fit(views)
    page, words = read(write_report(tmp_path / "r.html", model))
    assert "AWP" in words and page.tags.count("figure") >= 2


def test_a_report_of_a_pipeline(views, tmp_path):
    model = make_pipeline(PerView(StandardScaler()), ConsensusTLRR(3, random_state=0)).fit(views)
    page, words = read(write_report(tmp_path / "r.html", model, views))
    assert page.tags.count("figure") == 10 and "PerView(transformers=StandardScaler())" in words


def test_a_report_from_the_command_line(views, tmp_path):
    for name, X in views.items():
        pd.DataFrame(X).add_prefix("f").to_csv(tmp_path / f"{name}.csv", index_label="id")
    report = tmp_path / "new" / "report.html"
    files = [str(tmp_path / f"{name}.csv") for name in views]
    arguments = ["cluster", *files, "--clusters", "auto", "--scale", "standard"]
    assert main([*arguments, "--report", str(report), "--certainty"]) == 0
    page, words = read(report)
    assert "ids are column 'id' of" in words
    assert " ".join(["mvsc-fast", *arguments]) in words
    assert "text (90 x 40), image (90 x 60)" in words
    processing = "Processing: columns were scaled to mean 0 and standard deviation 1."
    assert processing in words
    assert re.search("suggested, (high|low) confidence", words)
