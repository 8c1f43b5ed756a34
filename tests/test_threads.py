import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import threadpoolctl
from conftest import published_tlrr, random_similarities
from sklearn.base import clone

import mvsc_fast
from mvsc_fast import TLRR, datasets, spectral, threads
from mvsc_fast.methods import ESTIMATORS
from mvsc_fast.methods._base import as_array
from mvsc_fast.threads import resolve_threads


def blas_settings():
    return [
        library["num_threads"]
        for library in threadpoolctl.threadpool_info()
        if library["user_api"] == "blas"
    ]


def test_omp_num_threads_is_followed(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert resolve_threads() == 3
    assert resolve_threads(5) == 5
    for unusable in ("", "zero", "0"):
        monkeypatch.setenv("OMP_NUM_THREADS", unusable)
        assert resolve_threads() >= 1
    with pytest.raises(ValueError, match="n_threads == 0, must be >= 1"):
        resolve_threads(0)
    with pytest.raises(TypeError, match="n_threads"):
        resolve_threads("two")


@pytest.mark.parametrize("solver", ["ialm", "dual"])
def test_settings_are_restored_also_after_an_exception(solver):
    before = blas_settings()

    def fail(state):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        published_tlrr(random_similarities(2, 30), solver=solver, callback=fail)
    assert blas_settings() == before


@pytest.mark.parametrize("solver", ["ialm", "dual"])
def test_results_do_not_depend_on_the_thread_count(solver, threads_at_any_size):
    W = random_similarities(3, 60)
    one, two = (published_tlrr(W, lam=2.0, solver=solver, n_threads=k) for k in (1, 2))
    assert one.n_iter == two.n_iter
    np.testing.assert_array_equal(one.tensor, two.tensor)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_no_bit_of_a_fit_depends_on_the_thread_count(method, threads_at_any_size):
    views, _ = datasets.make_multiview_subspaces(130, 3, random_state=0)
    model = ESTIMATORS[method](3, random_state=0)
    few = {"max_iter": 4, "tol": 1e3, "n_init": 2}
    model.set_params(**{name: few[name] for name in few if name in model.get_params()})
    one, three = (clone(model).set_params(n_threads=k).fit(views) for k in (1, 3))
    arrays = {name: as_array(value) for name, value in vars(one).items() if name != "candidates_"}
    arrays = {name: value for name, value in arrays.items() if isinstance(value, np.ndarray)}
    assert "labels_" in arrays and ({"embedding_", "affinity_matrix_"} & set(arrays))
    for name, value in arrays.items():
        np.testing.assert_array_equal(value, as_array(getattr(three, name)), err_msg=name)


def fit(n_threads=2):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    return TLRR(3, n_neighbors=6, random_state=0, n_threads=n_threads).fit(views).labels_


def test_concurrent_fits_equal_serial_ones(threads_at_any_size):
    before = blas_settings()
    methods = [*ESTIMATORS.values()]
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)

    def labels(estimator):
        return estimator(3, random_state=0, n_threads=2).fit(views).labels_

    expected = [labels(estimator) for estimator in methods]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(labels, methods))
    for ours, serial in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, serial)
    assert blas_settings() == before


def test_the_last_of_overlapping_limits_restores_the_setting():
    before = blas_settings()
    first, second = threads.blas_threads(2), threads.blas_threads(1)
    first.__enter__()
    assert set(blas_settings()) == {2}
    second.__enter__()
    assert set(blas_settings()) == {1}
    first.__exit__(None, None, None)
    assert set(blas_settings()) == {1}
    second.__exit__(None, None, None)
    assert blas_settings() == before


def all_settings():
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]


def test_limits_hold_in_every_python_thread():
    """threadpoolctl lets only the first thread that sets OpenBLAS's threads set them again."""
    before = all_settings()
    with threads.limit_threads():
        assert set(all_settings()) == {1}

    def inside():
        with threads.limit_threads():
            found = all_settings()
        return found, all_settings()

    with ThreadPoolExecutor(1) as pool:
        limited, after = pool.submit(inside).result()
    assert set(limited) == {1}
    assert after == before == all_settings()


def test_k_means_has_one_thread(monkeypatch):
    seen = []
    fit_predict = spectral.KMeans.fit_predict
    monkeypatch.setattr(
        spectral.KMeans,
        "fit_predict",
        lambda self, X: seen.extend(all_settings()) or fit_predict(self, X),
    )
    spectral.assign(np.random.default_rng(0).standard_normal((400, 3)), 3, random_state=0)
    assert set(seen) == {1}


def test_small_fits_have_one_thread_and_large_ones_those_asked_for():
    for n_samples, expected in ((threads.SMALL - 1, 1), (threads.SMALL, 3)):
        with threads.use_threads(3, n_samples) as n_threads:
            assert n_threads == expected
            assert set(all_settings()) == {1}  # they are the core's


def test_default_threads_are_the_cpus_that_nobody_else_uses(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads.joblib, "cpu_count", lambda: 8)
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 8)
    for busy, expected in ((0, 8), (3, 5), (20, 1)):
        monkeypatch.setattr(threads, "_busy_neighbours", lambda busy=busy: busy)
        assert resolve_threads() == expected
        assert resolve_threads(4) == 4
    monkeypatch.setattr(threads, "_busy_neighbours", lambda: 0)
    with threads.use_threads(None, 1000), ThreadPoolExecutor(1) as pool:
        assert resolve_threads() == 8  # a fit inside a fit is the same one
        assert pool.submit(resolve_threads).result() == 4
    assert resolve_threads() == 8


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_busy_neighbours_are_counted():
    spin = [sys.executable, "-c", "print(flush=True)\nwhile True: pass"]
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            process = stack.enter_context(subprocess.Popen(spin, stdout=subprocess.PIPE))
            stack.callback(process.kill)
            process.stdout.readline()
        assert threads._busy_neighbours() >= 3


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_worker_processes_do_not_hang_after_openmp_was_used(method):
    expected = fit()
    with multiprocessing.get_context(method).Pool(2) as pool:
        for labels in pool.map_async(fit, [2, 2, 1]).get(timeout=120):
            np.testing.assert_array_equal(labels, expected)


def test_joblib_workers():
    expected = fit()
    for labels in joblib.Parallel(n_jobs=2)(joblib.delayed(fit)(k) for k in (1, 2)):
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_keeps_to_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "_in_forked_child", True)
    with threadpoolctl.threadpool_limits(2, user_api="openmp"):
        assert resolve_threads(4) == resolve_threads() == 1


@pytest.mark.parametrize("solver", ["ialm", "dual"])
def test_heavy_work_leaves_the_interpreter_to_others(solver):
    """Python takes the interpreter from nobody here: others run where the solver lets it go."""
    W = random_similarities(3, 200)
    count, done, seen = [0], threading.Event(), []

    def counter():
        while not done.is_set():
            count[0] += 1
            time.sleep(0)

    former = sys.getswitchinterval()
    thread = threading.Thread(target=counter)
    try:
        thread.start()
        sys.setswitchinterval(1000)
        parameters = {"max_iter": 40, "tol": 0.0, "mu": 1.0, "lam": 1.0, "n_threads": 1}
        published_tlrr(W, solver=solver, callback=lambda state: seen.append(count[0]), **parameters)
    finally:
        sys.setswitchinterval(former)
        done.set()
        thread.join()
    assert len(seen) > 2 and seen[-1] > seen[0]


def test_show_config(capsys):
    mvsc_fast.show_config()
    out = capsys.readouterr().out
    assert mvsc_fast.__version__ in out and "openmp" in out and "blas" in out
