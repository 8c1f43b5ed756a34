"""How often a fit warns that its clusters are no better than those of noise.

Usage: python bench/doubts.py [--draws 3]

Four families: the sixteen sets; Gaussian groups of equal and of unequal sizes at several distances
in two views of 20 columns; and 300 samples of noise, in 2, 4 and 8 clusters. Right are labels with
an adjusted Rand index (ARI) of at least .9 with the groups. Of right labels, and of the sets, no
fit should warn.
"""

import numpy as np
from families import unequal_clusters
from sets import SIXTEEN, at_hand, shuffled
from sklearn.metrics import adjusted_rand_score
from structure import NOISE, doubts
from timing import print_table, report, run

RIGHT = 0.9
EQUAL = ((33,) * 3, (100,) * 3, (50,) * 8)
UNEQUAL = (
    (940, 50, 10),
    (800, 150, 50),
    (150, 10, 5),
    (300, 300, 300, 20),
    (480, *(18,) * 7),
    (558, *(6,) * 7),
)


def sets(draws):
    for name, (views, y) in at_hand(SIXTEEN, shuffled):
        yield name, views, y, len(np.unique(y))


def groups(draws, choices, distances):
    for distance in distances:
        for sizes in choices:
            y = np.repeat(range(len(sizes)), sizes)
            for seed in range(draws):
                views = unequal_clusters(np.random.default_rng(seed), sizes, distance)
                yield f"{sizes} at distance {distance}", views, y, len(sizes)


def noise(draws):
    for name, make in NOISE.items():
        for c in (2, 4, 8):
            for seed in range(draws):
                yield f"{name}, {c} clusters", make(np.random.default_rng(seed), 300), None, c


FAMILIES = {
    "sixteen sets": sets,
    "equal groups": lambda draws: groups(draws, EQUAL, (3, 4, 6)),
    "unequal groups": lambda draws: groups(draws, UNEQUAL, (4, 5, 8)),
    "noise": noise,
}


def kind(family, labels, y):
    """The row of a fit in the table."""
    if y is None or family == "sixteen sets":
        return family
    right = adjusted_rand_score(y, labels) >= RIGHT
    return f"{family}, {'right' if right else 'wrong'}"


def main(draws):
    marks = {}
    for family, cases in FAMILIES.items():
        for name, views, y, c in cases(draws):
            model, warned = doubts(views, c)
            marks.setdefault(kind(family, model.labels_, y), []).append(warned)
            report(name, len(model.labels_), warned)
    rows = [[name, len(each), sum(each)] for name, each in marks.items()]
    print_table("labels | fits | as noise", rows)


if __name__ == "__main__":
    run(main, __doc__, draws=3)
