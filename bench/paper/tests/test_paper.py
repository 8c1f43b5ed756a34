"""Cells, settings, resumption and report of the paper's tables."""

import json
import subprocess
import sys
from pathlib import Path

import cells
import data
import numpy as np
import paper_tables
import pytest
import report
import settings
from sklearn.base import BaseEstimator, ClusterMixin

from mvsc_fast import datasets, metrics
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.spectral._cut import assign

PAPER = Path(__file__).resolve().parents[1]
SHARED = PAPER.parents[2] / "shared" / "data"
TABLES = {"studies": ["tables"], "jobs": 1}


def compute(folder, output, **options):
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


@pytest.fixture(scope="module")
def finished(folder, tmp_path_factory):
    """A finished run on two sets with every study: its folder, records and report."""
    output = tmp_path_factory.mktemp("output")
    methods = ["TLRR", "AWP", "ConsensusTLRR default"]
    few = {"omega1": (0.3, 0.4), "alpha": (9.0,), "lam": (15.0,)}
    with pytest.MonkeyPatch.context() as patch:
        for module in (cells, report):
            patch.setattr(module, "SENSITIVITY", few)
        sets = ["YaleB", "mine"]
        records = compute(folder, output, methods=methods, sets=sets, seeds=2, repeats=3, jobs=1)
    return output, records, (output / "report.md").read_text(encoding="utf-8")


def test_every_cell_is_recorded_with_what_made_it(finished):
    by_row = {}
    for record in finished[1]:
        assert "error" not in record
        assert record["seconds"] > 0 and record["input_seconds"] >= 0
        assert {"mvsc_fast", "numpy", "scipy", "scikit-learn", "python"} <= set(record["versions"])
        assert set(record["scores"]) == set(report.SCORES)
        by_row.setdefault((record["data"], record["row"], record["order"]), []).append(record)
    (record,) = by_row["YaleB", "TLRR", "file"]
    assert len(record["scores"]["acc"]) == 3  # k-means alone is repeated
    assert record["parameters"]["alpha"] == 9.0 and record["parameters"]["lam"] == 15.0
    assert len(record["residual"]) > 10
    assert [r["seed"] for r in by_row["mine", "TLRR", "shuffled"]] == [0, 1]
    assert len(by_row["mine", "AWP", "shuffled"]) == 1  # neither seed nor order matters
    assert len(by_row["mine", "ConsensusTLRR default", "file"]) == 1


def test_a_cell_is_what_the_estimator_finds(folder, finished):
    (record,) = (
        record
        for record in finished[1]
        if (record["data"], record["row"], record["seed"]) == ("mine", "TLRR", 1)
    )
    sources, _ = data.find_sources(folder, ["mine"])
    views, y = sources["mine"].load(None)
    order = np.random.RandomState(1).permutation(60)
    parameters = dict(record["parameters"])
    lam = parameters.pop("affinity")["lam"]
    first = TSVDMSC(3, lam=lam, sample_transform="dft")
    with pytest.warns(UserWarning, match="order"):
        model = settings.METHODS["TLRR"].make(3, affinity=first, **parameters)
        model.fit([X[order] for X in views])
    labels = assign(model.embedding_, 3, order=model.affinity_matrix_.sum(axis=1), random_state=2)
    acc = metrics.clustering_scores(y[order], labels)["acc"]
    assert record["scores"]["acc"][2] == pytest.approx(acc, abs=1e-6)


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
    chosen = {"methods": ["TLRR"], "sets": ["Yale"], "orders": ["file"]}
    records = compute(SHARED, tmp_path, repeats=3, **chosen, **TABLES)
    means = report.entries(records)["Yale", "TLRR", "file"].mean
    for score, published in {"acc": 0.988, "nmi": 0.988, "ari": 0.975}.items():
        assert abs(means[score] - published) < 0.005


def test_features_of_images_are_made_once(tmp_path, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (12, 24), dtype=np.uint8)
    meta = json.dumps({"image_shape": [6, 4]})
    np.savez(tmp_path / "coil20_images.npz", view_0=images, y=np.arange(12) % 3, meta=meta)
    sources, absent = data.find_sources(tmp_path, settings.SETS)
    assert [*sources] == ["Coil20"] and absent == ["ORL", "Yale", "YaleB", "UCI"]
    first, _ = sources["Coil20"].load(tmp_path / "out")
    assert [X.shape for X in first] == [(12, 1024), (12, 3304), (12, 6750)]
    monkeypatch.setattr("features.image_views", None)  # would fail
    np.testing.assert_array_equal(sources["Coil20"].load(tmp_path / "out")[0][1], first[1])


def test_what_is_finished_is_not_computed_again(folder, finished, monkeypatch):
    output, records, _ = finished
    monkeypatch.setattr(cells, "scores", None)  # would fail
    chosen = {"methods": ["TLRR", "AWP"], "sets": ["mine"], "seeds": 2, "repeats": 3}
    again = compute(folder, output, **chosen, **TABLES)
    names = "row", "order", "seed"
    kept = {tuple(r[name] for name in names): r for r in records if r["data"] == "mine"}
    assert len(again) == 5 and "error" not in again[0]
    for record in again:
        former = kept[tuple(record[name] for name in names)]
        assert record["seconds"] == former["seconds"] and record["scores"] == former["scores"]


class Failing(ClusterMixin, BaseEstimator):
    """Fails, until it does not."""

    broken = True

    def __init__(self, n_clusters=8, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X):
        if self.broken:
            raise RuntimeError("no luck\ntoday")
        self.labels_ = (X[0][:, 0] > 0).astype(int)
        return self


def test_a_failure_is_recorded_reported_and_tried_again(folder, tmp_path, monkeypatch):
    failing = settings.Method(Failing, {}, "To fail.", kmeans=False)
    monkeypatch.setitem(settings.METHODS, "failing", failing)
    chosen = {"methods": ["failing", "AWP"], "sets": ["mine"], "orders": ["file"], "jobs": 1}
    failed, worked = compute(folder, tmp_path, **chosen)
    assert failed["error"] == "RuntimeError: no luck today" and "scores" in worked
    assert "failed: mine, failing, file" in (tmp_path / "report.md").read_text(encoding="utf-8")
    monkeypatch.setattr(Failing, "broken", False)
    assert all("scores" in record for record in compute(folder, tmp_path, **chosen))


def test_the_report_has_every_table_and_picture(finished):
    output, records, page = finished
    headings = ["YaleB", "mine", "Parameters", "Terms of TLRR left out, YaleB"]
    for heading in [*headings, "TLRR after other methods"]:
        assert f"## {heading}\n" in page
    names = "YaleB-convergence", "mine-TLRR", "YaleB-omega1-alpha", "YaleB-lam-alpha"
    for name in names:
        assert f"(pictures/{name}.png)" in page
        assert (output / "pictures" / f"{name}.png").stat().st_size > 1000
    entry = report.entries(r for r in records if r["study"] == "tables")["YaleB", "TLRR", "file"]
    value = entry.mean["acc"] - 0.954
    sign = "≈" if abs(value) <= 0.005 else "▲" if value > 0 else "▼"
    assert f"0.954 {sign} {value:+.3f}" in page


def test_the_command_writes_the_report_or_says_what_is_wrong(folder, tmp_path):
    def command(*options):
        line = [sys.executable, PAPER, "--data", folder, "--output", tmp_path, *options]
        return subprocess.run(line, capture_output=True, text=True)

    worked = command("--methods", "AWP", "--sets", "mine", "--jobs", "2")
    assert worked.returncode == 0 and (tmp_path / "report.md").exists()
    assert "ACC" in worked.stderr
    for options in (["--methods", "k-means"], ["--sets", "ORL"]):
        failed = command(*options)
        assert failed.returncode == 1 and options[1].split()[0].lower()[:3] in failed.stderr
        assert len(failed.stderr.splitlines()) == 1
