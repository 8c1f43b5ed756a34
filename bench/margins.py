"""How many samples that are in the cluster of another class the least certain samples contain.

Usage: python bench/margins.py [--sets NAME ...] [--max-samples 1000]

Three cases of each of sixteen sets: all samples, 80 % of them, and unequal clusters. Clusters and
classes are matched one to one; a sample whose cluster is not that of its class is misplaced. The
first table compares what orders the samples: the area under the ROC curve of misplaced samples, and
for the least certain tenth the share of the misplaced samples that it contains, and its share of
misplaced ones. The second has the share of misplaced samples by certainty, and that predicted by
isotonic regression on the other fifteen sets. All are means over sets, with standard errors.
"""

import argparse
import sys
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from sets import SIXTEEN, case
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from timing import NotAtHand, limit_threads, print_table

from mvsc_fast import ConsensusTLRR, explain

CASES = (0, 3, 6)
BOUNDS = (0.2, 0.4, 0.6, 0.8, 0.95, np.inf)
ORDERS = {
    "margin": lambda found: found.margin,
    "share of candidates that agree": lambda found: 2 * found.certainty - found.margin,
    "certainty, the mean of both": lambda found: found.certainty,
}


def misplaced(y, labels):
    """Which samples are in a cluster that is not that of their class."""
    table = contingency_matrix(y, labels)
    of_class, cluster = linear_sum_assignment(table, maximize=True)
    match = np.full(table.shape[1], -1)
    match[cluster] = of_class
    return match[np.unique(labels, return_inverse=True)[1]] != np.unique(y, return_inverse=True)[1]


def ordered(values, wrong):
    """Area under the ROC curve, and the two shares of the tenth with the smallest values."""
    least = np.argsort(values, kind="stable")[: len(values) // 10]
    found = wrong[least].sum()
    return roc_auc_score(wrong, -values), found / wrong.sum(), found / len(least)


def mean_and_error(values):
    values = np.array(values)
    return f"{values.mean():.2f} ± {values.std() / np.sqrt(len(values)):.2f}"


def cases_of(name, max_samples):
    """(explanation, which samples are misplaced) of each case of a set."""
    views, y = SIXTEEN[name]()
    for number in CASES:
        chosen = case(name, y, number)[0][:max_samples]
        given, classes = [X[chosen] for X in views], y[chosen]
        model = ConsensusTLRR(len(np.unique(classes)), random_state=0, n_threads=1).fit(given)
        wrong = misplaced(classes, model.labels_)
        print(name, number, f"{wrong.mean():.2f}", sep="   ", file=sys.stderr)
        yield explain(model, given), wrong


def compared(by_set):
    for title, values in ORDERS.items():
        rows = [
            np.mean(
                [ordered(values(found), wrong) for found, wrong in cases if wrong.any()], axis=0
            )
            for cases in by_set.values()
            if any(wrong.any() for _, wrong in cases)
        ]
        yield [title, *map(mean_and_error, zip(*rows, strict=True))]


def calibrated(by_set):
    """Certainty, share of the samples, share of misplaced ones, and that predicted."""
    joined = {
        name: [
            np.concatenate(parts)
            for parts in zip(*((e.certainty, w) for e, w in cases), strict=True)
        ]
        for name, cases in by_set.items()
    }
    own = {bound: [] for bound in BOUNDS}
    for name, (certainty, wrong) in joined.items():
        others = [pair for other, pair in joined.items() if other != name]
        curve = IsotonicRegression(increasing=False, out_of_bounds="clip")
        weights = np.concatenate([np.full(len(w), 1 / len(w)) for _, w in others])
        curve.fit(*(np.concatenate(parts) for parts in zip(*others, strict=True)), weights)
        bins = np.searchsorted(BOUNDS, certainty, side="right")
        for i, bound in enumerate(BOUNDS):
            here = bins == i
            if here.any():
                predicted = curve.predict(certainty[here]).mean()
                own[bound].append([here.mean(), wrong[here].mean(), predicted])
    low = -0.5
    for bound, rows in own.items():
        listed, *both = zip(*rows, strict=True)
        title = f"above {low:g}" if np.isinf(bound) else f"{low:g} to {bound:g}"
        yield [title, f"{np.sum(listed) / len(joined):.2f}", *map(mean_and_error, both)]
        low = bound


def main(names, max_samples):
    by_set = {}
    for name in names:
        try:
            by_set[name] = list(cases_of(name, max_samples))
        except NotAtHand as absent:
            print(f"{name} is skipped: {absent}", file=sys.stderr)
    titles = ["order of the samples", "area", "of the misplaced", "of the least certain tenth"]
    print_table(titles, list(compared(by_set)))
    print()
    titles = ["certainty", "samples", "misplaced", "predicted from the other sets"]
    print_table(titles, list(calibrated(by_set)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", choices=SIXTEEN, default=[*SIXTEEN], metavar="NAME")
    parser.add_argument("--max-samples", type=int, default=1000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of views that do not agree on a few samples
    with limit_threads(1):
        main(arguments.sets, arguments.max_samples)
