"""How many samples that are in the cluster of another class the smallest margins find.

Usage: python bench/margins.py [--sets NAME ...] [--max-samples 1000]

Three cases of each of sixteen sets: all samples, 80 % of them, and unequal clusters. Clusters and
classes are matched one to one; a sample whose cluster is not that of its class is misplaced. For
the least certain tenth of `explain`, and for fixed margins: the share of all samples that is
listed, the share of the misplaced samples that is in the list, and the share of the list that is
misplaced.
"""

import argparse
import sys
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from sets import SIXTEEN, case
from sklearn.metrics.cluster import contingency_matrix
from timing import NotAtHand, limit_threads, print_table

from mvsc_fast import ConsensusTLRR, explain

CASES = (0, 3, 6)
MARGINS = (0.1, 0.5, 0.9)


def misplaced(y, labels):
    """Which samples are in a cluster that is not that of their class."""
    table = contingency_matrix(y, labels)
    of_class, cluster = linear_sum_assignment(table, maximize=True)
    match = np.full(table.shape[1], -1)
    match[cluster] = of_class
    return match[np.unique(labels, return_inverse=True)[1]] != np.unique(y, return_inverse=True)[1]


def shares(views, y):
    """Share that is misplaced, and three shares for each list."""
    model = ConsensusTLRR(len(np.unique(y)), random_state=0, n_threads=1).fit(views)
    found = explain(model, views)
    wrong = misplaced(y, model.labels_)
    lists = [np.isin(found.samples, found.uncertain), *(found.margin < one for one in MARGINS)]
    for own in lists:
        both = (own & wrong).sum()
        yield own.mean(), both / max(wrong.sum(), 1), both / max(own.sum(), 1)


def main(names, max_samples):
    rows = []
    for name in names:
        try:
            views, y = SIXTEEN[name]()
        except NotAtHand as absent:
            print(f"{name} is skipped: {absent}", file=sys.stderr)
            continue
        for number in CASES:
            chosen = case(name, y, number)[0][:max_samples]
            rows.append([name, *shares([X[chosen] for X in views], y[chosen])])
            print(
                name,
                number,
                *(" ".join(f"{x:.2f}" for x in own) for own in rows[-1][1:]),
                sep="   ",
                file=sys.stderr,
            )
    lists = ["least certain tenth", *(f"margin < {one:g}" for one in MARGINS)]
    means = np.mean([row[1:] for row in rows], axis=0)
    table = [[one, *(f"{x:.2f}" for x in mean)] for one, mean in zip(lists, means, strict=True)]
    print_table(["list", "listed", "of the misplaced", "of the list"], table)
    print(f"\nMeans over {len(rows)} cases.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", choices=SIXTEEN, default=[*SIXTEEN], metavar="NAME")
    parser.add_argument("--max-samples", type=int, default=1000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of views that do not agree on a few samples
    with limit_threads(1):
        main(arguments.sets, arguments.max_samples)
