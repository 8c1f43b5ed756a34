"""Docstrings that are assembled from parts, so that shared entries are written once."""

import inspect
import re

import numpy as np

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


def sections(doc):
    """Bodies of the sections of a numpydoc docstring by title; "" is the text before them."""
    first, *rest = re.split(r"^(\w+)\n-{3,}\n", inspect.cleandoc(doc), flags=re.MULTILINE)
    bodies = {title: body.strip("\n") for title, body in zip(rest[::2], rest[1::2], strict=True)}
    return {"": first.strip(), **bodies}


def entries(body):
    """The entry of every name in a section of parameters or attributes."""
    chunks = re.split(r"^(?=\S)", body, flags=re.MULTILINE)
    return {
        name: chunk.strip()
        for chunk in chunks
        if chunk.strip()
        for name in chunk.split(" : ")[0].strip().split(", ")
    }


def completed(doc, sources, signature, inherited):
    """Complete a docstring with the sections and entries that it lacks, from ``sources``.

    Parameters get entries in the order and with the defaults of ``signature``. ``inherited`` are
    the titles of the other sections.
    """
    own, *others = [sections(text) for text in (doc, *sources)]
    known = [entries(part.get("Parameters", "")) for part in (own, *others)]
    lines = []
    for name, parameter in signature.parameters.items():
        entry = next((part[name] for part in known if name in part), None)
        if entry is not None:
            entry = _with_default(entry, parameter.default)
            if entry not in lines:  # one entry may describe several parameters
                lines.append(entry)
    own["Parameters"] = "\n".join(lines)
    for title in inherited:
        bodies = [part[title] for part in (own, *others) if title in part]
        if bodies:
            own[title] = bodies[0]
    texts = [f"{title}\n{'-' * len(title)}\n{own[title]}" for title in SECTIONS if own.get(title)]
    return "\n\n".join([own[""], *texts]) + "\n"


def _with_default(entry, default):
    """The entry of one parameter with the default in this signature."""
    head, *rest = entry.split("\n")
    if default is inspect.Parameter.empty or ", " in head.split(" : ")[0]:
        return entry
    head = re.sub(r", (optional|default=.*)$", "", head)
    if isinstance(default, str):
        default = f'"{default}"'
    elif isinstance(default, float) and not 1e-3 <= default < 1e4:
        default = np.format_float_scientific(default, trim="-", exp_digits=1)
    head += ", optional" if default is None else f", default={default}"
    return "\n".join([head, *rest])
