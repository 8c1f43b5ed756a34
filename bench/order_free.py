"""Every method with its defaults on every shared data set, samples shuffled.

Usage: python bench/order_free.py [--shuffles 5] [--max-samples 400]

Each fit runs in a process of its own with one thread and reports its ACC, seconds and peak memory.
Larger files are cut to the first ``--max-samples`` of the shuffled samples (0: never). The table
shows mean and spread (standard deviation over the shuffles) of ACC.
"""

from itertools import product

import numpy as np
from timing import apart, forget_peak, load_shared, memory, print_table, run, stopwatch

from mvsc_fast.methods import ESTIMATORS
from mvsc_fast.metrics import clustering_scores

SETS = ["yaleb10", "orl_3view", "orl_4view", "yale_3view", "ngs", "bbc4view", "scene15"]
SETS += ["uci_digit", "handwritten", "hdigit"]


def measure(data, method, seed, max_samples):
    """Fit one model here; what is told of it as a dict."""
    views, y = load_shared(data, seed)
    if max_samples:
        views, y = [X[:max_samples] for X in views], y[:max_samples]
    base = forget_peak()
    model = ESTIMATORS[method](len(np.unique(y)), random_state=seed, n_threads=1)
    seconds, labels = stopwatch(model.fit_predict, views)
    peak = (memory("VmHWM") - base) // 2**20
    row = {"data": data, "n": len(y), "method": method, "seconds": seconds, "peak_mib": peak}
    return row | {"acc": clustering_scores(y, labels)["acc"]}


def main(shuffles, max_samples):
    rows = []
    for seed, data, method in product(range(shuffles), SETS, ESTIMATORS):
        row, problem = apart(measure, data, method, seed, max_samples)
        if row is None:
            raise SystemExit(f"{method} on {data}, seed {seed}: {problem}")
        rows.append(row)
    table = []
    for method in ESTIMATORS:
        of_method = [row for row in rows if row["method"] == method]
        acc = [[row["acc"] for row in of_method if row["data"] == data] for data in SETS]
        spread = [f"{np.mean(values):.3f} ± {np.std(values):.3f}" for values in acc]
        seconds = np.median([row["seconds"] for row in of_method])
        peak = max(row["peak_mib"] for row in of_method)
        table.append([method, *spread, f"{np.mean(acc):.3f}", f"{seconds:.1f}", peak])
    sizes = {row["data"]: row["n"] for row in rows}
    header = [f"{data} ({sizes[data]})" for data in SETS]
    print_table(["method", *header, "mean", "median s", "peak MiB"], table)


if __name__ == "__main__":
    run(main, __doc__, None, shuffles=5, max_samples=400)
