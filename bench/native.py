"""The solver called from C against the same call from Python: time, and memory.

Usage: python bench/native.py [--solvers dual]

Builds the probe of tests/native_probe and calls `tlrr_solve` on YaleB through it. Times are
medians of pairs of calls, one of each, in turn; the C call includes its checks of the data. The
published iteration ends after 30 iterations. Bytes
are counted by interposing malloc and mmap: "asked" is what the size query says, "inside" the most
that was held at a time besides.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from timing import ROOT, load_shared, print_table, stopwatch

from mvsc_fast import similarity
from mvsc_fast.solvers import tlrr, tsvd_msc

PROBE = ROOT / "tests" / "native_probe"
SOLVERS = {"dual": 1, "ialm": 2}


def build(folder):
    """The probe, and the library that counts what the C library is asked for."""
    source = Path(shutil.copytree(PROBE, folder / "probe"))
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=source, check=True)
    library = source / "count_malloc.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", library, source / "count_malloc.c"]
    subprocess.run(command, check=True)
    return source, library


def problems():
    views, _ = load_shared("yaleb10")
    yield "paper's W", tsvd_msc(views, lam=0.5, sample_transform="dft").tensor, 0.4, 15.0
    W = similarity.self_representation(load_shared("yaleb10", 0)[0])
    yield "default W", W, 0.5, tlrr(W, max_iter=0).lam


def main(solvers):
    import native_probe

    rows = []
    for name, W, omega1, lam in problems():
        v, n = W.shape[:2]
        for solver in solvers:
            tol, max_iter = (1e-4, 500) if solver == "dual" else (1e-4, 30)
            for threads in (1, 2):
                parameters = {
                    "omega1": omega1,
                    "alpha": 9.0,
                    "lam": lam,
                    "tol": tol,
                    "max_iter": max_iter,
                    "n_threads": threads,
                }
                arguments = (
                    W,
                    v,
                    n,
                    n,
                    2,
                    0,
                    SOLVERS[solver],
                    threads,
                    omega1,
                    9.0,
                    lam,
                    tol,
                    max_iter,
                    1e-4,
                    1.1,
                    1e10,
                    -1,
                    1,
                    0,
                    None,
                )
                python, native, ratios = [], [], []
                for _ in range(31 if solver == "dual" else 3):
                    seconds, result = stopwatch(tlrr, W, solver=solver, **parameters)
                    answer = native_probe.tlrr(*arguments)
                    python.append(seconds)
                    native.append(answer["seconds"])
                    ratios.append(answer["seconds"] / seconds)
                equal = answer["L"] == result.tensor.tobytes()
                rows.append(
                    [
                        name,
                        solver,
                        threads,
                        result.n_iter,
                        f"{np.median(python):.3f}",
                        f"{np.median(native):.3f}",
                        f"{np.median(ratios):.3f}",
                        "yes" if equal else "NO",
                        f"{answer['asked'] / 2**20:.1f}",
                        f"{answer['inside'] / 2**10:.1f}",
                    ]
                )
    print_table(
        [
            "YaleB",
            "solver",
            "threads",
            "iterations",
            "Python s",
            "C s",
            "C / Python",
            "same bits",
            "asked MiB",
            "inside KiB",
        ],
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solvers", nargs="*", choices=SOLVERS, default=[*SOLVERS])
    arguments = parser.parse_args()
    if "MVSC_PROBE" in os.environ:
        sys.path.insert(0, os.environ["MVSC_PROBE"])
        main(arguments.solvers)
    else:
        with tempfile.TemporaryDirectory() as folder:
            source, library = build(Path(folder))
            environment = {**os.environ, "MVSC_PROBE": str(source), "LD_PRELOAD": str(library)}
            subprocess.run([sys.executable, *sys.argv], env=environment, check=True)
