import numpy as np
import pytest
import threadpoolctl
from conftest import random_similarities

import mvsc_fast
from mvsc_fast import threads, tlrr
from mvsc_fast.threads import frontal_threads, resolve_threads


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


def test_slices_side_by_side_before_a_threaded_lapack(monkeypatch):
    monkeypatch.setattr(threads, "HAS_OPENMP", True)
    assert frontal_threads(3, 5000, 2) == (2, 1)
    assert frontal_threads(3, 5000, 16) == (1, 16)
    assert frontal_threads(3, 100, 16) == (3, 1)
    monkeypatch.setattr(threads, "HAS_OPENMP", False)
    assert frontal_threads(3, 100, 2) == (1, 2)


@pytest.mark.parametrize("solver", ["ialm", "dual"])
def test_settings_are_restored_also_after_an_exception(solver):
    before = blas_settings()

    def fail(state):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        tlrr(random_similarities(2, 30), solver=solver, callback=fail)
    assert blas_settings() == before


@pytest.mark.parametrize("solver", ["ialm", "dual"])
def test_results_do_not_depend_on_the_thread_count(solver):
    W = random_similarities(3, 60)
    one, two = (tlrr(W, lam=2.0, solver=solver, n_threads=k) for k in (1, 2))
    assert one.n_iter == two.n_iter
    np.testing.assert_array_equal(one.tensor, two.tensor)


def test_show_config(capsys):
    mvsc_fast.show_config()
    out = capsys.readouterr().out
    assert mvsc_fast.__version__ in out and "openmp" in out and "blas" in out
