"""Accuracy of TLRR against the number of neighbours, for two affinities.

Usage: python bench/neighbors.py [--sets yaleb10 ...]

ACC of shuffled samples, at most 500 of each set. The similarities are those of the default, and
for yaleb10 also the tensor of t-SVD-MSC (lam .5, DFT) in file order, which the paper uses.
"""

import numpy as np
from sets import shuffled
from timing import load_shared, print_table, run

from mvsc_fast import TLRR
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.metrics import clustering_scores

NEIGHBORS = (4, 6, 10, 15, 21)
SETS = ["yaleb10", "orl_3view", "yale_3view", "ngs", "bbc4view", "handwritten (embedded)"]
AT_MOST = 500


def accuracies(views, y, affinity="self_representation"):
    for n_neighbors in NEIGHBORS:
        model = TLRR(len(np.unique(y)), affinity=affinity, n_neighbors=n_neighbors, random_state=0)
        yield clustering_scores(y, model.fit_predict(views))["acc"]


def main(sets):
    rows = []
    for name in sets:
        rows.append([name, *accuracies(*shuffled(name, AT_MOST))])
    rows.append(["mean", *np.mean([row[1:] for row in rows], axis=0)])
    views, y = load_shared("yaleb10")
    affinity = TSVDMSC(len(np.unique(y)), lam=0.5, sample_transform="dft")
    rows.append(["yaleb10, t-SVD-MSC", *accuracies(views, y, affinity)])
    print_table(
        ["n_neighbors", *NEIGHBORS], [[name, *(f"{x:.3f}" for x in acc)] for name, *acc in rows]
    )


if __name__ == "__main__":
    run(main, __doc__, n_threads=None, sets=SETS)
