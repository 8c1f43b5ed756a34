"""Notations of numbers and of missing values in the cells of tables."""

import re
from numbers import Real

import numpy as np

MISSING = frozenset(  # words of pandas, and others
    "|?|#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|1.#IND|1.#QNAN|-NaN|-nan|<NA>|N/A|n/a|NA|na|NaN|nan|NAN"
    "|NULL|Null|null|None|none".split("|")
)
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?", re.I | re.A)
# With marks of any meaning, of which only the last can be the decimal one.
MARKED = re.compile(r"[+-]?\d+(?:[., \u00a0\u202f]\d{3})*[., \u00a0\u202f]\d+", re.A)
THOUSANDS = re.compile(r"[+-]?(?:0|[1-9]\d{,2}(?:\.\d{3})*)", re.A)


def as_text(cell):
    """The text of a cell; numbers without decimals are integers."""
    is_whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if is_whole else cell)


def is_number(text):
    """Whether a text is a number in some notation."""
    return bool(NUMBER.fullmatch(text) or MARKED.fullmatch(text))


def marks_of(texts):
    """The decimal marks, . or , or both, with which all texts are numbers."""
    return [
        mark for mark in ".," if all(isinstance(_parse_cell(text, mark), float) for text in texts)
    ]


def with_numbers(column, decimal):
    """A column with floats for its numbers; it is of floats if it has no text."""
    if column.dtype in (np.float64, np.float32):
        return column
    if column.dtype.kind in "fiub":
        return column.astype(float)
    cells = column.dropna().astype(object)
    cells = cells[~find_missing(cells)]
    is_doubtful = may_be_grouped(cells, decimal) and has_point(cells)
    cells = cells.map(
        lambda cell: cell if is_doubtful and "." in cell else _parse_cell(cell, decimal)
    )
    return cells.astype(object if texts_of(cells).size else float).reindex(column.index)


def is_missing(cell):
    """Whether a cell is a word for a missing value."""
    return isinstance(cell, str) and cell.strip() in MISSING


def find_missing(column):
    """Which cells of a column are words for missing values."""
    return column.map(is_missing).astype(bool)


def texts_of(column):
    """The text of a column."""
    return column[[isinstance(cell, str) for cell in column]]


def may_be_grouped(column, decimal):
    """Whether all cells of a column are text of whole numbers, with or without thousands."""
    cells = (cell for cell in column if not isinstance(cell, float) or cell == cell)  # NaN differs
    return not decimal and all(
        isinstance(cell, str) and THOUSANDS.fullmatch(cell.strip()) for cell in cells
    )


def has_point(column):
    """Whether a text of a column has a point, which may separate thousands."""
    return any("." in cell for cell in column if isinstance(cell, str))


def _parse_cell(cell, decimal):
    """The number in a cell, or else its text.

    With the option --decimal, other marks separate thousands where these have their places.
    """
    if isinstance(cell, Real):
        return float(cell)
    number = text = str(cell).strip()
    if decimal is not None:
        other = "," if decimal == "." else "."
        groups = rf"[+-]?[1-9]\d{{,2}}([{other} \u00a0\u202f])\d{{3}}(\1\d{{3}})*(\{decimal}\d+)?"
        match = re.fullmatch(groups, text, re.A)
        number = text.replace(match[1], "") if match else text.replace(other, "?")
        number = number.replace(decimal, ".")
    return float(number) if NUMBER.fullmatch(number) else text
