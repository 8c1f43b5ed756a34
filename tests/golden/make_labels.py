"""Write labels.txt: the labels of fixed problems, one line for each problem and method.

A change of labels.txt is a commit of its own, whose message says why labels change, with the
accuracy before and after: ``python tests/golden/make_labels.py``.
"""

import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale

from mvsc_fast import ConsensusTLRR, datasets, methods

LABELS = Path(__file__).with_name("labels.txt")
DIGITS = "0123456789"


def halves(X):
    return [X[:, : X.shape[1] // 2], X[:, X.shape[1] // 2 :]]


def problems():
    """Pairs of an estimator and its views, by name."""
    rows = np.random.RandomState(0).permutation(2000)[:300]
    handwritten = [X[rows] for X in datasets.load_handwritten()[0]]
    digits = load_digits().data[np.random.RandomState(1).permutation(1797)[:400]]
    gappy, _ = datasets.make_multiview_subspaces(500, 5, noise=0.6, random_state=1)
    gappy[1][::7] = gappy[2][3::5] = np.nan
    subsample = ConsensusTLRR(5, max_samples=300, random_state=0)
    found = {
        "handwritten": (ConsensusTLRR(10, random_state=0), handwritten),
        "digits": (ConsensusTLRR(10, random_state=0), halves(digits)),
        "wine": (ConsensusTLRR(3, random_state=0), halves(scale(load_wine().data))),
        "missing rows, subsample": (subsample, gappy),
    }
    small, _ = datasets.make_multiview_subspaces(60, 3, noise=0.7, random_state=2)
    for name, estimator in methods.ESTIMATORS.items():
        found[name] = (estimator(3, random_state=0), small)
    return found


def labels_of(model, views):
    """Labels of a fit as text, one digit for each sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # methods that stop at max_iter
        return "".join(DIGITS[label] for label in model.fit(views).labels_)


if __name__ == "__main__":
    lines = [f"{name}: {labels_of(*problem)}" for name, problem in problems().items()]
    LABELS.write_text("\n".join(lines) + "\n")
