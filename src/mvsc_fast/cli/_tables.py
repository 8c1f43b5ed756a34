"""One table of a file, text, Excel or Parquet, read by pandas as docs/files.md promises."""

import bz2
import csv
import gzip
import io
import lzma
import re
import shlex
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._utils.messages import counted, import_extra
from ..preprocessing._table_columns import alike
from ..views._suspects import ID_NAME
from ._numbers import NUMBER, are_ambiguous, is_number, parse_column

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
EXCEL = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
N_HEAD = 1000  # number of rows that decide on ids and notation
N_CELLS = 2**21  # number of cells that are read at a time
MISSING = ["?", "na", "NAN", "none", "Null", "-nan"]  # besides those of pandas
MISSING_CELLS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "n/a", "#N/A", *MISSING]
NAMELESS = re.compile(r"|unnamed: 0|index|x|\.\.\.1|row[ _.-]?names?", re.IGNORECASE)
ID_NUMBER = re.compile(r"0\d+|\d{16,}")
FEATURE_NAMES = re.compile(
    r"hugo[ _.-]?symbol|gene(?:[ _.-].*|symbol)?|symbol|ensembl.*|id_ref|entrez.*|.*probe.*|cpg.*",
    re.IGNORECASE,
)
COMMENT = re.compile(r"[#!].*|sep=.\s*|\s*", re.IGNORECASE | re.DOTALL)  # above a table
TABLE_END = re.compile(rb"\n!\w+_table_end\s*$", re.IGNORECASE)  # of GEO
WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16
csv.field_size_limit(2**31 - 1)  # a row of a wide table is one field for other separators


class Reading(NamedTuple):
    """How the options say that a table is read."""

    header: bool = True
    decimal: str | None = None
    id_column: str | None = None
    id_name: str | None = None  # of the column of ids in the fit
    transposed: bool = False  # then the ids are names of features


@dataclass
class Table:
    """A table with a row for each sample, unless it is transposed later."""

    name: str  # of the file
    values: np.ndarray  # of the columns but the ids; NaN for cells that are missing or text
    words: list  # cells of text of each column, by row
    names: list  # of the columns; those without have their number
    rows: list  # numbers of the rows in the file
    ids: list | None = None
    id_name: str = ""
    units: tuple = ("line", "column")  # of the rows and columns
    notes: list = field(default_factory=list)
    prefix: str = ""  # of values of options that are for this file alone

    def locate(self, i, j):
        """A cell in messages: line 5, column 'height'."""
        return f"{self.units[0]} {self.rows[i]}, {self.units[1]} {self.names[j]!r}"


def as_text(cell):
    """The text of a cell; numbers without decimals are integers."""
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)


def read_table(source, name, kind, reading):
    """The `Table` of a file at a path, or in bytes."""
    import_extra("pandas", f"{name}: a table", '"mvsc-fast[files]"')
    if kind in PARQUET:
        return _read_parquet(source, name, reading)
    if kind in EXCEL:
        return _read_excel(source, name, reading)
    if isinstance(source, Path):
        with PACKED.get(source.suffix.lower(), open)(source, "rb") as file:
            source = file.read()
    return _read_text(source, name, reading)


# ------------------------------------------------------------------------------------------- text


def _read_text(content, name, reading):
    import pandas as pd

    # What pandas does not decide: encoding, comments, header, separator, and rows of other widths.
    notes = []
    content = TABLE_END.sub(b"\n", _as_utf8(content, name, notes))
    n_above, start = _skip_comments(content, name, notes)
    content = content[start:]
    separator = _separator(content)
    first_rows = list(islice(filter(None, _rows(content, separator)), 2))
    names = [""] * len(first_rows[0])
    if reading.header:
        names = _header(first_rows, f"{name}: line {n_above + 1}")
    lines = _lines(content, separator, len(names), n_above, reading.header, name)
    options = {
        "sep": r"\s+" if separator == " " else separator,
        "names": range(len(names)),
        "header": 0 if reading.header else None,
        "skipinitialspace": separator != "\t",
        "na_values": MISSING,
        "decimal": reading.decimal or ".",
        "low_memory": False,  # which would give a column of a chunk several types
    }
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # later versions always round correctly

    def read(**part_options):
        return pd.read_csv(io.BytesIO(content), **options, **part_options)

    def chunks(columns):
        size = max(1, N_CELLS // len(names))
        return read(dtype=dict.fromkeys(columns, str), chunksize=size)

    return _fill(name, names, lines, read(dtype=str, nrows=N_HEAD), chunks, reading, notes)


def _as_utf8(content, name, notes):
    """Text of one of three encodings in UTF-8."""
    if content.startswith(b"\x1f\x8b"):
        raise ValueError(f"{name} is compressed: give it the suffix .gz")
    for encoding in ("utf-16",) if content.startswith(WIDE) else ("utf-8-sig", "cp1252"):
        try:
            text = content.decode(encoding)
            break
        except UnicodeDecodeError as error:
            reason = error.reason
    else:
        raise ValueError(f"{name} is neither text nor a table ({reason})")
    if "\0" in text:
        raise ValueError(f"{name} has NUL characters: save it as UTF-8")
    if encoding == "cp1252":
        notes.append(f"{name} is not UTF-8: read as Windows-1252")
    return content if encoding == "utf-8-sig" and text.isascii() else text.encode()


def _skip_comments(content, name, notes):
    """The numbers of lines and of bytes above a table."""
    above, stream = [], io.BytesIO(content)
    for line in stream:
        if not COMMENT.fullmatch(line.decode()):
            break
        above.append(line)
    else:
        raise ValueError(f"{name} is empty")
    n_comments = sum(line.startswith((b"#", b"!")) for line in above)
    if n_comments:
        notes.append(f"{name}: {counted(n_comments, 'line')} above the table skipped")
    return len(above), sum(map(len, above))


def _rows(content, separator):
    """Rows of cells, by csv, whose `line_num` counts the lines."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    lines = map(str.strip, lines) if separator == " " else lines
    return csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t")


def _separator(content):
    """The first separator that divides the first two rows into equally many cells."""
    # A header of one cell lacks the name of the ids, if the row below it has two.
    for least in (2, 1):
        for separator in "\t;,| ":
            widths = [len(row) for row in islice(filter(None, _rows(content, separator)), 2)]
            if widths[0] >= least and widths[-1] > 1 and widths[-1] - widths[0] in (0, 1):
                return separator
    line = content.partition(b"\n")[0].decode()
    return next((mark for mark in "\t;,|" if mark in line), ",")


def _header(rows, location):
    """The names in the first of two rows; raise ValueError if it may be a sample."""
    names = [cell.strip() for cell in rows[0]]
    first = [cell.strip() for cell in rows[-1]]
    if len(first) - len(names) not in (0, 1):
        raise ValueError(
            f"{location} has {counted(len(names), 'cell')}, the next row has {len(first)}: the "
            "first row must contain the names of the columns, without a title above it"
        )
    # A row has one cell more if a separator ends it, or if R has written names of rows.
    if len(first) > len(names):
        names = ["", *names] if first[-1] else [*names, ""]
    # A name of ids or features in the corner, or a missing one, tells that this is the header, and
    # so do two words above numbers.
    numbers = [cell for cell in names if is_number(cell)]
    corner = any(form.fullmatch(names[0]) for form in (ID_NAME, NAMELESS, FEATURE_NAMES))
    corner = corner and len(numbers) < len(rows[0])
    pairs = zip(names, first, strict=True)
    words = [a for a, b in pairs if is_number(b) > is_number(a) and a not in MISSING_CELLS]
    if numbers and not corner and len(words) < 2:
        raise ValueError(
            f"{location} has numbers ({', '.join(numbers[:3])}, ...) and may be a sample or names "
            "of columns: use --no-header if it is a sample, else call the first column id"
        )
    return names


def _lines(content, separator, width, n_above, header, name):
    """The line of each sample; raise ValueError for rows of another width, which pandas fills."""
    reader, lines, line = _rows(content, separator), [], n_above + 1
    for row in reader:
        if len(row) > 1 or row and row[0].strip():  # else it is blank
            if len(row) != width and (lines or not header):
                raise ValueError(
                    f"{name}: line {line} has {counted(len(row), 'cell')}, but the table has "
                    f"{counted(width, 'column')}"
                )
            lines.append(line)
        line = n_above + reader.line_num + 1  # a cell in quotation marks may have several lines
    return lines[1:] if header else lines


# -------------------------------------------------------------------------------- Excel, Parquet


def _read_excel(path, name, reading):
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
    cells, notes = cells.dropna(how="all").dropna(axis=1, how="all"), []
    # Rows with a single cell above a table are a title.
    widths = cells.notna().sum(axis=1).to_numpy()
    if widths[0] == 1 < widths.max() - 1:
        cells = cells[np.argmax(widths > 1) :].dropna(axis=1, how="all")
        notes.append(f"{name}: the rows above row {cells.index[0] + 1} are read as a title")
    names = [""] * cells.shape[1]
    if reading.header:
        first_rows = cells[:2].map(lambda cell: "" if cell != cell else as_text(cell))
        names = _header(first_rows.to_numpy().tolist(), f"{name}: row {cells.index[0] + 1}")
        cells = cells[1:]
    cells = cells.mask(cells.isin(MISSING_CELLS))
    rows = (cells.index + 1).tolist()
    return _from_frame(cells, names, rows, name, reading, notes)


def _read_parquet(path, name, reading):
    import pandas as pd

    import_extra("pyarrow", f"{name}: Parquet", '"mvsc-fast[files]"')
    cells = pd.read_parquet(path, engine="pyarrow")
    names = list(cells)
    if not isinstance(cells.index, pd.RangeIndex) or cells.index.name is not None:
        names = [*cells.index.names, *names]
        cells = cells.set_axis(range(cells.shape[1]), axis=1)
        cells = cells.reset_index(names=[f"index {k}" for k in range(cells.index.nlevels)])
    names = ["" if name is None else str(name) for name in names]
    return _from_frame(cells, names, list(range(1, len(cells) + 1)), name, reading, [])


def _from_frame(cells, names, rows, name, reading, notes):
    cells = cells.set_axis(range(len(names)), axis=1)
    table = _fill(name, names, rows, cells[:N_HEAD], lambda columns: [cells], reading, notes)
    table.units = ("row", "column")
    return table


# ------------------------------------------------------------------------------- ids and numbers


def _fill(name, names, rows, head, chunks, reading, notes):
    """The `Table` of chunks of rows; ``head`` are the first rows, as text if it is known."""
    # The first rows decide which column has the ids, and in which points may separate thousands.
    texts = [[as_text(cell).strip() for cell in head[j].dropna()] for j in head]
    id_column = _find_ids(name, names, texts, reading)
    ambiguous = [j for j in head if reading.decimal is None and head[j].dtype.kind not in "fiub"]
    ambiguous = [j for j in ambiguous if are_ambiguous(texts[j])]
    columns = [j for j in range(len(names)) if j != id_column]
    single = all(dtype == np.float32 for dtype in head[columns].dtypes)

    # Numbers fill a matrix, chunk by chunk, and ids remain text, because 041 and 41 are two ids.
    values = np.full((len(rows), len(columns)), np.nan, np.float32 if single else np.float64)
    words, ids, start = [{} for _ in columns], [], 0
    for chunk in chunks([j for j in head if j in ambiguous or j == id_column]) if rows else ():
        stop = start + len(chunk)
        if stop > len(rows):
            break
        for k, j in enumerate(columns):
            if chunk[j].dtype.kind in "fiub":
                values[start:stop, k] = chunk[j]
                continue
            cells = chunk[j].astype(object).where(chunk[j].notna(), None).tolist()
            values[start:stop, k], texts_of_chunk = parse_column(
                cells, reading.decimal, j in ambiguous
            )
            words[k] |= {start + i: text for i, text in texts_of_chunk.items()}
        if id_column is not None:
            column = chunk[id_column].map(as_text, na_action="ignore")
            ids += column.astype(object).where(column.notna(), None).tolist()
        start = stop
    if start != len(rows):
        raise ValueError(f"{name} has a quotation mark that is not closed")

    # Rows without content are samples that lack the view, but not those that end the table.
    filled = ~np.isnan(values).all(axis=1)
    filled[[i for cells in words for i in cells]] = True
    filled |= np.array([text is not None for text in ids or [None] * len(rows)], dtype=bool)
    if not filled.any():
        raise ValueError(f"{name} has names of columns, but no samples")
    n = int(np.flatnonzero(filled)[-1]) + 1
    table = Table(name, values[:n], words, [names[j] or str(j + 1) for j in columns], rows[:n])
    table.notes = notes
    if id_column is not None:
        table.ids, table.id_name = ids[:n], names[id_column] or "id"
    return table


def _find_ids(name, names, texts, reading):
    """The position of the column of ids, or of the names of features in transposed tables."""
    # The user, then the model, then the first column decide.
    option = reading.id_column
    if option is None and reading.id_name in names:
        option = reading.id_name
    if option is not None:
        labels = [title or str(j + 1) for j, title in enumerate(names)]
        return None if option == "none" else select_columns(labels, option, name)[0]
    # Ids beside a column without a name that counts the rows are better than that counter.
    j, counts = 0, [list(map(str, range(k, k + len(texts[0])))) for k in (0, 1)]
    if len(names) > 1 and NAMELESS.fullmatch(names[0]) and texts[0] in counts:
        j = int(bool(names[1]) and _are_ids(names, 1, texts[1]))
    are_features = FEATURE_NAMES.fullmatch(names[j])
    if are_features and not reading.transposed:
        raise ValueError(
            f"{name}: column {names[j]!r} has names of features: use --transpose to read columns "
            f"as samples, or --id-column {shlex.quote(names[j])} to keep rows"
        )
    return j if are_features or _are_ids(names, j, texts[j]) else None


def _are_ids(names, j, texts):
    """Whether a column has ids: text, codes, or integers under a name of ids."""
    # Text is an id; integers are ids only under a name of ids, as they may be a feature.
    numbers = [text for text in texts if is_number(text)]
    whole = all(NUMBER.fullmatch(text) and float(text).is_integer() for text in numbers)
    if len(numbers) < len(texts) and (whole or 2 * len(numbers) < len(texts)):
        return True
    nameless = NAMELESS.fullmatch(names[j]) and any(names)
    has_name = nameless or ID_NAME.fullmatch(names[j]) or any(map(ID_NUMBER.fullmatch, texts))
    return bool(has_name and whole and texts)


def select_columns(names, selection, file, absent=False):
    """Positions of the columns that a text such as "height,w*,!weight" selects.

    Excluded columns may be ``absent``, as they are those of another file.
    """
    selected, excluded, selects = [], set(), False
    # Exact names come before patterns, because names may contain * or ?.
    for part in map(str.strip, selection.split(",")):
        pattern = part.removeprefix("!")
        columns = [j for j, name in enumerate(names) if name == pattern]
        columns = columns or [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not columns and pattern != "*" and not (absent and part.startswith("!")):
            raise ValueError(f"{file}: there is no column {pattern!r}{alike(pattern, names)}")
        if part.startswith("!"):
            excluded.update(columns)
        else:
            selects = True
            selected += [j for j in columns if j not in selected]
    selected = selected if selects else range(len(names))
    return [j for j in selected if j not in excluded]


def is_selecting(selection):
    """Whether a text of --columns selects columns, and does not only exclude some."""
    return any(not part.strip().startswith("!") for part in selection.split(","))
