"""Tables in text files, with any common separator."""

import csv
import gzip
import io
import re
from array import array
from itertools import chain, islice
from pathlib import Path

import numpy as np

from ._tables import ID_NAME, Table, is_missing, value_of

GZIP = b"\x1f\x8b"
HEAD = 20  # rows that decide what a column holds
KEPT = 20  # columns of integers, at either end of a table, that may be ids
FALLBACK_ENCODING = "cp1252"
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:e[+-]?\d+)?", re.IGNORECASE)
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:e[+-]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")

# A wide table is one field where another separator is tried.
csv.field_size_limit(2**31 - 1)


def is_text_table(path):
    """Whether a path has a suffix of tables in text files."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return (suffixes[-2:-1] if suffixes[-1:] == [".gz"] else suffixes[-1:]) in (
        [".csv"], [".tsv"], [".txt"], [".tab"], [".dat"],
    )  # fmt: skip


def read_text(path, name, content=None, wanted=None):
    """The `Table` in a text file, or in bytes.

    Parameters
    ----------
    path : Path or None
    name : str
        Name of the file in messages.
    content : bytes, optional
        Content of the file, if it is known.
    wanted : str, optional
        Name or number of the column of ids.
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
                table = table_of(name, _records(stream, separator, skipped), "line", wanted)
        except UnicodeDecodeError as error:
            if encoding == encodings[-1]:
                raise ValueError(f"{name}: neither text nor a table ({error.reason})") from error
        else:
            break
    if encoding == FALLBACK_ENCODING:
        table.notes.append(f"{name} is not UTF-8: read as Windows-1252")
    return table


def _comments(stream):
    """The number of comments and blank lines above a table, and the line after them."""
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
    """The separator of cells, which is equally frequent in the first rows."""
    for separator in "\t;|,":
        widths = [len(fields) for _, fields in islice(_records(iter(lines), separator), HEAD)]
        if widths[:1] > [1] and all(width - widths[0] in (0, 1) for width in widths[1:3]):
            return separator
    first = lines[0] if lines else ""
    return next((separator for separator in "\t;|, " if separator in first.strip()), ",")


# ---------------------------------------------------------------------------------- rows of cells


def table_of(name, records, unit, wanted=None):
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
                if (value := value_of(cell, number)) is not None:
                    values[k] = value
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
    numeric = [value_of(cell, number) is not None for cell in first]
    text = [k for k, cell in enumerate(first) if not numeric[k] and not is_missing(cell)]
    if not any(numeric):
        return first if text else None
    if not text:
        counted = [str(k) for k in range(len(first))]
        if first[0].strip() == "" and len(first) > 1 and _are_names(first[1:]):
            return first
        return first if len(first) > 2 and first == counted else None
    if text == [0] and len(first) > 2 and _are_names(first[1:]) and rest:
        if ID_NAME.fullmatch(first[0]) or all(value_of(row[0], number) is not None for row in rest):
            return first
        if len(first) > HEAD and not any(_are_names(row[1:]) for row in rest):
            return first
        raise ValueError(
            f"{where} may have names or a sample: its numbers all differ. Rename the first column "
            "to id if these are names, or add a header line if they are a sample"
        )
    told = [
        k
        for k in text
        if all(len(row) <= k or value_of(row[k], number) is not None for row in rest)
    ]
    if told:
        raise ValueError(
            f"{where} has both numbers and text (field {told[0] + 1} is {first[told[0]]!r}): a "
            "header is all names, samples are all numbers"
        )
    return None


def _are_names(cells):
    """Whether numbers may be names: integers that all differ, or many that ascend."""
    if not None not in map(value_of, cells) or len(set(cells)) < len(cells):
        return False
    ascend = len(cells) > 5 and bool((np.diff([float(cell) for cell in cells]) > 0).all())
    return ascend or all(cell.strip().isdecimal() for cell in cells)


def _kinds(rows, names, width, number, wanted):
    """Columns of text, and those that are kept as they are written, by the first rows."""
    text, integers = set(), []
    for k in range(width):
        column = [row[k] for row in rows if not is_missing(row[k])]
        numeric = sum(value_of(cell, number) is not None for cell in column)
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
