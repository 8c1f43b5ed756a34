"""Examples of docstrings, and the script that writes the tables of the documentation."""

import doctest
import importlib
import pkgutil
import re
import shutil
import sys
from pathlib import Path

import pytest

import mvsc_fast

BENCH = Path(__file__).resolve().parent.parent / "bench"
TOOLS = BENCH.parent / "tools"
MODULES = [
    module.name
    for module in pkgutil.walk_packages(mvsc_fast.__path__, "mvsc_fast.")
    if "hook-" not in module.name  # of PyInstaller
]
needs_bench = pytest.mark.skipif(not BENCH.exists(), reason="tests without their repository")


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    monkeypatch.delitem(sys.modules, "tables", raising=False)
    return importlib.import_module("tables")


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples_of_docstrings(name):
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(importlib.import_module(name)):
        runner.run(example)
    assert runner.failures == 0


@pytest.fixture
def docstrings(monkeypatch):
    if not TOOLS.exists():
        pytest.skip("tests without their repository")
    monkeypatch.syspath_prepend(TOOLS)
    return importlib.import_module("docstrings")


def test_shared_entries_of_docstrings_are_those_of_the_base_classes(docstrings, tmp_path):
    assert docstrings.changes()[1] == []
    for folder in ("methods", "solvers"):
        shutil.copytree(docstrings.PACKAGE / folder, tmp_path / folder)
    base = tmp_path / "methods" / "_base.py"
    text = base.read_text(encoding="utf-8")
    base.write_text(text.replace("Number of clusters to find.", "How many."), encoding="utf-8")
    texts, names = docstrings.changes(tmp_path)
    assert len(names) == 12 and not any("Consensus" in name for name in names)  # it has its own
    assert sum("    How many." in text for text in texts.values()) == 12


def test_a_parameter_without_an_entry_is_named(docstrings, tmp_path):
    for folder in ("methods", "solvers"):
        shutil.copytree(docstrings.PACKAGE / folder, tmp_path / folder)
    path = tmp_path / "methods" / "_awp.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("init: Init =", "start: Init ="), encoding="utf-8")
    with pytest.raises(SystemExit, match="AWP .*start"):
        docstrings.changes(tmp_path)


@needs_bench
def test_every_table_has_a_place_and_a_script(tables):
    for name, table in tables.TABLES.items():
        assert len(re.findall(tables.block_pattern(name), tables.read(table.page), re.S)) == 1
        assert (tables.ROOT / table.command.split()[0]).exists()
        assert tables.sources(name)[:2] == ["src", "setup.py"]
        assert all((tables.ROOT / "src" / "mvsc_fast" / part).exists() for part in table.unused)
    for name in tables.EXTRACTS:
        tables.block(name, tables.README)


@needs_bench
def test_comments_and_docstrings_do_not_make_a_table_stale(tables):
    before = 'def f(x):\n    """Add."""\n    # One.\n    return "a" + x\n'
    for same in (before.replace("Add", "Sum"), before.replace("    # One.\n", "\n")):
        assert tables.code(same) == tables.code(before)
    for other in (before.replace('"a"', '"b"'), before + "    x\n", before + "x\n"):
        assert tables.code(other) != tables.code(before)
    assert tables.code(before + "    x\n") != tables.code(before + "x\n")


@needs_bench
def test_tables_of_the_first_page_are_parts_of_others(tables, monkeypatch):
    table, score = tables.table, "0.9 ± 0.1"
    baselines = ["best single view", "averaged graph", "concatenated"]
    ari = ["method", "ARI", "NMI"]
    blocks = {
        "accuracy": table(
            ["data", "ConsensusTLRR", *baselines], [*"abcde"], ["mean", score, "2", "3", "4"]
        )
        + "\nmeans\n\n"
        + table(
            ["method", "all sets and cases"],
            ["ConsensusTLRR", "1"],
            *zip(baselines, "567", strict=True),
        ),
        "peers": table(["ACC", "mean"], ["ConsensusTLRR", "0.7"], ["snfpy", "0.6"]),
        "omics": table(ari, ["ConsensusTLRR", ".1", ".2"], ["k", ".3", ".4"])
        + "\nbrca\n\n"
        + table(ari, ["ConsensusTLRR", ".5", ".6"], ["k", ".7", ".8"]),
        "unequal": table(
            ["ARI / mean F1 / NMI", "ConsensusTLRR", "k-means"],
            ["sets 10 : 1 (24)", ".1 / .2 / .3", ".4 / .5 / .6"],
            ["sets 30 : 1 (24)", ".7 / .8 / .9", ".6 / .5 / .4"],
        ),
        "solvers": table(
            ["tensor", "threads", "solver", "seconds", "relative gap"],
            *(
                ["yaleb10, default W", str(threads), solver, f"{threads}.5", ""]
                for threads in (1, 2)
                for solver in ("dual", "ialm", "NumPy twin")
            ),
        ),
    }
    monkeypatch.setattr(tables, "block", lambda name, page=None: blocks[name])
    found = tables.extracts()
    assert set(found) == set(tables.EXTRACTS)
    lines = found["accuracy"].splitlines()
    assert lines[2] == (
        f"| ten sets, ACC | {score} | best single view, chosen with true labels 2; averaged graph "
        "3; concatenated views 4 |"
    )
    assert lines[4] == "| seven sets, ACC | 0.7 | snfpy 0.6 |"
    assert lines[6] == "| five breast cancers, ARI / NMI | .5 / .6 | k .7 / .8 |"
    assert lines[3].endswith("concatenated views 7 |")
    assert lines[7:] == ["| sets 30 : 1, unequal groups, ARI | .7 | k-means .6 |"]
    assert "**1.5**" in found["solvers"]


@needs_bench
def test_a_table_is_stale_without_its_commit_or_command(tables, monkeypatch):
    name = "columns"
    command = tables.TABLES[name].command
    head = tables.git("rev-parse", "--short", "HEAD")[1]
    if not head:
        pytest.skip("tests without their repository")
    for footer, why in {
        "": "names no commit",
        f"`other`, commit {head}, CPU, 2026-11-22, 1.0 min\n": "was made by other",
        f"`{command}`, commit 0000000, CPU, 2026-11-22, 1.0 min\n": "is not an ancestor",
    }.items():
        monkeypatch.setattr(tables, "block", lambda *_, footer=footer: f"| a |\n\n{footer}")
        assert why in tables.why_stale(name)
