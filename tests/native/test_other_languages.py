"""The scripts of docs/other_languages.md, where R with reticulate and Octave are installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(command):
    """Standard output of a command, which must succeed."""
    environment = {k: v for k, v in os.environ.items() if k != "RETICULATE_PYTHON"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def has_reticulate():
    if shutil.which("Rscript") is None:
        return False
    done = subprocess.run(
        ["Rscript", "-e", "library(reticulate)"], capture_output=True, check=False
    )
    return done.returncode == 0


def test_r():
    if not has_reticulate():
        pytest.skip("needs R with the package reticulate")
    pytest.importorskip("pandas")
    output = run(["Rscript", EXAMPLES / "r" / "cluster.R", sys.executable])
    table = [
        line.split()[1:] for line in output.splitlines() if line.strip()[:2] in ("0 ", "1 ", "2 ")
    ]
    assert sorted(sum(table, [])) == ["0"] * 6 + ["40"] * 3
    assert "120 samples in 3 clusters" in output


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="needs Octave")
def test_octave():
    command = Path(sys.executable).with_name("mvsc-fast")
    output = run(["octave-cli", "--quiet", EXAMPLES / "octave" / "cluster.m", command])
    assert "120 of 120 samples" in output
