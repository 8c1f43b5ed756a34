"""What CFLAGS says cannot change the arithmetic of the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from extensions import c_compiler

SETUP = Path(__file__).resolve().parents[2] / "setup.py"
MODULE = '''
cdef extern from *:
    """
    #if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
    #error "the order of operations may change"
    #endif
    #if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0 || defined(__NO_SIGNED_ZEROS__)
    #error "NaN may vanish"
    #endif
    """
'''


@pytest.mark.slow
def test_the_build_undoes_flags_that_change_arithmetic(tmp_path):
    """The package's own setup.py compiles a module that has no other arithmetic."""
    c_compiler()
    pytest.importorskip("setuptools")
    pytest.importorskip("Cython")
    if not SETUP.is_file():
        pytest.skip("there is no setup.py")
    package = tmp_path / "src" / "mvsc_fast"
    (package / "core").mkdir(parents=True)
    shutil.copy(SETUP, tmp_path)
    (package / "flags.pyx").write_text(MODULE)
    ours = "MVSC_SANITIZERS", "MVSC_STABLE_ABI", "LDFLAGS"
    settings = {name: value for name, value in os.environ.items() if name not in ours}
    run = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext"],
        cwd=tmp_path,
        env={**settings, "CFLAGS": "-Ofast -ffast-math"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert [*tmp_path.rglob("flags.*.so")]
