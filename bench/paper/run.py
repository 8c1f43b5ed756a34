"""Run the cells that are not finished, in parallel, and write the report."""

import contextlib
import json
import sys
from pathlib import Path

import joblib
from cells import work
from data import find_sources
from joblib.externals.loky.process_executor import TerminatedWorkerError
from plan import ORDERS, STUDIES, estimated, plan
from report import report
from settings import METHODS
from store import mend, read
from tables import write_csv
from tqdm import tqdm

PLAN = "plan.json"  # what the last run was asked for


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
        ``report.html``, ``tables/*.csv``, and what is kept between runs.
    methods : sequence of str, optional
        Rows of the tables; case and punctuation do not matter. None: all of `settings.METHODS`, the
        paper's twelve, the estimators of the package with their defaults, and baselines.
    sets : sequence of str, optional
        None: the paper's five as far as the folder has them.
    orders : sequence of {"file", "shuffled"}, optional
        None: both.
    seeds : int, default=3
        Shuffles, and starts of methods that depend on one. Methods that depend on neither have
        one, and cells of more than a minute too.
    repeats : int, default=20
        Runs of k-means, each the best of 20 starts, on every fit; the paper's means are over 20.
    studies : sequence of {"tables", "ablation", "initial", "sensitivity"}, optional
        None: all. Those beside the tables are of TLRR in file order: its terms left out, its input
        from other methods, and its parameters.
    jobs : int, optional
        Cells at a time, each with one thread. None: as many as CPUs are allowed, even if they are
        busy at the moment.
    longest : float, default=20.0
        Minutes; cells that take longer by rough documented times are left out, and the report says
        so. Others are stopped when they have taken so long.
    dry_run : bool, default=False
        Only print what would be computed, how long that takes, and what is left out.

    Returns
    -------
    list of dict
        The records of all cells that were asked for and are finished: what they are, ``scores`` of
        every run, CPU seconds, memory, versions, warnings, or the ``error``.
    """
    methods = _known(methods, METHODS, "method")
    orders = _known(orders, ORDERS, "order")
    studies = _known(studies, STUDIES, "study")
    jobs = joblib.cpu_count() if jobs is None else jobs
    for name, value in (("seeds", seeds), ("repeats", repeats), ("jobs", jobs)):
        if value < 1:
            raise ValueError(f"{name} == {value}, must be >= 1")
    sources, absent = find_sources(data, sets)
    cells, left_out = plan(sources, methods, orders, seeds, repeats, studies, longest)
    left_out += [f"{name}: not in the data folder" for name in absent]
    by_name = {source.name: source for source in sources}
    keys = [cell.key(by_name[cell.data].digest) for cell in cells]
    records = read(output)
    unfinished = [
        cell for cell, key in zip(cells, keys, strict=True) if "scores" not in records.get(key, {})
    ]
    seconds = estimated(unfinished, sources, records)
    print(_forecast(len(cells), unfinished, seconds, left_out, jobs), flush=True)
    if not dry_run:
        Path(output).mkdir(parents=True, exist_ok=True)
        asked = {"keys": keys, "left_out": left_out}
        (Path(output) / PLAN).write_text(json.dumps(asked), encoding="utf-8")
        mend(output)
        new = _compute(unfinished, seconds, by_name, output, jobs, longest)
        records |= {record["key"]: record for record in new}
        print(f"wrote {write_report(output)}")
    return [records[key] for key in keys if key in records]


def write_report(output):
    """Write the report and the tables of a results folder as far as it is finished.

    Parameters
    ----------
    output : str or Path
        As for `run`, whose last call says what is reported; it may still be running.

    Returns
    -------
    pathlib.Path
        ``report.html``, which needs no other file and no network.

    Raises
    ------
    ValueError
        If there is no result yet.
    """
    output = Path(output)
    if not (output / PLAN).exists():
        raise ValueError(f"{output} is no folder of results: it has no {PLAN}")
    asked = json.loads((output / PLAN).read_text(encoding="utf-8"))
    found = read(output)
    records = [found[key] for key in asked["keys"] if key in found]
    if not any("scores" in record for record in records):
        errors = [f", the first cell failed: {record['error']}" for record in records]
        raise ValueError(f"{output} has no finished cell to report{''.join(errors[:1])}")
    missing = len(asked["keys"]) - len(records)
    unfinished = [f"{missing} cells are not finished yet"] if missing else []
    write_csv(output, records)
    return report(output, records, unfinished + asked["left_out"])


def _known(names, known, kind):
    """Names as they are written in ``known``, whatever their case and punctuation."""
    if names is None:
        return list(known)
    plain = {_letters(name): name for name in known}
    for name in names:
        if _letters(name) not in plain:
            raise ValueError(f"unknown {kind} {name!r}: known are {', '.join(known)}")
    return [plain[_letters(name)] for name in names]


def _letters(name):
    return "".join(letter for letter in str(name).lower() if letter.isalnum())


def _forecast(count, unfinished, seconds, left_out, jobs):
    """What is to be done and how long it takes, in words."""
    lines = [f"{count} cells, {count - len(unfinished)} of them finished"]
    by_set = {}
    for cell, took in zip(unfinished, seconds, strict=True):
        by_set.setdefault(cell.data, []).append(took)
    for name, times in by_set.items():
        lines.append(f"  {name}: {len(times)} cells to do, {_minutes(sum(times))} of one core")
    if unfinished:
        # The last cell may run alone.
        total = max(sum(seconds) / jobs, max(seconds))
        lines.append(f"about {_minutes(total)} with {jobs} at a time")
    return "\n".join(lines + [f"left out: {text}" for text in left_out])


def _minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _compute(cells, seconds, sources, output, jobs, longest):
    """Records of the cells, computed in worker processes, with a bar of the time that is left."""
    if not cells:
        return []
    # Inputs of one group are made once by each process, so groups stay together; long ones first.
    weight = {}
    for cell, took in zip(cells, seconds, strict=True):
        weight[cell.group] = weight.get(cell.group, 0.0) + took
    tasks = sorted(
        zip(cells, seconds, strict=True), key=lambda task: (-weight[task[0].group], task[0].group)
    )
    records = []
    with _progress(len(cells), sum(seconds)) as (begin, advance):
        started = (
            begin(cell) or joblib.delayed(_task)(cell, sources[cell.data], output, took, longest)
            for cell, took in tasks
        )
        for record, took in _in_parallel(started, jobs):
            records.append(record)
            advance(record, took)
    return records


def _in_parallel(tasks, jobs):
    """(record, estimated seconds) of every task, as they finish."""
    try:
        # Nothing waits in a worker: should this process be killed, workers end what they run.
        queue = {"pre_dispatch": "n_jobs", "batch_size": 1}
        with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
            yield from joblib.Parallel(return_as="generator_unordered", **queue)(tasks)
    except TerminatedWorkerError as error:
        raise MemoryError(
            "a worker process was killed, usually for lack of memory; finished cells are kept: "
            "run again with fewer jobs, or with methods and sets that fit"
        ) from error


def _task(cell, source, output, took, longest):
    pictures = cell.study == "tables" and cell.seed == 0
    return work(cell, source, output, pictures, longest), took


@contextlib.contextmanager
def _progress(count, total):
    """``begin(cell)`` for every cell, and ``advance(record, seconds)`` when it is finished."""
    pattern = "{percentage:3.0f}% |{bar}| {postfix} [{elapsed}, {remaining} left]"
    interval = 0.5 if sys.stderr.isatty() else 60.0
    with tqdm(total=total, bar_format=pattern, mininterval=interval) as bar:
        done = []

        def begin(cell):
            name = f"{cell.data}, {cell.row}, {cell.order} order, seed {cell.seed}"
            bar.set_postfix_str(f"{len(done)}/{count} {name}", refresh=True)

        def advance(record, took):
            done.append(took)
            bar.set_postfix_str(f"{len(done)}/{count} {_outcome(record)}", refresh=False)
            bar.update(min(took, bar.total - bar.n))  # sums round

        yield begin, advance


def _outcome(record):
    name = f"{record['data']}, {record['row']}"
    if "error" in record:
        return f"{name}: {record['error']}"
    acc = record["scores"]["acc"]
    return f"{name}: ACC {sum(acc) / len(acc):.3f}"
