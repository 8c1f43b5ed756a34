"""How many threads to use, and keeping BLAS and OpenMP out of each other's way."""

import contextlib
import functools
import os

import joblib
import numpy as np
import threadpoolctl

from ._kernels import HAS_OPENMP
from .validation import check_integer


@functools.lru_cache(maxsize=1)
def _controller():
    return threadpoolctl.ThreadpoolController()


def resolve_threads(n_threads=None):
    """Number of threads for ``n_threads``: None follows OMP_NUM_THREADS and the CPUs allowed here.

    CPUs are counted within the process's affinity mask and cgroup limits. Without OpenMP the
    count still limits BLAS.
    """
    if n_threads is not None:
        return check_integer(n_threads, "n_threads", minimum=1)
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
    return _controller().limit(limits=n_threads, user_api="blas")


def frontal_threads(n_views, n_samples, n_threads):
    """Split of the threads over the frontal slices: (slices at once, BLAS threads for each).

    Slices side by side scale better than a threaded LAPACK, whose tridiagonal reduction is bound
    by memory; a threaded LAPACK pays where threads are left over and slices are large.
    """
    if HAS_OPENMP and (n_threads <= n_views or n_samples < 1000):
        return min(n_threads, n_views), 1
    return 1, n_threads


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
