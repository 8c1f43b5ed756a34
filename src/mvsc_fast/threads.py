"""How many threads to use, and keeping BLAS and OpenMP out of each other's way.

One rule: all threads of a fit belong to the compiled core, whose results do not depend on their
number; BLAS, and OpenMP in other libraries, have one. A problem below `SMALL` samples has one
everywhere; a larger one has as many as asked for, or by default the CPUs that nobody else is using,
shared between the fits in progress.

Threads that wait for each other spin, for whole time slices where one has no CPU. Beside busy
processes two threads took 2.4 times as long as one for TLRR of 640 samples, 15 to 35 times in
OpenBLAS (t-SVD-MSC and LT-MSC of 480) and 12 to 225 times in scikit-learn's k-means. And sums of
OpenBLAS depend on its threads, which must not decide on the last bits of a result.
"""

import contextlib
import functools
import os
import threading
from pathlib import Path

import joblib
import numpy as np
import threadpoolctl

from ._kernels import HAS_OPENMP
from .validation import check_integer

__all__ = [
    "blas_threads",
    "limit_threads",
    "resolve_threads",
    "show_config",
    "use_threads",
    "useful_threads",
]

SMALL = 200  # samples; below, waking a thread takes longer than its share of the work
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
                _set_blas(library, original if after is None else after[0])


def _set_blas(library, n_threads):
    """Set BLAS's threads from any Python thread.

    threadpoolctl 3.7 and later ignores, without a word, all but the Python thread that was first to
    set OpenBLAS's threads, until that one gives the control back.
    """
    give_back = getattr(library, "clear_controlling_thread", lambda force: None)
    give_back(force=True)
    library.set_num_threads(n_threads)
    give_back(force=True)


class _Fits:
    """Fits in progress: the Python threads they run in, once for each of nested fits."""

    def __init__(self):
        self._threads = []  # append and remove are atomic

    @contextlib.contextmanager
    def __call__(self):
        me = threading.get_ident()
        self._threads.append(me)
        try:
            yield
        finally:
            self._threads.remove(me)

    def others(self):
        """Python threads other than this one that are in a fit."""
        return len({*self._threads} - {threading.get_ident()})


_blas_limit = _BlasLimit()
_fits = _Fits()


def _after_fork():
    """In a forked child: GCC's OpenMP hangs once the parent has used it, so do without."""
    global _in_forked_child, _blas_limit, _fits
    _in_forked_child = True
    _blas_limit, _fits = _BlasLimit(), _Fits()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def resolve_threads(n_threads=None):
    """Number of threads for ``n_threads``: None follows OMP_NUM_THREADS, or takes the free CPUs.

    These are the CPUs in the process's affinity mask and cgroup limits, divided by the number of
    fits in progress in this process, without those that other processes are keeping busy at this
    moment (known on Linux only). A process made by fork always gets 1, as OpenMP may hang there:
    start worker processes by "spawn" or "forkserver", or joblib's default, to have threads in them.
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
    share = joblib.cpu_count() // (1 + _fits.others())
    return max(1, min(share, (os.cpu_count() or 1) - _busy_neighbours()))


def _busy_neighbours():
    """Threads of other processes that run or wait for a CPU now; 0 where the system hides them."""
    try:
        running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
        ours = sum(
            stat.read_text().rpartition(")")[2].split()[0] == "R"
            for stat in Path("/proc/self/task").glob("*/stat")
        )
    except (OSError, ValueError, IndexError):
        return 0
    return max(0, running - ours)


def useful_threads(n_threads, n_samples):
    """Threads worth waking for n x n matrices: 1 below `SMALL` samples."""
    return n_threads if n_samples >= SMALL else 1


def blas_threads(n_threads):
    """Context in which BLAS uses ``n_threads`` threads; the former setting returns afterwards."""
    return _blas_limit(n_threads)


@contextlib.contextmanager
def limit_threads():
    """Context in which BLAS, and OpenMP in other libraries, use one thread.

    OpenMP keeps its setting for every Python thread apart, so that it can be put back at once.
    """
    libraries = _controller().select(user_api="openmp").lib_controllers
    former = [(library, library.get_num_threads()) for library in libraries]
    try:
        for library, _ in former:
            library.set_num_threads(1)
        with blas_threads(1):
            yield
    finally:
        for library, count in former:
            library.set_num_threads(count)


@contextlib.contextmanager
def use_threads(n_threads, n_samples):
    """Context of a fit: gives the number of threads of the core; all other libraries have one."""
    with _fits(), limit_threads():
        yield useful_threads(resolve_threads(n_threads), n_samples)


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
