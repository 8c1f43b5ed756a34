"""Which cells there are, how long they take, and what is left out."""

import json
from statistics import median

from cells import Cell
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

ORDERS = ("file", "shuffled")
STUDIES = ("tables", "ablation", "initial", "sensitivity")
SHORT = 60.0  # seconds of a cell; longer ones have one seed
FEW = 5  # runs of k-means where many parameters are compared
KMEANS = 0.003  # seconds of a labelling for each cluster
IMAGE = 0.0065  # seconds of the features of one


def plan(sources, methods, orders, seeds, repeats, studies, longest):
    """All cells that are asked for.

    Parameters
    ----------
    sources : list of Source
    methods : sequence of str
        Of `METHODS`.
    orders : sequence of str
    seeds : int
    repeats : int
    studies : sequence of str
    longest : float
        Minutes; cells that take longer by the rough times of `METHODS` are left out, so that what
        is planned does not depend on the machine.

    Returns
    -------
    cells : list of Cell
        By set and input, each once.
    left_out : list of str
        What was left out, and why.
    """
    cells, left_out = [], []
    for source in sources:
        if "tables" in studies:
            for row in methods:
                method = METHODS[row]
                parameters = method.parameters_on(source.name)
                cost = seconds_of(method, parameters, source.n)
                for order in orders:
                    chosen, reason = _seeds(method, order, seeds, cost, longest)
                    if reason:
                        left_out.append(f"{source.name}, {row}, {_words(order)}: {reason}")
                    runs = repeats if method.kmeans else 1
                    cells += [
                        Cell("tables", source.name, row, order, seed, parameters, runs, row)
                        for seed in chosen
                    ]
        if "TLRR" in methods:
            for cell in _studies(source, studies, repeats):
                cost = seconds_of(METHODS[cell.method], cell.parameters, source.n)
                if cost > 60 * longest:
                    left_out.append(f"{source.name}, {cell.row}: {_too_long(cost)}")
                else:
                    cells.append(cell)
    unique = {(cell.data, cell.row, cell.order, cell.seed): cell for cell in cells}
    return sorted(unique.values(), key=lambda cell: cell.group[:3]), left_out


def seconds_of(method, parameters, n):
    """Rough seconds of a fit and of making its input."""
    seconds = method.seconds * (n / 640) ** method.power
    affinity = parameters.get("affinity")
    if isinstance(affinity, dict):
        seconds += seconds_of(METHODS[affinity["method"]], {}, n)
    return seconds


def estimated(cells, sources, records):
    """CPU seconds of every cell: measured where the same row is finished, otherwise rough ones.

    Rough ones are scaled by what all fits that are finished took together, against their own rough
    times together: long fits count for more, as they do in what is left.
    """
    size = {source.name: source.n for source in sources}
    clusters = {source.name: source.n_clusters for source in sources}
    fits, inputs, took, rough = {}, {}, 0.0, 0.0
    for record in records.values():
        if "seconds" in record and record["data"] in size:
            data, affinity = record["data"], record["parameters"].get("affinity")
            fits.setdefault((data, record["row"]), []).append(record["seconds"])
            if isinstance(affinity, dict):
                inputs[data, _name(affinity)] = record["input_seconds"]
            if record["method"] in METHODS:
                took += record["seconds"]
                rough += seconds_of(METHODS[record["method"]], {}, record["n"])
    scale = took / rough if rough > 0 else 1.0
    # Features of images are made before the first cell of their set.
    images = {
        source.name: IMAGE * source.n
        for source in sources
        if source.features is not None and not any(data == source.name for data, _ in fits)
    }
    times, group = [], None
    for cell in cells:
        n, affinity = size[cell.data], cell.parameters.get("affinity")
        known = fits.get((cell.data, cell.row))
        seconds = KMEANS * cell.repeats * clusters[cell.data] + images.pop(cell.data, 0.0)
        if not known:
            seconds += seconds_of(METHODS[cell.method], {}, n)
        seconds *= scale
        if known:
            seconds += median(known)
        if isinstance(affinity, dict) and cell.group != group:  # otherwise its input is there
            made = inputs.get((cell.data, _name(affinity)))
            seconds += (
                scale * seconds_of(METHODS[affinity["method"]], {}, n) if made is None else made
            )
        times.append(seconds)
        group = cell.group
    return times


def _name(affinity):
    """What a method that makes an input is known by."""
    return json.dumps(affinity, sort_keys=True)


def _seeds(method, order, seeds, cost, longest):
    """Seeds of the cells of a row, and why there are fewer than asked for."""
    if cost > 60 * longest:
        return [], _too_long(cost)
    different = method.random if order == "file" else method.random or not method.order_free
    if not different and order == "shuffled" and cost > SHORT:
        return [], f"does not depend on the order, and takes about {cost:.0f} s"
    wanted = seeds if different else 1
    if wanted > 1 and cost > SHORT:
        return [0], f"1 of {wanted} seeds, as one takes about {cost:.0f} s"
    return range(wanted), None


def _too_long(cost):
    return f"takes about {cost / 60:.0f} minutes, more than a cell may (longest)"


def _words(order):
    return {"file": "file order", "shuffled": "shuffled"}[order]


def _studies(source, studies, repeats):
    """Cells beside the tables, all of TLRR in file order."""
    name = source.name
    base = METHODS["TLRR"].parameters_on(name)
    if "ablation" in studies and name == ABLATION_SET:
        for row, change in ABLATION.items():
            parameters = {**base, **change, "affinity": ABLATION_INPUT}
            yield Cell("ablation", name, row, "file", 0, parameters, repeats, "TLRR")
    if "initial" in studies and name in NEIGHBORS:
        for method in INITIAL:
            affinity = {"method": method, **METHODS[method].parameters_on(name)}
            parameters = {
                "omega1": base["omega1"],
                "alpha": base["alpha"],
                "n_neighbors": NEIGHBORS[name],
                "affinity": affinity,
            }
            yield Cell(
                "initial",
                name,
                f"TLRR after {method}",
                "file",
                0,
                parameters,
                repeats,
                "TLRR exact",
            )
    if "sensitivity" in studies and name in SENSITIVITY_SETS:
        exact = METHODS["TLRR exact"].parameters_on(name)
        for pair in HEAT_MAPS:
            for first in SENSITIVITY[pair[0]]:
                for second in SENSITIVITY[pair[1]]:
                    parameters = {**exact, pair[0]: first, pair[1]: second}
                    row = "TLRR at " + ", ".join(
                        f"{key} {parameters[key]:g}" for key in SENSITIVITY
                    )
                    yield Cell(
                        "sensitivity",
                        name,
                        row,
                        "file",
                        0,
                        parameters,
                        min(FEW, repeats),
                        "TLRR exact",
                    )
