"""How numbers are written in tables, see docs/files.md."""

import re

import numpy as np

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?", re.I | re.A)
MARKED = re.compile(r"[+-]?\d+(?:[., \u00a0\u202f]\d+)+", re.A)  # with marks of any meaning
THOUSANDS = re.compile(r"[+-]?(?:0|[1-9]\d{,2}(?:\.\d{3})*)", re.A)
LOGICAL = {"true": 1.0, "false": 0.0}


def is_number(text):
    """Whether a text is a number in some notation."""
    return bool(NUMBER.fullmatch(text) or MARKED.fullmatch(text))


def are_ambiguous(texts):
    """Whether the points in all of some numbers may separate thousands."""
    return all(map(THOUSANDS.fullmatch, texts)) and "." in "".join(texts)


def parse_number(cell, decimal=None):
    """The number in a cell, or None if it is text.

    With the option --decimal, other marks separate thousands where these have their places.
    """
    text = str(cell).strip()
    if text.lower() in LOGICAL:
        return LOGICAL[text.lower()]
    if decimal and isinstance(cell, str):
        for marks in (",." if decimal == "." else ".,")[0], " \u00a0\u202f":
            groups = rf"[+-]?[1-9]\d{{,2}}(?:[{marks}]\d{{3}})+(?:\{decimal}\d+)?"
            if re.fullmatch(groups, text, re.A):
                text = re.sub(f"[{marks}]", "", text)
        if decimal == ",":
            text = text.replace(".", "?").replace(",", ".")
    return float(text) if NUMBER.fullmatch(text) else None


def parse_column(cells, decimal=None, ambiguous=False):
    """The numbers in a list of cells, NaN for missing ones and text, and the text by position.

    In ``ambiguous`` columns, points make a number text.
    """
    values, words = np.full(len(cells), np.nan), {}
    for row, cell in enumerate(cells):
        if cell is None or isinstance(cell, float) and np.isnan(cell):
            continue
        number = parse_number(cell, decimal)
        if number is None or ambiguous and "." in str(cell):
            words[row] = str(cell).strip()
        else:
            values[row] = number
    return values, words
