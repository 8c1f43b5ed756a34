"""Files that the commands write, and standard streams that are closed or full."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from mvsc_fast import cli, datasets
from mvsc_fast.cli import _cluster_command, main
from mvsc_fast.cli._outputs import check_outputs, replaced


@pytest.fixture
def data(tmp_path):
    views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    np.savez(tmp_path / "data.npz", view_0=views[0], view_1=views[1], y=y)
    return tmp_path / "data.npz"


def run(data, *arguments):
    return main(["cluster", str(data), "--clusters", "3", "--method", "awp",
                 *map(str, arguments)])  # fmt: skip


def program(arguments, **streams):
    """The command in a process, started by a shell that closes or fills its streams."""
    command = f"{sys.executable} -m mvsc_fast cluster {arguments} --method awp --clusters 3"
    return subprocess.run(["sh", "-c", f"{command} {streams.pop('change', '')}"], text=True,
                          capture_output=True, **streams)  # fmt: skip


# ------------------------------------------------------------------------------------------ files


def test_a_file_gets_its_place_when_all_is_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    os.chmod(path, 0o640)
    with replaced(path) as stream:
        stream.write("new")
        stream.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(OSError, match="full"):
        with replaced(path) as stream:
            stream.write("half")
            raise OSError("full")
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["a.csv"]
    with replaced(tmp_path / "b.png", "wb") as stream:
        stream.write(b"new")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "b.png").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("option", ["--labels", "--plot", "--report"])
def test_an_output_that_fails_leaves_the_old_file(data, monkeypatch, capsys, option):
    path = data.parent / "old.png"
    path.write_text("old")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_cluster_command, "write_labels", full)
    monkeypatch.setattr(_cluster_command, "picture", full)
    monkeypatch.setattr("mvsc_fast.explanation._report.page", full)
    labels = [] if option == "--labels" else ["--labels", data.parent / "labels.csv"]
    if labels:
        monkeypatch.setattr(_cluster_command, "write_labels", lambda *args: None)
    assert main(["cluster", str(data), "--clusters", "3", "--method", "snn", option, str(path),
                 *map(str, labels)]) == 2  # fmt: skip
    assert "No space left" in capsys.readouterr().err
    assert path.read_text() == "old"
    assert not [name for name in os.listdir(data.parent) if name.startswith(".mvsc-fast")]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    for text in ("one", "two"):
        with replaced(tmp_path / "link.csv") as stream:
            stream.write(text)
        assert (tmp_path / "link.csv").is_symlink()
        assert (tmp_path / "a.csv").read_text() == text


def test_outputs_are_compared_as_files(data, capsys):
    folder = data.parent
    (folder / "l.csv").write_text("")
    (folder / "soft.csv").symlink_to(folder / "l.csv")
    (folder / "dangling.csv").symlink_to(folder / "new.csv")
    os.link(data, folder / "hard.csv")
    before = data.read_bytes()
    for outputs, message in (
        (["--labels", folder / "hard.csv"], "hard.csv is read, as "),
        (["--labels", folder / "l.csv", "--report", folder / "soft.csv"], "written twice, as "),
        (["--labels", folder / "dangling.csv", "--report", folder / "new.csv"], "written twice"),
        (["--labels", folder / "x.csv", "--report", folder / "x.csv"], "would be written twice"),
        (["--labels", folder], "is a folder: name a file"),
    ):
        assert run(data, *outputs) == 2
        assert message in capsys.readouterr().err
    assert data.read_bytes() == before
    with pytest.raises(ValueError, match="truth.csv is read"):
        check_outputs([folder / "truth.csv"], [folder / "l.csv", folder / "truth.csv"])


def test_pipes_and_devices_are_written_as_they_stand(data):
    pipe = data.parent / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert run(data, "--labels", pipe) == 0
    reader.join()
    assert read[0].startswith("sample,cluster\n0,") and stat.S_ISFIFO(pipe.stat().st_mode)
    found = program(f"{data} --labels /dev/stdout --scores")
    assert found.stdout.startswith("sample,cluster\n0,") and "acc" in found.stdout
    out = data.parent / "out.txt"
    assert program(f"{data} --labels /dev/stdout --scores", change=f"> {out}").returncode == 0
    assert "acc" in out.read_text()


# ---------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ("<&-", 0, "60 samples"),
        ("2>&-", 0, ""),
        (">&-", 2, "the standard output is closed: name a file by --labels"),
        ("> /dev/full", 2, "No space left on device"),
        ("> /dev/full --labels labels.csv --scores", 2, "No space left on device"),
    ],
)
def test_streams_that_are_closed_or_full(data, change, code, message):
    found = program(str(data), change=change, cwd=data.parent)
    assert found.returncode == code
    assert "Traceback" not in found.stderr and "Exception ignored" not in found.stderr
    assert message in found.stderr and len(found.stderr.splitlines()) <= 1
    assert code or found.stdout.startswith("sample,cluster")


def test_a_closed_standard_input_cannot_be_read(data):
    found = program("-", change="<&-")
    assert found.returncode == 2
    assert found.stderr == "mvsc-fast: error: standard input: it is closed\n"


def test_a_reader_that_has_seen_enough_is_no_error(data):
    command = [sys.executable, "-m", "mvsc_fast", "cluster", data, "--clusters", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 141


def test_interrupt_is_exit_code_130(monkeypatch, data):
    def interrupted(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_cluster", interrupted)
    assert run(data) == 130


@pytest.mark.parametrize("name", ["$x^$.npy", "a\udcff.npy", "<b>&amp;.npy"])
def test_names_of_files_in_reports_and_pictures(tmp_path, monkeypatch, name):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    monkeypatch.chdir(tmp_path)
    try:
        with open(name, "wb") as stream:
            np.save(stream, views[0])
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes text alone")
    np.save("b.npy", views[1])
    assert main(["cluster", name, "b.npy", "--clusters", "3", "--labels", "l.csv", "--report",
                 "r.html", "--plot", "p.png"]) == 0  # fmt: skip
    page = Path("r.html").read_text(encoding="utf-8")
    shown = {"$": "$x^$.npy", "a": "a\ufffd.npy", "<": "&lt;b&gt;&amp;amp;.npy"}[name[0]]
    assert shown in page
