"""What the columns of a table are: features, and what is none."""

import re
import shlex

import numpy as np

from .._utils.messages import counted
from ..views._facts import MAX_MISSING, view_facts
from ..views._frames import shown
from ..views._suspects import constant_columns, find_suspects
from ._numbers import is_number
from ._tables import as_text, is_selecting, select_columns

SAMPLE_NAME = re.compile(r"TCGA-\w\w-\w{4}.*|GSM\d+|[SED]RR\d+|GTEX-.+", re.IGNORECASE)
# Numbers that many programs write for missing values, and how often they do.
CODES = [-99.0, *(sign * (10.0**k - 1) for k in range(3, 7) for sign in (-1, 1))]
CODES += [sign * code for code in (1e20, 1e30, 1e35, 2.0**31) for sign in (-1, 1)]
MIN_CODES = 3
N_NAMES = 2  # rows of types or further names that programs write below the header


def check_ids(table):
    """Raise ValueError if an id is missing or occurs more than once."""
    rows = {}
    for i, text in enumerate(table.ids):
        line = f"{table.name}: {table.units[0]} {table.rows[i]}"
        if not text:
            at_top = i < N_NAMES
            advice = ": if this is a second row of names, keep one of them" if at_top else ""
            raise ValueError(f"{line} has no id in column {table.id_name!r}{advice}")
        if text in rows:
            raise ValueError(
                f"{line} has the id {text!r} of {table.units[0]} {rows[text]} again: keep one row "
                "for each, or use --id-column with another name or, if there are no ids, none"
            )
        rows[text] = table.rows[i]


def is_counter(values):
    """Whether a column counts the rows, from 0 or from 1."""
    counts = values[:1] + np.arange(len(values))
    return len(values) > 2 and values[0] in (0, 1) and np.array_equal(values, counts)


def _repeats_ids(table, j):
    """Whether the cells of a column are those of the ids, or their numbers."""
    # Text ids are compared as text, integers without leading zeros.
    if table.ids is None or not all(map(str.isdecimal, table.ids[:1])):
        return table.ids is not None and table.words[j] == dict(enumerate(table.ids))
    return table.values[0, j] == int(table.ids[0]) and [
        as_text(x) for x in table.values[:, j].tolist()
    ] == [text.lstrip("0") for text in table.ids]


def exclusion(table, columns):
    """The option that excludes columns of this file."""
    names = [re.sub(r"[*?\[\],!]|^\s|\s$", "?", table.names[j]) for j in columns[:5]]
    return f"--columns {shlex.quote(table.prefix + ','.join(f'!{name}' for name in names))}"


def exclusion_or_all(table, columns):
    """Advice on columns that the reader doubts: exclude them, or use all as they are."""
    all_columns = f"--columns {shlex.quote(table.prefix + '*')}"
    return f"{exclusion(table, columns)} excludes them, {all_columns} uses all columns"


def choose_columns(table, selections):
    """The columns that all texts of --columns select, and whether they only exclude some."""
    columns = range(len(table.names))
    # Selections come first, so that exclusions apply to them in any order.
    for selection in sorted(selections, key=is_selecting, reverse=True):
        selected = select_columns(table.names, selection, table.name, absent=True)
        order = selected if is_selecting(selection) else columns
        columns = [j for j in order if j in selected and j in columns]
    return columns, not any(map(is_selecting, selections))


def feature_columns(table, selections):
    """The columns that the texts of --columns select, after checks of their names and values."""
    if table.units[0] == "column":  # transposed: the option has selected the samples
        selections = ["*"]
    columns, checked = choose_columns(table, selections)
    like_samples = [name for name in table.names if SAMPLE_NAME.fullmatch(name)]
    if checked and 2 * len(like_samples) > len(table.names) > 1:
        raise ValueError(
            f"{table.name}: the columns ({shown(*like_samples)}) look like samples: use --transpose"
        )
    if checked:
        # A counter is no feature, nor is a copy of the ids.
        counters = [j for j in columns if is_counter(table.values[:, j])]
        counters += [j for j in columns if j not in counters and _repeats_ids(table, j)]
        if counters:
            table.notes.append(
                f"{table.name}: {shown(*(table.names[j] for j in counters))} counts the rows or "
                "repeats the ids, and is ignored"
            )
        columns = [j for j in columns if j not in counters]
        _check_suspects(table, columns)
    # Spreadsheets leave columns without names and values.
    empty = np.isnan(table.values).all(axis=0)
    columns = [
        j for j in columns if not empty[j] or table.words[j] or not table.names[j].isdecimal()
    ]
    if not columns:
        raise ValueError(f"{table.name}: no columns except the ids")
    check_text(table, columns)
    return columns


def model_columns(table, view, columns, others):
    """The columns of new samples that a ``view`` has in a model, whose ``columns`` are by view.

    ``others`` are the names of the other views that are columns of the table.
    """
    if columns[view] is None:
        return list(range(len(table.names)))
    positions = {}
    for j, name in reversed(list(enumerate(table.names))):
        positions.setdefault(name, []).append(j)
    if absent := [name for name in columns[view] if name not in positions]:
        way = f"give files in the order {', '.join(columns)}, or some of them as VIEW=FILE"
        way = "use --transpose" if set(absent) & set(table.ids or ()) else way
        raise ValueError(
            f"{table.name} lacks {counted(len(absent), 'column')} of view {view!r} of the model, "
            f"such as {shown(*absent)}: {way}"
        )
    # Columns of the same name are taken in their order.
    order = [positions[name].pop(-1 if positions[name][1:] else 0) for name in columns[view]]
    in_others = {name for other in others for name in columns[other] or ()}
    rest = [name for j, name in enumerate(table.names) if j not in set(order)]
    if unused := [name for name in rest if name not in in_others]:
        note = f"{table.name}: columns that the model does not have are ignored: {shown(*unused)}"
        if note not in table.notes:
            table.notes.append(note)
    check_text(table, order)
    return order


def _check_suspects(table, columns):
    """Raise ValueError at labels, outcomes, ids and constants."""

    def values(j):
        numbers = table.values[:, j]
        return list(table.words[j].values()) or numbers[~np.isnan(numbers)]

    names = dict(enumerate(table.names))
    constants = [j for j in constant_columns(table.values) if not table.words[j]]
    for suspects, kind in find_suspects(names, values, constants):
        suspects = [j for j in suspects if j in columns]
        if suspects:
            raise ValueError(
                f"{table.name} has columns that look like {kind}, not like features: "
                f"{shown(*(table.names[j] for j in suspects))}; "
                f"{exclusion_or_all(table, suspects)}"
            )


def check_text(table, columns):
    """Raise ValueError at the first text among numbers, or else at the first text."""
    columns = [j for j in columns if table.words[j]]
    if not columns:
        return
    # A word among numbers is more likely to be an error than a column of words.
    is_numeric = {j: len(table.words[j]) < len(table.rows) / 2 for j in columns}
    j = min(columns, key=lambda j: (not is_numeric[j], min(table.words[j])))
    row, words = min(table.words[j]), table.words[j]
    advice = f"{exclusion(table, columns)} excludes such columns"
    if all(map(is_number, words.values())):
        options = [f"--decimal {shlex.quote(table.prefix + mark)}" for mark in ".,"]
        advice = f"{' or '.join(options)} tells which mark is the decimal one"
    elif len([j for j in columns if is_numeric[j] and max(table.words[j]) < N_NAMES]) > 1:
        advice = "if this is a second row of names or types, remove it"
    cell = repr(words[row]) if len(words[row]) <= 40 else f"{words[row]!r:.40}..."
    raise ValueError(f"{table.name}: {table.locate(row, j)} is {cell}, not a number: {advice}")


def check_cells(table, columns, X):
    """Raise ValueError for infinite cells, many missing ones and codes of missing values."""

    def first(wrong):
        row, k = (int(indices[0]) for indices in np.nonzero(wrong))
        return table.locate(row, columns[k])

    infinite = np.isinf(X)
    if infinite.any():
        raise ValueError(
            f"{table.name}: {counted(infinite.sum(), 'infinite cell')}, the first in "
            f"{first(infinite)}: replace them, or exclude such columns or samples"
        )
    # Rows without any cell lack this view; other cells may be missing up to a share.
    facts, *_ = view_facts(X)
    if facts.n_cells:
        empty = np.isnan(X)
        cell = first(empty & ~empty.all(axis=1, keepdims=True))
        unused = [columns[k] for k in np.flatnonzero(empty.all(axis=0))]
        if facts.missing_share > MAX_MISSING or unused:
            advice = f"; {exclusion(table, unused)} excludes empty columns" if unused else ""
            raise ValueError(
                f"{table.name}: {100 * facts.missing_share:.3g} % of the cells are empty, the "
                f"first in {cell}: fill them, or exclude such columns or samples (up to "
                f"{100 * MAX_MISSING:g} % may be empty){advice}"
            )
        table.notes.append(f"{table.name}: the first empty cell is in {cell}")
    elif facts.n_missing:
        table.notes.append(
            f"{table.name}: {facts.n_missing} of {len(X)} samples have an empty row, which lacks "
            "this view"
        )
    # A code is repeated and outside of the range of all other values of its column.
    for code in CODES:
        coded = X == code
        if np.count_nonzero(coded) < MIN_CODES:
            continue
        k = np.flatnonzero(coded.any(axis=0))
        values = np.where(coded[:, k] | np.isnan(X[:, k]), -code, X[:, k])
        k = k[values.min(axis=0) > code if code < 0 else values.max(axis=0) < code / 2]
        if np.count_nonzero(coded[:, k]) >= MIN_CODES:
            raise ValueError(
                f"{table.name}: {counted(coded.sum(), 'cell')} {code:.15g}, unlike all other "
                f"numbers of {counted(len(k), 'column')}, the first in {first(coded)}: replace "
                "them if they mean missing values"
            )
