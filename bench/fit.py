"""CPU seconds of default fits of up to 2000 samples, with their stages, beside scikit-learn.

Usage: python bench/fit.py [--sets NAME ...] [--repeats 3]

Seconds are medians; "/ evd" divides CPU seconds by one dense LAPACK eigendecomposition (divide and
conquer) of the same n, in turn with the fits. All run on one thread, and for the last wall seconds
on two. Stages are those that a callback receives; "/ scikit-learn" divides a fit by the seconds of
the views side by side. scikit-learn's SpectralClustering gets graphs of the 15 nearest unit rows:
of the views side by side, and the mean of one for each view.
"""

import time

import numpy as np
import scipy.linalg
from sklearn.cluster import SpectralClustering
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize
from timing import cpu_seconds, limit_threads, load_shared, print_table, run, stopwatch

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SETS = ["yale_3view", "orl_3view", "yaleb10", "bbc4view", "uci_digit", "handwritten"]
NEIGHBORS = 15


def spectral(units, k):
    """scikit-learn's clusters of the mean of a graph of nearest neighbours for each array."""
    A = sum(kneighbors_graph(U, NEIGHBORS, include_self=True) for U in units) / len(units)
    return SpectralClustering(k, affinity="precomputed", random_state=0).fit((A + A.T) / 2)


def concatenated(views, k, n_threads):
    return spectral([np.hstack([normalize(X) for X in views])], k)


def averaged(views, k, n_threads):
    return spectral([normalize(X) for X in views], k)


def consensus(views, k, n_threads):
    """A model, with the CPU seconds of its ``stages``."""
    begun = [("views", time.process_time())]

    def note(state):
        if state.iteration == 0:
            begun.append((state.stage, time.process_time()))

    model = ConsensusTLRR(k, random_state=0, n_threads=n_threads, callback=note).fit(views)
    stages, starts = zip(*begun, strict=True)
    model.stages = dict(zip(stages, np.diff([*starts, time.process_time()]), strict=True))
    return model


FITS = {
    "ConsensusTLRR": consensus,
    "scikit-learn, concatenated": concatenated,
    "scikit-learn, averaged": averaged,
}


def eigendecomposition(n):
    A = np.random.default_rng(0).standard_normal((n, n))
    A += A.T
    return cpu_seconds(scipy.linalg.eigh, A, driver="evd", overwrite_a=True, check_finite=False)[0]


def main(sets, repeats):
    rows, stages, medians = [], {}, {}
    for name in sets:
        views, y = load_shared(name, seed=0)
        views = [np.asarray(X, dtype=np.float64) for X in views]
        n, k = len(y), len(np.unique(y))
        runs, with_two, evd = {title: [] for title in FITS}, {title: [] for title in FITS}, []
        for _ in range(repeats):
            evd.append(eigendecomposition(n))
            for title, fit in FITS.items():
                runs[title].append(stopwatch(cpu_seconds, fit, views, k, 1))
                with limit_threads(2):
                    with_two[title].append(stopwatch(fit, views, k, 2)[0])
        for title, each in runs.items():
            wall, pairs = zip(*each, strict=True)
            walls = f"{np.median(wall):.2f} | {np.median(with_two[title]):.2f}"
            seconds, model = np.median([pair[0] for pair in pairs]), pairs[-1][1]
            acc = clustering_scores(y, model.labels_)["acc"]
            cpu = f"{seconds:.2f} | {seconds / np.median(evd):.1f}"
            rows.append(f"{name} | {n} | {title} | {cpu} | {walls} | {acc:.3f}")
            medians.setdefault(title, {})[name] = seconds
            for stage in getattr(model, "stages", []):
                part = np.median([pair[1].stages[stage] for pair in pairs])
                stages.setdefault((title, stage), {})[name] = f"{part:.3f}"
    print_table("data | n | fit | CPU s | / evd | s | s, two threads | ACC", rows)
    print()
    rows = [[*key, *(row.get(name, "") for name in sets)] for key, row in stages.items()]
    plain = medians.pop("scikit-learn, concatenated")
    for title, row in medians.items():
        rows.append([title, "/ scikit-learn", *(f"{row[x] / plain[x]:.1f}" for x in sets)])
    print_table(["fit", "stage", *sets], rows)


if __name__ == "__main__":
    run(main, __doc__, sets=SETS, repeats=3)
