"""Tables as files hold them: text with any common separator, Excel and Parquet."""

import csv
import gzip
import io
import re
from array import array
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import numpy as np

GZIP = b"\x1f\x8b"
HEAD = 20  # rows that decide what a column holds
KEPT = 20  # columns of integers, at either end of a table, that may be ids
MISSING = frozenset(("", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>"))
FALLBACK_ENCODING = "cp1252"
ID_NAME = re.compile(
    r"|unnamed: 0|index|idx|row_?names?|u?id|ids|mrn|patient|sample(?:[ _.-]?(?:id|name))?"
    r"|.+[ _.-]id|id[ _.-].+",
    re.IGNORECASE,
)
# Columns of numbers in front of the samples of a table with genes as rows.
ANNOTATION = re.compile(
    r"|(?:.*[ _.-])?id|entrez.*|start|end|strand|length|position", re.IGNORECASE
)
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:e[+-]?\d+)?", re.IGNORECASE)
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:e[+-]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
SAMPLES = -1  # the place of ids that are the names of columns, in a table that was transposed

# A wide table is one field where another separator is tried.
csv.field_size_limit(2**31 - 1)


@dataclass
class Table:
    """A table, samples as rows.

    Attributes
    ----------
    name : str
        Of the file.
    names : list of str or None
        Of the columns.
    numbers : ndarray of shape (n, d)
        NaN where a cell is empty or text.
    cells : dict of int to list of str
        Columns as they are written: text, and integers that may be ids.
    text : set of int
        Columns of text.
    strays : dict of int to (int, str)
        The first cell that is not a number, and its row, of columns of numbers.
    lines : sequence of int
        Where the file has each row.
    unit : str
        What an editor calls that.
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
        """What messages call a column: column 3 ('height')."""
        if k == SAMPLES:
            return "the names of the columns"
        what = "column" if self.places is None else f"feature of {self.unit}"
        number = k + 1 if self.places is None else self.lines[k]
        named = self.names is not None and self.names[k] != ""
        return f"{what} {number}" + (f" ({self.names[k]!r})" if named else "")

    def where(self, row, k):
        """Where an editor shows a cell."""
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
        notes = [
            f"{self.name}: the {len(places)} columns from {self.title(places[0])} on are samples"
        ]
        return Table(self.name, names, self.numbers[:, places].T, ids, set(), {}, self.lines,
                     self.unit, self.notes + notes, places)  # fmt: skip


def is_missing(cell):
    """Whether a cell is empty, or says so."""
    return cell.strip().lower() in MISSING


def is_number(cell):
    """Whether a cell is a number with a decimal point."""
    return _is_number(cell, float)


def _is_number(cell, number):
    try:
        number(cell)
    except ValueError:
        return False
    return "_" not in cell  # which Python takes


def is_text_table(path):
    """Whether a path ends as those of tables in text files do."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return (suffixes[-2:-1] if suffixes[-1:] == [".gz"] else suffixes[-1:]) in (
        [".csv"], [".tsv"], [".txt"], [".tab"], [".dat"],
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- text


def read_text(path, name, content=None, wanted=None):
    """The `Table` in a text file, or in bytes.

    Parameters
    ----------
    path : Path or None
    name : str
        What messages call it.
    content : bytes, optional
        Instead of those of the file.
    wanted : str, optional
        Name or number of a column that has ids.
    """
    if content is not None and content.startswith(GZIP):
        content = gzip.decompress(content)

    def text(encoding):
        if content is not None:
            stream = io.BytesIO(content)
        else:
            with open(path, "rb") as start:
                compressed = start.read(2) == GZIP
            stream = gzip.open(path, "rb") if compressed else open(path, "rb")
        return io.TextIOWrapper(stream, encoding=encoding, newline="")

    with text("latin-1") as stream:
        start = stream.read(2)
    encodings = (
        ("utf-16",) if start in ("\xff\xfe", "\xfe\xff") else ("utf-8-sig", FALLBACK_ENCODING)
    )
    for encoding in encodings:
        try:
            with text(encoding) as stream:
                skipped, first = _comments(stream)
                separator = _separator([*first, *islice(stream, HEAD)])
            with text(encoding) as stream:
                for _ in range(skipped):
                    stream.readline()
                table = _table(name, _records(stream, separator, skipped), "line", wanted)
        except UnicodeDecodeError as error:
            if encoding == encodings[-1]:
                raise ValueError(f"{name}: neither text nor a table ({error.reason})") from error
        else:
            break
    if encoding == FALLBACK_ENCODING:
        table.notes.append(f"{name} is not UTF-8: read as Windows-1252")
    return table


def _comments(stream):
    """The number of comments and blank lines above a table, and the line below them."""
    skipped = 0
    for line in stream:
        if line.strip() and not line.startswith(("#", "!")):
            return skipped, [line]
        skipped += 1
    return skipped, []


def _records(stream, separator, skipped=0):
    """(line, fields) of a text, without blank lines and the comments of GEO."""
    lines = stream if separator != " " else (line.strip() for line in stream)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t")
    while True:
        line = skipped + reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"line {line}: {error}") from error
        if fields and (len(fields) > 1 or fields[0].strip()) and not fields[0].startswith("!"):
            yield line, fields


def _separator(lines):
    """What separates the cells: in the first rows, as often as in the first one."""
    for separator in "\t;|,":
        widths = [len(fields) for _, fields in islice(_records(iter(lines), separator), HEAD)]
        if widths[:1] > [1] and all(width - widths[0] in (0, 1) for width in widths[1:3]):
            return separator
    first = lines[0] if lines else ""
    return next((separator for separator in "\t;|, " if separator in first.strip()), ",")


# ---------------------------------------------------------------------------------- rows of cells


def _table(name, records, unit, wanted=None):
    """The `Table` of records (line, fields)."""
    head = list(islice(records, HEAD + 1))
    if not head:
        raise ValueError(f"{name}: no numbers found")
    rows = [fields for _, fields in head if any(cell.strip() for cell in fields)]
    decimal = _decimal([cell for row in rows for cell in row])
    number = float if decimal == "." else _decimal_comma
    if len(rows) > 1 and len(rows[1]) - len(rows[0]) not in (0, 1):
        line = next(line for line, fields in head[1:] if fields is rows[1])
        raise ValueError(
            f"{name}: the first {unit} has {len(rows[0])} cells, {unit} {line} has {len(rows[1])}: "
            "the first one must have the names of the columns, without a title above"
        )
    names = _header(rows, number, f"{unit} {head[0][0]}")
    if names is not None:
        names, head, rows = [one.strip() for one in names], head[1:], rows[1:]
    width = len(rows[0]) if rows else 0
    if rows and names is not None and len(names) < width:
        # A separator at the end of every row, or names of rows as R writes them.
        names = ["", *names] if any(row[-1].strip() for row in rows) else [*names, ""]
    text, kept = _kinds([row for row in rows if len(row) == width], names, width, number, wanted)
    cells, strays, lines, numbers = {k: [] for k in kept}, {}, array("q"), array("d")
    for line, fields in chain(head, records):
        if len(fields) != width:
            if not any(cell.strip() for cell in fields):
                continue  # as spreadsheets write below a table
            raise ValueError(
                f"{name}: {unit} {line} has {len(fields)} cells, the first sample has {width}"
            )
        for k, column in cells.items():
            column.append(fields[k])
        for k in text:
            fields[k] = "nan"
        try:
            values = np.fromiter(map(number, fields), float, width)
        except ValueError:
            values = np.full(width, np.nan)
            for k, cell in enumerate(fields):
                if _is_number(cell, number):
                    values[k] = number(cell)
                elif not is_missing(cell):
                    strays.setdefault(k, (len(lines), cell))
        numbers.frombytes(values.tobytes())
        lines.append(line)
    if not lines:
        raise ValueError(f"{name}: no numbers found")
    X = np.frombuffer(numbers).reshape(len(lines), width)
    last = width - 1
    if last and last not in text and last not in strays and (names is None or names[last] == ""):
        if np.isnan(X[:, last]).all():  # a separator at the end of every row
            X, names = X[:, :last], names and names[:last]
            cells.pop(last, None)
    notes = [f"{name}: commas are decimal points"] if decimal == "," else []
    return Table(name, names, X, cells, text, strays, lines, unit, notes)


def _decimal(cells):
    """The decimal separator."""
    commas = [cell for cell in cells if "," in cell and DECIMAL_COMMA.fullmatch(cell.strip())]
    if not commas:
        return "."
    point = next((cell for cell in cells if DECIMAL_POINT.fullmatch(cell.strip())), None)
    if point is not None:
        raise ValueError(
            f"{commas[0]!r} has a comma and {point!r} a decimal point: write all numbers alike, "
            "without marks of thousands"
        )
    if all(THOUSANDS.fullmatch(cell.strip()) for cell in commas):
        raise ValueError(
            f"{commas[0]!r} may have a decimal comma or a mark of thousands: write numbers without "
            "marks of thousands"
        )
    return ","


def _decimal_comma(cell):
    if "." in cell:
        raise ValueError(cell)
    return float(cell.replace(",", "."))


def _header(rows, number, where):
    """Names of the columns if the first row holds them, else None."""
    first, rest = rows[0], rows[1:]
    numeric = [_is_number(cell, number) for cell in first]
    text = [k for k, cell in enumerate(first) if not numeric[k] and not is_missing(cell)]
    if not any(numeric):
        return first if text else None
    if not text:
        counted = [str(k) for k in range(len(first))]
        if first[0].strip() == "" and len(first) > 1 and _are_names(first[1:]):
            return first
        return first if len(first) > 2 and first == counted else None
    if text == [0] and len(first) > 2 and _are_names(first[1:]) and rest:
        if ID_NAME.fullmatch(first[0]) or all(_is_number(row[0], number) for row in rest):
            return first
        if len(first) > HEAD and not any(_are_names(row[1:]) for row in rest):
            return first
        raise ValueError(
            f"{where} may have names or a sample: its numbers all differ. Give the first column "
            "the name id if they are names, or put a line of names above if they are a sample"
        )
    told = [k for k in text if all(len(row) <= k or _is_number(row[k], number) for row in rest)]
    if told:
        raise ValueError(
            f"{where} has both numbers and text (field {told[0] + 1} is {first[told[0]]!r}): a "
            "header is all names, samples are all numbers"
        )
    return None


def _are_names(cells):
    """Whether numbers may be names: integers that all differ, or many that ascend."""
    if not all(map(is_number, cells)) or len(set(cells)) < len(cells):
        return False
    ascend = len(cells) > 5 and bool((np.diff([float(cell) for cell in cells]) > 0).all())
    return ascend or all(cell.strip().isdecimal() for cell in cells)


def _kinds(rows, names, width, number, wanted):
    """Columns of text, and those that are kept as they are written, by the first rows."""
    text, integers = set(), []
    for k in range(width):
        column = [row[k] for row in rows if not is_missing(row[k])]
        numeric = sum(_is_number(cell, number) for cell in column)
        differ = len(set(column)) == len(column) > 0
        if 2 * numeric < len(column) or k == 0 and differ and numeric < len(column):
            text.add(k)
        elif differ and all(map(_is_integer, column)):
            integers.append(k)
    asked = {int(wanted) - 1} if wanted is not None and wanted.isdecimal() else set()
    if names is not None:
        asked |= {k for k, name in enumerate(names) if name == wanted or ID_NAME.fullmatch(name)}
    asked &= set(range(width))
    return text, text | asked | set(integers[:KEPT]) | set(integers[-KEPT:])


def _is_integer(cell):
    try:
        return float(cell).is_integer()
    except ValueError:
        return False


# ------------------------------------------------------------------------------- Excel and Parquet


def read_excel(path, name, wanted=None):
    """The `Table` in the first sheet of an Excel file."""
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(f"{name}: Excel needs openpyxl: pip install openpyxl") from error
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        sheets = {sheet.title: [(row, ["" if cell is None else str(cell) for cell in cells])
                                for row, cells in enumerate(sheet.iter_rows(values_only=True), 1)
                                if any(cell is not None for cell in cells)]
                  for sheet in book.worksheets}  # fmt: skip
    finally:
        book.close()
    sheets = {title: rows for title, rows in sheets.items() if rows}
    if len(sheets) != 1:
        raise ValueError(
            f"{name}: {len(sheets)} sheets ({', '.join(map(repr, list(sheets)[:8]))}) have cells: "
            "save each that is a view as a file of its own"
        )
    (filled,) = sheets.values()
    width = max((len(cells) for _, cells in filled), default=0)
    filled = [(row, cells + [""] * (width - len(cells))) for row, cells in filled]
    titles = 0
    while (
        titles + 1 < len(filled) and sum(cell != "" for cell in filled[titles][1]) == 1 < width - 1
    ):
        titles += 1
    table = _table(name, iter(filled[titles:]), "row", wanted)
    if titles:
        table.notes.append(f"{name}: what is above row {filled[titles][0]} is taken as a title")
    return table


def read_parquet(path, name, wanted=None):
    """The `Table` in a Parquet file; its index is the first column."""
    try:
        import pandas

        frame = pandas.read_parquet(path)
    except ImportError as error:
        raise ImportError(f"{name}: Parquet needs pandas: pip install pandas pyarrow") from error
    if not isinstance(frame.index, pandas.RangeIndex):
        frame = frame.reset_index(names=frame.index.name or "")
    names = [str(one) for one in frame.columns]
    X = np.full(frame.shape, np.nan)
    cells, text = {}, set()
    for k in range(len(names)):
        column = frame.iloc[:, k]
        if column.dtype.kind in "iufb":
            X[:, k] = column.to_numpy(dtype=float, na_value=np.nan)
            if column.dtype.kind in "iu" and column.is_unique or names[k] == wanted:
                cells[k] = column.astype(str).tolist()
        else:
            text.add(k)
            cells[k] = ["" if empty else str(cell)
                        for cell, empty in zip(column, column.isna(), strict=True)]  # fmt: skip
    if len(frame) == 0:
        raise ValueError(f"{name}: no numbers found")
    return Table(name, names, X, cells, text, {}, range(1, len(frame) + 1), "row")
