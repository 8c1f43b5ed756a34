"""From records of cells to numbers beside the paper's."""

import csv
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from settings import PAPER

SCORES = ("acc", "nmi", "ari", "f1", "precision", "recall", "purity")
CLOSE = 0.005  # a difference of rounding and of the starts of k-means


class Entry(NamedTuple):
    """A row on a set in one order: all its runs together."""

    mean: dict
    """Of every score."""
    spread: dict
    """Standard deviation over runs of k-means and seeds."""
    runs: int
    seconds: float
    """Of the CPU: median of a fit with its input."""
    peak_mib: float | None
    """Largest."""


def entries(records):
    """{(data, row, order): Entry} of all finished cells."""
    groups = {}
    for record in records:
        if "scores" in record:
            key = record["data"], record["row"], record["order"]
            groups.setdefault(key, []).append(record)
    return {key: _entry(group) for key, group in groups.items()}


def _entry(group):
    runs = {name: np.concatenate([one["scores"][name] for one in group]) for name in SCORES}
    peaks = [one["peak_mib"] for one in group if one["peak_mib"] is not None]
    return Entry(
        {name: float(values.mean()) for name, values in runs.items()},
        {name: float(values.std()) for name, values in runs.items()},
        len(runs["acc"]),
        float(np.median([one["seconds"] + one["input_seconds"] for one in group])),
        max(peaks, default=None),
    )


def ordered(values):
    """Distinct values in the order in which they appear."""
    return list(dict.fromkeys(values))


def paper_value(data, row, score):
    """The paper's number in file order, or None."""
    given = PAPER.get((data, row))
    return None if given is None else dict(zip(SCORES, given, strict=False)).get(score)


def write_csv(output, records):
    """``tables/cells.csv``, one line a cell, and ``tables/rows.csv``, one a row, set and order."""
    folder = Path(output) / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    fields = [
        "study",
        "data",
        "row",
        "order",
        "seed",
        "n",
        "n_clusters",
        "seconds",
        "input_seconds",
        "peak_mib",
        "n_iter",
        "converged",
        "error",
    ]
    with open(folder / "cells.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([*fields, *SCORES, "runs", "parameters", "warnings", "versions"])
        for record in records:
            scores = record.get("scores", {})
            table.writerow(
                [
                    *(record.get(field) for field in fields),
                    *(f"{np.mean(scores[name]):.5f}" if scores else "" for name in SCORES),
                    len(scores.get("acc", ())),
                    *(
                        json.dumps(record.get(name))
                        for name in ("parameters", "warnings", "versions")
                    ),
                ]
            )
    with open(folder / "rows.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        columns = [f"{name} {part}" for name in SCORES for part in ("mean", "std")]
        paper = [f"paper {name}" for name in SCORES[:3]]
        table.writerow(["data", "row", "order", "runs", *columns, *paper, "seconds", "peak_mib"])
        for (data, row, order), entry in entries(records).items():
            numbers = [
                f"{part[name]:.5f}" for name in SCORES for part in (entry.mean, entry.spread)
            ]
            given = [
                paper_value(data, row, name) if order == "file" else None for name in SCORES[:3]
            ]
            table.writerow(
                [
                    data,
                    row,
                    order,
                    entry.runs,
                    *numbers,
                    *given,
                    f"{entry.seconds:.3f}",
                    entry.peak_mib,
                ]
            )
