"""Tables of text, Excel or Parquet as data frames, with the ids and numbers of docs/files.md."""

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import shlex
import warnings
import zipfile
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .._utils.messages import counted, import_extra
from ..preprocessing._table_columns import alike
from ..views._columns import ID_NAME
from ._notation import (
    MISSING,
    NUMBER,
    as_text,
    find_missing,
    has_point,
    is_missing,
    is_number,
    may_be_grouped,
    texts_of,
    with_numbers,
)

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
EXCEL = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
TABLE_END = re.compile(rb"\n!\w+_table_end\s*$", re.IGNORECASE)  # of GEO
SEPARATORS = "\t;,| "
N_HEAD = 1000  # number of rows that decide on ids
NAMELESS = re.compile(r"|unnamed: 0|index|x|\.\.\.1|row[ _.-]?names?", re.IGNORECASE)
FEATURE_NAMES = re.compile(
    r"hugo[ _.-]?symbol|gene(?:[ _.-].*|symbol)?|symbol|ensembl.*|id_ref|entrez.*|.*probe.*|cpg.*"
    r"|(?:feature|variable|metabolite)s?(?:[ _.-].*)?|data[ _.-]?matrix|otu.*",
    re.IGNORECASE,
)
ABOVE = re.compile(rb"(?:[#!].*\n|sep=.\r?\n|[ \t\r]*\n)*", re.IGNORECASE)  # above a table
ID_NUMBER = re.compile(r"0\d+|\d{16,}")
csv.field_size_limit(2**31 - 1)  # a row of a wide table is one field for other separators


class Reading(NamedTuple):
    """How the options say that a table is read."""

    header: bool = True
    decimal: str | None = None
    id_column: str | None = None
    id_name: Any = None  # of the column of ids in the fit
    transposed: bool = False  # then the ids are names of features
    prefix: str = ""  # of values of options that are for this file alone
    columns: list = []  # texts of --columns


@dataclass
class FileTable:
    """A table as its file has it, or turned so that samples are rows."""

    name: str  # of the file
    names: list  # of the columns of ``cells``
    cells: Any  # data frame of numbers, and text that is none, by the number of the row in the file
    words: dict  # the text of each column that has some, as series
    ids: Any  # series of text, with the name of its column, or None
    unit: str  # of the numbers of rows
    notes: list
    reading: Reading
    can_exclude: bool = True  # whether --columns can exclude some of its columns


def without_packing(path):
    """A path without .gz and the like."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def table_kind(path):
    """The suffix of a table without .gz, or None for other files."""
    suffix = without_packing(path).suffix.lower()
    is_packed = path.suffix.lower() != suffix
    return suffix if suffix in TEXT or not is_packed and suffix in (*EXCEL, *PARQUET) else None


def read_table(path, name, kind, reading):
    """The `FileTable` of a file."""
    pandas = import_extra("pandas", f"{name}: a table", '"mvsc-fast[files]"')
    read = _read_parquet if kind in PARQUET else _read_excel if kind in EXCEL else _read_text
    names, cells, id_column, notes = read(path, name, reading)

    # Ids are the text of their cells. Numbers become one matrix.
    ids = None
    if id_column is not None:
        ids = cells[id_column].astype(object)
        ids = ids.where(ids.notna(), "").map(as_text).rename(names[id_column] or "id")
    columns = {j: with_numbers(cells[j], reading.decimal) for j in cells if j != id_column}
    is_filled = pandas.DataFrame(columns, cells.index).notna()

    # Rows without content are samples that lack the view, but not those that end the table, nor are
    # columns without a name and a value.
    has_content = is_filled.any(axis=1)
    if ids is not None:  # NA may be an id, but not of a row without a value
        has_content |= ~find_missing(ids) if columns else ids != ""
    n = np.flatnonzero(has_content).max(initial=-1) + 1
    if n == 0:
        raise ValueError(f"{name} has names of columns, but no samples")
    used = [j for j, has_value in is_filled.any().items() if names[j] or has_value]
    columns = {k: columns[j][:n] for k, j in enumerate(used)}

    # Columns with text keep it beside their numbers.
    words = {k: texts_of(column) for k, column in columns.items() if column.dtype.kind != "f"}
    titles = [names[j] or str(j + 1) for j in used]
    cells, ids = pandas.DataFrame(columns, cells.index[:n]), None if ids is None else ids[:n]
    unit = "line" if read is _read_text else "row"
    return FileTable(name, titles, cells, words, ids, unit, notes, reading)


# ---------------------------------------------------------------------------------------- formats
# A format gives the names of the columns, "" for none, a data frame of the cells by the number of
# the row and the position of the column, the position of the ids or None, and notes.


def _read_text(path, name, reading):
    import pandas

    with PACKED.get(path.suffix.lower(), open)(path, "rb") as file:
        content = TABLE_END.sub(b"\n", _as_utf8(file.read(), name))
    # pandas leaves to its caller: lines above, separator, header and width of rows.
    above = ABOVE.match(content)[0]
    content, first_line = content[len(above) :], above.count(b"\n") + 1
    separator = _separator(content)
    header, row = _first_rows(content, separator)
    has_comments = b"#" in above or b"!" in above
    below = ", below lines with # or !, which are no header," if has_comments else ""
    names = _column_names(header, f"{name}: line {first_line}{below}", reading)
    if reading.header and len(row) == len(names) + 1 and row[-1].strip():
        # R does not name the column of the names of rows; a separator may also end these.
        names, content = ["", *names], f'""{separator}'.encode() + content
    lines = _lines(content, separator, len(names), first_line, name)[int(reading.header) :]
    options = {
        "sep": r"\s+" if separator == " " else separator,
        "names": range(len(names)),
        "header": 0 if reading.header else None,
        "skipinitialspace": separator != "\t",
        "keep_default_na": False,
        "na_values": MISSING,
        "decimal": reading.decimal or ".",
    }
    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # later versions always round correctly

    # Ids stay text, as 041 and 41 differ, as do columns whose points may separate thousands.
    head_options = {**options, "dtype": str, "nrows": N_HEAD, "low_memory": False}
    head = pandas.read_csv(io.BytesIO(content), **head_options)
    id_column = _find_ids(name, names, head, reading)
    whole = [j for j in head if may_be_grouped(head[j], reading.decimal)]
    text = [j for j in whole if j != id_column and has_point(head[j])]
    text += [] if id_column is None else [id_column]

    def parse(text):
        with warnings.catch_warnings():
            # A part of a column may be text.
            warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
            return pandas.read_csv(io.BytesIO(content), **options, dtype=dict.fromkeys(text, str))

    cells = parse(text)
    # Whole numbers in the first rows do not tell what points in later ones mean.
    whole = [j for j in whole if cells[j].dtype.kind == "f"]
    if late := [j for j in whole if (cells[j] % 1 > 0).any()]:
        cells = parse(text + late)
    if id_column is not None and cells[id_column].isna().any():  # NA may be an id
        options |= {"usecols": [id_column], "na_values": [""], "dtype": str}
        cells[id_column] = pandas.read_csv(io.BytesIO(content), **options)[id_column]
    if len(cells) != len(lines):
        raise ValueError(f'{name} has a cell of "" alone, or a quotation mark that is not closed')
    notes = []
    if has_comments:
        notes = [f"{name}: {counted(first_line - 1, 'line')} above the table skipped"]
    return names, cells.set_axis(lines), id_column, notes


def _as_utf8(content, name):
    """A text without the mark of UTF-8; raise ValueError if it has another encoding."""
    try:
        content.decode()
    except UnicodeDecodeError:
        content = b"\0"
    if b"\0" in content:
        raise ValueError(
            f"{name} is not text in UTF-8: save it in this encoding; a packed file needs its "
            "suffix, such as .gz"
        )
    return content.removeprefix(codecs.BOM_UTF8)


def _rows(content, separator, first_line=1):
    """The line of each row that is not blank, and its cells."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    lines = map(str.strip, lines) if separator == " " else lines
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t")
    line = first_line
    for row in reader:
        if len(row) > 1 or row and row[0].strip():
            yield line, row
        line = first_line + reader.line_num  # a cell in quotation marks may have several lines


def _separator(content):
    """The first separator that divides two rows into equally many cells.

    The header may lack the name of the ids; one of a single cell is the last choice. If none fits,
    the one that gives most cells, except a blank.
    """
    fitting, n_cells = {}, {}
    for separator in SEPARATORS:
        header, row = _first_rows(content, separator)
        if separator == "," and len(header) == 1 and is_number(",".join(row)):
            continue  # a decimal comma in a single column
        if separator == " " and len(row) > len(header) == 1 and not _has_row_names(content):
            continue  # words of a single column
        if len(row) > 1 and len(row) - len(header) in (0, 1):
            fitting[separator] = len(header) > 1
        if separator != " ":
            n_cells[separator] = len(row)
    choices = fitting or n_cells
    return max(choices, key=choices.get)


def _has_row_names(content):
    """Whether the blank in the rows below a single name divides names of rows, as R writes them."""
    rows = [row for _, row in islice(_rows(content, " "), 1, N_HEAD)]
    if content.startswith(b'"') or any(is_number(cell) or is_missing(cell) for cell in rows[0]):
        return True
    return all(len(row) == 2 for row in rows) and len({row[0] for row in rows}) == len(rows)


def _first_rows(content, separator):
    """The cells of the first two rows; the only row counts twice."""
    rows = [row for _, row in islice(_rows(content, separator), 2)]
    if not rows:
        raise ValueError("the file is empty")
    return rows[0], rows[-1]


def _lines(content, separator, width, first_line, name):
    """The line of each row; raise ValueError for rows of another width."""
    lines = []
    for line, row in _rows(content, separator, first_line):
        if len(row) != width:
            raise ValueError(
                f"{name}: line {line} has {counted(len(row), 'cell')}, but the table has "
                f"{counted(width, 'column')}: correct this line or, if a title is above the names "
                "of the columns, remove it"
            )
        lines.append(line)
    return lines


def _column_names(header, place, reading):
    """The names in the first row; raise ValueError if it may be a sample."""
    if not reading.header:
        return [""] * len(header)
    names = list(map(str.strip, header))
    numbers = list(filter(is_number, names))
    # Numbers are names if the first cell, or the user, tells which column has the ids.
    is_told = _is_id_name(names[0]) and len(numbers) < len(names)
    if numbers and not is_told and reading.id_column is None:
        raise ValueError(
            f"{place} has numbers ({', '.join(numbers[:3])}, ...) and may be a sample or names of "
            "columns: --no-header reads it as a sample, --id-column NAME, or none, as names; known "
            "labels need a header"
        )
    if len(names) > 2 and names[0] and not any(names[1:]) and reading.id_column is None:
        raise ValueError(
            f"{place} names 1 of {len(names)} columns, {names[0]!r}: the first row must have their "
            "names, without a title"
        )
    return names


def _read_excel(path, name, reading):
    """The only sheet that is not empty, whose numbers need no notation."""
    import pandas

    options = {"header": None, "dtype": object, "keep_default_na": False, "na_values": [""]}
    try:
        sheets = pandas.read_excel(path, sheet_name=None, engine="openpyxl", **options)
    except zipfile.BadZipFile as error:
        raise ValueError(
            f"{name} is no Excel file, or it is damaged: a text table needs the suffix .csv or .tsv"
        ) from error
    sheets = {title: cells for title, cells in sheets.items() if cells.notna().any(axis=None)}
    if not sheets:
        raise ValueError(f"{name} is empty")
    if len(sheets) != 1:
        raise ValueError(
            f"{name} has {len(sheets)} sheets that are not empty ({', '.join(list(sheets)[:8])}): "
            "save each view as a separate file"
        )
    cells = next(iter(sheets.values()))
    cells = cells.loc[:, cells.notna().any().cummax()]  # it may begin in any column
    cells = cells.set_axis(cells.index + 1).set_axis(range(cells.shape[1]), axis=1)
    # The table begins at the first row with content; its rows have the numbers of the sheet.
    cells = cells[cells.notna().any(axis=1).to_numpy().argmax() :]
    header = cells.iloc[0].map(as_text, na_action="ignore").fillna("").tolist()
    names = _column_names(header, f"{name}: row {cells.index[0]}", reading)
    cells = cells[int(reading.header) :]
    return names, cells, _find_ids(name, names, cells[:N_HEAD], reading), []


def _read_parquet(path, name, reading):
    import pandas

    if not reading.header:
        raise ValueError(f"--no-header is for text and Excel: the columns of {name} have names")
    cells = pandas.read_parquet(path, engine="pyarrow")
    if not isinstance(cells.index, pandas.RangeIndex) or cells.index.name is not None:
        cells = cells.rename_axis([title or "" for title in cells.index.names])
        cells = cells.reset_index(allow_duplicates=True)
    names = list(map(str, cells))
    cells = cells.set_axis(range(1, len(cells) + 1)).set_axis(range(len(names)), axis=1)
    for j in [j for j in cells if cells[j].dtype.kind == "O"]:  # text of some programs is of bytes
        cells[j] = cells[j].map(
            lambda cell: cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell
        )
    return names, cells, _find_ids(name, names, cells[:N_HEAD], reading), []


# -------------------------------------------------------------------------------------------- ids


def _find_ids(name, names, head, reading):
    """The position of the column of ids, or of the names of features in transposed tables."""
    # The user, then the model, then the first column decide.
    option, titles = reading.id_column, [title or str(j) for j, title in enumerate(names, 1)]
    if option is None and reading.id_name in names:
        option = reading.id_name
    if option is not None:
        if option not in (*titles, "none"):
            raise ValueError(
                f"{name}: there is no column {option!r}{alike(option, titles)}; --id-column "
                "FILE:NAME is for one file"
            )
        return None if option == "none" else titles.index(option)
    # Text is an id; integers are ids only under a name, as they may be a feature.
    texts = [as_text(cell).strip() for cell in head[0].dropna() if not is_missing(cell)]
    numbers = list(filter(is_number, texts))
    if not all(NUMBER.fullmatch(text) and float(text).is_integer() for text in numbers):
        return None
    has_text = len(numbers) < len(texts) or any(map(ID_NUMBER.fullmatch, texts))
    if not has_text and not (texts and any(names) and _is_id_name(names[0])):
        return None
    if FEATURE_NAMES.fullmatch(names[0]) and not reading.transposed:
        raise ValueError(
            f"{name}: column {names[0]!r} has names of features: use "
            f"--transpose {shlex.quote(name)} to read columns as samples, or --id-column "
            f"{shlex.quote(reading.prefix + names[0])} to keep rows"
        )
    return 0


def _is_id_name(name):
    """Whether a column of this name has ids, or names of features, and is none of them (id_1)."""
    is_name = ID_NAME.fullmatch(name) or FEATURE_NAMES.fullmatch(name)
    return bool(NAMELESS.fullmatch(name) or is_name and not re.search(r"\d", name))
