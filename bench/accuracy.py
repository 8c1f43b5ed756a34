"""Accuracy on sixteen data sets in twelve cases each, beside spectral baselines.

Usage: python bench/accuracy.py [--methods NAME ...] [--sets NAME ...]

Means of ACC with their standard errors over sets: of ten sets and three shuffles, then of sixteen
sets times twelve cases (`sets.py`), each with its own order of the samples and of the columns. A
difference of means says something beyond two standard errors of the paired differences.
bench/results/accuracy.csv has the mean and the standard deviation of each set.

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
from timing import print_table, run, stopwatch, with_error, write_rows

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
    row = {"set": name, "case": number, "acc": acc, "nmi": nmi, "acc_new": np.nan}
    row["seconds"] = seconds
    if len(new) and hasattr(model, "predict"):
        row["acc_new"] = scores(y[new], model.predict([X[new] for X in views]))[0]
    return row


def by_set(rows, field="acc", cases=EVERY_CASE, names=SIXTEEN):
    """Of each set that has rows the values of its cases."""
    values = {}
    for row in rows:
        if row["set"] in names and row["case"] in cases:
            values.setdefault(row["set"], []).append(row[field])
    return values


def means(*args, **options):
    return np.array([np.mean(values) for values in by_set(*args, **options).values()])


def summary(rows, reference):
    """The row of a method; its differences from the reference are paired by set."""
    kinds = {kind: [i for i in EVERY_CASE if KINDS[i] == kind] for kind in KINDS[3:]}
    acc = means(rows)
    yield with_error(means(rows, cases=SHUFFLES, names=TEN))
    yield with_error(acc)
    yield with_error(acc - means(reference)) if rows is not reference else ""
    yield with_error(means(rows, "nmi"))
    for kind in kinds.values():
        yield f"{means(rows, cases=kind).mean():.3f}"
    new = means(rows, "acc_new", kinds["half"]).mean()
    yield "" if np.isnan(new) else f"{new:.3f}"
    yield f"{np.mean([row['seconds'] for row in rows]):.2f}"


def rows_of_sets(by_method):
    """Data, cases, method, mean and standard deviation of ACC."""
    for title, cases in {"shuffled": SHUFFLES, "all cases": EVERY_CASE}.items():
        for method, rows in by_method.items():
            for name, acc in by_set(rows, cases=cases).items():
                yield [name, title, method, f"{np.mean(acc):.3f}", f"{np.std(acc):.3f}"]


def main(methods, sets):
    by_method = {method: [] for method in methods}
    for name, (views, y) in at_hand(sets):
        for method, number in product(methods, EVERY_CASE):
            by_method[method].append(measure(method, name, views, y, number))
    reference = by_method[methods[0]]
    header = (
        f"method | ten sets, shuffled | sixteen sets | less {methods[0]} | NMI | 80 % | unequal | "
        "half fitted | half new | seconds"
    )
    print_table(header, [[m, *summary(rows, reference)] for m, rows in by_method.items()])
    write_rows("accuracy", ["data", "cases", "method", "acc", "sd"], rows_of_sets(by_method))


if __name__ == "__main__":
    run(main, __doc__, n_threads=None, methods=METHODS, sets=[*SIXTEEN])
