"""What the order of the samples does to methods that transform along them.

Usage: python bench/sample_order.py [--shuffles 3]
       python bench/sample_order.py --methods [--shuffles 3] [--max-samples 400]

ACC / NMI in file order, where files are sorted by class, and on shuffled samples: with the
published discrete Fourier transform, and with the order-free graph transform.

--methods is every method with its defaults on ten shuffled sets, larger ones cut to the first
--max-samples of the shuffled samples: mean ACC, median seconds, and peak memory. Each fit runs in a
process of its own with one thread. bench/results/methods.csv has the ACC of each set, with its
standard deviation over the shuffles.
"""

from itertools import product

import numpy as np
from timing import apart, forget_peak, load_shared, memory, print_table, run, stopwatch, write_rows

from mvsc_fast import TLRR
from mvsc_fast.methods import ESTIMATORS, ETLMSC, TSVDMSC
from mvsc_fast.metrics import clustering_scores

ROWS = [
    ("orl_3view", "t-SVD-MSC, lam .5", TSVDMSC, {"lam": 0.5}),
    ("yaleb10", "t-SVD-MSC, lam .05", TSVDMSC, {"lam": 0.05}),
    ("yaleb10", "t-SVD-MSC, lam .5", TSVDMSC, {"lam": 0.5}),
    ("yaleb10", "TLRR on t-SVD-MSC, lam .5", TSVDMSC, {"lam": 0.5}),
    ("yale_3view", "t-SVD-MSC, lam 1.1", TSVDMSC, {"lam": 1.1}),
    ("uci_digit", "t-SVD-MSC, lam .5", TSVDMSC, {"lam": 0.5}),
    ("uci_digit", "ETLMSC, lam .0055", ETLMSC, {"lam": 0.0055}),
    ("yaleb10", "TLRR, default", TLRR, {}),
    ("orl_3view", "TLRR, default", TLRR, {}),
]
VARIANTS = {"dft": {"sample_transform": "dft"}, "graph": {}}
SETS = ["yaleb10", "orl_3view", "orl_4view", "yale_3view", "ngs", "bbc4view", "scene15"]
SETS += ["uci_digit", "handwritten", "hdigit"]


def scores(estimator, parameters, data, seed, then_tlrr):
    """ACC and NMI on shuffled samples, or in file order if there is no seed."""
    views, y = load_shared(data, seed)
    k, seed = len(np.unique(y)), seed or 0
    if then_tlrr:
        affinity = estimator(k, **parameters)
        model = TLRR(k, omega1=0.4, alpha=9, lam=15, affinity=affinity, random_state=seed)
    else:
        model = estimator(k, random_state=seed, **parameters)
    values = clustering_scores(y, model.fit_predict(views))
    return values["acc"], values["nmi"]


def print_orders(shuffles):
    rows = []
    for data, name, estimator, parameters in ROWS:
        then_tlrr = name.startswith("TLRR on")
        variants = {"dft": {}} if estimator is TLRR else VARIANTS
        orders = [("dft", [None]), *((variant, range(shuffles)) for variant in variants)]
        cells = [
            [
                scores(estimator, parameters | variants[variant], data, seed, then_tlrr)
                for seed in seeds
            ]
            for variant, seeds in orders
        ]
        text = ["{:.3f} / {:.3f}".format(*np.mean(cell, axis=0)) for cell in cells]
        rows.append([data, name, *text, *[""] * (1 + len(VARIANTS) - len(text))])
    header = ["data", "method", "file order, dft", *(f"shuffled, {v}" for v in VARIANTS)]
    print_table(header, rows)


def measure(data, method, seed, max_samples):
    """ACC, seconds and MiB of a fit."""
    views, y = load_shared(data, seed)
    views, y = [X[: max_samples or None] for X in views], y[: max_samples or None]
    base = forget_peak()
    model = ESTIMATORS[method](len(np.unique(y)), random_state=seed)
    seconds, labels = stopwatch(model.fit_predict, views)
    peak = (memory("VmHWM") - base) // 2**20
    return clustering_scores(y, labels)["acc"], seconds, peak


def print_methods(shuffles, max_samples):
    rows, lines = [], []
    for method in ESTIMATORS:
        by_set, costs = {name: [] for name in SETS}, []
        for seed, name in product(range(shuffles), SETS):
            result, problem = apart(measure, name, method, seed, max_samples)
            if result is None:
                raise SystemExit(f"{method} on {name}, seed {seed}: {problem}")
            by_set[name].append(result[0])
            costs.append(result[1:])
        seconds, peaks = zip(*costs, strict=True)
        mean = f"{np.mean([*by_set.values()]):.3f}"
        rows.append([method, mean, f"{np.median(seconds):.1f}", max(peaks)])
        for name, acc in by_set.items():
            lines.append([name, method, f"{np.mean(acc):.3f}", f"{np.std(acc):.3f}"])
    print_table("method | ACC | median s | peak MiB", rows)
    write_rows("methods", ["data", "method", "acc", "sd"], lines)


def main(shuffles, methods, max_samples):
    if methods:
        print_methods(shuffles, max_samples)
    else:
        print_orders(shuffles)


if __name__ == "__main__":
    run(main, __doc__, n_threads=None, shuffles=3, methods=False, max_samples=400)
