"""What `label_predictability` can choose: the accuracy of the labellings that it prefers.

Usage: python bench/choices.py [--sets NAME ...] [--max-samples 300]

For each of sixteen sets, the most predictable labelling of several: all views and all but one,
five numbers of neighbours of TLRR, and three methods. Predictability is that in all views, also for
labels from some of them. The table has the mean accuracy of the first of each list (the default),
of a random one, of the chosen and of the best one, and the mean difference of the chosen from the
default, with its standard error over the sets.
"""

import numpy as np
from sets import SIXTEEN, at_hand, shuffled
from timing import print_table, report, run, with_error

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
        yield "views", [default, *(consensus(c).fit_predict(part) for part in without)]
    yield "neighbours of TLRR", tlrr
    yield "methods", [default, tlrr[0], AWP(c, random_state=0).fit_predict(views)]


def main(sets, max_samples):
    rows = {}
    for name, (views, y) in at_hand(sets, lambda name: shuffled(name, max_samples)):
        for what, labellings in choices(views, len(np.unique(y))):
            acc = np.array([clustering_scores(y, labels)["acc"] for labels in labellings])
            chosen = acc[np.argmax(label_predictability(views, labellings))]
            rows.setdefault(what, []).append((acc[0], acc.mean(), chosen, acc.max()))
            report(name, what, *np.round(rows[what][-1], 3))
    table = []
    for what, accuracies in rows.items():
        accuracies = np.array(accuracies)
        gain = accuracies[:, 2] - accuracies[:, 0]
        means = [f"{mean:.3f}" for mean in accuracies.mean(axis=0)]
        table.append([what, *means, with_error(gain)])
    print_table("chosen among | default | random | chosen | best | chosen - default", table)


if __name__ == "__main__":
    run(main, __doc__, sets=[*SIXTEEN], max_samples=300)
