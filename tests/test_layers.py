"""The folders are layers: each imports, and cimports, only those before it; files are short."""

import ast
import re
from pathlib import Path

import pytest
from processes import run_python

import mvsc_fast

SRC = Path(mvsc_fast.__file__).parent
BASE = ("core", "_utils", "_kernels", "include")  # for everybody
LAYERS = ("views", "similarity", "spectral", "judge", "solvers", "methods", "explanation")
TOOLS = ("_capi", "datasets", "metrics", "preprocessing", "cli")  # on all of these, in order
FREE = ("datasets", "metrics")  # know nothing of the rest but what is for everybody


def imported(path):
    """Top entries of the package that a file imports or cimports."""
    text, here = path.read_text(encoding="utf-8"), ("mvsc_fast", *path.relative_to(SRC).parts)
    modules = set()
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                modules |= {tuple(alias.name.split(".")) for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = here[: len(here) - node.level] if node.level else ()
                target = [*base, *filter(None, (node.module or "").split("."))]
                names = [alias.name for alias in node.names] if len(target) < 2 else []
                modules |= {tuple(target)} | {(*target[:1], name) for name in names}
    else:
        pattern = r"^\s*(?:from|cimport|import)\s+(mvsc_fast|\.\.)([\w.]*)(?:\s+c?import\s+(\w+))?"
        for _, module, name in re.findall(pattern, text, flags=re.MULTILINE):
            modules.add(("mvsc_fast", *filter(None, module.split(".")), name))
    entries = {[*filter(None, parts), "", ""][1] for parts in modules if parts[0] == "mvsc_fast"}
    return {entry for entry in entries if (SRC / entry).is_dir() or list(SRC.glob(f"{entry}.*"))}


def entry_of(path):
    return path.relative_to(SRC).parts[0].split(".")[0]


def test_every_folder_imports_only_those_before_it():
    wrong = []
    for path in sorted(SRC.rglob("*")):
        here = entry_of(path)
        if path.suffix not in (".py", ".pyx", ".pxd") or here in ("__init__", "__main__", ""):
            continue
        if here in BASE:
            allowed = BASE
        elif here in FREE:
            allowed = (*BASE, here)
        elif here in TOOLS:
            allowed = (*BASE, *LAYERS, *TOOLS[: TOOLS.index(here) + 1])
        else:
            allowed = (*BASE, *LAYERS[: LAYERS.index(here) + 1])
        wrong += [f"{path.relative_to(SRC)}: {entry}" for entry in imported(path) - {*allowed, ""}]
    assert wrong == []


def test_every_entry_has_its_place():
    code = (".py", ".pyx", ".so", ".pyd")  # a wheel has no .pyx
    entries = {entry_of(path) for path in SRC.rglob("*") if path.suffix in code}
    assert entries - {"__init__", "__main__"} == {*BASE, *LAYERS, *TOOLS} - {"include"}


def test_modules_have_a_length_that_is_read_at_once():
    limits = {".py": 400, ".pyx": 699, ".pxd": 699, ".h": 699}
    programs = SRC / "include" / "mvsc_predict.h"  # which programs in C include alone
    too_long = {}
    for path in SRC.rglob("*"):
        limit = None if path == programs else limits.get(path.suffix)
        if limit is not None and len(path.read_text(encoding="utf-8").splitlines()) > limit:
            too_long[str(path.relative_to(SRC))] = limit
    assert too_long == {}


def test_the_package_imports_nothing_that_only_some_files_need():
    code = "import sys, mvsc_fast; print(*sys.modules)"
    modules = run_python(code).split()
    assert not {"scipy.io", "matplotlib", "h5py", "zarr", "igraph", "dask"} & set(modules)


# Tests of what is below the interface, or that shorten a fit. The list can only become shorter.
PRIVATE = """
_utils/test_threads.py _utils/test_validation.py
attack/test_concurrency.py attack/test_hostile_files.py
attack/test_memory_limits.py cli/test_cluster.py
cli/test_outputs.py conftest.py explanation/test_explanation.py explanation/test_markers.py
judge/test_n_clusters.py judge/test_ridge.py
methods/test_mcles.py methods/test_memory.py methods/test_saved.py native/test_examples.py
native/test_predict.py native/test_prox.py similarity/test_sparse.py
spectral/test_spectral.py test_matrix.py views/test_lift.py views/test_missing_values.py
""".split()


def test_tests_use_public_names():
    """Those of core/, and the references, may use others."""
    tests = Path(__file__).parent
    names = r"(?:\([^)]*|[^#\n]*)\b_[a-z]"  # in parentheses, or in a line
    name = rf"\bmvsc_fast(?:\.\w+)*\._[a-z]|^ *from mvsc_fast(?:\.\w+)* import {names}"
    users = {
        path.relative_to(tests).as_posix()
        for path in tests.rglob("*.py")
        if re.search(name, path.read_text("utf-8"), re.MULTILINE)
    }
    users = {user for user in users if not user.startswith(("core/", "reference/"))}
    assert users == set(PRIVATE), "take files that use public names out of the list"


@pytest.mark.parametrize("source", sorted((SRC / "core").glob("*.pyx")), ids=lambda path: path.name)
def test_every_function_of_the_core_is_documented_and_knows_no_python(source):
    text = source.read_text()
    functions = re.findall(r"^cdef (?!struct|enum|extern)[^=\n(]*?(\w+)\(", text, re.MULTILINE)
    documented = re.findall(r"nogil:\n +\"\"\"", text)
    assert functions and len(documented) == len(functions), functions
    assert "numpy" not in text
