"""Regenerate the tables and pictures of README.md and docs, each by its script.

Usage: python bench/tables.py [NAME ...] [--all] [--check] [--forecast]

A table stands between <!-- NAME --> and <!-- end NAME -->, and its last line names the script, the
commit, the processor, the date and the minutes that it took. Without names the stale tables are
regenerated: those whose script, or the package, has changed since their commit by more than
comments and docstrings. An interrupted run continues where it stopped. Tables of times run alone;
the others, also those of CPU seconds of one thread, run two at a time with one thread each. The
tables of README.md are taken from those of docs. With --check nothing is run, and the exit status
is 1 if a table is stale.
"""

import argparse
import datetime
import io
import os
import platform
import re
import shlex
import subprocess
import sys
import time
import tokenize
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import NamedTuple

from timing import ROOT

SHOWN = [
    "cli",
    *(f"explanation/_{part}.py" for part in ("explain", "methods", "plots")),
    *(f"_utils/{part}" for part in ("figures.py", "page.css", "parts.py")),
]
SOURCES = ["src", "setup.py", *(f":!src/mvsc_fast/{part}" for part in SHOWN)]  # that are measured
NO_TLRR = ("core/dual.pyx", "solvers")  # of the package, not used by tables without TLRR
BENCHMARKS = "docs/benchmarks.md"
JOBS = 2


class Table(NamedTuple):
    page: str
    command: str
    minutes: float  # expected, until it has run
    timed: bool = False
    unused: tuple[str, ...] = ()  # parts of the package


TABLES = {
    "solvers": Table(BENCHMARKS, "bench/solvers.py", 7, True),
    "family": Table(BENCHMARKS, "bench/family.py --quick", 5),
    "scaling": Table(BENCHMARKS, "bench/scaling.py", 3, True),
    "fit": Table(BENCHMARKS, "bench/fit.py --only ConsensusTLRR scikit-learn --largest 4000", 1),
    "native": Table(BENCHMARKS, "bench/native.py", 1.5, True),
    "large n": Table(
        "docs/large_n.md",
        "bench/large_n.py --sizes 100000,1000000 --data subspaces,hdigit --limit 60",
        10,
    ),
    "max samples": Table("docs/large_n.md", "bench/max_samples.py", 5),
    "wide": Table("docs/large_n.md", "bench/wide.py", 5),
    "cells": Table("docs/cells.md", "bench/cells_recipes.py", 6),
    "harmony": Table("docs/cells.md", "bench/cells_recipes.py --harmony --draws 3", 2),
    "atac": Table("docs/cells.md", "bench/cells_recipes.py --atac --cells 1000 --draws 2", 5),
    "resolution": Table("docs/cells.md", "bench/cells_resolution.py --cells 1000", 2),
    "order free": Table(BENCHMARKS, "bench/order_free.py --shuffles 2 --max-samples 300", 14),
    "peers": Table(BENCHMARKS, "bench/peers.py", 13),
    "accuracy": Table(BENCHMARKS, "bench/accuracy.py --all", 10),
    "random states": Table(BENCHMARKS, "bench/accuracy.py --spread", 2),
    "families": Table(BENCHMARKS, "bench/families.py", 3),
    "unequal": Table(BENCHMARKS, "bench/unequal.py", 10),
    "sample order": Table(BENCHMARKS, "bench/sample_order.py --shuffles 1", 4),
    "n clusters": Table("docs/faq.md", "bench/n_clusters.py", 2),
    "levels": Table("docs/faq.md", "bench/n_clusters.py --simulated --draw 6", 5),
    "stability": Table(
        "docs/faq.md",
        "bench/n_clusters.py --stability --max-samples 300 --sets yaleb10 orl_3view "
        "orl_4view yale_3view ngs",
        2.5,
    ),
    "missing views": Table("docs/views.md", "bench/missing.py --shares .3 --draws 2", 1.5),
    "missing cells": Table(
        "docs/views.md",
        "bench/missing.py --cells --shares .05 --draws 1 --sets uci_digit "
        "'handwritten (embedded)' 'digits (scikit-learn)'",
        2.5,
    ),
    "omics": Table("docs/patients.md", "bench/omics.py --draws 2", 2.5),
    "structure": Table("docs/structure.md", "bench/structure.py --draws 200", 40, unused=NO_TLRR),
    "unequal sizes": Table(
        "docs/structure.md", "bench/structure.py --unequal --draws 25", 3, unused=NO_TLRR
    ),
    "unasked groups": Table(
        "docs/structure.md", "bench/structure.py --unasked --draws 20", 2, unused=NO_TLRR
    ),
    "doubts": Table("docs/structure.md", "bench/doubts.py", 3),
    "views alone": Table(
        "docs/structure.md", "bench/structure.py --views --draws 60", 10, unused=NO_TLRR
    ),
    "pairs": Table(
        "docs/structure.md",
        "bench/structure.py --pairs --draws 40 --samples 200",
        14,
        unused=NO_TLRR,
    ),
    "parts": Table("docs/structure.md", "bench/structure.py --parts --draws 40", 8),
    "other tests": Table(
        "docs/structure.md", "bench/structure.py --others --draws 40", 2, unused=NO_TLRR
    ),
    "noise reads": Table(
        "docs/structure.md", "bench/structure.py --reads --samples 300 --draws 6", 2
    ),
    "seconds of evidence": Table("docs/structure.md", "bench/structure.py --seconds", 2, True),
    "choices": Table("docs/parameters.md", "bench/choices.py", 2),
    "margins": Table("docs/results.md", "bench/margins.py --plot docs/_static/margins.png", 2),
    "drift": Table("docs/results.md", "bench/drift.py", 0.5),
    "unlike": Table(
        "docs/results.md", "bench/drift.py --split 2 --plot docs/_static/unlike.png", 0.5
    ),
    "neighbors": Table("docs/parameters.md", "bench/neighbors.py", 1.5),
    "columns": Table("docs/views.md", "bench/columns.py", 0.2),
    "convergence": Table("docs/how_tlrr_is_solved.md", "docs/make_convergence.py", 0.5),
    "triples": Table("docs/how_tlrr_is_solved.md", "bench/solvers.py --triples 500", 1),
    "history": Table(BENCHMARKS, "docs/make_history.py", 0.1),
    "platforms": Table("docs/policies.md", "tools/platforms.py", 0.1),
}
README = "README.md"
EXTRACTS = {  # of README.md
    "accuracy": ["accuracy", "peers", "omics", "unequal"],
    "solvers": ["solvers"],
}
PICTURES = ["docs/make_picture.py", "docs/make_charts.py"]
FOOTER = re.compile(r"`(?P<command>[^`]+)`, commit (?P<commit>\w+), .*, (?P<minutes>[\d.]+) min\n$")


def git(*arguments):
    run = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return run.returncode, run.stdout.strip()


def read(page):
    return (ROOT / page).read_text()


def block(name, page=None):
    """The text of a table, from its page."""
    page = page or TABLES[name].page
    found = re.search(block_pattern(name), read(page), re.S)
    if not found:
        raise SystemExit(f"{page} has no <!-- {name} -->")
    return found.group(1)


def block_pattern(name):
    return rf"<!-- {name} -->\n(.*?)<!-- end {name} -->"


def replace_block(name, page, text):
    text = f"<!-- {name} -->\n{text}<!-- end {name} -->"
    (ROOT / page).write_text(re.sub(block_pattern(name), lambda _: text, read(page), flags=re.S))


def rows_of(name, number=0):
    """Rows of one of the tables of a block, each a dict by the header."""
    text = re.findall(r"(?:^\|.*\n)+", block(name), re.M)[number]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def table(header, *rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def extracts():
    """The tables of README.md by their names."""
    mean = rows_of("accuracy")[-1]
    every = {row["method"]: row["all sets and cases"] for row in rows_of("accuracy", 1)}
    peer = {row["ACC"]: row["mean"] for row in rows_of("peers")}
    solver = {
        row["solver"]: row
        for row in rows_of("solvers")
        if row["tensor"] == "yaleb10, default W" and row["threads"] == "1"
    }
    dual, ialm, twin = (solver[name] for name in ("dual", "ialm", "NumPy twin"))

    def several(values, names):
        return "; ".join(f"{shown} {values[name]}" for name, shown in names.items())

    baselines = {
        "best single view": "best single view, chosen with true labels",
        "averaged graph": "averaged graph",
        "concatenated": "concatenated views",
    }
    peers = {name: name for name in peer if name != "ConsensusTLRR"}
    rows = [
        ["ten sets, ACC", mean["ConsensusTLRR"], several(mean, baselines)],
        ["sixteen sets, ACC", every["ConsensusTLRR"], several(every, baselines)],
        ["seven sets, ACC", peer["ConsensusTLRR"], several(peer, peers)],
    ]
    for number, cancer in enumerate(["three kidney cancers", "five breast cancers"]):
        found = {}
        for row in rows_of("omics", number):
            ari, nmi = list(row.values())[1:3]
            found[row["method"]] = f"{ari} / {nmi}"
        others = {name: name for name in found if "TLRR" not in name}
        rows.append([f"{cancer}, ARI / NMI", found["ConsensusTLRR"], several(found, others)])
    for row in rows_of("unequal"):
        (_, family), (_, found), *others = row.items()
        if family.startswith(("sets 30 : 1", "tables 12 : 1")):
            known = {name: scores.split(" / ")[0] for name, scores in others}
            name = f"{family.split(' (')[0]}, unequal groups, ARI"
            rows.append([name, found.split(" / ")[0], several(known, {key: key for key in known})])
    return {
        "accuracy": table(["data", "ConsensusTLRR", "others"], *rows),
        "solvers": table(
            ["solver", "seconds", "relative gap"],
            ['`"dual"`: certified, the default', f"**{dual['seconds']}**", dual["relative gap"]],
            ['`"ialm"`: published iteration, compiled', ialm["seconds"], ""],
            ["published iteration in NumPy", twin["seconds"], ""],
        ),
    }


def sources(name):
    """What a table depends on: the package, its script, and the scripts that this one imports."""
    script, unused = TABLES[name].command.split()[0], TABLES[name].unused
    names = re.findall(r"^ *(?:from|import) (\w+)", read(script), re.M)
    beside = [f"bench/{name}.py" for name in ["timing", *names]]
    without = [f":!src/mvsc_fast/{part}" for part in unused]
    return [*SOURCES, *without, script, *(path for path in beside if (ROOT / path).exists())]


def why_stale(name):
    """What makes a table stale, or None."""
    footer = FOOTER.search(block(name))
    if not footer:
        return "names no commit"
    commit, command = footer["commit"], TABLES[name].command
    if footer["command"] != command:
        return f"was made by {footer['command']}"
    if git("merge-base", "--is-ancestor", commit, "HEAD")[0]:
        return f"commit {commit} is not an ancestor"
    changed = git("diff", "--name-only", commit, "--", *sources(name))[1].splitlines()
    if any(differs(path, commit) for path in changed):
        return f"sources have changed since {commit}"
    return None


@cache
def differs(path, commit):
    """Whether a file differs from that of a commit by more than comments and docstrings."""
    known, before = git("show", f"{commit}:{path}")
    if known or not (ROOT / path).exists() or not path.endswith((".py", ".pyx", ".pxd")):
        return True
    return code(before) != code(read(path))


def code(text):
    """The tokens of a Python or Cython source without comments, docstrings and blank lines."""
    ends = tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT
    found, begins = [], True
    for token in tokenize.generate_tokens(io.StringIO(text.rstrip() + "\n").readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            if not (begins and token.type == tokenize.STRING):
                found.append(" " if token.type in ends else token.string)
            begins = token.type in ends
    return found


def incomplete():
    """Whether a table is stale of which README.md has a part."""
    return any(why_stale(name) for names in EXTRACTS.values() for name in names)


def processor():
    if Path("/proc/cpuinfo").exists():
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
        if found:
            return found.group(1)
    return platform.processor() or platform.machine()


def run(name):
    """Standard output and minutes of the script of a table."""
    environment = dict(os.environ)
    if not TABLES[name].timed:
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, *shlex.split(TABLES[name].command)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment,
    )
    return done.stdout.strip("\n"), (time.monotonic() - start) / 60


def write(name, commit, text, minutes):
    """Replace a table, and name in its last line what made it."""
    page, command, *_ = TABLES[name]
    footer = f"`{command}`, commit {commit}, {processor()}, {datetime.date.today()}, "
    replace_block(name, page, f"{text}\n\n{footer}{minutes:.1f} min\n")
    print(f"{name}: {minutes:.1f} min", flush=True)


def regenerate(names, commit):
    """Write each table when it is finished; the names of those whose script failed."""
    failed = []
    for timed in (True, False):
        with ThreadPoolExecutor(1 if timed else JOBS) as pool:
            jobs = {pool.submit(run, name): name for name in names if TABLES[name].timed == timed}
            try:
                for job in as_completed(jobs):
                    name = jobs[job]
                    if job.exception():
                        failed.append(name)
                        print(f"{name}: {job.exception()}", flush=True)
                    else:
                        write(name, commit, *job.result())
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise
    return failed


def forecast(names):
    """Print the minutes that tables will take, of the last run if it had the same options."""
    alone, beside = 0, [0]
    for name in names:
        footer = FOOTER.search(block(name))
        same = footer and footer["command"] == TABLES[name].command
        minutes = float(footer["minutes"]) if same else TABLES[name].minutes
        if TABLES[name].timed:
            alone += minutes
        else:
            beside.append(minutes)
        print(f"{name:14s} {minutes:5.1f} min{'' if TABLES[name].timed else ', beside another'}")
    total = alone + max(max(beside), sum(beside) / JOBS)
    print(f"{len(names)} tables, about {total:.0f} min", flush=True)


def main(names, everything, check, only_forecast):
    stale = {name: why_stale(name) for name in TABLES}
    if check:
        if not incomplete():
            for name, text in extracts().items():
                if block(name, README) != text:
                    stale[f"{name} of {README}"] = "differs from docs"
        for name, why in stale.items():
            print(f"{name}: {why or 'current'}")
        return any(stale.values())
    chosen = names or [name for name in TABLES if everything or stale[name]]
    forecast(chosen)
    if only_forecast:
        return 0
    if git("diff", "--quiet", "HEAD", "--", *SOURCES, "bench", ":!bench/results")[0]:
        raise SystemExit("commit your changes first: each table names the commit that made it")
    failed = regenerate(chosen, git("rev-parse", "--short", "HEAD")[1])
    if not incomplete():
        for name, text in extracts().items():
            replace_block(name, README, text)
    if not names:
        for script in PICTURES:
            subprocess.run([sys.executable, ROOT / script], check=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TABLES))
    parser.add_argument("--all", action="store_true", help="also those that are current")
    parser.add_argument("--check", action="store_true", help="only report which are stale")
    parser.add_argument("--forecast", action="store_true", help="only print the expected minutes")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - TABLES.keys()
    if unknown:
        parser.error(f"no table {', '.join(unknown)}: there are {', '.join(TABLES)}")
    sys.exit(main(arguments.names, arguments.all, arguments.check, arguments.forecast))
