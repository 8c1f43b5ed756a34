"""Results in parts, each with a table, sentences and pictures, as text and as HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import svg_figure
from .messages import import_extra

if TYPE_CHECKING:
    from pandas import DataFrame

WIDTH = 79  # letters of a line of text
MIN_WRAPPED = 24  # letters of a column whose text is wrapped
MAX_ROWS, MAX_PAGE_ROWS = 12, 50  # rows of a table in text, and on a page


class Table(dict[str, np.ndarray]):
    """Arrays of equal length by the name of their column; printing it shows the first rows.

    Parameters
    ----------
    columns : dict of array-like of shape (n_rows,)
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__({name: np.asarray(column) for name, column in columns.items()})

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def __repr__(self):
        columns, n_more = self._cells(MAX_ROWS)
        more = f"\n  ... {n_more} more rows" if n_more > 0 else ""
        return text_table(columns, self._text_columns()) + more

    def _repr_html_(self):
        columns, n_more = self._cells(MAX_PAGE_ROWS)
        kinds = {name: ' class="text"' for name in self._text_columns()}
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        cells = (
            [f"<td{kinds.get(name, '')}>{escape(cell)}</td>" for cell in column]
            for name, column in columns.items()
        )
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        more = f"<p>... {n_more} more rows</p>" if n_more > 0 else ""
        return f'<div class="scroll" tabindex="0">{table}</div>{more}'

    def _cells(self, max_rows):
        """The first rows as text, a list for each column, and the number of all others."""
        columns = {}
        for name, column in self.items():
            cells = column[:max_rows]
            cells = np.datetime_as_string(cells, "auto") if cells.dtype.kind == "M" else cells
            columns[name] = list(map(format_value, cells.tolist()))
        return columns, self.n_rows - max_rows

    def _text_columns(self):
        return [name for name, column in self.items() if column.dtype.kind in "OUS"]

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


@dataclass(frozen=True, repr=False)
class Part:
    """One subject of a result.

    Attributes
    ----------
    title : str
    table : Table or None
    sentences : list of str
    pictures : dict of function
        By caption, functions that draw on the axes ``ax`` and return them.
    """

    title: str
    table: Table | None = None
    sentences: list[str] = field(default_factory=list)
    pictures: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def __str__(self):
        table = [] if self.table is None else [repr(self.table)]
        return "\n".join([self.title, *table, *map(paragraph, self.sentences)])

    __repr__ = __str__

    def _repr_html_(self):
        return self.to_html(drawn=False)

    def to_html(self, *, drawn: bool) -> str:
        """The part as HTML; ``drawn`` adds the pictures, which requires matplotlib."""
        table = "" if self.table is None else self.table._repr_html_()
        pictures = [svg_figure(draw, caption) for caption, draw in self.pictures.items() if drawn]
        gallery = f'<div class="gallery">{"".join(pictures)}</div>' if pictures else ""
        body = f'<div class="part"><div>{table}{html_lines(self.sentences)}</div>{gallery}</div>'
        return f"<section><h2>{escape(self.title)}</h2>{body}</section>"


class ShortRepr:
    """Results whose repr is shapes of arrays and values of figures; Jupyter shows their text."""

    def _repr_html_(self):
        return html_lines(str(self).splitlines())

    def __repr__(self):
        fields = [
            f"{name}={_short(value)}"
            for name, value in vars(self).items()
            if value is not None and not isinstance(value, dict)
        ]
        return f"{type(self).__name__}({', '.join(fields)})"


def _short(value):
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} {value.shape}>"
    if isinstance(value, list):
        return f"<{len(value)} x {type(value[0]).__name__} {value[0].shape}>"
    return f"{value:.3g}" if isinstance(value, float) else repr(value)


def format_value(value):
    """A cell as a line of text: about three digits, more if a number would be shown as 0."""
    if not isinstance(value, float):
        return " ".join(str(value).splitlines())
    if np.isnan(value):
        return ""
    size = abs(value)
    if 0 < size < 0.005 or size >= 1e6:
        return f"{value:.1e}"
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{round(value, decimals) + 0:.{decimals}f}"  # no -0.00


def text_table(columns, text_columns=()):
    """Columns of strings under their names; the last one is wrapped if it is wide.

    Parameters
    ----------
    columns : dict of list of str
    text_columns : list of str
        Names of the columns that are aligned on the left.
    """
    lines, widths = [], [max(map(len, [name, *cells])) for name, cells in columns.items()]
    before = sum(widths[:-1]) + 2 * len(widths)  # letters before the last column
    for row in zip(*([name, *cells] for name, cells in columns.items()), strict=True):
        cells = [
            cell.ljust(width) if name in text_columns else cell.rjust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        ]
        if before + len(row[-1]) > WIDTH:
            parts = wrap(row[-1], max(MIN_WRAPPED, WIDTH - before), break_on_hyphens=False)
            cells[-1] = ("\n" + " " * before).join(parts)
        lines.append(("  " + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def paragraph(text):
    """A sentence or more, wrapped and indented."""
    return fill(text, WIDTH, break_on_hyphens=False, initial_indent="  ", subsequent_indent="  ")


def html_lines(lines):
    """Each line as a paragraph."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def page(title, parts):
    """Assemble a self-contained page, for small and large, light and dark screens."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )
