"""Accuracy of default settings on shuffled samples, beside spectral baselines.

Usage: python bench/accuracy.py [--shuffles 3] [--seeds 1] [DATA ...]

ACC, mean ± standard deviation over the shuffles of the samples, each with a random_state of its own
(labels do not depend on the order), and over --seeds further ones.
All baselines are normalised-cut spectral clustering of self-tuning nearest-neighbour graphs of
samples scaled to unit length in every view. The best single view is chosen with the labels, which
no user has.
"""

import argparse
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize
from timing import load_shared, print_table, stopwatch

from mvsc_fast import TLRR, ConsensusTLRR, datasets, graphs
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.spectral import spectral_labels

SETS = ["yaleb10", "orl_3view", "orl_4view", "yale_3view", "ngs", "bbc4view", "scene15 (1500)",
        "uci_digit", "handwritten (embedded)", "digits (scikit-learn)"]  # fmt: skip
METHODS = ["ConsensusTLRR", "TLRR", "best single view", "averaged graph", "concatenated"]


def load(name, seed):
    """Views and labels, samples shuffled by the seed."""
    if name.startswith("digits"):
        views, y = digits_views()
    elif name.startswith("handwritten"):
        views, y = datasets.load_handwritten()
    else:
        views, y = load_shared(name.split()[0])
    order = np.random.RandomState(seed).permutation(len(y))
    if "(1500)" in name:
        order = order[:1500]
    return [X[order] for X in views], y[order]


def digits_views():
    """The digits of scikit-learn as pixels, Fourier magnitudes, and sums of rows and columns."""
    X, y = load_digits(return_X_y=True)
    images = X.reshape(-1, 8, 8)
    frequencies = np.abs(np.fft.rfft2(images)).reshape(len(X), -1)
    return [X, frequencies, np.hstack([images.sum(axis=1), images.sum(axis=2)])], y


def labellings(views, k, seed):
    """(method, labels, seconds) of all methods."""
    unit = [normalize(np.asarray(X, dtype=np.float64)) for X in views]
    for estimator in (ConsensusTLRR, TLRR):
        model = estimator(k, random_state=seed)
        seconds, labels = stopwatch(model.fit_predict, views)
        yield estimator.__name__, labels, seconds

    def baseline(name, affinity):
        seconds, (labels, _) = stopwatch(spectral_labels, affinity, k, random_state=seed)
        return name, labels, seconds

    W = graphs.knn(unit)
    for A in W:
        yield baseline("best single view", A)
    yield baseline("averaged graph", W.mean(axis=0))
    yield baseline("concatenated", graphs.knn([np.hstack(unit)])[0])


def run(name, shuffle, seed):
    """ACC of every method, the best view's for single views, NMI of the first, and seconds."""
    views, y = load(name, shuffle)
    acc, nmi, seconds = dict.fromkeys(METHODS, 0.0), {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, labels, took in labellings(views, len(np.unique(y)), shuffle + 1000 * seed):
            scores = clustering_scores(y, labels)
            acc[method] = max(acc[method], scores["acc"])
            nmi[method], seconds[method] = scores["nmi"], took
    return acc, nmi, seconds, len(y), len(views)


def spread(values):
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def main(names, shuffles, seeds):
    rows, means = [], {method: [] for method in METHODS}
    for name in names or SETS:
        runs = [run(name, shuffle, seed) for shuffle in range(shuffles) for seed in range(seeds)]
        acc = {method: [one[0][method] for one in runs] for method in METHODS}
        for method in METHODS:
            means[method].append(np.mean(acc[method]))
        seconds = [f"{np.median([one[2][method] for one in runs]):.1f}" for method in METHODS[:2]]
        nmi = f"{np.mean([one[1]['ConsensusTLRR'] for one in runs]):.3f}"
        rows.append([name, *runs[0][3:], *map(spread, acc.values()), nmi, *seconds])
    rows.append(["mean", "", "", *(f"{np.mean(means[m]):.3f}" for m in METHODS), "", "", ""])
    header = ["data", "n", "views", *METHODS, "NMI of ConsensusTLRR", "its seconds", "TLRR's"]
    print_table(header, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="DATA")
    parser.add_argument("--shuffles", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    main(arguments.names, arguments.shuffles, arguments.seeds)
