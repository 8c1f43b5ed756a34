"""Extension modules of the tests and examples, compiled against the installed package."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

import mvsc_fast

PATTERN = "*" + sysconfig.get_config_var("EXT_SUFFIX")


def c_compiler():
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if sys.platform == "win32":
        pytest.skip("the extensions of the tests are for POSIX systems")
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler})")
    return compiler


def build(source, folder):
    """The module in a folder of sources, of which ``folder`` gets a copy to compile, once."""
    c_compiler()
    pytest.importorskip("setuptools")
    if any(source.glob("*.pyx")):
        pytest.importorskip("Cython")
    with open(folder / f"{source.name}.lock", "w") as lock:
        import fcntl  # of POSIX systems

        fcntl.flock(lock, fcntl.LOCK_EX)
        copy = folder / source.name
        if not any(copy.glob(PATTERN)):
            shutil.copytree(source, copy, dirs_exist_ok=True)
            said = run_setup(copy, MVSC_INCLUDE=mvsc_fast.get_include())  # its import takes seconds
            assert "mvsc_fast.h" not in said  # no warning from the header
    (binary,) = copy.glob(PATTERN)
    spec = importlib.util.spec_from_file_location(binary.name.split(".")[0], binary)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_setup(folder, **environment):
    """What the compiler says of the extensions of a folder."""
    run = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stderr
