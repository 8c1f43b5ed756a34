import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

from mvsc_fast import datasets, metrics, structure_test
from mvsc_fast.cli import _cluster as _cli_cluster
from mvsc_fast.cli import _demo, main
from mvsc_fast.methods import AWP, ESTIMATORS


@pytest.mark.parametrize("method", sorted(set(ESTIMATORS) - {"awp"}))
def test_cluster_writes_labels_and_scores(data, capsys, method):
    labels = data.parent / "labels.csv"
    options = ["--method", method, "--labels", str(labels), "--scores", "y"]
    assert main(["cluster", str(data), "--clusters", "3", *options]) == 0
    table = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)
    np.testing.assert_array_equal(table[:, 0], np.arange(90))
    assert set(table[:, 1]) == {0, 1, 2}
    out, err = capsys.readouterr()
    assert "acc" in out and method in out
    assert float(out.splitlines()[1].split()[1]) > (0.9 if "tlrr" in method else 0.5)
    a, b, c = np.bincount(table[:, 1]).tolist()
    first, second, last = err.splitlines()
    assert first.endswith("data.npz: view view_0 has 90 samples, 40 features")
    assert last == f"mvsc-fast: 90 samples by cluster: {a} in 0, {b} in 1, {c} in 2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("cluster {data} --clusters 91", "n_clusters=91 is more than the number of samples"),
        ("cluster {data} --clusters 3 --scores nowhere", "no variable 'nowhere'"),
        ("cluster {data} --clusters 3 --method snn --save m.mvsc", "--save: snn cannot predict"),
        ("cluster {data} --clusters 3 --labels l.tsv", "l.tsv: labels are .csv"),
        ("--foo", "unrecognized arguments: --foo (usage: mvsc-fast --help)"),
        ("clutser", "invalid choice: 'clutser'"),
        ("cluster", "required: FILE"),
        ("cluster a.npz", "required: --clusters (usage: mvsc-fast cluster --help)"),
        ("cluster absent.npz --clusters 3 --save m.pkl", "m.pkl: models have the suffix .mvsc"),
        ("cluster absent.npz --clusters 3 --save m.mvsc.gz", "gz: models have the suffix .mvsc"),
        ("cluster a.npz --clusters 3 --clusers 3", "unrecognized arguments: --clusers 3"),
        ("cluster absent.csv --clusters 3", "absent.csv: No such file"),
        ("cluster a.npz --clusters few", "got 'few'"),
        ("cluster a.npz --clusters 0", "got '0'"),
        ("cluster a.npz --clusters 1_0", "got '1_0'"),
        ("cluster a.npz --clusters 3 --seed x", "--seed: invalid int"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(data, capsys, arguments, message):
    try:
        code, advice = main(arguments.format(data=data).split()), ""
    except SystemExit as stop:  # of argparse
        code, advice = stop.code, " --help)"
    *notes, err = capsys.readouterr().err.splitlines()
    assert code == 2 and err.startswith("mvsc-fast") and all(" samples, " in note for note in notes)
    assert message in err and advice in err


def test_no_command_shows_the_help(capsys):
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("usage: mvsc-fast COMMAND") and "examples:" in err


@pytest.mark.parametrize("command", [[], ["cluster"], ["predict"], ["demo"], ["config"]])
def test_help_fits_into_80_columns(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    out = capsys.readouterr().out
    assert out.startswith(f"usage: {' '.join(['mvsc-fast', *command])}")
    assert max(map(len, out.split("\n"))) <= 80


IDS = [f"s{i:02d}" for i in range(60)]


@pytest.fixture
def tables(tmp_path):
    """A folder with two views of 60 samples, the second in another order; both, and the classes."""
    views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    frames = {}
    for name, X, seed in zip("ab", views, (None, 0), strict=False):
        frames[name] = pd.DataFrame(X, pd.Index(IDS, name="id")).add_prefix("f")
        if seed is not None:
            frames[name] = frames[name].sample(frac=1, random_state=seed)
    write(frames, tmp_path)
    return tmp_path, frames, y


def write(frames, folder):
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv")


def cluster(folder, *arguments, labels="out/deep/labels.csv"):
    """Ids and labels of what the command writes to a folder that is not there yet."""
    path = folder / labels
    assert main(["cluster", *map(str, arguments), "--labels", str(path)]) == 0
    table = np.loadtxt(path, delimiter=",", dtype=str)
    assert table[0, 1] == "cluster"
    return table[1:, 0].tolist(), table[1:, 1].astype(int)


def test_scale_clusters_auto_and_explain(tables, capsys):
    folder, frames, y = tables
    frames = {name: 20 + 3 * frame for name, frame in frames.items()}
    frames["a"]["f0"] = 1e6 + 1e5 * frames["a"]["f0"]
    write(frames, folder)
    files = [folder / "a.csv", folder / "b.csv", "--columns", "f*", "--scale", "standard"]
    report = folder / "new" / "r.html"
    _, labels = cluster(folder, *files, "--clusters", "auto", "--report", report)
    assert metrics.clustering_scores(y, labels)["acc"] > 0.9
    err = capsys.readouterr().err
    assert "Suggested: 3 clusters, the smallest of 18 of 60 samples" in err
    assert "Other candidates: " in err
    text = report.read_text(encoding="utf-8")
    assert "ConsensusTLRR: 60 samples in 3 clusters" in text
    assert " ".join(["mvsc-fast cluster", *map(str, files), "--clusters auto"]) in text
    assert re.search(r"f\d+ (1\d|2\d)\.\d \((19|20)\.\d", text)  # in the units of the file


def test_evidence_is_tested_told_and_explained_first(tables, capsys, monkeypatch):
    folder, report = tables[0], tables[0] / "r.txt"
    monkeypatch.setattr(_cli_cluster, "structure_test", partial(structure_test, n_rotations=2))
    files = folder / "a.csv", folder / "b.csv"
    cluster(folder, *files, "--clusters", 3, "--evidence", "--report", report)
    err = capsys.readouterr().err
    assert "mvsc-fast: The structure test found " in err and "view 'b' alone: p = " in err
    assert report.read_text().split("\n\n")[1].startswith("Structure\n")


@pytest.mark.filterwarnings("ignore:without any of the views")
def test_samples_without_a_label(tables, capsys):
    """They are written with -1 and without a certainty, and are in no score."""
    folder, frames, y = tables
    for frame in frames.values():
        frame.loc[IDS[7]] = np.nan
    write(frames, folder)
    pd.Series(y, pd.Index(IDS, name="patient"), name="kind").to_csv(folder / "truth.csv")
    files = [folder / "a.csv", folder / "b.csv", "--clusters", 3]
    ids, labels = cluster(folder, *files, "--certainty", "--scores", folder / "truth.csv")
    assert ids == IDS and np.flatnonzero(labels < 0).tolist() == [7]
    out, err = capsys.readouterr()
    assert "59 samples by cluster" in out and out.count("\n") == 7
    assert "60 samples by cluster: 1 without a label, " in err
    table = pd.read_csv(folder / "out/deep/labels.csv", index_col=0)
    assert list(table) == ["cluster", "certainty", "second"]
    assert np.flatnonzero(table.certainty.isna()).tolist() == [7]
    assert table.certainty.drop(IDS[7]).between(-0.5, 1).all()
    assert (table.second != table.cluster).all()
    cluster(folder, *files[:2], "--clusters", 1, "--certainty")  # without another cluster
    assert list(pd.read_csv(folder / "out/deep/labels.csv", index_col=0)) == ["cluster"]


@pytest.mark.filterwarnings("default")
def test_warnings_are_shown_once(data, monkeypatch, capsys):
    class Warns(ESTIMATORS["awp"]):
        def fit(self, X, y=None):
            for line in range(3):
                warnings.warn_explicit("the same again", UserWarning, "fit", line)
            return super().fit(X, y)

    monkeypatch.setitem(ESTIMATORS, "awp", Warns)
    assert main(["cluster", str(data), "--clusters", "3", "--method", "awp"]) == 0
    assert capsys.readouterr().err.count("the same again") == 1


def test_the_seed_is_that_of_the_method(data, monkeypatch):
    seeds, fit = [], AWP.fit
    monkeypatch.setattr(
        AWP, "fit", lambda self, X, y=None: seeds.append(self.random_state) or fit(self, X)
    )
    arguments = ["cluster", str(data), "--clusters", "3", "--method", "awp"]
    for option in ([], ["--seed", "7"]):
        assert main([*arguments, *option]) == 0
    assert seeds == [0, 7]


def test_demo(capsys, monkeypatch):
    monkeypatch.setattr(_demo, "N_SAMPLES", 200)
    assert main(["demo"]) == 0
    rows = re.findall(r"^ +(ConsensusTLRR|mean cosines) +([.0-9]+)", capsys.readouterr().out, re.M)
    assert [name for name, _ in rows] == ["ConsensusTLRR", "mean cosines"]
    assert float(rows[0][1]) > 0.8


def test_config_shows_the_libraries(capsys):
    assert main(["config"]) == 0
    assert "openmp" in capsys.readouterr().out
