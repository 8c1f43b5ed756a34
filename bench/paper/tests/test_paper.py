"""Cells, settings, resumption and report of the paper's tables."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import cells
import data
import numpy as np
import plan
import pytest
import run
import settings
import store
import tables
from sklearn.base import BaseEstimator, ClusterMixin

from mvsc_fast import datasets, metrics
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.spectral._cut import assign

PAPER = Path(__file__).resolve().parents[1]
SHARED = PAPER.parents[2] / "shared" / "data"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two data sets on file: one of the paper's names, one of its own."""
    place = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("yaleb10", "mine")):
        views, y = datasets.make_multiview_subspaces(60, 3, n_features=(12, 8), random_state=seed)
        order = np.argsort(y, kind="stable")
        arrays = {f"view_{i}": X[order] for i, X in enumerate(views)}
        np.savez(place / f"{name}.npz", y=y[order], **arrays)
    return place


@pytest.fixture(scope="module")
def done(folder, tmp_path_factory):
    """A finished run on two sets with every study: its folder, records and report."""
    output = tmp_path_factory.mktemp("output")
    few = {"omega1": (0.3, 0.4), "alpha": (9.0,), "lam": (15.0,)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "SENSITIVITY", few)
        records = run.run(
            folder,
            output,
            methods=["TLRR", "AWP", "ConsensusTLRR default"],
            sets=["YaleB", "mine"],
            seeds=2,
            repeats=3,
            jobs=1,
        )
    return output, records, (output / "report.html").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------ cells and settings


def test_every_cell_is_recorded_with_what_made_it(done):
    _, records, _ = done
    assert not [record["error"] for record in records if "error" in record]
    for record in records:
        assert record["seconds"] > 0 and record["input_seconds"] >= 0
        assert {"mvsc_fast", "numpy", "scipy", "scikit-learn", "python"} <= set(record["versions"])
        assert set(record["scores"]) == set(tables.SCORES)
    by_row = {}
    for record in records:
        by_row.setdefault((record["data"], record["row"], record["order"]), []).append(record)
    (one,) = by_row["YaleB", "TLRR", "file"]
    assert len(one["scores"]["acc"]) == 3  # k-means alone is repeated
    assert one["parameters"]["alpha"] == 9.0 and one["parameters"]["lam"] == 15.0
    assert len(one["residual"]) == one["n_iter"]
    assert [r["seed"] for r in by_row["mine", "TLRR", "shuffled"]] == [0, 1]
    assert len(by_row["mine", "AWP", "shuffled"]) == 1  # neither seed nor order matters
    assert len(by_row["mine", "ConsensusTLRR default", "file"]) == 1


def test_a_cell_is_what_the_estimator_finds(folder, done):
    _, records, _ = done
    record = next(
        r
        for r in records
        if (r["data"], r["row"], r["order"], r["seed"]) == ("mine", "TLRR", "shuffled", 1)
    )
    (source,), _ = data.find_sources(folder, ["mine"])
    views, y = source.load(None)
    order = np.random.RandomState(1).permutation(60)
    given = dict(record["parameters"])
    lam = given.pop("affinity")["lam"]
    first = TSVDMSC(3, lam=lam, sample_transform="dft")
    with pytest.warns(UserWarning, match="order"):
        model = settings.METHODS["TLRR"].make(3, affinity=first, **given)
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
            given = method.parameters_on(name)
            affinity = given.pop("affinity", {"method": "AWP"})
            assert affinity["method"] in settings.METHODS
            method.make(3, **given)


@pytest.mark.skipif(not SHARED.is_dir(), reason="benchmark data are not next to the repository")
def test_yale_in_file_order_as_published(tmp_path):
    """From images: the row of the paper is ACC .988, NMI .988, ARI .975."""
    records = run.run(
        SHARED,
        tmp_path,
        methods=["TLRR"],
        sets=["Yale"],
        orders=["file"],
        studies=["tables"],
        repeats=3,
        jobs=1,
    )
    means = tables.entries(records)["Yale", "TLRR", "file"].mean
    for score, published in zip(("acc", "nmi", "ari"), (0.988, 0.988, 0.975), strict=True):
        assert abs(means[score] - published) < 0.005


def test_long_cells_are_fewer_or_left_out_with_the_reason():
    large = data.Source("UCI", 2000, 10, "x")
    found, left_out = plan.plan([large], ["SNN", "SCMV-3DT"], plan.ORDERS, 3, 1, ["tables"], 7.0)
    assert [(cell.row, cell.order, cell.seed) for cell in found] == [
        ("SNN", "file", 0),
        ("SNN", "shuffled", 0),
    ]
    assert any("SNN, shuffled: 1 of 3 seeds, as one takes" in text for text in left_out)
    assert sum("SCMV-3DT" in text and "minutes, more than" in text for text in left_out) == 2


def test_features_of_images_are_made_once(tmp_path, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (12, 24), dtype=np.uint8)
    meta = json.dumps({"image_shape": [6, 4]})
    np.savez(tmp_path / "coil20_images.npz", view_0=images, y=np.arange(12) % 3, meta=meta)
    (source,), absent = data.find_sources(tmp_path, None)
    assert (source.name, source.n, source.n_clusters) == ("Coil20", 12, 3)
    assert absent == ["ORL", "Yale", "YaleB", "UCI"]
    first, _ = source.load(tmp_path / "out")
    assert [X.shape for X in first] == [(12, 1024), (12, 3304), (12, 6750)]
    monkeypatch.setattr(data, "_images", None)  # would fail
    np.testing.assert_array_equal(source.load(tmp_path / "out")[0][1], first[1])


# ------------------------------------------------------------------------------- stop and continue


def test_what_is_finished_is_not_computed_again(folder, done, monkeypatch, capsys):
    output, records, _ = done
    monkeypatch.setattr(run, "work", None)  # would fail
    again = run.run(
        folder,
        output,
        methods=["tlrr", "awp"],
        sets=["mine"],
        studies=["tables"],
        seeds=2,
        repeats=3,
        jobs=1,
    )
    kept = {record["key"]: record for record in records}
    assert again and all(kept[record["key"]] == record for record in again)
    assert f"{len(again)} cells, {len(again)} of them finished" in capsys.readouterr().out


def test_other_data_parameters_or_repeats_are_other_cells():
    cell = cells.Cell("tables", "mine", "AWP", "file", 0, {"n_neighbors": 10}, 1, "AWP")
    keys = [
        cell.key("x"),
        cell.key("other data"),
        cell._replace(seed=1).key("x"),
        cell._replace(parameters={}).key("x"),
        cell._replace(repeats=2).key("x"),
    ]
    assert len(set(keys)) == len(keys)
    assert cell._replace(study="ablation").key("x") == cell.key("x")


def test_a_run_continues_after_a_record_that_was_not_written_whole(folder, tmp_path):
    given = {"methods": ["AWP"], "sets": ["mine"], "studies": ["tables"]}
    first = run.run(folder, tmp_path, jobs=1, **given)
    path = tmp_path / store.RESULTS
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:40])
    with pytest.warns(UserWarning, match="line 2 is no whole record"):
        again = run.run(folder, tmp_path, jobs=2, **given)  # in another process
    assert [one["scores"] for one in again] == [one["scores"] for one in first]
    assert len(path.read_text().splitlines()) == 3


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
    given = {"methods": ["failing", "AWP"], "sets": ["mine"], "orders": ["file"], "jobs": 1}
    failed, worked = run.run(folder, tmp_path, **given)
    assert failed["error"] == "RuntimeError: no luck today" and "scores" in worked
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Failed (1)" in page and "no luck today" in page
    monkeypatch.setattr(Failing, "broken", False)
    assert all("scores" in one for one in run.run(folder, tmp_path, **given))


# ------------------------------------------------------------------------------------------ report


def test_the_report_has_every_table_and_picture(done):
    page = done[2]
    for heading in (
        "In short",
        "All methods",
        "YaleB",
        "mine",
        "Parameters",
        "Terms of TLRR left out, YaleB",
        "TLRR after other methods",
        "Sensitivity of TLRR",
    ):
        assert f"<h2>{heading}</h2>" in page
    for caption in (
        "YaleB: CPU seconds of one fit",
        "YaleB: residual of each solver",
        "mine: similarities that TLRR learned",
        "mine: spectral embedding of TLRR",
        "YaleB: ACC of TLRR against omega1, ",
        "YaleB: ACC of TLRR against lam and alpha",
    ):
        assert f'aria-label="{caption}' in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)  # no network


def test_differences_from_the_paper_are_marked_and_in_the_tables(done, tmp_path):
    _, records, page = done
    entry = tables.entries(r for r in records if r["study"] == "tables")["YaleB", "TLRR", "file"]
    value = entry.mean["acc"] - 0.954
    kind = "close" if abs(value) <= 0.005 else "above" if value > 0 else "below"
    assert f'<span class="{kind}">' in page and f"{value:+.3f}</span>" in page
    tables.write_csv(tmp_path, records)
    with open(tmp_path / "tables" / "cells.csv", newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(records)
    with open(tmp_path / "tables" / "rows.csv", newline="", encoding="utf-8") as file:
        rows = {(r["data"], r["row"], r["order"]): r for r in csv.DictReader(file)}
    one = rows["YaleB", "TLRR", "file"]
    assert float(one["acc mean"]) == pytest.approx(entry.mean["acc"], abs=1e-5)
    assert one["paper acc"] == "0.954" and rows["mine", "TLRR", "file"]["paper acc"] == ""


def test_the_command_writes_the_report_or_one_line_of_what_is_wrong(folder, tmp_path):
    def command(*options):
        line = [sys.executable, str(PAPER), str(folder), "--output", str(tmp_path), *options]
        return subprocess.run(line, capture_output=True, text=True)

    options = ["--methods", "awp", "--sets", "mine", "--jobs", "1"]
    dry = command(*options, "--dry-run")
    assert dry.returncode == 0 and "mine: 2 cells to do" in dry.stdout
    assert not list(tmp_path.iterdir())
    assert command(*options).returncode == 0 and (tmp_path / "report.html").exists()
    found = command("--methods", "k-means")
    assert found.returncode == 2 and len(found.stderr.splitlines()) == 1
    assert "unknown method 'k-means': known are TLRR" in found.stderr


def test_a_cell_is_stopped_after_the_longest_time_and_named_while_it_runs(
    folder, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(plan, "_seeds", lambda *_: (range(1), None))
    slow = {"methods": ["TLRR"], "sets": ["mine"], "orders": ["file"], "studies": ["tables"]}
    with pytest.raises(ValueError, match="TimeoutError: stopped after 0.02 minutes .longest."):
        run.run(folder, tmp_path, **slow, repeats=10**6, jobs=1, longest=0.02)
    assert "mine, TLRR, file order, seed 0" in capsys.readouterr().err
