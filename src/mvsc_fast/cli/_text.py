"""Rows of cells from text and Excel files."""

import csv
import gzip
import io
import re
from itertools import chain, islice, takewhile

from .._utils.messages import import_extra

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
EXCEL = (".xlsx", ".xlsm")
GZIP = b"\x1f\x8b"
HEAD = 20  # rows that determine separators and decimal commas, and which text is kept
FALLBACK_ENCODING = "cp1252"
GEO_END = re.compile(r"!\w+_table_end\s*", re.IGNORECASE)

# A row of a wide table is a single field for a separator that it does not contain.
csv.field_size_limit(2**31 - 1)


def text_rows(content, name):
    """The rows of a text file, notes, and the comments above the table.

    Rows and comments are pairs (place, cells). Blank lines are no rows, and neither are lines above
    the table that begin with # or !.
    """
    if content.startswith(GZIP):
        content = gzip.decompress(content)
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if wide else ("utf-8-sig", FALLBACK_ENCODING):
        try:
            text = content.decode(encoding)
            break
        except UnicodeDecodeError as error:
            reason = error.reason
    else:
        raise ValueError(f"{name} is neither text nor a table ({reason})")
    if "\0" in text:
        raise ValueError(
            f"{name} has NUL characters, which UTF-32, and UTF-16 without a byte order mark, look "
            "like: save it as UTF-8"
        )
    del text
    notes = [f"{name} is not UTF-8: read as Windows-1252"] * (encoding == FALLBACK_ENCODING)
    stream = io.TextIOWrapper(io.BytesIO(content), encoding, newline="")
    above = list(takewhile(lambda line: line[0] in "#!" or not line.strip(), stream))
    stream.seek(0)
    head = list(islice(stream, len(above), len(above) + 2 * HEAD))
    separator = _separator(head)
    comments = [
        next(_cells([line.lstrip("# ")], separator, place), (f"line {place + 1}", []))
        for place, line in enumerate(above)
        if line.strip()
    ]
    return _cells(chain(head, stream), separator, len(above)), notes, comments


def _cells(lines, separator, above=0):
    """The pairs (place, cells) of lines below ``above`` others."""
    reader = csv.reader(
        lines if separator != " " else map(str.strip, lines),
        delimiter=separator,
        skipinitialspace=separator != "\t",
    )
    while True:
        place = f"line {above + reader.line_num + 1}"
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"{place}: {error}") from error
        if len(fields) > 1:
            yield place, fields
        elif fields and fields[0].strip() and not GEO_END.fullmatch(fields[0]):
            yield place, fields


def _separator(lines):
    """The separator of cells, which occurs equally often in each of the first rows."""
    for separator in "\t;|,":
        widths = [len(fields) for _, fields in islice(_cells(lines, separator), 3)]
        if widths[:1] > [1] and all(width - widths[0] in (0, 1) for width in widths):
            return separator
    first = next((line.strip() for line in lines if line.strip()), "")
    return next((separator for separator in "\t;|, " if separator in first), ",")


def cell_of(value):
    """The text of a cell that has a type; numbers without decimals are integers."""
    if value is None or value != value:
        return ""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)


def excel_rows(path, name):
    """The pairs (place, cells) of the rows of an Excel file with one sheet, and notes."""
    openpyxl = import_extra("openpyxl", f"{name}: Excel")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        sheets = {
            sheet.title: [
                (f"row {row}", list(map(cell_of, cells)))
                for row, cells in enumerate(sheet.iter_rows(values_only=True), 1)
                if any(cell is not None for cell in cells)
            ]
            for sheet in book.worksheets
        }
    finally:
        book.close()
    sheets = {title: rows for title, rows in sheets.items() if rows}
    if len(sheets) != 1:
        raise ValueError(
            f"{name} has {len(sheets)} sheets that are not empty "
            f"({', '.join(map(repr, list(sheets)[:8]))}): save each view as a separate file"
        )
    (rows,) = sheets.values()
    width = max(len(cells) for _, cells in rows)
    rows = [(place, cells + [""] * (width - len(cells))) for place, cells in rows]
    above = rows[0][0]
    while len(rows) > 1 and sum(cell != "" for cell in rows[0][1]) == 1 < width - 1:
        del rows[0]
    titled = rows[0][0] != above
    return iter(rows), [f"{name}: the rows above {rows[0][0]} are read as a title"] * titled
