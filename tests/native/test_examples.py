"""The C interface and the cimport, proven by the modules of examples/native."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import published_tlrr, random_similarities
from extensions import c_compiler
from native_calls import (
    SLICE_CLIP,
    SLICE_SHRINK,
    SOLVERS,
    SYMMETRIC_CLIP,
    SYMMETRIC_SHRINK,
    TUBE_SHRINK,
    example,
)

import mvsc_fast
from mvsc_fast import TLRR, datasets
from mvsc_fast import _kernels as kernels
from mvsc_fast.threads import blas_threads

MAPS = {
    TUBE_SHRINK: kernels.tube_shrink,
    SLICE_SHRINK: kernels.slice_shrink,
    SLICE_CLIP: kernels.slice_clip,
    SYMMETRIC_SHRINK: kernels.symmetric_shrink,
    SYMMETRIC_CLIP: kernels.symmetric_clip,
}


@pytest.mark.parametrize("code", MAPS)
def test_maps_in_posix_threads_equal_python_to_the_last_bit(native_c, raw_file, code):
    W, path = raw_file
    expected = W.copy()
    with blas_threads(1):
        MAPS[code](expected, 1.5)
    for n_threads in (1, 2):
        for result in native_c.shrink(path, 3, 50, 50, code, 1.5, 6, n_threads):
            assert result == expected.tobytes()


@pytest.mark.parametrize("solver", SOLVERS)
def test_solutions_in_posix_threads_equal_python_to_the_last_bit(native_c, tmp_path, solver):
    W = random_similarities(2, 300, dtype=np.float32)
    W.tofile(tmp_path / "W.f32")
    tol = 1e-5 if solver == "dual" else 1e-2
    expected = published_tlrr(W, lam=0.5, tol=tol, solver=solver, n_threads=1)
    assert expected.n_iter > 1
    for n_threads in (1, 2):
        results = native_c.solve(str(tmp_path / "W.f32"), 2, 300, SOLVERS[solver], 0.5, tol, 3,
                                 n_threads)  # fmt: skip
        for L, n_iter, gap, bound in results:
            assert L == expected.tensor.tobytes()
            assert n_iter == expected.n_iter
            if solver == "dual":
                assert (gap, bound) == (expected.gap, expected.error_bound)


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


def test_a_plain_program_solves_in_posix_threads(programs, raw_file):
    folder, (W, path) = programs, raw_file
    lams = ["0.5", "2", "15"]
    found = run(str(folder / "tlrr_path"), path, "3", "50", *lams)
    assert found.returncode == 0 and not found.stderr, found.stderr
    for line, lam in zip(found.stdout.splitlines(), lams, strict=True):
        file, of, n_blocks, n_iter, gap, bound = line.split()
        expected = published_tlrr(W, lam=float(lam), n_threads=1)
        assert of == lam
        assert Path(file).read_bytes() == expected.tensor.tobytes()
        assert int(n_blocks) == expected.blocks.max() + 1
        assert int(n_iter) == expected.n_iter
        assert (float(gap), float(bound)) == (expected.gap, expected.error_bound)
    wrong = run(str(folder / "tlrr_path"), path, "3", "50", "-1")
    assert wrong.returncode == 1 and "negative" in wrong.stderr and not wrong.stdout


@pytest.mark.parametrize("n_threads", ["1", "3"])
def test_a_plain_program_labels_new_rows_in_posix_threads(programs, tmp_path, n_threads):
    views, _ = datasets.make_multiview_subspaces(900, 4, n_features=(20, 35), random_state=0)
    views[1][:250, 3] = 0
    model = TLRR(4, size="sparse", random_state=0).fit([X[:250] for X in views])
    spec = importlib.util.spec_from_file_location("save_voters", programs / "save_voters.py")
    save_voters = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(save_voters)
    save_voters.save(model, tmp_path / "voters.bin")
    new = [X[250:] for X in views]
    for i, X in enumerate(new):
        X.tofile(tmp_path / f"{i}.f64")
    program, files = str(programs / "label_rows"), [str(tmp_path / f"{i}.f64") for i in range(2)]
    found = run(program, str(tmp_path / "voters.bin"), n_threads, *files)
    assert found.returncode == 0 and not found.stderr, found.stderr
    np.testing.assert_array_equal(np.array(found.stdout.split(), dtype=int), model.predict(new))
    wrong = run(program, str(tmp_path / "voters.bin"), n_threads, files[0])
    assert wrong.returncode == 1 and "has not the numbers" in wrong.stderr and not wrong.stdout


def test_python_threads_call_it_without_the_gil(native_c, raw_file):
    W, path = raw_file
    expected = W.copy()
    with blas_threads(1):
        kernels.symmetric_shrink(expected, 0.7)
    with ThreadPoolExecutor(4) as pool:
        jobs = [
            pool.submit(native_c.shrink, path, 3, 50, 50, SYMMETRIC_SHRINK, 0.7, 2, 1)
            for _ in range(8)
        ]
        for job in jobs:
            assert job.result() == [expected.tobytes()] * 2


def test_blas_is_limited_and_put_back(native_c, raw_file):
    import threadpoolctl

    before = threadpoolctl.threadpool_info()
    native_c.shrink(raw_file[1], 3, 50, 50, TUBE_SHRINK, 1.0, 1, 1)
    assert threadpoolctl.threadpool_info() == before


def test_cimported_functions_equal_python(native_cython, raw_file):
    W, path = raw_file
    expected = W.copy()
    kept = kernels.tube_shrink(expected, 1.5)
    assert native_cython.tube_shrink(path, 3, 50, 50, 1.5, 2) == (expected.tobytes(), kept)
    expected = W.copy()
    kernels.slice_shrink(expected, 1.5)
    assert native_cython.slice_shrink(path, 3, 50, 50, 1.5, 2) == expected.tobytes()
    expected = published_tlrr(W, lam=2.0, tol=0, callback=lambda state: state.iteration == 3)
    L, labels, result = native_cython.solve(path, 3, 50, 2.0, 3)
    assert L == expected.tensor.tobytes()
    assert labels == expected.blocks.tolist()
    assert result["stopped"] and result["n_iter"] == 3 and result["gap"] == expected.gap
