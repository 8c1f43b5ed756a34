"""Accuracy on sixteen data sets in twelve cases each, beside spectral baselines.

Usage: python bench/accuracy.py [--all] [--methods NAME ...] [--sets NAME ...] [--seeds 1]
                                [--csv FILE] [--beside FILE ...]
       python bench/accuracy.py --spread [--methods NAME]

Without --all: ten sets and three shuffles. With it also sixteen sets times twelve cases
(`sets.py`), and for each method the means with their standard errors over sets. A difference of
means says something beyond two standard errors of the paired differences.

Results are appended to the CSV file as they are found, and what is there for the same commit of
the package is not measured again, unless its files differ from the commit. --beside adds results
of other files, such as those of an earlier commit, to the tables of --all; with --methods and no
name nothing is measured. A method can also be any class of a module: NAME=MODULE:CLASS.

--spread compares the labels of random states 0 to 9 on the first shuffle of six sets, by the first
method: median, smallest and largest ACC, its standard deviation, and how many of the 45 pairs of
states differ by more than .03; and the same of ten draws of 98 % of the samples. These results are
not stored.

Baselines are spectral clustering by scikit-learn of self-tuning nearest-neighbor graphs of samples
scaled to unit length in every view. The best single view is chosen with the labels, which no user
has.
"""

import argparse
import csv
import importlib
import re
import subprocess
import sys
import warnings
from functools import partial
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import scipy.sparse
from sets import KINDS, SHUFFLES, SIXTEEN, TEN, case, shuffled
from sklearn.cluster import SpectralClustering
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from timing import ROOT, NotAtHand, print_table, stopwatch

import mvsc_fast
from mvsc_fast.metrics import clustering_scores

SPREAD = ["yaleb10", "bbc4view", "scene15 (1500)", "uci_digit"]
SPREAD += ["digits (scikit-learn)", "hdigit (2000)"]
STATES, APART = 10, 0.03  # random states, and a difference that a user would see
KEPT = 0.98  # share of the samples of a draw
FIELDS = [
    "commit",
    "method",
    "set",
    "case",
    "kind",
    "seed",
    "n",
    "views",
    "acc",
    "nmi",
    "acc_new",
    "nmi_new",
    "seconds",
]


class Estimator:
    """Labels by a class of the package, or of another module."""

    def __init__(self, make, n_clusters, random_state):
        self.model = make(n_clusters, random_state=random_state)

    def fit(self, views):
        self.labels_ = [self.model.fit(views).labels_]
        return self

    def predict(self, views):
        return self.model.predict(views) if hasattr(self.model, "predict") else None


class Baseline:
    """Cuts of nearest-neighbor graphs, one labelling for each graph that ``graphs`` makes."""

    def __init__(self, graphs, n_clusters, random_state):
        self.graphs = graphs
        self.cut = SpectralClustering(n_clusters, affinity="precomputed", random_state=random_state)

    def fit(self, views):
        graphs = self.graphs([normalize(X) for X in views])
        self.labels_ = [self.cut.fit_predict(A) for A in graphs]
        return self

    def predict(self, views):
        return None


def self_tuning(X, n_neighbors=15):
    """exp(-d_jk^2 / (s_j s_k)) of nearest neighbors, s the distance to the last, symmetrised."""
    n_neighbors = min(n_neighbors, len(X) - 1)
    distance, index = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    scale = np.maximum(distance[:, -1], 1e-12)
    values = np.exp(-(distance**2) / (scale[:, None] * scale[index]))
    start = np.arange(0, values.size + 1, n_neighbors, dtype=np.int32)
    entries = values.ravel(), index.ravel().astype(np.int32), start
    A = scipy.sparse.csr_array(entries, shape=(len(X), len(X)))
    return (A + A.T) / 2


METHODS = {
    "ConsensusTLRR": partial(Estimator, mvsc_fast.ConsensusTLRR),
    "TLRR": partial(Estimator, mvsc_fast.TLRR),
    "best single view": partial(Baseline, lambda units: [self_tuning(X) for X in units]),
    "averaged graph": partial(Baseline, lambda units: [sum(self_tuning(X) for X in units)]),
    "concatenated": partial(Baseline, lambda units: [self_tuning(np.hstack(units))]),
}


def method(text):
    """Name and maker of one of METHODS, or of NAME=MODULE:CLASS."""
    if text in METHODS:
        return text, METHODS[text]
    name, found = named_class(text)
    return name, partial(Estimator, found)


def named_class(text):
    """Name and class of NAME=MODULE:CLASS."""
    parts = re.fullmatch(r"(.+)=([\w.]+):(\w+)", text)
    if parts is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=MODULE:CLASS or a known method")
    name, module, attribute = parts.groups()
    return name, getattr(importlib.import_module(module), attribute)


def measured_commit():
    """The commit of the package that is imported, and whether its files differ from it."""
    folder = Path(mvsc_fast.__file__).parent
    command = ["git", "-C", str(folder)]
    name = subprocess.run(
        [*command, "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    ).stdout.strip()
    changed = subprocess.run(
        [*command, "status", "--porcelain", "--", "."], capture_output=True, text=True
    ).stdout.strip()
    return name or mvsc_fast.__version__, bool(changed)


def scores(y, labellings):
    """ACC and NMI of the labelling of largest ACC."""
    found = [clustering_scores(y, labels) for labels in labellings]
    best = max(found, key=lambda one: one["acc"])
    return best["acc"], best["nmi"]


def measure(make, name, views, y, number, seed):
    """The row of one fit, without its commit and method."""
    fitted, new = case(name, y, number)
    model = make(int(y.max()) + 1, random_state=number + 1000 * seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, _ = stopwatch(model.fit, [X[fitted] for X in views])
        labels = model.predict([X[new] for X in views]) if len(new) else None
    acc, nmi = scores(y[fitted], model.labels_)
    acc_new, nmi_new = (np.nan, np.nan) if labels is None else scores(y[new], [labels])
    return {
        "set": name,
        "case": number,
        "kind": KINDS[number],
        "seed": seed,
        "n": len(fitted),
        "views": len(views),
        "acc": acc,
        "nmi": nmi,
        "acc_new": acc_new,
        "nmi_new": nmi_new,
        "seconds": seconds,
    }


def read(path):
    """Rows of a file of results, numbers as such; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for field in ("case", "seed", "n", "views"):
            row[field] = int(row[field])
        for field in ("acc", "nmi", "acc_new", "nmi_new", "seconds"):
            row[field] = float(row[field])
    return rows


def key(row):
    return row["commit"], row["method"], row["set"], row["case"], row["seed"]


def append(path, row):
    """Add a row to a file of results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begin = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if begin:
            writer.writeheader()
        writer.writerow({k: f"{x:.5g}" if isinstance(x, float) else x for k, x in row.items()})


def run(methods, sets, cases, seeds, path):
    """Measure what the file does not have; rows of all that was asked for."""
    commit, changed = measured_commit()
    if changed:
        commit += "+"
    known = {} if changed else {key(row): row for row in read(path)}
    out = []
    for name in sets:
        try:
            views, y = SIXTEEN[name]()
        except NotAtHand as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
            continue
        for (label, make), number, seed in product(methods, cases, range(seeds)):
            row = known.get((commit, label, name, number, seed))
            if row is None:
                row = {"commit": commit, "method": label}
                row |= measure(make, name, views, y, number, seed)
                append(path, row)
            out.append(row)
    return out


def mean_by_set(rows, field, cases, sets):
    """Of each set that has rows the mean over cases and seeds."""
    out = {}
    for name in sets:
        values = [r[field] for r in rows if r["set"] == name and r["case"] in cases]
        if values:
            out[name] = float(np.mean(values))
    return out


def with_error(values):
    """Mean and standard error of independent values."""
    values = np.asarray(list(values))
    if len(values) < 2:
        return f"{values.mean():.3f}"
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def spread_of_means(rows, sets):
    """Standard deviation, over shuffles and seeds, of the mean over sets."""
    rows = [r for r in rows if r["case"] in SHUFFLES and r["set"] in sets]
    runs = sorted({(r["case"], r["seed"]) for r in rows})
    means = [np.mean([r["acc"] for r in rows if (r["case"], r["seed"]) == one]) for one in runs]
    return float(np.std(means))


def print_ten_sets(rows):
    """ACC over shuffles."""
    rows = [row for row in rows if row["set"] in TEN and row["case"] in SHUFFLES]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    table = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = {m: [r for r in rows if (r["set"], r["method"]) == (name, m)] for m in methods}
        first = mine[methods[0]]
        acc = [[r["acc"] for r in mine[m]] for m in methods]
        table.append(
            [
                name,
                first[0]["n"],
                first[0]["views"],
                *(f"{np.mean(one):.3f} ± {np.std(one):.3f}" for one in acc),
                f"{np.mean([r['nmi'] for r in first]):.3f}",
            ]
        )
    means = [
        mean_by_set([r for r in rows if r["method"] == m], "acc", SHUFFLES, TEN) for m in methods
    ]
    table.append(["mean", "", "", *(with_error(one.values()) for one in means), ""])
    print_table(["data", "n", "views", *methods, f"NMI of {methods[0]}"], table)


def print_summary(groups):
    """Means of every method, ACC by set, and differences from the first method."""
    everything = range(len(KINDS))
    table, by_set = [], {}
    for name, rows in groups.items():

        def mean(field, kind, rows=rows):
            cases = [number for number in everything if KINDS[number] == kind]
            value = np.mean([*mean_by_set(rows, field, cases, SIXTEEN).values()])
            return "" if np.isnan(value) else f"{value:.3f}"

        ten = mean_by_set(rows, "acc", SHUFFLES, TEN)
        by_set[name] = mean_by_set(rows, "acc", everything, SIXTEEN)
        table.append(
            [
                name,
                f"{np.mean([*ten.values()]):.3f} ± {spread_of_means(rows, TEN):.3f}",
                with_error(by_set[name].values()),
                with_error(mean_by_set(rows, "nmi", everything, SIXTEEN).values()),
                mean("acc", "80 %"),
                mean("acc", "unequal"),
                mean("acc", "half"),
                mean("acc_new", "half"),
                f"{np.mean([r['seconds'] for r in rows]):.2f}",
                len(by_set[name]),
                len(rows),
            ]
        )
    print("Ten sets: spread of the mean over shuffles and seeds; others: error over sets.\n")
    print_table(
        [
            "method",
            "ten sets, shuffled",
            "all sets and cases",
            "their NMI",
            "80 %",
            "unequal",
            "half fitted",
            "half new",
            "seconds",
            "sets",
            "fits",
        ],
        table,
    )
    names = [name for name in SIXTEEN if any(name in one for one in by_set.values())]
    print("\nACC by set, mean over cases:\n")
    print_table(
        ["data", *by_set],
        [
            [name, *(f"{one[name]:.3f}" if name in one else "" for one in by_set.values())]
            for name in names
        ],
    )
    print_differences(groups)


def print_differences(groups):
    """Of every method but the first: ACC less that of the first in the same fits, by set."""
    (first, rows), *others = groups.items()
    reference = {key(row)[2:]: row["acc"] for row in rows}
    table = []
    for name, rows in others:
        paired = [
            row | {"less": row["acc"] - reference[key(row)[2:]]}
            for row in rows
            if key(row)[2:] in reference
        ]
        less = mean_by_set(paired, "less", range(len(KINDS)), SIXTEEN)
        if less:
            ends = [f"{one} {less[one]:+.3f}" for one in sorted(less, key=less.get)]
            table.append([name, with_error(less.values()), ends[0], ends[-1]])
    if table:
        print(f"\nACC less that of {first}, paired by set:\n")
        print_table(["method", "mean ± error", "worst set", "best set"], table)


def drawn(n, state):
    """Indices of the samples of a draw, 98 % of n."""
    return np.random.RandomState(state).permutation(n)[: round(KEPT * n)]


def print_spread(make):
    """Spread of ACC over random states and over draws of the samples, by set."""
    table = []
    for name in SPREAD:
        views, y = shuffled(name)
        draws = [drawn(len(y), state) for state in range(STATES)]
        for what, samples in (("states", [np.arange(len(y))] * STATES), ("draws", draws)):
            acc = []
            for state, kept in enumerate(samples):
                model = make(int(y.max()) + 1, random_state=state)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    labels = model.fit([X[kept] for X in views]).labels_
                acc.append(scores(y[kept], labels)[0])
            apart = np.triu(np.abs(np.subtract.outer(acc, acc)) > APART).sum()
            numbers = np.median(acc), np.min(acc), np.max(acc), np.std(acc)
            table.append(
                [name, f"{STATES} {what}", len(kept), *(f"{x:.3f}" for x in numbers), int(apart)]
            )
    pairs = f"pairs of {comb(STATES, 2)} that differ by more than {APART}"
    titles = ["data", "runs", "n", "median ACC", "smallest", "largest", "standard deviation", pairs]
    print_table(titles, table)


def main(methods, sets, every, seeds, path, beside):
    sets = sets or (SIXTEEN if every else TEN)
    cases = range(len(KINDS)) if every else SHUFFLES
    rows = run(methods, sets, cases, seeds, path) if methods else []
    if rows:
        print_ten_sets(rows)
    if not every:
        return
    known = {key(row): row for other in beside for row in read(other)}
    known |= {key(row): row for row in rows}
    groups = {}
    for row in known.values():
        name = f"{row['method']}, {row['commit']}" if beside else row["method"]
        groups.setdefault(name, []).append(row)
    print()
    print_summary(groups)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="sixteen sets times twelve cases")
    parser.add_argument(
        "--spread", action="store_true", help="ten random states and ten draws of six sets"
    )
    parser.add_argument(
        "--methods",
        nargs="*",
        type=method,
        metavar="NAME",
        default=[one for one in METHODS.items() if one[0] != "TLRR"],  # which takes minutes
        help=", ".join(METHODS) + ", or NAME=MODULE:CLASS; all but TLRR if none is named",
    )
    parser.add_argument("--sets", nargs="*", choices=SIXTEEN, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=1, help="random states for each case")
    parser.add_argument("--csv", type=Path, default=ROOT / "bench" / "results" / "accuracy.csv")
    parser.add_argument("--beside", nargs="*", type=Path, default=[], metavar="FILE")
    given = parser.parse_args()
    if given.spread:
        print_spread(given.methods[0][1])
    else:
        main(given.methods, given.sets, given.all, given.seeds, given.csv, given.beside)
