"""Fits at the same time against the same fits one after another on one thread.

Usage: python bench/threads.py [--samples 120 640] [--repeats 5] [--ways "Python threads" ...]

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
TOL = 1.0  # reached in a few iterations, which take as long as all others


def fit(views, n_threads=None):
    return TLRR(3, tol=TOL, random_state=0, n_threads=n_threads).fit(views).labels_


def here(views, count):
    for _ in range(count):
        fit(views)


def python_threads(views, count):
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(fit, [views] * count))


def workers(backend, views, count):
    with joblib.parallel_config(backend):
        joblib.Parallel(n_jobs=count)(joblib.delayed(fit)(views) for _ in range(count))


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


def serial(views, count):
    for _ in range(count):
        fit(views, n_threads=1)


def ratio(run, views, count, repeats):
    """Median over pairs of the time of ``count`` fits at a time over that of serial ones."""
    run(views, count)  # workers are started and have imported the package
    pairs = [
        stopwatch(run, views, count)[0] / stopwatch(serial, views, count)[0] for _ in range(repeats)
    ]
    return np.median(pairs)


def main(sizes, repeats, ways):
    rows = []
    for way in ways:
        run, counts = WAYS[way]
        for count in counts:
            cells = []
            for n_samples in sizes:
                views, _ = datasets.make_multiview_subspaces(n_samples, 3, random_state=0)
                for busy in (0, BUSY):
                    with neighbours(busy):
                        cells.append(f"{ratio(run, views, count, repeats):.2f}")
            rows.append([f"{count}, {way}", *cells])
    situations = [f"n = {n}{', beside 2 busy' * busy}" for n in sizes for busy in (0, 1)]
    print_table(["fits at a time", *situations], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[120, 640])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ways", nargs="+", default=[*WAYS], choices=WAYS)
    arguments = parser.parse_args()
    main(arguments.samples, arguments.repeats, arguments.ways)
