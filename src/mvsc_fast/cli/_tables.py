"""Tables: their names, numbers and text, and the positions of cells in the file."""

import re
from array import array
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np

from .._utils.messages import counted
from ._text import HEAD

MISSING = frozenset(("", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>"))
LOGICAL = {"true": 1.0, "false": 0.0}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:e[+-]?\d+)?", re.IGNORECASE)
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:e[+-]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
CODE = re.compile(r"0\d+|\d{16,}")  # looks like an id, not like a number
ID_NAME = re.compile(
    r"|unnamed: 0|index|idx|row_?names?|u?id|ids|mrn|patient|sample(?:[ _.-]?(?:id|name))?"
    r"|.+[ _.-]id|id[ _.-].+",
    re.IGNORECASE,
)
# Names of numeric columns that precede the samples in a table with genes as rows.
ANNOTATION = re.compile(
    r"|(?:.*[ _.-])?id|entrez.*|start|end|strand|length|position", re.IGNORECASE
)


@dataclass
class Table:
    """A table with samples as rows.

    Attributes
    ----------
    name : str
        Name of the file.
    names : list of str
        Names of the columns; empty without a header.
    numbers : ndarray of shape (n, d)
        Values of the cells; NaN for empty cells and text.
    text : dict of int to list of str
        Cells of the columns that contain text.
    strays : dict of int to (int, str)
        For numeric columns, the row and the content of the first cell that is not a number.
    rows, columns : list of str
        Their places in the file, such as "line 3" and "column 1".
    notes : list of str
    transposed : bool
    """

    name: str
    names: list
    numbers: np.ndarray
    text: dict
    strays: dict
    rows: list
    columns: list
    notes: list = field(default_factory=list)
    transposed: bool = False

    def title(self, k):
        """Name of a column in messages: column 3 ('height')."""
        return self.columns[k] + (f" ({self.names[k]!r})" if self.names[k] else "")

    def where(self, row, k):
        """Position of a cell in the file, for messages."""
        return f"{self.rows[row]}, {self.title(k)}"

    def filled(self):
        """Indices of the rows that are not entirely empty."""
        rows = ~np.isnan(self.numbers).all(axis=1)
        for cells in self.text.values():
            for row in np.flatnonzero(~rows).tolist():
                rows[row] = not is_missing(cells[row])
        return np.flatnonzero(rows)

    def turned(self):
        """The transposed table, whose first column contains the names of the samples."""
        front = 0
        while front < len(self.names) - 1 and (
            front in self.text or any(self.names) and ANNOTATION.fullmatch(self.names[front])
        ):
            front += 1
        for k in range(front, len(self.names)):
            if k in self.text or k in self.strays:
                row, cell = self.strays.get(k) or (0, self.text[k][0])
                raise ValueError(
                    f"{self.where(row, k)} is {cell!r}, not a number; --transpose takes all "
                    f"columns from {self.title(front)} on as samples"
                )
        names = [""] * len(self.rows)
        for k in reversed(range(front)):
            cells = self.text.get(k) or [f"{one:.15g}" for one in self.numbers[:, k].tolist()]
            names = [
                name if is_missing(cell) else cell for cell, name in zip(cells, names, strict=True)
            ]
        numbers, text, columns = self.numbers[:, front:].T, {}, self.rows
        if any(self.names):
            numbers = np.hstack([np.full((len(numbers), 1), np.nan), numbers])
            names, columns, text = ["", *names], ["the header", *columns], {0: self.names[front:]}
        return Table(
            self.name, names, numbers, text, {}, self.columns[front:], columns, self.notes, True
        )


def is_missing(cell):
    """Whether a cell is empty or contains a code for a missing value."""
    return cell.strip().lower() in MISSING


def _value(cell, number=float):
    """The number in a cell, 1 for true and 0 for false, or None."""
    try:
        value = number(cell)
    except ValueError:
        return LOGICAL.get(cell.strip().lower())
    return None if "_" in cell else value  # which Python accepts in numbers


def table_of(name, rows, notes, *, has_names=None):
    """The `Table` for an iterator of (place, cells); by default, ``has_names`` is detected."""
    head = list(islice(rows, HEAD + 1))
    sample = [cells for _, cells in head if any(cell.strip() for cell in cells)]
    if not sample:
        raise ValueError(f"{name} is empty")
    comma = _has_decimal_comma([cell for cells in sample for cell in cells])
    number = _decimal_comma if comma else float
    place, widths = head[0][0], [len(cells) for cells in sample]
    if len(widths) > 1 and widths[1] - widths[0] not in (0, 1):
        below = next(one for one, cells in head if cells is sample[1])
        raise ValueError(
            f"{name}: {place} has {counted(widths[0], 'cell')}, {below} has {widths[1]}: "
            "the first row must contain the names of the columns, without a title above it"
        )
    names = []
    if has_names or has_names is None and _is_header(sample, number, place):
        names, head, sample = [cell.strip() for cell in sample[0]], head[1:], sample[1:]
    width = len(sample[0]) if sample else len(names)
    ends = (
        width > 1
        and not (names[width - 1 :] or [""])[0]
        and not any(cells[-1].strip() for cells in sample)
    )  # every row ends with a separator
    width -= ends
    if len(names) < width:  # R writes no name for the column of row names
        names = ["", *names] if names else [""] * width
    names = names[:width]
    known = _text_columns([cells[:width] for cells in sample if len(cells) >= width], number)
    text, strays, places, numbers = {k: [] for k in {0, *known}}, {}, [], array("d")
    for place, cells in chain(head, rows):
        if ends and not cells[-1].strip():
            cells = cells[:-1]
        if len(cells) != width:
            if not any(cell.strip() for cell in cells):
                continue  # spreadsheets write empty rows below a table
            raise ValueError(
                f"{name}: {place} has {counted(len(cells), 'cell')}, the first sample has {width}"
            )
        for k, column in text.items():
            column.append(cells[k])
        for k in known:
            cells[k] = "nan"
        try:
            values = np.fromiter(map(number, cells), float, width)
        except ValueError:
            values = np.full(width, np.nan)
            for k, cell in enumerate(cells):
                if (value := _value(cell, number)) is not None:
                    values[k] = value
                elif not is_missing(cell):
                    strays.setdefault(k, (len(places), cell))
        numbers.frombytes(values.tobytes())
        places.append(place)
    if not places:
        raise ValueError(f"{name} has names of columns, but no samples")
    X = np.frombuffer(numbers).reshape(len(places), width)
    integers = (X[:, 0] == np.floor(X[:, 0])) | np.isnan(X[:, 0])
    if 0 in strays and integers.all() and len(set(text[0])) == len(places):
        del strays[0]  # distinct integers and text are ids
    elif 0 not in known:
        del text[0]
    notes = notes + [f"{name}: commas are read as decimal points"] * comma
    columns = [f"column {k + 1}" for k in range(width)]
    return Table(name, names, X, text, strays, places, columns, notes)


def _has_decimal_comma(cells):
    commas = [cell for cell in cells if "," in cell and DECIMAL_COMMA.fullmatch(cell.strip())]
    if not commas:
        return False
    point = next((cell for cell in cells if DECIMAL_POINT.fullmatch(cell.strip())), None)
    if point is not None:
        raise ValueError(
            f"{commas[0]!r} has a comma and {point!r} has a decimal point: use one decimal "
            "separator, and no thousands separators"
        )
    if all(THOUSANDS.fullmatch(cell.strip()) for cell in commas):
        raise ValueError(
            f"{commas[0]!r} may have a decimal comma or a thousands separator: write numbers "
            "without thousands separators"
        )
    return True


def _decimal_comma(cell):
    if "." in cell:
        raise ValueError(cell)
    return float(cell.replace(",", "."))


def _is_header(rows, number, place):
    """Whether the first row contains the names of the columns."""
    first, rest = rows[0], rows[1:]
    numeric = [_value(cell, number) is not None for cell in first]
    text = [k for k, cell in enumerate(first) if not numeric[k] and not is_missing(cell)]
    if not any(numeric):
        return bool(text)
    names = _are_names(first[1:])
    if not text:
        counted = len(first) > 2 and first == [str(k) for k in range(len(first))]
        return names and (counted or not first[0].strip())
    if text == [0] and len(first) > 2 and names and rest:
        if ID_NAME.fullmatch(first[0]) or all(_value(row[0], number) is not None for row in rest):
            return True
        if len(first) > HEAD and not any(_are_names(row[1:]) for row in rest):
            return True
        raise ValueError(
            f"{place} may contain names or a sample, because its numbers are distinct. Rename the "
            "first column to id if it contains names, or add a header line if it is a sample"
        )
    for k in text:
        if all(len(row) <= k or _value(row[k], number) is not None for row in rest):
            raise ValueError(
                f"{place} has both numbers and text (field {k + 1} is {first[k]!r}): a header must "
                "contain only names, a sample only numbers"
            )
    return False


def _are_names(cells):
    """Whether numbers may be names: distinct integers, or many ascending numbers."""
    if not cells or None in map(_value, cells) or len(set(cells)) < len(cells):
        return False
    ascend = len(cells) > 5 and bool((np.diff([float(cell) for cell in cells]) > 0).all())
    return ascend or all(cell.strip().isdecimal() for cell in cells)


def _text_columns(rows, number):
    """Indices of the columns that contain text, according to the first rows."""
    found = set()
    for k, column in enumerate(zip(*rows, strict=False)):
        column = [cell for cell in column if not is_missing(cell)]
        count = sum(
            _value(cell, number) is not None and not CODE.fullmatch(cell.strip()) for cell in column
        )
        if 2 * count < len(column) or k == 0 and count < len(column) == len(set(column)):
            found.add(k)
    return found
