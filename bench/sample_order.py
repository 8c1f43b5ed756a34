"""What the order of the samples does to methods that transform along them.

Usage: python bench/sample_order.py [--shuffles 3] [--only "TLRR on"]

ACC / NMI in file order, where files are sorted by class, and on shuffled samples: with the
published discrete Fourier transform, and with the order-free graph transform.
"""

import numpy as np
from timing import load_shared, print_table, run

from mvsc_fast import TLRR
from mvsc_fast.methods import ETLMSC, TSVDMSC
from mvsc_fast.metrics import clustering_scores

ROWS = [
    ("orl_3view", "t-SVD-MSC, lam .5", TSVDMSC, {"lam": 0.5}),
    ("yaleb10", "t-SVD-MSC, lam .05", TSVDMSC, {"lam": 0.05}),
    ("yaleb10", "t-SVD-MSC, lam .5", TSVDMSC, {"lam": 0.5}),
    ("yaleb10", "TLRR on t-SVD-MSC, lam .5", TSVDMSC, {"lam": 0.5}),
    ("yale_3view", "t-SVD-MSC, lam 1.1", TSVDMSC, {"lam": 1.1}),
    ("uci_digit", "t-SVD-MSC, lam .5", TSVDMSC, {"lam": 0.5}),
    ("uci_digit", "ETLMSC, lam .0055", ETLMSC, {"lam": 0.0055}),
    ("yaleb10", "TLRR, default", TLRR, {}),
    ("orl_3view", "TLRR, default", TLRR, {}),
]
VARIANTS = {"dft": {"sample_transform": "dft"}, "graph": {}}


def scores(estimator, parameters, data, seed, then_tlrr):
    """ACC and NMI on shuffled samples, or in file order if there is no seed."""
    views, y = load_shared(data, seed)
    k, seed = len(np.unique(y)), seed or 0
    if then_tlrr:
        affinity = estimator(k, **parameters)
        model = TLRR(k, omega1=0.4, alpha=9, lam=15, affinity=affinity, random_state=seed)
    else:
        model = estimator(k, random_state=seed, **parameters)
    values = clustering_scores(y, model.fit_predict(views))
    return values["acc"], values["nmi"]


def main(shuffles, only):
    rows = []
    for data, name, estimator, parameters in ROWS:
        if only not in name:
            continue
        then_tlrr = name.startswith("TLRR on")
        variants = {"dft": {}} if estimator is TLRR else VARIANTS
        orders = [("dft", [None]), *((variant, range(shuffles)) for variant in variants)]
        cells = [
            [
                scores(estimator, parameters | variants[variant], data, seed, then_tlrr)
                for seed in seeds
            ]
            for variant, seeds in orders
        ]
        text = ["{:.3f} / {:.3f}".format(*np.mean(cell, axis=0)) for cell in cells]
        rows.append([data, name, *text, *[""] * (1 + len(VARIANTS) - len(text))])
    header = ["data", "method", "file order, dft", *(f"shuffled, {v}" for v in VARIANTS)]
    print_table(header, rows)


if __name__ == "__main__":
    run(main, __doc__, n_threads=None, shuffles=3, only="")
