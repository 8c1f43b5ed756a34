"""Files that the commands write."""

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from processes import program

from mvsc_fast import datasets
from mvsc_fast.cli import _cluster, main
from mvsc_fast.methods import AWP

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def run(data, *arguments):
    return main(["cluster", str(data), "--clusters", "3", "--method", "awp", *map(str, arguments)])


def test_the_target_of_a_link_is_replaced(data):
    old = data.parent / "old.csv"
    (data.parent / "link.csv").symlink_to(old)
    old.write_text("old")
    assert run(data, "--labels", data.parent / "link.csv") == 0
    assert (data.parent / "link.csv").is_symlink()
    assert old.read_text().startswith("sample,cluster")


def test_outputs_are_compared_as_files(data, refused):
    folder = data.parent
    (folder / "l.csv").write_text("")
    (folder / "soft.csv").symlink_to(folder / "l.csv")
    before = data.read_bytes()
    for outputs in (
        ["--labels", data],
        ["--labels", folder / "l.csv", "--report", folder / "soft.csv"],
        ["--labels", folder / "x.csv", "--report", folder / "x.csv"],
        ["--labels", folder],
        ["--scores", folder / "l.csv", "--labels", folder / "l.csv"],
    ):
        assert "choose another" in refused("cluster", data, "--clusters", 3, *outputs)
    assert data.read_bytes() == before


@pytest.mark.slow
def test_pipes_and_devices_are_written_as_they_stand(data):
    pipe = data.parent / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    assert run(data, "--labels", pipe) == 0
    reader.join()
    assert read[0].startswith("sample,cluster\n0,") and pipe.is_fifo()
    found = program(f"{data} --labels /dev/stdout")
    assert found.stdout.startswith("sample,cluster\n0,")


def test_letters_that_a_terminal_does_not_have_are_escaped(tmp_path, monkeypatch):
    views, _ = datasets.make_multiview_subspaces(30, 2, random_state=0)
    ids = pd.Index(["\u6f22", *(f"s{i}" for i in range(29))], name="id")
    pd.DataFrame(views[0], ids).add_prefix("f").to_csv(tmp_path / "a.csv")
    terminal = io.TextIOWrapper(io.BytesIO(), "latin-1")
    monkeypatch.setattr("sys.stdout", terminal)
    arguments = ["cluster", str(tmp_path / "a.csv"), "--clusters", "2"]
    assert main(arguments) == 0
    assert b"\nid,cluster\n\\u6f22,"[1:] in terminal.buffer.getvalue()
    assert main([*arguments, "--labels", str(tmp_path / "l.csv")]) == 0
    assert (tmp_path / "l.csv").read_text(encoding="utf-8").startswith("id,cluster\n\u6f22,")


def test_labels_are_kept_if_the_report_fails(data, monkeypatch):
    def explain(*args, **options):
        raise MemoryError

    monkeypatch.setattr(_cluster, "explain", explain)
    labels = data.parent / "labels.csv"
    assert run(data, "--labels", labels, "--report", data.parent / "r.txt") == 2
    assert labels.read_text().startswith("sample,cluster")


def test_interrupt_is_exit_code_130(monkeypatch, data):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(AWP, "fit", interrupted)
    assert run(data) == 130


# Streams that are closed or full.


@pytest.mark.parametrize(
    ("change", "code", "fact"), [("<&- 2>&-", 0, ""), (">&-", 2, "standard output")]
)
@pytest.mark.slow
def test_streams_that_are_closed(data, change, code, fact):
    found = program(str(data), change=change, cwd=data.parent)
    assert found.returncode == code
    assert fact in found.stderr and found.stderr.count("rror") <= 1
    assert code or found.stdout.startswith("sample,cluster")


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(data):
    command = [sys.executable, "-m", "mvsc_fast", "cluster", data, "--clusters", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        done.stdout.close()
        assert b"rror" not in done.stderr.read()
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.slow
def test_a_full_standard_output(data):
    found = program(str(data), change="> /dev/full")
    assert found.returncode == 2 and found.stderr.count("rror") == 1
    assert "No space left on device" in found.stderr
