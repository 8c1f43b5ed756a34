"""One table of a file, text, Excel or Parquet, read by pandas as docs/files.md promises."""

import bz2
import csv
import gzip
import io
import lzma
import re
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.messages import counted, import_extra
from ..views._suspects import ID_NAME
from ._notation import GROUPED, NUMBER, Notation, grouped

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
EXCEL = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16
SEPARATORS = "\t;,|"
HEAD = 20  # number of rows that decide on the separator and on trailing separators
MISSING = ["?", "na", "NAN", "none", "Null", "-nan"]  # besides those of pandas
MISSING_CELLS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "n/a", "#N/A", *MISSING]
NAMELESS = re.compile(r"|unnamed: 0|index|x|\.\.\.1|row[ _.-]?names?", re.IGNORECASE)
FEATURE_NAMES = re.compile(
    r"hugo[ _.-]?symbol|gene(?:[ _.-].*|symbol)?|symbol|ensembl.*|id_ref|entrez.*|.*probe.*|cpg.*",
    re.IGNORECASE,
)
TABLE_END = re.compile(r"!\w+_table_end\s*", re.IGNORECASE)  # of GEO
csv.field_size_limit(2**31 - 1)  # a row of a wide table is one field for other separators


@dataclass
class Table:
    """The cells of a table, numbers or text, whose rows are samples."""

    name: str  # of the file
    cells: Any  # data frame; its index and columns are numbers of lines and columns in the file
    names: dict  # of the columns, by number; "" for those without
    notation: Notation = field(default_factory=Notation)
    units: tuple = ("line", "column")  # of the index and the columns
    notes: list = field(default_factory=list)
    prefix: str = ""  # of values of options that are for this file alone
    ids: list | None = None  # text
    id_name: str = ""

    @property
    def transposed(self):
        return self.units[0] == "column"

    def label(self, k):
        """Name or number of a column, as options select it."""
        return self.names[k] or str(k)

    def title(self, k):
        """A column in messages: column 3 ('height')."""
        return f"{self.units[1]} {k}" + (f" ({self.names[k]!r})" if self.names[k] else "")

    def place(self, row, k):
        """A cell in messages: line 5, column 3 ('height')."""
        return f"{self.units[0]} {row}, {self.title(k)}"

    def numbers(self, k):
        """The numbers of a column, NaN for those that are missing; None if it has text."""
        column = self.cells[k]
        if column.dtype.kind in "fiub":
            return column.to_numpy()
        values, cells = np.full(len(column), np.nan), column.to_numpy(object)
        for row in np.flatnonzero(column.notna()):
            number = self.notation.number(cells[row])
            if number is None:
                return None
            values[row] = number
        return values

    def is_text(self, k):
        """Whether a column has text, or numbers that may have separators of thousands."""
        notation = self.notation
        if self.cells[k].dtype.kind in "fiub":
            return False
        texts = [cell for cell in self.cells[k].dropna() if isinstance(cell, str)]
        decided = notation.decimal or notation.thousands or not grouped(texts, ".")
        return not decided or self.numbers(k) is None

    def matrix(self, columns):
        """The numbers of some columns; in single precision if all of them are."""
        types = {self.cells[k].dtype for k in columns}
        dtype = np.float32 if types == {np.dtype(np.float32)} else np.float64
        X = np.empty((len(self.cells), len(columns)), dtype)
        for j, k in enumerate(columns):
            X[:, j] = self.numbers(k)
        return X

    def texts(self, k):
        """The text of the cells of a column that are not missing."""
        return texts_of(self.cells[k])


def as_text(cell):
    """The text of a cell; numbers without decimals are integers."""
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)


def texts_of(column):
    """The text of the cells of a column that are not missing."""
    return [as_text(cell) for cell in column.dropna()]


def read_table(source, name, kind, *, notation=None, header=True, keep=()):
    """The `Table` of a file at a path, or in bytes.

    ``keep`` are names or numbers of columns that may have ids, whose text is kept; "*" is all.
    """
    import_extra("pandas", f"{name}: a table", '"mvsc-fast[files]"')
    if kind in PARQUET:
        return _read_parquet(source, name)
    if kind in EXCEL:
        return _read_excel(source, name, header)
    if isinstance(source, Path):
        with PACKED.get(source.suffix.lower(), open)(source, "rb") as file:
            source = file.read()
    return _read_text(source, name, notation or Notation(), header, keep)


# ------------------------------------------------------------------------------------------- text


def _read_text(content, name, notation, header, keep):
    import pandas as pd

    # What pandas does not decide: encoding, header, separator, and rows of another width.
    encoding = _encoding(content, name)
    notes = [f"{name} is not UTF-8: read as Windows-1252"] if encoding == "cp1252" else []
    n_above, separator, names = _layout(_stream(content, encoding), name, header, notes)
    lines = _lines(_stream(content, encoding, n_above), separator, len(names), n_above, name)
    if not lines:
        raise ValueError(f"{name} has names of columns, but no samples")
    width = len(names)

    # Columns that may have ids stay text, because 041 and 41 are two ids.
    options = {
        "sep": r"\s+" if separator == " " else separator,
        "names": range(width),
        "header": None,
        "skipinitialspace": separator != "\t",
        "na_values": MISSING,
        "low_memory": False,  # which would give a column several types
    }
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # later versions always round correctly

    def cells(**more):
        return pd.read_csv(_stream(content, encoding, n_above), **options, **more)

    kept = {k for k in range(width) if k < 2 or keep == "*" or ID_NAME.fullmatch(names[k])}
    kept |= {k for k in range(width) if names[k] in keep or str(k + 1) in keep}
    numbers = cells(dtype=dict.fromkeys(kept, str), decimal=notation.point)
    if len(numbers) != len(lines):
        raise ValueError(f"{name} has a quotation mark that is not closed")

    if notation.decimal is None and notation.thousands is None:
        # 1.234 may be a thousand: columns of such numbers stay text, see `Table.is_text`.
        head = cells(dtype=str, nrows=HEAD)
        doubtful = [k for k in range(width) if k not in kept and grouped(texts_of(head[k]), ".")]
        for k, column in cells(dtype=str, usecols=doubtful).items() if doubtful else ():
            if grouped(texts_of(column), "."):
                numbers[k] = column
    numbers = numbers.set_axis(lines).set_axis(range(1, width + 1), axis=1)
    names = dict(enumerate(names, 1))
    return _trimmed(Table(name, numbers, names, notation, notes=notes))


def _stream(content, encoding, n_above=0):
    """The text of a file below its first lines."""
    stream = io.TextIOWrapper(io.BytesIO(content), encoding, newline="")
    for _ in range(n_above):
        stream.readline()
    return stream


def _encoding(content, name):
    if content.startswith(b"\x1f\x8b"):
        raise ValueError(f"{name} is compressed: give it the suffix .gz")
    for encoding in ("utf-16",) if content.startswith(WIDE) else ("utf-8-sig", "cp1252"):
        stream = _stream(content, encoding)
        try:
            while part := stream.read(2**20):
                if "\0" in part:
                    raise ValueError(f"{name} has NUL characters: save it as UTF-8")
            return encoding
        except UnicodeDecodeError as error:
            reason = error.reason
    raise ValueError(f"{name} is neither text nor a table ({reason})")


def _rows(lines, separator):
    """Rows of cells, by csv, whose `line_num` counts the lines."""
    lines = map(str.strip, lines) if separator == " " else lines
    return csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t")


def _layout(stream, name, header, notes):
    """The number of lines above the first sample, the separator and the names of the columns."""
    # Comments and blank lines above the table are set aside.
    above, head = [], []
    for line in islice(iter(stream.readline, ""), 10_000):
        aside = not line.strip() or line[0] in "#!" or re.fullmatch(r"sep=.\s*", line, re.I)
        (above if aside and not head else head).append(line)
        if len(head) > HEAD:
            break
    if not head:
        raise ValueError(f"{name} is empty")

    # The header is the first row, or a comment as long as a first row with numbers.
    separator, n_above = _separator(head), len(above)
    rows = [row for row in _rows(head, separator) if row]
    comment = next((line for line in above[::-1] if line[0] == "#"), "").lstrip("# ")
    names = next(_rows([comment], separator), [])
    is_comment = len(names) == len(rows[0]) and not _numbers(names) and _numbers(rows[0])
    if header and not is_comment:
        names, rows = _header(name, rows, f"line {n_above + 1}", notes), rows[1:]
        reader = _rows(head, separator)
        next(reader)
        n_above += reader.line_num
    elif not header:
        names = [""] * len(rows[0])
    if skipped := sum(line[0] in "#!" for line in above) - bool(header and is_comment):
        notes.append(f"{name}: {counted(skipped, 'line')} above the table skipped as comments")
    if rows and len(rows[0]) == len(names) + 1:  # a separator ends each row, or R has written it
        ends = not any(row[-1].strip() for row in rows)
        names = [*names, ""] if ends else ["", *names]
    return n_above, separator, list(map(str.strip, names))


def _separator(head):
    head = [line for line in head if line.strip()]
    for separator in (*SEPARATORS, " "):
        widths = [len(row) for row in islice(_rows(head, separator), 2)]
        if widths[0] > 1 and widths[-1] - widths[0] in (0, 1):
            return separator
    return next((mark for mark in SEPARATORS if mark in "".join(head[:2])), ",")


def _numbers(cells):
    """The cells that may be numbers in any notation."""
    return [
        cell for cell in map(str.strip, cells) if NUMBER.fullmatch(cell) or GROUPED.fullmatch(cell)
    ]


def _header(name, rows, place, notes):
    """The names in the first row; raise ValueError if it may be a sample."""
    names = [cell.strip() for cell in rows[0]]
    first = rows[1] if len(rows) > 1 else names
    shift = len(first) - len(names)
    if shift not in (0, 1):
        raise ValueError(
            f"{name}: {place} has {counted(len(names), 'cell')}, the next row has {len(first)}: "
            "the first row must contain the names of the columns, without a title above it"
        )
    # A name of ids or features in the corner, or a missing one, tells that this is the header.
    numbers = _numbers(names)
    corner = any(form.fullmatch(names[0]) for form in (ID_NAME, NAMELESS, FEATURE_NAMES))
    if not numbers or corner or shift and len(numbers) < len(names):
        return names

    # So do a count of the columns, which is reported, and two words above numbers.
    words = [
        k for k, cell in enumerate(names) if cell not in numbers and _numbers([first[k + shift]])
    ]
    if not shift and any(
        names[:3] == [str(k + start) for k in range(len(names[:3]))] for start in (0, 1)
    ):
        notes.append(
            f"{name}: {place} is read as the names of the columns, although they are numbers; if "
            "it is a sample, use --no-header"
        )
    elif len(words) < 2:
        raise ValueError(
            f"{name}: {place} has numbers ({', '.join(numbers[:3])}, ...) and may be a sample or "
            "names of columns: use --no-header if it is a sample, else call the first column id"
        )
    return names


def _lines(stream, separator, width, n_above, name):
    """The line of each row; raise ValueError for rows of another width, which pandas fills."""
    reader, lines, line = _rows(stream, separator), [], n_above + 1
    for row in reader:
        content = "".join(row).strip()
        aside = not content or TABLE_END.fullmatch(content)
        if len(row) > width or len(row) < width and not aside:
            raise ValueError(
                f"{name}: line {line} has {counted(len(row), 'cell')}, but the table has "
                f"{counted(width, 'column')}"
            )
        if row:
            lines.append(line)
        line = n_above + reader.line_num + 1  # a cell in quotation marks may have several lines
    return lines


# -------------------------------------------------------------------------------- Excel, Parquet


def _read_excel(path, name, header):
    """The table of the only sheet that is not empty."""
    import pandas as pd

    import_extra("openpyxl", f"{name}: Excel", '"mvsc-fast[files]"')
    sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, engine="openpyxl")
    sheets = {title: cells for title, cells in sheets.items() if cells.notna().any(axis=None)}
    if len(sheets) != 1:
        raise ValueError(
            f"{name} has {len(sheets)} sheets that are not empty "
            f"({', '.join(map(repr, list(sheets)[:8]))}): save each view as a separate file"
        )
    (cells,) = sheets.values()
    cells = cells.set_axis(cells.index + 1).set_axis(cells.columns + 1, axis=1)
    cells = cells.dropna(how="all").dropna(axis=1, how="all")
    n_titles, notes = 0, []
    if cells.shape[1] > 2:
        n_titles = int(np.argmax(cells.notna().sum(axis=1) > 1))
    if n_titles:
        notes.append(f"{name}: the rows above row {cells.index[n_titles]} are read as a title")
        cells = cells.iloc[n_titles:].dropna(axis=1, how="all")
    names = dict.fromkeys(cells, "")
    if header:
        rows = cells.iloc[:2].fillna("").map(as_text).to_numpy().tolist()
        names = dict(zip(cells, _header(name, rows, f"row {cells.index[0]}", notes), strict=True))
        cells = cells.iloc[1:]
    cells = cells.mask(cells.isin(MISSING_CELLS)).infer_objects()
    return _trimmed(Table(name, cells, names, Notation(), ("row", "column"), notes))


def _read_parquet(path, name):
    import pandas as pd

    import_extra("pyarrow", f"{name}: Parquet", '"mvsc-fast[files]"')
    cells = pd.read_parquet(path, engine="pyarrow")
    if not isinstance(cells.index, pd.RangeIndex) or cells.index.name is not None:
        names = [*cells.index.names, *cells.columns]
        cells = cells.set_axis(range(cells.shape[1]), axis=1)
        cells = cells.reset_index(names=[f"index {k}" for k in range(cells.index.nlevels)])
    else:
        names = list(cells)
    names = {k: "" if name is None else str(name) for k, name in enumerate(names, 1)}
    cells = cells.set_axis(range(1, len(cells) + 1)).set_axis(list(names), axis=1)
    return _trimmed(Table(name, cells, names, units=("row", "column")))


def _trimmed(table):
    """A table without the rows and columns without content that spreadsheets leave behind it."""
    cells = table.cells
    if len(cells) and TABLE_END.fullmatch(str(cells.iloc[-1, 0])):
        cells = cells.iloc[:-1]
    filled = np.flatnonzero(cells.notna().any(axis=1))
    if not len(filled):
        raise ValueError(f"{table.name} has names of columns, but no samples")
    unused = [k for k in cells if not table.names[k] and not cells[k].notna().any()]
    return replace(table, cells=cells.iloc[: filled[-1] + 1].drop(columns=unused))
