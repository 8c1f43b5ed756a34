"""Memory that cannot be had: every failure is a MemoryError, and the next call works."""

import sys

import numpy as np
import pytest
from conftest import FULL, fitted, random_similarities, recovered
from processes import run_python

from mvsc_fast import _kernels, datasets
from mvsc_fast.methods import LTMSC, SNN, TRPCA, TSVDMSC, UtSVDMSC
from mvsc_fast.solvers import _tlrr_binding as door
from mvsc_fast.solvers import tlrr


class FailingNumpy:
    """numpy, but the k-th array that is asked for cannot be had."""

    def __init__(self, k):
        self.left = k

    def __getattr__(self, name):
        function = getattr(np, name)
        if name not in ("empty", "empty_like", "zeros"):
            return function

        def allocate(*args, **kwargs):
            self.left -= 1
            if self.left == 0:
                raise MemoryError(f"injected into {name}")
            return function(*args, **kwargs)

        return allocate


VIEWS = datasets.make_multiview_subspaces(30, 3, random_state=0)[0]
W = random_similarities(2, 30)
CALLS = {
    "tlrr dual": lambda: tlrr(W, lam=2.0, max_iter=3).tensor,
    "tlrr ialm": lambda: tlrr(1e4 * W, lam=2e-4, solver="ialm", max_iter=3).tensor,
    "TSVDMSC": lambda: fitted(TSVDMSC(3, max_iter=3), VIEWS).tensor_,
    "UtSVDMSC": lambda: fitted(UtSVDMSC(3, max_iter=3), VIEWS).tensor_,
    "LTMSC": lambda: fitted(LTMSC(3, max_iter=3), VIEWS).tensor_,
    "trpca": lambda: recovered(TRPCA, W, max_iter=3).tensor_,
    "snn": lambda: recovered(SNN, W, max_iter=3).tensor_,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_allocation_of_the_core_may_fail(monkeypatch, call):
    expected = call()
    failures, k = 0, 0
    while failures == k and k < 400:
        k += 1
        with monkeypatch.context() as patch:
            failing = FailingNumpy(k)
            for module in (_kernels, door):
                patch.setattr(module, "np", failing)
            try:
                call()
            except MemoryError as error:
                assert "injected" in str(error)
                failures += 1
        np.testing.assert_array_equal(call(), expected)
    assert failures >= 2  # the workspace and the result at least


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and sets limits")
def test_many_fits_leave_memory_flat():
    fits = 1000 if FULL else 48
    code = f"""
        import resource
        from mvsc_fast import datasets
        from mvsc_fast.methods import ESTIMATORS
        views, _ = datasets.make_multiview_subspaces(80, 2, random_state=0)
        models = [E(2, random_state=0) for E in ESTIMATORS.values()]
        for model in models:
            few = {{"n_init": 1, "max_iter": 5, "tol": 1e3, "n_neighbors": 6}}.items()
            model.set_params(**{{k: v for k, v in few if k in model.get_params()}})
        def rounds(count):
            for k in range(count):
                models[k % len(models)].fit(views)
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * resource.getpagesize()
        first = rounds({fits} // 3)
        last = rounds({fits} - {fits} // 3)
        print(last - first)
    """
    out = run_python(code)
    assert int(out) < 3 * 2**20
