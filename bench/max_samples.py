"""Accuracy of ConsensusTLRR against the number of samples that are clustered.

Usage: python bench/max_samples.py [--draws 2] [--data sensors ...] [--sizes 500 ...]

Mean ARI, over draws, of the labels of all samples; those beyond max_samples are predicted.
Simulated families (`families.py`) have 40 000 samples, sets all that they have, in a shuffled
order. The last row has mean CPU seconds of what has a cell for each size.
"""

from functools import partial

import numpy as np
from families import lobes, sensors, subspaces
from sklearn.metrics import adjusted_rand_score
from timing import cpu_seconds, load_shared, print_table, run

from mvsc_fast import ConsensusTLRR

SIZES = (500, 1000, 2000, 4000, 10_000)
TOTAL = 40_000
DATA = {
    "sensors": partial(sensors, TOTAL),
    "lobes": partial(lobes, TOTAL),
    "subspaces": partial(subspaces, TOTAL),
    "hdigit": partial(load_shared, "hdigit"),
    "scene15": partial(load_shared, "scene15"),
}


def measure(views, y, size, draw):
    """ARI and CPU seconds of one fit."""
    model = ConsensusTLRR(int(y.max()) + 1, max_samples=size, random_state=draw, n_threads=1)
    seconds, labels = cpu_seconds(model.fit_predict, views)
    return adjusted_rand_score(y, labels), seconds


def main(data, sizes, draws):
    rows, seconds = [], []
    for name in data:
        results = []
        for draw in range(draws):
            views, y = DATA[name](seed=draw)
            fitted = [size for size in sizes if size < 2 * len(y)]
            results.append([measure(views, y, size, draw) for size in fitted])
        scores, spent = np.mean(results, axis=0).T
        row = [*(f"{score:.3f}" for score in scores), *[""] * (len(sizes) - len(scores))]
        rows.append([name, len(y), y.max() + 1, *row])
        if len(scores) == len(sizes):
            seconds.append(spent)
    if seconds:
        rows.append(["CPU s", "", "", *(f"{second:.1f}" for second in np.mean(seconds, axis=0))])
    print_table(["data", "samples", "clusters", *map(str, sizes)], rows)


if __name__ == "__main__":
    run(main, __doc__, data=[*DATA], sizes=SIZES, draws=2)
