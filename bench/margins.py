"""How many samples that are in the cluster of another class the least certain samples contain.

Usage: python bench/margins.py [--sets NAME ...] [--max-samples 1000]

Three cases of each of sixteen sets: all samples, 80 % of them, and unequal clusters. Clusters and
classes are matched one to one; a sample whose cluster is not that of its class is misplaced. The
first table compares what orders the samples: the area under the ROC curve of misplaced samples, and
for the least certain tenth the share of the misplaced samples that it contains, and its share of
misplaced ones. The second has the share of misplaced samples by certainty. All are means over sets,
with standard errors.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sets import SIXTEEN, at_hand, case
from sklearn.metrics import roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from timing import print_table, run, with_error

from mvsc_fast import ConsensusTLRR, explain

CASES = (0, 3, 6)
BOUNDS = (0.2, 0.4, 0.6, 0.8, 0.95, np.inf)
ORDERS = {
    "margin": lambda explanation: explanation.samples["margin"],
    "share of candidates that agree": lambda explanation: (
        2 * explanation.samples["certainty"] - explanation.samples["margin"]
    ),
    "certainty, the mean of both": lambda explanation: explanation.samples["certainty"],
}


def misplaced(y, labels):
    """Which samples are in a cluster that is not that of their class."""
    table = contingency_matrix(y, labels)
    of_class, cluster = linear_sum_assignment(table, maximize=True)
    match = np.full(labels.max() + 1, -1)  # the class of each cluster, -1 without one
    match[np.unique(labels)[cluster]] = of_class
    return match[labels] != np.unique(y, return_inverse=True)[1]


def ordered(values, wrong):
    """Area under the ROC curve, and the two shares of the tenth with the smallest values."""
    least = np.argsort(values, kind="stable")[: len(values) // 10]
    count = wrong[least].sum()
    return roc_auc_score(wrong, -values), count / wrong.sum(), count / len(least)


def cases_of(name, views, y, max_samples):
    """(explanation, which samples are misplaced) of each case of a set."""
    for number in CASES:
        chosen = case(name, y, number)[0][:max_samples]
        subset, classes = [X[chosen] for X in views], y[chosen]
        model = ConsensusTLRR(len(np.unique(classes)), random_state=0, n_threads=1).fit(subset)
        wrong = misplaced(classes, model.labels_)
        yield explain(model, subset), wrong


def compared(by_set):
    for title, values in ORDERS.items():
        rows = []
        for cases in by_set.values():
            shares = [ordered(values(case), wrong) for case, wrong in cases if wrong.any()]
            if shares:
                rows.append(np.mean(shares, axis=0))
        yield [title, *(with_error(column, digits=2) for column in zip(*rows, strict=True))]


def calibrated(by_set):
    """Interval of certainty, share of the samples in it, and share of these that are misplaced."""
    intervals = {bound: [] for bound in BOUNDS}
    for cases in by_set.values():
        certainty = np.concatenate([explanation.samples["certainty"] for explanation, _ in cases])
        wrong = np.concatenate([wrong for _, wrong in cases])
        bins = np.searchsorted(BOUNDS, certainty, side="right")
        for i, bound in enumerate(BOUNDS):
            if (bins == i).any():
                intervals[bound].append([np.mean(bins == i), wrong[bins == i].mean()])
    low = -0.5
    for bound, shares in intervals.items():
        if shares:
            listed, misplaced_share = zip(*shares, strict=True)
            title = f"above {low:g}" if np.isinf(bound) else f"{low:g} to {bound:g}"
            yield [title, f"{sum(listed) / len(by_set):.2f}", with_error(misplaced_share, digits=2)]
        low = bound


def main(sets, max_samples):
    by_set = {
        name: list(cases_of(name, views, y, max_samples)) for name, (views, y) in at_hand(sets)
    }
    titles = ["order of the samples", "area", "of the misplaced", "of the least certain tenth"]
    print_table(titles, list(compared(by_set)))
    print()
    print_table("certainty | samples | misplaced", list(calibrated(by_set)))


if __name__ == "__main__":
    run(main, __doc__, sets=[*SIXTEEN], max_samples=1000)
