"""Run tests with every kernel of OpenBLAS that this processor has, and 1, 2 and 3 threads.

Usage: python tools/kernels.py [--kernels NAME ...] [--threads N ...] [-- TEST ...]

Prints a table of failures, with the names of the tests below it, and ends with 1 if there are any.
OpenBLAS chooses its kernels by the processor; OPENBLAS_CORETYPE chooses others, which round
differently. Without arguments all tests are run: hours on two cores.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Not Prescott's, of processors without SSSE3: with those of OpenBLAS 0.3.30, strtri of a lower
# triangle ends the process, ssytrd of some finite matrices returns NaN, and sums depend on where
# an operand lies. Zen's are Haswell's, and Cooperlake's are SkylakeX's but for bfloat16.
KERNELS = ["Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX", "SapphireRapids"]
PROBE = """
import numpy, threadpoolctl
A = numpy.ones((300, 300))
assert (A @ A == 300).all()
print(*{library.get("architecture") for library in threadpoolctl.threadpool_info()})
"""


def environment(kernel, n_threads=1):
    """The variables of this process, with a kernel and a number of threads."""
    return {**os.environ, "OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": str(n_threads)}


def available(kernels):
    """Those of the kernels that this processor can run, each with its name in OpenBLAS."""
    names = {}
    for kernel in kernels:
        command = [sys.executable, "-c", PROBE]
        run = subprocess.run(command, env=environment(kernel), capture_output=True, text=True)
        name = run.stdout.strip()
        # A processor without its instructions ends the process, or gets other kernels.
        if run.returncode == 0 and name and name not in names.values():
            names[kernel] = name
        else:
            print(f"{kernel}: not on this processor, or equal to {name or 'none'}")
    return names


def failures(kernel, n_threads, tests):
    """Number of tests that passed, and the names of those that did not."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "--quiet", "--numprocesses=0"]
        command += [f"--junitxml={report}", "--override-ini=junit_family=xunit1", *tests]
        run = subprocess.run(
            command, cwd=ROOT, env=environment(kernel, n_threads), capture_output=True, text=True
        )
        if run.returncode < 0:
            return 0, [f"ended by {signal.Signals(-run.returncode).name}"]
        if not report.exists():
            raise SystemExit(run.stdout + run.stderr)
        cases = list(ElementTree.parse(report).iter("testcase"))
    bad = [case for case in cases if case.find("failure") is not None]
    bad += [case for case in cases if case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    names = [f"{case.get('classname')}::{case.get('name')}" for case in bad]
    return len(cases) - len(bad) - skipped, names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", nargs="+", default=KERNELS, metavar="NAME")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 3], metavar="N")
    parser.add_argument("tests", nargs="*", default=["tests"], metavar="TEST")
    args = parser.parse_args()
    names = available(args.kernels)
    failed = {}
    print("| kernel |", " | ".join(f"{n} threads" for n in args.threads), "|")
    print("|---" * (1 + len(args.threads)) + "|")
    for kernel, name in names.items():
        cells = []
        for n_threads in args.threads:
            passed, bad = failures(kernel, n_threads, args.tests)
            cells.append(f"{passed} passed, {len(bad)} failed")
            failed |= {f"{kernel}, {n_threads} threads: {test}": None for test in bad}
        title = kernel if kernel == name else f"{kernel} ({name})"
        print(f"| {title} |", " | ".join(cells), "|", flush=True)
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
