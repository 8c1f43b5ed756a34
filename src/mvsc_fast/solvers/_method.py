"""Decorator that makes a solver on validated data the public function of a method."""

import functools
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from .._utils.documentation import completed
from .._utils.parameters import CHECKS
from .._utils.threads import limit_threads, use_threads

Function = TypeVar("Function")

COMMON = """Parameters that all functions share.

Parameters
----------
views : list of array-like of shape (n_samples, n_features_i)
    Samples are scaled to unit length.
W : array of shape (v, n, n), or list of v arrays of shape (n, n)
    Symmetric similarities; not modified.
view_transform : {"dft", "identity"} or ndarray of shape (v, v)
    The transform along the views; "dft" is the published one. An orthonormal matrix defines the
    basis by its columns.
tol : float
    Tolerance on the largest absolute row sum of every constraint residual.
mu : float
    Initial penalty.
rho : float
    Growth factor of the penalty per iteration.
mu_max : float
    Maximum penalty.
n_threads : int, optional
    Number of OpenMP threads, at most four per CPU. None uses OMP_NUM_THREADS, or the CPUs that the
    process may use.
callback : callable, optional
    Called with an `IterationState` after every iteration; returning True stops the run.

Raises
------
ValueError
    If the data or a parameter are invalid.
"""
RECOVERY = """Parts of functions of similarities.

Raises
------
ValueError
    If W or a parameter is invalid.
MemoryError
    If the solver needs more memory than is available; it is raised before any allocation.
"""


def method(check_data: Any, **checks: Any) -> Callable[[Function], Function]:
    """Decorate a solver on validated data so that it validates its arguments.

    ``check_data`` validates the first argument, whose items have n_samples rows, after
    ``check(value, name)`` of every parameter; ``checks`` are those that are not in `CHECKS`. The
    estimators use two attributes of the function: ``checks``, a dict by name, and
    ``solve(data, **parameters)``, which takes validated data. A solver with a parameter
    ``n_threads`` receives the resolved number; all other libraries use one thread.
    """

    def decorate(solver):
        signature = inspect.signature(solver)
        data_name = next(iter(signature.parameters))
        names = [name for name in signature.parameters if name != data_name]
        all_checks = {name: {**CHECKS, **checks}[name] for name in names}

        def call(get_data, *args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            checked = {name: check(given[name], name) for name, check in all_checks.items()}
            data = get_data(given[data_name])
            if "n_threads" not in checked:
                with limit_threads():
                    return solver(data, **checked)
            with use_threads(checked.pop("n_threads"), data[0].shape[0]) as n_threads:
                return solver(data, **checked, n_threads=n_threads)

        @functools.wraps(solver)
        def function(*args, **kwargs):
            return call(check_data, *args, **kwargs)

        function.checks = all_checks
        function.solve = partial(call, lambda data: data)
        if solver.__doc__ is not None:  # python -OO
            shared = [RECOVERY, COMMON] if data_name == "W" else [COMMON]
            function.__doc__ = completed(solver.__doc__, shared, signature, ("Raises",))
        return function

    return decorate
