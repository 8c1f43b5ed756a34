"""Single against double precision: error, iterations, accuracy, time.

Usage: python bench/precision.py
"""

import argparse

import numpy as np
from timing import load_shared, median_seconds, print_table

from mvsc_fast import similarity
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.similarity._affinity import add_tail, tube_lengths, tube_threshold
from mvsc_fast.solvers import tlrr, tsvd_msc
from mvsc_fast.spectral import fuse, spectral_labels


def accuracy(L, W, y):
    S = add_tail(fuse(L), fuse(W), 0.01, len(y))
    return clustering_scores(y, spectral_labels(S, len(np.unique(y)), random_state=0)[0])["acc"]


def tasks():
    """(name, function of a type giving a result with tensor and n_iter, W, labels)."""
    for name in ("yaleb10", "bbc4view"):
        views, y = load_shared(name, 0)
        views = [np.asarray(X, dtype=np.float64) for X in views]
        W = similarity.self_representation(views)
        tau = tube_threshold(tube_lengths(W), W.shape[1], 15)
        run = {"alpha": 9.0, "lam": 2.25 / tau}
        yield f"{name}: dual", lambda t, W=W, run=run: tlrr(W.astype(t), **run), W, y
        yield (
            f"{name}: ialm",
            lambda t, W=W, run=run: tlrr(W.astype(t), solver="ialm", **run),
            W,
            y,
        )
        yield (
            f"{name}: t-SVD-MSC",
            lambda t, views=views: tsvd_msc(
                [X.astype(t) for X in views], lam=0.5, sample_transform="graph", tol=1e-3
            ),
            W,
            y,
        )


def main():
    rows = []
    for name, function, W, y in tasks():
        double_time, double = median_seconds(lambda: function(np.float64), 1)
        single_time, single = median_seconds(lambda: function(np.float32), 1)
        error = np.linalg.norm(single.tensor - double.tensor) / np.linalg.norm(double.tensor)
        rows.append([name, f"{error:.1e}", f"{double.n_iter} / {single.n_iter}",
                     f"{accuracy(double.tensor, W, y):.3f} / {accuracy(single.tensor, W, y):.3f}",
                     f"{double_time / single_time:.2f}"])  # fmt: skip
    print_table(
        ["task", "relative difference", "iterations (64 / 32)", "ACC (64 / 32)", "speed-up"], rows
    )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    main()
