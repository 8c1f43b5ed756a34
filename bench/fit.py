"""Default fits from 165 to 10 000 samples, with their stages, beside scikit-learn.

Usage: python bench/fit.py [--threads 2] [--largest 10000] [--only ConsensusTLRR] [--repeats 3]

Seconds are medians; "/ evd" divides them by one dense LAPACK eigendecomposition (divide and
conquer) of the same n with the same threads, in turn with the fits. Stages are those that
a callback receives. scikit-learn's SpectralClustering gets graphs of the 15 nearest unit rows: of
the views side by side, and the mean of one for each view.
"""

import argparse
import warnings

import numpy as np
import scipy.linalg
from sklearn.cluster import SpectralClustering
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize
from timing import limit_threads, load_shared, print_table, stopwatch

from mvsc_fast import TLRR, ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SETS = ["yale_3view", "orl_3view", "yaleb10", "uci_digit", "scene15", "hdigit"]
LARGEST_EVD = 5000  # samples
NEIGHBORS = 15


def spectral(A, k):
    return SpectralClustering(k, affinity="precomputed", random_state=0).fit((A + A.T) / 2)


def concatenated(views, k, n_threads):
    unit = np.hstack([normalize(X) for X in views])
    return spectral(kneighbors_graph(unit, NEIGHBORS, include_self=True), k)


def averaged(views, k, n_threads):
    graphs = [kneighbors_graph(normalize(X), NEIGHBORS, include_self=True) for X in views]
    return spectral(sum(graphs) / len(graphs), k)


def ours(estimator):
    def fit(views, k, n_threads):
        begun = [("views", 0.0)]

        def note(state):
            if state.iteration == 0:
                begun.append((state.stage, state.seconds))

        model = estimator(k, random_state=0, n_threads=n_threads, callback=note)
        total, _ = stopwatch(model.fit, views)
        stages, starts = zip(*begun, strict=True)
        model.stages = list(zip(stages, np.diff([*starts, total]), strict=True))
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
    return stopwatch(scipy.linalg.eigh, A, driver="evd", overwrite_a=True, check_finite=False)[0]


def main(n_threads, largest, only, repeats):
    rows, stages = [], []
    fits = {name: fit for name, fit in FITS.items() if only in name}
    for name in SETS:
        views, y = load_shared(name, seed=0)
        views = [np.asarray(X, dtype=np.float64) for X in views]
        n, k = len(y), len(np.unique(y))
        if n > largest:
            continue
        runs = {fit: [] for fit in fits}
        evd = []
        with limit_threads(n_threads), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(repeats):
                evd.append(eigendecomposition(n) if n <= LARGEST_EVD else np.nan)
                for title, fit in fits.items():
                    runs[title].append(stopwatch(fit, views, k, n_threads))
        for title, found in runs.items():
            seconds = np.median([run[0] for run in found])
            model = found[-1][1]
            acc = clustering_scores(y, model.labels_)["acc"]
            ratio = seconds / np.median(evd)
            rows.append(
                [
                    name,
                    n,
                    title,
                    f"{seconds:.2f}",
                    "" if np.isnan(ratio) else f"{ratio:.1f}",
                    f"{acc:.3f}",
                ]
            )
            stages += [
                [name, title, stage, f"{part:.2f}"] for stage, part in getattr(model, "stages", [])
            ]
    print_table(["data", "n", "fit", "seconds", "/ evd", "ACC"], rows)
    print()
    print_table(["data", "fit", "stage", "seconds"], stages)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--largest", type=int, default=10_000, help="samples")
    parser.add_argument("--only", default="", help="part of the names of the fits to run")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    main(arguments.threads, arguments.largest, arguments.only, arguments.repeats)
