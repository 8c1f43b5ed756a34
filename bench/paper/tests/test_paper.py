"""Fits, settings, resumption and report of the paper's tables."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import paper_tables
import pytest
import settings
from sklearn.base import BaseEstimator, ClusterMixin

from mvsc_fast import datasets

PAPER = Path(__file__).resolve().parents[1]
SHARED = PAPER.parents[2] / "shared" / "data"


def compute(folder, output, **options):
    options = {"sets": ["mine"], "seeds": 2, "repeats": 3, "jobs": 1} | options
    return paper_tables.main(**paper_tables.OPTIONS | options | {"data": folder, "output": output})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two data sets on file: one of the paper's names, one of its own."""
    path = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("yaleb10", "mine")):
        views, y = datasets.make_multiview_subspaces(60, 3, n_features=(12, 8), random_state=seed)
        order = np.argsort(y, kind="stable")
        arrays = {f"view_{i}": X[order] for i, X in enumerate(views)}
        np.savez(path / f"{name}.npz", y=y[order], **arrays)
    return path


def row_of(page, name, row):
    table = page.split(f"## {name}\n")[1].split("##")[0].splitlines()
    (line,) = (line for line in table if line.startswith(f"| {row} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_report_has_file_order_paper_and_shuffled(folder, tmp_path):
    methods = ["TLRR", "TLRR, alpha = 0", "AWP", "ConsensusTLRR default"]
    page = compute(folder, tmp_path, methods=methods, sets=["YaleB", "mine"])
    assert row_of(page, "YaleB", "TLRR")[2] == "0.954 / 0.908 / 0.900"
    assert row_of(page, "YaleB", "TLRR, alpha = 0")[2] == "0.605"
    assert len(row_of(page, "mine", "TLRR")[3].split(" / ")) == 3
    assert row_of(page, "mine", "AWP")[3] == ""  # it does not depend on the order
    assert "alpha = 0" not in page.split("## mine")[1].split("##")[0]
    assert page == (tmp_path / "report.md").read_text(encoding="utf-8")


def test_what_is_finished_is_not_computed_again(folder, tmp_path, monkeypatch):
    first = compute(folder, tmp_path, methods=["TLRR"])
    monkeypatch.setattr(paper_tables, "clustering_scores", None)  # would fail
    assert compute(folder, tmp_path, methods=["TLRR"]) == first


def test_the_papers_numbers_belong_to_rows_and_sets():
    for name, row in settings.PAPER:
        assert name in settings.SETS and row in settings.METHODS
    for method in settings.METHODS.values():
        assert method.reason and set(method.by_set) <= set(settings.SETS)
        for name in [*settings.SETS, "another"]:
            parameters = method.parameters_on(name)
            affinity = parameters.pop("affinity", {"method": "AWP"})
            assert affinity["method"] in settings.METHODS
            method.make(3, random_state=0, **parameters)


@pytest.mark.skipif(not SHARED.is_dir(), reason="benchmark data are not next to the repository")
def test_yale_in_file_order_as_published(tmp_path):
    """From images: the row of the paper is ACC .988, NMI .988, ARI .975."""
    page = compute(SHARED, tmp_path, methods=["TLRR"], sets=["Yale"], seeds=1)
    _, computed, paper, *_ = row_of(page, "Yale", "TLRR")
    for value, published in zip(computed.split(" / "), paper.split(" / "), strict=True):
        assert abs(float(value) - float(published)) < 0.005


def test_sizes_of_the_views_of_images():
    features = pytest.importorskip("features")
    images = np.random.default_rng(0).integers(0, 256, (3, 6, 4), dtype=np.uint8)
    assert [X.shape for X in features.image_views(images)] == [(3, 4096), (3, 3304), (3, 6750)]


class Failing(ClusterMixin, BaseEstimator):
    """Always fails."""

    def __init__(self, n_clusters=8, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X):
        raise RuntimeError("no luck\ntoday")


def test_a_failure_is_reported_and_the_others_go_on(folder, tmp_path, monkeypatch):
    failing = settings.Method(Failing, {}, "To fail.", kmeans=False)
    monkeypatch.setitem(settings.METHODS, "failing", failing)
    page = compute(folder, tmp_path, methods=["failing", "AWP"])
    assert "mine, failing, file order: RuntimeError: no luck today" in page
    assert row_of(page, "mine", "AWP")


def test_the_command_writes_the_report_or_says_what_is_wrong(folder, tmp_path):
    def command(*options):
        line = [sys.executable, PAPER, "--data", folder, "--output", tmp_path, *options]
        return subprocess.run(line, capture_output=True, text=True)

    worked = command("--methods", "AWP", "--sets", "mine", "--jobs", "2")
    assert worked.returncode == 0 and (tmp_path / "report.md").exists()
    for options in (["--methods", "k-means"], ["--sets", "ORL"]):
        failed = command(*options)
        assert failed.returncode == 1 and options[1] in failed.stderr
        assert len(failed.stderr.splitlines()) == 1
