"""What the columns of a table are: ids, features, samples, and what is none."""

import re
import shlex
from collections import Counter
from fnmatch import fnmatchcase

import numpy as np

from .._utils.messages import counted
from ..preprocessing._table_columns import alike
from ..views._frames import shown
from ..views._suspects import constant_columns, find_suspects
from ._tables import as_text, is_number, transpose_option

SAMPLE_NAME = re.compile(r"TCGA-\w\w-\w{4}.*|GSM\d+|[SED]RR\d+|GTEX-.+", re.IGNORECASE)
ANNOTATION = re.compile(
    r"(?:.*[ _.-])?(?:id|start|end|strand|length|position)|chr(?:om(?:osome)?)?(?:[ _.-].*)?"
    r"|entrez.*|genomic[ _.-].*",
    re.IGNORECASE,
)
MAGNITUDE = 100  # ratio of means from which columns differ in kind
# Numbers that many programs write for missing values, and how often they do.
LOW_CODES = [-99.0, *(1 - 10.0**k for k in range(3, 7)), -1e20, -1e30, -1e35, -(2.0**31)]
HIGH_CODES = [-code for code in LOW_CODES[1:]]
MIN_CODES = 3


# -------------------------------------------------------------------------------------- selection


def select_columns(table, selection):
    """Positions of the columns that a text such as "height,w*,!weight" selects."""
    names, selected, excluded = table.names, {}, set()
    # Exact names come before patterns, because names may contain * or ?.
    for part in filter(None, map(str.strip, selection.split(","))):
        pattern = part.removeprefix("!")
        columns = [j for j, name in enumerate(names) if name == pattern]
        columns = columns or [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not columns and pattern != "*":
            hint = "; --columns FILE:NAMES is for one file" if table.prefix else ""
            raise ValueError(
                f"{table.name}: there is no column {pattern!r}{alike(pattern, names)}{hint}"
            )
        if part.startswith("!"):
            excluded.update(columns)
        else:
            selected |= dict.fromkeys(columns)
    order = selected if is_selecting(selection) else range(len(names))
    return [j for j in order if j not in excluded]


def is_selecting(selection):
    """Whether a text of --columns selects columns, and does not only exclude some."""
    return any(part.strip() and not part.strip().startswith("!") for part in selection.split(","))


def _exclusion(table, columns):
    """The option that excludes columns of this file."""
    names = [re.sub(r"[*?\[\],!]|^\s|\s$", "?", table.names[j]) for j in columns[:5]]
    return f"--columns {shlex.quote(table.prefix + ','.join(f'!{name}' for name in names))}"


def _refuse(table, columns, what):
    """Raise ValueError at columns that the reader doubts: exclude them, or use all as they are."""
    if columns:
        hint = ", --id-column selects ids" if "ids" in what else ""
        raise ValueError(
            f"{table.name} has columns that {what}: {shown(*(table.names[j] for j in columns))}; "
            f"{_exclusion(table, columns)} excludes them, "
            f"--columns {shlex.quote(table.prefix + '*')} uses all columns{hint}"
        )


# ---------------------------------------------------------------------------------------- samples


def check_ids(table):
    """Raise ValueError if an id is missing or occurs more than once."""
    rows = {}
    for row, text in zip(table.rows, table.ids, strict=True):
        if not text:
            raise ValueError(
                f"{table.name}: {table.unit} {row} has no id in column {table.id_name!r}"
            )
        if text in rows:
            raise ValueError(
                f"{table.name}: {table.unit} {row} has the id {text!r} of {table.unit} "
                f"{rows[text]} again: keep one row for each, or use --id-column with another name "
                "or, if there are no ids, none"
            )
        rows[text] = row


def transpose(table, known_ids, selection, header):
    """Turn a table whose columns are samples, which are ids of other files or alike in kind.

    ``selection`` is the text of --columns, which says what the samples are. Without ``header``,
    samples have no ids.
    """
    samples = select_columns(table, selection)
    if not samples:
        raise ValueError(f"{table.name}: no column except the names of features")
    if not is_selecting(selection):
        _check_samples(table, samples, known_ids)
    check_text(table, samples)
    if look_like_samples(table.ids or []):
        raise ValueError(f"{table.name}: rows look like samples: read it without --transpose")
    # The header becomes the ids, and the names of features come from the first column.
    titles = zip(table.ids or [None] * len(table.rows), table.rows, strict=True)
    features = [title or str(row) for title, row in titles]
    table.rows, table.unit = [table.names[j] for j in samples], "column"
    table.names, table.words = features, [{} for _ in features]
    table.values = table.values[:, samples].T
    table.ids, table.id_name = (table.rows, "id") if header else (None, None)


def look_like_samples(names):
    """Whether most names are those of public samples."""
    n_samples = sum(SAMPLE_NAME.fullmatch(name or "") is not None for name in names)
    return 2 * n_samples > len(names) > 1


def _check_samples(table, columns, known_ids):
    """Raise ValueError at columns that differ in kind from most other ones."""
    # Text in numbers, and numbers in another notation, have remedies of their own.
    n = len(table.rows)
    check_text(table, [j for j in columns if any(map(is_number, table.words[j].values()))])

    # Most columns, the samples, share the form of their names, and the kind of their values.
    X = np.where(np.isfinite(table.values), table.values, 0)
    sizes = np.abs(X).mean(axis=0)
    large = MAGNITUDE * np.median(sizes[columns])
    kinds = {
        j: (
            _name_form(table.names[j]),
            2 * len(table.words[j]) > n,
            bool((X[:, j] % 1 == 0).all()),
            bool(sizes[j] > large),
        )
        for j in columns
    }
    odd = {j for j in columns if ANNOTATION.fullmatch(table.names[j]) or is_counter(X[:, j])}
    for k in range(4):
        usual, count = Counter(kind[k] for kind in kinds.values()).most_common(1)[0]
        if 2 * count > len(columns):
            odd.update(j for j in columns if kinds[j][k] != usual)
    odd = sorted(j for j in odd if table.names[j] not in known_ids)
    _refuse(table, odd, f"are unlike the other {len(columns) - len(odd)} in kind")


def _name_form(name):
    """What names of samples share: their letters and numbers without their length."""
    if SAMPLE_NAME.fullmatch(name):
        return "public"
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", name))


# --------------------------------------------------------------------------------------- features


def feature_columns(table, selection):
    """The columns that a text of --columns selects, after checks of their names and values."""
    columns = select_columns(table, selection)
    if not is_selecting(selection):  # else the user says that they are features
        if look_like_samples(table.names):
            raise ValueError(
                f"{table.name}: the columns ({shown(*table.names)}) look like samples: use "
                f"{transpose_option(table.prefix)}"
            )
        _check_suspects(table, columns)
    if not columns:
        raise ValueError(f"{table.name}: no columns except the ids")
    check_text(table, columns)
    return columns


def is_counter(values):
    """Whether a column counts the rows, from 0 or from 1."""
    counts = values[:1] + np.arange(len(values))
    return len(values) > 2 and values[0] in (0, 1) and np.array_equal(values, counts)


def _repeats_ids(table, j):
    """Whether the cells of a column are those of the ids, or their numbers."""

    def repeats(i):
        text = table.words[j].get(i) or as_text(table.values[i, j].item())
        return text in (table.ids[i], table.ids[i].lstrip("0"))

    return table.ids is not None and all(map(repeats, range(len(table.ids))))


def _check_suspects(table, columns):
    """Raise ValueError at labels, outcomes, ids, counters and columns of a single value."""

    def values(j):
        numbers = table.values[:, j]
        return list(table.words[j].values()) or numbers[~np.isnan(numbers)]

    names = {j: table.names[j] for j in columns}
    is_empty = np.isnan(table.values).all(axis=0)
    constants = constant_columns(table.values) + np.flatnonzero(is_empty).tolist()
    constants = [j for j in constants if not table.words[j]]
    for suspects, kind in find_suspects(names, values, constants):
        suspects = [j for j in columns if j in set(suspects)]
        _refuse(table, suspects, f"look like {kind}, not like features")
    counters = [j for j in columns if is_counter(table.values[:, j]) or _repeats_ids(table, j)]
    _refuse(table, counters, "count the rows or repeat the ids")


def model_columns(table, view, columns):
    """The columns of new samples that a ``view`` has in a model, whose ``columns`` are by view."""
    if columns[view] is None:
        order = list(range(len(table.names)))
        check_text(table, order)
        return order
    if absent := list((Counter(columns[view]) - Counter(table.names)).elements()):
        way = f"give files in the order {', '.join(columns)}, or some of them as VIEW=FILE"
        turn = f"use {transpose_option(table.prefix)}"
        way = turn if set(absent) & set(table.ids or ()) else way
        raise ValueError(
            f"{table.name} lacks {counted(len(absent), 'column')} of view {view!r} of the model, "
            f"such as {shown(*absent)}: {way}"
        )
    # Columns of the same name are taken in their order.
    positions = {}
    for j, name in enumerate(table.names):
        positions.setdefault(name, []).append(j)
    order = [positions[name].pop(0) for name in columns[view]]
    check_text(table, order)
    return order


def note_unused(table, columns):
    """Note the columns of a table that no view of a model has, whose ``columns`` are by view."""
    names = {name for titles in columns.values() for name in titles or table.names}
    if unused := [name for name in table.names if name not in names]:
        table.notes.append(
            f"{table.name}: columns that the model does not have are ignored: {shown(*unused)}"
        )


# ----------------------------------------------------------------------------------------- values


def check_text(table, columns):
    """Raise ValueError at the first text among numbers, or else at the first text."""
    columns = [j for j in columns if table.words[j]]
    if not columns:
        return
    # A word among numbers is more likely to be an error than a column of words.
    n = len(table.rows)
    j = min(columns, key=lambda j: (len(table.words[j]) >= n / 2, min(table.words[j])))
    row, words = min(table.words[j]), table.words[j]
    kind = "not a number"
    advice = f"{_exclusion(table, columns)} excludes such columns, --id-column selects ids"
    # Line 1 is a row with --no-header alone, and may have names of columns all the same.
    is_first = n > 1 and (table.unit, table.rows[row]) == ("line", 1)
    if all(map(is_number, words.values())):
        kind = "not a number beyond doubt"
        options = [f"--decimal {shlex.quote(table.prefix + mark)}" for mark in ".,"]
        advice = f"{' or '.join(options)} tells which mark is the decimal one"
    elif is_first and all(set(table.words[j]) == {0} for j in columns):
        advice = "if these are names of columns, omit --no-header, which holds for all files"
    cell = repr(words[row]) if len(words[row]) <= 40 else f"{words[row]!r:.40}..."
    raise ValueError(
        f"{table.name}: {table.unit} {table.rows[row]}, column {table.names[j]!r} is {cell}, "
        f"{kind}: {advice}"
    )


def check_codes(table, columns):
    """Raise ValueError at codes of missing values: repeated, and the end of a column's range."""
    low = np.fmin.reduce(table.values[:, columns], axis=0, initial=np.inf)
    high = np.fmax.reduce(table.values[:, columns], axis=0, initial=-np.inf)
    ends = np.concatenate([low[np.isin(low, LOW_CODES)], high[np.isin(high, HIGH_CODES)]])
    for code in np.unique(ends).tolist():
        coded = [columns[k] for k in np.flatnonzero((low == code) | (high == code))]
        n_codes = np.count_nonzero(table.values[:, coded] == code)
        if n_codes >= MIN_CODES:
            raise ValueError(
                f"{table.name}: {n_codes} cells are {code:.15g}, the end of the range of "
                f"{shown(*(table.names[j] for j in coded))}: replace them if they mean missing "
                f"values; in a fit, --columns {shlex.quote(table.prefix + '*')} uses all columns"
            )
