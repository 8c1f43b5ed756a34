"""The program of examples/native labels new samples as Python does."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from extensions import c_compiler
from native_calls import example

import mvsc_fast
from mvsc_fast import ConsensusTLRR, datasets


def libpython():
    """The file of Python that a program is linked with."""
    config = sysconfig.get_config_var
    if config("Py_ENABLE_SHARED"):
        folders, name = [config("LIBDIR")], config("LDLIBRARY")
        if config("MULTIARCH"):
            folders.append(str(Path(config("LIBDIR"), config("MULTIARCH"))))
    else:
        folders, name = [config("LIBPL")], config("LIBRARY")
    found = [path for folder in folders if (path := Path(folder, name)).exists()]
    if not found:
        pytest.skip(f"no {name} to link a program with")
    return found[0]


def run(*command):
    # The embedded interpreter is found along PATH, with its site-packages.
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(Path(mvsc_fast.__file__).parent.parent),
    }
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The folder of the plain programs, built."""
    c_compiler()
    libpython()
    folder = tmp_path_factory.mktemp("programs") / "c_program"
    shutil.copytree(example("c_program"), folder)
    built = run(sys.executable, str(folder / "build.py"))
    assert built.returncode == 0 and not built.stderr, built.stderr
    return folder


@pytest.fixture(scope="module")
def model(programs, tmp_path_factory):
    """A fitted model and its file; one of its views is not used."""
    views, _ = datasets.make_multiview_subspaces(1500, 4, n_features=(20, 350), random_state=0)
    views = [views[0], np.ones((1500, 3)), views[1]]
    with pytest.warns(UserWarning, match="all samples are equal"):
        model = ConsensusTLRR(4, random_state=0).fit([X[:300] for X in views])
    spec = importlib.util.spec_from_file_location("save_model", programs / "save_model.py")
    save_model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(save_model)
    path = tmp_path_factory.mktemp("model") / "model.bin"
    save_model.save(model, path, [X.shape[1] for X in views])
    return model, path, [X[300:] for X in views]


@pytest.mark.parametrize("n_threads, batch", [("1", "1"), ("3", "500"), ("3", "5000")])
def test_a_plain_program_labels_new_rows_as_python_does(
    programs, model, tmp_path, n_threads, batch
):
    fitted, path, views = model
    views[0][::7] = np.nan
    views[2][::3, ::5] = np.nan
    for i, X in enumerate(views):
        X.tofile(tmp_path / f"{i}.f64")
    program, files = str(programs / "label_rows"), [str(tmp_path / f"{i}.f64") for i in range(3)]
    found = run(program, str(path), n_threads, batch, *files)
    assert found.returncode == 0, found.stderr
    assert re.fullmatch(r"\d+\.\d microseconds per label\n", found.stderr), found.stderr
    with pytest.warns(UserWarning, match="cells are filled"):
        expected = fitted.predict(views)
    assert len(np.unique(expected)) == 4
    np.testing.assert_array_equal(np.array(found.stdout.split(), dtype=int), expected)


def test_a_plain_program_says_what_is_wrong(programs, model, tmp_path):
    _, path, views = model
    views[0][0] = np.inf
    for i, X in enumerate(views):
        X.tofile(tmp_path / f"{i}.f64")
    program, files = str(programs / "label_rows"), [str(tmp_path / f"{i}.f64") for i in range(3)]
    infinite = f"row 0 of {files[0]} has infinite entries"
    for given, said in ((files[:1], "does not hold the numbers"), (files, infinite)):
        wrong = run(program, str(path), "2", "9", *given)
        assert wrong.returncode == 1 and said in wrong.stderr and not wrong.stdout


@pytest.mark.parametrize("place, number", [(1, 2**62), (2, 2**62), (3, 2**33), (6, 0), (9, 2**61)])
def test_a_plain_program_refuses_damaged_models(programs, model, tmp_path, place, number):
    """Numbers of the head whose products overflow, and views without columns."""
    _, path, views = model
    head = np.frombuffer(path.read_bytes()[:160], dtype=np.int64).copy()
    head[place] = number
    (tmp_path / "damaged.bin").write_bytes(head.tobytes() + path.read_bytes()[160:])
    for i, X in enumerate(views):
        X.tofile(tmp_path / f"{i}.f64")
    files = [str(tmp_path / f"{i}.f64") for i in range(3)]
    wrong = run(str(programs / "label_rows"), str(tmp_path / "damaged.bin"), "1", "9", *files)
    assert wrong.returncode == 1 and "a file cannot be read" in wrong.stderr and not wrong.stdout


def test_the_pipeline_prints_agreement_and_times(programs):
    found = run(sys.executable, str(programs / "pipeline.py"), "1")
    assert found.returncode == 0 and not found.stderr, found.stderr
    rows = re.findall(r"^ *(\d+) +(\d+) of (\d+)((?: +\d+\.\d){3})$", found.stdout, re.M)
    assert [int(batch) for batch, *_ in rows] == [1, 128, 1000], found.stdout
    for _, equal, n, times in rows:
        assert equal == n and min(map(float, times.split())) > 0
    assert float(found.stdout.split()[-1]) > 0.9
