"""What each constant and each part of ConsensusTLRR is worth: mean ACC over ten data sets.

Usage: python bench/consensus.py [--draws 3] [--only PATTERN] [--sets NAME ...]

One thing is changed at a time. Labels depend neither on the order of the samples nor on the random
state, so fits differ in the draw of 98 % of the samples; differences below about .005 mean nothing.
"""

import argparse
import contextlib
import re
import warnings

import numpy as np
from accuracy import drawn
from sets import TEN, shuffled
from timing import print_table, stopwatch

from mvsc_fast import ConsensusTLRR
from mvsc_fast.judge import _landmarks, _ridge, _scan
from mvsc_fast.methods import _candidates, _ensemble, _labeller
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.similarity import _affinity

UNIT, CENTRED = _scan.SCALES["unit"], _scan.SCALES["centred"]
STARTS = _candidates.STARTS


def starts_without(embedding):
    """The starts without those of an embedding."""
    kept = {graph: dict(starts) for graph, starts in STARTS.items()}
    for starts in kept.values():
        starts.pop(embedding, None)
    return kept


# What is written over what: module, name, value.
PARTS = {
    "unit rows alone": (_scan, "SCALES", {"unit": UNIT}),
    "centred rows alone": (_scan, "SCALES", {"centred": CENTRED}),
    "first ridge alone": (_scan, "SCALES", {"unit": UNIT[:1], "centred": CENTRED[:1]}),
    "second ridge alone": (_scan, "SCALES", {"unit": UNIT[1:], "centred": CENTRED[1:]}),
    "no TLRR: the best labelling": (
        _labeller,
        "fused_labels",
        lambda labellings, *_, **__: _ensemble.ConsensusLabels(labellings[0], 0, 0.0),
    ),
    "no refinement": (_labeller, "refined_labellings", lambda labellings, *_: labellings),
    "refinement by ridge alone": (_ridge, "normalize", lambda A, **_: 0 * A),
}
CONSTANTS = [
    (_candidates, "SIZES", [(15, 30), (6, 11, 21, 42), (6, 8, 11, 15, 21, 30, 42, 60)]),
    (_candidates, "VOTING_NEIGHBORS", [15, 60]),
    (_candidates, "STARTS", [starts_without("2c"), starts_without("diffusion")]),
    (_labeller, "BEST", [3, 9, 16]),
    (_scan, "CANDIDATES", [30, 100]),
    (_scan, "LONGEST", [48, 100]),
    (_affinity, "REGULARIZATION", [0.003, 0.03]),
    (_ensemble, "ALPHA", [5.0, 18.0]),
    (_ensemble, "MAX_TUPLES", [100]),
    (_ridge, "RIDGE", [0.25, 1.0]),
    (_ridge, "REFINEMENTS", [2, 10]),
    (_ridge, "REGRESSED", [1024]),
    (_ridge, "N_LANDMARKS", [300, 1200]),
    (_landmarks, "SCALE_RANK", [5, 20]),
]


def variants():
    """Title of every variant, and what is written over: module, name and value, or nothing."""
    yield "default", None
    yield from PARTS.items()
    for module, name, values in CONSTANTS:
        for value in values:
            yield f"{name} = {value}", (module, name, value)


@contextlib.contextmanager
def written_over(change):
    """A name of a module has another value within."""
    if change is None:
        yield
        return
    module, name, value = change
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def accuracy(views, y, draw):
    kept = drawn(len(y), draw)
    views, y = [X[kept] for X in views], y[kept]
    model = ConsensusTLRR(len(np.unique(y)), random_state=0, n_threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a labelling of few clusters, where a part is missing
        return clustering_scores(y, model.fit_predict(views))["acc"]


def main(draws, only, names):
    data = {name: shuffled(name) for name in names}
    table, default = [], None
    for title, change in variants():
        if default is not None and not re.search(only, title):
            continue
        with written_over(change):
            seconds, acc = stopwatch(
                lambda: np.array(
                    [[accuracy(*data[name], draw) for draw in range(draws)] for name in names]
                )
            )
        means = acc.mean(axis=0)
        default = means.mean() if default is None else default
        table.append(
            [
                title,
                f"{means.mean():.4f}",
                f"{means.mean() - default:+.4f}",
                f"{np.ptp(means):.3f}",
                f"{seconds / acc.size:.1f}",
                *(f"{value:.3f}" for value in acc.mean(axis=1)),
            ]
        )
        print(f"{title}: {means.mean():.4f}", flush=True)
    print()
    print_table(
        ["changed", "mean ACC", "difference", "range of the means", "seconds a fit", *names], table
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3, help="draws of the samples")
    parser.add_argument("--only", default="", help="regular expression: the variants to run")
    parser.add_argument("--sets", nargs="*", choices=TEN, default=[*TEN], metavar="NAME")
    arguments = parser.parse_args()
    main(arguments.draws, arguments.only, arguments.sets)
