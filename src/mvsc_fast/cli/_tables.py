"""A table as it is stored in a file."""

import re
from dataclasses import dataclass, field

import numpy as np

MISSING = frozenset(("", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>"))
LOGICAL = {"true": 1.0, "false": 0.0}
ID_NAME = re.compile(
    r"|unnamed: 0|index|idx|row_?names?|u?id|ids|mrn|patient|sample(?:[ _.-]?(?:id|name))?"
    r"|.+[ _.-]id|id[ _.-].+",
    re.IGNORECASE,
)
# Columns of numbers in front of the samples of a table with genes as rows.
ANNOTATION = re.compile(
    r"|(?:.*[ _.-])?id|entrez.*|start|end|strand|length|position", re.IGNORECASE
)
SAMPLES = -1  # the place of ids that are the names of columns, in a table that was transposed


@dataclass
class Table:
    """A table, samples as rows.

    Attributes
    ----------
    name : str
        Name of the file.
    names : list of str or None
        Names of the columns.
    numbers : ndarray of shape (n, d)
        NaN where a cell is empty or text.
    cells : dict of int to list of str
        Original strings of columns of text, and of integers that may be ids.
    text : set of int
        Columns of text.
    strays : dict of int to (int, str)
        The first cell that is not a number, and its row, of columns of numbers.
    lines : sequence of int
        Line number of each row in the file.
    unit : str
        Name of such a line in messages, such as "line" or "row".
    notes : list of str
    """

    name: str
    names: list | None
    numbers: np.ndarray
    cells: dict
    text: set
    strays: dict
    lines: list
    unit: str = "line"
    notes: list = field(default_factory=list)
    places: list | None = None  # columns of the samples in the file, if the table was transposed

    def title(self, k):
        """Name of a column in messages: column 3 ('height')."""
        if k == SAMPLES:
            return f"the names of columns {self.places[0] + 1} to {self.places[-1] + 1}"
        what = "column" if self.places is None else f"feature of {self.unit}"
        number = k + 1 if self.places is None else self.lines[k]
        named = self.names is not None and self.names[k] != ""
        return f"{what} {number}" + (f" ({self.names[k]!r})" if named else "")

    def where(self, row, k):
        """Position of a cell in the file, for messages."""
        if self.places is None:
            return f"{self.unit} {self.lines[row]}, {self.title(k)}"
        return f"{self.unit} {self.lines[k]}, column {self.places[row] + 1}"

    def filled(self):
        """Rows that are not empty as a whole."""
        rows = ~np.isnan(self.numbers).all(axis=1)
        for cells in self.cells.values():
            for row in np.flatnonzero(~rows).tolist():
                rows[row] = not is_missing(cells[row])
        return rows

    def transposed(self):
        """The same table with its columns as samples."""
        width, front = self.numbers.shape[1], []
        for k in range(width - 1):
            named = self.names is not None and ANNOTATION.fullmatch(self.names[k])
            if k not in self.text and not named:
                break
            front.append(k)
        places = list(range(len(front), width))
        for k in places:
            if k in self.text or k in self.strays:
                row, cell = self.strays.get(k) or (0, self.cells[k][0])
                raise ValueError(
                    f"{self.where(row, k)} is {cell!r}, not a number; --transpose takes all "
                    f"columns from {self.title(places[0])} on as samples"
                )
        names = None
        if front:
            told = [self.cells.get(k) or [f"{value:.15g}" for value in self.numbers[:, k].tolist()]
                    for k in front]  # fmt: skip
            names = [next((cell for cell in row if not is_missing(cell)), "")
                     for row in zip(*told, strict=True)]  # fmt: skip
        ids = {} if self.names is None else {SAMPLES: [self.names[k] for k in places]}
        return Table(self.name, names, self.numbers[:, places].T, ids, set(), {}, self.lines,
                     self.unit, self.notes, places)  # fmt: skip


def is_missing(cell):
    """Whether a cell is empty or has a code for a missing value."""
    return cell.strip().lower() in MISSING


def value_of(cell, number=float):
    """The number in a cell, also of true and false, or None."""
    try:
        value = number(cell)
    except ValueError:
        return LOGICAL.get(cell.strip().lower())
    return None if "_" in cell else value  # which Python takes
