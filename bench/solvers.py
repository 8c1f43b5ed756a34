"""NumPy twin, published iteration and certified solver in one run.

Usage: python bench/solvers.py [--full] [--only yale_3view]
       python bench/solvers.py --triples 500

Times are seconds of one run, medians of three for the dual solver of small tensors. "speed-up"
is against the twin on the same number of threads. ACC is on the samples in the order named: the
default W (shuffled, 15 neighbours, alpha 9), or the paper's W (t-SVD-MSC lam 0.5, DFT, file order).
Above 1000 samples there is one thread. Without --full, twins of that size run 20 iterations and are
scaled to the count of the compiled published iteration, which is that of the twin wherever both
were run; "~" marks them. --full also runs uci_digit. --triples runs the dual solver on all triples
of the views of handwritten digits, default W of that many shuffled samples, one thread; its times
are of the CPU.
"""

import argparse
import itertools
import time

import numpy as np
from sets import SIXTEEN
from timing import (
    limit_threads,
    median_seconds,
    print_table,
    stopwatch,
    twin_tlrr,
    twin_tsvd,
)

from mvsc_fast import datasets, similarity
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.similarity._affinity import regularized
from mvsc_fast.solvers import tlrr
from mvsc_fast.spectral import fuse, spectral_labels

PAPER = {"omega1": 0.4, "alpha": 9.0, "lam": 15.0}
FOURIER = {"lam": 0.5, "sample_transform": "dft"}


def problems(full, only):
    """(name, W, parameters, labels) of tensors made from real data."""
    for name in ("yale_3view", "yaleb10", "coil20", *["uci_digit"] * full):
        if only not in name:
            continue
        views, y = SIXTEEN[name]()
        order = np.random.RandomState(0).permutation(len(y))
        W = similarity.self_representation([X[order] for X in views])
        lam = tlrr(W, max_iter=0).lam
        yield f"{name}, default W", W, {"omega1": 0.5, "alpha": 9.0, "lam": lam}, y[order]
        if name == "yaleb10":
            yield f"{name}, paper's W", TSVDMSC(10, **FOURIER).fit(views).tensor_, PAPER, y


def threads(n):
    return (1, 2) if n < 1000 else (1,)


def accuracy(L, W, y):
    """ACC of the labels that the estimator TLRR would give."""
    S = regularized(fuse(L), fuse(W), len(y))
    labels, _ = spectral_labels(S, len(np.unique(y)), random_state=0)
    return clustering_scores(y, labels)["acc"]


def twin_seconds(W, parameters, n_iter, full):
    """Seconds of the NumPy twin, and whether they were scaled up from 20 iterations."""
    if full or len(W[0]) < 1000:
        seconds, (_, residuals, _) = stopwatch(twin_tlrr.tlrr, W, **parameters)
        assert len(residuals) == n_iter, (len(residuals), n_iter)
        return seconds, ""
    seconds, _ = stopwatch(twin_tlrr.tlrr, W, **parameters, max_iter=20)
    return seconds * n_iter / 20, "~"


def tlrr_table(full, only):
    rows = []
    for name, W, parameters, y in problems(full, only):
        for n_threads in threads(W.shape[1]):
            with limit_threads(n_threads):
                run = {"n_threads": n_threads, **parameters}
                repeats = 3 if W.shape[1] < 1000 else 1
                dual_time, dual = median_seconds(lambda: tlrr(W, **run), repeats)  # noqa: B023
                ialm_time, ialm = median_seconds(
                    lambda: tlrr(W, solver="ialm", **run),
                    1,  # noqa: B023
                )
                twin_time, scaled = twin_seconds(W, parameters, ialm.n_iter, full)
            shared = [name, W.shape[1], n_threads]
            rows += [
                [*shared, "NumPy twin", f"{scaled}{twin_time:.2f}", "1", ialm.n_iter, "", "", ""],
                [
                    *shared,
                    "ialm",
                    f"{ialm_time:.2f}",
                    f"{scaled}{twin_time / ialm_time:.1f}",
                    ialm.n_iter,
                    f"{ialm.eigen_seconds / ialm_time:.0%}",
                    "",
                    f"{accuracy(ialm.tensor, W, y):.3f}",
                ],
                [
                    *shared,
                    "dual",
                    f"{dual_time:.2f}",
                    f"{scaled}{twin_time / dual_time:.0f}",
                    dual.n_iter,
                    f"{dual.eigen_seconds / dual_time:.0%}",
                    f"{dual.gap:.1e}",
                    f"{accuracy(dual.tensor, W, y):.3f}",
                ],
            ]
    print_table(
        [
            "tensor",
            "n",
            "threads",
            "solver",
            "seconds",
            "speed-up",
            "iterations",
            "in eigenproblems",
            "relative gap",
            "ACC",
        ],
        rows,
    )


def triples_table(n):
    """Iterations and CPU seconds of the dual solver; view 3 has six columns."""
    views, y = datasets.load_handwritten()
    sample = np.random.RandomState(0).permutation(len(y))[:n]
    rows = []
    for triple in itertools.combinations(range(len(views)), 3):
        W = similarity.self_representation([views[j][sample] for j in triple])
        start = time.process_time()
        result = tlrr(W, n_threads=1)
        seconds = time.process_time() - start
        rows.append([triple, len(W), result.n_iter, f"{seconds:.2f}", f"{result.gap:.1e}"])
    print_table(["views", "slices", "iterations", "CPU seconds", "relative gap"], rows)


def tsvd_table(only):
    rows = []
    for name in ("yaleb10", "coil20"):
        if only not in name:
            continue
        views, _ = SIXTEEN[name]()
        for n_threads in threads(len(views[0])):
            with limit_threads(n_threads):
                ours = TSVDMSC(**FOURIER, n_threads=n_threads, n_init=1).fit(views)
                twin_time, (Z, n_iter) = stopwatch(twin_tsvd.tsvd_msc, views, lam=0.5)
            seconds = ours.history_["seconds"][-1]  # of the iteration alone
            rows.append(
                [
                    name,
                    len(Z[0]),
                    n_threads,
                    f"{twin_time:.2f}",
                    f"{seconds:.2f}",
                    f"{twin_time / seconds:.1f}",
                    f"{ours.n_iter_} ({n_iter})",
                    f"{np.abs(Z - ours.representation_).max():.0e}",
                ]
            )
    print_table(
        [
            "t-SVD-MSC on",
            "n",
            "threads",
            "NumPy twin",
            "mvsc_fast",
            "speed-up",
            "iterations (twin)",
            "largest difference",
        ],
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="run the large twins to their end")
    parser.add_argument("--only", default="", help="data sets whose name contains this")
    parser.add_argument("--triples", type=int, default=0, help="samples of handwritten digits")
    arguments = parser.parse_args()
    if arguments.triples:
        triples_table(arguments.triples)
    else:
        tlrr_table(arguments.full, arguments.only)
        print()
        tsvd_table(arguments.only)
