"""Standard streams that are closed."""

import subprocess
import sys

import numpy as np
import pytest
from processes import program

from mvsc_fast import datasets

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@pytest.fixture
def data(tmp_path):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    np.savez(tmp_path / "data.npz", view_0=views[0], view_1=views[1])
    return tmp_path / "data.npz"


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ("<&- 2>&-", 0, ""),
        (">&-", 2, "the standard output is closed: use --labels to write a file"),
        (">&- 2>&- <&-", 2, ""),
    ],
)
def test_streams_that_are_closed(data, change, code, message):
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
