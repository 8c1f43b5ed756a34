"""Copy entries of docstrings that several estimators share, so that every source is complete.

Usage: python tools/docstrings.py --check
       python tools/docstrings.py --write

Editors, type checkers and readers of a file see only what is in it. Therefore the docstring of an
estimator has an entry for each of its parameters and attributes. An entry that it shares is edited
in one place, the docstring of a base class or of its function in `solvers`, and --write copies it,
with the default of the signature; entries in `EXCEPTIONS` are edited where they are. --check, which
`make lint` calls, names the docstrings that --write would change.
"""

import argparse
import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "mvsc_fast"
ROOT = "MultiViewClusterer"
SECTIONS = (
    "Parameters",
    "Attributes",
    "Returns",
    "Raises",
    "Warns",
    "Notes",
    "References",
    "Examples",
)
# Where else shared entries come from, after the base classes.
FUNCTIONS = {"TLRR": "tlrr", "TRPCA": "trpca", "SNN": "snn", "snn": "trpca"}
# Entries that differ from those of the same name elsewhere.
EXCEPTIONS = {
    "AWP": {"random_state"},
    "ConsensusTLRR": {"n_clusters", "labels_", "Examples"},
    "DiMSC": {"history_"},
    "LMSC": {"tensor_", "representation_"},
    "MCLES": {"affinity_matrix_", "embedding_", "history_", "representation_", "tensor_"},
    "TLRR": {"affinity_matrix_", "history_", "similarity_", "tensor_", "Examples"},
    "snn": {"tol"},
}
EXAMPLES = """>>> from mvsc_fast.methods import {name}
>>> from mvsc_fast import datasets
>>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
>>> {name}(n_clusters=3, random_state=0).fit_predict(views).shape
(60,)"""


def parse_sections(doc):
    """Bodies of the sections of a numpydoc docstring by title; "" is the text before them."""
    first, *rest = re.split(r"^(\w+)\n-{3,}\n", inspect.cleandoc(doc), flags=re.MULTILINE)
    bodies = {title: body.strip("\n") for title, body in zip(rest[::2], rest[1::2], strict=True)}
    return {"": first.strip(), **bodies}


def parse_entries(body):
    """The text of every entry in a section of parameters or attributes by its name."""
    texts = [text.strip() for text in re.split(r"^(?=\S)", body, flags=re.MULTILINE)]
    return {re.split(r" : |\n", text)[0]: text for text in texts if text}


def read_definitions(paths):
    """Path, text and node of every class, and of every public function, by name."""
    definitions = {}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                definitions[node.name] = path, text, node
    return definitions


def read_defaults(node, text):
    """The default of every parameter as it is written; None for those without one."""
    if isinstance(node, ast.ClassDef):
        (node,) = [part for part in node.body if getattr(part, "name", "") == "__init__"]
    given = node.args
    positional = [argument.arg for argument in given.args if argument.arg != "self"]
    missing = [None] * (len(positional) - len(given.defaults))
    values = [*missing, *given.defaults, *given.kw_defaults]
    names = [*positional, *(argument.arg for argument in given.kwonlyargs)]
    pairs = zip(names, values, strict=True)
    return {name: value and ast.get_source_segment(text, value) for name, value in pairs}


def with_default(entry, default):
    """The entry of a parameter with the default of a signature."""
    head, *rest = entry.split("\n")
    if default is None:
        return entry
    head = re.sub(r", (optional|default=.*)$", "", head)
    head += ", optional" if default == "None" else f", default={default}"
    return "\n".join([head, *rest])


def source_names(name, definitions):
    """Names of the definitions whose entries this one shares, the nearest first."""
    node, names = definitions[name][2], []
    for base in getattr(node, "bases", []):
        if getattr(base, "id", "") in definitions:
            names += [base.id, *source_names(base.id, definitions)]
    return [*names, FUNCTIONS[name]] if name in FUNCTIONS else names


def completed_docstring(name, definitions):
    """The docstring of a definition with all entries that it shares, without indentation."""
    _, text, node = definitions[name]
    sections = parse_sections(ast.get_docstring(node))
    exceptions = EXCEPTIONS.get(name, set())
    sources = [
        parse_sections(ast.get_docstring(definitions[source][2]))
        for source in source_names(name, definitions)
    ]

    # Parameters in the order of the signature
    known = parse_entries(sections.get("Parameters", ""))
    for source in reversed(sources):
        entries = parse_entries(source.get("Parameters", ""))
        known |= {key: entry for key, entry in entries.items() if key not in exceptions}
    defaults = read_defaults(node, text)
    missing = [key for key in defaults if key not in known]
    if missing:
        raise SystemExit(f"{name} has no entry for its parameters {', '.join(missing)}")
    written = [with_default(known[key], default) for key, default in defaults.items()]
    sections["Parameters"] = "\n".join(written)

    if isinstance(node, ast.ClassDef):
        # Attributes of all base classes before those of the class
        attributes = {}
        for source in reversed(sources):
            attributes |= parse_entries(source.get("Attributes", ""))
        entries = parse_entries(sections.get("Attributes", ""))
        attributes |= {
            key: entry
            for key, entry in entries.items()
            if key in exceptions or key not in attributes
        }
        sections["Attributes"] = "\n".join(attributes.values())
        if "Examples" not in exceptions:
            sections["Examples"] = EXAMPLES.format(name=name)
    bodies = {title: sections[title] for title in SECTIONS if sections.get(title)}
    parts = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in bodies.items()]
    return "\n\n".join([sections[""], *parts])


def estimators_and_functions(definitions):
    """Names of the definitions with shared entries that have an own signature."""
    names = []
    for name, (_, _, node) in definitions.items():
        has_init = any(getattr(part, "name", "") == "__init__" for part in node.body)
        if name in FUNCTIONS or (has_init and ROOT in source_names(name, definitions)):
            names.append(name)
    return names


def changes(package=PACKAGE):
    """The new text of every file by its path, and the names of the docstrings that change."""
    solvers = [package / "solvers" / f"_{name}.py" for name in ("tlrr", "splits")]
    definitions = read_definitions([*sorted((package / "methods").glob("*.py")), *solvers])
    lines, names = {}, []
    # From the last docstring of a file to the first, so that line numbers remain right
    order = sorted(
        estimators_and_functions(definitions), key=lambda name: -definitions[name][2].lineno
    )
    for name in order:
        path, text, node = definitions[name]
        docstring = '"""' + completed_docstring(name, definitions) + '\n"""'
        new = textwrap.indent(docstring, "    ").split("\n")
        content = lines.setdefault(path, text.split("\n"))
        place = slice(node.body[0].lineno - 1, node.body[0].end_lineno)
        if content[place] != new:
            names.append(f"{path.relative_to(package)}: {name}")
            content[place] = new
    return {path: "\n".join(content) for path, content in lines.items()}, names


def main(write):
    texts, names = changes()
    if write:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    elif names:
        print("docstrings that lack shared entries, or have old ones:", *names, sep="\n  ")
        print("run python tools/docstrings.py --write, see its first lines")
    return 1 if names and not write else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="fail if a docstring is not current")
    action.add_argument("--write", action="store_true", help="write all docstrings")
    sys.exit(main(parser.parse_args().write))
