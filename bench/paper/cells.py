"""Cells of the tables: a method on a data set in one order of its samples."""

import json
import platform
import warnings
from functools import lru_cache
from typing import NamedTuple

import joblib
import numpy as np
import scipy
import sklearn
from settings import ABLATION, ABLATION_INPUT, ABLATION_SET, METHODS
from timing import cpu_seconds, limit_threads

from mvsc_fast import __version__
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.spectral._cut import assign

ORDERS = ("file", "shuffled")


class Cell(NamedTuple):
    """What is computed: a row and a method of `METHODS`, ``repeats`` runs of k-means on a fit."""

    data: str
    row: str
    order: str
    seed: int
    parameters: dict
    repeats: int
    method: str


def plan(names, methods, orders, seeds, repeats):
    """All cells of some data sets, methods and orders, by set and input; and of TLRR's terms."""
    cells = []
    for name in names:
        for row in methods:
            method = METHODS[row]
            work = method.parameters_on(name), repeats if method.kmeans else 1, row
            for order in orders:
                for seed in method.seeds(order, seeds):
                    cells.append(Cell(name, row, order, seed, *work))
    if ABLATION_SET in names and "TLRR" in methods and "file" in orders:
        base = METHODS["TLRR"].parameters_on(ABLATION_SET) | {"affinity": ABLATION_INPUT}
        for row, change in ABLATION.items():
            cells.append(Cell(ABLATION_SET, row, "file", 0, base | change, repeats, "TLRR"))
    return sorted(cells, key=lambda cell: (cell.data, cell.order, cell.seed))


def input_of(cell):
    """How the similarity tensor of a cell is made, which a process keeps for the next cell."""
    return json.dumps(cell.parameters.get("affinity"), sort_keys=True)


def work(cell, source, output):
    """The record of a cell, which is computed if the folder ``output`` does not have it.

    The record of a cell that fails has an ``error``: the next run computes it again.
    """
    kept = joblib.Memory(output, verbose=0).cache(compute, ignore=["source", "output"])
    try:
        with limit_threads(1):
            record = kept(cell, source.digest, versions(), source, output)
    except Exception as error:  # whatever a method raises, the other cells go on
        record = {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    return cell._asdict() | record


def versions():
    """What results may depend on, beside parameters."""
    packages = {"mvsc_fast": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    machine = f"{platform.system()} {platform.machine()}"
    python = {"python": platform.python_version(), "machine": machine}
    return packages | {"scikit-learn": sklearn.__version__} | python


def compute(cell, digest, versions, source, output):
    """Scores of every run of a cell, CPU seconds, and warnings."""
    seed = cell.seed if cell.order == "shuffled" else None
    views, y = load(source, output, seed)
    parameters, data, input_seconds = dict(cell.parameters), views, 0.0
    if isinstance(parameters.get("affinity"), dict):
        parameters["affinity"] = "precomputed"
        input_seconds, data = input_tensor(input_of(cell), source, output, seed)
    method, n_clusters = METHODS[cell.method], len(np.unique(y))
    model = method.make(n_clusters, random_state=cell.seed, **parameters)
    if hasattr(model, "n_threads"):
        model.n_threads = 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds, _ = cpu_seconds(model.fit, data)
    texts = {" ".join(str(warning.message).split()) for warning in caught}

    labellings = [getattr(model, "labels_", None)]
    if method.kmeans:
        degree = model.affinity_matrix_.sum(axis=1)
        options = [{"order": degree, "random_state": state} for state in range(cell.repeats)]
        labellings = [assign(model.embedding_, n_clusters, **each) for each in options]
    return {
        "scores": scores(y, labellings),
        "seconds": seconds,
        "input_seconds": input_seconds,
        "versions": versions,
        "warnings": sorted(text for text in texts if "depend on their order" not in text),
    }


@lru_cache(maxsize=1)
def load(source, output, seed):
    views, y = source.load(output)
    if seed is None:
        return views, y
    order = np.random.RandomState(seed).permutation(len(y))
    return [X[order] for X in views], y[order]


@lru_cache(maxsize=1)
def input_tensor(affinity, source, output, seed):
    """CPU seconds, and the similarity tensor that a method makes, whatever the clusters."""
    parameters = {"n_init": 1, "random_state": 0, "n_threads": 1, **json.loads(affinity)}
    model = METHODS[parameters.pop("method")].make(2, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the order of the samples
        seconds, _ = cpu_seconds(model.fit, load(source, output, seed)[0])
    return seconds, model.tensor_


def scores(y, labellings):
    """Every score of every labelling; of several at once the best by ACC."""
    best = []
    for labels in labellings:
        results = [clustering_scores(y, each) for each in np.atleast_2d(labels)]
        best.append(max(results, key=lambda result: result["acc"]))
    return {name: [round(result[name], 6) for result in best] for name in best[0]}
