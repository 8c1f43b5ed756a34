"""Tables: their names, numbers and text, and the positions of cells in the file."""

import re
import sys
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress, islice

import numpy as np
from sklearn.utils import gen_batches

from .._utils.messages import counted, import_extra
from ._scratch import BLOCK, matrix_of, new_store
from ._text import HEAD, cell_of

PARQUET = (".parquet", ".pq")
MISSING = frozenset(("", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>"))
LOGICAL = {"true": 1.0, "false": 0.0}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:e[+-]?\d+)?", re.IGNORECASE)
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:e[+-]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
CODE = re.compile(r"0\d+|\d{16,}")  # looks like an id, not like a number
CELLS = 2**20  # number of cells of a block of a Parquet file
ENDS = 20  # number of columns at either end of a table in which integers may be ids
ALL = "*"  # all files, columns or tables, for an option that selects some
ID_NAME = re.compile(
    r"|unnamed: 0|index|idx|row_?names?|u?id|ids|mrn|patient|sample(?:[ _.-]?(?:id|name))?"
    r"|.+[ _.-]id|id[ _.-].+",
    re.IGNORECASE,
)
# Names of numeric columns that precede the samples in a table with genes as rows.
ANNOTATION = re.compile(
    r"|(?:.*[ _.-])?id|entrez.*|start|end|strand|length|position", re.IGNORECASE
)


@dataclass
class Table:
    """A table with samples as rows."""

    name: str  # of the file
    names: list  # of the columns; empty without a header
    numbers: np.ndarray  # values of the cells; NaN for empty cells and text
    text: dict  # cells of the columns that may contain ids, as they are in the file, by column
    words: dict  # row and content of the first text, by column
    rows: list  # their places in the file, such as "line 3"
    notes: list = field(default_factory=list)
    places: list | None = None  # of the columns of a transposed table, such as "line 3"

    @property
    def transposed(self):
        """Whether the rows of the file are columns."""
        return self.places is not None

    def label(self, k):
        """Name or number of a column, as options select it."""
        return self.names[k] or str(k + 1)

    def title(self, k):
        """Name of a column in messages: column 3 ('height')."""
        place = self.places[k] if self.transposed else f"column {k + 1}"
        return place + (f" ({self.names[k]!r})" if self.names[k] else "")

    def where(self, row, k):
        """Position of a cell in the file, for messages."""
        return f"{self.rows[row]}, {self.title(k)}"

    def has_only_text(self, k):
        """Whether a column contains text and no number."""
        return k in self.words and bool(np.isnan(self.numbers[:, k]).all())

    @cached_property
    def filled(self):
        """Indices of the rows that are not entirely empty."""
        rows = np.concatenate(
            [
                ~np.isnan(self.numbers[part]).all(axis=1)
                for part in gen_batches(len(self.rows), BLOCK)
            ]
        )
        for cells in self.text.values():
            for row in np.flatnonzero(~rows).tolist():
                rows[row] = not is_missing(cells[row])
        return np.flatnonzero(rows)

    def turned(self):
        """The transposed table, whose first column contains the names of the samples."""
        front = 0
        while front < len(self.names) - 1 and (
            self.has_only_text(front)
            or (front == 0 and 0 in self.words)
            or any(self.names)
            and ANNOTATION.fullmatch(self.names[front])
        ):
            front += 1
        for k in range(front, len(self.names)):
            if k in self.words:
                row, cell = self.words[k]
                raise ValueError(
                    f"{self.where(row, k)} is {cell!r}, not a number; --transpose takes all "
                    f"columns from {self.title(front)} on as samples"
                )
        names = [""] * len(self.rows)
        for k in reversed(range(front)):
            cells = self.text.get(k) or map(cell_of, self.numbers[:, k].tolist())
            names = [
                name if is_missing(cell) else cell for cell, name in zip(cells, names, strict=True)
            ]
        numbers, text, words, places = self.numbers[:, front:].T, {}, {}, self.rows
        if any(self.names):
            numbers = np.hstack([np.full((len(numbers), 1), np.nan), numbers])
            names, places, text = ["", *names], ["the header", *places], {0: self.names[front:]}
            words = {0: (0, text[0][0])}
        rows = [f"column {k + 1}" for k in range(front, len(self.names))]
        return Table(self.name, names, numbers, text, words, rows, self.notes, places)


def is_missing(cell):
    """Whether a cell is empty or contains a code for a missing value."""
    return cell.strip().lower() in MISSING


def _first(cells):
    """The row and the content of the first cell that is not missing, or None."""
    return next(((row, one) for row, one in enumerate(cells) if not is_missing(one)), None)


def _value(cell, number=float):
    """The number in a cell, 1 for true and 0 for false, or None."""
    cell = cell.strip()
    if not cell.isascii() or "_" in cell:  # which Python accepts in numbers
        return None
    try:
        return number(cell)
    except ValueError:
        return LOGICAL.get(cell.lower())


def table_of(name, rows, notes=(), comments=(), *, keep="", lazy=False):
    """The `Table` of the rows of a file, which are pairs (place, cells).

    ``comments`` are such pairs above the table, the last of which may be its header. ``keep`` is
    the name or number of a column whose text is kept, or "*"; ``lazy`` writes numbers to a file.
    """
    head = list(islice(rows, HEAD + 1))
    sample = [cells for _, cells in head if any(cell.strip() for cell in cells)]
    if not sample:
        raise ValueError(f"{name} is empty")
    comma = _has_decimal_comma([cell for cells in sample for cell in cells])
    number = _decimal_comma if comma else float
    names, skipped = _commented_header(sample, number, comments), len(comments)
    if names:
        skipped -= 1
    else:
        place, widths = head[0][0], [len(cells) for cells in sample]
        if len(widths) > 1 and widths[1] - widths[0] not in (0, 1):
            below = next(one for one, cells in head if cells is sample[1])
            raise ValueError(
                f"{name}: {place} has {counted(widths[0], 'cell')}, {below} has {widths[1]}: "
                "the first row must contain the names of the columns, without a title above it"
            )
        if _is_header(sample, number, place):
            names, head, sample = [cell.strip() for cell in sample[0]], head[1:], sample[1:]
    width = len(sample[0]) if sample else len(names)
    ends = (
        width > 1
        and not (names[width - 1 :] or [""])[0]
        and not any(cells[-1].strip() for cells in sample)
    )  # every row ends with a separator
    width -= ends
    if len(names) < width:  # R writes no name for the column of row names
        names = ["", *names] if names else [""] * width
    names = names[:width]
    cells = [cells[:width] for cells in sample if len(cells) >= width]
    text = {k: [] for k in _kept(names, cells, number, keep)}
    known = [k for k in text if _is_text([row[k] for row in cells], number)]
    words, places, store = {}, [], new_store(lazy)
    for place, cells in chain(head, rows):
        if ends and not cells[-1].strip():
            cells = cells[:-1]
        if len(cells) != width:
            if not any(cell.strip() for cell in cells):
                continue  # spreadsheets write empty rows below a table
            raise ValueError(
                f"{name}: {place} has {counted(len(cells), 'cell')}, the first sample has {width}"
            )
        for k, column in text.items():
            column.append(sys.intern(cells[k]))
        for k in known:
            cells[k] = "nan"
        try:
            line = "".join(cells)
            if "_" in line or not line.isascii():
                raise ValueError
            values = np.fromiter(map(number, cells), float, width)
        except ValueError:
            values = np.full(width, np.nan)
            for k, cell in enumerate(cells):
                if (value := _value(cell, number)) is not None:
                    values[k] = value
                elif not is_missing(cell):
                    words.setdefault(k, (len(places), cell))
        store.write(values)
        places.append(place)
    if not places:
        raise ValueError(f"{name} has names of columns, but no samples")
    for k in known:
        words[k] = _first(text[k])
    notes = [*notes, *[f"{name}: commas are read as decimal points"] * comma]
    if skipped:
        notes.append(f"{name}: {counted(skipped, 'line')} above the table skipped as comments")
    return Table(name, names, matrix_of(store, float, width), text, words, places, notes)


def parquet_table(path, name, *, keep="", lazy=False):
    """The `Table` of a Parquet file, whose first columns are its index."""
    pyarrow = import_extra("pyarrow", f"{name}: Parquet")
    from pyarrow import parquet, types

    is_number = types.is_integer, types.is_floating, types.is_decimal, types.is_boolean
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        schema = file.schema_arrow
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        order = sorted(range(len(schema)), key=lambda j: schema.names[j] not in index)
        names = [re.sub(r"__index_level_\d+__", "", schema.names[j]) for j in order]
        kinds = [schema.types[j] for j in order]
        numeric = [any(one(kind) for one in is_number) for kind in kinds]
        single = all(map(types.is_float32, compress(kinds, numeric))) and any(numeric)
        dtype = np.dtype(np.float32 if single else np.float64)
        text, n, store = {}, 0, new_store(lazy)
        for batch in file.iter_batches(max(1, CELLS // max(1, len(names)))):
            columns = [batch.column(j) for j in order]
            if n == 0:
                head = zip(*(map(cell_of, A[:HEAD].to_pylist()) for A in columns), strict=True)
                text = {k: [] for k in _kept(names, list(head), float, keep)}
                text |= {k: [] for k in range(len(names)) if not numeric[k]}
            for k, cells in text.items():
                cells.extend(map(cell_of, columns[k].to_pylist()))
            block = np.full((len(batch), len(names)), np.nan, dtype)
            for k in compress(range(len(names)), numeric):
                block[:, k] = columns[k].cast("double", safe=False).to_numpy(zero_copy_only=False)
            store.write(block)
            n += len(batch)
    pyarrow.default_memory_pool().release_unused()
    if n == 0:
        raise ValueError(f"{name} has names of columns, but no samples")
    words = {k: _first(cells) for k, cells in text.items() if not numeric[k] and _first(cells)}
    X = matrix_of(store, dtype, len(names))
    return Table(name, names, X, text, words, [f"row {i + 1}" for i in range(n)])


# --------------------------------------------------------------------------------------- the head


def _kept(names, rows, number, keep):
    """Columns whose text is kept because it may be ids: text, and integers at the ends."""
    d = len(names)
    if keep == ALL:
        return range(d)
    kept = []
    for k, cells in enumerate(zip(*rows, strict=False)):
        near = k < ENDS or k >= d - ENDS
        values = [_value(cell, number) for cell in cells if near and not is_missing(cell)]
        if (
            k == 0
            or keep in (names[k] or None, str(k + 1))
            or names[k]
            and ID_NAME.fullmatch(names[k])
            or (near and all(one is None or not one % 1 for one in values))
            or _is_text(cells, number)
        ):
            kept.append(k)
    return kept


def _is_text(cells, number):
    """Whether more than half of some cells are text, or numbers that look like ids."""
    cells = [cell for cell in cells if not is_missing(cell)]
    text = [_value(cell, number) is None or CODE.fullmatch(cell.strip()) for cell in cells]
    return 2 * sum(map(bool, text)) > len(cells)


def _has_decimal_comma(cells):
    commas = [cell for cell in cells if "," in cell and DECIMAL_COMMA.fullmatch(cell.strip())]
    if not commas:
        return False
    point = next((cell for cell in cells if DECIMAL_POINT.fullmatch(cell.strip())), None)
    if point is not None:
        raise ValueError(
            f"{commas[0]!r} has a comma and {point!r} has a decimal point: use one decimal "
            "separator, and no thousands separators"
        )
    if all(THOUSANDS.fullmatch(cell.strip()) for cell in commas):
        raise ValueError(
            f"{commas[0]!r} may have a decimal comma or a thousands separator: write numbers "
            "without thousands separators"
        )
    return True


def _decimal_comma(cell):
    if "." in cell:
        raise ValueError(cell)
    return float(cell.replace(",", "."))


def _commented_header(rows, number, comments):
    """The names of the columns if the last comment above the table contains them, else []."""
    place, cells = comments[-1] if comments else ("", [])
    names = [cell.strip() for cell in cells]
    if len(names) != len(rows[0]) or names[0].startswith("!"):
        return []
    if not any(_value(cell, number) is not None for cell in rows[0]):
        return []  # the table has a header
    return names if _is_header([names, *rows], number, place) else []


def _is_header(rows, number, place):
    """Whether the first row contains the names of the columns."""
    first, rest = rows[0], rows[1:]
    numeric = [_value(cell, number) is not None for cell in first]
    text = [k for k, cell in enumerate(first) if not numeric[k] and not is_missing(cell)]
    if not any(numeric):
        return bool(text)
    names = _are_names(first[1:])
    if not text:
        counted = len(first) > 2 and first == [str(k) for k in range(len(first))]
        return names and (counted or not first[0].strip())
    if text == [0] and len(first) > 2 and names and rest:
        if ID_NAME.fullmatch(first[0]) or all(_value(row[0], number) is not None for row in rest):
            return True
        if len(first) > HEAD and not any(_are_names(row[1:]) for row in rest):
            return True
        raise ValueError(
            f"{place} may contain names or a sample, because its numbers are distinct. Rename the "
            "first column to id if it contains names, or add a header line if it is a sample"
        )
    for k in text:
        if all(len(row) <= k or _value(row[k], number) is not None for row in rest):
            raise ValueError(
                f"{place} has both numbers and text (field {k + 1} is {first[k]!r}): a header must "
                "contain only names, a sample only numbers"
            )
    return False


def _are_names(cells):
    """Whether numbers may be names: distinct integers, or many ascending numbers."""
    if not cells or None in map(_value, cells) or len(set(cells)) < len(cells):
        return False
    ascend = len(cells) > 5 and bool((np.diff([float(cell) for cell in cells]) > 0).all())
    return ascend or all(cell.strip().isdecimal() for cell in cells)
