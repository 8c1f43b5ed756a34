"""What `label_predictability` can choose: the accuracy of the labellings that it prefers.

Usage: python bench/choices.py [--sets NAME ...] [--max-samples 300]

For each of sixteen sets, the most predictable labelling of several: all views and all but one,
five numbers of neighbours of TLRR, and three methods. Predictability is that in all views, also for
labels from some of them. The table has the mean accuracy of the first of each list (the default),
of a random one, of the chosen and of the best one, and the mean difference of the chosen from the
default, with its standard error over the sets.
"""

import argparse
import sys
import warnings

import numpy as np
from sets import SIXTEEN, shuffled
from timing import NotAtHand, limit_threads, print_table

from mvsc_fast import TLRR, ConsensusTLRR, label_predictability
from mvsc_fast.methods import AWP
from mvsc_fast.metrics import clustering_scores

NEIGHBORS = (None, 6, 11, 21, 42)  # the first is the default


def consensus(c):
    return ConsensusTLRR(c, random_state=0, n_threads=1)


def choices(views, c):
    """Labellings to choose from, the default first, by what differs."""
    default = consensus(c).fit_predict(views)
    tlrr = [
        TLRR(c, **({} if d is None else {"n_neighbors": d}), random_state=0).fit_predict(views)
        for d in NEIGHBORS
    ]
    if len(views) > 1:
        without = [[*views[:i], *views[i + 1 :]] for i in range(len(views))]
        yield "views", [default, *(consensus(c).fit_predict(some) for some in without)]
    yield "neighbours of TLRR", tlrr
    yield "methods", [default, tlrr[0], AWP(c, random_state=0).fit_predict(views)]


def main(names, max_samples):
    rows = {}
    for name in names:
        try:
            views, y = shuffled(name)
        except NotAtHand as absent:
            print(f"{name} is skipped: {absent}", file=sys.stderr)
            continue
        views, y = [X[:max_samples] for X in views], y[:max_samples]
        for what, labellings in choices(views, len(np.unique(y))):
            acc = np.array([clustering_scores(y, labels)["acc"] for labels in labellings])
            chosen = acc[np.argmax(label_predictability(views, labellings))]
            rows.setdefault(what, []).append((acc[0], acc.mean(), chosen, acc.max()))
            print(name, what, *np.round(rows[what][-1], 3), sep="   ", file=sys.stderr, flush=True)
    table = []
    for what, found in rows.items():
        found = np.array(found)
        gain = found[:, 2] - found[:, 0]
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        means = [f"{one:.3f}" for one in found.mean(axis=0)]
        table.append([what, *means, f"{gain.mean():+.3f} ± {error:.3f}"])
    heads = ["chosen among", "default", "random", "chosen", "best", "chosen - default"]
    print_table(heads, table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", choices=SIXTEEN, default=[*SIXTEEN], metavar="NAME")
    parser.add_argument("--max-samples", type=int, default=300)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of views that do not agree on a few samples
    with limit_threads(1):
        main(arguments.sets, arguments.max_samples)
