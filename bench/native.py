"""Labels of new samples in C and in Python: microseconds per label.

Usage: python bench/native.py

CPU time of one thread, the fastest of nine, of a C program with mvsc_predict.h and of `predict`.
"""

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import ROOT, print_table, run

import mvsc_fast
from mvsc_fast import ConsensusTLRR, datasets

BATCHES = (1, 1000)


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


def python_time(model, new, batch):
    """Microseconds of a label, the fastest of nine."""
    best, calls = np.inf, 100 // batch + 1 if batch < 100 else 1
    for _ in range(9):
        start = time.process_time()
        for first in range(0, calls * batch, batch):
            model.predict([X[first : first + batch] for X in new])
        best = min(best, time.process_time() - start)
    return 1e6 * best / (calls * batch)


def main():
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, files = folder / "predict_times", [folder / "model.mvsc", folder / "rows.f64"]
        source = ROOT / "bench" / "predict_times.c"
        include = f"-I{mvsc_fast.get_include()}"
        subprocess.run(["cc", "-O3", include, source, "-o", program, "-lm"], check=True)
        for case, views, c in cases():
            order = np.random.default_rng(1).permutation(2000)
            model = ConsensusTLRR(c, random_state=0, n_threads=1)
            model.fit([X[order[:1000]] for X in views])
            new = [np.ascontiguousarray(X[order[1000:]], dtype=np.float64) for X in views]
            python = [python_time(model, new, batch) for batch in BATCHES]
            model.to_native(files[0])
            np.concatenate([X.ravel() for X in new]).tofile(files[1])
            command = [program, *files, "1000", *map(str, BATCHES)]
            runs = [subprocess.check_output(command, text=True).split() for _ in range(9)]
            native = np.min(np.array(runs, dtype=float), axis=0)
            for batch, c_time, time_here in zip(BATCHES, native, python, strict=True):
                rows.append([case, batch, f"{c_time:.1f}", f"{time_here:.1f}"])
    print_table("model | rows per call | C | Python", rows)


if __name__ == "__main__":
    run(main, __doc__)
