"""Programs of users: C, R, Octave, and an application that PyInstaller makes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import FULL
from extensions import c_compiler
from native_calls import EXAMPLES, example

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast._utils.pyinstaller import hook_folders


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program, built without a warning by the commands in its first comment."""
    folder = tmp_path_factory.mktemp("program")
    source = Path(shutil.copy(example("label_rows.c"), folder))
    copy, compile_ = re.findall(r"^ \* {5}((?:cp|cc) .*)$", source.read_text(), re.M)
    strict = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror"
    compile_ = compile_.replace("cc -O3", f"{c_compiler()} -O1 {strict}")
    copy = copy.replace("python", sys.executable)
    subprocess.run(f"{copy} && {compile_}", shell=True, cwd=folder, check=True)
    return folder / "label_rows"


@pytest.fixture
def case(tmp_path):
    """A model with names of views, one of which is not used, its file, and files of new rows."""
    views, _ = datasets.make_multiview_subspaces(1500, 4, n_features=(20, 350), random_state=0)
    views = {"a": views[0], "none": np.ones((1500, 3)), "b": views[1]}
    with pytest.warns(UserWarning, match="all samples are equal"):
        model = ConsensusTLRR(4, random_state=0).fit({k: X[:300] for k, X in views.items()})
    model.to_native(tmp_path / "model.mvsc")
    new = {name: X[300:] for name, X in views.items()}
    new["a"][::7] = np.nan
    new["b"][::3, ::5] = np.nan
    new["b"] = new["b"].astype(np.float32)
    for name, X in new.items():
        np.save(tmp_path / f"{name}.npy", X)
    return model, new, [tmp_path / name for name in ("model.mvsc", "a.npy", "none.npy", "b.npy")]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_the_program_labels_new_rows_as_python_does(program, case):
    model, new, files = case
    with pytest.warns(UserWarning, match="cells are filled"):
        expected = model.predict(new)
        _, unlike = model.predict_margin(new, return_unlike=True)
    assert unlike.any()
    for given in (files, [*files[:2], "-", files[3]]):  # the second view is not used
        found = run(program, *given)
        assert found.returncode == 0
        assert found.stderr == f"{unlike.sum()} of 1200 rows are unlike the fitted ones\n"
        np.testing.assert_array_equal(np.array(found.stdout.split(), dtype=int), expected)
    new["a"][:] = np.nan
    with pytest.warns(UserWarning, match="cells are filled"):
        expected = model.predict(new)
    found = run(program, files[0], "-", "-", files[3])
    np.testing.assert_array_equal(np.array(found.stdout.split(), dtype=int), expected)


def test_the_program_reports_what_is_wrong(program, case, tmp_path):
    _, new, files = case
    new["a"][1000, 3] = np.inf
    np.save(tmp_path / "infinite.npy", new["a"])
    np.save(tmp_path / "few.npy", new["a"][:9])
    np.save(tmp_path / "narrow.npy", new["a"][:, 1:])
    np.save(tmp_path / "columns.npy", np.asfortranarray(new["a"]))
    (tmp_path / "half.npy").write_bytes(files[1].read_bytes()[:5000])
    (tmp_path / "text.mvsc").write_text("x" * 999)
    for given, message in (
        ([files[0], files[1]], "give one file for each of its views"),
        ([files[0], tmp_path / "infinite.npy", "-", files[3]], "row 1000 of a: infinite"),
        ([files[0], tmp_path / "few.npy", "-", files[3]], "b.npy has 1200 rows"),
        ([files[0], tmp_path / "narrow.npy", "-", files[3]], "expected rows of 20 columns"),
        ([files[0], tmp_path / "columns.npy", "-", files[3]], "numpy.ascontiguousarray(X)"),
        ([files[0], tmp_path / "half.npy", "-", files[3]], "half.npy: incomplete"),
        ([files[0], tmp_path / "text.mvsc", "-", files[3]], "not an .npy file"),
        ([files[0], "-", "-", "-"], "no view that the model uses is given"),
        ([tmp_path / "text.mvsc", *files[1:]], "this is not a model of mvsc_fast"),
        ([tmp_path / "absent.mvsc", *files[1:]], "the file cannot be read"),
    ):
        wrong = run(program, *given)
        assert wrong.returncode == 1 and message in wrong.stderr, wrong.stderr


def output(*command):
    """Standard output of a command, which must succeed."""
    environment = {k: v for k, v in os.environ.items() if k != "RETICULATE_PYTHON"}
    done = run(*command, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
def test_r():
    version = run("Rscript", "-e", 'cat(format(packageVersion("reticulate")))')
    if version.returncode != 0:
        pytest.skip("needs the package reticulate of R")
    if [int(part) for part in version.stdout.split(".")] < [1, 38] and np.__version__ >= "2":
        pytest.skip("reticulate before 1.38 does not convert arrays of NumPy 2")
    text = output("Rscript", EXAMPLES.parent / "r" / "cluster.R", sys.executable)
    table = re.findall(r"^ *[012] +(\d+) +(\d+) +(\d+) *$", text, re.MULTILINE)
    assert sorted(sum(table, ())) == ["0"] * 6 + ["40"] * 3
    assert "120 samples in 3 clusters" in text


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="needs Octave")
def test_octave():
    command = Path(sys.executable).with_name("mvsc-fast")
    script = EXAMPLES.parent / "octave" / "cluster.m"
    assert "120 of 120 samples" in output("octave-cli", "--quiet", script, command)


APPLICATION = """
import sys
from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.cli import main
views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
ConsensusTLRR(3, random_state=0).fit(views).to_native("model.mvsc")
sys.exit(main(["predict", "--help"]))
"""


@pytest.mark.skipif(not FULL, reason="takes minutes: MVSC_STRESS=full")
def test_a_frozen_application_fits(tmp_path):
    pytest.importorskip("PyInstaller")
    (tmp_path / "application.py").write_text(APPLICATION)
    command = [sys.executable, "-m", "PyInstaller", "--log-level", "ERROR", "application.py"]
    for folder in hook_folders():
        command += ["--additional-hooks-dir", folder]
    subprocess.run(command, cwd=tmp_path, check=True)
    program = tmp_path / "dist" / "application" / "application"
    done = run(program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "usage: mvsc-fast predict" in done.stdout
    assert (tmp_path / "model.mvsc").stat().st_size > 0
