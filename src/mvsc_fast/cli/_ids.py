"""Detection of the column of each table that has the ids of the samples."""

import re
from itertools import combinations

import numpy as np

from ..views._frames import shown
from ._columns import columns_named
from ._tables import ID_NAME, SAMPLES, is_missing

LEAST = 10  # rows from which integers in front that all differ look like ids
SAMPLE_NAME = re.compile(
    r"TCGA-\w\w-\w{4}.*|GSM\d+|[SED]RR\d+|GTEX-.+"
    r"|(?:sample|patient|subject|case|donor|participant|individual|pat|pt)[ _.-]?\d+",
    re.IGNORECASE,
)
FEATURE_COLUMN = re.compile(
    r"hugo[ _.-]?symbol|gene(?:[ _.-].*|symbol)?|symbol|ensembl.*|id_ref|entrez.*|.*probe.*|cpg.*",
    re.IGNORECASE,
)
# Changes after which ids may agree that do not agree as they are written.
CHANGES = {
    "upper and lower case": str.casefold,
    "blanks": lambda one: re.sub(r"\s", "", one),
    "punctuation (as . for -)": lambda one: re.sub(r"[._\s-]", "-", one.strip()),
    "leading zeros": lambda one: re.sub(r"(?<!\d)0+(?=\d)", "", one),
}


def key_of(cell):
    """The id in a cell: text unchanged, integers in one notation, else None."""
    if re.fullmatch(r"\s*-?(?:0|[1-9]\d*)\s*", cell):
        return cell.strip()
    if is_missing(cell):
        return None
    try:
        value = float(cell)
    except ValueError:
        return cell
    if "_" in cell or re.fullmatch(r"\s*\d+\s*", cell):  # 0012 and 12 are two ids
        return cell
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else None


class Column:
    """A column that may have ids: a key for each row that is not empty."""

    def __init__(self, table, k, rows):
        cells = table.cells[k]
        self.table, self.k, self.rows = table, k, rows
        self.keys = [key_of(cells[row]) for row in rows]
        self.set = set(self.keys)
        self.whole = None not in self.set  # without gaps and fractions
        self.differ = self.whole and len(self.set) == len(self.keys)
        self.text = k in table.text or k == SAMPLES
        self.name = "" if k == SAMPLES or table.names is None else table.names[k].strip().lower()

    def title(self):
        return f"{self.table.title(self.k)} of {self.table.name}"

    def evident(self):
        """Whether the column looks like ids, without comparison to other tables."""
        named = self.table.names is not None and self.k >= 0 and ID_NAME.fullmatch(self.name)
        if not self.differ or self.text or named:
            return self.differ
        values = self.table.numbers[self.rows, self.k]
        if self.k != 0 or self.table.numbers.shape[1] < 2:
            return False
        counted = len(values) > 2 and (np.diff(values) == 1).all()
        others = self.table.numbers[self.rows, 1:]
        integers = (others == np.floor(others)).all(axis=0).mean() > 0.5
        return bool(
            counted or len(values) >= LEAST and self.table.names is not None and not integers
        )

    def counts(self):
        """Whether the column has no name and numbers the rows, as in exported data frames."""
        values = self.table.numbers[self.rows, self.k] if self.k == 0 else np.zeros(2)
        return self.name in ("", "unnamed: 0") and bool((np.diff(values) == 1).all())

    def agreement(self, other):
        """Score of how well the ids of two columns agree; 0 if they differ."""
        common, fewer = len(self.set & other.set), min(len(self.set), len(other.set))
        named = self.name == other.name != "" or self.k == other.k == SAMPLES
        text = self.text and other.text
        alike = text or named and ID_NAME.fullmatch(self.name)
        if common < (1 if alike else fewer / 2) or common == 0:
            return 0
        score = 8 * (self.set == other.set) + 4 * named + 2 * text + common / fewer
        return score / 16 if self.counts() or other.counts() else score


def find_ids(tables, wanted="auto", columns=None):
    """The column with the ids of each table.

    Parameters
    ----------
    tables : list of Table
    wanted : str, default="auto"
        A name, a number from 1, "none" or "auto".
    columns : list of (str or None), optional
        --columns of each table: what it names is not an id.

    Returns
    -------
    columns : list of (Column or None)
    twins : list of set of int
        Other columns that agree as well as the ids do.
    notes : list of str
    """
    rows = [np.flatnonzero(table.filled()).tolist() for table in tables]
    if wanted not in ("auto", "none"):
        named = [_named(table, wanted, own) for table, own in zip(tables, rows, strict=True)]
        return named, [set() for _ in tables], []
    candidates, repeated = [], []
    for table, own, given in zip(tables, rows, columns or [None] * len(tables), strict=True):
        d = table.numbers.shape[1]
        out = set() if given is None else columns_named(given, table.names, d, table.name)[1]
        known = [Column(table, k, own) for k in sorted(set(table.cells) - out)
                 if _mostly_differs(table, k, own)]  # fmt: skip
        candidates.append([one for one in known if one.differ])
        repeated.append([one for one in known if not one.differ])
    evident = [_first_evident(known) for known in candidates]
    if wanted == "none":
        taken = [{one.k for one in known if one.evident()} for known in candidates]
        return [None] * len(tables), taken, []
    found = _agreeing(candidates)
    if not any(found):  # only one table may have ids then
        first = next((i for i, one in enumerate(evident) if one), None)
        found = [one if i == first else None for i, one in enumerate(evident)]
    chosen = next(filter(None, found), None)
    for one, other in zip(found, evident, strict=True):
        if one is None and other is not None:
            check_alike(chosen.table.name, chosen.keys, other.table.name, other.keys)
    names = [
        one or next((own for own in known if own.k <= 0 and own.text), None)
        for one, known in zip(found, map(list.__add__, candidates, repeated), strict=True)
    ]
    if not all(found):
        _check_pairs(tables, names)
    for table, one in zip(tables, names, strict=True):
        _check_names(table, one)
    for one, other, known in zip(found, evident, repeated, strict=True):
        if one is None:
            _check_repeated(known, chosen)
            if other is not None:
                _refuse(chosen, other)
    return found, [_twins(i, found, candidates) for i in range(len(found))], _said(found, tables)


def _twins(i, found, candidates):
    """Columns of table ``i``, but for its ids, that agree with those or a column of others."""
    if found[i] is None:
        return set()
    others = [one for j, known in enumerate(candidates) if j != i for one in known]
    ids = [one for j, one in enumerate(found) if j != i and one is not None]
    return {one.k for one in candidates[i] if one.k != found[i].k and (
        any(one.set == other.set for other in others) or any(map(one.agreement, ids)))}  # fmt: skip


def _mostly_differs(table, k, rows):
    """Whether most cells differ, which only text and ids do."""
    if k in table.text or k == SAMPLES:
        return True
    return 2 * len(np.unique(table.numbers[rows, k])) > len(rows)


def _named(table, wanted, rows):
    """The column that --id-column names."""
    k = SAMPLES
    if k not in table.cells:
        k = columns_named(wanted, table.names, table.numbers.shape[1], table.name)[0][0]
    if k not in table.cells:
        table.cells[k] = [f"{value:.17g}" for value in table.numbers[:, k].tolist()]
    column = Column(table, k, rows)
    check_distinct(column)
    return column


def _first_evident(columns):
    """Text before numbers, and a name of ids before others."""
    evident = [one for one in columns if one.evident()]
    order = [(not (one.text and one.name and ID_NAME.fullmatch(one.name)), not one.text, one.k)
             for one in evident]  # fmt: skip
    return evident[order.index(min(order))] if evident else None


def _agreeing(candidates):
    """For each table the column that agrees best with one column of the others, or None."""
    best, most = [None] * len(candidates), (0, 0)
    for i, columns in enumerate(candidates):
        for column in columns:
            found, total = [None] * len(candidates), 0
            found[i] = column
            for j, others in enumerate(candidates):
                if j != i:
                    scores = [column.agreement(other) for other in others]
                    if any(scores):
                        found[j] = others[scores.index(max(scores))]
                        total += max(scores)
            count = sum(one is not None for one in found)
            if count > 1 and (count, total) > most:
                best, most = found, (count, total)
    return best


# ---------------------------------------------------------------------------- what is not matched


def differ_by(ours, theirs):
    """The notation in which two collections of ids differ, with an example, or None."""
    ours, theirs = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
    least = max(1, min(len(ours), len(theirs)) / 2)

    def all_changes(one):
        for change in CHANGES.values():
            one = change(one)
        return one

    for what, change in {**CHANGES, "case, blanks, punctuation and zeros": all_changes}.items():
        changed = {change(one): one for one in theirs}
        pairs = [(one, changed[change(one)]) for one in ours if change(one) in changed]
        if len(pairs) >= least:
            return what, pairs[0]
    for few, many, turned in ((ours, theirs, False), (theirs, ours, True)):
        heads, pairs = {all_changes(one): one for one in few}, []
        for one in many:
            parts = re.split(r"(?=[._ -])", one)
            cuts = (all_changes("".join(parts[:i])) for i in range(len(parts) - 1, 0, -1))
            head = next((heads[cut] for cut in cuts if cut in heads), None)
            pairs += [] if head is None else [(one, head) if turned else (head, one)]
        if len(pairs) >= max(1, min(len(few), len(many)) / 2):
            return "what follows them", pairs[0]
    return None


def check_alike(name, ours, other_name, theirs):
    """Raise ValueError if the ids of two files differ only in notation."""
    found = differ_by(ours, theirs)
    if found is not None:
        what, (one, other) = found
        raise ValueError(
            f"the ids of {name} and {other_name} differ only in {what}, such as {one!r} and "
            f"{other!r}: use the same notation"
        )


def _refuse(one, other):
    """Raise ValueError for two columns that look like ids but do not agree."""
    raise ValueError(
        f"{one.title()} and {other.title()} look like ids ({shown(*one.keys[:2])} and "
        f"{shown(*other.keys[:2])}), but have none in common: --id-column names the column of ids; "
        "--id-column none, with these two excluded by --columns, matches rows by position"
    )


def check_distinct(column):
    """Raise ValueError if ids are missing or occur more than once."""
    table, seen, twice = column.table, {}, {}
    for row, one in zip(column.rows, column.keys, strict=True):
        if one is None:
            raise ValueError(f"{table.name}: {table.where(row, column.k)} is not an id: "
                             f"it is {table.cells[column.k][row]!r}")  # fmt: skip
        if one in seen:
            twice.setdefault(one, [seen[one]]).append(row)
        seen[one] = row
    if twice:
        told = [f"{one!r} in {table.unit}s {', '.join(str(table.lines[row]) for row in rows)}"
                for one, rows in list(twice.items())[:3] if column.k != SAMPLES]  # fmt: skip
        told = told or [repr(one) for one in list(twice)[:3]]
        more = "" if len(twice) <= 3 else f", ... ({len(twice)} ids)"
        raise ValueError(
            f"{table.name}: ids in {table.title(column.k)} occur more than once: "
            f"{', '.join(told)}{more}: keep one row for each, or --id-column names another column"
        )


def _check_repeated(columns, chosen):
    """Raise ValueError if a column has ids of which some are missing or occur more than once."""
    for column in columns:
        keys = [one for one in column.keys if one is not None]
        if 2 * len(set(keys)) <= len(column.keys):
            continue
        common = 0 if chosen is None else len(set(keys) & chosen.set)
        if 2 * common > len(set(keys)) or column.k <= 0 and column.text:
            check_distinct(column)


# ------------------------------------------------------------------------------------ orientation


def _column_names(table):
    """Names of the columns that are not text: those of the samples if they are the columns."""
    return [one for k, one in enumerate(table.names or []) if k not in table.text and one]


def _check_pairs(tables, found):
    """Raise ValueError if the names of rows and columns show that samples are columns."""
    names = [set(_column_names(table)) if table.places is None else set() for table in tables]
    for (i, one), (j, other) in combinations(enumerate(found), 2):
        shared = names[i] & names[j]
        least = max(2, min(len(names[i]), len(names[j])) / 2)
        if one and other and not one.set & other.set and len(shared) > least:
            raise ValueError(
                f"the columns of {tables[i].name} and {tables[j].name} have the same names "
                f"({shown(*sorted(shared)[:2])}), their rows ({shown(*one.keys[:2])} and "
                f"{shown(*other.keys[:2])}) do not: --transpose reads tables whose samples are the "
                "columns"
            )
        for rows, k in ((one, j), (other, i)):
            if rows and 2 * len(rows.set & names[k]) > min(len(rows.set), len(names[k])):
                raise ValueError(
                    f"the rows of {rows.table.name} are the columns of {tables[k].name}: "
                    f"--transpose '{tables[k].name}' reads its columns as samples"
                )


def _check_names(table, rows):
    """Raise ValueError if columns have names like samples, or rows have names like features."""
    names = _column_names(table)
    like = sum(SAMPLE_NAME.fullmatch(one) is not None for one in names) > max(1, 0.9 * len(names))
    if like and table.places is not None:
        raise ValueError(
            f"{table.name}: its features would be {shown(*names)}, which look like samples: read "
            "it without --transpose"
        )
    first = table.names[0] if table.names and table.places is None else ""
    if rows is not None and (like or first and FEATURE_COLUMN.fullmatch(first)):
        raise ValueError(
            f"{table.name}: its columns ({shown(*names)}) look like samples, its rows like "
            f"features: --transpose reads columns as samples; --id-column '{first or 1}' keeps its "
            "rows as samples"
        )


def _said(found, tables):
    """Notes on the columns that are used as ids."""
    ids = [one for one in found if one is not None]
    if not ids:
        return []
    places = {}
    for one in ids:
        places.setdefault(one.table.title(one.k), []).append(one.table.name)
    told = "; ".join(f"{title} of {', '.join(names)}" for title, names in places.items())
    way = (
        "" if all(one.k == SAMPLES for one in ids) else " (--id-column names another one, or none)"
    )
    notes = [f"ids are {told}{way}"]
    if len(ids) == len(tables) and len(tables) > 1:
        first = ids[0]
        if any(one.keys != first.keys and one.set == first.set for one in ids[1:]):
            notes.append("files have the ids in another order: rows are matched by id")
    same = (
        {table.names and tuple(table.names)[1:] for table in tables} if len(tables) > 1 else {None}
    )
    if len(same) == 1 and None not in same and all(table.places is None for table in tables):
        notes.append(
            "the columns of all files have the same names: their rows are taken as samples; "
            "--transpose takes the columns"
        )
    return notes
