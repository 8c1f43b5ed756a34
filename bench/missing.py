"""Accuracy where samples lack views, beside imputed rows.

Usage: python bench/missing.py [--shares 0 .1 .3 .5] [--shuffles 1] [--sets NAME ...]

ACC on shuffled samples. Every entry of the table of samples and views is removed with the
probability given, but no sample's last view. "ridge" and "mean" fit ConsensusTLRR on views whose
missing rows are predicted from the other views, or the mean of the view.
"""

import argparse
import warnings

import numpy as np
from timing import load_shared, print_table, stopwatch

from mvsc_fast import TLRR, ConsensusTLRR
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.views._missing import imputed

SETS = ["orl_3view", "yaleb10", "bbc4view", "handwritten", "uci_digit"]
METHODS = ["ConsensusTLRR", "TLRR", "ridge", "mean"]


def lacking(views, share, seed):
    """Views with rows of NaN; every sample keeps one view at least."""
    rng = np.random.RandomState(seed)
    n, v = len(views[0]), len(views)
    removed = rng.uniform(size=(n, v)) < share
    removed[np.arange(n), rng.randint(v, size=n)] &= ~removed.all(axis=1)
    out = []
    for X, gone in zip(views, removed.T, strict=True):
        X = X.astype(np.float64)
        X[gone] = np.nan
        out.append(X)
    return out


def by_mean(views):
    return [np.where(np.isnan(X), np.nanmean(X, axis=0), X) for X in views]


def run(name, share, seed):
    """ACC of every method, and seconds of the first two."""
    views, y = load_shared(name, seed)
    views = lacking(views, share, seed)
    c = len(np.unique(y))
    acc, seconds = {}, []
    for method, model, given in (
        ("ConsensusTLRR", ConsensusTLRR, views),
        ("TLRR", TLRR, views),
        ("ridge", ConsensusTLRR, imputed(views)),
        ("mean", ConsensusTLRR, by_mean(views)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            took, labels = stopwatch(model(c, random_state=seed).fit_predict, given)
        acc[method] = clustering_scores(y, labels)["acc"]
        seconds.append(took)
    return acc, seconds[:2]


def main(sets, shares, shuffles):
    for share in shares:
        rows = []
        for name in sets:
            runs = [run(name, share, seed) for seed in range(shuffles)]
            acc = [np.mean([one[0][method] for one in runs]) for method in METHODS]
            seconds = np.mean([one[1] for one in runs], axis=0)
            rows.append([name, *acc, *seconds])
        rows.append(["mean", *np.mean([row[1:5] for row in rows], axis=0), "", ""])
        shown = [
            [row[0], *(f"{x:.3f}" for x in row[1:5]), *(x and f"{x:.1f}" for x in row[5:])]
            for row in rows
        ]
        print(f"\n{100 * share:g} % of the rows missing\n")
        print_table(["data", *METHODS, "seconds", "of TLRR"], shown)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shares", nargs="*", type=float, default=[0.0, 0.1, 0.3, 0.5])
    parser.add_argument("--shuffles", type=int, default=1)
    parser.add_argument("--sets", nargs="*", default=SETS)
    arguments = parser.parse_args()
    main(arguments.sets, arguments.shares, arguments.shuffles)
