"""Regenerate the tables and pictures of README.md and docs, each by its script.

Usage: python bench/tables.py [NAME ...] [--all] [--check]

A table stands between <!-- NAME --> and <!-- end NAME -->, and its last line names the script, the
commit, the processor, the date and the minutes that it took. Without names the stale tables are
regenerated: those whose script, or the package, has changed since their commit. An interrupted run
continues where it stopped. The tables of README.md are taken from those of docs. With --check
nothing is run, and the exit status is 1 if a table is stale.
"""

import argparse
import datetime
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from timing import ROOT

SOURCES = ["src", "setup.py", "bench/timing.py", "bench/sets.py"]
TABLES = {  # name: page, script and its options
    "accuracy": ("docs/benchmarks.md", "bench/accuracy.py"),
    "peers": ("docs/benchmarks.md", "bench/peers.py"),
    "sample order": ("docs/benchmarks.md", "bench/sample_order.py"),
    "order free": ("docs/benchmarks.md", "bench/order_free.py"),
    "solvers": ("docs/benchmarks.md", "bench/solvers.py"),
    "family": ("docs/benchmarks.md", "bench/family.py"),
    "scaling": ("docs/benchmarks.md", "bench/scaling.py"),
    "native": ("docs/benchmarks.md", "bench/native.py"),
    "platforms": ("README.md", "tools/platforms.py"),
}
README = "README.md"
PICTURES = ["docs/make_picture.py", "docs/make_convergence.py"]
FOOTER = re.compile(r"`(?P<command>[^`]+)`, commit (?P<commit>\w+), .*, (?P<minutes>[\d.]+) min\n$")


def git(*arguments):
    run = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return run.returncode, run.stdout.strip()


def block(name, page=None):
    """The text of a table, from its page."""
    page = page or TABLES[name][0]
    found = re.search(block_pattern(name), (ROOT / page).read_text(), re.S)
    if not found:
        raise SystemExit(f"{page} has no <!-- {name} -->")
    return found.group(1)


def block_pattern(name):
    return rf"<!-- {name} -->\n(.*?)<!-- end {name} -->"


def replace_block(name, page, text):
    path = ROOT / page
    text = f"<!-- {name} -->\n{text}<!-- end {name} -->"
    path.write_text(re.sub(block_pattern(name), lambda _: text, path.read_text(), flags=re.S))


def rows_of(name):
    """Rows of the first table of a block, each a dict by the header."""
    lines = [line for line in block(name).split("\n\n")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def table(header, *rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def extracts():
    """The tables of README.md by their names."""
    mean = rows_of("accuracy")[-1]
    peer = {row["ACC"]: row["mean"] for row in rows_of("peers")}
    solver = {
        row["solver"]: row
        for row in rows_of("solvers")
        if row["tensor"] == "yaleb10, default W" and row["threads"] == "1"
    }
    dual, ialm, twin = (solver[name] for name in ("dual", "ialm", "NumPy twin"))
    return {
        "accuracy": table(
            ["ConsensusTLRR", "best single view, chosen with true labels", "averaged graph",
             "concatenated views"],
            [f"**{mean['ConsensusTLRR']}**", mean["best single view"], mean["averaged graph"],
             mean["concatenated"]],
        ),
        "peers": table(
            ["ConsensusTLRR", "scikit-learn, averaged / concatenated",
             "mvlearn, spectral / co-regularised", "snfpy"],
            [f"**{peer['ConsensusTLRR']}**",
             f"{peer['scikit-learn, averaged graphs']} / "
             f"{peer['scikit-learn, concatenated views']}",
             f"{peer['mvlearn, spectral']} / {peer['mvlearn, co-regularised']}", peer["snfpy"]],
        ),
        "solvers": table(
            ["solver", "seconds", "relative gap"],
            ['`"dual"`: certified, the default', f"**{dual['seconds']}**", dual["relative gap"]],
            ['`"ialm"`: published iteration, compiled', ialm["seconds"], ""],
            ["published iteration in NumPy", twin["seconds"], ""],
        ),
    }  # fmt: skip


def why_stale(name):
    """What makes a table stale, or None."""
    footer = FOOTER.search(block(name))
    if not footer:
        return "names no commit"
    commit, script = footer["commit"], TABLES[name][1].split()[0]
    if git("merge-base", "--is-ancestor", commit, "HEAD")[0]:
        return f"commit {commit} is not an ancestor"
    if git("diff", "--quiet", commit, "--", *SOURCES, script)[0]:
        return f"sources have changed since {commit}"
    return None


def processor():
    if Path("/proc/cpuinfo").exists():
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
        if found:
            return found.group(1)
    return platform.processor() or platform.machine()


def regenerate(name):
    page, command = TABLES[name]
    start = time.monotonic()
    run = subprocess.run(
        [sys.executable, *command.split()], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    minutes = (time.monotonic() - start) / 60
    commit = git("rev-parse", "--short", "HEAD")[1]
    footer = f"`{command}`, commit {commit}, {processor()}, {datetime.date.today()}, "
    text = f"{run.stdout}\n{footer}{minutes:.1f} min\n"
    replace_block(name, page, text)


def main(names, everything, check):
    stale = {name: why_stale(name) for name in TABLES}
    if check:
        for name, text in extracts().items():
            if block(name, README) != text:
                stale[f"{README}: {name}"] = "differs from docs"
        for name, why in stale.items():
            print(f"{name:14s} {why or 'current'}")
        return any(stale.values())
    if git("diff", "--quiet", "HEAD", "--", *SOURCES, "bench", ":!bench/results")[0]:
        raise SystemExit("commit your changes first: each table names the commit that made it")
    chosen = names or [name for name in TABLES if everything or stale[name]]
    took = [FOOTER.search(block(name)) for name in chosen]
    known = sum(float(footer["minutes"]) for footer in took if footer)
    print(f"{len(chosen)} tables: {', '.join(chosen)}; {known:.0f} min last time", flush=True)
    for name in chosen:
        regenerate(name)
        print(f"{name}: {FOOTER.search(block(name))['minutes']} min", flush=True)
    for name, text in extracts().items():
        replace_block(name, README, text)
    if not names:
        for script in PICTURES:
            subprocess.run([sys.executable, ROOT / script], check=True)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TABLES))
    parser.add_argument("--all", action="store_true", help="also those that are current")
    parser.add_argument("--check", action="store_true", help="only report which are stale")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - TABLES.keys()
    if unknown:
        parser.error(f"no table {', '.join(unknown)}: there are {', '.join(TABLES)}")
    sys.exit(main(arguments.names, arguments.all, arguments.check))
