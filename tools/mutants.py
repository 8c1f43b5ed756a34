"""Mutants of each folder that the tests kill: `make mutants`.

The mutations are those of poodle, drawn with a seed. Each is made in a copy of the sources and
meets the tests that execute its line, fastest first, up to the first failure or --seconds of CPU
time. Which lines a test executes is measured first, for all but the slow tests.
`equivalent_mutants.txt` has one line for each mutant that no test can kill: path | old | new |
reason, where old may also be the whole line of the source.
"""

import argparse
import ast
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import poodle.mutators as operators
import pytest
from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    "_utils views similarity spectral judge solvers methods explanation datasets metrics "
    "preprocessing cli"
).split()
KINDS = (
    "Comparison UnaryOperation BinaryOperation AugAssign DictArrayCall Return LambdaReturn Number"
).split()
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT)]


class Record:
    """Lines and CPU time of each test. Fixtures that tests share count for all of them."""

    def __init__(self, coverage):
        self.coverage, self.tests, self.item, self.spawned = coverage, {}, None, False
        sys.addaudithook(lambda event, _: self.spawn() if event == "subprocess.Popen" else None)

    def spawn(self):
        self.spawned = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.item, self.spawned, start = item.nodeid, False, sum(os.times()[:4])
        self.coverage.switch_context(item.nodeid)
        yield
        seconds = sum(os.times()[:4]) - start
        shared = [
            f"{definition.baseid}:{name}"
            for name, definitions in item._fixtureinfo.name2fixturedefs.items()
            for definition in definitions
        ]
        self.tests[item.nodeid] = {
            "seconds": seconds,
            "spawns": self.spawned,
            "contexts": [item.nodeid, *shared],
        }

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        self.coverage.switch_context(f"{fixturedef.baseid}:{fixturedef.argname}")
        yield
        self.coverage.switch_context(self.item)

    def pytest_runtest_logreport(self, report):
        if report.outcome != "passed":
            self.failed = getattr(self, "failed", []) + [report.nodeid]


def forked(function, *arguments):
    """Process id of a child that runs a function, and ends with the code that it returns."""
    child = os.fork()
    if child:
        return child
    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    code = 1
    try:
        code = int(function(*arguments) or 0)
    finally:
        os._exit(code)


def run_tests(sources, arguments, plugins=()):
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path.insert(0, str(sources))
    os.chdir(ROOT)
    return pytest.main([*OPTIONS, *arguments], plugins=list(plugins))


def copy_sources(directory):
    shutil.copytree(ROOT / "src", directory, ignore=shutil.ignore_patterns("__pycache__", "*.c"))
    return directory


def measure(sources, output):
    coverage = Coverage(data_file=None, source=[str(sources)])
    record = Record(coverage)
    record.failed = []
    coverage.start()
    run_tests(sources, ["--maxfail=1000"], [record])
    coverage.stop()
    data = coverage.get_data()
    lines = {
        str(Path(file).relative_to(sources)): {
            str(line): names for line, names in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    tests = {name: test for name, test in record.tests.items() if name not in record.failed}
    modules = [
        name
        for name, module in sys.modules.items()
        if "site-packages" in (getattr(module, "__file__", "") or "")
    ]
    output.write_text(
        json.dumps({"lines": lines, "tests": tests, "failed": record.failed, "modules": modules})
    )


def mutations(path):
    """(kind, line, mutated source, old line -> new line) of every mutation of a file."""
    source = (ROOT / "src" / path).read_text()
    lines = source.encode().splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines))]
    functions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.Lambda)
    ]
    inside = {line for node in functions for line in range(node.lineno, node.end_lineno + 1)}
    indices = [
        node.slice for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Subscript)
    ]
    spans = [((i.lineno, i.col_offset), (i.end_lineno, i.end_col_offset)) for i in indices]
    for kind in KINDS:
        operator = getattr(operators, f"{kind}Mutator")(
            config=SimpleNamespace(mutator_opts={}), echo=print
        )
        for m in operator.create_mutations(ast.parse(source)):
            if kind != "Number" and m.lineno not in inside:
                continue  # aliases of types
            first, last = (
                starts[m.lineno - 1] + m.col_offset,
                starts[m.end_lineno - 1] + m.end_col_offset,
            )
            raw = source.encode()
            text = m.text if kind in ("AugAssign", "Return") else f"({m.text})"
            mutant = (raw[:first] + text.encode() + raw[last:]).decode()
            place = m.lineno, m.col_offset
            name = "Index" if kind == "Number" and any(a <= place < b for a, b in spans) else kind
            old = " ".join(raw[first:last].decode().split())
            yield {
                "path": path,
                "kind": name,
                "line": m.lineno,
                "end": m.end_lineno,
                "source": mutant,
                "old": old,
                "text": lines[m.lineno - 1].decode().strip(),
                "new": m.text,
            }


def tests_of(mutant, record, seconds):
    lines = record["lines"].get(mutant["path"], {})
    covering = {
        c for line in range(mutant["line"], mutant["end"] + 1) for c in lines.get(str(line), ())
    } - {""}
    if not covering and any(
        "" in lines.get(str(line), ()) for line in range(mutant["line"], mutant["end"] + 1)
    ):
        covering = {context for contexts in lines.values() for context in contexts} - {
            ""
        }  # run on import
    tests = record["tests"]
    chosen = [
        t
        for t in tests
        if covering & set(tests[t]["contexts"]) or (not covering and tests[t]["spawns"])
    ]
    total, kept = 0, []
    for test in sorted(chosen, key=lambda t: tests[t]["seconds"]):
        total += tests[test]["seconds"]
        if total > seconds:
            break
        kept.append(test)
    return kept, total


def run_mutant(sources, mutant, tests, seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (int(3 * seconds + 60),) * 2)
    signal.alarm(1800)
    (sources / mutant["path"]).write_text(mutant["source"])
    return run_tests(sources, tests)


def survivors(mutants, tests, seconds, copies):
    """Which mutants survive: as many at a time as there are copies of the sources."""
    alive = [not names for names, _ in tests]  # what no test executes
    free, running = list(copies), {}

    def wait():
        process, status = os.wait()
        i, sources = running.pop(process)
        alive[i] = status == 0
        shutil.copy(ROOT / "src" / mutants[i]["path"], sources / mutants[i]["path"])
        free.append(sources)

    for i, (mutant, (names, _)) in enumerate(zip(mutants, tests, strict=True)):
        if names:
            if not free:
                wait()
            sources = free.pop()
            running[forked(run_mutant, sources, mutant, names, seconds)] = i, sources
    while running:
        wait()
    return alive


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--sample", type=int, default=60, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=20, help="CPU time of the tests of a mutant"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="files whose path contains this")
    options = parser.parse_args()
    lists = (ROOT / "tools/equivalent_mutants.txt").read_text().splitlines()
    equivalent = {tuple(line.split(" | ")[:3]) for line in lists}
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        output = directory / "record.json"
        os.waitpid(forked(measure, copy_sources(directory / "measured"), output), 0)
        record = json.loads(output.read_text())
        if record["failed"]:
            print(f"failing or skipped tests are left out: {record['failed']}")
        plain = ("numpy", "scipy", "sklearn", "pandas", "dask", "h5py", "matplotlib")
        for module in record["modules"]:
            if module.split(".")[0] in plain:
                importlib.import_module(module)
        copies = [copy_sources(directory / str(i)) for i in range(options.jobs)]
        for folder in options.folders:
            report(folder, record, copies, options, equivalent)


def report(folder, record, copies, options, equivalent):
    files = sorted((ROOT / "src/mvsc_fast").glob(f"{folder}/*.py"))
    files = files or [ROOT / f"src/mvsc_fast/{folder}.py"]
    mutants = [m for file in files for m in mutations(str(file.relative_to(ROOT / "src")))]
    known = {(m["path"], old, m["new"]) for m in mutants for old in (m["old"], m["text"])}
    for entry in sorted(equivalent - known):
        if entry[0].startswith((f"mvsc_fast/{folder}/", f"mvsc_fast/{folder}.py")):
            print(f"{folder}: equivalent_mutants.txt has no mutant {' | '.join(entry)}")
    mutants = [m for m in mutants if options.only in m["path"]]
    drawn = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    drawn = [
        m
        for m in drawn
        if equivalent.isdisjoint((m["path"], old, m["new"]) for old in (m["old"], m["text"]))
    ]
    tests = [tests_of(m, record, options.seconds) for m in drawn]
    unchanged = drawn[0] | {"source": (ROOT / "src" / drawn[0]["path"]).read_text()}
    some = list(record["tests"])[::100]
    if not all(survivors([unchanged], [(some, 0)], options.seconds, copies)):
        sys.exit(f"{folder}: tests fail without a mutant")
    alive = survivors(drawn, tests, options.seconds, copies)
    for constants in False, True:
        group = [
            lives
            for m, lives in zip(drawn, alive, strict=True)
            if (m["kind"] == "Number") == constants
        ]
        name = "constants" if constants else "conditions, signs, indices and returns"
        print(f"{folder}: {len(group) - sum(group)} of {len(group)} killed: {name}")
    for m, lives, (names, _) in sorted(
        zip(drawn, alive, tests, strict=True), key=lambda x: (x[0]["path"], x[0]["line"])
    ):
        if lives:
            print(
                f"    src/{m['path']}:{m['line']} {m['kind']}: {m['old']} -> {m['new']}",
                f"({len(names)} tests)",
            )
    print(f"    CPU time: {sum(os.times()[:4]):.0f} s since the start", flush=True)


if __name__ == "__main__":
    main()
