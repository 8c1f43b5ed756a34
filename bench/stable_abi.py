"""What one wheel for Python 3.11 and later costs: the stable ABI beside the one of this Python.

Usage: python bench/stable_abi.py [--pairs 5] [--only NAME]

Compiles the package for both in build/stable_abi. Two processes, one for each, run a timing of
history/ in turn, on one thread; there are three such pairs of processes. A row for each timing:
median CPU seconds of a call, and the median ratio of the pairs with its quartiles.
"""

import argparse
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial

import numpy as np
from timing import ROOT, print_table

BUILDS = {"usual": "", "stable_ABI": "1"}
FOLDER = ROOT / "build" / "stable_abi"
PROCESSES = 3
LEAST = 0.05  # CPU seconds of a measurement, which repeats shorter calls


def build(name, stable):
    """The package without its dependencies, in a folder."""
    target, objects, settings = (FOLDER / f"{name}{end}" for end in ("", "-objects", ".cfg"))
    FOLDER.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"[build]\nbuild_base = {objects}\n")  # not those of another ABI
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps"]
        + ["--no-build-isolation", "--target", target, ROOT],
        env={**os.environ, "MVSC_STABLE_ABI": stable, "DIST_EXTRA_CONFIG": str(settings)},
        check=True,
    )
    return target


def timings():
    """Names and calls of all timings of `history`, each with its preparation."""
    import history

    for kind in vars(history).values():
        if isinstance(kind, type) and not kind.__name__.startswith("_"):
            for n in kind.params:
                one = kind()
                (call,) = (getattr(one, name) for name in dir(one) if name.startswith("time_"))
                yield f"{kind.__name__}, n = {n}", partial(one.setup, n), partial(call, n)


def worker(folder, name):
    """A process that measures a timing once for each line that it gets."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, __file__, "--worker", name],
        env={**os.environ, **threads, "PYTHONPATH": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def answer(name):
    """Print CPU seconds of a call for each line of the standard input."""
    setup, call = {name: calls for name, *calls in timings()}[name]
    setup()
    call()
    for _ in sys.stdin:
        count, start = 0, time.process_time()
        while (spent := time.process_time() - start) < LEAST:
            call()
            count += 1
        print(spent / count, flush=True)


def ask(process):
    print(file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main(pairs, chosen):
    folders = [build(*item) for item in BUILDS.items()]
    rows = []
    for name, *_ in timings():
        if chosen not in name:
            continue
        found = []
        for _ in range(PROCESSES):  # each has its own luck with memory
            with ExitStack() as stack:
                workers = [stack.enter_context(worker(folder, name)) for folder in folders]
                for pair in range(pairs):
                    order = (0, 1) if pair % 2 else (1, 0)
                    seconds = {kind: ask(workers[kind]) for kind in order}
                    found.append([seconds[0], seconds[1]])
        found = np.array(found).T
        low, ratio, high = np.quantile(found[1] / found[0], [0.25, 0.5, 0.75])
        seconds = [f"{s:.2g}" for s in np.median(found, axis=1)]
        rows.append([name, *seconds, f"{ratio:.3f}", f"{low:.2f} to {high:.2f}"])
        print(*rows[-1], file=sys.stderr, flush=True)
    print_table(["CPU seconds", "this Python's ABI", "stable ABI", "ratio", "quartiles"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5, help="of each of three pairs of processes")
    parser.add_argument("--only", default="", help="timings with this in their name")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        answer(arguments.worker)
    else:
        main(arguments.pairs, arguments.only)
