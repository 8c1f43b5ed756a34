"""Fit in Python, label in C: labels of both, and the time that one takes.

Usage: python pipeline.py [REPEATS]

Prints the fit, the model's file, the agreement of the labels, and the microseconds per label for
calls of several sizes: one thread, the fastest of REPEATS=3. It needs a C compiler and the library
of this Python, and ends in half a minute.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import build
import numpy as np
from save_model import save

from mvsc_fast import ConsensusTLRR, datasets, metrics

BATCHES = {1: 100, 128: 896, 1000: 1000}  # samples in each call, and in all calls
REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 3


def fit(folder):
    """A model of half of the digits, its file, and the other half."""
    views, y = datasets.load_handwritten()
    order = np.random.default_rng(0).permutation(len(y))
    fitted, new = order[:1000], order[1000:]
    start = time.perf_counter()
    model = ConsensusTLRR(10, random_state=0, n_threads=1).fit([X[fitted] for X in views])
    seconds = time.perf_counter() - start
    save(model, folder / "model.bin", [X.shape[1] for X in views])
    size = (folder / "model.bin").stat().st_size / 2**20
    print(f"fit of 1000 digits in six views: {seconds:.1f} s; model.bin: {size:.1f} MiB")
    return model, [X[new] for X in views], y[new]


def label_in_python(model, views, batch):
    start = time.perf_counter()
    starts = range(0, len(views[0]), batch)
    parts = [model.predict([X[first : first + batch] for X in views]) for first in starts]
    labels = np.concatenate(parts)
    return labels, 1e6 * (time.perf_counter() - start) / len(labels)


def label_in_c(program, folder, views, batch):
    files = [folder / f"{i}.f64" for i in range(len(views))]
    for X, file in zip(views, files, strict=True):
        X.tofile(file)
    # The program finds Python along PATH.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    run = subprocess.run(
        [program, folder / "model.bin", "1", str(batch), *files],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        sys.exit(run.stderr)
    return np.array(run.stdout.split(), dtype=int), float(run.stderr.split()[0])


def main():
    program = build.main()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, views, y = fit(folder)
        print("samples per call   equal labels   Python us   C us   Python / C")
        for batch, n in BATCHES.items():
            some = [X[:n] for X in views]
            runs = [
                (*label_in_python(model, some, batch), *label_in_c(program, folder, some, batch))
                for _ in range(REPEATS)
            ]
            expected, _, labels, _ = runs[0]
            python, native = (min(run[i] for run in runs) for i in (1, 3))
            equal = f"{np.sum(labels == expected)} of {n}"
            print(f"{batch:16} {equal:>14} {python:11.1f} {native:6.1f} {python / native:12.1f}")
        print(f"ACC of the last labels: {metrics.clustering_scores(y, labels)['acc']:.3f}")


if __name__ == "__main__":
    main()
