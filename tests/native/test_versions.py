"""A client of version 1 runs with the package of today, and with one of longer structs."""

import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import random_similarities
from extensions import build
from native_calls import BAD_ARGUMENT, OK, SOLVERS, SYMMETRIC_CLIP, TESTS, TUBE_SHRINK

import mvsc_fast

VERSION_1 = TESTS / "native_probe" / "version_1"
HEADER = Path(mvsc_fast.get_include()) / "mvsc_fast.h"
STRUCTS = {"mvsc_tensor": 1, "mvsc_tlrr_options": 2, "mvsc_tlrr_result": 4, "mvsc_tlrr_blocks": 5}
STRUCT = re.compile(r"typedef struct \{(.*?)^\} (mvsc_\w+);", re.DOTALL | re.MULTILINE)

BUILD = """
import sys
from Cython.Build import cythonize
from setuptools import Extension, setup

extensions = [
    Extension(
        path.removesuffix(".pyx").replace("/", "."), [path],
        include_dirs=["mvsc_fast/core", "mvsc_fast/include"], extra_compile_args=["-O0"],
    )
    for path in sys.argv[1:]
]
directives = {"language_level": 3, "cdivision": True}
setup(
    ext_modules=cythonize(extensions, include_path=["."], compiler_directives=directives),
    script_args=["-q", "build_ext", "--inplace", "--parallel=2"],
)
"""

PLAY = """
import pickle, sys
import native_client
calls = pickle.load(sys.stdin.buffer)
answers = [getattr(native_client, name)(*arguments) for name, *arguments in calls]
sys.stdout.buffer.write(pickle.dumps(answers))
"""


def later_package(folder):
    """The package with a field more in every struct; every source that names one is compiled."""
    source = TESTS.parent / "src" / "mvsc_fast"
    if not source.is_dir():
        pytest.skip("the package's sources are not beside the tests")
    pytest.importorskip("Cython")
    package = folder / "mvsc_fast"
    shutil.copytree(Path(mvsc_fast.__file__).parent, package)
    shutil.copytree(source, package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so"))
    header = package / "include" / "mvsc_fast.h"
    text, count = STRUCT.subn(r"typedef struct {\1    double appended;\n} \2;", header.read_text())
    assert count == len(structs(HEADER))
    text = re.sub(r"(?<=#define MVSC_API_VERSION )\d+", lambda v: str(int(v[0]) + 1), text)
    header.write_text(text)
    names = [
        path.relative_to(folder).as_posix()
        for path in sorted(package.rglob("*.pyx"))
        if re.search(r"\bmvsc_(tensor|api|factor_map|voters|tlrr_\w+)\b", path.read_text())
    ]
    run = subprocess.run(
        [sys.executable, "-c", BUILD, *names], cwd=folder, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def play(client, calls, package=None):
    """Answers of the client; with another package in a process of its own."""
    if package is None:
        return [getattr(client, name)(*arguments) for name, *arguments in calls]
    folders = [str(package), str(Path(client.__file__).parent)]
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {folders!r}\n" + PLAY],
        input=pickle.dumps(calls), capture_output=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr.decode()
    return pickle.loads(run.stdout)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    return build(VERSION_1, tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def later(client, tmp_path_factory):
    return later_package(tmp_path_factory.mktemp("later"))


def test_a_client_of_version_1_runs_with_longer_structs(client, later):
    T = random_similarities(3, 6)
    W = np.kron(np.eye(4), np.ones((10, 10))) * random_similarities(2, 40)
    calls = [("version",)]
    calls += [("prox", map, T, *T.shape, 1.5, 0) for map in range(TUBE_SHRINK, SYMMETRIC_CLIP + 1)]
    calls += [("tlrr", W, *W.shape[:2], solver, 0, 0) for solver in SOLVERS.values()]
    version, *maps, dual, ialm = play(client, calls)
    later_version, *later_maps, later_dual, later_ialm = play(client, calls, later)
    assert version[0] == later_version[0] == 1 <= version[1] < later_version[1]
    for (status, values, intact), (later_status, later_values, later_intact) in zip(
        maps, later_maps, strict=True
    ):
        assert status == later_status == OK and intact and later_intact
        np.testing.assert_allclose(np.frombuffer(later_values), np.frombuffer(values), atol=1e-12)
    for now, then in ((dual, later_dual), (ialm, later_ialm)):
        for key in ("gap", "error_bound", "state_gap", "state_residual", "state_mu"):
            assert then.pop(key) == pytest.approx(now.pop(key), rel=1e-3, abs=1e-12)
        L, later_L = (np.frombuffer(answer.pop("L")) for answer in (now, then))
        np.testing.assert_allclose(later_L, L, atol=1e-10)
        assert now["status"] == OK and now["intact"] and now["grew"] and now["result_size"] == 0
        assert then == now
    assert dual["n_blocks"] == 4 and dual["calls"] >= dual["n_iter"] > 0


@pytest.mark.parametrize("which", STRUCTS.values(), ids=STRUCTS)
@pytest.mark.parametrize("change", [-1, -8, 10**6])
def test_a_size_that_no_version_had_is_refused(client, which, change):
    """Structs are taken from the size that they had in version 1 to the size they have today."""
    W = random_similarities(2, 8)
    (answer,) = play(client, [("tlrr", W, 2, 8, 1, which, change)])
    assert answer["status"] == BAD_ARGUMENT and answer["intact"]


def structs(header):
    """Declarations of the structs of a header, without comments."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
    return {name: " ".join(body.split()) for body, name in STRUCT.findall(text)}


def test_every_struct_begins_as_in_version_1():
    first, today = structs(VERSION_1 / "mvsc_fast.h"), structs(HEADER)
    assert set(STRUCTS) < set(first) <= set(today)
    for name, body in first.items():
        assert today[name].startswith(body)
