"""Extension modules of the tests and examples, compiled against the installed package."""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest


def c_compiler():
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if sys.platform == "win32":
        pytest.skip("the extensions of the tests are for POSIX systems")
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler})")
    return compiler


def build(source, folder):
    """The module in a folder of sources, of which ``folder`` gets a copy to compile."""
    c_compiler()
    pytest.importorskip("setuptools")
    if any(source.glob("*.pyx")):
        pytest.importorskip("Cython")
    source = Path(shutil.copytree(source, folder / source.name, dirs_exist_ok=True))
    run = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=source,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "mvsc_fast.h" not in run.stderr  # no warning from the header
    (binary,) = source.glob("*" + sysconfig.get_config_var("EXT_SUFFIX"))
    spec = importlib.util.spec_from_file_location(binary.name.split(".")[0], binary)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
