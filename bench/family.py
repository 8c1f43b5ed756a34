"""Seconds of the tensor family against the plain-NumPy twins, on Extended YaleB and UCI digits.

Usage: python bench/family.py [--quick] [--only SVD]

One thread for both, and for the estimators the seconds of the iteration alone. TRPCA and SNN clean
the tensor of t-SVD-MSC (lam 0.05). The twins compute every singular value decomposition by LAPACK's
gesdd; --quick stops them after 20 iterations and scales their times, marked "~", and leaves out
MCLES, one iteration of whose twin takes minutes. The largest difference is that after as many
iterations as the twin made.
"""

import argparse
import warnings

import numpy as np
from timing import (
    drawer,
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

from mvsc_fast import methods

FOURIER = {"sample_transform": "dft"}  # as published


def cases():
    """Name, our model, its data, and the twin's call as a function of its iterations."""
    yaleb, _ = load_shared("yaleb10")
    digits, _ = load_shared("uci_digit")
    yaleb, digits = ([X.astype(np.float64) for X in views] for views in (yaleb, digits))
    n = len(yaleb[0])
    tsvd = methods.TSVDMSC(10, lam=0.05, **FOURIER, n_threads=1)
    W = tsvd.fit(yaleb).tensor_
    a = np.sqrt(n) / 3
    yield (
        "t-SVD-MSC, lam .05",
        tsvd,
        yaleb,
        lambda count: twin_tsvd.tsvd_msc(yaleb, lam=0.05, max_iter=count),
    )
    yield (
        "Ut-SVD-MSC, lam .05",
        methods.UtSVDMSC(10, lam=0.05),
        yaleb,
        lambda count: twin_tsvd.tsvd_msc(yaleb, lam=0.05, rotate=False, max_iter=count),
    )
    yield (
        "LT-MSC, lam .5",
        methods.LTMSC(10, lam=0.5),
        yaleb,
        lambda count: twin_lt_msc.lt_msc(yaleb, lam=0.5, max_iter=count),
    )
    X = twin_scmv_3dt.equal_features(yaleb, "pca")
    yield (
        "SCMV-3DT",
        methods.SCMV3DT(10),
        yaleb,
        lambda count: twin_scmv_3dt.scmv_3dt(X, 10.0, 0.1, 0.001, max_iter=count),
    )
    yield (
        "TRPCA",
        methods.TRPCA(10, affinity="precomputed", n_threads=1),
        W,
        lambda count: twin_recovery.trpca(W, 1 / np.sqrt(3 * n), max_iter=count),
    )
    yield (
        "SNN",
        methods.SNN(10, affinity="precomputed", n_threads=1),
        W,
        lambda count: twin_recovery.snn(W, (a, a, a), max_iter=count),
    )
    yield (
        "ETLMSC, lam .0055",
        methods.ETLMSC(10, lam=0.0055, **FOURIER, n_threads=1),
        digits,
        lambda count: twin_etlmsc.etlmsc(digits, 0.0055, max_iter=count),
    )
    yield (
        "L-MSC, K 100",
        methods.LMSC(10, random_state=0),
        yaleb,
        lambda count: twin_lmsc.lmsc(yaleb, drawer(yaleb, 0)(100), max_iter=count),
    )
    yield (
        "DiMSC, 10 passes",
        methods.DiMSC(10, signed=True, tol=0.0, max_iter=10),
        yaleb,
        lambda count: (twin_dimsc.dimsc(yaleb), 10),
    )
    yield (
        "MCLES",
        methods.MCLES(10, random_state=0),
        yaleb,
        lambda count: one_pass_of_mcles(yaleb),
    )
    yield "AWP", methods.AWP(10, init="axes"), yaleb, lambda count: whole_awp(yaleb)


def one_pass_of_mcles(views):
    """The 640 quadratic programs of a pass take the twin minutes."""
    draw = drawer(views, 0)
    H, F = draw(70), draw(10).T
    return twin_mcles.mcles(views, H, F, max_iter=1)[0], 1


def whole_awp(views):
    """Signs of eigenvectors are arbitrary, so the twin's iterations may not be as many."""
    units = [X / np.linalg.norm(X, axis=1, keepdims=True) for X in views]
    _, R, _, values = twin_awp.awp(np.stack([twin_awp.embedding(X, 10, 10) for X in units]))
    return R, len(values)


def largest_difference(model, twin):
    """Largest difference of what both learned, or "" for AWP, which learns no tensor."""
    if isinstance(model, methods.AWP):
        return ""
    if hasattr(model, "representation_"):
        return f"{np.abs(model.representation_ - twin).max():.0e}"
    return f"{np.abs(model.tensor_ - (twin + twin.transpose(0, 2, 1)) / 2).max():.0e}"


def main(quick, only):
    rows = []
    with limit_threads(1):
        for name, model, data, twin in cases():
            if only not in name or (quick and name == "MCLES"):
                continue
            model.fit(data)
            n_iter, seconds = model.n_iter_, model.history_["seconds"][-1]
            row = [name, len(model.labels_), f"{seconds:.2f}", n_iter]
            limit = 20 if quick else 500
            reference, answer = stopwatch(twin, limit)
            made = answer[-1]
            reference *= n_iter / made
            mark = "~" if made < n_iter else ""
            row += [f"{mark}{reference:.1f}", f"{mark}{reference / seconds:.1f}"]
            if mark:
                model.set_params(max_iter=made).fit(data)
            row.append(largest_difference(model, answer[0]))
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
