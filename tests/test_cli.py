import subprocess
import sys

import numpy as np
import pytest

from mvsc_fast import cli, datasets
from mvsc_fast.cli import main
from mvsc_fast.methods import ESTIMATORS, _tlrr_size


@pytest.fixture
def data(tmp_path):
    views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    np.savez(tmp_path / "data.npz", view_0=views[0], view_1=views[1], y=y)
    np.savez(tmp_path / "plain.npz", view_0=views[0], view_1=views[1])
    return tmp_path


@pytest.mark.parametrize("method", sorted(set(ESTIMATORS) - {"awp"}))
def test_cluster_writes_labels_picture_and_scores(data, capsys, method):
    arguments = ["cluster", str(data / "data.npz"), "--clusters", "3", "--method", method,
                 "--labels", str(data / "labels.csv"), "--plot", str(data / "plot.png"),
                 "--scores"]  # fmt: skip
    assert main(arguments) == 0
    labels = np.loadtxt(data / "labels.csv", dtype=int)
    assert set(labels) == {0, 1, 2} and len(labels) == 90
    assert (data / "plot.png").read_bytes().startswith(b"\x89PNG")
    out, err = capsys.readouterr()
    assert "acc" in out and method in out
    assert float(out.splitlines()[1].split()[1]) > (0.9 if "tlrr" in method else 0.5)
    assert err == ""  # quiet in a pipe


def test_similarities_kept_sparse_are_drawn(data, monkeypatch):
    monkeypatch.setattr(_tlrr_size, "DENSE_COST", 0)
    picture = data / "plot.png"
    arguments = ["--clusters", "3", "--method", "tlrr", "--plot", str(picture)]
    assert main(["cluster", str(data / "data.npz"), *arguments]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_labels_go_to_the_output_by_default(data, capsys):
    main(["cluster", str(data / "plain.npz"), "--clusters", "3"])
    assert len(capsys.readouterr().out.split()) == 90


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.npz", "--clusters", "3"], "No such file"),
        (["{plain}", "--clusters", "91"], "n_clusters=91 is more than the number of samples"),
        (["{plain}", "--clusters", "0"], "n_clusters == 0, must be >= 1"),
        (["{plain}", "--clusters", "3", "--scores"], "holds no labels"),
        (["{plain}", "--clusters", "3", "--method", "tlrr", "--neighbors", "few"], "a number"),
        (["{plain}", "--clusters", "3", "--neighbors", "8"], "consensus-tlrr has no such"),
        (["{plain}", "--clusters", "3", "--threads", "0"], "n_threads"),
        (["{plain}", "--clusters", "3", "--method", "awp", "--plot", "p.png"], "no affinity"),
        (["{plain}", "--clusters", "3", "--labels", "."], "is a folder"),
        (["{plain}", "--clusters", "3", "--plot", "p.xyz"], "pictures are saved as"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(data, capsys, arguments, message):
    arguments = [text.format(plain=data / "plain.npz") for text in arguments]
    assert main(["cluster", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("mvsc-fast: error: ") and err.count("\n") == 1
    assert message in err


def test_wrong_usage_exits_with_2(capsys):
    for arguments in ([], ["cluster"], ["cluster", "a.npz"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        assert "usage" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:the tensor at")
def test_demo(tmp_path, capsys):
    assert main(["demo", "--per-class", "12", "--output", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    for row in ("ConsensusTLRR", "TLRR", "view 5 alone", "averaged graph", "concatenated"):
        assert row in out
    table = np.loadtxt(tmp_path / "out" / "labels.csv", delimiter=",", skiprows=1, dtype=int)
    np.testing.assert_array_equal(np.bincount(table[:, 2]), [12] * 10)
    assert len(set(table[:, 0])) == 120
    assert (tmp_path / "out" / "similarity.png").stat().st_size > 10_000


def test_demo_size_is_checked(capsys):
    assert main(["demo", "--per-class", "201"]) == 2
    assert "--per-class must be from 3 to 200" in capsys.readouterr().err


def test_config_and_module_entry():
    run = subprocess.run(
        [sys.executable, "-m", "mvsc_fast", "config"], capture_output=True, text=True, check=True
    )
    for word in ("mvsc_fast", "openmp", "blas", "threads"):
        assert word in run.stdout


def test_interrupt_is_exit_code_130(monkeypatch, capsys, data):
    def interrupted(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_cluster", interrupted)
    assert main(["cluster", str(data / "plain.npz"), "--clusters", "3"]) == 130
