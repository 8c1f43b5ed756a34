"""The scripts of docs/other_languages.md, where R with reticulate and Octave are installed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(command):
    """Standard output of a command, which must succeed."""
    environment = {k: v for k, v in os.environ.items() if k != "RETICULATE_PYTHON"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def reticulate_version():
    """Version of reticulate as a list of numbers, or None."""
    if shutil.which("Rscript") is None:
        return None
    command = ["Rscript", "-e", 'cat(format(packageVersion("reticulate")))']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [int(part) for part in done.stdout.split(".")] if done.returncode == 0 else None


def test_r():
    version = reticulate_version()
    if version is None:
        pytest.skip("needs R with the package reticulate")
    if version < [1, 38] and np.__version__ >= "2":
        pytest.skip("reticulate before 1.38 does not convert arrays of NumPy 2")
    pytest.importorskip("pandas")
    output = run(["Rscript", EXAMPLES / "r" / "cluster.R", sys.executable])
    table = re.findall(r"^ *[012] +(\d+) +(\d+) +(\d+) *$", output, re.MULTILINE)
    assert sorted(sum(table, ())) == ["0"] * 6 + ["40"] * 3
    assert "120 samples in 3 clusters" in output


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="needs Octave")
def test_octave():
    command = Path(sys.executable).with_name("mvsc-fast")
    output = run(["octave-cli", "--quiet", EXAMPLES / "octave" / "cluster.m", command])
    assert "120 of 120 samples" in output
