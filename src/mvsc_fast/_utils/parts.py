"""Results in parts, each with a table, sentences and pictures, as text and as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .figures import svg_figure
from .messages import import_extra

if TYPE_CHECKING:
    from pandas import DataFrame

PRINTED_NUMBER = re.compile(r"-?[\d.]*( %)?")
WIDTH = 79  # letters of a line of text
MIN_WRAPPED = 24  # letters of a column whose text is wrapped
MAX_ROWS, MAX_PAGE_ROWS = 12, 50  # rows of a table in text, and on a page


class Table(dict[str, np.ndarray]):
    """Arrays of equal length by the name of their column; printing it shows a table.

    Parameters
    ----------
    columns : dict of array-like of shape (n_rows,)
    rows : array-like of int, optional
        The rows that are shown; by default the first ones.
    note : str, default=""
        Text that is shown below the rows.
    """

    def __init__(
        self, columns: dict[str, Any], rows: ArrayLike | None = None, note: str = ""
    ) -> None:
        super().__init__({name: np.asarray(column) for name, column in columns.items()})
        self._rows, self._note = rows, note

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def __repr__(self):
        columns, n_more = self._cells(MAX_ROWS)
        lines = [text_table(columns, self._text_columns())]
        if n_more:
            lines.append(f"  ... {n_more} more rows")
        if self._note:
            lines.append(paragraph(self._note))
        return "\n".join(lines)

    def _repr_html_(self):
        columns, n_more = self._cells(MAX_PAGE_ROWS)
        cells = [list(map(html_cell, column)) for column in columns.values()]
        html = html_table(list(zip(*cells, strict=True)), list(columns), self._text_columns())
        if n_more:
            html += f"<p>... {n_more} more rows</p>"
        return html + (f"<p>{escape(self._note)}</p>" if self._note else "")

    def _cells(self, max_rows):
        """The shown rows as text, a list for each column, and the number of the other rows."""
        rows = range(min(max_rows, self.n_rows)) if self._rows is None else self._rows
        chosen, columns = np.asarray(rows, dtype=np.intp), {}
        for name, column in self.items():
            cells = column[chosen]
            if cells.dtype.kind == "M":  # dates, which lists have as numbers
                cells = np.datetime_as_string(cells, unit="auto")
            columns[name] = list(map(format_value, cells.tolist()))
        return columns, self.n_rows - len(chosen)

    def _text_columns(self):
        """Names of the columns of text, unless it is numbers or percentages."""
        names = [name for name, column in self.items() if column.dtype.kind in "OUS"]
        cells = {name: map(str, self[name].tolist()) for name in names}
        return [name for name in names if not all(map(PRINTED_NUMBER.fullmatch, cells[name]))]

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
        By caption, functions that draw on the axes ``ax``, or on those of a new figure, and return
        them.
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
        lines = html_lines("\n".join(self.sentences))
        pictures = [svg_figure(draw, caption) for caption, draw in self.pictures.items() if drawn]
        gallery = f'<div class="gallery">{"".join(pictures)}</div>' if pictures else ""
        body = f'<div class="part"><div>{table}{lines}</div>{gallery}</div>'
        return f"<section><h2>{escape(self.title)}</h2>{body}</section>"


class ShortRepr:
    """Results whose repr is shapes of arrays and values of figures; Jupyter shows their text."""

    def _repr_html_(self):
        return html_lines(str(self))

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


# ------------------------------------------------------------------------------------------ text


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
    """Columns of strings under their names, with minimum widths; the last one is wrapped if wide.

    Parameters
    ----------
    columns : dict of list of str
    text_columns : list of str
        Names of the columns that are aligned on the left.
    """
    if not columns:
        return ""
    widths = {name: max(map(len, [name, *cells])) for name, cells in columns.items()}
    last = list(columns)[-1]
    room = max(MIN_WRAPPED, WIDTH - 2 * len(widths) - sum(widths.values()) + widths[last])
    lines = []
    for row in zip(*([name, *cells] for name, cells in columns.items()), strict=True):
        line = ""
        # Only the last column wraps, because others would move it.
        for name, cell in zip(columns, row, strict=True):
            if name in text_columns and name == last and len(cell) > room:
                hanging = "\n" + " " * (len(line) + 2)
                # A line does not begin with the sign of a percentage.
                words = cell.replace(" %", "\xa0%")
                cell = hanging.join(wrap(words, room, break_on_hyphens=False)).replace("\xa0", " ")
            width = widths[name]
            line += "  " + (cell.ljust(width) if name in text_columns else cell.rjust(width))
        lines.append(line.rstrip())
    return "\n".join(lines)


def paragraph(text):
    """A sentence or more, wrapped and indented."""
    indent = {"initial_indent": "  ", "subsequent_indent": "  "}
    return fill(text, WIDTH, break_on_hyphens=False, **indent)


# ------------------------------------------------------------------------------------------ HTML


def page(title, parts):
    """Assemble a self-contained page, for small and large, light and dark screens."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def folded(title, body):
    """HTML that a reader unfolds."""
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def html_lines(text):
    """Each line of a text as a paragraph."""
    return "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())


def html_cell(text):
    """A cell in which a percentage is not divided."""
    return escape(text).replace(" %", "&nbsp;%")


def html_table(lines, names, text_columns):
    """A table of HTML cells under the names of its columns.

    The cells of ``text_columns``, some of the names, are aligned on the left and wrapped.
    """
    if not lines:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    # Long texts get a class of their own, so that the page may wrap them.
    kinds = []
    for j, name in enumerate(names):
        is_long = any(len(line[j]) > MIN_WRAPPED for line in lines)
        kind = "long text" if is_long else "text"
        kinds.append(f' class="{kind}"' if name in text_columns else "")
    body = ""
    for line in lines:
        cells = zip(kinds[1:], line[1:], strict=True)
        body += f'<tr><th scope="row">{line[0]}</th>'
        body += "".join(f"<td{kind}>{cell}</td>" for kind, cell in cells) + "</tr>"
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
