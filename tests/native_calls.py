"""Builds and calls of the C interface that its tests share."""

from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).resolve().parent
EXAMPLES = TESTS.parent / "examples" / "native"
TUBE_SHRINK, SLICE_SHRINK, SLICE_CLIP, SYMMETRIC_SHRINK, SYMMETRIC_CLIP = range(1, 6)
(OK, BAD_ARGUMENT, BAD_SHAPE, TOO_LARGE, NOT_FINITE, SMALL_WORKSPACE, NO_CONVERGENCE,
 NOT_SYMMETRIC, OUT_OF_RANGE) = range(9)  # fmt: skip
FLOAT32, FLOAT64 = 1, 2
SOLVERS = {"dual": 1, "ialm": 2}


def example(name):
    """The folder of an example; tests skip where the examples are not beside them."""
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not beside the tests")
    return EXAMPLES / name


def call_tlrr(probe, W=None, **changes):
    """The probe's answer; by default on W, with the parameters of the tests of tlrr."""
    if W is not None:
        changes = {"data": W, "v": W.shape[0], "m": W.shape[1], "n": W.shape[2],
                   "dtype": FLOAT32 if W.dtype == np.float32 else FLOAT64, **changes}  # fmt: skip
    arguments = {
        "data": None, "v": 2, "m": 4, "n": 4, "dtype": FLOAT64, "which": 0, "solver": 1,
        "n_threads": 1, "omega1": 0.5, "alpha": 5.0, "lam": 2.0, "tol": 1e-4, "max_iter": 500,
        "mu": 1e-4, "rho": 1.1, "mu_max": 1e10, "stop_after": -1, "screened": 1, "spare": 0,
    }  # fmt: skip
    assert set(changes) <= set(arguments)
    return probe.tlrr(*(arguments | changes).values())
