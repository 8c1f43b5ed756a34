"""One table: its header, its ids and its numbers, by the contract of docs/files.md."""

import csv
import gzip
import re
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from io import BytesIO, TextIOWrapper
from numbers import Number
from pathlib import Path

from .._utils.messages import import_extra
from ..views._frames import repeated, shown

TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
TABLES = (*TEXT, ".parquet", ".xlsx")
COMMA = str.maketrans({",": ".", ".": "?"})  # of cells with decimal commas
ID = re.compile(r"index|(?:.*[\s_.-])?id", re.IGNORECASE)  # names of a first column with ids


def kind_of(path):
    """The suffix of a file, without .gz."""
    return Path(str(path).removesuffix(".gz")).suffix.lower()


@contextmanager
def errors_of(path):
    """Add the name of the file to all errors."""
    try:
        yield
    except ImportError:
        raise
    except FileNotFoundError as error:  # not all parsers say what this is
        raise ValueError(f"{path}: No such file or directory") from error
    except UnicodeError as error:
        raise ValueError(f"{path} is not a text in UTF-8: save it as UTF-8") from error
    except Exception as error:  # parsers of damaged files may raise any error
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise ValueError(f"{path}: {error or type(error).__name__}") from error


def read_table(path, options, label=None):
    """A data frame of the columns of a table; ids are its index, which then has a name.

    Parameters
    ----------
    path : str
    options : namespace
        With the attributes ``id_column``, a list of names or None, ``sep`` and ``decimal``.
    label : str, optional
        Name of a column with labels, which has no ids.
    """
    pandas = import_extra("pandas", "a table", "'mvsc-fast[files]'")
    if kind_of(path) == ".parquet":
        frame = pandas.read_parquet(path)
        plain = pandas.RangeIndex(len(frame))
        has_ids = frame.index.names != [None] or not frame.index.equals(plain)
        frame = frame.reset_index() if has_ids else frame
        names = [str(name) for name in frame.columns]
    else:
        has_ids, (frame, names, read) = False, _parsed(path, options, pandas)
    _check_names(frame, names, kind_of(path) == ".parquet")

    # The frame has the names of the file, where pandas may have changed some.
    frame.columns = names
    place = _place_of_ids(frame, options.id_column, label, has_ids)
    if place is None:
        return frame
    name = names[place]
    if options.id_column == ["none"]:
        return frame.drop(columns=name)
    if kind_of(path) == ".parquet":
        ids = frame[name].astype(object).map(str, na_action="ignore").fillna("")
    else:  # the text of the cells, which pandas has converted
        ids = read(usecols=[place], dtype=str, keep_default_na=False).iloc[:, 0]
    _check_ids(ids, name)
    # A column without a name beside that of the ids has numbers of rows.
    return frame.drop(columns={name, ""}.intersection(names)).set_index(ids.rename(name or "id"))


def _parsed(path, options, pandas):
    """A data frame, the names in its header, and the function that reads the file."""
    decimal = options.decimal or "."
    if kind_of(path) == ".xlsx":
        sep, text = ",", _text_of_excel(path, decimal, pandas)
    else:
        sep = (options.sep or TEXT[kind_of(path)]).replace(r"\t", "\t")
        # The file is read once, as it may be a pipe. Empty lines at its end are no samples.
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as stream:
            text = stream.read()
        end = len(text.rstrip(b"\r\n "))
        text = text[:end] + re.split(rb"[\r\n]", text[end:], maxsplit=1)[0]
    names = _header_of_equal_rows(text, sep)
    form = {"sep": sep, "decimal": decimal, "index_col": False, "low_memory": False}

    def read(**columns):
        return pandas.read_csv(BytesIO(text), **form, **columns)

    return read(), names, read


def _text_of_excel(path, decimal, pandas):
    """The first sheet of a file of Excel as a text, so that both are read by the same rules."""
    form = {"header": None, "dtype": object, "keep_default_na": False, "engine": "openpyxl"}
    cells = pandas.read_excel(path, **form)

    def text_of(cell):
        # pandas makes integers of whole numbers, even of the largest, and NaN of errors.
        is_float = isinstance(cell, float) or (isinstance(cell, int) and abs(cell) >= 2**63)
        return str(float(cell)).replace(".", decimal).replace("nan", "") if is_float else cell

    cells = cells.apply(lambda column: column.map(text_of))
    return cells.to_csv(index=False, header=False).encode()


def _header_of_equal_rows(text, sep):
    """The first row of a text; raise ValueError if another one has more or fewer cells.

    pandas fills short rows with missing values, and shifts, cuts or skips others, in silence.
    """
    rows = csv.reader(TextIOWrapper(BytesIO(text), "utf-8-sig", newline=""), delimiter=sep)
    names = next(filter(None, rows), [])
    for number, row in enumerate(rows, 1):
        size = 0 if len(row) == 1 and row[0].isspace() else len(row)
        if size != len(names):
            cells = f"has {size} cells, and the header has {len(names)}: is --sep right?"
            raise ValueError(f"row {number} below the header {cells if size else 'is empty'}")
    return names


def _check_names(frame, names, is_parquet):
    """Raise ValueError if the first row does not name each column once, or no row is below it."""
    import pandas

    if not names or not len(frame):
        raise ValueError("there are no samples below a header with the names of the columns")
    # Whole numbers beside an id are names, such as those of samples; decimals are values.
    values = pandas.to_numeric(pandas.Series(names).str.replace(",", "."), errors="coerce")
    has_decimals = values[1:].notna().all() and (values[1:] % 1 > 0).any()
    if not is_parquet and (values.notna().all() or has_decimals):
        wrong = f"the first row has numbers ({shown(*names)}) in place of names"
        raise ValueError(f"{wrong}: add a row with the names of the columns")
    if "" in names[1:]:
        raise ValueError(f"column {names.index('', 1) + 1} has no name: name it or remove it")
    if len(repeats := repeated(pandas.Index(names))):
        raise ValueError(f"the header has a name twice, {shown(*repeats)}: rename or remove one")


def _place_of_ids(frame, id_columns, label, has_ids):
    """The position of the column with the ids: that of the user, or the first one, or None."""
    names = list(frame)
    if id_columns and id_columns != ["none"]:
        named = [name for name in names if name in id_columns]
        if len(named) != 1:
            there = f"{len(named)} of the columns {shown(*id_columns)} are there, expected one"
            raise ValueError(f"--id-column: {there}{'' if named else nearest(id_columns, names)}")
        return names.index(named[0])
    # Ids are beside another column, and known labels are no ids.
    if len(names) == 1:
        return None
    place = 1 if names[0] == label else 0
    cells = frame[names[place]].dropna().astype(object)
    has_text = not cells.map(lambda cell: isinstance(cell, Number)).all()
    return place if has_ids or has_text or not names[place] or ID.fullmatch(names[place]) else None


def _check_ids(ids, name):
    """Raise ValueError unless each sample has an id of its own."""
    wrong = (ids.duplicated() | (ids.str.strip() == "")).to_numpy()
    if wrong.any():
        row = wrong.argmax()
        what = f"has {ids.iloc[row]!r} before, and again" if ids.iloc[row].strip() else "is empty"
        place = f"the column of ids {name!r} {what} in row {row + 1}"
        raise ValueError(f"{place}: remove the row, change its id, or name ids with --id-column")


def nearest(absent, names):
    """The end of a message: the name that is nearest to the first absent one, or some names."""
    by_case = {name.casefold(): name for name in names}
    for match in get_close_matches(absent[0].casefold(), by_case, 1):
        return f"; the nearest name to {absent[0]!r} is {by_case[match]!r}"
    return f"; there are {shown(*names)}"


def selected(names, text, known):
    """The names that a text such as "height,w*,!weight" selects; each must be among the known."""
    chosen, excluded = [], set()
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        pattern = part.removeprefix("!")
        if not any(name == pattern or fnmatchcase(name, pattern) for name in known):
            raise ValueError(f"--columns: no column {pattern!r}{nearest([pattern], known)}")
        matches = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if part == pattern:
            chosen += matches
        else:
            excluded.update(matches)
    # A text that only excludes starts from all columns.
    if all(part.startswith("!") for part in parts):
        chosen = names
    return [name for name in dict.fromkeys(chosen) if name not in excluded]


def numbers(frame, decimal=None, is_turned=False):
    """A data frame of numbers; raise ValueError that names the first cell that is none.

    Columns of a table that is turned are samples, which --columns does not select.
    """
    import pandas

    if not frame.shape[1]:
        raise ValueError("there are no columns of features: are --sep and --columns right?")
    values, refused = frame.copy(deep=False), {}
    for name, column in frame.items():
        if column.dtype.kind in "fiub":
            continue
        cells = column.astype(object)
        if decimal == ",":  # a point is then no decimal mark
            cells = cells.map(lambda cell: cell.translate(COMMA) if isinstance(cell, str) else cell)
        values[name] = pandas.to_numeric(cells, errors="coerce")
        is_text = (values[name].isna() & column.notna()).to_numpy()
        if is_text.any():
            refused[name] = is_text.argmax()
    if not refused:
        return values
    # The first cell, and all columns, because each of them would be an error of its own.
    name, row = next(iter(refused.items()))
    cell = str(frame[name].iloc[row])[:40]
    sample = "" if frame.index.name is None else f" ({frame.index[row]!r})"
    names = ",".join(f"!{name}" for name in list(refused)[:20]) + ",..." * (len(refused) > 20)
    remedy = f"exclude such columns with --columns '{names}', or name ids with --id-column"
    if is_turned:
        remedy = "check --transpose, or remove the row or column"
    where = f"row {row + 1}{sample} of column {name[:40]!r} is {cell!r}"
    raise ValueError(f"{where}, not a number: check --sep and --decimal, {remedy}")
