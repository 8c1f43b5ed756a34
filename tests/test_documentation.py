"""Examples of docstrings, and the script that writes the tables of the documentation."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import mvsc_fast
from mvsc_fast.cli import main

BENCH = Path(__file__).resolve().parent.parent / "bench"
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


def test_examples_of_docstrings():
    runner = doctest.DocTestRunner()
    for name in MODULES:
        if not name.endswith("__main__"):
            for example in doctest.DocTestFinder().find(importlib.import_module(name)):
                runner.run(example)
    assert runner.failures == 0 and runner.tries > 100


@needs_bench
@pytest.mark.slow
def test_the_example_of_the_first_page_prints_its_output(capsys):
    text = (BENCH.parent / "README.md").read_text(encoding="utf-8")
    ((code, output),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S)
    exec(code, {})
    assert capsys.readouterr().out == output


@needs_bench
def test_every_table_names_its_script_once(tables):
    names = tables.find_tables()
    assert len(names) > 30 and len(set(names)) == len(names)
    for name in names:
        command, commit = tables.footer(name)
        script, *words = command.split()
        text = tables.read(script)
        for word in words:
            assert not word.startswith("--") or word[2:].replace("-", "_") in text, (name, word)
        assert commit
        assert tables.sources(command)[:2] == ["src", "setup.py"]


@needs_bench
def test_comments_and_docstrings_do_not_make_a_table_stale(tables):
    before = 'def f(x):\n    """Add."""\n    # One.\n    return "a" + x\n'
    for same in (before.replace("Add", "Sum"), before.replace("    # One.\n", "\n")):
        assert tables.code(same) == tables.code(before)
    others = [before.replace('"a"', '"b"'), before + "    x\n", before + "x\n"]
    assert len({str(tables.code(text)) for text in [before, *others]}) == 4


@needs_bench
def test_the_table_of_the_first_page_has_numbers_of_others(tables):
    header, _, *rows = ([*map(str.strip, r.split("|"))] for r in tables.extract().splitlines())
    values = {row[1]: dict(zip(header, row, strict=True)) for row in rows}
    peers = {row["method"]: row for row in tables.rows_of("peers")}
    accuracy, seconds = (values[f"7 public sets, {score}"] for score in ("accuracy", "CPU s"))
    assert peers["NEMO (imml)"]["ACC"].startswith(accuracy["NEMO"] + " ±")
    assert peers["snfpy, K=20"]["CPU s"] == seconds["SNF"]
    (graph,) = (r for r in tables.rows_of("accuracy") if r["method"] == "averaged graph")
    assert graph["sixteen sets"].startswith(values["16 public sets, accuracy"]["mean graph"])
    assert tables.rows_of("omics", 1)[0]["ARI, k=5"] == values["breast cancers, ARI"][header[2]]
    assert all(values[data]["ConsensusTLRR"] for data in values) and len(values) == 6


@needs_bench
def test_a_table_is_stale_without_its_commit(tables, monkeypatch):
    for commit, reason in {"": "names no commit", ", commit 0000000, 1.0 min": "0000000"}.items():
        text = f"| a |\n\n`bench/missing.py`{commit}\n"
        monkeypatch.setattr(tables, "block", lambda *_, text=text: text)
        assert reason in tables.why_stale("missing")
    monkeypatch.setattr(tables, "block", lambda *_: "| a |\n")
    with pytest.raises(SystemExit, match="missing"):
        tables.why_stale("missing")


@needs_bench
def test_code_names_of_the_architecture_exist():
    """Files, folders and functions that this part of CONTRIBUTING.md names."""
    root, package = BENCH.parent, BENCH.parent / "src" / "mvsc_fast"
    contributing = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    page = contributing.split("## Architecture")[1].split("## Sizes")[0]
    files = [path for path in package.rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".h")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    paths = {
        f"/{path.relative_to(root)}/"
        for top in ("src", "tests", "bench", "docs")
        for path in (root / top).rglob("*")
    }
    missing = []
    for name in set(re.findall(r"`([\w./]+)(?:\(\w*\))?`", page)):
        if "/" in name or "." in name:
            exists = any(path.endswith(f"/{name.strip('/')}/") for path in paths)
        else:
            exists = re.search(rf"\b{name}\b", code) or list(package.rglob(f"{name}.*"))
        if not exists:
            missing.append(name)
    assert missing == []


@needs_bench
def test_words_of_warnings_are_those_of_the_source():
    page = (BENCH.parent / "docs" / "results.md").read_text(encoding="utf-8")
    rows = page.split("## Meaning of warnings")[1].split("|---|---|\n")[1].splitlines()
    phrases = [row.split(" | ")[0].removeprefix("| ") for row in rows if row.startswith("|")]
    paths = (BENCH.parent / "src" / "mvsc_fast").rglob("*.py")
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_bytes()))]
    texts = "\n".join(str(node.value) for node in nodes if isinstance(node, ast.Constant))
    assert len(phrases) > 20 and [phrase for phrase in phrases if phrase not in texts] == []


def resolve(node, names):
    """The object of a name or a chain of attributes that starts at an import, else None."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    parent = resolve(node.value, names) if isinstance(node, ast.Attribute) else None
    return getattr(parent, node.attr, None) if inspect.ismodule(parent) else None


def missing_names(code):
    """Imports from the package, attributes of its modules and keywords that do not exist."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {name: getattr(mvsc_fast, name) for name in mvsc_fast.__all__}
    names = {name: thing for name, thing in names.items() if callable(thing)}
    names["mvsc_fast"], missing = mvsc_fast, []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mvsc_fast"):
            module = importlib.import_module(node.module)
            names |= {alias.name: getattr(module, alias.name, None) for alias in node.names}
            missing += [alias.name for alias in node.names if not hasattr(module, alias.name)]
    variables = [node for node in nodes if isinstance(node, ast.Name)]
    assigned = {node.id for node in variables if isinstance(node.ctx, ast.Store)}
    names = {name: thing for name, thing in names.items() if name not in assigned}
    for node in nodes:
        if isinstance(node, ast.Attribute) and inspect.ismodule(resolve(node.value, names)):
            missing += [node.attr] if resolve(node, names) is None else []
        if isinstance(node, ast.Call) and callable(resolve(node.func, names)):
            parameters = inspect.signature(resolve(node.func, names)).parameters
            words = {word.arg for word in node.keywords} - {None}  # None is **options
            missing += sorted(words - set(parameters))
    return missing


@needs_bench
def test_names_and_options_of_pages_and_scripts_exist(capsys):
    """Imports, attributes of modules and keywords in Python, and options of the shell."""
    options = set()
    for command in ("cluster", "predict"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        options |= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    root = BENCH.parent
    missing = {}
    for page in [root / "README.md", *(root / "docs").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.M | re.S)
        names = [name for kind, code in blocks if kind == "python" for name in missing_names(code)]
        shell = [code for kind, code in blocks if kind in ("sh", "bash") and "mvsc-fast" in code]
        shell += re.findall(r"`((?:mvsc-fast|--)[^`\n]+)`", text)
        names += set(re.findall(r"(?<![\w-])--[a-z-]+", " ".join(shell))) - options
        if names:
            missing[page.name] = names
    for folder in ("bench", "docs", "examples"):
        for script in (root / folder).rglob("*.py"):
            if "_build" not in script.parts and (names := missing_names(script.read_text("utf-8"))):
                missing[script.name] = names
    assert missing == {}
