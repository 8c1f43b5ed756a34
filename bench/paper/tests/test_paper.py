import csv
import json
import os
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator

from mvsc_fast import TLRR, TSVDMSC, datasets, metrics, threads
import cells, data, plan, run, settings, store, tables, __main__ as command
from mvsc_fast.spectral import assign

METHODS = ("TLRR", "AWP")


def blobs(seed):
    return datasets.make_multiview_subspaces(60, 3, n_features=(12, 8), random_state=seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two data sets on file: one of the paper's names, one of its own."""
    place = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("yaleb10", "mine")):
        views, y = blobs(seed)
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
        patch.setattr(_plan, "SENSITIVITY", few)
        records = reproduce.run(
            folder, output, methods=[*METHODS, "TLRR default"], sets=["YaleB", "mine"],
            seeds=2, repeats=3, jobs=1,
        )  # fmt: skip
    return output, records, (output / "report.html").read_text(encoding="utf-8")


class FirstView(BaseEstimator):
    """Somebody's estimator: the sign of a column."""

    def __init__(self, column=0, random_state=None):
        self.column = column
        self.random_state = random_state

    def fit(self, X):
        self.labels_ = (X[0][:, self.column] > 0).astype(int)
        return self


# ------------------------------------------------------------------------------------- the cells


def test_every_cell_is_recorded_with_what_made_it(done):
    _, records, _ = done
    assert not [record["error"] for record in records if "error" in record]
    for record in records:
        assert record["seconds"] > 0 and record["input_seconds"] >= 0
        assert record["peak_mib"] is None or record["peak_mib"] >= 0
        assert {"mvsc_fast", "numpy", "scipy", "scikit-learn", "python"} <= set(record["versions"])
        assert set(record["scores"]) == set(_tables.SCORES)
    by_row = {}
    for record in records:
        by_row.setdefault((record["data"], record["row"], record["order"]), []).append(record)
    one = by_row["YaleB", "TLRR", "file"]
    assert len(one) == 1 and len(one[0]["scores"]["acc"]) == 3  # k-means alone is repeated
    assert one[0]["parameters"]["alpha"] == 9.0 and one[0]["parameters"]["lam"] == 15.0
    assert one[0]["parameters"]["graph"]["method"] == "t-SVD-MSC"
    assert len(one[0]["residual"]) == one[0]["n_iter"]
    assert [r["seed"] for r in by_row["mine", "TLRR", "shuffled"]] == [0, 1]
    assert len(by_row["mine", "AWP", "shuffled"]) == 1  # neither seed nor order matters
    assert len(by_row["mine", "TLRR default", "file"]) == 2  # every seed is a fit


def test_a_chain_is_what_the_estimator_gives_by_itself(folder, done):
    _, records, _ = done
    record = next(r for r in records if (r["data"], r["row"], r["order"], r["seed"])
                  == ("mine", "TLRR", "shuffled", 1))  # fmt: skip
    (source,), _ = _data.find_sources(folder, ["mine"], {})
    views, y = source.load(None)
    order = np.random.RandomState(1).permutation(60)
    given = {key: value for key, value in record["parameters"].items() if key != "graph"}
    lam = record["parameters"]["graph"]["lam"]
    with pytest.warns(UserWarning, match="depend on their order"):
        model = TLRR(3, graph=TSVDMSC(3, lam=lam, sample_transform="dft"), **given)
        model.fit([X[order] for X in views])
    labels = assign(model.embedding_, 3, order=model.affinity_.sum(axis=1), random_state=2)
    acc = metrics.clustering_scores(y[order], labels)["acc"]
    assert record["scores"]["acc"][2] == pytest.approx(acc, abs=1e-6)


def test_methods_free_of_the_order_say_the_truth(done):
    _, records, _ = done
    table = _tables.entries(records)
    for data in ("YaleB", "mine"):
        for score in ("acc", "nmi"):
            file, shuffled = (table[data, "AWP", order].mean[score] for order in _plan.ORDERS)
            assert file == pytest.approx(shuffled)


def test_own_estimators_and_data_are_rows_and_sets(tmp_path):
    records = reproduce.run(
        output=tmp_path, methods=[], estimators={"first view": FirstView(column=1)},
        views={"blobs": blobs(3)}, seeds=2, jobs=1,
    )  # fmt: skip
    assert {(r["data"], r["row"], r["order"], r["seed"]) for r in records} == {
        ("blobs", "first view", order, seed) for order in ("file", "shuffled") for seed in (0, 1)
    }
    assert len({r["scores"]["acc"][0] for r in records}) == 1  # each sample alone is judged
    assert "column=1" in records[0]["parameters"]["estimator"]
    assert "first view" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_estimators_are_known_by_all_of_their_parameters():
    long = np.zeros(3000)
    other = long.copy()
    other[1500] = 1  # where the text has dots
    told = [_plan._told("mine", FirstView(column)) for column in (long, long.copy(), other)]
    assert told[0] == told[1] and told[0] != told[2]
    assert told[0]["estimator"] == told[2]["estimator"]


def test_names_that_are_no_html_do_not_break_the_page(tmp_path):
    reproduce.run(output=tmp_path, methods=[], estimators={"<i>": FirstView()},
                  views={"a < b": blobs(3)}, orders=["file"], seeds=1, jobs=1)  # fmt: skip
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "a &lt; b" in page and "&lt;i&gt;" in page
    assert "a < b" not in page and "<i>" not in page


def test_best_single_view_has_the_scores_of_the_best(tmp_path):
    views, y = blobs(4)
    views[0] = np.random.default_rng(0).standard_normal(views[0].shape)
    both, one = (
        reproduce.run(output=tmp_path, methods=["best single view"], views={"b": (chosen, y)},
                      orders=["file"], seeds=1, jobs=1)[0]["scores"]["acc"]
        for chosen in (views, views[1:])
    )  # fmt: skip
    assert both == one


# --------------------------------------------------------------------------------- stop and go on


def test_what_is_finished_is_not_computed_again(folder, done, monkeypatch, capsys):
    output, records, _ = done
    monkeypatch.setattr(_run, "work", None)  # would fail
    again = reproduce.run(folder, output, methods=METHODS, sets=["mine"], studies=["tables"],
                          seeds=2, repeats=3, jobs=1)  # fmt: skip
    kept = {record["key"]: record for record in records}
    assert again and all(kept[record["key"]] == record for record in again)
    assert f"{len(again)} cells, {len(again)} of them finished" in capsys.readouterr().out


def test_other_data_parameters_or_repeats_are_other_cells(folder):
    (source,), _ = _data.find_sources(folder, ["mine"], {})
    cell = _cells.Cell("tables", "mine", "AWP", "file", 0, {"n_neighbors": 10}, 1, "AWP")
    keys = [cell.key(source.digest), cell.key("other data"), cell._replace(seed=1).key("x"),
            cell._replace(parameters={}).key("x"), cell._replace(repeats=2).key("x")]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert cell._replace(study="ablation").key("x") == cell.key("x")


class Waiting(FirstView):
    """Never ends where as many cells are finished as the environment says."""

    def fit(self, X):
        while len(_store.read(os.environ["OUTPUT"])) >= int(os.environ["STOP"]):
            time.sleep(0.05)
        return super().fit(X)


def run_waiting(output, stop):
    os.environ |= {"OUTPUT": str(output), "STOP": str(stop)}
    return reproduce.run(output=output, methods=[], views={"blobs": blobs(5)}, seeds=2, jobs=1,
                         estimators={"waiting": Waiting()})  # fmt: skip


def test_killed_half_way_it_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", os.environ.copy())
    arguments = [str(Path(__file__).parent), str(tmp_path)]
    script = ("import sys; sys.path.insert(0, sys.argv[1]); import test_reproduce\n"
              "test_reproduce.run_waiting(sys.argv[2], 2)")  # fmt: skip
    process = subprocess.Popen([sys.executable, "-c", script, *arguments])
    try:
        while len(_store.read(tmp_path)) < 2:
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    before = _store.read(tmp_path)
    with open(tmp_path / _store.RESULTS, "a") as file:
        file.write('{"key": "torn')  # by a machine that died
    with pytest.warns(UserWarning, match="line 3 is no whole record"):
        records = run_waiting(tmp_path, 100)
    assert len(before) == 2 and len(records) == 4
    assert [record for record in records if record["key"] in before] == list(before.values())
    with pytest.warns(UserWarning, match="line 3"):
        assert len(_store.read(tmp_path)) == 4  # records after the torn line are whole


class Failing(FirstView):
    """Fails, until it does not."""

    broken = True

    def fit(self, X):
        if self.broken:
            raise RuntimeError("no luck\ntoday")
        return super().fit(X)


def test_a_failure_is_recorded_told_and_tried_again(tmp_path, monkeypatch):
    views = {"b": blobs(1)}
    given = {"output": tmp_path, "views": views, "orders": ["file"], "seeds": 1, "jobs": 1}
    both = {"fails": Failing(), "works": FirstView()}
    failed, worked = reproduce.run(methods=[], estimators=both, **given)
    assert failed["error"] == "RuntimeError: no luck today" and "scores" in worked
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Failed (1)" in page and "no luck today" in page
    monkeypatch.setattr(Failing, "broken", False)
    assert all("scores" in one for one in reproduce.run(methods=[], estimators=both, **given))
    assert "Failed (0)" in (tmp_path / "report.html").read_text(encoding="utf-8")
    monkeypatch.setattr(Failing, "broken", True)
    with pytest.raises(ValueError, match="no finished cell to report, the first .* no luck today"):
        reproduce.run(methods=[], estimators={"fails": Failing(column=1)}, **given)


def test_two_processes_find_what_one_finds(folder, done):
    output, records, _ = done
    given = {"methods": ["AWP"], "sets": ["mine"], "studies": ["tables"], "repeats": 3}
    fresh = reproduce.run(folder, output / "parallel", jobs=2, **given)
    kept = {record["key"]: record for record in records}
    assert len(fresh) == 2
    assert all(one["scores"] == kept[one["key"]]["scores"] for one in fresh)


# -------------------------------------------------------------------------------- plan and forecast


def test_a_dry_run_computes_nothing(folder, tmp_path, capsys):
    assert reproduce.run(folder, tmp_path / "new", dry_run=True, jobs=1) == []
    assert not (tmp_path / "new").exists()
    out = capsys.readouterr().out
    assert "YaleB:" in out and "of one core" in out and "about" in out
    assert "left out: ORL: not in the data folder" in out


def test_all_cpus_work_by_default_also_those_that_are_busy_now(
    folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(threads, "_busy_neighbours", lambda: 100)
    reproduce.run(folder, tmp_path / "new", dry_run=True)
    assert f"with {joblib.cpu_count()} at a time" in capsys.readouterr().out


def finished(row, seconds, **more):
    """The record of a cell, as far as a forecast looks at it."""
    return {"data": "mine", "row": row, "method": row, "parameters": {}, "n": 640, "n_clusters": 10,
            "repeats": 1, "seconds": seconds, "input_seconds": 0.0, **more}  # fmt: skip


def test_times_are_those_measured_where_there_are_some():
    source = _data.Source("mine", 640, 10, "x")
    cells, _ = _plan.plan([source], ["SNN", "AWP"], {}, ["file"], 1, 1, ["tables"], 20.0)
    rough = _plan.estimated(cells, [source], {})
    known = _plan.estimated(cells, [source], {"a": finished("AWP", 40.0)})
    place = [cell.row for cell in cells].index("AWP")
    ratio = 40.0 / _settings.METHODS["AWP"].seconds  # this machine is so much slower
    assert known[place] == pytest.approx(40.0 + ratio * _plan.KMEANS * 10)
    assert known[1 - place] == pytest.approx(ratio * rough[1 - place])


def test_many_short_cells_say_little_about_long_ones():
    """As those of the sensitivity study, which are faster than their rough times."""
    source = _data.Source("mine", 640, 10, "x")
    cells, _ = _plan.plan([source], ["SNN"], {}, ["file"], 1, 1, ["tables"], 20.0)
    methods = _settings.METHODS
    short, long = methods["TLRR exact"].seconds, methods["TRPCA"].seconds
    records = {k: finished("TLRR exact", short / 10) for k in range(int(0.8 * long / short))}
    records["long"] = finished("TRPCA", 2 * long)
    rough, known = (_plan.estimated(cells, [source], found)[0] for found in ({}, records))
    assert 1.0 < known / rough < 2.0


def test_an_input_that_was_made_takes_what_it_took_and_is_no_part_of_the_fit():
    source = _data.Source("mine", 640, 10, "x")
    cells, _ = _plan.plan([source], ["SNN", "TRPCA"], {}, ["file"], 1, 1, ["tables"], 20.0)
    snn = finished("SNN", 50.0, parameters=cells[0].parameters, input_seconds=7.0)
    trpca = {**snn, "row": "TRPCA", "method": "TRPCA", "seconds": 60.0}
    first, second = _plan.estimated(cells, [source], {"a": snn, "b": trpca})
    assert cells[0].row == "SNN"
    assert first - second == pytest.approx(7.0 + 50.0 - 60.0)  # the second finds the input made


def test_features_of_images_are_part_of_the_forecast():
    made = _data.Source("ORL", 400, 40, "x", features={})
    cells, _ = _plan.plan([made], ["AWP"], {}, _plan.ORDERS, 1, 1, ["tables"], 20.0)
    with_features = _plan.estimated(cells, [made], {})
    without = _plan.estimated(cells, [made._replace(features=None)], {})
    assert np.subtract(with_features, without).tolist() == pytest.approx([400 * _plan.IMAGE, 0])


def test_long_cells_are_fewer_or_left_out_with_the_reason():
    large = _data.Source("UCI", 2000, 10, "x")
    cells, left_out = _plan.plan(
        [large], ["SNN", "SCMV-3DT"], {}, _plan.ORDERS, 3, 1, ["tables"], 7.0
    )
    assert [(cell.row, cell.order, cell.seed) for cell in cells] == [
        ("SNN", "file", 0), ("SNN", "shuffled", 0)
    ]  # fmt: skip
    assert any("SNN, shuffled: 1 of 3 seeds, as one takes" in text for text in left_out)
    assert sum("SCMV-3DT" in text and "minutes, more than" in text for text in left_out) == 2
    _, left_out = _plan.plan([large], ["SCMV-3DT"], {}, ["shuffled"], 3, 1, ["tables"], 20.0)
    assert "does not depend on the order" in left_out[0]


def test_the_papers_numbers_belong_to_rows_and_sets():
    for data, row in _settings.PAPER:
        assert data in _settings.SETS and row in _settings.METHODS
    for method in _settings.METHODS.values():
        assert method.reason and set(method.by_set) <= set(_settings.SETS)
        for data in [*_settings.SETS, "another"]:
            given = method.parameters_on(data)
            graph = given.get("graph", {"method": "AWP"})
            assert graph["method"] in _settings.METHODS
            method.make(3, **{key: given[key] for key in given if key != "graph"})


# ---------------------------------------------------------------------------------------- report


class Page(HTMLParser):
    """What a page refers to, and whether its elements end where they should."""

    void = {"meta", "br", "use", "path", "image"}

    def __init__(self):
        super().__init__()
        self.stack, self.links, self.headings = [], [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for key, value in attrs if key in ("src", "href", "xlink:href")]
        if tag not in self.void:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.links += [value for key, value in attrs if key in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        if tag not in self.void:
            assert self.stack.pop() == tag

    def handle_data(self, data):
        if self.stack and self.stack[-1] == "h2":
            self.headings.append(data)


def test_the_report_is_one_whole_page_without_network(done):
    text = done[2]
    page = Page()
    page.feed(text)
    assert page.stack == []
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert not re.search(r"url\((?!#)|@import|<script", text)
    for heading in ("In short", "All methods", "YaleB", "mine", "Parameters",
                    "Terms of TLRR left out, YaleB", "TLRR after other methods",
                    "Sensitivity of TLRR"):  # fmt: skip
        assert heading in page.headings
    assert "prefers-color-scheme: dark" in text and 'name="viewport"' in text
    assert "#010203" not in text  # every line of a picture has the colour of the text
    for caption in ("YaleB: CPU seconds of one fit", "YaleB: residual of each solver",
                    "mine: similarities that TLRR learned", "mine: spectral embedding of TLRR",
                    "mine: how TLRR default chooses", "YaleB: ACC of TLRR against omega1, ",
                    "YaleB: ACC of TLRR against lam and alpha"):  # fmt: skip
        assert f'aria-label="{caption}' in text


def test_differences_from_the_paper_are_marked(done):
    page = done[2]
    entry = _tables.entries(r for r in done[1] if r["study"] == "tables")["YaleB", "TLRR", "file"]
    value = entry.mean["acc"] - 0.954
    kind = "close" if abs(value) <= 0.005 else "above" if value > 0 else "below"
    assert f'<span class="{kind}">' in page and f"{value:+.3f}</span>" in page


def test_tables_have_every_cell_and_every_row(done, tmp_path):
    output, records = tmp_path, done[1]
    _tables.write_csv(output, records)
    with open(output / "tables" / "cells.csv", newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == len(records)
    assert json.loads(cells[0]["parameters"]) == records[0]["parameters"]
    with open(output / "tables" / "rows.csv", newline="", encoding="utf-8") as file:
        rows = {(r["data"], r["row"], r["order"]): r for r in csv.DictReader(file)}
    one = rows["YaleB", "TLRR", "file"]
    scores = next(r["scores"] for r in records if r["row"] == "TLRR" and r["data"] == "YaleB")
    assert float(one["acc mean"]) == pytest.approx(np.mean(scores["acc"]), abs=1e-5)
    assert one["paper acc"] == "0.954" and rows["mine", "TLRR", "file"]["paper acc"] == ""


def test_a_report_can_be_written_of_what_is_there(done, tmp_path):
    with pytest.raises(ValueError, match="is no folder of results: it has no plan.json"):
        reproduce.write_report(tmp_path)
    plan = {"keys": [record["key"] for record in done[1]], "left_out": ["Mars: too far"]}
    (tmp_path / _run.PLAN).write_text(json.dumps(plan))
    with pytest.raises(ValueError, match="has no finished cell"):
        reproduce.write_report(tmp_path)
    for record in [*done[1][:2], {**done[1][0], "key": "of another run", "data": "elsewhere"}]:
        _store.append(tmp_path, record)
    page = reproduce.write_report(tmp_path).read_text(encoding="utf-8")
    assert f"{len(done[1]) - 2} cells are not finished yet" in page and "Mars: too far" in page
    assert "YaleB" in page and "elsewhere" not in page


# -------------------------------------------------------------------------------- images, bad input


def test_pictures_keep_the_few_neighbours_of_every_sample():
    y = np.repeat([0, 1], 300)
    affinity = np.zeros((600, 600))
    affinity[np.arange(599), np.arange(1, 600)] = 70_000.0  # more than half precision holds
    order = np.random.RandomState(0).permutation(600)
    model = FirstView()
    model.affinity_ = affinity[order][:, order]
    kept = _cells._arrays(model, y[order])
    assert kept["affinity"].shape == (200, 200) and len(kept["affinity_labels"]) == 200
    np.testing.assert_array_equal(kept["affinity_labels"], np.repeat([0, 1], 100))
    assert kept["affinity"].max() == 1.0 and (kept["affinity"].sum(axis=1) > 0).mean() > 0.9


def test_features_of_images_are_made_once(tmp_path, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (12, 24), dtype=np.uint8)
    meta = json.dumps({"image_shape": [6, 4]})
    np.savez(tmp_path / "coil20_images.npz", view_0=images, y=np.arange(12) % 3, meta=meta)
    calls = []

    def image_views(images, **given):
        calls.append((images.shape, given))
        return [images.reshape(12, -1).astype(float), images.mean(axis=2)]

    module = type(sys)("mvsc_fast.features")
    module.image_views = image_views
    monkeypatch.setitem(sys.modules, "mvsc_fast.features", module)
    (source,), absent = _data.find_sources(tmp_path, None, {})
    assert (source.name, source.n, source.n_clusters) == ("Coil20", 12, 3)
    assert absent == ["ORL", "Yale", "YaleB", "UCI"]
    first, again = source.load(tmp_path / "out"), source.load(tmp_path / "out")
    assert calls == [((12, 6, 4), {"intensity_size": (32, 32)})]
    np.testing.assert_array_equal(first[0][0], images)
    np.testing.assert_array_equal(again[0][1], first[0][1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"methods": ["k-means"]}, "unknown method 'k-means': known are TLRR, TLRR exact"),
        ({"orders": ["sorted"]}, "unknown order 'sorted'"),
        ({"methods": "TLRR"}, "methods must be a sequence of names"),
        ({"sets": ["nowhere"]}, "data set 'nowhere': there is no .*nowhere.npz; sets of the paper"),
        ({"data": "no/folder"}, "no/folder is not a folder"),
        ({"data": None, "sets": ["ORL"]}, "data set 'ORL': no data folder was given"),
        ({"seeds": 0}, "seeds == 0, must be >= 1"),
        ({"jobs": 0}, "jobs == 0"),
        ({"estimators": {"TLRR": FirstView()}}, "is a row of the paper, choose another name"),
        ({"estimators": {"mine": FirstView}}, "'mine' must be an estimator of scikit-learn"),
        ({"estimators": {"mine": object()}}, "'mine' must be an estimator of scikit-learn"),
        ({"estimators": {"mine": FirstView(lambda: 0)}}, "'mine' cannot be pickled"),
        ({"views": {"b": ([np.eye(4)], [0, 1])}}, "b: 2 labels for 4 samples"),
        ({"views": {"b": [np.eye(4)] * 3}}, "'b' must be a pair"),
        ({"views": {"ORL": ([np.eye(4)], [0, 1, 0, 1])}}, "'ORL' is a set of the paper"),
        ({"data": None}, "no data: give a folder"),
    ],
)
def test_bad_input_is_named_before_any_work(folder, tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        reproduce.run(**{"data": folder, "output": tmp_path / "new", **given})
    assert not (tmp_path / "new").exists()


def test_names_are_known_whatever_their_punctuation():
    names = _run._known(["tsvd-msc", "lmsc", "TLRR Default"], _settings.METHODS, "method")
    assert names == ["t-SVD-MSC", "L-MSC", "TLRR default"]


def test_the_command_does_what_the_function_does(folder, done, capsys):
    arguments = ["reproduce", str(folder), "--output", str(done[0]), "--methods", "awp",
                 "--sets", "mine", "--studies", "tables", "--seeds", "2", "--repeats", "3",
                 "--jobs", "1"]  # fmt: skip
    assert cli.main(arguments) == 0
    assert "report.html" in capsys.readouterr().out
    assert cli.main([*arguments, "--dry-run"]) == 0
    assert cli.main(["reproduce", str(folder), "--methods", "nothing"]) == 2
    assert "unknown method 'nothing'" in capsys.readouterr().err
