"""Sections of numpydoc docstrings, for tests of documentation."""

import inspect
import re


def sections(docstring):
    """Text of each section by its title."""
    parts = re.split(r"^([A-Z][\w ]*)\n-+\n", inspect.cleandoc(docstring), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(text):
    """Entry of each name of a section such as Parameters."""
    by_name = {}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        names = entry.split("\n")[0].split(" : ")[0]
        by_name |= {name: entry for name in names.split(", ") if name}
    return by_name
