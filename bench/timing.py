"""What all benchmarks share: data, paired runs, peak memory, tables."""

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import threadpoolctl

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
sys.path.insert(0, str(ROOT / "tests"))

from reference import awp as twin_awp  # noqa: E402, F401
from reference import dimsc as twin_dimsc  # noqa: E402, F401
from reference import etlmsc as twin_etlmsc  # noqa: E402, F401
from reference import lmsc as twin_lmsc  # noqa: E402, F401
from reference import lt_msc as twin_lt_msc  # noqa: E402, F401
from reference import mcles as twin_mcles  # noqa: E402, F401
from reference import recovery as twin_recovery  # noqa: E402, F401
from reference import scmv_3dt as twin_scmv_3dt  # noqa: E402, F401
from reference import tlrr as twin_tlrr  # noqa: E402, F401
from reference import tsvd_msc as twin_tsvd  # noqa: E402, F401
from reference.latent import drawer  # noqa: E402, F401


class NotAtHand(SystemExit):
    """A data set whose file is not here."""


def load_shared(name, seed=None):
    """Views and labels of a shared data set, shuffled if a seed is given."""
    path = SHARED / "data" / f"{name}.npz"
    if not path.exists():
        raise NotAtHand(f"{path} is needed for this benchmark")
    with np.load(path, allow_pickle=False) as file:
        count = sum(key.startswith("view_") for key in file.files)
        views, y = [file[f"view_{i}"] for i in range(count)], file["y"]
    if seed is not None:
        order = np.random.RandomState(seed).permutation(len(y))
        views, y = [X[order] for X in views], y[order]
    return views, y


def stopwatch(function, *args, **kwargs):
    """Seconds and result of one call."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return time.perf_counter() - start, result


def median_seconds(function, repeats=3):
    """Median time of several calls, and the last result."""
    runs = [stopwatch(function) for _ in range(repeats)]
    return float(np.median([seconds for seconds, _ in runs])), runs[-1][1]


def limit_threads(n_threads):
    """Everything within runs on this many threads, the twins too."""
    return threadpoolctl.threadpool_limits(n_threads)


def peak_bytes(code):
    """Growth of a fresh process's memory from where ``code`` says ``# start`` to its peak."""
    before, after = textwrap.dedent(code).split("# start\n")
    program = f"""
def memory(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))
{before}
open("/proc/self/clear_refs", "w").write("5")  # forget the peak so far
base = memory("VmRSS")
{after}
print(memory("VmHWM") - base)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return int(run.stdout.split()[-1])


def print_table(header, rows):
    """A Markdown table."""
    cells = [header, *rows]
    widths = [max(len(str(row[i])) for row in cells) for i in range(len(header))]
    for number, row in enumerate(cells):
        print("| " + " | ".join(str(c).ljust(w) for c, w in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
        sys.stdout.flush()
