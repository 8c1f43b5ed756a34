"""Seconds of the dense and of the sparse self-representation, and what the sparse one holds.

Usage: python bench/similarity.py [n ...]    default 500 2000 10000, and hdigit
"""

import argparse

import numpy as np
from sklearn.preprocessing import normalize
from timing import limit_threads, load_shared, median_seconds, print_table, stopwatch

from mvsc_fast import datasets, similarity
from mvsc_fast.similarity._factors import view_factors
from mvsc_fast.similarity._nearest_rows import nearest_rows
from mvsc_fast.similarity._sparse import sparse_tensor

DENSE_LIMIT = 2000  # beyond, the dense tensor alone takes gigabytes


def synthetic(n):
    return datasets.make_multiview_subspaces(n, 10, n_features=(200, 200, 200), random_state=0)[0]


def row(name, views):
    n = len(views[0])
    views = [normalize(X) for X in views]
    repeats = 3 if n <= DENSE_LIMIT else 1
    dense = "-"
    if n <= DENSE_LIMIT:
        dense = median_seconds(lambda: similarity.self_representation(views), repeats)[0]
    factor, factors = stopwatch(view_factors, views)
    search, candidates = stopwatch(lambda: [nearest_rows(f.u, 50) for f in factors])
    tubes, tensor = median_seconds(lambda: sparse_tensor(factors, candidates), repeats)
    total = factor + search + tubes
    ratio = "-" if dense == "-" else f"{dense / total:.1f}"
    dense = dense if dense == "-" else f"{dense:.3f}"
    return [
        name,
        n,
        len(factors),
        dense,
        f"{total:.3f}",
        ratio,
        f"{factor:.3f}",
        f"{search:.3f}",
        f"{tubes:.3f}",
        f"{len(tensor.indices) / n:.0f}",
    ]


def main(sizes):
    with limit_threads(1):
        rows = [row("subspaces", synthetic(n)) for n in sizes or [500, 2000, 10000]]
        if not sizes:
            views, _ = load_shared("hdigit", seed=0)
            rows.append(row("hdigit", [X.astype(np.float32) for X in views]))
    print_table(
        [
            "data",
            "n",
            "slices",
            "dense s",
            "sparse s",
            "ratio",
            "factors s",
            "search s",
            "tubes s",
            "tubes of a row",
        ],
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, metavar="n", help="numbers of samples")
    main(parser.parse_args().sizes)
