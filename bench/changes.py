"""Labels after changes of the data that mean nothing, and how far a fit knows.

Usage: python bench/changes.py [--draws 2]

At most 600 samples of the sixteen sets, two unequal sets, and the families "weak" and "counts" of
``unequal.py``. For each: the agreement of the labels with the labellings that were fused
(``fused_agreement_``), and the smallest adjusted Rand index of the labels with those of permuted
columns, of data with relative noise of 1e-9, and of 90 % of the samples. Means over sets; the last
row is the rank correlation of the last column with the agreement. bench/results/changes.csv has
each set.
"""

import numpy as np
import sets
import unequal
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score
from timing import print_table, report, run, write_rows

from mvsc_fast import ConsensusTLRR

AT_MOST = 600


CHANGES = {
    "permuted columns": lambda views, rng: [X[:, rng.permutation(X.shape[1])] for X in views],
    "noise of 1e-9": lambda views, rng: [
        X * (1 + 1e-9 * rng.standard_normal(X.shape)) for X in views
    ],
}


def problems():
    """Family, name, views and number of clusters."""
    for name, (views, y) in sets.at_hand(sets.SIXTEEN):
        rows = sets.case(name, y, 0)[0][:AT_MOST]
        subset = [np.asarray(X, dtype=float)[rows] for X in views]
        yield "sixteen sets", name, subset, len(np.unique(y[rows]))
    for name in ("webkb", "prokaryotic"):
        views, y = sets.shared(name)
        yield "unequal sets", name, views, len(np.unique(y))
    for family, name, views, y in unequal.problems(["weak", "counts"], 1):
        yield family, name, views, int(y.max()) + 1


def fit(views, c):
    return ConsensusTLRR(c, random_state=0).fit(views)


def measure(views, c, draws):
    """The agreement of a fit, and the adjusted Rand index after each change and of a subset."""
    model, rng = fit(views, c), np.random.default_rng(0)
    row = [model.fused_agreement_]
    for change in CHANGES.values():
        labellings = [fit(change(views, rng), c).labels_ for _ in range(draws)]
        row.append(min(adjusted_rand_score(model.labels_, labels) for labels in labellings))
    n = len(views[0])
    kept = np.sort(rng.permutation(n)[: 9 * n // 10])
    labels = fit([X[kept] for X in views], c).labels_
    return [*row, adjusted_rand_score(model.labels_[kept], labels)]


def main(draws):
    by_family, lines = {}, []
    for family, name, views, c in problems():
        row = measure(views, c, draws)
        by_family.setdefault(family, []).append(row)
        lines.append([family, name, *np.round(row, 3)])
        report(*lines[-1])
    header = ["agreement", *CHANGES, "90 % of the samples"]
    rows = []
    for family, values in by_family.items():
        means = np.mean(values, axis=0)
        rows.append([f"{family} ({len(values)})", *(f"{x:.3f}" for x in means)])
    agreement, *_, subset = np.vstack([*by_family.values()]).T
    correlation = f"{spearmanr(agreement, subset).statistic:.2f}"
    rows.append(["rank correlation", *[""] * (len(header) - 1), correlation])
    print_table(["data", *header], rows)
    write_rows("changes", ["family", "data", *header], lines)


if __name__ == "__main__":
    run(main, __doc__, draws=2)
