"""Columns of a table by name, and the one with the ids of the samples."""

import re
from fnmatch import fnmatchcase

import numpy as np

from ._text_tables import ID_NAME

MANY = 10  # samples from which integers that only ascend, or only differ, are ids


def columns_named(columns, names, n_columns, what):
    """Positions of the columns that a text such as "height,w*,4-9" names, in its order."""
    found = []
    for one in (part.strip() for part in columns.split(",")):
        numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", one)
        if names is not None and one in names:
            new = [k for k, name in enumerate(names) if name == one]
        elif numbers:
            low, high = int(numbers[1]), int(numbers[2] or numbers[1])
            if not 1 <= low <= high <= n_columns:
                raise ValueError(f"{what}: no columns {one}, it has {n_columns}")
            new = range(low - 1, high)
        else:
            new = [k for k, name in enumerate(names or []) if one and fnmatchcase(name, one)]
        if not new:
            held = f"its columns are {', '.join(names[:8])}" if names else "it has no header"
            raise ValueError(f"{what}: no column {one!r} ({held})")
        found += [k for k in new if k not in found]
    return found


def is_number(text):
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def ids_among(raw, candidates):
    """The column that holds ids, and why, or (None, "").

    In this order: a column called id, index, sample_id or alike, or not at all where others have
    names, with distinct integers or texts; one of distinct texts; the first one where it counts the
    samples, or, of ten samples or more, where its integers ascend or are consecutive in any order.

    Raises
    ------
    ValueError
        If a column is called so, and holds something twice.
    """
    for k in candidates:
        if raw.names is not None and ID_NAME.fullmatch(raw.names[k]) and _is_discrete(raw, k):
            if _distinct(raw.columns[k]):
                return k, "by its name" if raw.names[k] else "it has no name"
            raise ValueError(
                f"{raw.name}: {raw.title(k)} has the name of ids, but not a different one for "
                "every sample: --columns names the features, --id-column another column, or none"
            )
    for k in candidates:
        if raw.columns[k].dtype == object and _is_discrete(raw, k) and _distinct(raw.columns[k]):
            return k, "texts, all different"
    if 0 in candidates and len(raw.columns) > 1 and _is_discrete(raw, 0):
        column = raw.columns[0]
        steps = np.diff(column) if column.dtype != object else np.zeros(1)
        if len(column) > 2 and (steps == 1).all():
            return 0, "consecutive integers"
        if len(column) >= MANY and (steps > 0).all():
            return 0, "ascending integers"
        if len(column) >= MANY and column.max() - column.min() == len(column) - 1:
            if _distinct(column):
                return 0, "consecutive integers in another order"
    return None, ""


def _is_discrete(raw, k):
    """Whether a column has integers, or texts that are no numbers, in every row."""
    column = raw.columns[k]
    if column.dtype == object:
        return all(isinstance(cell, str) and not is_number(cell) for cell in column)
    if column.dtype.kind == "f":
        return bool(np.isfinite(column).all() and (column == np.floor(column)).all())
    return column.dtype.kind in "iu"


def _distinct(column):
    return len(set(column.tolist())) == len(column)


def id_column_of(raw, wanted, chosen, notes):
    """Position of the column with ids, or None."""
    if wanted in (None, "none"):
        return None
    if wanted != "auto":
        k = columns_named(str(wanted), raw.names, len(raw.columns), raw.name)[0]
        column = raw.columns[k]
        if not _distinct(column):
            cells, seen = column.tolist(), set()
            twice = next(row for row, one in enumerate(cells) if one in seen or seen.add(one))
            raise ValueError(
                f"{raw.name}: the id {cells[twice]!r} occurs again in {raw.where(twice, k)}"
            )
        return k
    candidates = [k for k in range(len(raw.columns)) if chosen is None or k not in chosen]
    k, reason = ids_among(raw, candidates)
    if k is not None:
        notes.append(
            f"{raw.name}: {raw.title(k)} is taken as ids, not as a feature ({reason}); "
            "--id-column none makes it a feature"
        )
        return k
    return None


def ids_of(raw, k):
    """Ids as integers, or as texts where they are, or begin with zeros."""
    text, numbers = raw.as_text(k), raw.columns[k]
    if numbers.dtype == object or not _is_discrete(raw, k):
        return text
    if any(re.fullmatch(r"0\d+", one.strip()) for one in text):
        return text
    return numbers.astype(np.int64)
