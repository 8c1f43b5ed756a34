"""Reading of the rows of tables from text, Excel and Parquet files."""

import csv
import gzip
import io
from itertools import islice

from .._utils.messages import import_extra

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
EXCEL, PARQUET = (".xlsx", ".xlsm"), (".parquet", ".pq")
GZIP = b"\x1f\x8b"
HEAD = 20  # rows that determine whether a column contains text
FALLBACK_ENCODING = "cp1252"

# A row of a wide table is a single field for a separator that it does not contain.
csv.field_size_limit(2**31 - 1)


def text_rows(content, name):
    """The pairs (place, cells) of the rows of a text file, and notes."""
    if content.startswith(GZIP):
        content = gzip.decompress(content)
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if wide else ("utf-8-sig", FALLBACK_ENCODING):
        try:
            content.decode(encoding)
            break
        except UnicodeDecodeError as error:
            reason = error.reason
    else:
        raise ValueError(f"{name} is neither text nor a table ({reason})")

    def lines():
        return _without_comments(io.TextIOWrapper(io.BytesIO(content), encoding, newline=""))

    notes = [f"{name} is not UTF-8: read as Windows-1252"] * (encoding == FALLBACK_ENCODING)
    return _cells(lines(), _separator([line for line in islice(lines(), 2 * HEAD)])), notes


def _without_comments(stream):
    """The lines of a file; comments above the table and GEO metadata become blank lines."""
    above = True
    for line in stream:
        comment = line.startswith("!") or above and line.startswith("#")
        above = above and (comment or not line.strip())
        yield "\n" if comment else line


def _cells(lines, separator):
    reader = csv.reader(
        lines if separator != " " else map(str.strip, lines),
        delimiter=separator,
        skipinitialspace=separator != "\t",
    )
    while True:
        place = f"line {reader.line_num + 1}"
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"{place}: {error}") from error
        if len(fields) > 1 or fields and fields[0].strip():
            yield place, fields


def _separator(lines):
    """The separator of cells, which occurs equally often in each of the first rows."""
    for separator in "\t;|,":
        widths = [len(fields) for _, fields in islice(_cells(iter(lines), separator), 3)]
        if widths[:1] > [1] and all(width - widths[0] in (0, 1) for width in widths):
            return separator
    first = next((line.strip() for line in lines if line.strip()), "")
    return next((separator for separator in "\t;|, " if separator in first), ",")


def excel_rows(path, name):
    """The pairs (place, cells) of the rows of an Excel file with one sheet, and notes."""
    openpyxl = import_extra("openpyxl", f"{name}: Excel")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        sheets = {
            sheet.title: [
                (f"row {row}", ["" if one is None else str(one) for one in cells])
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
            f"({', '.join(map(repr, list(sheets)[:8]))}): "
            "save each view as a separate file"
        )
    (rows,) = sheets.values()
    width = max(len(cells) for _, cells in rows)
    rows = [(place, cells + [""] * (width - len(cells))) for place, cells in rows]
    above = rows[0][0]
    while len(rows) > 1 and sum(cell != "" for cell in rows[0][1]) == 1 < width - 1:
        del rows[0]
    titled = rows[0][0] != above
    return iter(rows), [f"{name}: the rows above {rows[0][0]} are read as a title"] * titled


def parquet_rows(path, name):
    """The pairs (place, cells) of the rows of a Parquet file, first its index, and notes."""
    pandas = import_extra("pandas", f"{name}: Parquet", "pyarrow")
    import_extra("pyarrow", f"{name}: Parquet")
    frame = pandas.read_parquet(path)
    text = frame.to_csv(index=not isinstance(frame.index, pandas.RangeIndex))
    return ((f"row {row}", cells) for row, cells in enumerate(csv.reader(io.StringIO(text)))), []
