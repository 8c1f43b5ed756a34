"""What the columns of a table are: features, samples, and what is none."""

import re
import shlex
from collections import Counter
from fnmatch import fnmatchcase

import numpy as np

from .._utils.messages import counted
from ..preprocessing import FrameEncoder
from ..preprocessing._table_columns import alike
from ..views._columns import constant_columns, find_suspects
from ..views._frames import shown
from ._notation import is_number, marks_of

SAMPLE_NAME = re.compile(r"TCGA-\w\w-\w{4}.*|GSM\d+|[SED]RR\d+|GTEX-.+", re.IGNORECASE)
ANNOTATION = re.compile(
    r"(?:.*[ _.-])?(?:id|start|end|strand|length|position)|chr(?:om(?:osome)?)?(?:[ _.-].*)?"
    r"|entrez.*|genomic[ _.-].*",
    re.IGNORECASE,
)
MAGNITUDE = 100  # ratio of means from which columns differ in kind
# Numbers that many programs write for missing values, and how often they do.
LOW_CODES = [-9.0, -99.0, *(1 - 10.0**k for k in range(3, 7)), -1e20, -1e30, -1e35, -(2.0**31)]
HIGH_CODES = [-code for code in LOW_CODES[2:]]
MIN_CODES = 3
MIN_IDS = 20  # number of samples from which different whole numbers in all may be ids
MAX_NAMES = 20  # number of columns that a message names as an option


# -------------------------------------------------------------------------------------- selection


def select_columns(table, selection):
    """Positions of the columns that a text such as "height,w*,!weight" selects."""
    names, selected, excluded = table.names, {}, {}
    # Exact names come before patterns, because names may contain * or ?.
    for part in filter(None, map(str.strip, selection.split(","))):
        pattern = part.removeprefix("!")
        columns = [j for j, name in enumerate(names) if name == pattern]
        columns = columns or [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not columns and pattern != "*":
            is_id = table.ids is not None and table.ids.name == pattern
            reason = f"{pattern!r} has the ids" if is_id else f"there is no column {pattern!r}"
            raise ValueError(
                f"{table.name}: {reason}{alike(pattern, names)}; --columns FILE:NAMES is for one "
                "file"
            )
        (excluded if part.startswith("!") else selected).update(dict.fromkeys(columns))
    columns = [j for j in selected or range(len(names)) if j not in excluded]
    if not columns:
        raise ValueError(f"{table.name}: no columns except the ids")
    return columns


def is_selecting(selection):
    """Whether a text of --columns selects columns, and does not only exclude some."""
    return any(part.strip() and not part.strip().startswith("!") for part in selection.split(","))


def _exclusion(table, columns):
    """The option that excludes columns of this file."""
    names = [re.sub(r"[*?\[\],!]|^\s|\s$", "?", table.names[j]) for j in columns[:MAX_NAMES]]
    names += ["..."] if len(columns) > MAX_NAMES else []
    text = ",".join(f"!{name}" for name in names)
    return f"--columns {shlex.quote(table.reading.prefix + text)}"


def _refuse(table, columns, what):
    """Raise ValueError at features, or samples of a transposed table, that the reader doubts."""
    if not len(columns):
        return
    kind, prefix = "rows" if table.unit == "column" else "columns", table.reading.prefix
    remedy = "correct the file"
    if table.can_exclude:
        if kind == "columns":
            remedy = f"{_exclusion(table, columns)} excludes them, --id-column selects ids"
        remedy += f", --columns {shlex.quote(prefix + '*')} uses all {kind}"
    names = shown(*(table.names[j] for j in columns))
    raise ValueError(f"{table.name} has {kind} that {what}: {names}; {remedy}")


# ---------------------------------------------------------------------------------------- samples


def transpose(table, known_ids):
    """Turn a table whose columns are samples: ids of other files, or alike in kind, or selected."""
    import pandas

    selection = ",".join(table.reading.columns)
    samples = select_columns(table, selection)
    if not is_selecting(selection):
        _check_samples(table, samples, known_ids)
    check_text(table, samples)
    _check_infinite(table, samples)
    rows = table.cells.index
    titles = list(map(str, rows)) if table.ids is None else table.ids
    if look_like_samples(titles):
        raise ValueError(f"{table.name}: rows look like samples: read it without --transpose")
    # The header becomes the ids, and the names of features come from the first column.
    names = [table.names[j] for j in samples]
    table.names = [title or str(row) for title, row in zip(titles, rows, strict=True)]
    table.cells = pandas.DataFrame(table.cells[samples].to_numpy().T, names)
    table.words, table.unit = {}, "column"
    table.ids = pandas.Series(names, names, object, "id") if table.reading.header else None


def look_like_samples(names):
    """Whether most names are those of public samples."""
    n_samples = sum(SAMPLE_NAME.fullmatch(name) is not None for name in names)
    return 2 * n_samples > len(names) > 1


def _check_samples(table, columns, known_ids):
    """Raise ValueError at columns that differ in kind from most other ones."""
    import pandas

    # Text in numbers, and numbers in another notation, have remedies of their own.
    check_text(table, [j for j in columns if any(map(is_number, table.words.get(j, ())))])

    # Most columns, the samples, share the form of their names, and the kind of their values.
    kinds, odd = [], set()
    for j in columns:
        name, n_words = table.names[j], len(table.words.get(j, ()))
        values = pandas.to_numeric(table.cells[j], errors="coerce").to_numpy()
        values = np.where(np.isfinite(values), values, 0)
        form = re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", name))
        form = "public" if SAMPLE_NAME.fullmatch(name) else form
        kinds.append((form, 2 * n_words > len(values), (values % 1 == 0).all(), abs(values).mean()))
        if ANNOTATION.fullmatch(name) or is_counter(values):
            odd.add(j)
    kinds = pandas.DataFrame(kinds, columns, ["form", "text", "whole", "size"])
    kinds["size"] = kinds["size"] > MAGNITUDE * kinds["size"].median()
    is_unusual = kinds != kinds.mode().iloc[0]
    is_unusual = is_unusual.loc[:, is_unusual.mean() < 0.5].any(axis=1)
    odd = sorted(odd.union(kinds.index[is_unusual]))
    odd = [j for j in odd if table.names[j] not in known_ids]
    _refuse(table, odd, f"are unlike the other {len(columns) - len(odd)} in kind")


# --------------------------------------------------------------------------------------- features


def is_counter(values):
    """Whether a column counts the rows, from any number."""
    is_whole = len(values) > 2 and float(values[0]).is_integer()
    return is_whole and np.array_equal(values, values[0] + np.arange(len(values)))


def _check_features(table, columns):
    """Raise ValueError at labels, outcomes, ids, constants, counters and copies of the ids."""
    import pandas

    cells, constants, counters, distinct = table.cells, [], [], []
    # Features in rows are counts of a gene and the like, which may be constant.
    if table.unit != "column":
        if look_like_samples(table.names):
            raise ValueError(
                f"{table.name}: the columns ({shown(*table.names)}) look like samples: use "
                f"--transpose {shlex.quote(table.name)}"
            )
        numbers = [j for j in columns if j not in table.words]
        constants = [j for j in columns if cells[j].isna().all()]
        constants += [numbers[k] for k in constant_columns(cells[numbers].to_numpy())]
        ids = None if table.ids is None else pandas.to_numeric(table.ids, errors="coerce")
        counters = [
            j for j in numbers if is_counter(cells[j].to_numpy()) or np.array_equal(cells[j], ids)
        ]
        if table.reading.id_column is None and ids is None:
            distinct = [j for j in numbers if _are_distinct(cells[j])]

    def values(j):
        return table.words.get(j, cells[j].dropna()).tolist()

    for suspects, kind in find_suspects({j: table.names[j] for j in columns}, values, constants):
        _refuse(table, suspects, f"look like {kind}, not like features")
    _refuse(table, counters, "count the rows or repeat the ids")
    if distinct == [0]:
        what = "have another whole number in each row, as ids have and no other column has"
        _refuse(table, distinct, what)


def _are_distinct(values):
    """Whether a column has a different whole number for each of many samples."""
    return len(values) >= MIN_IDS and values.is_unique and bool((values % 1 == 0).all())


def find_columns(names, view, columns, origin):
    """Positions among ``names``, of ``origin``, of the columns that a view has in a model."""
    if columns[view] in (None, names):
        return list(range(len(names)))
    counts, fit_counts = Counter(names), Counter(columns[view])
    if absent := [name for name in fit_counts if name not in counts]:
        raise ValueError(
            f"{origin} lacks {counted(len(absent), 'column')} of view {view!r} of the model, such "
            f"as {shown(*absent)}: give files in the order {', '.join(columns)}, or some as "
            "VIEW=FILE; --transpose FILE reads columns as samples"
        )
    if repeated := [name for name, n in fit_counts.items() if n > 1 or counts[name] > 1]:
        raise ValueError(
            f"{origin} or its fit has columns of the model more than once: {shown(*repeated)}; "
            "give the names of the fit to those that are meant, and other names to the others"
        )
    positions = {name: j for j, name in enumerate(names)}
    return [positions[name] for name in columns[view]]


def _note_repeated(table, columns):
    """Note the names that several columns of a view have, which are matched by their order."""
    counts = Counter(table.names[j] for j in columns)
    if repeated := [name for name, n in counts.items() if n > 1]:
        table.notes.append(
            f"{table.name}: several columns are called {shown(*repeated)}; models know them by "
            "their order alone"
        )


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
    columns = [j for j in columns if j in table.words]
    if not columns:
        return
    # A word among numbers is more likely to be an error than a column of words.
    words, n = table.words, len(table.cells)
    mixed = [j for j in columns if 2 * len(words[j]) < n]
    columns = mixed or columns
    j = min(columns, key=lambda j: words[j].index[0])
    row, cell = next(words[j].items())
    start = f"{table.name}: {table.unit} {row}, column {table.names[j]!r} is {cell!r:.42}"
    # Numbers in another notation need an option, unless it says their notation already.
    mark, prefix, marks = table.reading.decimal, table.reading.prefix, marks_of(words[j])
    text = [k for k in columns if mark or not all(map(is_number, words[k]))]
    if j not in text or marks and not mixed:
        is_clear = len(marks) == 1 and not mixed
        options = [f"--decimal {shlex.quote(prefix + m)}" for m in (marks if is_clear else ".,")]
        kind = repr(marks[0]) if is_clear else "in doubt"
        raise ValueError(f"{start}, whose decimal mark is {kind}: {' or '.join(options)} tells it")
    kind = f" with the decimal mark {mark!r}" if mark else ""
    remedies = []
    if mixed or not table.can_exclude:
        remedies.append("correct it, or leave it empty if it is missing")
    if table.can_exclude:
        remedy = f"{_exclusion(table, text)} excludes such columns, --id-column selects ids"
        if not mixed and not prefix and table.unit != "column":
            remedy += ", --columns NAME=COLUMNS makes categories and text a view"
        remedies.append(remedy)
    raise ValueError(f"{start}, not a number{kind}: {'; '.join(remedies)}")


def _check_infinite(table, columns):
    """Raise ValueError at the first infinite cell of columns of numbers."""
    is_infinite = table.cells[[j for j in columns if j not in table.words]].isin([-np.inf, np.inf])
    rows, places = np.nonzero(is_infinite.to_numpy())
    if len(rows):
        row, j = is_infinite.index[rows[0]], is_infinite.columns[places[0]]
        raise ValueError(
            f"{table.name}: {table.unit} {row}, column {table.names[j]!r} is "
            f"{table.cells.at[row, j]}: correct it, or leave it empty if it is missing"
        )


def _check_codes(table, columns):
    """Raise ValueError at codes of missing values: repeated, and the end of a column's range."""
    cells = table.cells[[j for j in columns if j not in table.words]]
    low, high = cells.min(), cells.max()
    for code in {*low[low.isin(LOW_CODES)], *high[high.isin(HIGH_CODES)]}:
        coded = cells.columns[(low == code) | (high == code)]
        n_codes = np.count_nonzero(cells[coded] == code)
        if n_codes >= MIN_CODES:
            what = f"have {n_codes} cells of {code:.15g}, which must be empty if they are missing"
            _refuse(table, coded, what)


# ------------------------------------------------------------------------------------------ views


def view_of_table(table, selection, options):
    """The data frame of the columns that --columns, or the name of a view of a model, selects."""
    # Columns are those of the model, all of a square or transposed table, or those of the user.
    if options.saved:
        columns = find_columns(table.names, selection, options.saved.columns, table.name)
    elif options.square or table.unit == "column":
        columns = list(range(len(table.names)))
    else:
        columns = select_columns(table, selection)
    # A user who selects columns says that they are features and numbers.
    is_told = not options.saved and is_selecting(selection)
    if not (is_told or options.saved or options.square):
        _check_features(table, columns)
    check_text(table, columns)
    _check_infinite(table, columns)
    if not is_told:
        _check_codes(table, columns)
    if not options.square:
        _note_repeated(table, columns)
    return _frame(table, columns)


def _frame(table, columns):
    """The data frame of some columns with their names, and the ids of the samples as its index."""
    import pandas

    frame = table.cells[columns].set_axis([table.names[j] for j in columns], axis=1)
    if table.ids is None:
        return frame.reset_index(drop=True)
    return frame.set_axis(pandas.Index(table.ids, dtype=object, name=table.ids.name))


def orientation(table, features=None):
    """What was taken for samples and for features, which no rule can know."""
    sides = ("columns", "rows") if table.unit == "column" else ("rows", "columns")
    samples, origin = range(len(table.cells)), ""
    if table.ids is not None:
        samples = table.ids.tolist()
        origin = f", ids of column {table.ids.name!r}" if sides[0] == "rows" else ""
    text = f"{table.name}: samples are {sides[0]}{origin} ({shown(*samples)})"
    return text if features is None else f"{text}, features are {sides[1]} ({shown(*features)})"


def array_orientation(name, X, is_turned):
    """What was taken for samples and for features of an array of a file."""
    sides = ("columns", "rows") if is_turned else ("rows", "columns")
    samples, features = map(counted, X.shape, ("sample", "feature"))
    return f"{name}: {samples} in {sides[0]}, {features} in {sides[1]}"


def find_groups(table):
    """The columns of each view by its name, if texts of --columns are NAME=COLUMNS, else None."""
    pairs = [text.partition("=") for text in table.reading.columns]
    if any("=" in name for name in table.names) or not any(equals for _, equals, _ in pairs):
        return None
    groups = {}
    for name, equals, patterns in pairs:
        if not equals or name in groups:
            raise ValueError(
                f"--columns {name!r} needs the name of a view that no other has, as in "
                "person=age,city; person=!sex excludes a column"
            )
        groups[name] = [table.names[j] for j in select_columns(table, patterns)]
    return groups


def encode_groups(table, groups, encoder):
    """The encoder of groups of mixed columns, fitted if it is None, and their data frame."""
    names = set().union(*(groups or encoder.groups_).values())
    if absent := sorted(names.difference(table.names)):
        raise ValueError(
            f"{table.name} lacks {counted(len(absent), 'column')} of the model: {shown(*absent)}"
        )
    columns = [j for j, name in enumerate(table.names) if name in names]
    # A word among numbers is an error, not a category.
    # So is a number in doubt, unless the fit had such categories.
    words, n_cells, mark = table.words, table.cells.count(), table.reading.decimal
    kinds = {} if encoder is None else encoder.kinds_
    odd = [
        j
        for j in columns
        if j in words
        and kinds.get(table.names[j], "number") == "number"
        and (2 * len(words[j]) <= n_cells[j] or not mark and all(map(is_number, words[j])))
    ]
    check_text(table, odd)
    _check_infinite(table, columns)
    _check_codes(table, columns)
    frame = _frame(table, columns)
    if encoder is None:
        encoder = FrameEncoder(groups).fit(frame)
        kinds = (f"{name} ({kind})" for name, kind in encoder.kinds_.items())
        table.notes.append(f"{orientation(table)}; columns: {', '.join(kinds)}")
    return encoder, frame
