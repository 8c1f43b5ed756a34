"""Regenerate the tables of docs/measured.md, each by its script, that of README.md, and pictures.

Usage: python bench/tables.py [NAME ...] [--all] [--check]

A table stands between <!-- NAME --> and <!-- end NAME -->, and its last line names its command, and
the commit, the processor, the date and the minutes that it took; a new table needs only the command
in backticks. Without names the stale tables are regenerated: those whose script, or the package,
has changed since their commit by more than comments and docstrings. An interrupted run continues
where it stopped. Tables are made one after the other, with one thread unless the script sets the
number. The table of README.md is taken from those of docs. With --check nothing is run, and the
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

# Reading files and writing results is no measurement. TLRR is not used by tables of structure.
WRITING = [
    "cli",
    "datasets/_arrays.py",
    "explanation/_plots.py",
    "_utils/figures.py",
    "_utils/page.css",
    "_utils/parts.py",
]
SOURCES = ["src", "setup.py", *(f":!src/mvsc_fast/{part}" for part in WRITING)]
WITHOUT_TLRR = [f":!src/mvsc_fast/{part}" for part in ("core/dual.pyx", "solvers")]
PAGE, README, EXTRACT = "docs/measured.md", "README.md", "comparison"
ORIGINS = ["peers", "accuracy", "omics", "unequal"]  # of the table EXTRACT of README.md
COLUMNS = {  # of this table, by the methods of its origins
    "ConsensusTLRR": "ConsensusTLRR",
    "scikit-learn, concatenated views": "all columns",
    "concatenated": "all columns",
    "k-means, columns joined": "all columns",
    "spectral, joined neighbours": "all columns",
    "scikit-learn, averaged graphs": "mean graph",
    "averaged graph": "mean graph",
    "best single view": "one view",
    "k-means, RNA": "one view",
    "snfpy, K=20": "SNF",
    "NEMO (imml)": "NEMO",
}
PICTURES = ["docs/make_picture.py", "docs/make_charts.py", "docs/make_convergence.py"]
BLOCK = r"<!-- (?P<name>{}) -->\n(?P<text>.*?)<!-- end (?P=name) -->"
FOOTER = re.compile(r"`(?P<command>bench/[^`]+)`(?:, commit (?P<commit>\w+), .* min)?\n$")


def git(*arguments):
    run = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return run.returncode, run.stdout.strip()


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def find_tables():
    """The names of all tables of the page."""
    return re.findall(r"<!-- (?!end )([\w ]+) -->\n", read(PAGE))


def block(name, page=PAGE):
    """The text of a table."""
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


def extract():
    """The table of README.md: a column for each kind of method."""
    kidney, breast = ({row["method"]: row for row in rows_of("omics", i)} for i in (0, 1))
    peers, unequal = rows_of("peers"), {row.pop("ARI"): row for row in rows_of("unequal")}
    results = {
        "7 public sets, accuracy": {row["method"]: row["ACC"] for row in peers},
        "7 public sets, CPU s": {row["method"]: row["CPU s"] for row in peers},
        "16 public sets, accuracy": {r["method"]: r["sixteen sets"] for r in rows_of("accuracy")},
        "kidney cancers, ARI": {method: row["ARI, k=3"] for method, row in kidney.items()},
        "breast cancers, ARI": {method: row["ARI, k=5"] for method, row in breast.items()},
        "8 sets, sizes 30:1, ARI": unequal["sets 30 : 1 (24)"],
    }
    header, lines = list(dict.fromkeys(COLUMNS.values())), []
    for data, scores in results.items():
        cells = {COLUMNS[m]: text.split(" ±")[0] for m, text in scores.items() if m in COLUMNS}
        lines.append([data, *(cells.get(column, "") for column in header)])
    return markdown_table(["data, score", *header], lines) + "\n"


def sources(command):
    """What a table depends on: the package, its script, and the scripts that this one imports."""
    script = command.split()[0]
    text = read(script)
    names = re.findall(r"^ *(?:from|import) (\w+)", text, re.M)
    beside = [f"bench/{name}.py" for name in ["timing", *names]]
    fits = any(option in command for option in ("--parts", "--reads", "--doubts"))
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
    replace_block(name, PAGE, f"{text}\n\n{origin}, {minutes:.1f} min\n")
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
    if check:
        if not any(stale[name] for name in ORIGINS) and block(EXTRACT, README) != extract():
            stale[f"{EXTRACT} of {README}"] = "differs from docs"
        for name, reason in stale.items():
            print(f"{name}: {reason or 'current'}")
        return any(stale.values())
    chosen = names or [name for name in stale if everything or stale[name]]
    if git("diff", "--quiet", "HEAD", "--", *SOURCES, "bench", ":!bench/results")[0]:
        raise SystemExit("commit your changes first: each table names the commit that made it")
    failed = regenerate(chosen, git("rev-parse", "--short", "HEAD")[1])
    if not any(why_stale(name) for name in ORIGINS):
        replace_block(EXTRACT, README, extract())
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
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no table {', '.join(unknown)}: there are {', '.join(known)}")
    sys.exit(main(options.names, options.all, options.check))
