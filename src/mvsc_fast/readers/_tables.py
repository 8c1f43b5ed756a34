"""Tables of samples in text files, Parquet and Excel: their numbers, and the ids of their rows."""

import warnings
from typing import NamedTuple

import numpy as np

from ._id_columns import columns_named, id_column_of, ids_of, is_number
from ._text_tables import (
    FALLBACK_ENCODING,
    ID_NAME,
    TextFile,
    column_title,
    first_fault,
    header_of,
    layout_of,
    locate,
)

LABEL_NAMES = ("class", "cluster", "gt", "label", "labels", "target", "truth", "y")
NEEDS_PANDAS = "{} needs pandas: pip install mvsc_fast[files]"


class Table(NamedTuple):
    """Features of samples, and who these are.

    Attributes
    ----------
    name : str
    values : DataFrame, or ndarray where pandas is not installed, of shape (n, d)
        The ids are its index, where it has them.
    ids : ndarray of shape (n,) or None
    id_name : str
    notes : list of str
        What was decided on the way.
    """

    name: str
    values: object
    ids: np.ndarray | None
    id_name: str
    notes: list


class Raw(NamedTuple):
    """A table as a file holds it.

    Attributes
    ----------
    name : str
    columns : list of ndarray of shape (n,)
        Numbers, or objects where a column has text.
    names : list of str or None
    where : callable
        ``where(row, column)`` tells where an editor shows a cell.
    fault : callable
        ``fault(ids)`` is the first cell that is no number, but for a column of ids, or None.
    as_text : callable
        ``as_text(column)`` is an array of the strings of a column.
    """

    name: str
    columns: list
    names: list | None
    where: object
    fault: object
    as_text: object

    def title(self, k):
        return column_title(k, self.names)


def pandas_or_none():
    """The module pandas, or None where it is not installed."""
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def read_table(path, kind, *, content=None, id_column="auto", columns=None):
    """The `Table` of a file.

    Parameters
    ----------
    path : Path or str
    kind : {"text", "parquet", "excel"}
    content : bytes, optional
        Instead of those of a text file.
    id_column : str, default="auto"
        Name or number (from 1) of the column with ids; "none" where there is none; "auto"
        recognises it, see `_id_columns.ids_among`.
    columns : str, optional
        The features: names, of which a star may end the beginning, numbers from 1, and ranges of
        these, separated by commas.
    """
    pandas = pandas_or_none()
    if pandas is None and kind != "text":
        raise ImportError(NEEDS_PANDAS.format(f"{path}: {kind}"))
    notes = []
    if kind == "text":
        raw = _raw_text(TextFile(path, content), pandas, notes)
        index = None
    else:
        raw, index = {"parquet": _raw_parquet, "excel": _raw_excel}[kind](path, pandas, notes)
    d = len(raw.columns)
    chosen = None if columns is None else columns_named(columns, raw.names, d, raw.name)
    ids = None
    if index is not None and id_column == "auto":
        ids, id_name = index.to_numpy(), str(index.name or "id")
        notes.append(f"{raw.name}: ids are those of its index")
    else:
        k = id_column_of(raw, id_column, chosen, notes)
        if k is not None:
            ids, id_name = ids_of(raw, k), raw.names[k] if raw.names and raw.names[k] else "id"
        if chosen is None:
            chosen = [j for j in range(d) if j != k]
            notes += [
                f"{raw.name}: {raw.title(j)} is taken as a feature; --columns leaves it out"
                for j in chosen
                if raw.names and raw.names[j].lower() in LABEL_NAMES
            ]
        elif k in chosen:
            raise ValueError(f"{raw.name}: {raw.title(k)} has ids and is among --columns")
    if chosen is None:
        chosen = list(range(d))
    X = _numbers(raw, chosen)
    names = None if raw.names is None else [raw.names[j] or str(j + 1) for j in chosen]
    if pandas is not None:
        index = None if ids is None else pandas.Index(ids, name=id_name)
        X = pandas.DataFrame(X, columns=names, index=index)
    return Table(raw.name, X, ids, "sample" if ids is None else id_name, notes)


# ------------------------------------------------------------------------------------ three kinds


def _raw_text(file, pandas, notes):
    name = str(file.path)
    layout = layout_of(file)
    if layout.encoding == FALLBACK_ENCODING:
        notes.append(f"{name} is not UTF-8: read as Windows-1252")
    if layout.decimal == ",":
        notes.append(f"{name}: commas are decimal points")
    read = _loaded if pandas is None else _parsed
    try:
        columns, as_text = read(file, layout, pandas)
    except (ValueError, UnicodeError) as error:
        width = None if layout.header is None else len(layout.header)
        start = locate(file, layout, 0)
        if start is None:
            raise ValueError(f"{name}: no numbers found") from error
        fault = first_fault(file, layout, width or len(start[1]))
        raise ValueError(f"{name}: {fault or str(error).split(';')[0]}") from error
    if not columns or len(columns[0]) == 0:
        raise ValueError(f"{name}: no numbers found")
    names = layout.header
    if names is not None and len(names) != len(columns):
        raise ValueError(
            f"{name}: the header has {len(names)} names, the samples have {len(columns)} cells"
        )

    def where(row, k):
        line, fields = locate(file, layout, row)
        if len(fields) != len(columns):
            return f"line {line}, which has {len(fields)} cells instead of {len(columns)}"
        return f"line {line}, {column_title(k, names)}"

    def fault(allowed):
        return first_fault(file, layout, len(columns), allowed)

    # A separator at the end of every line.
    empty = columns[-1].dtype.kind == "f" and np.isnan(columns[-1]).all()
    if len(columns) > 1 and empty and (names is None or names[-1] == ""):
        columns, names = columns[:-1], names and names[:-1]
    return Raw(name, columns, names, where, fault, as_text)


def _parsed(file, layout, pandas):
    """Columns of a text file by pandas."""
    options = {
        "sep": layout.separator or r"\s+",
        "header": None,
        "decimal": layout.decimal,
        "na_values": ["?"],
        "skipinitialspace": layout.separator != "\t",
    }

    def as_text(k):
        with file.text(layout.encoding, first=layout.first) as stream:
            read = pandas.read_csv(stream, usecols=[k], dtype=str, keep_default_na=False, **options)
        return read.iloc[:, 0].to_numpy(dtype=object)

    with file.text(layout.encoding, first=layout.first) as stream:
        frame = pandas.read_csv(stream, low_memory=False, **options)
    return [_column(frame[k], pandas) for k in frame.columns], as_text


def _loaded(file, layout, pandas):
    """Columns of a text file of plain numbers by NumPy."""
    if layout.decimal == ",":
        raise ImportError(NEEDS_PANDAS.format(f"{file.path}: decimal commas"))
    with file.text(layout.encoding, first=layout.first) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of empty files, an error elsewhere
        try:
            X = np.loadtxt(stream, delimiter=layout.separator, ndmin=2,
                           comments=None, quotechar='"')  # fmt: skip
        except ValueError as error:
            width = len(locate(file, layout, 0)[1])
            if first_fault(file, layout, width) is None or ID_NAME.fullmatch(
                (layout.header or ["-"])[0]
            ):
                raise ImportError(
                    NEEDS_PANDAS.format(f"{file.path}: a table with text or empty cells")
                ) from error
            raise
    return list(X.T), lambda k: np.char.mod("%d", X[:, k])


def _column(series, pandas):
    if series.dtype.kind in "iufb":
        return series.to_numpy()
    return series.to_numpy(dtype=object, na_value=None)


def _raw_parquet(path, pandas, notes):
    frame = pandas.read_parquet(path)
    index = None if isinstance(frame.index, pandas.RangeIndex) else frame.index
    names = [str(name) for name in frame.columns]
    return _raw_frame(path, frame, names, pandas, lambda row: f"row {row + 1}"), index


def _raw_excel(path, pandas, notes):
    with pandas.ExcelFile(path) as book:
        frame = pandas.read_excel(book, header=None)
        if len(book.sheet_names) > 1:
            notes.append(
                f"{path}: the first of {len(book.sheet_names)} sheets is read, "
                f"{book.sheet_names[0]!r}: save another one that is a view as a file of its own"
            )
    frame = frame.dropna(how="all")
    if len(frame) == 0:
        raise ValueError(f"{path}: no numbers found")
    head = frame.iloc[:50].astype(object)
    records = [["" if pandas.isna(cell) else str(cell) for cell in row]
               for row in head.itertuples(index=False)]  # fmt: skip
    names = header_of(records, is_number, str(path))
    if names is not None:
        frame = frame.iloc[1:]
    rows = frame.index.to_numpy()
    frame = frame.reset_index(drop=True).infer_objects()
    return _raw_frame(path, frame, names, pandas, lambda row: f"row {rows[row] + 1}"), None


def _raw_frame(path, frame, names, pandas, row_title):
    """The `Raw` of a data frame."""
    columns = [_column(frame.iloc[:, k], pandas) for k in range(frame.shape[1])]

    def where(row, k):
        return f"{row_title(row)}, {column_title(k, names)}"

    def fault(allowed):
        for k, column in enumerate(columns):
            if k not in allowed and column.dtype == object:
                for row, cell in enumerate(column):
                    if cell is not None and not is_number(str(cell)):
                        return f"{where(row, k)} is {str(cell)!r}, no number"
        return None

    def as_text(k):
        return np.array([str(cell) for cell in columns[k]], dtype=object)

    return Raw(str(path), columns, names, where, fault, as_text)


def _numbers(raw, chosen):
    """The matrix of some columns; NaN in rows that are empty as a whole."""
    if not chosen:
        raise ValueError(f"{raw.name}: no numbers found beside the ids")
    for j in chosen:
        column = raw.columns[j]
        if column.dtype == object and any(
            cell is not None and not is_number(str(cell)) for cell in column
        ):
            found = raw.fault(set(range(len(raw.columns))) - {j})
            numeric = sum(cell is not None and is_number(str(cell)) for cell in column)
            if 2 * numeric >= len(column):
                raise ValueError(f"{raw.name}: {found}")
            raise ValueError(
                f"{raw.name}: {raw.title(j)} holds text ({found}): leave it out by --columns, or "
                "make numbers of it"
            )
    X = np.empty((len(raw.columns[0]), len(chosen)))
    for out, j in zip(X.T, chosen, strict=True):
        column = raw.columns[j]
        if column.dtype == object:
            column = [np.nan if cell is None else float(cell) for cell in column]
        out[:] = column
    empty = np.isnan(X)
    partly = empty & ~empty.all(axis=1)[:, None]
    if partly.any():
        row, k = (int(one[0]) for one in np.nonzero(partly))
        raise ValueError(
            f"{raw.name}: {np.count_nonzero(partly)} cells are empty, the first in "
            f"{raw.where(row, chosen[k])}: fill them, or leave out such columns or samples"
        )
    return X
