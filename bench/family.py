"""Seconds of the tensor family against the plain-NumPy twins, on Extended YaleB and UCI digits.

Usage: python bench/family.py [--quick] [--only SVD]

One thread for both. TRPCA and SNN clean the tensor of t-SVD-MSC (lam 0.05). The twins compute every
singular value decomposition by LAPACK's gesdd; --quick stops them after 20 iterations and scales
their times, marked "~", and leaves out MCLES, one iteration of whose twin takes minutes. The
largest difference is that after as many iterations as the twin made.
"""

import argparse
import warnings
from functools import partial

import numpy as np
from timing import (
    limit_threads,
    load_shared,
    print_table,
    stopwatch,
    twin_awp,
    twin_dimsc,
    twin_etlmsc,
    twin_lmsc,
    twin_lt_msc,
    twin_mcles,
    twin_recovery,
    twin_scmv_3dt,
    twin_tsvd,
)

from mvsc_fast import solvers
from mvsc_fast.solvers._latent import Stack
from mvsc_fast.solvers._scmv_3dt import _equal_features

FOURIER = {"sample_transform": "dft"}  # as published


def cases():
    """Name, n, our call, the twin's call as a function of its iterations, index of its count."""
    yaleb, _ = load_shared("yaleb10")
    digits, _ = load_shared("uci_digit")
    yaleb, digits = ([X.astype(np.float64) for X in views] for views in (yaleb, digits))
    n = len(yaleb[0])
    W = solvers.tsvd_msc(yaleb, lam=0.05, **FOURIER).tensor
    a = np.sqrt(n) / 3
    yield (
        "t-SVD-MSC, lam .05",
        n,
        partial(solvers.tsvd_msc, yaleb, lam=0.05, **FOURIER, n_threads=1),
        lambda count: twin_tsvd.tsvd_msc(yaleb, lam=0.05, max_iter=count),
    )
    yield (
        "Ut-SVD-MSC, lam .05",
        n,
        partial(solvers.ut_svd_msc, yaleb, lam=0.05),
        lambda count: twin_tsvd.tsvd_msc(yaleb, lam=0.05, rotate=False, max_iter=count),
    )
    yield (
        "LT-MSC, lam .5",
        n,
        partial(solvers.lt_msc, yaleb, lam=0.5),
        lambda count: twin_lt_msc.lt_msc(yaleb, lam=0.5, max_iter=count),
    )
    yield (
        "SCMV-3DT",
        n,
        partial(solvers.scmv_3dt, yaleb),
        lambda count: twin_scmv_3dt.scmv_3dt(
            _equal_features(yaleb, "pca"), 10.0, 0.1, 0.001, max_iter=count
        ),
    )
    yield (
        "TRPCA",
        n,
        partial(solvers.trpca, W, n_threads=1),
        lambda count: twin_recovery.trpca(W, 1 / np.sqrt(3 * n), max_iter=count),
    )
    yield (
        "SNN",
        n,
        partial(solvers.snn, W, n_threads=1),
        lambda count: twin_recovery.snn(W, (a, a, a), max_iter=count),
    )
    yield (
        "ETLMSC, lam .0055",
        len(digits[0]),
        partial(solvers.etlmsc, digits, lam=0.0055, **FOURIER, n_threads=1),
        lambda count: twin_etlmsc.etlmsc(digits, 0.0055, max_iter=count),
    )
    stack = Stack(yaleb)
    yield (
        "L-MSC, K 100",
        n,
        partial(solvers.lmsc, yaleb, random_state=0),
        lambda count: twin_lmsc.lmsc(
            yaleb, stack.draw(100, np.random.RandomState(0)), max_iter=count
        ),
    )
    published = {"signed": True, "tol": 0.0, "max_iter": 10}
    yield (
        "DiMSC, 10 passes",
        n,
        partial(solvers.dimsc, yaleb, **published),
        lambda count: (twin_dimsc.dimsc(yaleb), 10),
    )
    yield (
        "MCLES",
        n,
        partial(solvers.mcles, yaleb, n_clusters=10, random_state=0),
        lambda count: one_pass_of_mcles(yaleb, stack),
    )
    yield (
        "AWP",
        n,
        partial(solvers.awp, yaleb, n_clusters=10, init="axes"),
        lambda count: whole_awp(yaleb),
    )


def one_pass_of_mcles(views, stack):
    """The 640 quadratic programs of a pass take the twin minutes."""
    rng = np.random.RandomState(0)
    H, F = stack.draw(70, rng), stack.draw(10, rng).T
    return twin_mcles.mcles(views, H, F, max_iter=1)[0], 1


def whole_awp(views):
    """Signs of eigenvectors are arbitrary, so the twin's iterations may not be as many."""
    units = [X / np.linalg.norm(X, axis=1, keepdims=True) for X in views]
    _, R, _, values = twin_awp.awp(np.stack([twin_awp.embedding(X, 10, 10) for X in units]))
    return R, len(values)


def main(quick, only):
    rows = []
    with limit_threads(1):
        for name, n, ours, twin in cases():
            if only not in name or (quick and name == "MCLES"):
                continue
            seconds, result = stopwatch(ours)
            row = [name, n, f"{seconds:.2f}", result.n_iter]
            limit = 20 if quick else 500
            reference, answer = stopwatch(twin, limit)
            made = answer[-1]
            reference *= result.n_iter / made
            mark = "~" if made < result.n_iter else ""
            row += [f"{mark}{reference:.1f}", f"{mark}{reference / seconds:.1f}"]
            field = {"TRPCA": "low_rank", "SNN": "low_rank"}.get(name, "representation")
            if mark:
                result = ours(max_iter=made)
            tensor = getattr(result, field, None)  # AWP learns none
            row.append("" if tensor is None else f"{np.abs(tensor - answer[0]).max():.0e}")
            rows.append(row)
    print_table(
        [
            "method",
            "n",
            "mvsc_fast, s",
            "iterations",
            "NumPy twin, s",
            "speed-up",
            "largest difference",
        ],
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="methods whose name contains this")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of runs that end after 20 iterations
    main(arguments.quick, arguments.only)
