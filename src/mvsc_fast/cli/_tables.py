"""One table of a file, text, Excel or Parquet, read by pandas as docs/files.md promises."""

import bz2
import csv
import gzip
import io
import lzma
import re
import shlex
from dataclasses import dataclass, field
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._utils.messages import counted, import_extra
from ..preprocessing._table_columns import alike
from ..views._suspects import ID_NAME

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
EXCEL = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SEPARATORS = "\t;,| "
N_HEAD = 1000  # number of rows that decide on ids and notation
N_CELLS = 2**20  # number of cells that are read at a time
MISSING = ["?", "na", "NAN", "none", "Null", "-nan"]  # besides those of pandas
NAMELESS = re.compile(r"|unnamed: 0|index|x|\.\.\.1|row[ _.-]?names?", re.IGNORECASE)
ID_NUMBER = re.compile(r"0\d+|\d{16,}")
FEATURE_NAMES = re.compile(
    r"hugo[ _.-]?symbol|gene(?:[ _.-].*|symbol)?|symbol|ensembl.*|id_ref|entrez.*|.*probe.*|cpg.*"
    r"|(?:feature|variable|metabolite)s?(?:[ _.-].*)?|data[ _.-]?matrix|#? ?otu.*",
    re.IGNORECASE,
)
ABOVE = re.compile(rb"(?:[#!].*\n|sep=.\r?\n|[ \t\r]*\n)*", re.IGNORECASE)  # above a table
TABLE_END = re.compile(rb"\n!\w+_table_end\s*$", re.IGNORECASE)  # of GEO
WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?", re.I | re.A)
MARKED = re.compile(r"[+-]?\d+(?:[., \u00a0\u202f]\d+)+", re.A)  # with marks of any meaning
THOUSANDS = re.compile(r"[+-]?(?:0|[1-9]\d{,2}(?:\.\d{3})*)", re.A)
csv.field_size_limit(2**31 - 1)  # a row of a wide table is one field for other separators


class Reading(NamedTuple):
    """How the options say that a table is read."""

    header: bool = True
    decimal: str | None = None
    id_column: str | None = None
    id_name: str | None = None  # of the column of ids in the fit
    transposed: bool = False  # then the ids are names of features
    prefix: str = ""  # of values of options that are for this file alone
    has_points: bool = False  # whether points are decimal marks, as in the fit


@dataclass
class Table:
    """A table as its file has it, or turned so that samples are rows."""

    name: str  # of the file
    names: list  # of the columns but the ids; those without have their number
    values: np.ndarray  # of these columns; NaN for cells that are missing or text
    words: list  # cells of text of each column, by row
    rows: list  # numbers of the rows in the file
    unit: str = "line"  # of these numbers
    ids: list | None = None
    id_name: str | None = None
    notes: list = field(default_factory=list)
    prefix: str = ""  # of values of options that are for this file alone


def read_table(source, name, kind, reading):
    """The `Table` of a file at a path, or in bytes."""
    import_extra("pandas", f"{name}: a table", '"mvsc-fast[files]"')
    read = _read_parquet if kind in PARQUET else _read_excel if kind in EXCEL else _read_text
    return read(source, name, reading)


# ---------------------------------------------------------------------------------------- formats


def _read_text(source, name, reading):
    import pandas as pd

    if isinstance(source, Path):
        with PACKED.get(source.suffix.lower(), open)(source, "rb") as file:
            source = file.read()
    # pandas leaves to its caller: lines above, separator, header and width of rows.
    content = TABLE_END.sub(b"\n", _as_utf8(source, name))
    above = ABOVE.match(content)[0]
    content, n_above = content[len(above) :], above.count(b"\n")
    if not content:
        raise ValueError(f"{name} is empty")
    notes = []
    if b"#" in above or b"!" in above:
        notes.append(f"{name}: {counted(n_above, 'line')} above the table skipped")
    separator = _separator(content)
    names = _column_names(_first_rows(content, separator), name, f"line {n_above + 1}", reading)
    lines = _lines(content, separator, len(names), n_above, name)[int(reading.header) :]
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

    def chunks(id_column):
        size = max(1, N_CELLS // len(names))
        return read(dtype=None if id_column is None else {id_column: str}, chunksize=size)

    table = Table(name, names, None, None, lines, notes=notes, prefix=reading.prefix)
    return _fill(table, read(dtype=str, nrows=N_HEAD), chunks, reading)


def _as_utf8(content, name):
    """Text in UTF-8, or in UTF-16 with a byte order mark, in UTF-8."""
    try:
        text = content.decode("utf-16" if content.startswith(WIDE) else "utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(
            f"{name} is no text in UTF-8: save it as such, or give it the suffix of its format, "
            "such as .gz or .xlsx"
        )
    return content if text.isascii() and not content.startswith(WIDE) else text.encode()


def _rows(content, separator):
    """Rows of cells, by csv, whose `line_num` counts the lines."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    lines = map(str.strip, lines) if separator == " " else lines
    return csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t")


def _first_rows(content, separator):
    """The first two rows that are not blank, or the only one."""
    return list(islice(filter(None, _rows(content, separator)), 2))


def _separator(content):
    """The first separator that divides two rows into equally many cells, or a comma.

    The header may lack the name of the ids; one of a single cell is the last choice.
    """
    fitting = {}
    for separator in SEPARATORS:
        rows = _first_rows(content, separator)
        header, first = len(rows[0]), len(rows[-1])
        if first > 1 and first - header in (0, 1):
            fitting[separator] = header > 1
    return max(fitting, key=fitting.get, default=",")


def _column_names(rows, name, place, reading):
    """The names of columns, "" for none, by the header, the first of two rows.

    Raise ValueError if it may be a sample.
    """
    if not reading.header:
        return [""] * len(rows[0])
    names, n_cells = [cell.strip() for cell in rows[0]], len(rows[-1])
    numbers = [cell for cell in names if is_number(cell)]
    # R does not name the column of the names of rows; a separator may also end these.
    if n_cells == len(names) + 1 and rows[-1][-1].strip():
        names = ["", *names]
    if n_cells != len(names):
        raise ValueError(
            f"{name}: {place} has {counted(len(names), 'cell')}, the next row has {n_cells}: "
            "the first row must contain the names of the columns, without a title above it"
        )
    # Numbers are names if the first cell, or the user, tells which column has the ids.
    is_told = _is_id_name(names[0]) and len(numbers) < len(rows[0])
    if numbers and not is_told and reading.id_column is None:
        raise ValueError(
            f"{name}: {place} has numbers ({', '.join(numbers[:3])}, ...) and may be a sample or "
            "names of columns: --no-header reads it as a sample, --id-column NAME, or none, as "
            "names; known labels need a header"
        )
    return names


def _lines(content, separator, width, n_above, name):
    """The line of each row; raise ValueError for rows of another width, which pandas fills."""
    reader, lines, line = _rows(content, separator), [], n_above + 1
    for row in reader:
        if len(row) > 1 or row and row[0].strip():  # else it is blank
            # The header may lack the name of the ids.
            if len(row) != width and (lines or len(row) != width - 1):
                raise ValueError(
                    f"{name}: line {line} has {counted(len(row), 'cell')}, but the table has "
                    f"{counted(width, 'column')}"
                )
            lines.append(line)
        line = n_above + reader.line_num + 1  # a cell in quotation marks may have several lines
    return lines


def _read_excel(path, name, reading):
    """The table of the only sheet that is not empty."""
    import pandas as pd

    import_extra("openpyxl", f"{name}: Excel", '"mvsc-fast[files]"')
    options = {"header": None, "dtype": object, "na_values": MISSING, "engine": "openpyxl"}
    sheets = pd.read_excel(path, sheet_name=None, **options)
    sheets = {title: cells for title, cells in sheets.items() if cells.notna().any(axis=None)}
    if len(sheets) != 1:
        raise ValueError(
            f"{name} has {len(sheets)} sheets that are not empty ({', '.join(list(sheets)[:8])}): "
            "save each view as a separate file"
        )
    (cells,) = sheets.values()
    cells = cells.dropna(how="all").dropna(axis=1, how="all")
    first_rows = [list(map(as_text, row)) for row in cells[:2].astype(object).fillna("").to_numpy()]
    names = _column_names(first_rows, name, f"row {cells.index[0] + 1}", reading)
    cells = cells[1:] if reading.header else cells
    return _from_frame(cells, names, (cells.index + 1).tolist(), name, reading)


def _read_parquet(path, name, reading):
    import pandas as pd

    import_extra("pyarrow", f"{name}: Parquet", '"mvsc-fast[files]"')
    cells = pd.read_parquet(path, engine="pyarrow")
    if not isinstance(cells.index, pd.RangeIndex) or cells.index.name is not None:
        cells = cells.rename_axis([title or "" for title in cells.index.names])
        cells = cells.reset_index(allow_duplicates=True)
    return _from_frame(cells, list(map(str, cells)), range(1, len(cells) + 1), name, reading)


def _from_frame(cells, names, rows, name, reading):
    cells = cells.set_axis(range(len(names)), axis=1)
    table = Table(name, names, None, None, rows, unit="row", prefix=reading.prefix)
    return _fill(table, cells[:N_HEAD], lambda id_column: [cells], reading)


# ------------------------------------------------------------------------------- ids and numbers


def _fill(table, head, chunks, reading):
    """The table with the ids and numbers of chunks of rows.

    ``head`` are the first rows, and ``chunks`` is a function of the column of ids, which stays
    text, because 041 and 41 are two ids.
    """
    # Columns whose points may separate thousands are text, of which some cells suffice.
    names, rows = table.names, table.rows
    id_column = _find_ids(table.name, names, head, reading)
    columns = [j for j in range(len(names)) if j != id_column]
    is_known = reading.decimal or reading.has_points
    words = [{} if is_known else _ambiguous_cells(head[j]) for j in columns]

    # Numbers fill a matrix, chunk by chunk.
    single = all(dtype == np.float32 for dtype in head[columns].dtypes)
    values = np.full((len(rows), len(columns)), np.nan, np.float32 if single else np.float64)
    ids, start = [], 0
    for chunk in chunks(id_column) if rows else ():
        stop = start + len(chunk)
        if stop > len(rows):
            break
        dtypes = chunk.dtypes.tolist()
        numeric = [k for k, j in enumerate(columns) if dtypes[j].kind in "fiub"]
        values[start:stop, numeric] = chunk[[columns[k] for k in numeric]]
        for k in sorted(set(range(len(columns))).difference(numeric)):
            for i, cell in enumerate(_present_cells(chunk[columns[k]]), start):
                values[i, k], text = _parse_cell(cell, reading.decimal)
                if text is not None:
                    words[k][i] = text
        if id_column is not None:
            ids += [cell and as_text(cell) for cell in _present_cells(chunk[id_column])]
        start = stop
    if start != len(rows):
        raise ValueError(f"{table.name} has a quotation mark that is not closed")

    # Rows without content are samples that lack the view, but not those that end the table, nor are
    # columns without a name and a value.
    n = len(rows)
    has_text = {i for column in words for i in column}.union(i for i in range(len(ids)) if ids[i])
    while n and n - 1 not in has_text and np.isnan(values[n - 1]).all():
        n -= 1
    if n == 0:
        raise ValueError(f"{table.name} has names of columns, but no samples")
    is_empty = np.isnan(values).all(axis=0)
    used = [k for k, j in enumerate(columns) if names[j] or words[k] or not is_empty[k]]
    table.values = values[:n] if len(used) == len(columns) else values[:n, used]
    table.words, table.rows = [words[k] for k in used], rows[:n]
    table.names = [names[columns[k]] or str(columns[k] + 1) for k in used]
    if id_column is not None:
        table.ids, table.id_name = ids[:n], names[id_column] or "id"
    return table


def _present_cells(column):
    """The cells of a column of pandas, None for missing ones."""
    return column.astype(object).where(column.notna(), None).tolist()


def _find_ids(name, names, head, reading):
    """The position of the column of ids, or of the names of features in transposed tables."""
    # The user, then the model, then the first column decide.
    option, titles = reading.id_column, [title or str(j + 1) for j, title in enumerate(names)]
    if option is None and reading.id_name in names:
        option = reading.id_name
    if option is not None:
        if option not in (*titles, "none"):
            hint = "; --id-column FILE:NAME is for one file" if reading.prefix else ""
            raise ValueError(f"{name}: there is no column {option!r}{alike(option, titles)}{hint}")
        return None if option == "none" else titles.index(option)
    # Text is an id; integers are ids only under a name, as they may be a feature.
    texts = [as_text(cell).strip() for cell in _present_cells(head[0].dropna())]
    numbers = list(filter(is_number, texts))
    if not all(NUMBER.fullmatch(text) and float(text).is_integer() for text in numbers):
        return None
    has_text = len(numbers) < len(texts) or any(map(ID_NUMBER.fullmatch, texts))
    if not has_text and not (texts and any(names) and _is_id_name(names[0])):
        return None
    if FEATURE_NAMES.fullmatch(names[0]) and not reading.transposed:
        raise ValueError(
            f"{name}: column {names[0]!r} has names of features: use "
            f"{transpose_option(reading.prefix)} to read columns as samples, or --id-column "
            f"{shlex.quote(reading.prefix + names[0])} to keep rows"
        )
    return 0


def transpose_option(prefix):
    """The option that reads columns as samples, in one file if its options have a prefix."""
    return f"--transpose {shlex.quote(prefix[:-1])}" if prefix else "--transpose"


def _is_id_name(name):
    """Whether a column of this name has ids, or names of features."""
    return any(form.fullmatch(name) for form in (ID_NAME, NAMELESS, FEATURE_NAMES))


# ------------------------------------------------------------------------------------------ cells


def as_text(cell):
    """The text of a cell; numbers without decimals are integers."""
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)


def is_number(text):
    """Whether a text is a number in some notation."""
    return bool(NUMBER.fullmatch(text) or MARKED.fullmatch(text))


def _ambiguous_cells(column):
    """Cells with a point, by row, if in all cells of a column points may separate thousands."""
    cells = {i: cell for i, cell in enumerate(_present_cells(column)) if cell is not None}
    for cell in cells.values():
        if not isinstance(cell, str) or not THOUSANDS.fullmatch(cell.strip()):
            return {}
    return {i: cell for i, cell in cells.items() if "." in cell}


def _parse_cell(cell, decimal):
    """The number in a cell or NaN, and its text or None if it is a number or missing.

    With the option --decimal, other marks separate thousands where these have their places.
    """
    if cell is None or isinstance(cell, Real):
        return np.nan if cell is None else cell, None
    text = str(cell).strip()
    number = text
    if decimal is not None:
        other = "," if decimal == "." else "."
        groups = rf"[+-]?[1-9]\d{{,2}}([{other} \u00a0\u202f])\d{{3}}(\1\d{{3}})*(\{decimal}\d+)?"
        match = re.fullmatch(groups, text, re.A)
        number = text.replace(match[1], "") if match else text.replace(other, "?")
        number = number.replace(decimal, ".")
    return (float(number), None) if NUMBER.fullmatch(number) else (np.nan, text)
