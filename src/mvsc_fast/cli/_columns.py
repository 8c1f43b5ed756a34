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
from ._tables import Table, as_text, is_number

SAMPLE_NAME = re.compile(r"TCGA-\w\w-\w{4}.*|GSM\d+|[SED]RR\d+|GTEX-.+", re.IGNORECASE)
ANNOTATION = re.compile(
    r"(?:.*[ _.-])?(?:id|start|end|strand|length|position)|chr(?:om(?:osome)?)?(?:[ _.-].*)?"
    r"|entrez.*|genomic[ _.-].*",
    re.IGNORECASE,
)
MAX_ODD = 0.2  # maximum share of columns that differ in kind from the other ones
MAGNITUDE = 100  # ratio of means from which columns differ in kind
# Numbers that many programs write for missing values, and how often they do.
CODES = [-99.0, *(sign * (10.0**k - 1) for k in range(3, 7) for sign in (-1, 1))]
CODES += [sign * code for code in (1e20, 1e30, 1e35, 2.0**31) for sign in (-1, 1)]
MIN_CODES = 3


# -------------------------------------------------------------------------------------- selection


def select_columns(names, selection, file):
    """Positions of the columns that a text such as "height,w*,!weight" selects.

    Excluded columns may be absent, as they may be those of another file.
    """
    selected, excluded = {}, set()
    # Exact names come before patterns, because names may contain * or ?.
    for part in filter(None, map(str.strip, selection.split(","))):
        pattern = part.removeprefix("!")
        columns = [j for j, name in enumerate(names) if name == pattern]
        columns = columns or [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]
        if part.startswith("!"):
            excluded.update(columns)
        elif columns or pattern == "*":
            selected |= dict.fromkeys(columns)
        else:
            raise ValueError(f"{file}: there is no column {pattern!r}{alike(pattern, names)}")
    order = selected if is_selecting(selection) else range(len(names))
    return [j for j in order if j not in excluded]


def is_selecting(selection):
    """Whether a text of --columns selects columns, and does not only exclude some."""
    return any(part.strip() and not part.strip().startswith("!") for part in selection.split(","))


def check_exclusions(text, tables):
    """Raise ValueError if a column that a text of --columns excludes is in none of the tables."""
    names = [name for table in tables for name in table.names]
    for part in map(str.strip, text.split(",")):
        if part.startswith("!"):
            select_columns(names, part[1:], " and ".join(table.name for table in tables))


def _exclusion(table, columns):
    """The option that excludes columns of this file."""
    names = [re.sub(r"[*?\[\],!]|^\s|\s$", "?", table.names[j]) for j in columns[:5]]
    return f"--columns {shlex.quote(table.prefix + ','.join(f'!{name}' for name in names))}"


def _exclusion_or_all(table, columns):
    """Advice on columns that the reader doubts: exclude them, or use all as they are."""
    all_columns = f"--columns {shlex.quote(table.prefix + '*')}"
    return f"{_exclusion(table, columns)} excludes them, {all_columns} uses all columns"


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


def transpose(table, known_ids, headers, selection, header):
    """The table whose rows are columns of this one, the samples.

    ``known_ids`` are ids of other files, ``headers`` names of columns of others that are transposed
    as well, and ``selection`` is the text of --columns, which selects the samples. Without
    ``header``, samples have no ids.
    """
    # Samples are the columns that the user selects, or those of the usual kind.
    if selection:
        samples = select_columns(table.names, selection, table.name)
    else:
        samples = _sample_columns(table, known_ids, headers)
    check_text(table, samples)
    if not samples:
        raise ValueError(f"{table.name}: no column of numbers, as of a sample with --transpose")
    if sum(SAMPLE_NAME.fullmatch(name or "") is not None for name in table.ids or ()) > 1:
        raise ValueError(f"{table.name}: rows look like samples: read it without --transpose")
    ignored = [name for j, name in enumerate(table.names) if j not in set(samples)]
    if ignored:
        table.notes.append(
            f"{table.name}: columns that are no samples are ignored: {shown(*ignored)}"
        )
    # The turned table has the features as names and the header as ids.
    numbers, names = list(map(str, table.rows)), [table.names[j] for j in samples]
    features = [name or number for name, number in zip(table.ids or numbers, numbers, strict=True)]
    turned = Table(table.name, features, table.values[:, samples].T, [{} for _ in numbers], names)
    turned.unit, turned.notes, turned.prefix = "column", table.notes, table.prefix
    if header:
        turned.ids, turned.id_name = names, "id"
    return turned


def _sample_columns(table, known_ids, headers):
    """The columns that are samples, by other files and by what most columns are."""
    # Text describes features, but columns that may be numbers stop; names may describe them, too.
    samples = []
    for j, name in enumerate(table.names):
        words = table.words[j]
        is_text = len(words) > len(table.rows) / 2 and not any(map(is_number, words.values()))
        if not is_text and (name in known_ids or not ANNOTATION.fullmatch(name)):
            samples.append(j)
    check_text(table, samples)

    # Columns of another kind are no samples if other files lack them; with one file, who knows.
    odd = {j for j in _odd_columns(table, samples) if table.names[j] not in known_ids}
    if known_ids or headers:
        samples = [j for j in samples if j not in odd or table.names[j] in headers]
    odd = [j for j in samples if j in odd]
    if odd:
        raise ValueError(
            f"{table.name} has columns that are unlike the other {len(samples) - len(odd)} in "
            f"kind: {shown(*(table.names[j] for j in odd))}; {_exclusion_or_all(table, odd)}"
        )
    return samples


def _odd_columns(table, columns):
    """Columns whose names or values differ in kind from those of most other ones."""
    if not columns:
        return []
    shapes = [re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", table.names[j])) for j in columns]
    shape = Counter(shapes).most_common(1)[0][0]
    X = np.where(np.isfinite(table.values[:, columns]), table.values[:, columns], 0)
    sizes = np.abs(X).mean(axis=0)
    kinds = np.array(
        [
            [name == shape for name in shapes],
            (X % 1 == 0).all(axis=0),
            sizes > MAGNITUDE * np.median(sizes),
        ]
    )
    # A kind is a property that most columns have, or that most lack.
    is_odd = kinds != (2 * kinds.sum(axis=1, keepdims=True) > len(columns))
    is_odd[is_odd.sum(axis=1) > MAX_ODD * len(columns)] = False
    odd = is_odd.any(axis=0) | [is_counter(table.values[:, j]) for j in columns]
    return [] if odd.all() else [columns[k] for k in np.flatnonzero(odd)]


# --------------------------------------------------------------------------------------- features


def feature_columns(table, selection):
    """The columns that a text of --columns selects, after checks of their names and values."""
    columns = select_columns(table.names, selection, table.name)
    if not is_selecting(selection):  # then it is the reader who says that they are features
        like_samples = [name for name in table.names if SAMPLE_NAME.fullmatch(name)]
        if 2 * len(like_samples) > len(table.names) > 1:
            raise ValueError(
                f"{table.name}: the columns ({shown(*like_samples)}) look like samples: use "
                "--transpose"
            )
        # A counter is no feature, nor is a copy of the ids.
        counters = [j for j in columns if is_counter(table.values[:, j]) or _repeats_ids(table, j)]
        if counters:
            table.notes.append(
                f"{table.name}: {shown(*(table.names[j] for j in counters))} counts the rows or "
                "repeats the ids, and is ignored"
            )
        columns = [j for j in columns if j not in counters]
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
    # Text ids are compared as text, integers without leading zeros.
    if table.ids is None or not all(map(str.isdecimal, table.ids[:1])):
        return table.ids is not None and table.words[j] == dict(enumerate(table.ids))
    return table.values[0, j] == int(table.ids[0]) and [
        as_text(x) for x in table.values[:, j].tolist()
    ] == [text.lstrip("0") for text in table.ids]


def _check_suspects(table, columns):
    """Raise ValueError at labels, outcomes, ids, constants and columns without values."""

    def values(j):
        numbers = table.values[:, j]
        return list(table.words[j].values()) or numbers[~np.isnan(numbers)]

    names = {j: table.names[j] for j in columns}
    is_empty = np.isnan(table.values).all(axis=0)
    constants = constant_columns(table.values) + np.flatnonzero(is_empty).tolist()
    constants = [j for j in constants if not table.words[j]]
    for suspects, kind in find_suspects(names, values, constants):
        suspects = [j for j in suspects if j in columns]
        if suspects:
            raise ValueError(
                f"{table.name} has columns that look like {kind}, not like features: "
                f"{shown(*(table.names[j] for j in suspects))}; "
                f"{_exclusion_or_all(table, suspects)}"
            )


def model_columns(table, view, columns):
    """The columns of new samples that a ``view`` has in a model, whose ``columns`` are by view."""
    if columns[view] is None:
        return list(range(len(table.names)))
    if absent := list((Counter(columns[view]) - Counter(table.names)).elements()):
        way = f"give files in the order {', '.join(columns)}, or some of them as VIEW=FILE"
        way = "use --transpose" if set(absent) & set(table.ids or ()) else way
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
    advice = f"{_exclusion(table, columns)} excludes such columns"
    if all(map(is_number, words.values())):
        options = [f"--decimal {shlex.quote(table.prefix + mark)}" for mark in ".,"]
        advice = f"{' or '.join(options)} tells which mark is the decimal one"
    cell = repr(words[row]) if len(words[row]) <= 40 else f"{words[row]!r:.40}..."
    raise ValueError(
        f"{table.name}: {table.unit} {table.rows[row]}, column {table.names[j]!r} is {cell}, not a "
        f"number: {advice}"
    )


def check_codes(table, columns):
    """Raise ValueError at numbers that stand for missing values.

    Such a code is repeated, and outside of the range of all other values of its column.
    """
    for code in CODES:
        is_code = table.values == code
        if np.count_nonzero(is_code) < MIN_CODES:
            continue
        coded = [j for j in columns if is_code[:, j].any()]
        others = np.where(is_code[:, coded], np.nan, table.values[:, coded])
        if code < 0:
            unlike = np.fmin.reduce(others, axis=0, initial=np.inf) > code
        else:
            unlike = np.fmax.reduce(others, axis=0, initial=-np.inf) < code / 2
        coded = [j for j, is_unlike in zip(coded, unlike, strict=True) if is_unlike]
        n_codes = np.count_nonzero(is_code[:, coded])
        if n_codes >= MIN_CODES:
            raise ValueError(
                f"{table.name}: {n_codes} cells are {code:.15g}, unlike all other numbers of "
                f"{shown(*(table.names[j] for j in coded))}: replace them if they mean missing "
                "values"
            )
