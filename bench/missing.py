"""Accuracy where samples lack views, or single cells: NaN, beside imputed values.

Usage: python bench/missing.py [--shares .1 .3 .5] [--draws 3] [--sets NAME ...]
       python bench/missing.py --cells --shares 0 .02 .05 .1 ...

ACC of shuffled samples. Every entry of the table of samples and views is removed with the
probability given, but no sample's last view. "NaN" is ConsensusTLRR on views with rows of NaN.
"mean" is ConsensusTLRR on views whose missing rows are the mean of the view. Means over sets; those
of each set are in bench/results/missing.csv, or missing_cells.csv.

With --cells every cell is removed with the probability given. "NaN" is ConsensusTLRR, which fills
cells by the multiple of the mean row that is nearest to the others of the row. "mean" fills column
means, and "KNN" is KNNImputer of scikit-learn (minutes for wide views).
"""

import numpy as np
from sets import TEN
from sklearn.impute import KNNImputer
from timing import print_table, run, with_error, write_rows

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SETS = ["orl_3view", "yaleb10", "bbc4view", "handwritten (embedded)", "uci_digit"]


def remove_rows(views, share, seed):
    """Views with rows of NaN; every sample keeps one view at least."""
    rng = np.random.RandomState(seed)
    n, v = len(views[0]), len(views)
    removed = rng.uniform(size=(n, v)) < share
    removed[np.arange(n), rng.randint(v, size=n)] &= ~removed.all(axis=1)
    return [np.where(gone[:, None], np.nan, X) for X, gone in zip(views, removed.T, strict=True)]


def remove_cells(views, share, seed):
    """Views with cells of NaN."""
    rng = np.random.RandomState(seed)
    return [np.where(rng.uniform(size=X.shape) < share, np.nan, X) for X in views]


def by_mean(views):
    return [np.where(np.isnan(X), np.nanmean(X, axis=0), X) for X in views]


def by_neighbors(views):
    return [KNNImputer(keep_empty_features=True).fit_transform(X) for X in views]


ROWS = remove_rows, {"NaN": list, "mean": by_mean}
CELLS = remove_cells, {"NaN": list, "mean": by_mean, "KNN": by_neighbors}


def accuracies(name, share, draw, remove, ways):
    """ACC of every way to fill what is missing."""
    views, y = TEN[name]()
    order = np.random.RandomState(draw).permutation(len(y))
    views, y = remove([X[order].astype(float) for X in views], share, draw), y[order]
    model = ConsensusTLRR(int(y.max()) + 1, random_state=draw)
    labellings = [model.fit_predict(fill(views)) for fill in ways.values()]
    return [clustering_scores(y, labels)["acc"] for labels in labellings]


def main(sets, shares, draws, cells):
    remove, ways = CELLS if cells else ROWS
    rows, lines = [], []
    for share in shares:
        runs = [
            [accuracies(name, share, draw, remove, ways) for draw in range(draws)] for name in sets
        ]
        acc = np.mean(runs, axis=1)
        lines += [
            [name, share, *(f"{x:.3f}" for x in row)] for name, row in zip(sets, acc, strict=True)
        ]
        missing = f"{100 * share:g} % of the {'cells' if cells else 'rows'}"
        rows.append([missing, "ACC", *(f"{x:.3f}" for x in acc.mean(axis=0))])
        less = (with_error(column - acc[:, 0]) for column in acc.T[1:])
        rows.append([missing, "less NaN, ± error over sets", "", *less])
    print_table(["missing", "", *ways], rows)
    write_rows("missing_cells" if cells else "missing", ["data", "share", *ways], lines)


if __name__ == "__main__":
    run(main, __doc__, n_threads=None, sets=SETS, shares=[0.1, 0.3, 0.5], draws=3, cells=False)
