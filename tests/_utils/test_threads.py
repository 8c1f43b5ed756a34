import importlib
import inspect
import itertools
import os
import re
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import threadpoolctl
from conftest import published_tlrr, random_similarities, thread_settings
from processes import run_python
from sklearn.base import clone
from sklearn.cluster import KMeans
from test_public import PUBLIC

import mvsc_fast
from mvsc_fast import datasets, explanation, similarity
from mvsc_fast._utils import threads
from mvsc_fast._utils._threads import Limit
from mvsc_fast.methods import ESTIMATORS
from mvsc_fast.spectral import spectral_embedding, spectral_labels

TASKS = Path("/proc/self/task")


def dense(value):
    """The array of sparse matrices; anything else as it is."""
    if isinstance(value, list) and all(map(scipy.sparse.issparse, value)):
        return np.stack([A.toarray() for A in value])
    return value.toarray() if scipy.sparse.issparse(value) else value


def test_omp_num_threads_is_followed(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    for text, expected in {"3,2": 3, "1": 1, "99": 2 * threads.MAX_PER_CPU}.items():
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert threads.resolve_threads() == expected
    assert threads.resolve_threads(5) == 5
    assert threads.resolve_threads(99) == 2 * threads.MAX_PER_CPU
    for unusable in ("", "zero", "0", "-2", "9" * 5000):
        monkeypatch.setenv("OMP_NUM_THREADS", unusable)
        assert threads.resolve_threads() == 2
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads.resolve_threads() == 2
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    assert threads.resolve_threads() == 1


ZERO_AT_FIRST = "etlmsc", "scmv-3dt", "trpca", "snn"  # whose first iterations shrink all to zero


@pytest.mark.filterwarnings("ignore:.* did not converge")
@pytest.mark.parametrize(
    "method", [name for name in ESTIMATORS if "n_threads" in ESTIMATORS[name]().get_params()]
)
def test_no_bit_of_a_fit_depends_on_the_thread_count(method, threads_at_any_size):
    views, _ = datasets.make_multiview_subspaces(130, 3, random_state=0)
    model = ESTIMATORS[method](3, random_state=0)
    few = {"max_iter": 4, "tol": 1e3, "n_init": 2}
    if method in ZERO_AT_FIRST:
        few = {"max_iter": 120, "n_init": 2}
    model.set_params(**{name: few[name] for name in few if name in model.get_params()})
    one, three = (clone(model).set_params(n_threads=k).fit(views) for k in (1, 3))
    lists = {"candidates_", "warnings_"}
    arrays = {name: dense(value) for name, value in vars(one).items() if name not in lists}
    arrays = {name: value for name, value in arrays.items() if isinstance(value, np.ndarray)}
    assert "labels_" in arrays and ({"embedding_", "affinity_matrix_"} & set(arrays))
    for name, value in arrays.items():
        np.testing.assert_array_equal(value, dense(getattr(three, name)), err_msg=name)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="Python has a GIL")
def test_no_import_turns_the_gil_on():
    run_python("""
        import sys
        from mvsc_fast import datasets, explanation
        from mvsc_fast.methods import ESTIMATORS
        views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
        for estimator in ESTIMATORS.values():
            estimator(3, random_state=0).fit(views)
        assert not sys._is_gil_enabled()
    """)


def set_threads(n_threads, kind="blas"):
    """As a user does: threadpoolctl's limit, in force at once."""
    if kind == "blas" and not thread_settings("blas"):
        pytest.skip("this BLAS has no threads")
    return threadpoolctl.threadpool_limits(n_threads, user_api=kind)


def test_a_limit_set_by_a_callback_outlives_the_fit():
    """One around a fit inside of the callback ends there."""
    before, seen = thread_settings("blas"), []

    def callback(state):
        if not seen:
            with set_threads(4):
                published_tlrr(random_similarities(2, 30), max_iter=2)
                assert set(thread_settings("blas")) == {4}
            assert set(thread_settings("blas")) == {1}
            seen.append(set_threads(3))
            published_tlrr(random_similarities(2, 30), max_iter=2)
        seen.append(set(thread_settings("blas")))

    with set_threads(2):
        published_tlrr(random_similarities(2, 30), max_iter=3, tol=0.0, callback=callback)
        assert set(thread_settings("blas")) == {3}
    assert seen[1:] == [{3}] * 3
    assert thread_settings("blas") == before


def test_a_setting_that_others_change_during_a_limit_is_theirs():
    with set_threads(2):
        other = set_threads(1)
        with threads.blas_threads(1):
            other.restore_original_limits()
            assert set(thread_settings("blas")) == {2}
            with threads.blas_threads(1):
                assert set(thread_settings("blas")) == {1}
            assert set(thread_settings("blas")) == {2}
        assert set(thread_settings("blas")) == {2}


LIMITS = (2, 1, 1)  # of three limits that begin one after the other


@pytest.mark.parametrize("order", itertools.permutations(range(3)))
@pytest.mark.parametrize("kind", ["blas", "openmp"])
def test_limits_may_end_in_any_order(kind, order):
    """The least one in force holds; those of BLAS may end in other threads."""
    with threads.blas_threads(1):
        pass  # all libraries are known
    before, left = thread_settings(), list(order)
    with set_threads(4, kind), ThreadPoolExecutor(1) as pool:
        limits = [Limit(k) if kind == "blas" else Limit(1, openmp=k) for k in LIMITS]
        for limit in limits:
            limit.__enter__()
        for k in order:
            assert set(thread_settings(kind)) == {min(LIMITS[other] for other in left)}
            left.remove(k)
            leave = partial(limits[k].__exit__, None, None, None)
            pool.submit(leave).result() if kind == "blas" else leave()
        assert set(thread_settings(kind)) == {4}
    assert thread_settings() == before


def test_a_limit_that_is_dropped_ends():
    before = thread_settings()
    limit = threads.limit_threads()
    limit.__enter__()
    with pytest.raises(RuntimeError, match="in force"):
        limit.__enter__()
    assert set(thread_settings()) == {1}
    del limit
    assert thread_settings() == before
    limit = threads.limit_threads()
    limit.__exit__(None, None, None)  # never entered
    for _ in range(2):
        with limit:
            assert set(thread_settings()) == {1}
        assert thread_settings() == before


def test_k_means_has_one_thread(monkeypatch):
    seen, fit_predict = [], KMeans.fit_predict

    def recorded(self, X):
        seen.extend(thread_settings())
        return fit_predict(self, X)

    monkeypatch.setattr(KMeans, "fit_predict", recorded)
    spectral_labels(random_similarities(1, 400)[0], 3, random_state=0)
    assert set(seen) == {1}


def test_small_fits_have_one_thread_and_large_ones_those_asked_for():
    for n_samples, expected in ((threads.SMALL - 1, 1), (threads.SMALL, 3)):
        with threads.use_threads(3, n_samples) as n_threads:
            assert n_threads == expected
            assert set(thread_settings()) == {1}  # they are the core's


def test_default_threads_are_the_cpus_shared_by_fits(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    with threads.use_threads(None, 1000), ThreadPoolExecutor(1) as pool:
        assert threads.resolve_threads() == 8  # a fit inside a fit is the same one
        assert threads.resolve_threads(3) == 3
        with threads.use_threads(None, 1000):
            assert pool.submit(threads.resolve_threads).result() == 4
        assert pool.submit(threads.resolve_threads).result() == 4
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(threads.resolve_threads).result() == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_keeps_to_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "_pid", -1)
    with threadpoolctl.threadpool_limits(2, user_api="openmp"):
        assert threads.resolve_threads(4) == threads.resolve_threads() == 1


@pytest.mark.skipif(sys.platform != "linux", reason="loads a copy of a library")
def test_libraries_that_are_loaded_later_are_limited(tmp_path):
    """As often as modules are imported, which is how libraries come."""
    out = run_python(f"""
        import ctypes, shutil, sys, types
        import threadpoolctl
        from mvsc_fast._utils import threads
        with threads.blas_threads(1):
            pass
        found = threadpoolctl.threadpool_info()
        path = next((x["filepath"] for x in found if x["internal_api"] == "openblas"), None)
        if path is not None:
            ctypes.CDLL(shutil.copy(path, {str(tmp_path)!r}))
            sys.modules["imported_later"] = types.ModuleType("imported_later")
            before = [x["num_threads"] for x in threadpoolctl.threadpool_info()]
            assert len(before) == len(found) + 1
            with threads.limit_threads():
                assert {{x["num_threads"] for x in threadpoolctl.threadpool_info()}} == {{1}}
            assert [x["num_threads"] for x in threadpoolctl.threadpool_info()] == before
        print(path is not None)
    """)
    if out.split() == ["False"]:
        pytest.skip("no OpenBLAS here")


@pytest.mark.parametrize("solver", ["ialm", "dual"])
@pytest.mark.slow
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
        parameters = {"max_iter": 40, "tol": 0.0, "lam": 1e-4, "n_threads": 1, "solver": solver}
        published_tlrr(1e4 * W, callback=lambda state: seen.append(count[0]), **parameters)
    finally:
        sys.setswitchinterval(former)
        done.set()
        thread.join()
    assert len(seen) > 2 and seen[-1] > seen[0]


def test_show_config(capsys, monkeypatch):
    monkeypatch.setattr(threads, "resolve_threads", lambda: 3)
    mvsc_fast.show_config()
    text = capsys.readouterr().out
    assert re.search(rf"^mvsc_fast +{re.escape(mvsc_fast.__version__)}$", text, re.M)
    assert re.search(r"^openmp +(yes|no: .* serially)$", text, re.M)
    assert re.search(r"^threads +3$", text, re.M) and f"numpy: {np.__version__}" in text


def test_the_setting_of_openmp_is_that_of_each_thread():
    """A limit that ends restores it, although another thread has a limit in force."""

    def settings():
        openmp = [x for x in threadpoolctl.threadpool_info() if x["user_api"] == "openmp"]
        return {library["num_threads"] for library in openmp if library["prefix"] != "vcomp"}

    with threadpoolctl.threadpool_limits(3, user_api="openmp"), ThreadPoolExecutor(1) as pool:
        if not settings():
            pytest.skip("no OpenMP library has a setting for each thread")
        other = threads.limit_threads()
        with threads.limit_threads():
            pool.submit(other.__enter__).result()
            assert settings() == {1}
        assert settings() == {3}
        pool.submit(other.__exit__, None, None, None).result()


def seconds_of_other_threads():
    """CPU seconds so far of all threads but the caller's."""
    tasks = [task for task in TASKS.iterdir() if int(task.name) != threading.get_native_id()]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) * 1e-9


def public_calls():
    """Calls of public functions that compute, and a fit of every estimator."""
    data, y = datasets.make_multiview_subspaces(130, 3, n_features=(140, 100), random_state=0)
    W = similarity.nearest_neighbors(data)
    model = mvsc_fast.ConsensusTLRR(3, n_threads=1, random_state=0).fit(data)
    cells = SimpleNamespace(obs_names=np.arange(130), obs=pd.DataFrame(index=range(130)))
    vars(cells).update(obsm={}, obsp={}, uns={})
    short = {"max_iter": 3, "n_init": 2, "n_threads": 1}
    for estimator in dict.fromkeys(ESTIMATORS.values()):
        parameters = short.keys() & estimator().get_params()
        yield partial(estimator(3, **{name: short[name] for name in parameters}).fit, data)
    yield partial(model.predict, [X[:120] for X in data])
    for function, *arguments, options in (
        (mvsc_fast.annotate, cells, model, data, {}),
        (mvsc_fast.consensus_labels, [y, y], 3, {"n_threads": 1}),
        (mvsc_fast.explain, model, data, {}),
        (mvsc_fast.label_predictability, data, y, {}),
        (mvsc_fast.structure_test, data, 3, {"n_rotations": 2, "each_view": True}),
        (mvsc_fast.suggest_n_clusters, data, {"max_clusters": 4, "n_threads": 1}),
        (explanation.markers, model, data, {}),
        (explanation.plot_embedding, data[1][:, :50], y, {}),
        (explanation.stability, model, data, {"n_resamples": 2}),
        (mvsc_fast.metrics.compare, {"a": model}, data, y, {}),
        (similarity.nearest_neighbors, data, {}),
        (similarity.rbf, data, {}),
        (similarity.self_representation, data, {}),
        (mvsc_fast.solvers.tlrr, W, {"max_iter": 3, "n_threads": 1}),
        (spectral_embedding, W[0], 3, {}),
        (spectral_labels, W[0], 3, {}),
    ):
        yield partial(function, *arguments, **options)


@pytest.mark.skipif(not TASKS.exists(), reason="threads are counted on Linux")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.slow
def test_no_public_call_uses_more_threads_than_it_was_given(threads_at_any_size):
    with set_threads(4):
        for call in public_calls():
            call()  # imports, and what is computed once
            time.sleep(0.1)  # threads that wait for work spin before they sleep
            ours, others = time.thread_time(), seconds_of_other_threads()
            call()
            ours, others = time.thread_time() - ours, seconds_of_other_threads() - others
            assert others < 2e-3 + 0.05 * ours, call


# They have ``n_threads``, as estimators, or no product of matrices.
UNLIMITED = """consensus_labels tlrr
align check_views clustering_scores from_anndata fuse get_include load_handwritten load_mat main
make_multiview_subspaces markers missing plot_markers plot_similarity show_config""".split()


def test_public_functions_limit_the_threads_of_other_libraries():
    modules = map(importlib.import_module, PUBLIC)
    functions = (getattr(module, name) for module in modules for name in module.__all__)
    functions = {f.__name__: f for f in functions if inspect.isfunction(f)}
    unlimited = {name for name, f in functions.items() if not hasattr(f, "__wrapped__")}
    assert unlimited == set(UNLIMITED)
