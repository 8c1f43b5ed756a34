"""Seconds of the tensor family against the plain-NumPy twins, on Extended YaleB and UCI digits.

Usage: python bench/family.py

One thread for both, and for the estimators the seconds of the iteration alone. TRPCA and SNN clean
the tensor of t-SVD-MSC (lam 0.05). The twins compute every singular value decomposition by LAPACK's
gesdd, and are stopped after 20 iterations; their times are scaled then, marked "~". The largest
difference is that after as many iterations as the twin made. MCLES is left out: one iteration of
its twin takes minutes.
"""

import numpy as np
from timing import load_shared, print_table, run, stopwatch, twin

from mvsc_fast import methods

FOURIER = {"sample_transform": "dft"}  # as published
MAX_ITERATIONS = 20  # of a twin


def cases():
    """Name, our model, its data, and the twin's call as a function of its iterations."""
    yaleb, digits = (
        [X.astype(np.float64) for X in load_shared(name)[0]] for name in ("yaleb10", "uci_digit")
    )
    n = len(yaleb[0])
    tsvd = methods.TSVDMSC(10, lam=0.05, **FOURIER)
    W, a = tsvd.fit(yaleb).tensor_, np.sqrt(n) / 3
    X = twin("scmv_3dt").equal_features(yaleb, "pca")
    tsvd_msc, recovery = twin("tsvd_msc").tsvd_msc, twin("recovery")
    draw = twin("latent").drawer

    def by(function, *args, **kwargs):
        return lambda count: function(*args, max_iter=count, **kwargs)

    yield "t-SVD-MSC, lam .05", tsvd, yaleb, by(tsvd_msc, yaleb, lam=0.05)
    model = methods.UtSVDMSC(10, lam=0.05)
    yield "Ut-SVD-MSC, lam .05", model, yaleb, by(tsvd_msc, yaleb, lam=0.05, rotate=False)
    model = methods.LTMSC(10, lam=0.5)
    yield "LT-MSC, lam .5", model, yaleb, by(twin("lt_msc").lt_msc, yaleb, lam=0.5)
    model, function = methods.SCMV3DT(10), twin("scmv_3dt").scmv_3dt
    yield "SCMV-3DT", model, yaleb, by(function, X, 10.0, 0.1, 0.001)
    model = methods.TRPCA(10, affinity="precomputed")
    yield "TRPCA", model, W, by(recovery.trpca, W, 1 / np.sqrt(3 * n))
    model = methods.SNN(10, affinity="precomputed")
    yield "SNN", model, W, by(recovery.snn, W, (a, a, a))
    model = methods.ETLMSC(10, lam=0.0055, **FOURIER)
    yield "ETLMSC, lam .0055", model, digits, by(twin("etlmsc").etlmsc, digits, 0.0055)
    model = methods.LMSC(10, random_state=0)
    yield "L-MSC, K 100", model, yaleb, by(twin("lmsc").lmsc, yaleb, draw(yaleb, 0)(100))
    model = methods.DiMSC(10, signed=True, tol=0.0, max_iter=10)
    yield "DiMSC, 10 passes", model, yaleb, lambda count: (twin("dimsc").dimsc(yaleb), 10)
    yield "AWP", methods.AWP(10, init="axes"), yaleb, lambda count: whole_awp(yaleb)


def whole_awp(views):
    """Signs of eigenvectors are arbitrary, so the twin's iterations may not be as many."""
    awp, units = twin("awp"), [X / np.linalg.norm(X, axis=1, keepdims=True) for X in views]
    _, R, _, values = awp.awp(np.stack([awp.embedding(X, 10, 10) for X in units]))
    return R, len(values)


def largest_difference(model, answer):
    """Largest difference of what both learned, or "" for AWP, which learns no tensor."""
    if isinstance(model, methods.AWP):
        return ""
    if hasattr(model, "representation_"):
        return f"{np.abs(model.representation_ - answer).max():.0e}"
    return f"{np.abs(model.tensor_ - (answer + answer.transpose(0, 2, 1)) / 2).max():.0e}"


def main():
    rows = []
    for name, model, data, run_twin in cases():
        model.fit(data)
        n_iter, seconds = model.n_iter_, model.history_["seconds"][-1]
        reference, (answer, *_, count) = stopwatch(run_twin, MAX_ITERATIONS)
        reference *= n_iter / count
        mark = "~" if count < n_iter else ""
        if mark:
            model.set_params(max_iter=count).fit(data)
        rows.append(
            f"{name} | {len(model.labels_)} | {seconds:.2f} | {n_iter} | {mark}{reference:.1f} | "
            f"{mark}{reference / seconds:.1f} | {largest_difference(model, answer)}"
        )
    header = "method | n | mvsc_fast, s | iterations | NumPy twin, s | speed-up"
    print_table(f"{header} | largest difference", rows)


if __name__ == "__main__":
    run(main, __doc__)
