"""The C interface and the cimport, proven by the modules of examples/native and by a probe."""

import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import examples, random_similarities
from hypothesis import given
from hypothesis import strategies as st

import mvsc_fast
from mvsc_fast import _kernels, tlrr
from mvsc_fast import _kernels as kernels
from mvsc_fast.core import tlrr as core_tlrr
from mvsc_fast.threads import blas_threads

TESTS = Path(__file__).resolve().parent
EXAMPLES = TESTS.parent / "examples" / "native"
TUBE_SHRINK, SLICE_SHRINK, SLICE_CLIP, SYMMETRIC_SHRINK, SYMMETRIC_CLIP = range(1, 6)
MAPS = {
    TUBE_SHRINK: kernels.tube_shrink,
    SLICE_SHRINK: kernels.slice_shrink,
    SLICE_CLIP: kernels.slice_clip,
    SYMMETRIC_SHRINK: kernels.symmetric_shrink,
    SYMMETRIC_CLIP: kernels.symmetric_clip,
}
(OK, BAD_ARGUMENT, BAD_SHAPE, TOO_LARGE, NOT_FINITE, SMALL_WORKSPACE, NO_CONVERGENCE,
 NOT_SYMMETRIC, OUT_OF_RANGE) = range(9)  # fmt: skip
FLOAT32, FLOAT64 = 1, 2
SOLVERS = {"dual": 1, "ialm": 2}


def c_compiler():
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if sys.platform == "win32" or not EXAMPLES.is_dir():
        pytest.skip("the examples are for POSIX systems, beside the tests")
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler})")
    return compiler


def build(source, folder):
    """The module in a folder of sources, compiled against the installed package."""
    c_compiler()
    pytest.importorskip("setuptools")
    if source.name == "cython_module":
        pytest.importorskip("Cython")
    source = Path(shutil.copytree(source, folder / source.name))
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
    return build(EXAMPLES / "c_module", tmp_path_factory.mktemp("c"))


@pytest.fixture(scope="module")
def native_cython(tmp_path_factory):
    return build(EXAMPLES / "cython_module", tmp_path_factory.mktemp("cython"))


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    return build(TESTS / "native_probe", tmp_path_factory.mktemp("probe"))


@pytest.fixture(scope="module")
def raw_file(tmp_path_factory):
    W = random_similarities(3, 50, dtype=np.float32)
    path = tmp_path_factory.mktemp("raw") / "similarities.f32"
    W.tofile(path)
    return W, str(path)


# ------------------------------------------------------------------ examples


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
    expected = tlrr(W, lam=0.5, tol=tol, solver=solver, n_threads=1)
    assert expected.n_iter > 1
    for n_threads in (1, 2):
        results = native_c.solve(str(tmp_path / "W.f32"), 2, 300, SOLVERS[solver], 0.5, tol, 3,
                                 n_threads)  # fmt: skip
        for L, n_iter, gap, bound in results:
            assert L == expected.tensor.tobytes()
            assert n_iter == expected.n_iter
            if solver == "dual":
                assert (gap, bound) == (expected.gap, expected.error_bound)


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
    expected = tlrr(W, lam=2.0, tol=0, callback=lambda state: state.iteration == 3)
    L, labels, result = native_cython.solve(path, 3, 50, 2.0, 3)
    assert L == expected.tensor.tobytes()
    assert labels == expected.blocks.tolist()
    assert result["stopped"] and result["n_iter"] == 3 and result["gap"] == expected.gap


# ------------------------------------------------------------------ binary interface


def test_the_binary_interface_is_what_it_was(probe):
    """Fields may be added at the end, with a new version; none may move."""
    assert probe.layout() == {
        "tensor": 48, "tensor.data": 8, "tensor.v": 16, "tensor.dtype": 40,
        "tlrr_state": 80, "tlrr_state.converged": 24, "tlrr_state.residual": 32,
        "tlrr_state.ranks": 72,
        "tlrr_options": 104, "tlrr_options.n_threads": 12, "tlrr_options.max_iter": 48,
        "tlrr_options.progress": 80, "tlrr_options.context": 88, "tlrr_options.sample_weight": 96,
        "tlrr_blocks": 32, "tlrr_blocks.n_tubes": 24,
        "tlrr_result": 96, "tlrr_result.stopped": 36, "tlrr_result.gap": 64,
        "tlrr_result.eigen_seconds": 88,
        "api": 80, "api.strerror": 16, "api.prox_workspace_size": 24, "api.prox": 32,
        "api.tlrr_screen": 40, "api.tlrr_workspace_size": 48, "api.tlrr_solve": 56,
        "api.limit_blas": 64, "api.release_blas": 72,
        "version": 1,
    }  # fmt: skip


SIGNATURES = {
    _kernels: {
        "__pyx_fuse_1tube_map": "Py_ssize_t (double *, Py_ssize_t, Py_ssize_t, Py_ssize_t, double, "
        "int, double *)",
        "slice_lwork": "Py_ssize_t (Py_ssize_t, Py_ssize_t)",
        "symmetric_lwork": "Py_ssize_t (Py_ssize_t)",
    },
    core_tlrr: {
        "__pyx_fuse_0tlrr_screen": "int (float const *, Source *, mvsc_tlrr_options const *, "
        "Py_ssize_t *, mvsc_tlrr_blocks *)",
        "tlrr_workspace": "int (Py_ssize_t, Py_ssize_t, size_t, mvsc_tlrr_options const *, "
        "mvsc_tlrr_blocks const *, size_t *)",
        "__pyx_fuse_1tlrr_solve": "int (double const *, Source *, double *, "
        "mvsc_tlrr_options const *, Py_ssize_t const *, mvsc_tlrr_blocks const *, void *, "
        "size_t, mvsc_tlrr_result *)",
    },
}


@pytest.mark.parametrize("module", SIGNATURES, ids=lambda module: module.__name__)
def test_the_signatures_for_cimport_are_what_they_were(module):
    """Cython names a capsule by the signature of its function."""
    for name, signature in SIGNATURES[module].items():
        found = repr(module.__pyx_capi__[name]).split('"')[1]
        assert re.sub(r"struct __pyx_t_\w*_(\w+)", r"\1", found) == signature


def test_the_defaults_are_those_of_python(probe):
    defaults = probe.defaults()
    assert defaults.pop("n_threads") == 1
    python = {name: p.default for name, p in inspect.signature(tlrr).parameters.items()}
    assert SOLVERS[python["solver"]] == defaults.pop("solver")
    assert defaults == {name: python[name] for name in defaults}


def test_the_header_is_where_get_include_says():
    header = (Path(mvsc_fast.get_include()) / "mvsc_fast.h").read_text()
    assert "mvsc_tlrr_options" in header


@pytest.mark.parametrize(
    ("compiler", "suffix"), [("cc -std=c99 -pedantic", ".c"), ("c++ -std=c++11", ".cpp")]
)
def test_the_header_alone_is_plain_c_and_cpp(tmp_path, compiler, suffix):
    c_compiler()
    command = compiler.split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    source = tmp_path / f"header{suffix}"
    source.write_text(
        "#include <mvsc_fast.h>\n"
        "mvsc_tlrr_options options = MVSC_TLRR_DEFAULTS;\n"
        "int main(void) { return options.solver != MVSC_TLRR_DUAL; }\n"
    )
    command += ["-Wall", "-Wextra", "-Werror", "-I", mvsc_fast.get_include()]
    subprocess.run([*command, str(source), "-o", str(tmp_path / "header")], check=True)
    subprocess.run([str(tmp_path / "header")], check=True)


# ------------------------------------------------------------------ proximal maps

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
def test_every_misuse_of_a_map_has_its_status(probe, changes, status):
    arguments = {"map": SLICE_SHRINK, "size": 48, "data": DATA, "v": 3, "m": 4, "n": 4,
                 "dtype": FLOAT64, "t": 0.5, "n_threads": 2, "spare": 0, **changes}  # fmt: skip
    found, message, intact = probe.prox(*arguments.values())
    assert found == status, message
    assert intact and len(message) > 5


@examples(100)
@given(
    st.sampled_from(sorted(MAPS)),
    st.integers(0, 5), st.integers(0, 40), st.integers(0, 40),
    st.sampled_from([FLOAT32, FLOAT64]),
    st.sampled_from([0.0, 1e-300, 1e-3, 0.5, 5.0, 1e300]),
    st.integers(1, 4), st.integers(0, 200),
    st.sampled_from([1.0, 0.0, 1e-310, 1e30, 1e300]),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_a_map_of_any_tensor_stays_within_its_memory(probe, map, v, m, n, dtype, t, threads,
                                                     spare, scale, seed):  # fmt: skip
    kind = np.float32 if dtype == FLOAT32 else np.float64
    with np.errstate(all="ignore"):
        data = (scale * np.random.default_rng(seed).standard_normal(v * m * n)).astype(kind)
    status, message, intact = probe.prox(map, 48, data, v, m, n, dtype, t, threads, spare)
    assert intact and message != "unknown status"
    if map in (SYMMETRIC_SHRINK, SYMMETRIC_CLIP) and m != n:
        assert status == BAD_SHAPE
    elif not np.isfinite(data).all():
        assert status == NOT_FINITE
    elif scale == 1.0:
        assert status == OK


# ------------------------------------------------------------------ TLRR


def call_tlrr(probe, W=None, **changes):
    """The probe's answer; by default on W, with the parameters of the tests of tlrr."""
    if W is not None:
        changes = {"data": W, "v": W.shape[0], "m": W.shape[1], "n": W.shape[2],
                   "dtype": FLOAT32 if W.dtype == np.float32 else FLOAT64, **changes}  # fmt: skip
    arguments = {
        "data": None, "v": 2, "m": 4, "n": 4, "dtype": FLOAT64, "which": 0, "solver": 1,
        "n_threads": 1, "omega1": 0.5, "alpha": 5.0, "lam": 2.0, "tol": 1e-4, "max_iter": 500,
        "mu": 1e-4, "rho": 1.1, "mu_max": 1e10, "stop_after": -1, "screened": 1, "spare": 0,
    }  # fmt: skip
    assert set(changes) <= set(arguments)
    return probe.tlrr(*(arguments | changes).values())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("screened", [0, 1])
def test_the_solver_in_exactly_the_memory_it_asks_for(probe, solver, dtype, screened):
    W = random_similarities(3, 60, dtype=dtype)
    expected = tlrr(W, lam=2.0, solver=solver, n_threads=1)
    answer = call_tlrr(probe, W, solver=SOLVERS[solver], screened=screened)
    assert answer["status"] == OK and answer["intact"]
    assert answer["L"] == expected.tensor.tobytes()
    assert answer["n_iter"] == expected.n_iter == answer["calls"]
    assert answer["n_fast_forward"] == expected.n_fast_forward
    assert answer["converged"] and not answer["stopped"]
    if solver == "dual":
        assert (answer["gap"], answer["error_bound"]) == (expected.gap, expected.error_bound)
        assert answer["labels"] == expected.blocks.tobytes()
        assert answer["n_blocks"] == 1
    short = call_tlrr(probe, W, solver=SOLVERS[solver], screened=screened, spare=-1)
    assert short["intact"]
    if screened or solver == "ialm":
        assert short["status"] == SMALL_WORKSPACE


def test_blocks_need_less_memory_than_the_worst_data(probe):
    block = random_similarities(2, 20)
    W = np.zeros((2, 400, 400))
    for k in range(0, 400, 20):
        W[:, k : k + 20, k : k + 20] = block
    for n_threads in (1, 2):
        screened = call_tlrr(probe, W, n_threads=n_threads)
        worst = call_tlrr(probe, W, n_threads=n_threads, screened=0)
        assert screened["asked"] < worst["asked"] / 20
        assert screened["n_blocks"] == 20
        assert screened["L"] == worst["L"] == tlrr(W, lam=2.0).tensor.tobytes()
        assert screened["intact"] and worst["intact"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_callback_stops_a_run(probe, solver):
    W = random_similarities(3, 40)
    answer = call_tlrr(probe, W, solver=SOLVERS[solver], stop_after=2, tol=0.0)
    assert answer["status"] == OK and answer["stopped"] and not answer["converged"]
    assert answer["n_iter"] == answer["calls"] == 2


SYMMETRIC = np.arange(32.0).reshape(2, 4, 4) + np.arange(32.0).reshape(2, 4, 4).transpose(0, 2, 1)
ASYMMETRIC = SYMMETRIC + np.eye(4, k=1) * 1e-9
INFINITE = SYMMETRIC + np.diag([0, np.inf, 0, 0])


@pytest.mark.parametrize(
    ("W", "changes", "status"),
    [
        (SYMMETRIC, {}, OK),
        (SYMMETRIC, {"which": 1}, BAD_ARGUMENT),
        (SYMMETRIC, {"which": 2}, BAD_ARGUMENT),
        (SYMMETRIC, {"which": 3}, BAD_ARGUMENT),
        (SYMMETRIC, {"which": 4}, BAD_ARGUMENT),
        (SYMMETRIC, {"which": 6}, BAD_ARGUMENT),
        (SYMMETRIC, {"which": 7}, BAD_ARGUMENT),
        (SYMMETRIC, {"which": 8}, BAD_ARGUMENT),
        (SYMMETRIC, {"which": 9}, BAD_ARGUMENT),
        (SYMMETRIC, {"which": 10}, BAD_ARGUMENT),
        (SYMMETRIC, {"solver": 0}, BAD_ARGUMENT),
        (SYMMETRIC, {"solver": 3}, BAD_ARGUMENT),
        (SYMMETRIC, {"n_threads": 0}, BAD_ARGUMENT),
        (SYMMETRIC, {"omega1": 1.5}, BAD_ARGUMENT),
        (SYMMETRIC, {"omega1": np.nan}, BAD_ARGUMENT),
        (SYMMETRIC, {"alpha": -1.0}, BAD_ARGUMENT),
        (SYMMETRIC, {"lam": 0.0}, BAD_ARGUMENT),
        (SYMMETRIC, {"lam": np.inf}, BAD_ARGUMENT),
        (SYMMETRIC, {"tol": -1.0}, BAD_ARGUMENT),
        (SYMMETRIC, {"max_iter": -1}, BAD_ARGUMENT),
        (SYMMETRIC, {"mu": 0.0, "solver": 2}, BAD_ARGUMENT),
        (SYMMETRIC, {"rho": 0.9, "solver": 2}, BAD_ARGUMENT),
        (SYMMETRIC, {"mu_max": np.nan, "solver": 2}, BAD_ARGUMENT),
        (SYMMETRIC, {"mu": 0.0}, OK),
        (SYMMETRIC, {"max_iter": 0}, OK),
        (SYMMETRIC, {"v": 0}, BAD_ARGUMENT),
        (SYMMETRIC, {"n": 0, "m": 0}, BAD_ARGUMENT),
        (SYMMETRIC, {"m": 3}, BAD_SHAPE),
        (SYMMETRIC, {"dtype": 5}, BAD_ARGUMENT),
        (SYMMETRIC, {"spare": -64}, SMALL_WORKSPACE),
        (SYMMETRIC, {"spare": -(10**9)}, SMALL_WORKSPACE),
        (SYMMETRIC, {"spare": -64, "solver": 2}, SMALL_WORKSPACE),
        (SYMMETRIC, {"lam": 1e200}, OUT_OF_RANGE),
        (SYMMETRIC, {"lam": 1e200, "solver": 2}, OUT_OF_RANGE),
        (SYMMETRIC * 1e153, {}, OUT_OF_RANGE),
        (ASYMMETRIC, {}, NOT_SYMMETRIC),
        (INFINITE, {}, NOT_FINITE),
        (SYMMETRIC * np.nan, {"solver": 2}, NOT_FINITE),
        (None, {}, BAD_ARGUMENT),
        (None, {"n": 2**40, "m": 2**40}, TOO_LARGE),
        (None, {"n": 10**6, "m": 10**6, "solver": 2}, TOO_LARGE),
    ],
)
def test_every_misuse_of_the_solver_has_its_status(probe, W, changes, status):
    answer = call_tlrr(probe, W, **changes)
    found = answer["size_status"] if status == TOO_LARGE else answer["status"]
    assert found == status, answer["message"]
    assert answer["intact"] and len(answer["message"]) > 5


def test_a_wrong_size_of_the_blocks_is_seen(probe):
    assert call_tlrr(probe, SYMMETRIC, which=5)["screen_status"] == BAD_ARGUMENT


@examples(100)
@given(
    v=st.integers(0, 4), n=st.integers(0, 20), single=st.booleans(),
    solver=st.sampled_from([1, 2]), threads=st.integers(1, 3), omega1=st.floats(0, 1),
    alpha=st.floats(0, 9), lam=st.sampled_from([1e-250, 1e-3, 1.0, 15.0, 1e5, 1e250]),
    scale=st.sampled_from([1.0, 1.0, 0.0, 1e-310, 1e-30, 1e30, 1e140]), steps=st.integers(0, 20),
    stop_after=st.sampled_from([-1, -1, 1, 3]), density=st.floats(0, 1), screened=st.integers(0, 1),
    spare=st.sampled_from([0, 0, 0, 100, -1, -1000]), symmetric=st.integers(0, 9),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_a_problem_of_any_kind_stays_within_its_memory(
    probe, v, n, single, solver, threads, omega1, alpha, lam, scale, steps, stop_after, density,
    screened, spare, symmetric, seed,
):  # fmt: skip
    rng = np.random.default_rng(seed)
    W = scale * rng.standard_normal((v, n, n)) * (rng.random((n, n)) < density)
    with np.errstate(all="ignore"):
        W = (W + W.transpose(0, 2, 1) if symmetric else W).astype(np.float32 if single else float)
    answer = call_tlrr(
        probe, W, solver=solver, n_threads=threads, omega1=omega1, alpha=alpha, lam=lam,
        max_iter=steps, stop_after=stop_after, screened=screened, spare=spare, mu=0.1,
    )  # fmt: skip
    assert answer["intact"] and answer["message"] != "unknown status"
    assert answer["status"] not in (BAD_SHAPE, TOO_LARGE, NO_CONVERGENCE)
    L = np.frombuffer(answer["L"], dtype=W.dtype)
    if answer["status"] == OK:
        assert np.isfinite(L).all() and answer["error_bound"] >= 0
    if W.size and scale == 1.0 and 1e-100 < lam < 1e100 and symmetric and spare >= 0:
        assert answer["status"] == OK


# ------------------------------------------------------------------ memory inside


@pytest.mark.skipif(sys.platform != "linux", reason="interposes glibc's malloc")
def test_nothing_is_allocated_inside(probe, tmp_path):
    """All memory of the C library is counted: only OpenMP takes some for its teams of threads."""
    library = tmp_path / "count_malloc.so"
    run = [c_compiler(), "-O1", "-shared", "-fPIC", "-o", str(library),
           str(TESTS / "native_probe" / "count_malloc.c")]  # fmt: skip
    subprocess.run(run, check=True)
    code = f"""
import sys
sys.path[:0] = [{str(TESTS)!r}, {str(Path(probe.__file__).parent)!r}]
import native_probe, numpy as np
import test_native as t
from conftest import examples, random_similarities
W = random_similarities(3, 300)
split = np.kron(np.eye(10), np.ones((30, 30))) * W
for T in (W, split):
    for solver in (1, 2):
        for threads in (1, 2):
            for _ in range(2):
                answer = t.call_tlrr(native_probe, T, solver=solver, n_threads=threads, max_iter=5,
                                     mu=1.0)
            assert answer["status"] == t.OK
            print(solver, threads, answer["asked"], answer["inside"])
"""
    out = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert out.returncode == 0, out.stderr
    for line in out.stdout.splitlines():
        _, _, asked, inside = map(int, line.split())
        assert inside < 20_000 < asked, out.stdout
