"""Single against double precision: error, iterations, accuracy, time.

Usage: python bench/precision.py
"""

import argparse
from functools import partial

import numpy as np
from solvers import accuracy
from timing import load_shared, median_seconds, print_table

from mvsc_fast import similarity
from mvsc_fast.solvers import tlrr, tsvd_msc


def tasks():
    """(name, function of a type giving a result with tensor and n_iter, W, labels)."""
    for name in ("yaleb10", "bbc4view"):
        views, y = load_shared(name, 0)
        views = [np.asarray(X, dtype=np.float64) for X in views]
        W = similarity.self_representation(views)
        for solver in ("dual", "ialm"):
            run = partial(tlrr, solver=solver)
            yield f"{name}: {solver}", lambda t, W=W, run=run: run(W.astype(t)), W, y
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
        rows.append(
            [
                name,
                f"{error:.1e}",
                f"{double.n_iter} / {single.n_iter}",
                f"{accuracy(double.tensor, W, y):.3f} / {accuracy(single.tensor, W, y):.3f}",
                f"{double_time / single_time:.2f}",
            ]
        )
    print_table(
        ["task", "relative difference", "iterations (64 / 32)", "ACC (64 / 32)", "speed-up"], rows
    )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    main()
