"""Labels of fixed problems: a patch release must not change them."""

import pytest
from golden.make_labels import LABELS, labels_of, problems
from sklearn.metrics import adjusted_rand_score

PROBLEMS = problems()
EXPECTED = dict(line.split(": ") for line in LABELS.read_text().splitlines())


@pytest.mark.parametrize("name", PROBLEMS)
def test_labels_are_those_of_the_golden_file(name):
    found = labels_of(*PROBLEMS[name])
    assert adjusted_rand_score(list(EXPECTED[name]), list(found)) >= 0.999


def test_every_golden_problem_is_compared():
    assert EXPECTED.keys() == PROBLEMS.keys()
