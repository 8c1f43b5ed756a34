"""Sections and entries of docstrings in the format of numpydoc."""

import inspect
import re


def sections(doc):
    """Bodies of the sections of a docstring by title; "" is the text before them."""
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
