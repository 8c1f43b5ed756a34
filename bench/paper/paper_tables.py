"""Compute the tables of the paper: in file order, as published, and on shuffled samples.

Every finished fit is kept in the output folder (`joblib.Memory`), and a run that was stopped
continues from there. The report is one page of Markdown, with the numbers of the paper beside.

The data folder has ``.npz`` files with samples as rows of ``view_0``, ``view_1``, ... and labels
``y``. Those of the paper's five sets are ``orl_images``, ``yale_images`` and ``coil20_images``
(``view_0`` holds the pixels; `features` makes the views), ``yaleb10`` and ``uci_digit``; any other
file is a data set, by its name. Further methods are entries of `settings.METHODS`.
"""

import json
import warnings
from functools import lru_cache
from itertools import product
from pathlib import Path

import joblib
import numpy as np
from settings import METHODS, PAPER, SETS
from timing import cpu_seconds, limit_threads, markdown_table, read_views, report

from mvsc_fast import __version__
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.spectral._cut import assign

OPTIONS = {
    "data": None,  # the folder
    "output": "reproduced",
    "methods": [*METHODS],
    "sets": [*SETS],
    "seeds": 3,  # shuffles, and random starts of methods that have any
    "repeats": 20,  # runs of k-means on every fit; the paper's means are over 20
    "jobs": joblib.cpu_count(),  # fits at a time, each with one thread
}
ORDERS = ("file order", "shuffled")
SCORES = ("acc", "nmi", "ari")
NOTE = """**File order** is how such files come, sorted by class, and how the paper was computed:
methods with a Fourier transform along the samples profit from it. **Shuffled** is what a user's own
data are like; methods that do not depend on the order have no such cells. Values are ACC / NMI /
ARI, means over runs of k-means and over shuffles; – is not at hand."""


@lru_cache(maxsize=1)
def load(path, intensity_size, output, seed):
    """Views and labels of a file, in file order without a seed."""
    views, y = read_views(path)
    if intensity_size:
        from features import image_views  # only images need scikit-image

        with np.load(path) as file:
            meta = json.loads(str(file["meta"])) if "meta" in file.files else {}
        side = round(views[0].shape[1] ** 0.5)
        images = views[0].reshape(len(y), *meta.get("image_shape", (side, side)))
        views = joblib.Memory(output, verbose=0).cache(image_views)(images, intensity_size)
    order = np.arange(len(y)) if seed is None else np.random.RandomState(seed).permutation(len(y))
    return [X[order].astype(np.float64) for X in views], y[order]  # as the methods were published


@lru_cache(maxsize=1)
def input_tensor(affinity, *source):
    """The similarity tensor that a method makes, whatever the clusters."""
    parameters = {"n_init": 1, "random_state": 0, **json.loads(affinity)}
    return METHODS[parameters.pop("method")].make(2, **parameters).fit(load(*source)[0]).tensor_


def fit(row, parameters, seed, repeats, source, version):
    """Scores of every run of k-means on one fit, and its CPU seconds without those of its input."""
    method, (views, y), parameters = METHODS[row], load(*source), dict(parameters)
    with limit_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the order of the samples
        if isinstance(parameters.get("affinity"), dict):
            views = input_tensor(json.dumps(parameters["affinity"], sort_keys=True), *source)
            parameters["affinity"] = "precomputed"
        model = method.make(len(np.unique(y)), random_state=seed, **parameters)
        seconds, _ = cpu_seconds(model.fit, views)
        labellings = [getattr(model, "labels_", None)]
        if method.kmeans:
            options = {"order": model.affinity_matrix_.sum(axis=1)}
            labellings = [
                assign(model.embedding_, len(np.unique(y)), random_state=state, **options)
                for state in range(repeats)
            ]
    every = [clustering_scores(y, labels) for labels in labellings]
    return [[scores[name] for name in SCORES] for scores in every], seconds


def work(path, name, row, order, seed, repeats, output):
    """The cell of a fit, which is computed if the folder does not have it; or what went wrong."""
    _, intensity_size = SETS.get(name, (name, None))
    source = path, intensity_size, output, seed if order == "shuffled" else None
    kept = joblib.Memory(output, verbose=0).cache(fit)
    try:
        scores, seconds = kept(
            row, METHODS[row].parameters_on(name), seed, repeats, source, __version__
        )
    except Exception as error:  # whatever a method raises, the other cells go on
        scores, seconds = None, f"{type(error).__name__}: {' '.join(str(error).split())}"
    report(name, row, order, seconds if scores is None else f"ACC {max(scores)[0]:.3f}")
    return name, row, order, scores, seconds


def plan(names, methods, seeds):
    """Set, method, order and seed of every fit; neighbours share their input."""
    for name, order in product(names, ORDERS):
        for row in methods:
            method = METHODS[row]
            if method.only in (None, name) and (order == "file order" or not method.order_free):
                yield from ((name, row, order, seed) for seed in method.seeds(order, seeds))


def page(results):
    """The report: a table for each set, parameters with reasons, and what failed."""
    cells, failed = {}, []
    for name, row, order, scores, seconds in results:
        if scores is None:
            failed.append(f"* {name}, {row}, {order}: {seconds}")
        else:
            runs, spent = cells.setdefault(name, {}).setdefault(row, {}).setdefault(order, ([], []))
            runs += scores
            spent.append(seconds)
    parts = [f"# The paper's tables\n\nmvsc_fast {__version__}. {NOTE}"]
    for name, rows in cells.items():
        lines = []
        for row, orders in rows.items():
            means = [orders.get(order, ([], []))[0] for order in ORDERS]
            texts = [" / ".join(f"{x:.3f}" for x in np.mean(m, axis=0)) if m else "" for m in means]
            paper = PAPER.get((name, row), ())
            texts.insert(1, " / ".join("–" if x is None else f"{x:.3f}" for x in paper))
            seconds = np.median([x for _, spent in orders.values() for x in spent])
            lines.append([row, *texts, f"{seconds:.3g}"])
        header = ["method", "file order", "paper", "shuffled", "CPU s"]
        parts.append(f"## {name}\n\n{markdown_table(header, lines)}")
    rows = dict.fromkeys(row for rows in cells.values() for row in rows)
    parts.append("## Parameters\n\n" + "\n".join(f"* {row}: {METHODS[row].reason}" for row in rows))
    return "\n\n".join([*parts, *(["## Failed\n\n" + "\n".join(failed)] if failed else [])]) + "\n"


def main(data, output, methods, sets, seeds, repeats, jobs):
    """Compute what is not finished, write the report, and return its text."""
    if unknown := [name for name in methods if name not in METHODS]:
        raise SystemExit(f"unknown {unknown[0]!r}: known are {', '.join(METHODS)}")
    paths = {name: Path(data) / f"{SETS.get(name, (name,))[0]}.npz" for name in sets}
    paths = {name: path for name, path in paths.items() if path.exists()}
    if not paths:
        raise SystemExit(f"{data} has no file of {', '.join(sets)}")
    tasks = (
        joblib.delayed(work)(paths[name], name, row, order, seed, repeats, output)
        for name, row, order, seed in plan(paths, methods, seeds)
    )
    with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        text = page(joblib.Parallel(batch_size=1, return_as="generator")(tasks))
    Path(output, "report.md").write_text(text, encoding="utf-8")
    return text
