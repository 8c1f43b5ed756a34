"""The C interface and the cimport, proven by the modules of examples/native."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import random_similarities
from native_calls import (
    SLICE_CLIP,
    SLICE_SHRINK,
    SOLVERS,
    SYMMETRIC_CLIP,
    SYMMETRIC_SHRINK,
    TUBE_SHRINK,
)

from mvsc_fast import _kernels as kernels
from mvsc_fast import tlrr
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
