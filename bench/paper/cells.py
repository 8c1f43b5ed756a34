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
from report import drawn
from settings import (
    ABLATION,
    ABLATION_INPUT,
    ABLATION_SET,
    HEAT_MAPS,
    INITIAL,
    METHODS,
    NEIGHBORS,
    SENSITIVITY,
    SENSITIVITY_SETS,
)
from timing import cpu_seconds, limit_threads

from mvsc_fast import __version__
from mvsc_fast.explanation import plot_similarity
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.spectral._cut import assign

ORDERS = ("file", "shuffled")
STUDIES = ("tables", "ablation", "initial", "sensitivity")
FEW = 5  # runs of k-means where many parameters are compared


class Cell(NamedTuple):
    """What is computed: a row and a method of `METHODS`, ``repeats`` runs of k-means on a fit."""

    study: str
    data: str
    row: str
    order: str
    seed: int
    parameters: dict
    repeats: int
    method: str


def plan(names, methods, orders, seeds, repeats, studies):
    """All cells of some data sets, methods, orders and studies, by set and input."""
    cells = []
    for name in names:
        for row in methods if "tables" in studies else ():
            method = METHODS[row]
            work = method.parameters_on(name), repeats if method.kmeans else 1, row
            for order in orders:
                for seed in method.seeds(order, seeds):
                    cells.append(Cell("tables", name, row, order, seed, *work))
        if "TLRR" in methods:
            for study, row, *work in studies_of(name, repeats):
                if study in studies:
                    cells.append(Cell(study, name, row, "file", 0, *work))
    return sorted(cells, key=lambda cell: (cell.data, cell.order, cell.seed))


def input_of(cell):
    """How the similarity tensor of a cell is made, which a process keeps for the next cell."""
    return json.dumps(cell.parameters.get("affinity"), sort_keys=True)


def studies_of(name, repeats):
    """Cells beside the tables: study, row, parameters, runs of k-means, and method."""
    base, exact = (METHODS[row].parameters_on(name) for row in ("TLRR", "TLRR exact"))
    if name == ABLATION_SET:
        for row, change in ABLATION.items():
            yield "ablation", row, base | change | {"affinity": ABLATION_INPUT}, repeats, "TLRR"
    if name in NEIGHBORS:
        for method in INITIAL:
            parameters = {key: base[key] for key in ("omega1", "alpha")}
            parameters["n_neighbors"] = NEIGHBORS[name]
            parameters["affinity"] = {"method": method, **METHODS[method].parameters_on(name)}
            yield "initial", f"TLRR after {method}", parameters, repeats, "TLRR exact"
    if name in SENSITIVITY_SETS:
        for across, up in HEAT_MAPS:
            for first in SENSITIVITY[across]:
                for second in SENSITIVITY[up]:
                    parameters = exact | {across: first, up: second}
                    values = ", ".join(f"{key} {parameters[key]:g}" for key in SENSITIVITY)
                    row, runs = f"TLRR at {values}", min(FEW, repeats)
                    yield "sensitivity", row, parameters, runs, "TLRR exact"


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
    """Scores of every run of a cell, CPU seconds, residuals, warnings, and its picture."""
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
    residual = getattr(model, "history_", {}).get("residual", ())
    first = cell.study == "tables" and cell.seed == 0
    return {
        "scores": scores(y, labellings),
        "seconds": seconds,
        "input_seconds": input_seconds,
        "residual": [float(f"{x:.4g}") if np.isfinite(x) else None for x in residual],
        "versions": versions,
        "warnings": sorted(text for text in texts if "depend on their order" not in text),
        "picture": picture(model, y) if first else None,
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
    """Every score of every labelling."""
    results = [clustering_scores(y, labels) for labels in labellings]
    return {name: [round(result[name], 6) for result in results] for name in results[0]}


def picture(model, y):
    """The affinity with classes side by side, as a PNG image; None without an affinity."""
    affinity = getattr(model, "affinity_matrix_", None)
    if affinity is None or affinity.shape[0] != len(y):
        return None
    return drawn(lambda ax: plot_similarity(affinity, y, ax=ax))
