"""Every method with its defaults on every shared data set, samples shuffled.

Usage: python bench/order_free.py [--shuffles 5] [--max-samples 400] [--jobs 1] [--csv FILE]

Each fit runs in a process of its own with one thread and reports the seven scores, its seconds and
its peak memory. Larger files are cut to the first ``--max-samples`` of the shuffled samples (0:
never). The table shows mean and spread (standard deviation over the shuffles) of ACC; the CSV has
everything.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from timing import ROOT, load_shared, print_table, stopwatch

SETS = [
    "yaleb10",
    "orl_3view",
    "orl_4view",
    "yale_3view",
    "ngs",
    "bbc4view",
    "scene15",
    "uci_digit",
    "handwritten",
    "hdigit",
]
BASELINES = ["averaged graph", "concatenated"]
COLUMNS = [
    "data",
    "n",
    "method",
    "seed",
    "acc",
    "nmi",
    "ari",
    "f1",
    "precision",
    "recall",
    "purity",
    "seconds",
    "peak_mib",
    "converged",
]


def models(k, seed):
    """Every method with its defaults, and the chain of the paper with its order-free input."""
    from mvsc_fast import TLRR
    from mvsc_fast.methods import ESTIMATORS, TSVDMSC

    common = {"random_state": seed, "n_threads": 1}
    named = {name: estimator(k, **common) for name, estimator in ESTIMATORS.items()}
    named["tlrr on tsvd-msc"] = TLRR(k, affinity=TSVDMSC(k), n_neighbors=8, **common)
    return named


def method_names():
    return [*models(2, 0), *BASELINES]


def run_one(data, method, seed, max_samples):
    """Fit one model here; the row of the CSV as a dict."""
    import sklearn.preprocessing

    from mvsc_fast import similarity
    from mvsc_fast.metrics import clustering_scores
    from mvsc_fast.spectral import spectral_labels

    warnings.simplefilter("ignore")
    views, y = load_shared(data, seed)
    if max_samples and len(y) > max_samples:
        views, y = [X[:max_samples] for X in views], y[:max_samples]
    k = len(np.unique(y))
    model = None
    base = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    if method in BASELINES:
        unit = [sklearn.preprocessing.normalize(np.asarray(X, dtype=float)) for X in views]
        if method == "concatenated":
            unit = [np.hstack(unit)]

        def cut():
            A = similarity.nearest_neighbors(unit).mean(axis=0)
            return spectral_labels(A, k, random_state=seed)[0]

        seconds, labels = stopwatch(cut)
    else:
        model = models(k, seed)[method]
        seconds, labels = stopwatch(model.fit_predict, views)
    row = {"data": data, "n": len(y), "method": method, "seed": seed, "seconds": f"{seconds:.2f}"}
    row["peak_mib"] = (memory("VmHWM") - base) // 1024
    row["converged"] = getattr(model, "converged_", "")
    row.update({key: f"{value:.4f}" for key, value in clustering_scores(y, labels).items()})
    return row


def memory(field):
    """Kilobytes from /proc/self/status."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


def run_in_process(job):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--one", *map(str, job)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    if run.returncode:
        raise SystemExit(f"{job}: {run.stderr}")
    return json.loads(run.stdout)


def main(arguments):
    jobs = [
        (data, method, seed, arguments.max_samples)
        for seed in range(arguments.shuffles)
        for data in SETS
        for method in method_names()
    ]
    path = Path(arguments.csv)
    path.parent.mkdir(exist_ok=True)
    rows = []
    with open(path, "w", newline="") as file, ThreadPoolExecutor(arguments.jobs) as pool:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in pool.map(run_in_process, jobs):
            rows.append(row)
            writer.writerow(row)
            file.flush()
    summarise(rows)


def summarise(rows):
    def cell(data, method, key):
        return [float(r[key]) for r in rows if r["data"] == data and r["method"] == method]

    table = []
    for method in dict.fromkeys(r["method"] for r in rows):
        accuracy = [cell(data, method, "acc") for data in SETS]
        spread = [f"{np.mean(values):.3f} ± {np.std(values):.3f}" for values in accuracy]
        seconds = np.median([float(r["seconds"]) for r in rows if r["method"] == method])
        peak = max(float(r["peak_mib"]) for r in rows if r["method"] == method)
        table.append(
            [
                method,
                *spread,
                f"{np.mean([np.mean(v) for v in accuracy]):.3f}",
                f"{seconds:.1f}",
                f"{peak:.0f}",
            ]
        )
    sizes = {r["data"]: r["n"] for r in rows}
    header = [f"{data} ({sizes[data]})" for data in SETS]
    print_table(["method", *header, "mean", "median s", "peak MiB"], table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--max-samples", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--csv", default=str(ROOT / "bench" / "results" / "order_free.csv"))
    parser.add_argument("--table", action="store_true", help="only print the table of the CSV")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        data, method, seed, max_samples = arguments.one
        print(json.dumps(run_one(data, method, int(seed), int(max_samples)), default=str))
    elif arguments.table:
        with open(arguments.csv, newline="") as file:
            summarise(list(csv.DictReader(file)))
    else:
        main(arguments)
