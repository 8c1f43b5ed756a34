"""Files that the commands write."""

import io
import os
import stat
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from processes import program

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.cli import _cluster_command, main
from mvsc_fast.methods import AWP

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def run(data, *arguments):
    return main(["cluster", str(data), "--clusters", "3", "--method", "awp", *map(str, arguments)])


# ------------------------------------------------------------------------------------------ files


def test_a_file_gets_its_place_when_all_is_written(data, monkeypatch):
    path, old = data.parent / "l.csv", data.parent / "old.csv"
    (data.parent / "link.csv").symlink_to(old)
    old.write_text("old")
    os.chmod(old, 0o640)
    assert run(data, "--labels", data.parent / "link.csv") == 0  # the target is replaced
    assert (data.parent / "link.csv").is_symlink()
    assert old.read_text().startswith("sample,cluster")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    umask = os.umask(0)
    os.umask(umask)
    assert run(data, "--labels", path) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask

    def full(stream, *args):
        stream.write("half")
        raise OSError(28, "No space left on device")

    before, files = path.read_text(), sorted(os.listdir(data.parent))
    monkeypatch.setattr(_cluster_command, "write_labels", full)
    assert run(data, "--labels", path) == 2
    assert path.read_text() == before and sorted(os.listdir(data.parent)) == files


def test_outputs_are_compared_as_files(data, refused):
    folder = data.parent
    (folder / "l.csv").write_text("")
    (folder / "soft.csv").symlink_to(folder / "l.csv")
    (folder / "dangling.csv").symlink_to(folder / "new.csv")
    before = data.read_bytes()
    for outputs, message in (
        (["--labels", data], "data.npz is an input file"),
        (["--labels", folder / "l.csv", "--report", folder / "soft.csv"], "written twice, as "),
        (["--labels", folder / "dangling.csv", "--report", folder / "new.csv"], "written twice"),
        (["--labels", folder / "x.csv", "--report", folder / "x.csv"], "would be written twice"),
        (["--labels", folder], "is a folder: choose a file"),
        (["--labels", folder / "out", "--report", folder / "out" / "r.html"], "out is a folder"),
        (["--report", ""], "is a folder: choose a file"),
        (["--labels=~/out.csv"], "~/out.csv: the shell has not replaced ~"),
        (["--scores", ""], "'' has no labels"),
        (["--views", ""], "''"),
        (["--scores", folder / "l.csv", "--labels", folder / "l.csv"], "l.csv is an input file"),
    ):
        assert message in refused("cluster", data, "--clusters", 3, *outputs)
    assert data.read_bytes() == before


def test_pipes_and_devices_are_written_as_they_stand(data):
    pipe = data.parent / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    assert run(data, "--labels", pipe) == 0
    reader.join()
    assert read[0].startswith("sample,cluster\n0,") and stat.S_ISFIFO(pipe.stat().st_mode)
    found = program(f"{data} --labels /dev/stdout --scores")
    assert found.stdout.startswith("sample,cluster\n0,") and "acc" in found.stdout
    out = data.parent / "out.txt"
    for device in ("/dev/stdout", "/dev/fd/1"):
        assert program(f"{data} --labels {device} --scores", change=f"> {out}").returncode == 0
        assert "acc" in out.read_text()


def test_outputs_are_checked_before_files_are_read(tmp_path, refused):
    (tmp_path / "damaged.npz").write_bytes(b"no archive")
    for name in ("m.skops", "m"):
        arguments = [tmp_path / "damaged.npz", "--clusters", "3", "--save", tmp_path / name]
        assert f"{name}: models have the suffix .pkl" in refused("cluster", *arguments)


def test_terminal_without_the_letters_of_a_table(tmp_path, monkeypatch, refused):
    table, truth = tmp_path / "a.csv", tmp_path / "truth.csv"
    views, y = datasets.make_multiview_subspaces(30, 2, random_state=0)
    ids = pd.Index(["Ä1", "Ö漢", *(f"s{i}" for i in range(28))], name="id")
    pd.DataFrame(views[0], ids).add_prefix("ж").to_csv(table)
    pd.Series(np.where(y, "漢", "a"), ids, name="kind").to_csv(truth)
    arguments = ["cluster", str(table), "--clusters", "2"]
    terminal = io.TextIOWrapper(io.BytesIO(), "latin-1")
    monkeypatch.setattr("sys.stdout", terminal)

    # Texts are escaped, and files hold the letters.
    file = ["--labels", str(tmp_path / "labels.csv")]
    assert main([*arguments, *file, "--report", "-", "--scores", str(truth)]) == 0
    labels = (tmp_path / "labels.csv").read_text(encoding="utf-8")
    assert labels.startswith("id,cluster\nÄ1,")
    shown = terminal.buffer.getvalue().decode("latin-1")
    assert r"\u0436" in shown and r"\u6f22" in shown and "nmi" in shown

    # Labels with other ids would be wrong.
    monkeypatch.setattr(ConsensusTLRR, "fit", None)
    message = refused(*arguments)
    assert r"\u6f22" in message and "latin-1" in message and "PYTHONUTF8=1" in message


def test_labels_are_kept_if_the_report_fails(data, monkeypatch):
    def explain(*args, **options):
        raise MemoryError

    monkeypatch.setattr(_cluster_command, "explain", explain)
    labels = data.parent / "labels.csv"
    assert run(data, "--labels", labels, "--report", data.parent / "r.txt") == 2
    assert labels.read_text().startswith("sample,cluster")


def test_a_dash_is_the_standard_output(data, capsys, monkeypatch):
    monkeypatch.chdir(data.parent)
    assert run(data, "--labels", "-", "--scores") == 0
    out, err = capsys.readouterr()
    assert out.startswith("sample,cluster\n0,") and out.count("\n") == 61 and "acc" in err
    assert os.listdir(data.parent) == [data.name]


def test_interrupt_is_exit_code_130(monkeypatch, data):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(AWP, "fit", interrupted)
    assert run(data) == 130
