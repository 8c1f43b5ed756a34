"""Regenerate the tables and pictures of README.md and docs, each by its script.

Usage: python bench/tables.py [NAME ...] [--all] [--check]

A table stands between <!-- NAME --> and <!-- end NAME -->, and its last line names its command, and
the commit, the processor, the date and the minutes that it took; a new table needs the command in
backticks alone. Without names the stale tables are regenerated: those whose script, or the package,
has changed since their commit by more than comments and docstrings. An interrupted run continues
where it stopped. Tables are made one after the other, with one thread unless the script sets the
number. The tables of README.md are taken from those of docs. With --check nothing is run, and the
exit status is 1 if a table is stale.
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
from functools import cache
from pathlib import Path

from timing import ONE_THREAD, ROOT, markdown_table

# What the package writes is no measurement. TLRR is not used by tables of structure.
WRITING = [
    "cli",
    "explanation/_plots.py",
    "_utils/figures.py",
    "_utils/page.css",
    "_utils/parts.py",
]
SOURCES = ["src", "setup.py", *(f":!src/mvsc_fast/{part}" for part in WRITING)]
WITHOUT_TLRR = [f":!src/mvsc_fast/{part}" for part in ("core/dual.pyx", "solvers")]
README = "README.md"
EXTRACTS = {  # of README.md, and the tables that they are taken from
    "accuracy": ["accuracy", "peers", "omics", "unequal"],
    "solvers": ["solvers"],
}
PICTURES = ["docs/make_picture.py", "docs/make_charts.py"]
BLOCK = r"<!-- (?P<name>{}) -->\n(?P<text>.*?)<!-- end (?P=name) -->"
FOOTER = re.compile(
    r"`(?P<command>(?:bench|docs|tools)/[^`]+)`(?:, commit (?P<commit>\w+), .* min)?\n$"
)


def git(*arguments):
    run = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return run.returncode, run.stdout.strip()


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def find_tables():
    """The page of every table of docs, by name."""
    pages = {}
    for path in sorted((ROOT / "docs").glob("*.md")):
        for table in re.finditer(BLOCK.format(r"[\w ]+"), path.read_text(encoding="utf-8"), re.S):
            pages[table["name"]] = path.relative_to(ROOT).as_posix()
    return pages


def block(name, page=None):
    """The text of a table, from its page."""
    page = page or find_tables()[name]
    table = re.search(BLOCK.format(name), read(page), re.S)
    if not table:
        raise SystemExit(f"{page} has no <!-- {name} -->")
    return table["text"]


def replace_block(name, page, text):
    text = f"<!-- {name} -->\n{text}<!-- end {name} -->"
    page_text = re.sub(BLOCK.format(name), lambda _: text, read(page), flags=re.S)
    (ROOT / page).write_text(page_text, encoding="utf-8")


def footer(name):
    """Command of a table, and commit that made it."""
    match = FOOTER.search(block(name))
    if not match:
        raise SystemExit(f"table {name!r} does not end with its command")
    return match["command"], match["commit"]


def rows_of(name, number=0):
    """Rows of one of the tables of a block, each a dict by the header."""
    text = re.findall(r"(?:^\|.*\n)+", block(name), re.M)[number]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def extracts():
    """The tables of README.md by their names."""
    baselines = {
        "best single view": "best single view, chosen with true labels",
        "averaged graph": "averaged graph",
        "concatenated": "concatenated views",
    }
    ours = "ConsensusTLRR"
    ten = rows_of("accuracy")[-1]
    sixteen = {row["method"]: row["all sets and cases"] for row in rows_of("accuracy", 1)}
    results = {
        "ten sets, ACC": {name: ten[name] for name in (ours, *baselines)},
        "sixteen sets, ACC": {name: sixteen[name] for name in (ours, *baselines)},
        "seven sets, ACC": {row["ACC"]: row["mean"] for row in rows_of("peers")},
    }
    for number, cancer in enumerate(["three kidney cancers", "five breast cancers"]):
        scores = results[f"{cancer}, ARI / NMI"] = {}
        for method, ari, nmi, *_ in map(dict.values, rows_of("omics", number)):
            if method == ours or "TLRR" not in method:
                scores[method] = f"{ari} / {nmi}"
    for row in rows_of("unequal"):
        (_, family), *scores = row.items()
        if family.startswith(("sets 30 : 1", "tables 12 : 1")):
            ari = {method: text.split(" / ")[0] for method, text in scores}
            results[f"{family.split(' (')[0]}, unequal groups, ARI"] = ari
    lines = []
    for data, scores in results.items():
        others = [f"{baselines.get(m, m)} {score}" for m, score in scores.items() if m != ours]
        lines.append([data, scores[ours], "; ".join(others)])

    rows = {}
    for row in rows_of("solvers"):
        if row["tensor"] == "yaleb10, default W" and row["threads"] == "1":
            rows[row["solver"]] = row
    dual, ialm, twin = (rows[name] for name in ("dual", "ialm", "NumPy twin"))
    solvers = [
        ['`"dual"`: certified, the default', f"**{dual['seconds']}**", dual["relative gap"]],
        ['`"ialm"`: published iteration, compiled', ialm["seconds"], ""],
        ["published iteration in NumPy", twin["seconds"], ""],
    ]
    return {
        "accuracy": markdown_table(["data", ours, "others"], lines) + "\n",
        "solvers": markdown_table(["solver", "seconds", "relative gap"], solvers) + "\n",
    }


def sources(command):
    """What a table depends on: the package, its script, and the scripts that this one imports."""
    script = command.split()[0]
    text = read(script)
    names = re.findall(r"^ *(?:from|import) (\w+)", text, re.M)
    beside = [f"bench/{name}.py" for name in ["timing", *names]]
    fits = any(option in command for option in ("--parts", "--reads", "--seconds"))
    skipped = WITHOUT_TLRR if "structure.py" in command and not fits else []
    return [*SOURCES, *skipped, script, *(path for path in beside if (ROOT / path).exists())]


def why_stale(name):
    """What makes a table stale, or None."""
    command, commit = footer(name)
    if not commit:
        return "names no commit"
    if git("merge-base", "--is-ancestor", commit, "HEAD")[0]:
        return f"commit {commit} is not an ancestor"
    changed = git("diff", "--name-only", commit, "--", *sources(command))[1].splitlines()
    if any(differs(path, commit) for path in changed):
        return f"sources have changed since {commit}"
    return None


@cache
def differs(path, commit):
    """Whether a file differs from that of a commit by more than comments and docstrings."""
    status, before = git("show", f"{commit}:{path}")
    if status or not (ROOT / path).exists() or not path.endswith((".py", ".pyx", ".pxd")):
        return True
    return code(before) != code(read(path))


def code(text):
    """The tokens of a Python or Cython source without comments, docstrings and blank lines."""
    ends = tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT
    tokens, begins = [], True
    for token in tokenize.generate_tokens(io.StringIO(text.rstrip() + "\n").readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            if not (begins and token.type == tokenize.STRING):
                tokens.append(" " if token.type in ends else token.string)
            begins = token.type in ends
    return tokens


def processor():
    if Path("/proc/cpuinfo").exists():
        model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
        if model:
            return model.group(1)
    return platform.processor() or platform.machine()


def run(command):
    """Standard output and minutes of the command of a table."""
    arguments, start = [sys.executable, *shlex.split(command)], time.monotonic()
    text = subprocess.check_output(arguments, cwd=ROOT, text=True, env=os.environ | ONE_THREAD)
    return text.strip("\n"), (time.monotonic() - start) / 60


def write(name, commit, text, minutes):
    """Replace a table, and name in its last line what made it."""
    origin = f"`{footer(name)[0]}`, commit {commit}, {processor()}, {datetime.date.today()}"
    replace_block(name, find_tables()[name], f"{text}\n\n{origin}, {minutes:.1f} min\n")
    print(f"{name}: {minutes:.1f} min", flush=True)


def regenerate(names, commit):
    """Write each table when it is finished; the names of those whose script failed."""
    failed = []
    for name in names:
        try:
            text, minutes = run(footer(name)[0])
        except subprocess.CalledProcessError as error:
            failed.append(name)
            print(f"{name}: {error}", flush=True)
        else:
            write(name, commit, text, minutes)
    return failed


def main(names, everything, check):
    stale = {name: why_stale(name) for name in find_tables()}
    complete = not any(stale[name] for names in EXTRACTS.values() for name in names)
    if check:
        for name, text in extracts().items() if complete else ():
            if block(name, README) != text:
                stale[f"{name} of {README}"] = "differs from docs"
        for name, reason in stale.items():
            print(f"{name}: {reason or 'current'}")
        return any(stale.values())
    chosen = names or [name for name in stale if everything or stale[name]]
    if git("diff", "--quiet", "HEAD", "--", *SOURCES, "bench", ":!bench/results")[0]:
        raise SystemExit("commit your changes first: each table names the commit that made it")
    failed = regenerate(chosen, git("rev-parse", "--short", "HEAD")[1])
    if not any(why_stale(name) for names in EXTRACTS.values() for name in names):
        for name, text in extracts().items():
            replace_block(name, README, text)
    for script in PICTURES if not names else ():
        subprocess.run([sys.executable, ROOT / script], check=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    known = find_tables()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--all", action="store_true", help="also those that are current")
    parser.add_argument("--check", action="store_true", help="only report which are stale")
    options = parser.parse_args()
    unknown = set(options.names) - known.keys()
    if unknown:
        parser.error(f"no table {', '.join(unknown)}: there are {', '.join(known)}")
    sys.exit(main(options.names, options.all, options.check))
