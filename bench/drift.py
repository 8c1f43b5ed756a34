"""How many new samples are unlike the fitted ones, and how many if one view fails.

Usage: python bench/drift.py [--sets NAME ...] [--max-samples 1500]

One half of each set is fitted, the other is new. Its first view is left as it is, gets the rows of
other samples, is stuck at its mean, is replaced by Gaussian noise of the same means and deviations,
or gets other units (columns are multiplied by log-normal numbers). For each: the share of the new
samples whose residual is larger than that of .95 of the fitted ones, in bold where `predict` warns,
and the adjusted Rand index of the predicted labels with the classes.
"""

import argparse
import sys
import warnings

import numpy as np
import scipy.sparse
from sets import SIXTEEN
from sklearn.metrics import adjusted_rand_score
from timing import NotAtHand, limit_threads, print_table

from mvsc_fast import ConsensusTLRR

CHANGES = {
    "as in fit": lambda X, rng: X,
    "of other samples": lambda X, rng: rng.permutation(X),
    "stuck": lambda X, rng: np.full_like(X, X.mean()),
    "noise": lambda X, rng: X.mean(axis=0) + X.std(axis=0) * rng.standard_normal(X.shape),
    "other units": lambda X, rng: X * rng.lognormal(size=X.shape[1]),
}


def halves(name, max_samples):
    """Views of the fit and new ones, dense, and the classes of the new samples."""
    views, y = SIXTEEN[name]()
    order = np.random.RandomState(1).permutation(len(y))[:max_samples]
    views = [X.toarray() if scipy.sparse.issparse(X) else X for X in views]
    fitted, new = ([X[rows] for X in views] for rows in (order[::2], order[1::2]))
    return fitted, new, len(np.unique(y)), y[order[1::2]]


def shares(name, max_samples):
    """A cell for each change."""
    fitted, (first, *others), c, y = halves(name, max_samples)
    model = ConsensusTLRR(c, random_state=0, n_threads=1).fit(fitted)
    for change in CHANGES.values():
        new = [np.ascontiguousarray(change(first, np.random.RandomState(0))), *others]
        unlike = []
        labels = model.predictor_(new, unlike=unlike)
        ((far, m),) = unlike
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model.predictor_.warn_of_unlike(unlike)
        share = f"**{far / m:.2f}**" if warned else f"{far / m:.2f}"
        yield f"{share} ({adjusted_rand_score(y, labels):.2f})"


def main(names, max_samples):
    rows = []
    for name in names:
        try:
            rows.append([name, *shares(name, max_samples)])
        except NotAtHand as absent:
            print(f"{name} is skipped: {absent}", file=sys.stderr)
    print_table(["data", *CHANGES], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", choices=SIXTEEN, default=[*SIXTEEN], metavar="NAME")
    parser.add_argument("--max-samples", type=int, default=1500)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of views that do not agree on a few samples
    with limit_threads(1):
        main(arguments.sets, arguments.max_samples)
