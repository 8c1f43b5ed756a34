"""Builds and calls of the C interface that its tests share."""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
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


def c_compiler():
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if sys.platform == "win32" or not EXAMPLES.is_dir():
        pytest.skip("the examples are for POSIX systems, beside the tests")
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler})")
    return compiler


def build(source, folder):
    """The module in a folder of sources, compiled against the installed package."""
    c_compiler()
    pytest.importorskip("setuptools")
    if source.name == "cython_module":
        pytest.importorskip("Cython")
    source = Path(shutil.copytree(source, folder / source.name))
    run = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=source, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "mvsc_fast.h" not in run.stderr  # no warning from the header
    (binary,) = source.glob("native_*" + sysconfig.get_config_var("EXT_SUFFIX"))
    spec = importlib.util.spec_from_file_location(binary.name.split(".")[0], binary)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
