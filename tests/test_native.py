"""The C interface and the cimport, proven by the modules of examples/native."""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import random_similarities
from hypothesis import given
from hypothesis import strategies as st

import mvsc_fast
from mvsc_fast import _kernels as kernels

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "native"
TUBE_SHRINK, SLICE_SHRINK, SLICE_CLIP, SYMMETRIC_SHRINK, SYMMETRIC_CLIP = range(1, 6)
MAPS = {
    TUBE_SHRINK: kernels.tube_shrink,
    SLICE_SHRINK: kernels.slice_shrink,
    SLICE_CLIP: kernels.slice_clip,
    SYMMETRIC_SHRINK: kernels.symmetric_shrink,
    SYMMETRIC_CLIP: kernels.symmetric_clip,
}
OK, BAD_ARGUMENT, BAD_SHAPE, TOO_LARGE, NOT_FINITE, SMALL_WORKSPACE = range(6)
FLOAT32, FLOAT64 = 1, 2


def build(name, folder):
    """The module of an example, compiled against the installed package."""
    if sys.platform == "win32" or not EXAMPLES.is_dir():
        pytest.skip("the examples are for POSIX systems, beside the tests")
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler})")
    pytest.importorskip("setuptools")
    if name == "cython_module":
        pytest.importorskip("Cython")
    source = folder / name
    shutil.copytree(EXAMPLES / name, source)
    run = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=source, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "mvsc_fast.h" not in run.stderr  # no warning from the header
    (binary,) = source.glob("native_*" + sysconfig.get_config_var("EXT_SUFFIX"))
    spec = importlib.util.spec_from_file_location(binary.name.split(".")[0], binary)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def native_c(tmp_path_factory):
    return build("c_module", tmp_path_factory.mktemp("c"))


@pytest.fixture(scope="module")
def native_cython(tmp_path_factory):
    return build("cython_module", tmp_path_factory.mktemp("cython"))


@pytest.fixture(scope="module")
def raw_file(tmp_path_factory):
    W = random_similarities(3, 50, dtype=np.float32)
    path = tmp_path_factory.mktemp("raw") / "similarities.f32"
    W.tofile(path)
    return W, str(path)


@pytest.mark.parametrize("code", MAPS)
def test_posix_threads_get_python_results_to_the_last_bit(native_c, raw_file, code):
    W, path = raw_file
    expected = W.copy()
    MAPS[code](expected, 1.5)
    for n_threads in (1, 2):
        for result in native_c.shrink(path, 3, 50, 50, code, 1.5, 6, n_threads):
            assert result == expected.tobytes()


def test_python_threads_call_it_without_the_gil(native_c, raw_file):
    W, path = raw_file
    expected = W.copy()
    kernels.symmetric_shrink(expected, 0.7)
    with ThreadPoolExecutor(4) as pool:
        jobs = [
            pool.submit(native_c.shrink, path, 3, 50, 50, SYMMETRIC_SHRINK, 0.7, 2, 1)
            for _ in range(8)
        ]
        for job in jobs:
            assert job.result() == [expected.tobytes()] * 2


def test_cimported_maps_equal_python(native_cython, raw_file):
    W, path = raw_file
    expected = W.copy()
    kept = kernels.tube_shrink(expected, 1.5)
    assert native_cython.tube_shrink(path, 3, 50, 50, 1.5, 2) == (expected.tobytes(), kept)
    expected = W.copy()
    kernels.slice_shrink(expected, 1.5)
    assert native_cython.slice_shrink(path, 3, 50, 50, 1.5, 2) == expected.tobytes()


def test_the_binary_interface_is_what_it_was(native_c):
    """Fields may be added at the end, with a new version; none may move."""
    assert native_c.layout() == {
        "tensor": 48,
        "tensor.data": 8,
        "tensor.v": 16,
        "tensor.dtype": 40,
        "api": 40,
        "api.strerror": 16,
        "api.prox_workspace_size": 24,
        "api.prox": 32,
        "version": 1,
    }


def test_the_header_is_where_get_include_says():
    assert (Path(mvsc_fast.get_include()) / "mvsc_fast.h").exists()


DATA = np.random.default_rng(0).standard_normal(3 * 4 * 4)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, OK),
        ({"map": 0}, BAD_ARGUMENT),
        ({"map": 99}, BAD_ARGUMENT),
        ({"size": 40}, BAD_ARGUMENT),
        ({"data": None}, BAD_ARGUMENT),
        ({"v": -1}, BAD_ARGUMENT),
        ({"dtype": 7}, BAD_ARGUMENT),
        ({"t": -1.0}, BAD_ARGUMENT),
        ({"t": np.nan}, BAD_ARGUMENT),
        ({"t": np.inf}, BAD_ARGUMENT),
        ({"n_threads": 0}, BAD_ARGUMENT),
        ({"n_threads": 10**6}, BAD_ARGUMENT),
        ({"map": SYMMETRIC_CLIP, "m": 2}, BAD_SHAPE),
        ({"map": SYMMETRIC_CLIP, "m": 10**5, "n": 10**5}, TOO_LARGE),
        ({"n": 2**62}, TOO_LARGE),
        ({"v": 2**40, "m": 2**40}, TOO_LARGE),
        ({"spare": -1}, SMALL_WORKSPACE),
        ({"spare": -(10**9)}, SMALL_WORKSPACE),
        ({"data": np.full(48, np.nan)}, NOT_FINITE),
        ({"data": np.full(48, -np.inf)}, NOT_FINITE),
        ({"v": 0, "data": None}, OK),
    ],
)
def test_every_misuse_has_its_status(native_c, changes, status):
    arguments = {"map": SLICE_SHRINK, "size": 48, "data": DATA, "v": 3, "m": 4, "n": 4,
                 "dtype": FLOAT64, "t": 0.5, "n_threads": 2, "spare": 0, **changes}  # fmt: skip
    found, message, intact = native_c.probe(*arguments.values())
    assert found == status, message
    assert intact and len(message) > 5


@given(
    st.sampled_from(sorted(MAPS)),
    st.integers(0, 5), st.integers(0, 40), st.integers(0, 40),
    st.sampled_from([FLOAT32, FLOAT64]),
    st.sampled_from([0.0, 1e-300, 1e-3, 0.5, 5.0, 1e300]),
    st.integers(1, 4), st.integers(0, 200),
    st.sampled_from([1.0, 0.0, 1e-310, 1e30, 1e300]),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_any_tensor_stays_within_its_memory(native_c, map, v, m, n, dtype, t, threads, spare,
                                            scale, seed):  # fmt: skip
    kind = np.float32 if dtype == FLOAT32 else np.float64
    with np.errstate(all="ignore"):
        data = (scale * np.random.default_rng(seed).standard_normal(v * m * n)).astype(kind)
    status, message, intact = native_c.probe(map, 48, data, v, m, n, dtype, t, threads, spare)
    assert intact and message != "unknown status"
    if map in (SYMMETRIC_SHRINK, SYMMETRIC_CLIP) and m != n:
        assert status == BAD_SHAPE
    elif not np.isfinite(data).all():
        assert status == NOT_FINITE
    elif scale == 1.0:
        assert status == OK
