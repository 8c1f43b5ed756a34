"""Builds and calls of the C interface that its tests share."""

import ctypes
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


INTEGERS = "v", "n_clusters", "n_landmarks", "scale_neighbors"
POINTERS = ("n_features", "d", "form", "samples", "factors", "means", "landmarks", "scales",
            "least_scales", "coefficients", "kernel_coefficients", "fill")  # fmt: skip
SINGLE = "n_features", "d", "form", "least_scales", "kernel_coefficients"  # not one for each view


class Predictor(ctypes.Structure):
    """mvsc_predictor"""

    _fields_ = [
        ("size", ctypes.c_size_t),
        *[(name, ctypes.c_ssize_t) for name in INTEGERS],
        *[(name, ctypes.c_void_p) for name in POINTERS],
    ]


def table_of(arrays):
    """Addresses of arrays, None for NULL."""
    return (ctypes.c_void_p * len(arrays))(
        *[None if array is None else array.ctypes.data for array in arrays]
    )


def predictor_of(native):
    """The struct of ``to_native()``, and what keeps its pointers alive."""
    found, kept = Predictor(size=ctypes.sizeof(Predictor), v=len(native["d"])), [native]
    for name in INTEGERS[1:]:
        setattr(found, name, native[name])
    for name in POINTERS:
        if native[name] is None:
            continue
        kept.append(native[name] if name in SINGLE else table_of(native[name]))
        address = kept[-1].ctypes.data if name in SINGLE else ctypes.addressof(kept[-1])
        setattr(found, name, address)
    return found, kept


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
        "weights": None,
    }  # fmt: skip
    assert set(changes) <= set(arguments)
    return probe.tlrr(*(arguments | changes).values())
