"""How many threads to use, and keeping BLAS and OpenMP out of each other's way."""

import contextlib
import functools
import os
import threading

import joblib
import numpy as np
import threadpoolctl

from ._kernels import HAS_OPENMP
from .validation import check_integer

_in_forked_child = False


@functools.lru_cache(maxsize=1)
def _controller():
    return threadpoolctl.ThreadpoolController()


class _BlasLimit:
    """The number of BLAS threads of the process: the least that any running call asks for.

    BLAS has one setting for all Python threads, so concurrent calls must not save and restore it
    behind each other's back: the first to come notes it, the last to go puts it back.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._requests = []
        self._original = None

    @contextlib.contextmanager
    def __call__(self, n_threads):
        request = [n_threads]  # found again by identity, wherever an interrupt strikes
        try:
            with self._lock:
                if not self._requests:
                    libraries = _controller().select(user_api="blas").lib_controllers
                    self._original = [(library, library.get_num_threads()) for library in libraries]
                self._change([*self._requests, request])
            yield
        finally:
            with self._lock:
                self._change([other for other in self._requests if other is not request])

    def _change(self, requests):
        before, self._requests = min(self._requests, default=None), requests
        after = min(requests, default=None)
        if after != before:
            for library, original in self._original:
                library.set_num_threads(original if after is None else after[0])


_blas_limit = _BlasLimit()


def _after_fork():
    """In a forked child: GCC's OpenMP hangs once the parent has used it, so do without."""
    global _in_forked_child, _blas_limit
    _in_forked_child = True
    _blas_limit = _BlasLimit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def resolve_threads(n_threads=None):
    """Number of threads for ``n_threads``: None follows OMP_NUM_THREADS and the CPUs allowed here.

    CPUs are counted within the process's affinity mask and cgroup limits. Without OpenMP the
    count still limits BLAS. A process made by fork always gets 1, as OpenMP may hang there: start
    worker processes by "spawn" or "forkserver", or joblib's default, to have threads in them.
    """
    if n_threads is not None:
        n_threads = check_integer(n_threads, "n_threads", minimum=1)
    if _in_forked_child:
        # scikit-learn's k-means has an OpenMP of its own.
        _controller().limit(limits=1, user_api="openmp")
        return 1
    if n_threads is not None:
        return n_threads
    with contextlib.suppress(ValueError):
        asked = int(os.environ.get("OMP_NUM_THREADS", "").split(",")[0])
        if asked >= 1:
            return asked
    return joblib.cpu_count()


def useful_threads(n_threads, n_samples):
    """Threads worth waking for n x n matrices: below 200 samples BLAS and OpenMP only wait."""
    return n_threads if n_samples >= 200 else 1


def blas_threads(n_threads):
    """Context in which BLAS uses ``n_threads`` threads; the former setting returns afterwards."""
    return _blas_limit(n_threads)


class BlasSwitch:
    """Context in which BLAS has one thread until the switch is called with another number."""

    def __enter__(self):
        self._limit = contextlib.ExitStack()
        self(1)
        return self

    def __call__(self, n_threads):
        self._limit.close()
        self._limit.enter_context(blas_threads(n_threads))

    def __exit__(self, *_):
        self._limit.close()


def show_config():
    """Print versions, BLAS libraries, OpenMP and the number of threads in use."""
    import platform

    import scipy
    import sklearn

    from . import __version__

    print(f"mvsc_fast     {__version__}")
    print(f"python        {platform.python_version()} on {platform.machine()}")
    print(f"numpy         {np.__version__}")
    print(f"scipy         {scipy.__version__}")
    print(f"scikit-learn  {sklearn.__version__}")
    print(f"openmp        {'yes' if HAS_OPENMP else 'no: the compiled core runs serially'}")
    print(f"threads       {resolve_threads()}")
    for library in _controller().info():
        if library["user_api"] == "blas":
            print(
                f"blas          {library['internal_api']} {library['version']} "
                f"({library.get('architecture', 'unknown')}, {library['num_threads']} threads)"
            )
