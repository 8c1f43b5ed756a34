"""Time, peak memory and accuracy from thousands to a million samples, beside other methods.

Usage: python bench/large_n.py [--sizes 10000,30000,100000] [--data subspaces,hdigit]
                               [--only "memory maps"] [--threads 1] [--limit 900] [--quick]
                               [--csv FILE]

Every cell is a process of its own. "MiB" is its peak above what was in use after the imports, the
data included; "CPU s" and "s" are the processor and wall seconds of the fit; the exponents are of
CPU seconds and peak memory since the size before. A method that fails, or takes longer than
--limit seconds, is not tried at larger sizes. Samples of files are shuffled. Rows are appended to
the CSV.

The synthetic data have three views of 40, 60 and 100 features and ten clusters, whatever n: in
each view four clusters look like four others, 15 % of the samples are those of somebody else, and
the rest is a noisy subspace, or a noisy mixture of two lobes, for each cluster. The samples of a
smaller n are the first of a larger one. "sixty" has sixty subspaces, "unbalanced" three of 94, 5
and 1 %.
Failures to look for: "unbalanced"; scene15, where a subsample loses to all samples; averaged
neighbours, which are hard to beat on hdigit.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from large_n_others import OTHERS
from timing import ROOT, limit_threads, load_shared, print_table

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000]
SHARES = {  # of the clusters
    "subspaces": [0.1] * 10,
    "mixtures": [0.1] * 10,
    "sixty": [1 / 60] * 60,
    "unbalanced": [0.94, 0.05, 0.01],
}
SYNTHETIC = list(SHARES)
FILES = ["uci_digit", "handwritten", "scene15", "hdigit"]
COLUMNS = ["data", "n", "method", "threads", "seconds", "cpu_seconds", "peak_mib", "acc", "note"]
BLOCK = 10_000  # samples that share a random generator
FEATURES = (40, 60, 100)
CHUNK = 50_000  # samples of a chunk of Dask


def make(n, kind, seed=0):
    """Views (float32) and labels of synthetic data, see above."""
    shares = SHARES[kind]
    structure = np.random.default_rng([seed, 1])
    views = [Structure(structure, len(shares), d, kind) for d in FEATURES]
    found = [np.empty((n, d), dtype=np.float32) for d in FEATURES]
    y = np.empty(n, dtype=np.int64)
    for first in range(0, n, BLOCK):
        rng = np.random.default_rng([seed, 2, first])
        labels = rng.choice(len(shares), BLOCK, p=shares)
        last = min(n, first + BLOCK)
        y[first:last] = labels[: last - first]
        for X, view in zip(found, views, strict=True):
            X[first:last] = view.draw(rng, labels)[: last - first]
    return found, y


class Structure:
    """What a view looks like, the same for all samples."""

    def __init__(self, rng, n_clusters, d, kind, rank=4, merged=0.4, noise=0.25, corrupt=0.15):
        self.kind, self.d, self.noise, self.corrupt = kind, d, noise, corrupt
        self.looks_like = np.arange(n_clusters)
        order, count = rng.permutation(n_clusters), int(merged * n_clusters)
        self.looks_like[order[:count]] = order[count : 2 * count]
        self.bases = rng.standard_normal((n_clusters, rank, d)) / np.sqrt(d)
        self.lobes = rng.standard_normal((n_clusters, 1, d)) + np.stack(
            [np.zeros((n_clusters, d)), 0.8 * rng.standard_normal((n_clusters, d))], axis=1
        )

    def draw(self, rng, labels):
        n, (_, rank, d) = len(labels), self.bases.shape
        seen = self.looks_like[labels]
        noise = self.noise * rng.standard_normal((n, d))
        if self.kind == "mixtures":
            X = self.lobes[seen, rng.integers(2, size=n)] + 6 * noise
        else:
            inside = rng.standard_normal((n, 1, rank))
            X = (inside @ self.bases[seen])[:, 0] + noise * np.sqrt(rank / d)
        wrong = rng.random(n) < self.corrupt
        X[wrong] = X[rng.permutation(n)[: wrong.sum()]]
        return X


def ours(**parameters):
    def fit(views, k, n_threads):
        model = ConsensusTLRR(k, random_state=0, n_threads=n_threads, **parameters)
        return np.asarray(model.fit(views).labels_)

    return fit


METHODS = {
    "ConsensusTLRR": ours(),
    "ConsensusTLRR, 2000 samples": ours(max_samples=2000),
    "ConsensusTLRR, 5000 samples": ours(max_samples=5000),
    "ConsensusTLRR, all samples": ours(max_samples=2**31),
    "ConsensusTLRR, memory maps": ours(memory_limit="600MiB"),
    "ConsensusTLRR, Dask": ours(memory_limit="600MiB"),
} | OTHERS
# With fewer samples these are the default.
LEAST = {
    "ConsensusTLRR, 2000 samples": 2001,
    "ConsensusTLRR, 5000 samples": 5001,
    "ConsensusTLRR, all samples": 4001,
}


def mapped(X, path):
    """A view in a file instead of in memory."""
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def memory(field):
    """Bytes in use ("VmRSS") or at the peak ("VmHWM")."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


def run_cell(data, n, method, n_threads, folder):
    """Fit one method here; a row of the CSV as a dict."""
    warnings.simplefilter("ignore")
    before = memory("VmRSS")
    views, y = make(n, data) if data in SYNTHETIC else load_shared(data, seed=0)
    if method.endswith(("memory maps", "Dask")):
        views = [mapped(views.pop(0), f"{folder}/{i}.npy") for i in range(len(views))]
    if method.endswith("Dask"):
        import dask.array

        views = [dask.array.from_array(X, chunks=(CHUNK, -1)) for X in views]
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the data
    with limit_threads(n_threads):
        wall, cpu = time.perf_counter(), time.process_time()
        labels = METHODS[method](views, len(np.unique(y)), n_threads)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = memory("VmHWM") - before
    return {
        "seconds": wall,
        "cpu_seconds": cpu,
        "peak_mib": peak / 2**20,
        "acc": clustering_scores(y, labels)["acc"],
        "note": "",
    }


def measured(data, n, method, n_threads, limit):
    """`run_cell` in a process of its own, or the reason why there is nothing."""
    row = {"data": data, "n": n, "method": method, "threads": n_threads}
    with tempfile.TemporaryDirectory() as folder:
        cell = json.dumps([data, n, method, n_threads, folder])
        try:
            run = subprocess.run(
                [sys.executable, __file__, "--cell", cell],
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return row | {"note": f"more than {limit:g} s"}
    if run.returncode != 0:
        said = run.stderr.strip().splitlines() or [f"ended by signal {-run.returncode}"]
        return row | {"note": said[-1][:90]}
    return row | json.loads(run.stdout.splitlines()[-1])


def exponent(row, before, field):
    if before is None or field not in row or row["n"] == before["n"]:
        return ""
    return f"{np.log(row[field] / before[field]) / np.log(row['n'] / before['n']):.2f}"


def main(sizes, data, only, n_threads, limit, path):
    table = []
    for name in data:
        for method in METHODS:
            if only not in method:
                continue
            before = None
            for n in sizes if name in SYNTHETIC else [len(load_shared(name)[1])]:
                if n < LEAST.get(method, 0):
                    continue
                row = measured(name, n, method, n_threads, limit)
                append(path, row)
                shown = [
                    f"{row[field]:{form}}" if field in row else ""
                    for field, form in [
                        ("cpu_seconds", ".1f"),
                        ("seconds", ".1f"),
                        ("peak_mib", ".0f"),
                        ("acc", ".3f"),
                    ]
                ]
                table.append(
                    [
                        name,
                        method,
                        n,
                        *shown,
                        exponent(row, before, "cpu_seconds"),
                        exponent(row, before, "peak_mib"),
                        row["note"],
                    ]
                )
                print(*table[-1], sep="  ", file=sys.stderr, flush=True)
                if row["note"]:
                    break
                before = row
    print_table(
        [
            "data",
            "method",
            "n",
            "CPU s",
            "s",
            "MiB",
            "ACC",
            "exponent of time",
            "of memory",
            "ended by",
        ],
        table,
    )


def append(path, row):
    path.parent.mkdir(exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(
            {
                key: f"{value:.4g}" if isinstance(value, float) else value
                for key, value in row.items()
            }
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of synthetic data")
    parser.add_argument("--data", default=",".join(SYNTHETIC + FILES))
    parser.add_argument("--only", default="", help="part of the names of the methods to run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=900, help="seconds for one cell")
    parser.add_argument("--quick", action="store_true", help="1000 and 2000 samples, and uci_digit")
    parser.add_argument("--csv", type=Path, default=ROOT / "bench" / "results" / "large_n.csv")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cell:
        print(json.dumps(run_cell(*json.loads(given.cell))))
    elif given.quick:
        main([1000, 2000], ["subspaces", "uci_digit"], given.only, given.threads, 300, given.csv)
    else:
        sizes = [int(n) for n in given.sizes.split(",")]
        data = given.data.split(",")
        main(sizes, data, given.only, given.threads, given.limit, given.csv)
