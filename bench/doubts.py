"""How often a fit warns that its clusters are no better than those of noise.

Usage: python bench/doubts.py [--draws 3]

Four families: the sixteen sets; Gaussian groups of equal and of unequal sizes at several distances
in two views of 20 columns; and 300 samples of noise, in 2, 4 and 8 clusters. Right are labels with
an adjusted Rand index (ARI) of at least .9 with the groups. Of right labels, and of the sets, no
fit should warn.
"""

from itertools import product

import numpy as np
from families import unequal_clusters
from sets import SIXTEEN, at_hand, shuffled
from sklearn.metrics import adjusted_rand_score
from structure import NOISE, doubts
from timing import print_table, report, run

RIGHT = 0.9
GROUPS = {  # distances and sizes
    "equal groups": ((3, 4, 6), ((33,) * 3, (100,) * 3, (50,) * 8)),
    "unequal groups": (
        (4, 5, 8),
        (
            (940, 50, 10),
            (800, 150, 50),
            (150, 10, 5),
            (300, 300, 300, 20),
            (480, *(18,) * 7),
            (558, *(6,) * 7),
        ),
    ),
}


def problems(draws):
    """Family, views, classes and number of clusters."""
    for _, (views, y) in at_hand(SIXTEEN, shuffled):
        yield "sixteen sets", views, y, len(np.unique(y))
    for family, (distances, choices) in GROUPS.items():
        for distance, sizes, seed in product(distances, choices, range(draws)):
            views = unequal_clusters(np.random.default_rng(seed), sizes, distance)
            yield family, views, np.repeat(range(len(sizes)), sizes), len(sizes)
    for make, c, seed in product(NOISE.values(), (2, 4, 8), range(draws)):
        yield "noise", make(np.random.default_rng(seed), 300), None, c


def kind(family, labels, y):
    """The row of a fit in the table."""
    if y is None or family == "sixteen sets":
        return family
    right = adjusted_rand_score(y, labels) >= RIGHT
    return f"{family}, {'right' if right else 'wrong'}"


def main(draws):
    marks = {}
    for family, views, y, c in problems(draws):
        model, warned = doubts(views, c)
        marks.setdefault(kind(family, model.labels_, y), []).append(warned)
        report(family, c, warned)
    rows = [[name, len(each), sum(each)] for name, each in marks.items()]
    print_table("labels | fits | as noise", rows)


if __name__ == "__main__":
    run(main, __doc__, draws=3)
