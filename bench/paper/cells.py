"""One cell of the tables: a method on a data set in one order of its samples."""

import contextlib
import ctypes
import hashlib
import json
import platform
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
import scipy.sparse
import sklearn
from data import save_arrays
from settings import METHODS
from store import append

from mvsc_fast import __version__
from mvsc_fast._utils.threads import limit_threads
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.spectral._cut import assign

PICTURE = 240  # rows of the affinity kept for its picture
LARGEST = 10 * PICTURE  # rows of which they are made


class Cell(NamedTuple):
    """What is computed, and what the result is known by."""

    study: str
    data: str
    row: str
    order: str
    """ "file" or "shuffled"."""
    seed: int
    parameters: dict
    """Of the estimator."""
    repeats: int
    """Runs of k-means on one fit."""
    method: str
    """In `METHODS`."""

    def key(self, digest):
        """Name of the result: the same for the same work by the same version."""
        work = [
            __version__,
            digest,
            self.data,
            self.row,
            self.order,
            self.seed,
            self.parameters,
            self.repeats,
        ]
        return hashlib.sha1(json.dumps(work, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def group(self):
        """Cells of one group have the same input, which a process makes once."""
        affinity = self.parameters.get("affinity")
        return (self.data, self.order, self.seed, json.dumps(affinity, sort_keys=True))


def work(cell, source, output, pictures, longest):
    """Compute a cell and append its record, which is also returned, to the results.

    A cell that fails, or takes more than ``longest`` minutes, leaves a record with the ``error``;
    it is computed again by the next run.
    """
    record = {
        "key": cell.key(source.digest),
        **cell._asdict(),
        "n": source.n,
        "n_clusters": source.n_clusters,
        "versions": versions(),
    }
    try:
        with _at_most(longest), limit_threads(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found, arrays = _compute(cell, source, output)
        texts = {" ".join(str(one.message).split()) for one in caught}
        found["warnings"] = sorted(text for text in texts if "depend on their order" not in text)
        record.update(found)
    except Exception as error:  # whatever a method raises, the other cells go on
        record["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    else:
        if pictures and arrays:
            save_arrays(arrays_path(output, record["key"]), arrays, np.savez_compressed)
    record["finished"] = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    append(output, record)
    return record


@contextlib.contextmanager
def _at_most(minutes):
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
    """Where the arrays of a cell's pictures are."""
    return Path(output) / "arrays" / f"{key}.npz"


def versions():
    """What results may depend on, beside parameters."""
    return {
        "mvsc_fast": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _compute(cell, source, output):
    views, y = _keep(
        "views",
        (source.digest, cell.order, cell.seed if cell.order == "shuffled" else None),
        lambda: _ordered(source.load(output), cell),
    )
    model, data, input_seconds = _model(cell, source, views)
    _return_memory()
    resident = _memory("VmRSS")
    measurable = _reset_peak()
    start, wall = time.process_time(), time.perf_counter()
    model.fit(data)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    labellings = _labellings(cell, model, source.n_clusters)
    peak = max(0, _memory("VmHWM") - resident) / 1024 if measurable else None
    record = {
        "scores": _scores(y, labellings),
        "seconds": seconds,  # of the CPU, which has other work too
        "wall_seconds": wall,
        "input_seconds": input_seconds,
        "peak_mib": peak,
        "n_iter": _plain(getattr(model, "n_iter_", None)),
        "converged": _plain(getattr(model, "converged_", None)),
        "tol": _plain(getattr(model, "tol", None)),
        "residual": _history(model),
    }
    return record, _arrays(model, y)


def _ordered(loaded, cell):
    views, y = loaded
    if cell.order == "file":
        return views, y
    order = np.random.RandomState(cell.seed).permutation(len(y))
    return [X[order] for X in views], y[order]


def _model(cell, source, views):
    """The estimator, what it is fitted on, and the seconds that making that took."""
    parameters = dict(cell.parameters)
    method = METHODS[cell.method]
    data, seconds = views, 0.0
    if isinstance(parameters.get("affinity"), dict):
        data, seconds = _keep(
            "input", (source.digest, *cell.group), lambda: _input(parameters["affinity"], views)
        )
        parameters["affinity"] = "precomputed"
    model = method.make(source.n_clusters, random_state=cell.seed, **parameters)
    if "n_threads" in model.get_params():
        model.set_params(n_threads=1)
    return model, data, seconds


def _input(affinity, views):
    """The similarity tensor that a method makes, and the CPU seconds it takes."""
    parameters = {"n_init": 1, "random_state": 0, "n_threads": 1, **affinity}
    method = METHODS[parameters.pop("method")]
    start = time.process_time()
    tensor = method.make(2, **parameters).fit(views).tensor_  # whatever the number of clusters
    return tensor, time.process_time() - start


def _labellings(cell, model, n_clusters):
    """One labelling for each run of k-means, or the estimator's own."""
    if not METHODS[cell.method].kmeans:
        return [model.labels_]
    degree = model.affinity_matrix_.sum(axis=1)
    return [
        assign(model.embedding_, n_clusters, order=degree, random_state=seed)
        for seed in range(cell.repeats)
    ]


def _scores(y, labellings):
    """Every score of every labelling; of several at once the best by ACC."""
    best = [
        max((clustering_scores(y, one) for one in np.atleast_2d(labels)), key=lambda s: s["acc"])
        for labels in labellings
    ]
    return {name: [round(one[name], 6) for one in best] for name in best[0]}


def _history(model):
    residual = getattr(model, "history_", {}).get("residual", ())
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in residual]


def _plain(value):
    """A number as JSON knows it."""
    return value.item() if hasattr(value, "item") else value


def _arrays(model, y):
    """What pictures are drawn from: the affinity by class, and the embedding."""
    arrays = {}
    affinity = getattr(model, "affinity_matrix_", None)
    if affinity is not None and affinity.shape[0] == len(y):
        rows = np.argsort(y, kind="stable")
        rows = rows[:: -(-len(y) // LARGEST)]
        affinity = affinity[rows][:, rows]
        affinity = affinity.toarray() if scipy.sparse.issparse(affinity) else affinity
        starts = np.arange(0, len(rows), -(-len(rows) // PICTURE))
        for axis in (0, 1):  # every k-th entry alone would lose the few neighbours of a sample
            affinity = np.maximum.reduceat(affinity, starts, axis=axis)
        top = affinity.max() or 1.0  # entries of half precision end at 65 504
        arrays |= {
            "affinity": (affinity / top).astype(np.float16),
            "affinity_labels": y[rows[starts]],
        }
    embedding = getattr(model, "embedding_", None)
    if embedding is not None and len(embedding) == len(y):
        arrays |= {"embedding": np.asarray(embedding, dtype=np.float32), "labels": y}
    return arrays


_kept = {}


def _keep(kind, key, make):
    """What ``make`` gives, or gave last time where the key is the same; one value of each kind."""
    if _kept.get(kind, (None,))[0] != key:
        _kept.pop(kind, None)  # before the next one needs its memory
        _kept[kind] = key, make()
    return _kept[kind][1]


def _return_memory():
    """Give what earlier cells freed back to the system, where the C library can (glibc)."""
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _reset_peak():
    """Whether the peak of this process's memory could be set back to what it has now."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _memory(field):
    """Kilobytes of this process, 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)
