"""Compute the paper's tables and pictures, and write a report.

Methods are fitted on data sets in file order, as published, and on shuffled samples, as a user's
data are. Every finished cell is kept in the output folder (`joblib.Memory`), and a run that was
stopped continues from there. The report is a page of Markdown with tables next to the paper's
numbers, curves, heat maps and similarity matrices.

The data folder has ``.npz`` files with samples as rows of ``view_0``, ``view_1``, ... and labels
``y``. Those of the paper's five sets are ``orl_images``, ``yale_images`` and ``coil20_images``
(``view_0`` holds the pixels; `features` makes the views), ``yaleb10`` and ``uci_digit``; any other
file is a data set, by its name. Further methods are entries of `settings.METHODS`.
"""

import json
from pathlib import Path

import joblib
from cells import ORDERS, STUDIES, plan, work
from data import find_sources
from report import write_report
from settings import METHODS, SETS
from timing import report

OPTIONS = {
    "data": None,  # the folder
    "output": "reproduced",
    "methods": [*METHODS],
    "sets": [*SETS],
    "orders": [*ORDERS],
    "studies": [*STUDIES],  # those beside the tables are of TLRR in file order
    "seeds": 3,  # shuffles, and random starts of methods that have any
    "repeats": 20,  # runs of k-means on every fit; the paper's means are over 20
    "jobs": joblib.cpu_count(),  # cells at a time, each with one thread
}


def main(data, output, methods, sets, orders, studies, seeds, repeats, jobs):
    """Compute what is not finished, write the report, and return the records of all cells."""
    for names, known in ((methods, METHODS), (orders, ORDERS), (studies, STUDIES)):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise SystemExit(f"unknown {unknown[0]!r}: known are {', '.join(known)}")
    sources, absent = find_sources(data, sets)
    cells = plan([*sources], methods, orders, seeds, repeats, studies)
    report(f"{len(cells)} cells")
    tasks = (joblib.delayed(work)(cell, sources[cell.data], output) for cell in cells)
    records = []
    with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        for record in joblib.Parallel(batch_size=1, return_as="generator")(tasks):
            outcome = record.get("error") or f"ACC {max(record['scores']['acc']):.3f}"
            report(record["data"], record["row"], record["order"], outcome)
            records.append(record)
    plain = [{key: record[key] for key in record if key != "picture"} for record in records]
    (Path(output) / "results.json").write_text(json.dumps(plain, indent=1), encoding="utf-8")
    left_out = [f"{name}: not in the data folder" for name in absent]
    report(f"wrote {write_report(output, records, left_out)}")
    return records
