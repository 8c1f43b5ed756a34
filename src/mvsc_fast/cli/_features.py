"""What the columns of a table are: ids or features, and what is neither."""

import re
import shlex
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from .._utils.messages import counted
from ..preprocessing._table_columns import alike
from ..views._frames import shown
from ..views._missing import MOST, gaps
from ..views._suspects import ID_NAME, constant_columns, id_columns, outcome_columns
from ._notation import GROUPED, NUMBER, grouped
from ._tables import NAMELESS, as_text

CODE = re.compile(r"0\d+|\d{16,}")  # an id, although it is a number
COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
# Numbers that many programs write for missing values.
CODES = [-99.0, *(sign * (10.0**k - 1) for k in range(3, 7) for sign in (-1, 1))]
CODES += [sign * code for code in (1e20, 1e30, 1e35, 2.0**31) for sign in (-1, 1)]
MIN_CODES = 3  # minimum number of occurrences of a code

# ------------------------------------------------------------------------------------------- ids


def with_ids(table, option=None):
    """The table without its column of ids, and with the ids, which ``option`` may select."""
    if option == "none":
        return table
    if option is not None:
        k = select(table.names, option, table.name)[0][0]
        k = k if k in table.cells else None
    else:
        k, second = [*table.cells, None][:2]
        named = second is not None and table.names[second] and has_ids(table, second)
        if named and NAMELESS.fullmatch(table.names[k]) and is_counter(table, k):
            k = second
        elif not has_ids(table, k):
            k = None
    if k is None:
        return table
    cells = table.cells.dropna(how="all")
    ids = cells[k].map(as_text, na_action="ignore")
    if ids.isna().any():
        row = ids.index[ids.isna()][0]
        way = "is empty, but ids are needed"
        if row == cells.index[0]:
            way += "; if this is a second row of names, keep one of them"
        raise ValueError(f"{table.name}: {table.place(row, k)} {way}")
    check_distinct_ids(table, k, ids)
    table.notes.append(f"ids are {table.title(k)} of {table.name}")
    rest = cells.drop(columns=k)
    return replace(table, cells=rest, ids=ids.tolist(), id_name=table.names[k] or "id")


def check_distinct_ids(table, k, ids):
    repeated = ids[ids.duplicated()].unique().tolist()
    if repeated:
        rows = [f"{table.units[0]} {row}" for row in ids.index[ids == repeated[0]][:3]]
        more = f" ({len(repeated)} ids in all)" if len(repeated) > 1 else ""
        raise ValueError(
            f"{table.name}: ids in {table.title(k)} occur more than once: {repeated[0]!r} in "
            f"{' and '.join(rows)}{more}: keep one row for each, or use --id-column with another "
            "name or, if there are no ids, none"
        )


def has_ids(table, k):
    """Whether the first column has ids."""
    texts, name = table.texts(k), table.names[k]
    plain = [float(text) for text in texts if NUMBER.fullmatch(text)]
    numbers = [text for text in texts if NUMBER.fullmatch(text) or GROUPED.fullmatch(text)]
    whole = len(plain) == len(numbers) and all(map(float.is_integer, plain))
    if len(numbers) < len(texts) and (whole or 2 * len(numbers) < len(texts)):
        return True
    nameless = NAMELESS.fullmatch(name) and any(table.names.values())
    named = nameless or ID_NAME.fullmatch(name) or any(map(CODE.fullmatch, texts))
    return bool(named and whole and texts)


def check_hidden_ids(tables):
    """Raise ValueError if rows would correspond by position, although columns say otherwise."""
    tables_with_ids = [(table, table.ids) for table in tables if table.ids is not None]
    for table in tables:
        if table.ids is not None or len(tables) < 2:
            continue
        for k in table.cells:
            first = as_text(table.cells[k].iloc[0])
            for other, ids in tables_with_ids:
                if first not in ids or set(table.texts(k)) != set(ids):
                    continue
                if is_counter(table, k) and table.texts(k) == ids:
                    continue
                option = shlex.quote(table.prefix + table.label(k))
                raise ValueError(
                    f"{table.name}: {table.title(k)} has the ids of {other.name}: use "
                    f"--id-column {option}, or exclude the column"
                )
        # Integers that two files have in different orders are ids that nobody has named.
        k = next(iter(table.cells))
        texts = table.texts(k)
        if len(set(texts)) == len(texts) and all(map(str.isdecimal, texts)):
            tables_with_ids.append((table, texts))


def is_counter(table, k):
    """Whether a column counts the rows, from 0 or from 1."""
    values = table.numbers(k)
    if values is None or len(values) < 3 or values[0] not in (0, 1):
        return False
    return np.array_equal(values, values[0] + np.arange(len(values)))


def _without_counters(table, columns):
    """The columns that neither count the rows nor repeat the ids."""
    ids, counters = table.ids, []
    for k in columns if not table.transposed else ():
        first = table.cells[k].iloc[0]
        copy = ids and as_text(first) == ids[0]
        if is_counter(table, k) or copy and [*table.cells[k].map(as_text)] == ids:
            counters.append(k)
    if counters:
        titles = ", ".join(map(table.title, counters[:5]))
        what = "counts the rows or repeats the ids"
        table.notes.append(f"{table.name}: {titles} {what}, and is ignored")
    return [k for k in columns if k not in counters]


# ---------------------------------------------------------------------------- selection by options


def values_for(name, values, names):
    """The values of an option for the file of this name, and those for all files.

    Values for one of the files, which have these ``names``, begin with its name or the last part of
    its path, and a colon.
    """
    for_name, for_all = [], []
    for value in values or ():
        for owner in names:
            heads = (f"{owner}:", re.split(r"[/\\]", owner)[-1] + ":")
            if value.startswith(heads):
                head = next(head for head in heads if value.startswith(head))
                for_name += [value[len(head) :]] if owner == name else []
                break
        else:
            for_all.append(value)
    return for_name, for_all


def check_exclusions(texts, tables):
    """Raise ValueError if --columns excludes columns that no table has."""
    for part in (part.strip() for text in texts for part in text.split(",")):
        if not part.startswith("!") or not tables:
            continue
        n_kept = [len(select(table.names, part, "", True)[0]) for table in tables]
        if n_kept == [len(table.names) for table in tables]:
            select(tables[0].names, part, " and ".join(table.name for table in tables))


def select(names, selection, file, absent=False):
    """Columns that a text such as "height,w*,4-9,!weight" selects, and whether it only excludes.

    ``names`` are those of the columns, by number. Excluded columns may be ``absent``, as they are
    those of another file.
    """
    numbers = {k: int(name) if name.isdecimal() else -1 for k, name in names.items()}
    if max(numbers.values()) < 0:  # else numbers are names
        numbers = {k: k for k in names}
    selected, excluded, only_excludes = [], set(), True
    for part in map(str.strip, selection.split(",")):
        name = part.removeprefix("!")
        columns = [k for k in names if names[k] == name or names[k] and fnmatchcase(names[k], name)]
        if (span := re.fullmatch(r"(\d+)(?:-(\d+))?", name)) and not columns:
            low, high = int(span[1]), int(span[2] or span[1])
            columns = [k for k, number in numbers.items() if low <= number <= high]
        if name != "*" and not columns and not (absent and part.startswith("!")):
            labels = [names[k] or str(k) for k in names]
            raise ValueError(f"{file}: there is no column {name!r}{alike(name, labels)}")
        if name == "*":
            columns = list(names)
        if part.startswith("!"):
            excluded.update(columns)
        else:
            only_excludes = False
            selected += [k for k in columns if k not in selected]
    selected = names if only_excludes else selected
    return [k for k in selected if k not in excluded], only_excludes


def exclusion(table, columns):
    """The option that excludes columns of this file, and nothing else."""
    parts = []
    for k in columns[:5]:
        name = re.sub(r"[*?\[\],!]|^\s|\s$", "?", table.names[k])
        is_unique = [k] == [j for j in table.names if fnmatchcase(table.names[j], name)]
        parts.append(f"!{name if name and is_unique else k}")
    return f"--columns {shlex.quote(table.prefix + ','.join(parts))}"


# --------------------------------------------------------------------------------------- features


def features(table, selections):
    """The columns that the texts of --columns select, after checks of their names and values."""
    columns, checked = list(table.cells), True
    for selection in selections:
        selected, only_excludes = select(table.names, selection, table.name, absent=True)
        if not only_excludes:
            columns, checked = [k for k in selected if k in table.cells], False
    for selection in selections:
        selected, only_excludes = select(table.names, selection, table.name, absent=True)
        if only_excludes:
            columns = [k for k in columns if k in selected]
    if checked:
        columns = _without_counters(table, columns)
        _check_suspects(table, columns)
    if not columns:
        raise ValueError(f"{table.name}: no columns except the ids")
    if text := [k for k in columns if table.is_text(k)]:
        refuse_text(table, text, f"{exclusion(table, text)} excludes")
    return columns


def model_columns(table, view, columns):
    """The columns of new samples that a ``view`` has in a model, whose ``columns`` are by view."""
    names = columns[view]
    if names is None:
        return list(table.cells)
    numbers = {}
    for k in table.cells:
        numbers.setdefault(table.label(k), []).append(k)
    if absent := [name for name in names if name not in numbers]:
        way = f"give the file of view {view!r}, or leave it out and name the others VIEW=FILE"
        for other, titles in columns.items():
            if titles and numbers.keys() >= set(titles):
                way = f"its columns are those of view {other!r}: give {other}={table.name}, or "
                way += f"files in the order {', '.join(columns)}"
        raise ValueError(
            f"{table.name} lacks {counted(len(absent), 'column')} of view {view!r} of the model, "
            f"such as {shown(*absent)}: {way}"
        )
    chosen = [
        numbers[name].pop(0) if len(numbers[name]) > 1 else numbers[name][0] for name in names
    ]
    if unused := [k for k in table.cells if k not in set(chosen)]:
        titles = shown(*map(table.label, unused))
        table.notes.append(
            f"{table.name}: columns that the model does not have are ignored: {titles}"
        )
    if text := [k for k in chosen if table.is_text(k)]:
        refuse_text(table, text, "the model needs numbers in")
    return chosen


def _check_suspects(table, columns):
    """Raise ValueError at labels, outcomes, ids and constants."""

    def values(k):
        numbers = table.numbers(k)
        return table.texts(k) if numbers is None else numbers[~np.isnan(numbers)].astype(float)

    def is_constant(k):
        column = np.asarray(values(k))
        return column.dtype.kind == "f" and len(column) > 1 and constant_columns(column[:, None])

    names = {} if table.transposed else {k: table.names[k] for k in table.cells}
    star = shlex.quote(f"{table.prefix}*")
    for what, suspects in (
        ("labels or outcomes", outcome_columns(names, values)),
        ("ids", id_columns(names, values)),
        ("constants", [k for k in names if k in columns and is_constant(k)]),
    ):
        suspects = [k for k in suspects if k in columns]
        if not suspects:
            continue
        way = f"{exclusion(table, suspects)} excludes {_those(suspects)}"
        if what == "labels or outcomes" and len(suspects) == len(columns):
            way = f"remove the file, or use it as --scores {table.name}"
        if what == "ids" and table.ids is None:
            label = shlex.quote(table.prefix + table.label(suspects[0]))
            way = f"use --id-column {label} if it has the ids of the samples, else {way}"
        raise ValueError(
            f"{table.name} has columns that look like {what}, not like features: "
            f"{shown(*map(table.label, suspects))}; {way}, --columns {star} uses all columns"
        )


def refuse_text(table, columns, way):
    """Raise ValueError at the first text among numbers, or else at the first text."""
    for k in columns:
        texts = [text.strip() for text in table.texts(k)]
        mark = None if table.notation.decimal or table.notation.thousands else grouped(texts, ",. ")
        if mark:
            position = next(i for i, text in enumerate(texts) if not text.isdecimal())
            row, cell = table.cells[k].dropna().index[position], texts[position]
            value = shlex.quote(table.prefix + mark)
            decimals = "" if mark == " " else f" or decimals: --decimal {value} or"
            raise ValueError(
                f"{table.name}: {table.place(row, k)} is {cell!r}, and all numbers of this column "
                f"may have separators of thousands{decimals} --thousands {value} decides"
            )
    # A word among numbers is likely to be an error, and more so than a column of words.
    cells = {}
    for k in columns:
        column = table.cells[k].dropna()
        words = [table.notation.number(cell) is None for cell in column]
        row = column.index[words.index(True)]
        cells[all(words), row, k] = column[row], sum(words)
    (_, row, k), (cell, n_words) = min(cells.items(), key=lambda item: item[0])
    cell = repr(cell) if len(repr(cell)) <= 40 else f"{cell!r:.40}..."
    way = f"{way} {_those(columns)}"
    point, texts = table.notation.point, table.texts(k)
    if all(COMMA.fullmatch(text) or NUMBER.fullmatch(text) for text in texts):
        mark = "," if point == "." else "."
        way = f"use --decimal {shlex.quote(table.prefix + mark)} if {mark!r} is the decimal mark"
    elif row == table.cells.index[0] and len(columns) > 1 and n_words == 1:
        way += "; a second row of names must be removed"
    raise ValueError(f"{table.name}: {table.place(row, k)} is {cell}, not a number: {way}")


def _those(columns):
    """How an advice refers to columns."""
    return "it" if len(columns) == 1 else "such columns"


def check_numbers(table, columns, X):
    """Raise ValueError for infinite cells, many missing ones and codes of missing values."""

    def first(wrong):
        row, j = (int(where[0]) for where in np.nonzero(wrong))
        return table.place(table.cells.index[row], columns[j])

    infinite = np.isinf(X)
    if infinite.any():
        raise ValueError(
            f"{table.name}: {counted(infinite.sum(), 'infinite cell')}, the first in "
            f"{first(infinite)}: replace them, or exclude such columns or samples"
        )
    empty, gap = np.isnan(X), gaps(X)
    unused = [columns[j] for j in np.flatnonzero(empty.all(axis=0))]
    if gap.share > MOST or gap.cells and unused:
        way = f"; {exclusion(table, unused)} excludes empty columns" if unused else ""
        raise ValueError(
            f"{table.name}: {100 * gap.share:.3g} % of the cells are empty, the first in "
            f"{first(empty & ~empty.all(axis=1, keepdims=True))}: fill them, or exclude such "
            f"columns or samples (up to {100 * MOST:g} % may be empty){way}"
        )
    if gap.partial:
        where = first(empty & ~empty.all(axis=1, keepdims=True))
        table.notes.append(f"{table.name}: the first empty cell is in {where}")
    elif gap.rows:
        table.notes.append(
            f"{table.name}: {gap.rows} of {len(X)} samples have an empty row, which lacks this view"
        )
    for code in CODES:
        coded = X == code
        if np.count_nonzero(coded) < MIN_CODES:
            continue
        j = np.flatnonzero(coded.any(axis=0))
        values = np.where(coded[:, j], np.nan, X[:, j])
        if np.isnan(values).all(axis=0).any():
            continue
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        far = np.maximum(low - code, code - high) > np.maximum(high - low, 1)
        if far.all() or code < 0 <= low.min():
            raise ValueError(
                f"{table.name}: {counted(coded.sum(), 'cell')} {code:.15g}, unlike all other "
                f"numbers of {counted(len(j), 'column')}, the first in {first(coded)}: replace "
                "them if they mean missing values"
            )
