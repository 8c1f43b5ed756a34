"""What each constant and each part of ConsensusTLRR is worth: mean ACC over ten data sets.

Usage: python bench/consensus.py [--seeds 3] [--only PATTERN] [--sets yaleb10,ngs]

One thing is changed at a time. Labels do not depend on the order of the samples, so the spread is
that of the random states; differences below about .005 mean nothing.
"""

import argparse
import contextlib
import re
import warnings

import numpy as np
from sklearn.datasets import load_digits
from timing import load_shared, print_table, stopwatch

import mvsc_fast.judge._landmarks as landmarks
import mvsc_fast.judge._ridge as judge
import mvsc_fast.methods._consensus as consensus
import mvsc_fast.methods._ensemble as ensemble
import mvsc_fast.similarity._affinity as spectral
from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SETS = ["yaleb10", "orl_3view", "orl_4view", "yale_3view", "ngs", "bbc4view", "scene15",
        "uci_digit", "handwritten", "digits"]  # fmt: skip
SCALES = consensus.SCALES


def scales(unit, centred):
    """The ridges of both kinds; None leaves a kind out."""
    return {kind: ridges for kind, ridges in (("unit", unit), ("centred", centred)) if ridges}


# What is written over what: module, name, value.
PARTS = {
    "one kind: unit rows": [(consensus, "SCALES", scales(SCALES["unit"], None))],
    "one kind: centred rows": [(consensus, "SCALES", scales(None, SCALES["centred"]))],
    "first scale alone": [(consensus, "SCALES", scales((0.5,), (1.0,)))],
    "second scale alone": [(consensus, "SCALES", scales((5.0,), (10.0,)))],
    "no refinement": [(consensus, "refined_labels", lambda labellings, *_: labellings)],
    "refinement by ridge alone": [(consensus, "_row_stochastic", lambda A: 0 * A)],
    "no TLRR of labellings": [
        (consensus, "tlrr_consensus",
         lambda labellings, *_, **__: ensemble.Consensus(labellings[0], 0, 0.0))],
    "TLRR of labellings is the answer": [(consensus, "generalised_median", lambda *_: 0)],
    "best judged is the answer": [(consensus, "generalised_median", lambda *_: 1)],
    "plain median": [(consensus, "SHARPNESS", 0)],
}  # fmt: skip
CONSTANTS = [
    (consensus, "NEIGHBORS", [(15, 30), (6, 11, 21, 42), (6, 8, 11, 15, 21, 30, 42, 60)]),
    (spectral, "VOTING_NEIGHBORS", [15, 60]),
    (consensus, "CANDIDATES", [30, 100]),
    (consensus, "LONGEST", [48, 100]),
    (consensus, "TAIL", [0.003, 0.03]),
    (consensus, "SHARPNESS", [16, 24, 64]),
    (consensus, "BEST", [4, 10, 16]),
    (ensemble, "ALPHA", [5.0, 18.0]),
    (judge, "RIDGE", [0.25, 1.0]),
    (judge, "ROUNDS", [3, 30]),
    (judge, "N_LANDMARKS", [300, 1200]),
    (landmarks, "SCALE_RANK", [5, 20]),
]


def variants():
    """Name, what is written over, and parameters of the estimator."""
    yield "default", [], {}
    for name, changes in PARTS.items():
        yield name, changes, {}
    for module, name, values in CONSTANTS:
        for value in values:
            yield f"{name} = {value}", [(module, name, value)], {}
    for n_init in (1, 5, 10):
        yield f"n_init = {n_init}", [], {"n_init": n_init}


@contextlib.contextmanager
def written_over(changes):
    """Some names of modules have other values within."""
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    try:
        for module, name, value in changes:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def load(name):
    """Views and labels; scene15 is cut to 1500 samples."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        images = X.reshape(-1, 8, 8)
        spectrum = np.abs(np.fft.rfft2(images)).reshape(len(X), -1)
        return [X, spectrum, np.hstack([images.sum(axis=1), images.sum(axis=2)])], y
    views, y = load_shared(name, seed=0)
    return ([X[:1500] for X in views], y[:1500]) if name == "scene15" else (views, y)


def accuracy(views, y, seed, parameters):
    model = ConsensusTLRR(len(np.unique(y)), random_state=seed, n_threads=1, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a labelling of few clusters, where a part is missing
        return clustering_scores(y, model.fit_predict(views))["acc"]


def main(seeds, only, names):
    data = {name: load(name) for name in names}
    table, default = [], None
    for title, changes, parameters in variants():
        if default is not None and not re.search(only, title):
            continue
        with written_over(changes):
            seconds, acc = stopwatch(
                lambda parameters=parameters: np.array(
                    [[accuracy(*data[name], seed, parameters) for seed in range(seeds)]
                     for name in names]
                )
            )  # fmt: skip
        means = acc.mean(axis=0)
        default = means.mean() if default is None else default
        table.append([title, f"{means.mean():.4f}", f"{means.mean() - default:+.4f}",
                      f"{np.ptp(means):.3f}", f"{seconds / acc.size:.1f}",
                      *(f"{value:.3f}" for value in acc.mean(axis=1))])  # fmt: skip
        print(f"{title}: {means.mean():.4f}", flush=True)
    print()
    print_table(["changed", "mean ACC", "difference", "range of the means", "seconds a fit",
                 *names], table)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="random states, from 0")
    parser.add_argument("--only", default="", help="regular expression: the variants to run")
    parser.add_argument("--sets", default=",".join(SETS))
    arguments = parser.parse_args()
    main(arguments.seeds, arguments.only, arguments.sets.split(","))
