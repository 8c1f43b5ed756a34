"""What all benchmarks share: options, data, timing, processes, memory, tables."""

import argparse
import csv
import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import threadpoolctl

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
sys.path.insert(0, str(ROOT / "tests"))


def run(main, description, n_threads=1, **defaults):
    """Call ``main`` with the options of the command line, without warnings.

    The type of an option is that of its default: False is a switch, None a text, and a list has any
    number of values like its first. Everything runs on ``n_threads``, or on all for None.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    for name, default in defaults.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, (list, tuple)):
            kind = type(default[0])
            parser.add_argument(flag, nargs="*", type=kind, default=default, metavar=name.upper())
        else:
            kind = str if default is None else type(default)
            parser.add_argument(flag, type=kind, default=default, help=f"default: {default}")
    options = vars(parser.parse_args())
    warnings.simplefilter("ignore")  # of views that do not agree on a few samples
    with limit_threads(n_threads):
        main(**options)


class NotAtHand(SystemExit):
    """A data set whose file is not here."""


def read_views(path):
    """Views and labels of an .npz file."""
    with np.load(path, allow_pickle=False) as file:
        count = sum(key.startswith("view_") for key in file.files)
        return [file[f"view_{i}"] for i in range(count)], file["y"]


def load_shared(name, seed=None):
    """Views and labels of a shared data set, shuffled if a seed is given."""
    path = SHARED / "data" / f"{name}.npz"
    if not path.exists():
        raise NotAtHand(f"{path} is needed for this benchmark")
    views, y = read_views(path)
    if seed is not None:
        order = np.random.RandomState(seed).permutation(len(y))
        views, y = [X[order] for X in views], y[order]
    return views, y


def twin(name):
    """A reference implementation of the tests."""
    return importlib.import_module(f"reference.{name}")


def stopwatch(function, *args, **kwargs):
    """Seconds and result of one call."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return time.perf_counter() - start, result


def cpu_seconds(function, *args, **kwargs):
    """CPU seconds and result of one call."""
    start = time.process_time()
    result = function(*args, **kwargs)
    return time.process_time() - start, result


def limit_threads(n_threads):
    """Everything within runs on this many threads, the twins too."""
    return threadpoolctl.threadpool_limits(n_threads)


def apart(function, *args, limit=None, python=sys.executable, threads=ONE_THREAD):
    """What a function of a script gives in a process of its own, and ""; or None and what failed.

    Arguments and result go through JSON; ``limit`` is of wall seconds.
    """
    script = Path(function.__code__.co_filename).stem
    call = f"{script}.{function.__name__}(*json.loads({json.dumps(args, default=str)!r}))"
    code = f"import json, {script}; print(); print(json.dumps({call}, default=float))"
    paths = os.pathsep.join([str(ROOT / "bench"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | threads | {"PYTHONPATH": paths}
    command = [python, "-W", "ignore", "-c", code]
    try:
        run = subprocess.run(
            command, timeout=limit, env=environment, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        return None, f"more than {limit:g} s"
    if run.returncode:
        lines = run.stderr.strip().splitlines() or [f"ended by signal {-run.returncode}"]
        return None, lines[-1][:90]
    return json.loads(run.stdout.splitlines()[-1]), ""


def memory(field):
    """Bytes of this process in use ("VmRSS") or at the peak ("VmHWM")."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


def forget_peak():
    """Let the peak of memory begin again; bytes in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def report(*cells):
    """Say at once what was found; tables come at the end."""
    print(*cells, sep="   ", file=sys.stderr, flush=True)


def with_error(values, digits=3):
    """Mean and standard error of independent values."""
    values = np.asarray(list(values))
    mean = f"{values.mean():.{digits}f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}"


def markdown_table(header, rows):
    """A table; a row is a list, or a text with | between its cells."""
    lines = [row.split("|") if isinstance(row, str) else row for row in (header, *rows)]
    lines = [[str(cell).strip() for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    cells = [[c.ljust(w) for c, w in zip(line, widths, strict=True)] for line in lines]
    text = [f"| {' | '.join(row)} |" for row in cells]
    text.insert(1, f"|{'|'.join('-' * (width + 2) for width in widths)}|")
    return "\n".join(text)


def write_rows(name, header, rows):
    """Write what a table summarises to bench/results/NAME.csv."""
    with open(ROOT / "bench" / "results" / f"{name}.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def print_table(header, rows):
    """Print a Markdown table."""
    print(markdown_table(header, rows), flush=True)
