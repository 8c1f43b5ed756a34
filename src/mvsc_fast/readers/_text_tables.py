"""How a table in a text file is written: encoding, separators, header; and where its cells are."""

import csv
import gzip
import io
import re
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

GZIP = b"\x1f\x8b"
HEAD = 2**18  # bytes that tell how a table is written
RECORDS = 50  # of them that are looked at
MISSING = ("", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>")
FALLBACK_ENCODING = "cp1252"
# In this order: where fields have decimal commas, or text has commas, another one separates them.
SEPARATORS = ("\t", ";", "|", ",")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
ID_NAME = re.compile(
    r"|unnamed: 0|index|idx|row_?names?|u?id|ids|sample(?:[ _.-]?(?:id|name))?"
    r"|.+[ _.-]id|id[ _.-].+",
    re.IGNORECASE,
)


class TextFile:
    """A text file that may be compressed by gzip, or bytes that were read.

    Parameters
    ----------
    path : Path or str
        What messages call it.
    content : bytes, optional
        Instead of those of the file.
    """

    def __init__(self, path, content=None):
        self.path = path
        if content is not None and content.startswith(GZIP):
            content = gzip.decompress(content)
        self._content = content

    def open(self):
        """Its bytes as a stream."""
        if self._content is not None:
            return io.BytesIO(self._content)
        with open(self.path, "rb") as stream:
            compressed = stream.read(2) == GZIP
        return gzip.open(self.path, "rb") if compressed else open(self.path, "rb")

    def text(self, encoding, errors="strict", first=0):
        """Its text after some lines as a stream, with the ends of lines as they are."""
        stream = io.TextIOWrapper(self.open(), encoding=encoding, errors=errors, newline="")
        try:
            for _ in range(first):
                stream.readline()
        except UnicodeDecodeError:
            stream.close()
            raise
        return stream


class Layout(NamedTuple):
    """How a table is written.

    Attributes
    ----------
    encoding : str
    separator : str or None
        None is any white space.
    decimal : str
    header : list of str or None
        One name for each column.
    first : int
        Lines before those of the first sample.
    """

    encoding: str
    separator: str | None
    decimal: str
    header: list | None
    first: int

    def number(self, field):
        """Whether a field is a number."""
        try:
            float(field.replace(self.decimal, ".") if self.decimal != "." else field)
        except ValueError:
            return False
        return "_" not in field  # which Python takes


def layout_of(file):
    """The `Layout` of a `TextFile`.

    Raises
    ------
    ValueError
        If its first line could be names or a sample.
    """
    with file.open() as stream:
        head = stream.read(HEAD)
    encoding = _encoding(file, head)
    text = head.decode(encoding, errors="replace")
    if len(head) == HEAD:
        text = text[: text.rfind("\n") + 1]
    lines = list(io.StringIO(text, newline=""))
    comments = list(takewhile(lambda line: line.startswith("#"), lines))
    separator, records = _separated("".join(lines[len(comments) :]))
    if not records:
        raise ValueError(f"{file.path}: no numbers found")
    cells = [field for _, fields in records for field in fields]
    decimal = "."
    if separator != "," and any(map(DECIMAL_COMMA.fullmatch, cells)):
        decimal = "." if any(re.fullmatch(r"[+-]?\d+\.\d+", cell) for cell in cells) else ","
    layout = Layout(encoding, separator, decimal, None, len(comments))
    rows = [fields for _, fields in records]
    header = _commented(comments, layout, len(rows[0]))
    if header is not None:
        return layout._replace(header=header)
    header = header_of(rows, layout.number, str(file.path))
    if header is None:
        return layout
    after = records[1][0] - 1 if len(records) > 1 else len(lines)
    return layout._replace(header=header, first=len(comments) + after)


def _commented(comments, layout, width):
    """Names of the columns in the last comment above a table, as NumPy writes them, or None."""
    if not comments:
        return None
    found = list(records_of([comments[-1].lstrip("# ")], layout.separator))
    names = found[0][1] if found else []
    return names if len(names) == width > 1 and not any(map(layout.number, names)) else None


def _encoding(file, head):
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        with file.text("utf-8-sig") as stream:
            while stream.read(HEAD):
                pass
    except UnicodeDecodeError:
        return FALLBACK_ENCODING
    return "utf-8-sig"


def _separated(text):
    """The separator and the first records, as (line, fields)."""
    best = None
    for separator in (*SEPARATORS, None):
        records = list(islice(records_of(io.StringIO(text, newline=""), separator), RECORDS))
        widths = [len(fields) for _, fields in records]
        if records and min(widths) > 1:
            if len(set(widths[1:] or widths)) == 1:
                return separator, records
            best = best or (separator, records)
        elif separator == ",":
            single = (separator, records)
    return best or single


def records_of(stream, separator):
    """(number of the line from 1, fields) of the records of a text stream, blank ones left out."""
    if separator is None:
        for line, text in enumerate(stream, start=1):
            fields = [field.strip('"') for field in text.split()]
            if fields:
                yield line, fields
        return
    reader = csv.reader(stream, delimiter=separator, skipinitialspace=separator != "\t")
    while True:
        line = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"line {line}: {error}") from error
        if fields and (len(fields) > 1 or fields[0].strip()):
            yield line, [field.strip() for field in fields]


def header_of(records, number, name):
    """Names of the columns if the first record holds them, else None.

    Parameters
    ----------
    records : list of list of str
        The first ones of a table.
    number : callable
        Whether a field is a number.
    name : str
        Of the file, for messages.
    """
    first, rest = records[0], records[1:]
    words = [k for k, field in enumerate(first) if not number(field)]
    if (
        len(words) == len(first) and rest and len(rest[0]) == len(first) + 1
    ):  # row names have no name of their own
        return ["", *first]
    if not words:
        counted = len(first) > 2 and first == [str(k) for k in range(len(first))]
        return first if counted else None  # as data frames name columns
    if len(words) == len(first) and not all(map(_is_missing, first)):
        return first
    if ID_NAME.fullmatch(first[0]) and rest and all(number(one) for one in first[1:]):
        counted = [float(one) for one in first[1:]]
        if first[0] or counted == [float(k) for k in range(len(counted))]:
            return first
    text = [k for k in words if not _is_missing(first[k])]
    told = [k for k in text if all(len(row) <= k or number(row[k]) for row in rest)]
    if told:
        raise ValueError(
            f"{name}: line 1 has both numbers and text (field {told[0] + 1} is "
            f"{first[told[0]]!r}): a header is all names, samples are all numbers"
        )
    return None


def _is_missing(field):
    return field.lower() in MISSING


def locate(file, layout, row):
    """The line, from 1, and the fields of the sample number ``row``, from 0; None where it ends."""
    return next(islice(_samples(file, layout), row, None), None)


def first_fault(file, layout, width, allowed=()):
    """What is wrong first with a table of numbers, as a text, or None.

    Parameters
    ----------
    width : int
        Cells that every sample has.
    allowed : iterable of int
        Columns that may hold anything.
    """
    allowed = set(allowed)
    for line, fields in _samples(file, layout):
        if len(fields) != width:
            return f"line {line} has {len(fields)} cells, the first sample has {width}"
        for k, field in enumerate(fields):
            if k not in allowed and not layout.number(field) and not _is_missing(field):
                return f"line {line}, {column_title(k, layout.header)} is {field!r}, no number"
    return None


def _samples(file, layout):
    """(line, fields) of every sample."""
    with file.text(layout.encoding, "replace", layout.first) as stream:
        for line, fields in records_of(stream, layout.separator):
            yield layout.first + line, fields


def column_title(k, names):
    """What messages call a column: column 3 ('height')."""
    named = names is not None and names[k] != ""
    return f"column {k + 1} ({names[k]!r})" if named else f"column {k + 1}"


def is_text_table(path):
    """Whether a path ends as those of tables in text files do."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return (suffixes[-2:-1] if suffixes[-1:] == [".gz"] else suffixes[-1:]) in (
        [".csv"], [".tsv"], [".txt"], [".tab"], [".dat"],
    )  # fmt: skip
