"""Fits at the same time against the same fits one after another on one thread.

Usage: python bench/threads.py [--samples 120 640] [--repeats 5]

1, 2, 4 and 8 fits of TLRR run in Python threads and in joblib's two back ends, with the default
`n_threads`, alone and beside two processes that never sleep. Each ratio is the median over pairs of
runs, concurrent and serial in turn, both beside the same neighbours. The row "1, calling thread" is
the default fit itself.
"""

import argparse
import contextlib
import functools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
from timing import print_table, stopwatch

from mvsc_fast import TLRR, datasets

BUSY = 2  # neighbour processes


@functools.cache
def views(n_samples):
    return datasets.make_multiview_subspaces(n_samples, 3, random_state=0)[0]


def fit(n_samples, n_threads=None):
    return TLRR(3, random_state=0, n_threads=n_threads).fit(views(n_samples)).labels_


def here(n_samples, count):
    for _ in range(count):
        fit(n_samples)


def python_threads(n_samples, count):
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(fit, [n_samples] * count))


def workers(backend, n_samples, count):
    with joblib.parallel_config(backend):
        joblib.Parallel(n_jobs=count)(joblib.delayed(fit)(n_samples) for _ in range(count))


WAYS = {
    "calling thread": (here, [1]),
    "Python threads": (python_threads, [1, 2, 4, 8]),
    "joblib threading": (functools.partial(workers, "threading"), [1, 2, 4, 8]),
    "joblib loky": (functools.partial(workers, "loky"), [1, 2, 4, 8]),
}


@contextlib.contextmanager
def neighbours(count):
    """Processes that never sleep, running from the start to the end of the context."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            spin = [sys.executable, "-c", "print(flush=True)\nwhile True: pass"]
            process = stack.enter_context(subprocess.Popen(spin, stdout=subprocess.PIPE))
            stack.callback(process.kill)
            process.stdout.readline()
        yield


def serial(n_samples, count):
    for _ in range(count):
        fit(n_samples, n_threads=1)


def ratio(run, n_samples, count, repeats):
    """Median over pairs of the time of ``count`` fits at a time over that of serial ones."""
    run(n_samples, count)  # workers are started and have imported the package
    pairs = [
        stopwatch(run, n_samples, count)[0] / stopwatch(serial, n_samples, count)[0]
        for _ in range(repeats)
    ]
    return np.median(pairs)


def main(sizes, repeats):
    rows = []
    for way, (run, counts) in WAYS.items():
        for count in counts:
            cells = []
            for n_samples in sizes:
                for busy in (0, BUSY):
                    with neighbours(busy):
                        cells.append(f"{ratio(run, n_samples, count, repeats):.2f}")
            rows.append([f"{count}, {way}", *cells])
    situations = [f"n = {n}{', beside 2 busy' * busy}" for n in sizes for busy in (0, 1)]
    print_table(["fits at a time", *situations], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[120, 640])
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    main(arguments.samples, arguments.repeats)
