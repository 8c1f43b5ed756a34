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

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and sets limits")


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


@linux_only
def test_many_fits_leave_memory_flat():
    fits = 1000 if FULL else 48
    # A forked process would count pages of its parent that it touches.
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
    out = run_python(code, fresh=True)
    assert int(out) < 3 * 2**20


LEVELS = range(0, 68, 4) if FULL else (0, 12)  # MiB beyond what is in use


@linux_only
def test_an_address_space_limit_leaves_estimator_threads_and_labels_as_they_were():
    code = f"""
        import resource, warnings
        import numpy as np
        import threadpoolctl
        from mvsc_fast import datasets
        from mvsc_fast.methods import ESTIMATORS
        warnings.simplefilter("ignore")
        def settings():
            return [x["num_threads"] for x in threadpoolctl.threadpool_info()]
        small, large = (
            datasets.make_multiview_subspaces(n, 3, random_state=0)[0] for n in (60, 800)
        )
        few = {{"n_init": 2, "max_iter": 3, "tol": 1e3, "n_threads": 1, "random_state": 0}}
        before = settings()
        for name in ("consensus-tlrr", "tlrr", "tsvd-msc", "trpca", "snn", "awp"):
            model = ESTIMATORS[name](3)
            model.set_params(**{{k: v for k, v in few.items() if k in model.get_params()}})
            labels = model.fit_predict(small)
            for level in {list(LEVELS)}:
                with open("/proc/self/statm") as file:
                    used = int(file.read().split()[0]) * resource.getpagesize()
                # NumPy reports a lack of buffers for its loops without holding the GIL, which ends
                # the process: leave some on the heap.
                buffers = [bytes(2**16) for _ in range(64)]
                resource.setrlimit(resource.RLIMIT_AS, (used + level * 2**20, -1))
                del buffers[:-1]
                try:
                    model.fit(large)
                except MemoryError:
                    print("refused", name)
                    learned = model.labels_
                else:
                    learned = labels
                resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
                assert settings() == before, (name, level, settings())
                np.testing.assert_array_equal(learned, labels)
                np.testing.assert_array_equal(model.fit_predict(small), labels)
    """
    out = run_python(code, fresh=True)
    assert len({line.split()[1] for line in out.splitlines()}) >= 5
