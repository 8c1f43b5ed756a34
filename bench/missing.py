"""Accuracy where samples lack views: rows of NaN, beside imputed rows.

Usage: python bench/missing.py [--shares .1 .3 .5] [--draws 3] [--sets NAME ...]
                               [--imputed NAME=MODULE:CLASS ...]

ACC of shuffled samples. Every entry of the table of samples and views is removed with the
probability given, but no sample's last view. "NaN" is ConsensusTLRR on views with rows of NaN.
"ridge" and "mean" are ConsensusTLRR on views whose missing rows are predicted from the other
views, or are the mean of the view. Any other class fits the views of "ridge" with --imputed.
"""

import argparse
import warnings

import numpy as np
from accuracy import named_class, with_error
from sets import TEN
from timing import print_table

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.views._missing import imputed

SETS = ["orl_3view", "yaleb10", "bbc4view", "handwritten (embedded)", "uci_digit"]


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


def run(name, share, draw, fits):
    """ACC of every way, by name."""
    views, y = TEN[name]()
    order = np.random.RandomState(draw).permutation(len(y))
    views, y = lacking([X[order] for X in views], share, draw), y[order]
    given = {"NaN": views, "ridge": imputed(views), "mean": by_mean(views)}
    out = {}
    for way, (make, kind) in fits.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = make(int(y.max()) + 1, random_state=draw).fit(given[kind]).labels_
        out[way] = clustering_scores(y, labels)["acc"]
    return out


def main(sets, shares, draws, further):
    fits = {kind: (ConsensusTLRR, kind) for kind in ("NaN", "ridge", "mean")}
    fits |= {f"{name} of ridge": (make, "ridge") for name, make in further}
    for share in shares:
        found = {name: [run(name, share, draw, fits) for draw in range(draws)] for name in sets}
        acc = {way: [np.mean([one[way] for one in found[name]]) for name in sets] for way in fits}
        rows = [[name, *(f"{acc[way][i]:.3f}" for way in fits)] for i, name in enumerate(sets)]
        rows.append(["mean", *(f"{np.mean(acc[way]):.3f}" for way in fits)])
        less = [with_error(np.subtract(acc[way], acc["NaN"])) for way in fits]
        rows.append(["less NaN, ± error over sets", *less])
        print(f"\n{100 * share:g} % of the rows missing\n")
        print_table(["data", *fits], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shares", nargs="*", type=float, default=[0.1, 0.3, 0.5])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=TEN, metavar="NAME")
    parser.add_argument("--imputed", nargs="*", type=named_class, default=[])
    given = parser.parse_args()
    main(given.sets, given.shares, given.draws, given.imputed)
