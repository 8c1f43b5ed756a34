"""Accuracy on sixteen data sets in twelve cases each, beside spectral baselines.

Usage: python bench/accuracy.py [--methods NAME ...] [--sets NAME ...]

The first table has ten sets and three shuffles, the others sixteen sets times twelve cases
(`sets.py`), each with its own order of the samples and of the columns, and for each method the
means with their standard errors over sets. A difference of means says something beyond two
standard errors of the paired differences.

Baselines are spectral clustering by scikit-learn of self-tuning nearest-neighbor graphs of samples
scaled to unit length in every view. The best single view is chosen with the labels, which no user
has.
"""

from itertools import product
from types import SimpleNamespace

import numpy as np
import scipy.sparse
from sets import KINDS, SHUFFLES, SIXTEEN, TEN, at_hand, case, permuted_columns
from sklearn.cluster import SpectralClustering
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from timing import print_table, run, stopwatch, with_error

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

EVERY_CASE = range(len(KINDS))


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


GRAPHS = {
    "best single view": lambda units: [self_tuning(X) for X in units],
    "averaged graph": lambda units: [sum(self_tuning(X) for X in units)],
    "concatenated": lambda units: [self_tuning(np.hstack(units))],
}
METHODS = ["ConsensusTLRR", *GRAPHS]


def fit(method, views, y, random_state):
    """A model; of a baseline with one labelling for each of its graphs."""
    c = int(y.max()) + 1
    if method == "ConsensusTLRR":
        return ConsensusTLRR(c, random_state=random_state).fit(views)
    cut = SpectralClustering(c, affinity="precomputed", random_state=random_state)
    graphs = GRAPHS[method]([normalize(X) for X in views])
    return SimpleNamespace(labels_=[cut.fit_predict(A) for A in graphs])


def scores(y, labellings):
    """ACC and NMI of the labelling of largest ACC."""
    results = [clustering_scores(y, labels) for labels in np.atleast_2d(labellings)]
    best = max(results, key=lambda result: result["acc"])
    return best["acc"], best["nmi"]


def measure(method, name, views, y, number):
    """The row of one fit; scores of new samples are NaN without any."""
    fitted, new = case(name, y, number)
    views = permuted_columns(views, number)
    seconds, model = stopwatch(fit, method, [X[fitted] for X in views], y, number)
    acc, nmi = scores(y[fitted], model.labels_)
    row = {"method": method, "set": name, "case": number, "n": len(fitted), "views": len(views)}
    row |= {"acc": acc, "nmi": nmi, "acc_new": np.nan, "seconds": seconds}
    if len(new) and hasattr(model, "predict"):
        row["acc_new"] = scores(y[new], model.predict([X[new] for X in views]))[0]
    return row


def mean_by_set(rows, field, cases, names):
    """Of each set that has rows the mean over cases."""
    values = {}
    for row in rows:
        if row["set"] in names and row["case"] in cases:
            values.setdefault(row["set"], []).append(row[field])
    return {name: float(np.mean(values[name])) for name in names if name in values}


def deviation_by_set(rows):
    """Of each set the standard deviation of ACC over cases of the same kind."""
    values = {}
    for row in rows:
        values.setdefault(row["set"], {}).setdefault(KINDS[row["case"]], []).append(row["acc"])
    return {
        name: float(np.sqrt(np.mean([np.var(acc) for acc in kinds.values()])))
        for name, kinds in values.items()
    }


def print_ten_sets(by_method):
    """ACC over shuffles."""
    first, *_ = by_method
    table = []
    for name in TEN:
        of_set = [
            [r for r in rows if r["set"] == name and r["case"] in SHUFFLES]
            for rows in by_method.values()
        ]
        if of_set[0]:
            acc = [[r["acc"] for r in rows] for rows in of_set]
            cells = [f"{np.mean(values):.3f} ± {np.std(values):.3f}" for values in acc]
            nmi = np.mean([r["nmi"] for r in of_set[0]])
            table.append([name, of_set[0][0]["n"], of_set[0][0]["views"], *cells, f"{nmi:.3f}"])
    means = [mean_by_set(rows, "acc", SHUFFLES, TEN) for rows in by_method.values()]
    table.append(["mean", "", "", *(with_error(mean.values()) for mean in means), ""])
    print_table(["data", "n", "views", *by_method, f"NMI of {first}"], table)


def print_summary(by_method):
    """Means of every method, ACC by set, and differences from the first method."""
    table, by_set = [], {}
    for method, rows in by_method.items():

        def mean(field, kind, rows=rows):
            cases = [number for number in EVERY_CASE if KINDS[number] == kind]
            value = np.mean([*mean_by_set(rows, field, cases, SIXTEEN).values()])
            return "" if np.isnan(value) else f"{value:.3f}"

        ten = mean_by_set(rows, "acc", SHUFFLES, TEN)
        shuffles = [mean_by_set(rows, "acc", [number], TEN).values() for number in SHUFFLES]
        spread = np.std([np.mean([*values]) for values in shuffles])
        by_set[method] = mean_by_set(rows, "acc", EVERY_CASE, SIXTEEN)
        nmi = mean_by_set(rows, "nmi", EVERY_CASE, SIXTEEN)
        table.append(
            f"{method} | {np.mean([*ten.values()]):.3f} ± {spread:.3f} | "
            f"{with_error(by_set[method].values())} | {with_error(nmi.values())} | "
            f"{mean('acc', '80 %')} | {mean('acc', 'unequal')} | {mean('acc', 'half')} | "
            f"{mean('acc_new', 'half')} | {np.mean([r['seconds'] for r in rows]):.2f} | "
            f"{len(by_set[method])} | {len(rows)}"
        )
    print("\nTen sets: spread of the mean over shuffles; others: error over sets.\n")
    header = "method | ten sets, shuffled | all sets and cases | their NMI | 80 % | unequal | "
    print_table(header + "half fitted | half new | seconds | sets | fits", table)

    first, *others = by_set
    print("\nACC by set, mean over cases ± standard deviation over cases of the same kind:\n")
    deviations = {method: deviation_by_set(rows) for method, rows in by_method.items()}
    rows = []
    for name in by_set[first]:
        cells = (f"{by_set[m][name]:.3f} ± {deviations[m][name]:.3f}" for m in by_set)
        rows.append([name, *cells])
    print_table(["data", *by_set], rows)
    print(f"\nACC less that of {first}, paired by set:\n")
    table = []
    for method in others:
        less = {name: acc - by_set[first][name] for name, acc in by_set[method].items()}
        extremes = min(less, key=less.get), max(less, key=less.get)
        cells = [f"{name} {less[name]:+.3f}" for name in extremes]
        table.append([method, with_error(less.values()), *cells])
    print_table("method | mean ± error | worst set | best set", table)


def main(methods, sets):
    by_method = {method: [] for method in methods}
    for name, (views, y) in at_hand(sets):
        for method, number in product(methods, EVERY_CASE):
            by_method[method].append(measure(method, name, views, y, number))
    print_ten_sets(by_method)
    print_summary(by_method)


if __name__ == "__main__":
    run(main, __doc__, n_threads=None, methods=METHODS, sets=[*SIXTEEN])
