"""Number of threads of the core, and thread limits of BLAS and OpenMP in other libraries.

All threads of a fit belong to the compiled core, whose results do not depend on their number (with
BLAS kernels that round alike wherever an operand lies: OpenBLAS's since Nehalem); BLAS and OpenMP
in other libraries use one. Problems of fewer than `SMALL` samples use one thread. Larger ones use
the requested number, or by default OMP_NUM_THREADS or the CPUs of the process, shared between the
fits in progress.

There are two reasons. The sums of OpenBLAS and of scikit-learn's k-means depend on the number of
threads, and so would the last bits of a result. And threads that wait for each other spin, for
whole time slices if one has no CPU: next to busy processes, two threads took 1.5 to 2.4 times as
long as one for TLRR of 640 samples, 15 to 35 times in OpenBLAS (t-SVD-MSC and LT-MSC of 480) and 12
to 225 times in scikit-learn's k-means.

OpenBLAS has one setting for the process, also by ``openblas_set_num_threads_local``, so it cannot
be limited for the calling thread alone.
"""

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import joblib  # which scikit-learn requires
import threadpoolctl

from .._kernels import HAS_OPENMP
from ._threads import Limit, add_library, fits_elsewhere, leave_for_other_threads
from .parameters import check_integer

Function = TypeVar("Function", bound=Callable[..., Any])

SMALL = 200  # samples; below, waking a thread takes longer than its share of the work
MAX_PER_CPU = 4  # every thread needs a workspace, and more threads only wait for each other

# The functions that read and set the threads of a library.
FUNCTIONS = {
    "openblas": ("openblas_get_num_threads", "openblas_set_num_threads"),
    "mkl": ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads_Local"),
    "blis": ("bli_thread_get_num_threads", "bli_thread_set_num_threads"),
    "flexiblas": ("flexiblas_get_num_threads", "flexiblas_set_num_threads"),
    "openmp": ("omp_get_max_threads", "omp_set_num_threads"),
}
PER_THREAD = ("mkl", "openmp")  # one setting for each thread; a single one in Visual C++'s OpenMP
AFFIXES = [(prefix, suffix) for prefix in ("", "scipy_") for suffix in ("", "64_", "_64")]

_pid = os.getpid()  # of the process that imported the package
_n_modules = 0  # number of modules at the last search for libraries


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=leave_for_other_threads)


def _find_libraries():
    """Update the list of loaded libraries, which changes if modules are imported."""
    global _n_modules
    n_modules = len(sys.modules)
    if n_modules == _n_modules:
        return
    # The core sets threads by address, which takes less time than threadpoolctl's limits.
    for library in threadpoolctl.ThreadpoolController().lib_controllers:
        is_blas = library.user_api == "blas"
        kind = library.internal_api
        if kind == "openblas" and library.threading_layer == "openmp":
            kind = "openmp"  # OpenBLAS then has the setting of OpenMP
        addresses = _addresses(library, *FUNCTIONS.get(kind, ()))
        if addresses:
            per_thread = kind in PER_THREAD and library.prefix != "vcomp"
            add_library(*addresses, is_blas, per_thread)
    _n_modules = n_modules


def _addresses(library, *names):
    """Addresses of functions of a library; empty if it lacks one of them."""
    for prefix, suffix in AFFIXES:
        functions = [getattr(library.dynlib, f"{prefix}{name}{suffix}", None) for name in names]
        if all(functions):
            return [ctypes.cast(function, ctypes.c_void_p).value for function in functions]
    return []


def resolve_threads(n_threads=None):
    """Resolve ``n_threads``; None uses OMP_NUM_THREADS, or the CPUs of the process.

    These are the CPUs that the process may use (`joblib.cpu_count`), divided by the number of fits
    in progress. The result is limited to `MAX_PER_CPU` threads for each of them.
    It is always 1 in a forked process, where OpenMP may hang: to use threads in worker processes,
    start them by "spawn", "forkserver" or the default of joblib.
    """
    if n_threads is not None:
        n_threads = check_integer(n_threads, "n_threads", minimum=1)
    if n_threads == 1 or os.getpid() != _pid:  # which OpenMP's threads do not survive
        return 1
    cpus = joblib.cpu_count()
    if n_threads is None:
        n_threads = _omp_num_threads() or max(1, cpus // (1 + fits_elsewhere()))
    return min(n_threads, MAX_PER_CPU * cpus)


def _omp_num_threads():
    """The first number of OMP_NUM_THREADS; 0 if there is none."""
    with contextlib.suppress(ValueError):
        return max(0, int(os.environ.get("OMP_NUM_THREADS", "").split(",")[0]))
    return 0


def blas_threads(n_threads):
    """Context in which BLAS uses at most ``n_threads`` threads."""
    _find_libraries()
    return Limit(n_threads)


def limit_threads():
    """Context in which BLAS, and OpenMP in other libraries, use one thread."""
    _find_libraries()
    return Limit(1, openmp=1)


def limited(function: Function) -> Function:
    """Run a public function that has no ``n_threads`` inside `limit_threads`."""

    @functools.wraps(function)
    def limited_function(*args: Any, **parameters: Any) -> Any:
        with limit_threads():
            return function(*args, **parameters)

    return cast(Function, limited_function)


def use_threads(n_threads, n_samples):
    """Context of a fit; yields the number of core threads and limits other libraries to one."""
    _find_libraries()
    is_small = n_samples < SMALL
    # A number is checked; to count CPUs would take as long as to label a sample.
    n_threads = resolve_threads(1 if is_small and n_threads is None else n_threads)
    return Limit(1, openmp=1, n_threads=1 if is_small else n_threads)


def show_config() -> None:
    """Print versions, BLAS libraries, OpenMP and the number of threads in use."""
    import sklearn

    from .. import __version__

    print(f"mvsc_fast     {__version__}")
    print(f"openmp        {'yes' if HAS_OPENMP else 'no: the compiled core runs serially'}")
    print(f"threads       {resolve_threads()}")
    sklearn.show_versions()
