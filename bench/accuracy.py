"""Accuracy of default settings on shuffled samples, beside spectral baselines.

Usage: python bench/accuracy.py [--shuffles 3]

All baselines are normalised-cut spectral clustering of self-tuning nearest-neighbour graphs of
samples scaled to unit length in every view. The best single view is chosen with the labels, which
no user has.
"""

import argparse

import numpy as np
from sklearn.preprocessing import normalize
from timing import load_shared, print_table, stopwatch

from mvsc_fast import TLRR, datasets, graphs
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.spectral import spectral_labels

SETS = ["yaleb10", "orl_3view", "orl_4view", "yale_3view", "ngs", "bbc4view", "scene15 (1500)",
        "uci_digit", "handwritten (embedded)"]  # fmt: skip


def load(name, seed):
    if name.startswith("handwritten"):
        views, y = datasets.load_handwritten()
        order = np.random.RandomState(seed).permutation(len(y))
        return [X[order] for X in views], y[order]
    if name.startswith("scene15"):
        views, y = load_shared("scene15", seed)
        return [X[:1500] for X in views], y[:1500]
    return load_shared(name, seed)


def accuracies(views, y, seed):
    """ACC by method, and what TLRR chose and took."""
    k = len(np.unique(y))

    def acc(affinity):
        labels, _ = spectral_labels(affinity, k, random_state=seed)
        return clustering_scores(y, labels)["acc"]

    unit = [normalize(np.asarray(X, dtype=np.float64)) for X in views]
    W = graphs.knn(unit)
    seconds, model = stopwatch(TLRR(k, random_state=seed).fit, views)
    scores = {
        "TLRR": clustering_scores(y, model.labels_)["acc"],
        "TLRR NMI": clustering_scores(y, model.labels_)["nmi"],
        "best single view": max(acc(A) for A in W),
        "averaged graph": acc(W.mean(axis=0)),
        "concatenated": acc(graphs.knn([np.hstack(unit)])[0]),
    }
    return scores, model.n_neighbors_, model.n_iter_, seconds


def main(shuffles):
    rows = []
    for name in SETS:
        runs = []
        for seed in range(shuffles):
            views, y = load(name, seed)
            runs.append(accuracies(views, y, seed))
        means = {key: np.mean([run[0][key] for run in runs]) for key in runs[0][0]}
        rows.append([name, len(y), len(views), *(f"{value:.3f}" for value in means.values()),
                     ", ".join(sorted({str(run[1]) for run in runs})),
                     ", ".join(sorted({str(run[2]) for run in runs})),
                     f"{np.median([run[3] for run in runs]):.1f}"])  # fmt: skip
    columns = np.array([[float(cell) for cell in row[3:8]] for row in rows])
    mean = [f"{value:.3f}" for value in columns.mean(axis=0)]
    rows.append(["mean", "", "", *mean, "", "", ""])
    header = ["data", "n", "views", *runs[0][0], "neighbors", "iterations", "seconds"]
    print_table(header, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shuffles", type=int, default=3)
    main(parser.parse_args().shuffles)
