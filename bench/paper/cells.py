"""Cells of the tables: a method on a data set in one order of its samples."""

import contextlib
import hashlib
import json
import platform
import signal
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
import scipy.sparse
import sklearn
from data import append, save_arrays
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
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.spectral._cut import assign

ORDERS = ("file", "shuffled")
STUDIES = ("tables", "ablation", "initial", "sensitivity")
FEW = 5  # runs of k-means where many parameters are compared
PICTURE = 240  # rows of the affinity kept for its picture
LARGEST = 10 * PICTURE  # rows of which they are made


class Cell(NamedTuple):
    """What is computed, and what the result is known by: a row and a method of `METHODS`."""

    study: str
    data: str
    row: str
    order: str
    seed: int
    parameters: dict
    repeats: int
    method: str

    def key(self, digest):
        """Name of the result: the same for the same work by the same version."""
        work = [__version__, digest, *self[1:7]]
        return hashlib.sha1(json.dumps(work, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def group(self):
        """Cells of one group have the same input, which a process makes once."""
        affinity = self.parameters.get("affinity")
        return (self.data, self.order, self.seed, json.dumps(affinity, sort_keys=True))


def plan(names, methods, orders, seeds, repeats, studies):
    """All cells that are asked for, each once, by set and input.

    Parameters
    ----------
    names : list of str
        Data sets.
    methods : sequence of str
        Of `METHODS`.
    orders, studies : sequence of str
        Of `ORDERS` and `STUDIES`.
    seeds, repeats : int
        Seeds of a row at most, and runs of k-means on a fit.
    """
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
    unique = {(cell.data, cell.row, cell.order, cell.seed): cell for cell in cells}
    return sorted(unique.values(), key=lambda cell: cell.group[:3])


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


def work(cell, source, output, longest):
    """Compute a cell and append its record, which is also returned, to the results.

    A cell that fails, or takes more than ``longest`` minutes, leaves a record with the ``error``;
    it is computed again by the next run.
    """
    record = {"key": cell.key(source.digest), **cell._asdict(), "n": source.n}
    record |= {"n_clusters": source.n_clusters, "versions": versions()}
    try:
        with at_most(longest), limit_threads(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result, arrays = compute(cell, source, output)
        texts = {" ".join(str(warning.message).split()) for warning in caught}
        record["warnings"] = sorted(text for text in texts if "depend on their order" not in text)
        record |= result
    except Exception as error:  # whatever a method raises, the other cells go on
        record["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    else:
        if arrays and cell.study == "tables" and cell.seed == 0:
            save_arrays(arrays_path(output, record["key"]), arrays)
    record["finished"] = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    append(output, record)
    return record


@contextlib.contextmanager
def at_most(minutes):
    """TimeoutError between two iterations after some minutes."""

    def stop(*_):
        raise TimeoutError(f"stopped after {minutes:g} minutes (longest)")

    former = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def arrays_path(output, key):
    """Where the affinity of a cell's picture is."""
    return Path(output) / "arrays" / f"{key}.npz"


def versions():
    """What results may depend on, beside parameters."""
    packages = {"mvsc_fast": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    machine = f"{platform.system()} {platform.machine()}"
    python = {"python": platform.python_version(), "machine": machine}
    return packages | {"scikit-learn": sklearn.__version__} | python


def compute(cell, source, output):
    """What the record of a finished cell has, and the arrays of its picture."""
    seed = cell.seed if cell.order == "shuffled" else None
    views, y = keep("views", (source.digest, seed), lambda: load(source, output, seed))
    parameters, data, input_seconds = dict(cell.parameters), views, 0.0
    if isinstance(parameters.get("affinity"), dict):
        affinity, parameters["affinity"] = parameters["affinity"], "precomputed"
        key = source.digest, *cell.group
        input_seconds, data = keep("input", key, lambda: input_tensor(affinity, views))
    method = METHODS[cell.method]
    model = method.make(source.n_clusters, random_state=cell.seed, **parameters)
    if "n_threads" in model.get_params():
        model.set_params(n_threads=1)
    seconds, _ = cpu_seconds(model.fit, data)

    labellings = [getattr(model, "labels_", None)]
    if method.kmeans:
        degree = model.affinity_matrix_.sum(axis=1)
        options = [{"order": degree, "random_state": seed} for seed in range(cell.repeats)]
        labellings = [assign(model.embedding_, source.n_clusters, **each) for each in options]
    residual = getattr(model, "history_", {}).get("residual", ())
    record = {
        "scores": scores(y, labellings),
        "seconds": seconds,
        "input_seconds": input_seconds,
        "n_iter": plain(getattr(model, "n_iter_", None)),
        "converged": plain(getattr(model, "converged_", None)),
        "residual": [float(f"{x:.4g}") if np.isfinite(x) else None for x in residual],
    }
    return record, picture(model, y)


def load(source, output, seed):
    views, y = source.load(output)
    if seed is None:
        return views, y
    order = np.random.RandomState(seed).permutation(len(y))
    return [X[order] for X in views], y[order]


def input_tensor(affinity, views):
    """CPU seconds, and the similarity tensor that a method makes, whatever the clusters."""
    parameters = {"n_init": 1, "random_state": 0, "n_threads": 1, **affinity}
    model = METHODS[parameters.pop("method")].make(2, **parameters)
    seconds, _ = cpu_seconds(model.fit, views)
    return seconds, model.tensor_


def scores(y, labellings):
    """Every score of every labelling; of several at once the best by ACC."""
    best = []
    for labels in labellings:
        results = [clustering_scores(y, each) for each in np.atleast_2d(labels)]
        best.append(max(results, key=lambda result: result["acc"]))
    return {name: [round(result[name], 6) for result in best] for name in best[0]}


def plain(value):
    """A number as JSON knows it."""
    return value.item() if hasattr(value, "item") else value


def picture(model, y):
    """The affinity by class, in few rows."""
    affinity = getattr(model, "affinity_matrix_", None)
    if affinity is None or affinity.shape[0] != len(y):
        return {}
    rows = np.argsort(y, kind="stable")[:: -(-len(y) // LARGEST)]
    affinity = affinity[rows][:, rows]
    affinity = affinity.toarray() if scipy.sparse.issparse(affinity) else affinity
    starts = np.arange(0, len(rows), -(-len(rows) // PICTURE))
    for axis in (0, 1):  # every k-th entry alone would lose the few neighbours of a sample
        affinity = np.maximum.reduceat(affinity, starts, axis=axis)
    top = affinity.max() or 1.0  # entries of half precision end at 65 504
    return {"affinity": (affinity / top).astype(np.float16), "labels": y[rows[starts]]}


KEPT = {}


def keep(kind, key, make):
    """What ``make`` gives, or gave last time where the key is the same; one value of each kind."""
    if KEPT.get(kind, (None,))[0] != key:
        KEPT.pop(kind, None)  # before the next one needs its memory
        KEPT[kind] = key, make()
    return KEPT[kind][1]
