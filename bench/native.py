"""The solver called from C against the same call from Python: time, and memory; labels in C.

Usage: python bench/native.py [--solvers dual]
       python bench/native.py --predict

With --predict, microseconds of CPU time per label, on one thread, the fastest of nine: of a C
program with mvsc_predict.h, and of `predict` in Python.

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
import time
import warnings
from pathlib import Path

import numpy as np
from timing import ROOT, load_shared, print_table, stopwatch

import mvsc_fast
from mvsc_fast import ConsensusTLRR, datasets, similarity
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.solvers import tlrr

PROBE = ROOT / "tests" / "native_probe"
SOLVERS = {"dual": 1, "ialm": 2}


def build(folder):
    """The probe, and the library that counts what the C library is asked for."""
    source = Path(shutil.copytree(PROBE, folder / "probe"))
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    environment = os.environ | {"MVSC_INCLUDE": mvsc_fast.get_include()}
    subprocess.run(command, cwd=source, check=True, env=environment)
    library = source / "count_malloc.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", library, source / "count_malloc.c"]
    subprocess.run(command, check=True)
    return source, library


def problems():
    views, _ = load_shared("yaleb10")
    yield "paper's W", TSVDMSC(10, lam=0.5, sample_transform="dft").fit(views).tensor_, 0.4, 15.0
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
                parameters = {"omega1": omega1, "alpha": 9.0, "lam": lam, "tol": tol}
                parameters |= {"max_iter": max_iter, "n_threads": threads}
                shape = W, v, n, n, 2, 0, SOLVERS[solver], threads
                arguments = *shape, omega1, 9.0, lam, tol, max_iter, 1e-4, 1.1, 1e10, -1, 1, 0, None
                python, native, ratios = [], [], []
                for _ in range(31 if solver == "dual" else 3):
                    seconds, result = stopwatch(tlrr, W, solver=solver, **parameters)
                    answer = native_probe.tlrr(*arguments)
                    python.append(seconds)
                    native.append(answer["seconds"])
                    ratios.append(answer["seconds"] / seconds)
                equal = answer["L"] == result.tensor.tobytes()
                times = " | ".join(f"{np.median(s):.3f}" for s in (python, native, ratios))
                rows.append(
                    f"{name} | {solver} | {threads} | {result.n_iter} | {times} | "
                    f"{'yes' if equal else 'NO'} | {answer['asked'] / 2**20:.1f} | "
                    f"{answer['inside'] / 2**10:.1f}"
                )
    header = "YaleB | solver | threads | iterations | Python s | C s | C / Python | same bits"
    print_table(f"{header} | asked MiB | inside KiB", rows)


BATCHES = (1, 6, 16, 128, 1000)


def cases():
    """Name, views and clusters: 1000 samples are fitted, 1000 are new."""
    views, _ = datasets.load_handwritten()
    yield "handwritten, six views", views, 10
    rng = np.random.default_rng(0)
    y = rng.integers(20, size=2000)
    X = 3 * rng.standard_normal((20, 20))[y] + rng.standard_normal((2000, 20))
    yield "one view of 20 columns", [X], 20
    words = (rng.random((2000, 20_000)) < 0.002) * (1.0 + rng.random((20, 20_000))[y])
    yield "20 000 columns, .2 % of them not 0", [words], 20
    y = rng.integers(100, size=2000)
    parts = [
        4 * rng.standard_normal((100, d))[y] + rng.standard_normal((2000, d)) for d in (60, 40)
    ]
    yield "100 clusters", parts, 100


def python_time(model, new, batch):
    """Microseconds of a label, the fastest of nine."""
    best, calls = np.inf, 100 // batch + 1 if batch < 100 else 1
    for _ in range(9):
        start = time.process_time()
        for first in range(0, calls * batch, batch):
            model.predict([X[first : first + batch] for X in new])
        best = min(best, time.process_time() - start)
    return 1e6 * best / (calls * batch)


def print_labels():
    """The table of times per label, see --predict."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, files = folder / "predict_times", [folder / "model.mvsc", folder / "rows.f64"]
        source = ROOT / "bench" / "predict_times.c"
        include = f"-I{mvsc_fast.get_include()}"
        subprocess.run(["cc", "-O3", include, source, "-o", program, "-lm"], check=True)
        for case, views, c in cases():
            order = np.random.default_rng(1).permutation(2000)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = ConsensusTLRR(c, random_state=0, n_threads=1)
                model.fit([X[order[:1000]] for X in views])
                new = [np.ascontiguousarray(X[order[1000:]], dtype=np.float64) for X in views]
                python = [python_time(model, new, batch) for batch in BATCHES]
            model.to_native(files[0])
            np.concatenate([X.ravel() for X in new]).tofile(files[1])
            command = [program, *files, "1000", *map(str, BATCHES)]
            native = subprocess.check_output(command, text=True).split()
            for batch, c_time, time_here in zip(BATCHES, native, python, strict=True):
                rows.append([case, batch, c_time, f"{time_here:.1f}"])
    print_table("model | rows per call | C | Python", rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solvers", nargs="*", choices=SOLVERS, default=[*SOLVERS])
    parser.add_argument("--predict", action="store_true", help="times of labels")
    options = parser.parse_args()
    if options.predict:
        print_labels()
    elif "MVSC_PROBE" in os.environ:
        sys.path.insert(0, os.environ["MVSC_PROBE"])
        main(options.solvers)
    else:
        with tempfile.TemporaryDirectory() as folder:
            source, library = build(Path(folder))
            environment = {**os.environ, "MVSC_PROBE": str(source), "LD_PRELOAD": str(library)}
            subprocess.run([sys.executable, *sys.argv], env=environment, check=True)
