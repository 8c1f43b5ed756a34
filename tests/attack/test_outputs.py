"""Outputs that cannot be written: closed streams, full devices, files that may not grow."""

import subprocess
import sys
from pathlib import Path

import pytest
from processes import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@pytest.mark.parametrize(
    ("change", "code", "fact"), [("<&- 2>&-", 0, ""), (">&-", 2, "standard output")]
)
def test_streams_that_are_closed(data, change, code, fact):
    run = program(str(data), change=change, cwd=data.parent)
    assert run.returncode == code
    assert fact in run.stderr and run.stderr.count("rror") <= 1
    assert code or run.stdout.startswith("sample,cluster")


def test_a_reader_that_has_seen_enough_is_no_error(data):
    command = [sys.executable, "-m", "mvsc_fast", "cluster", data, "--clusters", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.close()
        assert b"rror" not in run.stderr.read()
    assert run.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_standard_output(data):
    run = program(str(data), change="> /dev/full")
    assert run.returncode == 2 and run.stderr.count("rror") == 1
    assert "No space left on device" in run.stderr
