"""Tables of named columns, printed as text."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.messages import import_extra
from .._utils.types import IntArray

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS = 12  # of a list that may be long
WRAPPED = {
    "width": 79,
    "initial_indent": "  ",
    "subsequent_indent": "  ",
    "break_on_hyphens": False,
}


class Table(dict[str, np.ndarray]):
    """Arrays of equal length by the name of their column; printing it shows a table.

    Parameters
    ----------
    columns : dict of ndarray of shape (n_rows,)
    shown : array-like of int, optional
        The rows that are printed; by default the first twelve.
    note : str, default=""
        Text that is printed below the rows.
    """

    def __init__(
        self, columns: dict[str, Any], shown: ArrayLike | None = None, note: str = ""
    ) -> None:
        super().__init__(columns)
        self._note = note
        self._shown = range(min(ROWS, self.n_rows)) if shown is None else shown

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values())))

    def cells(self, rows: slice | IntArray = slice(None)) -> dict[str, list[str]]:
        """The given rows as text, in a list for each column."""
        return {
            name: [shown_value(value) for value in column[rows].tolist()]
            for name, column in self.items()
        }

    def __repr__(self):
        left = [name for name, column in self.items() if column.dtype.kind in "OUS"]
        text = text_table(self.cells(np.asarray(self._shown, dtype=np.intp)), left)
        more = self.n_rows - len(self._shown)
        text += f"\n  ... {more} more rows" if more else ""
        return f"{text}\n{fill(self._note, **WRAPPED)}" if self._note else text

    def to_frame(self) -> DataFrame:
        """Return the table as a data frame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return import_extra("pandas", "a data frame").DataFrame(dict(self))


def text_table(columns, left=()):
    """Columns of strings under their names, with minimum widths."""
    lines = [""] * (1 + len(next(iter(columns.values()))))
    for name, cells in columns.items():
        cells = [name, *cells]
        width = max(map(len, cells))
        for k, cell in enumerate(cells):
            lines[k] += "  " + (cell.ljust(width) if name in left else cell.rjust(width))
    return "\n".join(line.rstrip() for line in lines)


def shown_value(value):
    """A cell as text: two decimals, more digits if a number would be shown as 0."""
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return ""
    small = 0 < abs(value) < 0.005
    return f"{value:.1e}" if small else f"{round(value, 2) + 0:.2f}"  # no -0.00
