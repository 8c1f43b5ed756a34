"""Labels after changes of the data that mean nothing, and how far a fit knows.

Usage: python bench/changes.py [--draws 2]

At most 600 samples of the sixteen sets, two unequal sets, and the families "weak" and "counts" of
``unequal.py``. For each: the agreement of the labels with the labellings that were fused
(``fused_agreement_``), and the smallest adjusted Rand index of the labels with those after a view
has got a column of zeros, of permuted columns, of reversed views, of data with relative noise of
1e-9 (``--draws``), and of 90 % of the samples. The last row is the rank correlation of the last
column with the agreement.
"""

import numpy as np
import sets
import unequal
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score
from timing import print_table, report, run

from mvsc_fast import ConsensusTLRR

AT_MOST = 600


CHANGES = {
    "empty column": lambda views, rng: [np.pad(views[0], ((0, 0), (0, 1))), *views[1:]],
    "permuted columns": lambda views, rng: [X[:, rng.permutation(X.shape[1])] for X in views],
    "reversed views": lambda views, rng: views[::-1],
    "noise of 1e-9": lambda views, rng: [
        X * (1 + 1e-9 * rng.standard_normal(X.shape)) for X in views
    ],
}
DRAWN = ("permuted columns", "noise of 1e-9")


def problems():
    """Name, views and number of clusters."""
    for name, (views, y) in sets.at_hand(sets.SIXTEEN):
        rows = sets.case(name, y, 0)[0][:AT_MOST]
        yield name, [np.asarray(X, dtype=float)[rows] for X in views], len(np.unique(y[rows]))
    for name in ("webkb", "prokaryotic"):
        views, y = sets.shared(name)
        yield name, views, len(np.unique(y))
    for family, name, views, y in unequal.problems(["weak", "counts"], 1):
        yield f"{family}: {name}", views, int(y.max()) + 1


def fit(views, c):
    return ConsensusTLRR(c, random_state=0).fit(views)


def measure(views, c, draws):
    """The agreement of a fit, and the adjusted Rand index after each change and of a subset."""
    model, rng = fit(views, c), np.random.default_rng(0)
    row = [model.fused_agreement_]
    for name, change in CHANGES.items():
        repetitions = draws if name in DRAWN else 1
        labellings = [fit(change(views, rng), c).labels_ for _ in range(repetitions)]
        row.append(min(adjusted_rand_score(model.labels_, labels) for labels in labellings))
    n = len(views[0])
    kept = np.sort(rng.permutation(n)[: 9 * n // 10])
    labels = fit([X[kept] for X in views], c).labels_
    return [*row, adjusted_rand_score(model.labels_[kept], labels)]


def main(draws):
    names, values = [], []
    for name, views, c in problems():
        names.append(name)
        values.append(measure(views, c, draws))
        report(name, *np.round(values[-1], 3))
    rows = [[name, *(f"{x:.3f}" for x in row)] for name, row in zip(names, values, strict=True)]
    columns = np.transpose(values)
    rows.append(["mean", *(f"{x:.3f}" for x in columns.mean(axis=1))])
    subset = spearmanr(columns[0], columns[-1]).statistic
    rows.append(["rank correlation", "", *[""] * len(CHANGES), f"{subset:.2f}"])
    print_table(["data", "agreement", *CHANGES, "90 % of the samples"], rows)


if __name__ == "__main__":
    run(main, __doc__, draws=2)
