"""Selection of the columns of a table that are features, and checks of their values."""

import re
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from .._utils.messages import counted
from ..preprocessing._table_columns import alike, positions_of
from ..views._frames import shown
from ..views._missing import MOST, gaps
from ._tables import ID_NAME

LABEL = re.compile(
    r"y|(?:.*[ _.-])?(?:class(?:es)?|clusters?|gt|labels?|targets?|truth|subtypes?|diagnos[ei]s"
    r"|outcomes?)|.*histolog.*",
    re.IGNORECASE,
)
CLASSES = 50  # maximum number of classes in a column of labels
SURVIVAL = re.compile(
    r"(?:os|dss|dfi|pfi|dfs|pfs|rfs)(?:[ _.-](?:time|status|event|days|months))?"
    r"|vital[ _.-]?status|.*survival.*|days[ _.-]to[ _.-](?:death|last[ _.-].*)",
    re.IGNORECASE,
)
# Numbers that many programs write for missing values.
CODES = [-99.0, *(sign * (10.0**k - 1) for k in range(3, 7) for sign in (-1, 1))]
CODES += [sign * code for code in (1e20, 1e30, 1e35, 2.0**31) for sign in (-1, 1)]
REPEATED = 3  # minimum number of occurrences of a code


class Selection(NamedTuple):
    """Columns of a table that may be features."""

    columns: list  # their positions
    named: set  # positions of columns selected by name or number, which therefore are not ids
    only_excludes: bool  # whether the rest is selected; ids and labels in it then raise an error


def selected(table, selection):
    """The `Selection` for a string such as "height,w*,4-9,!weight", a list of names, or None."""
    titles = [table.label(k) for k in range(len(table.names))]
    if isinstance(selection, list):
        places = {}
        for k in reversed(range(len(titles))):
            places.setdefault(titles[k], []).append(k)
        absent = [name for name in selection if name not in places]
        if absent:
            raise ValueError(f"{table.name} lacks columns of the model: {shown(*absent)}")
        found = [places[name].pop() for name in selection]  # a name may occur more than once
        return Selection(found, set(found), False)
    found, named, excluded, only_excludes = [], set(), set(), True
    for part in selection.split(",") if selection else ():
        one = part.strip().removeprefix("!")
        numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", one)
        new = [
            k
            for k, name in enumerate(table.names)
            if one and (name == one or fnmatchcase(name, one))
        ]
        if numbers and one not in table.names:
            low, high = int(numbers[1]), int(numbers[2] or numbers[1])
            if not 1 <= low <= high <= len(titles):
                raise ValueError(f"{table.name} has no columns {one}, it has {len(titles)} columns")
            new = range(low - 1, high)
        if part.strip().startswith("!"):
            excluded.update(new)
            continue
        only_excludes = False
        new = new or positions_of([one], titles, len(titles), table.name).tolist()
        named.update(new if "*" not in one else ())
        found += [k for k in new if k not in found]
    found = range(len(titles)) if only_excludes else found
    return Selection([k for k in found if k not in excluded], named, only_excludes)


def check_exclusions(columns, tables):
    """Raise ValueError if --columns excludes a column that no table has."""
    for one in (part.strip() for part in columns.split(",")):
        name = one.removeprefix("!")
        known = any(fnmatchcase(own, name) for table in tables for own in table.names)
        if one.startswith("!") and not known and not re.fullmatch(r"\d+(?:-\d+)?", name):
            raise ValueError(
                f"--columns {one}: there is no such column in "
                f"{' and '.join(table.name for table in tables)}{alike(name, tables[0].names)}"
            )


def features(table, id_column, selection, copies=()):
    """Positions of the features of a table; raise ValueError if they are no features.

    ``copies`` are columns with the same values as a column of another table.
    """
    if id_column in selection.named:
        raise ValueError(f"{table.name}: {table.title(id_column)} has ids, but is in --columns")
    chosen = [k for k in selection.columns if k != id_column]
    if selection.only_excludes:
        if id_column is not None and 0 in chosen and counts_rows(table):
            chosen.remove(0)
            table.notes.append(
                f"{table.name}: column 1 has no name and contains row numbers: it is ignored"
            )
        _check_no_ids(table, chosen, copies)
        _check_no_labels(table, chosen)
    if not chosen:
        raise ValueError(f"{table.name}: no numeric columns except the ids")
    _check_text(table, chosen)
    return chosen


def _exclusion(table, columns):
    """The option that excludes the given columns, of which at most five are named."""
    return f"--columns '{','.join('!' + table.label(k) for k in columns[:5])}'"


def _some(table, columns):
    """The title of the first of some columns with their number, and how they are excluded."""
    more = f" (and {len(columns) - 1} more)" if len(columns) > 1 else ""
    way = f"{_exclusion(table, columns)} excludes {'them' if more else 'it'}"
    return table.title(columns[0]) + more, way


def counts_rows(table):
    """Whether the first column has no name and contains row numbers, as in exported frames."""
    column = np.sort(table.numbers[table.filled, 0])
    nameless = any(table.names) and table.names[0].lower() in ("", "unnamed: 0")
    return nameless and np.array_equal(column, column[0] + np.arange(len(column)))


def _check_no_ids(table, chosen, copies):
    for k in chosen:
        named = table.names[k] and ID_NAME.fullmatch(table.names[k]) and not table.transposed
        if k in copies or named and (k in table.words or _whole(table, k)):
            raise ValueError(
                f"{table.name}: {table.title(k)} looks like ids, not like a feature: --id-column "
                f"{table.label(k)} uses it as ids, {_some(table, [k])[1]}, --columns '*' makes "
                "it a feature"
            )


def _whole(table, k):
    column = table.numbers[:, k]
    column = column[~np.isnan(column)]
    return bool((column == np.floor(column)).all())


def _check_no_labels(table, chosen):
    found = []
    for k in () if table.transposed else chosen:
        if SURVIVAL.fullmatch(table.names[k]):
            found.append(k)
        elif LABEL.fullmatch(table.names[k]):
            cells = table.text.get(k) or table.numbers[:, k].tolist()
            if len(set(cells)) <= min(CLASSES, max(2, len(cells) // 2)):
                found.append(k)
    if found:
        title, way = _some(table, found)
        if len(found) == len(chosen):
            way = f"remove the file, or use it with --scores {table.name}"
        raise ValueError(
            f"{table.name}: {title} looks like a label or an outcome, not like a feature: {way}, "
            "--columns '*' makes it a feature"
        )


def _check_text(table, chosen):
    """Raise ValueError if a column contains text, first for columns that also contain numbers."""
    found = [k for k in chosen if k in table.words]
    mixed = [k for k in found if not table.has_only_text(k)]
    if mixed:
        k = min(mixed, key=lambda k: table.words[k][0])
        row, cell = table.words[k]
        raise ValueError(
            f"{table.name}: {table.where(row, k)} is {cell!r}, not a number: correct it, leave it "
            f"empty if the value is missing, or exclude the column with {_exclusion(table, [k])}"
        )
    if found:
        (row, cell), (title, way) = table.words[found[0]], _some(table, found)
        raise ValueError(
            f"{table.name}: {title} contains text ({cell!r} in {table.rows[row]}): {way}; or "
            "encode text as numbers"
        )


def check_numbers(table, chosen, X, rows):
    """Raise ValueError for infinite cells, codes of missing values or many empty cells.

    Other empty cells are reported in the notes of the table, whose ``rows`` are in X.
    """

    def first(wrong):
        row, k = (int(one[0]) for one in np.nonzero(wrong))
        return table.where(rows[row], chosen[k])

    infinite = np.isinf(X)
    if infinite.any():
        raise ValueError(
            f"{table.name}: {_cells(infinite)} infinite, the first in {first(infinite)}: "
            "replace them with numbers, or exclude such columns or samples"
        )
    empty, gap = np.isnan(X), gaps(X)
    partly = empty & ~empty.all(axis=1, keepdims=True)
    columns = np.flatnonzero(empty.all(axis=0))
    if gap.share > MOST or gap.cells and len(columns):
        empty = ""
        if len(columns):
            option = _exclusion(table, [chosen[k] for k in columns])
            empty = f"; {counted(len(columns), 'column')} without any value: {option}"
        raise ValueError(
            f"{table.name}: {100 * gap.share:.3g} % of the cells are empty, the first in "
            f"{first(partly)}: fill them, or exclude such columns or samples (up to "
            f"{100 * MOST:g} % may be empty){empty}"
        )
    if gap.partial:
        table.notes.append(f"{table.name}: the first empty cell is in {first(partly)}")
    elif gap.rows:
        table.notes.append(
            f"{table.name}: {gap.rows} of {counted(len(X), 'sample')} have an empty row, which "
            "lacks this view"
        )
    _check_codes(table, X, first)
    names = [table.names[k] for k in chosen if table.names[k]]
    if twice := len(names) - len(set(names)):
        table.notes.append(f"{table.name}: {counted(twice, 'column')} with the name of another")


def _cells(where):
    count = np.count_nonzero(where)
    return "1 cell is" if count == 1 else f"{count} cells are"


def _check_codes(table, X, first):
    """Raise ValueError if a number far from others of its columns looks like a missing value."""
    for code in CODES:
        there = X == code
        columns = np.flatnonzero(there.any(axis=0))
        if not len(columns) or np.count_nonzero(there) < REPEATED:
            continue
        others = np.where(there[:, columns], np.nan, X[:, columns])
        if np.isnan(others).all(axis=0).any():
            continue
        low, high = np.nanmin(others, axis=0), np.nanmax(others, axis=0)
        off = np.maximum(low - code, code - high)
        if (off > np.maximum(high - low, 1.0)).all():
            raise ValueError(
                f"{table.name}: {_cells(there)} {code:.15g}, far from all other numbers of "
                f"{counted(len(columns), 'column')} ({low.min():.4g} to {high.max():.4g}), "
                f"the first in {first(there)}: if they represent missing values, replace them"
            )
