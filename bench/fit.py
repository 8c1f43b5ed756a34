"""CPU seconds of default fits from 165 to 10 000 samples, with their stages, beside scikit-learn.

Usage: python bench/fit.py [--threads 1] [--largest 10000] [--only NAME ...] [--repeats 3]

Seconds are medians; "/ evd" divides them by one dense LAPACK eigendecomposition (divide and
conquer) of the same n with the same threads, in turn with the fits. Stages are those that
a callback receives; "/ scikit-learn" divides a fit by the seconds of the views side by side.
scikit-learn's SpectralClustering gets graphs of the 15 nearest unit rows: of the views side by
side, and the mean of one for each view.
"""

import time

import numpy as np
import scipy.linalg
from sklearn.cluster import SpectralClustering
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize
from timing import cpu_seconds, limit_threads, load_shared, print_table, run

from mvsc_fast import TLRR, ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SETS = ["yale_3view", "orl_3view", "yaleb10", "uci_digit", "handwritten", "scene15", "hdigit"]
LARGEST_EVD = 5000  # samples
NEIGHBORS = 15


def spectral(units, k):
    A = sum(kneighbors_graph(U, NEIGHBORS, include_self=True) for U in units) / len(units)
    return SpectralClustering(k, affinity="precomputed", random_state=0).fit((A + A.T) / 2)


def concatenated(views, k, n_threads):
    return spectral([np.hstack([normalize(X) for X in views])], k)


def averaged(views, k, n_threads):
    return spectral([normalize(X) for X in views], k)


def ours(estimator):
    def fit(views, k, n_threads):
        begun = [("views", time.process_time())]

        def note(state):
            if state.iteration == 0:
                begun.append((state.stage, time.process_time()))

        model = estimator(k, random_state=0, n_threads=n_threads, callback=note).fit(views)
        stages, starts = zip(*begun, strict=True)
        model.stages = dict(zip(stages, np.diff([*starts, time.process_time()]), strict=True))
        return model

    return fit


FITS = {
    "ConsensusTLRR": ours(ConsensusTLRR),
    "TLRR": ours(TLRR),
    "scikit-learn, concatenated": concatenated,
    "scikit-learn, averaged": averaged,
}


def eigendecomposition(n):
    A = np.random.default_rng(0).standard_normal((n, n))
    A += A.T
    return cpu_seconds(scipy.linalg.eigh, A, driver="evd", overwrite_a=True, check_finite=False)[0]


def main(threads, largest, only, repeats):
    rows, stages, medians, names = [], {}, {}, []
    fits = {name: fit for name, fit in FITS.items() if any(part in name for part in only)}
    for name in SETS:
        views, y = load_shared(name, seed=0)
        views = [np.asarray(X, dtype=np.float64) for X in views]
        n, k = len(y), len(np.unique(y))
        if n > largest:
            continue
        names.append(name)
        runs, evd = {title: [] for title in fits}, []
        with limit_threads(threads):
            for _ in range(repeats):
                evd.append(eigendecomposition(n) if n <= LARGEST_EVD else np.nan)
                for title, fit in fits.items():
                    runs[title].append(cpu_seconds(fit, views, k, threads))
        for title, pairs in runs.items():
            seconds, model = np.median([pair[0] for pair in pairs]), pairs[-1][1]
            ratio = f"{seconds / np.median(evd):.1f}".replace("nan", "")
            acc = clustering_scores(y, model.labels_)["acc"]
            rows.append(f"{name} | {n} | {title} | {seconds:.2f} | {ratio} | {acc:.3f}")
            medians.setdefault(title, {})[name] = seconds
            for stage in getattr(model, "stages", []):
                part = np.median([pair[1].stages[stage] for pair in pairs])
                stages.setdefault((title, stage), {})[name] = f"{part:.3f}"
    print_table("data | n | fit | seconds | / evd | ACC", rows)
    print()
    rows = [[*key, *(row.get(name, "") for name in names)] for key, row in stages.items()]
    plain = medians.pop("scikit-learn, concatenated", {})
    for title, row in medians.items() if plain else ():
        rows.append([title, "/ scikit-learn", *(f"{row[x] / plain[x]:.1f}" for x in names)])
    print_table(["fit", "stage", *names], rows)


if __name__ == "__main__":
    run(main, __doc__, None, threads=1, largest=10_000, only=[""], repeats=3)
