"""Run the cells that are not finished, in parallel, and write the report."""

from collections import Counter
from pathlib import Path

import joblib
from cells import ORDERS, STUDIES, plan, work
from data import find_sources, read_results
from joblib.externals.loky.process_executor import TerminatedWorkerError
from report import write_report
from settings import METHODS
from tqdm import tqdm


def run(
    data,
    output="reproduced",
    *,
    methods=None,
    sets=None,
    orders=None,
    seeds=3,
    repeats=20,
    studies=None,
    jobs=None,
    longest=20.0,
    dry_run=False,
):
    """Compute what is not finished of the paper's tables, and write the report.

    Parameters
    ----------
    data : str or Path
        Folder of data sets. Never written to.
    output : str or Path, default="reproduced"
        Folder of ``results.jsonl``, to which every finished cell is appended at once,
        ``report.md`` with its ``pictures``, and what is kept between runs.
    methods : sequence of str, optional
        Rows of the tables; case and punctuation do not matter. None: all of `settings.METHODS`, the
        paper's twelve, the estimators of the package with their defaults, and baselines.
    sets : sequence of str, optional
        None: the paper's five as far as the folder has them.
    orders : sequence of {"file", "shuffled"}, optional
        None: both.
    seeds : int, default=3
        Shuffles, and starts of methods that depend on one. Slow methods, and those that depend on
        neither, have one.
    repeats : int, default=20
        Runs of k-means, each the best of 20 starts, on every fit; the paper's means are over 20.
    studies : sequence of {"tables", "ablation", "initial", "sensitivity"}, optional
        None: all. Those beside the tables are of TLRR in file order: its terms left out, its input
        from other methods, and its parameters.
    jobs : int, optional
        Cells at a time, each with one thread. None: as many as CPUs are allowed.
    longest : float, default=20.0
        Minutes after which a cell is stopped; the report says so.
    dry_run : bool, default=False
        Only print how many cells would be computed.

    Returns
    -------
    list of dict
        The records of all cells that were asked for and are finished: what they are, ``scores`` of
        every run, CPU seconds, versions, warnings, or the ``error``.
    """
    methods = known_names(methods, METHODS, "method")
    orders = known_names(orders, ORDERS, "order")
    studies = known_names(studies, STUDIES, "study")
    jobs = joblib.cpu_count() if jobs is None else jobs
    for name, value in (("seeds", seeds), ("repeats", repeats), ("jobs", jobs)):
        if value < 1:
            raise ValueError(f"{name} == {value}, must be >= 1")
    sources, absent = find_sources(data, sets)
    sources = {source.name: source for source in sources}
    cells = {
        cell.key(sources[cell.data].digest): cell
        for cell in plan(sources, methods, orders, seeds, repeats, studies)
    }
    records = read_results(output)
    unfinished = [cell for key, cell in cells.items() if "scores" not in records.get(key, {})]
    print(f"{len(cells)} cells, {len(cells) - len(unfinished)} of them finished", flush=True)
    for name, count in Counter(cell.data for cell in unfinished).items():
        print(f"  {name}: {count} cells to do", flush=True)
    if not dry_run:
        Path(output).mkdir(parents=True, exist_ok=True)
        for record in compute(unfinished, sources, output, jobs, longest):
            records[record["key"]] = record
        left_out = [f"{name}: not in the data folder" for name in absent]
        print(f"wrote {write_report(output, [records[key] for key in cells], left_out)}")
    return [records[key] for key in cells if key in records]


def known_names(names, known, kind):
    """Names as they are written in ``known``, whatever their case and punctuation."""
    if names is None:
        return list(known)
    by_letters = {letters(name): name for name in known}
    for name in names:
        if letters(name) not in by_letters:
            raise ValueError(f"unknown {kind} {name!r}: known are {', '.join(known)}")
    return [by_letters[letters(name)] for name in names]


def letters(name):
    return "".join(letter for letter in str(name).lower() if letter.isalnum())


def compute(cells, sources, output, jobs, longest):
    """Records of the cells as they are finished by worker processes, with a bar."""
    tasks = (joblib.delayed(work)(cell, sources[cell.data], output, longest) for cell in cells)
    # Nothing waits in a worker: should this process be killed, workers end what they run.
    queue = {"pre_dispatch": "n_jobs", "batch_size": 1, "return_as": "generator_unordered"}
    try:
        with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
            with tqdm(joblib.Parallel(**queue)(tasks), total=len(cells)) as bar:
                for record in bar:
                    outcome = record.get("error") or f"ACC {max(record['scores']['acc']):.3f}"
                    bar.set_postfix_str(f"{record['data']}, {record['row']}: {outcome}")
                    yield record
    except TerminatedWorkerError as error:
        raise MemoryError(
            "a worker process was killed, usually for lack of memory; finished cells are kept: "
            "run again with fewer jobs, or with methods and sets that fit"
        ) from error
