"""Disks that are full and files that may not grow: what was there stays."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import program, run_python

from mvsc_fast import datasets
from mvsc_fast.cli import _cluster_command, main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")


@pytest.fixture
def data(tmp_path):
    views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    np.savez(tmp_path / "data.npz", view_0=views[0], view_1=views[1], y=y)
    return tmp_path / "data.npz"


@pytest.mark.parametrize("option", ["--labels", "--report", "--save"])
def test_an_output_that_fails_leaves_the_old_file(data, monkeypatch, capsys, option):
    path = data.parent / "old.png"
    path.write_text("old")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_cluster_command, "write_labels", full)
    monkeypatch.setattr("mvsc_fast.explanation._explain.page", full)
    monkeypatch.setattr("pickle.dumps", full)
    labels = [] if option == "--labels" else ["--labels", data.parent / "labels.csv"]
    if labels:
        monkeypatch.setattr(_cluster_command, "write_labels", lambda *args: None)
    assert (
        main(
            [
                "cluster",
                str(data),
                "--clusters",
                "3",
                *(() if option == "--save" else ("--method", "snn")),
                option,
                str(path),
                *map(str, labels),
            ]
        )
        == 2
    )
    assert "No space left" in capsys.readouterr().err
    assert path.read_text() == "old"
    assert not [name for name in os.listdir(data.parent) if name.startswith(".mvsc-fast")]


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of 16 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", folder]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a file system is not allowed here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("option", ["--labels", "--save"])
def test_a_full_disk_leaves_the_old_file(data, small_disk, option):
    (small_disk / "filler").write_bytes(bytes(8192))
    old = small_disk / "old"
    old.write_text("old")
    while True:  # to the last page
        try:
            with open(small_disk / "filler", "ab") as stream:
                stream.write(bytes(4096))
        except OSError:
            break
    method = "--method consensus-tlrr" if option == "--save" else ""
    found = program(f"{data} {option} {old}", change=method)
    assert found.returncode == 2 and "No space left on device" in found.stderr
    assert "Traceback" not in found.stderr
    assert old.read_text() == "old" and sorted(os.listdir(small_disk)) == ["filler", old.name]


def test_a_file_that_may_not_grow_leaves_the_old_one(data):
    old = data.parent / "old"
    old.write_text("old")
    run_python(
        """
        import resource, signal, sys
        from mvsc_fast.cli import main
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, -1))
        data, old = sys.argv[1:]
        for option in ("--labels", "--save"):
            assert main(["cluster", data, "--clusters", "3", option, old]) == 2
            assert open(old).read() == "old"
        """,
        data,
        old,
        fresh=True,
    )
    assert sorted(os.listdir(data.parent)) == [data.name, old.name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_standard_output(data):
    found = program(str(data), change="> /dev/full --labels labels.csv --scores", cwd=data.parent)
    assert found.returncode == 2 and found.stderr.count("\n") == 1
    assert "No space left on device" in found.stderr
