"""Accuracies on data that scikit-learn and this package contain, and labels that stay."""

import numpy as np
import pytest
from golden.make_labels import LABELS, labels_of, problems
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.metrics import clustering_scores


def scaled(load):
    X, y = load(return_X_y=True)
    return [scale(X)], y


SETS = {
    "handwritten": (datasets.load_handwritten, 0.97),
    "digits": (lambda: ([load_digits().data], load_digits().target), 0.87),
    "wine": (lambda: scaled(load_wine), 0.95),
    "breast cancer": (lambda: scaled(load_breast_cancer), 0.91),
}


@pytest.mark.parametrize(("load", "bar"), SETS.values(), ids=SETS)
@pytest.mark.slow
def test_shuffled_samples(load, bar):
    views, y = load()
    order = np.random.RandomState(0).permutation(len(y))
    model = ConsensusTLRR(len(np.unique(y)), random_state=0).fit([X[order] for X in views])
    assert clustering_scores(y[order], model.labels_)["acc"] >= bar


# A patch release must not change these labels.
PROBLEMS = problems()
EXPECTED = dict(line.split(": ") for line in LABELS.read_text().splitlines())


@pytest.mark.parametrize("name", PROBLEMS)
def test_labels_are_those_of_the_golden_file(name):
    labels = labels_of(*PROBLEMS[name])
    assert adjusted_rand_score(list(EXPECTED[name]), list(labels)) >= 0.999
