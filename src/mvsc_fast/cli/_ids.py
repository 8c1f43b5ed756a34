"""Detection of the column of each table that contains the ids of the samples."""

import re
from functools import cached_property
from itertools import combinations
from unicodedata import category, normalize

import numpy as np

from ..views._frames import shown
from ._columns import counts_rows, selected
from ._tables import CODE, ID_NAME, is_missing
from ._text import cell_of

LEAST = 10  # minimum number of distinct integers in the first column that look like ids
SEEN = 1000  # number of rows that show whether features are integers
SAMPLE_NAME = re.compile(
    r"TCGA-\w\w-\w{4}.*|GSM\d+|[SED]RR\d+|GTEX-.+"
    r"|(?:sample|patient|subject|case|donor|participant|individual|pat|pt)[ _.-]?\d+",
    re.IGNORECASE,
)
FEATURE_COLUMN = re.compile(
    r"hugo[ _.-]?symbol|gene(?:[ _.-].*|symbol)?|symbol|ensembl.*|id_ref|entrez.*|.*probe.*|cpg.*",
    re.IGNORECASE,
)
NUMBER = re.compile(r"[1-9]\d{,14}(?:\.\d*)?(?:e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)
# Changes of notation after which ids may agree.
CHANGES = {
    "the notation of numbers (as 5.0 for 5)": lambda one: (
        f"{float(one):.15g}" if NUMBER.fullmatch(one) else one
    ),
    "upper and lower case": str.casefold,
    "blanks": lambda one: re.sub(r"\s", "", one),
    "Unicode normalization or invisible characters": lambda one: "".join(
        char for char in normalize("NFKC", one) if category(char) != "Cf"
    ),
    "punctuation (as . for -)": lambda one: re.sub(r"[._\s-]", "-", one.strip()),
    "leading zeros": lambda one: re.sub(r"(?<!\d)0+(?=\d)", "", one),
}
PLAIN = "case, blanks, punctuation and zeros"


class Column:
    """A column that may contain ids: the text of each row that is not empty, or None."""

    def __init__(self, table, k, rows):
        self.table, self.k, self.rows = table, k, rows
        self.name = table.names[k].lower()
        self.named = any(table.names) and ID_NAME.fullmatch(self.name) is not None
        numbers = table.numbers[rows, k]
        cells = table.text.get(k)
        cells = [cells[row] for row in rows] if cells else list(map(cell_of, numbers.tolist()))
        missing = np.array(list(map(is_missing, cells)))
        codes = np.array([CODE.fullmatch(cell) is not None for cell in cells])
        words = ~missing & (np.isnan(numbers) | codes)
        whole = words | (numbers == np.floor(numbers)) | bool(self.name and self.named)
        mostly = 2 * words.sum() > (~missing).sum()
        self.text = bool(mostly or k == 0 and words.any() and (whole | missing).all())
        self.keys = [
            cell if known else None
            for cell, known in zip(cells, (whole | self.text) & ~missing, strict=True)
        ]
        self.set = set(self.keys)
        self.differ = None not in self.set and len(self.set) == len(self.keys)

    @cached_property
    def plain(self):
        """The ids in one notation."""
        return set(map(_plain, self.set))

    def title(self):
        return f"{self.table.title(self.k)} of {self.table.name}"

    def evident(self):
        """Whether the column looks like ids, without comparison with other tables."""
        if not self.differ or self.text or self.named:
            return self.differ
        values = self.table.numbers[self.rows, 0]
        others = self.table.numbers[self.rows[:SEEN], 1:]
        if self.k != 0 or others.shape[1] == 0:
            return False
        counted = len(values) > 2 and (np.diff(values) == 1).all()
        integers = (others == np.floor(others)).all(axis=0).mean() > 0.5
        return bool(counted or len(values) >= LEAST and any(self.table.names) and not integers)

    def agreement(self, other):
        """Score of the agreement of the ids in two columns; 0 if they differ."""
        common, fewer = len(self.set & other.set), min(len(self.set), len(other.set))
        if common < fewer / 2:  # ids in another notation, which are refused later
            common = len(self.plain & other.plain)
        named, text = self.name == other.name != "", self.text and other.text
        if common == 0 or common < fewer / 2 and not (text or named and self.named):
            return 0
        score = 8 * (self.set == other.set) + 4 * named + 2 * text + common / fewer
        counts = any(one.k == 0 and counts_rows(one.table) for one in (self, other))
        return score / 16 if counts else score


def find_ids(tables, option, features):
    """The `Column` with the ids of each table or None, sets of other columns of ids, and notes.

    ``features`` are for each table the columns that are not ids.
    """
    if option not in ("auto", "none"):
        return [_named(table, option) for table in tables], [set() for _ in tables], []
    known = [_candidates(table, own) for table, own in zip(tables, features, strict=True)]
    candidates = [[one for one in own if one.differ] for own in known]
    evident = [[one for one in own if one.evident()] for own in candidates]
    if option == "none":
        return [None] * len(tables), [{one.k for one in own} for own in evident], []
    # Prefer text to numbers, and columns with a typical name of ids to others.
    evident = [
        min(
            own,
            default=None,
            key=lambda one: (not (one.text and one.name and one.named), not one.text, one.k),
        )
        for own in evident
    ]
    found = _agreeing(candidates)
    if not any(found):  # then at most one table has ids
        first = next((i for i, one in enumerate(evident) if one), None)
        found = [one if i == first else None for i, one in enumerate(evident)]
    chosen = next(filter(None, found), None)
    others = [None if one else other for one, other in zip(found, evident, strict=True)]
    for other in filter(None, others):
        check_alike(chosen.table.name, chosen.keys, other.table.name, other.keys)
    _check_orientation(
        tables,
        [
            one or next((own for own in all_ if own.k == 0 and own.text), None)
            for one, all_ in zip(found, known, strict=True)
        ],
        all(found),
    )
    for one, all_ in zip(found, known, strict=True):
        _check_repeated([] if one else all_, chosen)
    for other in filter(None, others):
        raise ValueError(
            f"{chosen.title()} and {other.title()} look like ids ({shown(*chosen.keys[:2])} and "
            f"{shown(*other.keys[:2])}), but have no id in common: select the column of ids with "
            "--id-column, or use --id-column none and exclude both with --columns to match rows "
            "by position"
        )
    copies = [
        {
            one.k
            for one in own
            if ids
            and one.k != ids.k
            and any(
                one.set == other.set or other in found and one.agreement(other)
                for rest in candidates
                if rest is not own
                for other in rest
            )
        }
        for own, ids in zip(candidates, found, strict=True)
    ]
    return found, copies, _notes(found, tables)


def _candidates(table, features):
    """Columns of mostly distinct text or integers, except those selected as features."""
    rows = table.filled
    columns = [Column(table, k, rows) for k in sorted(table.text.keys() - features)]
    return [one for one in columns if 2 * len(one.set - {None}) > len(rows)]


def _named(table, option):
    """The column that --id-column selects."""
    k = 0 if table.transposed else selected(table, option).columns[0]
    column = Column(table, k, table.filled)
    check_distinct(column)
    return column


def _agreeing(candidates):
    """For each table, the column that agrees best with the columns of other tables, or None."""
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


def _plain(one):
    for change in CHANGES.values():
        one = change(one)
    return one


def differ_by(ours, theirs):
    """The difference in notation between two collections of ids, with an example, or None."""
    ours, theirs = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
    least = max(1, min(len(ours), len(theirs)) / 2)
    for what, change in {**CHANGES, PLAIN: _plain}.items():
        changed = {change(one): one for one in theirs}
        pairs = [(one, changed[change(one)]) for one in ours if change(one) in changed]
        if len(pairs) >= least:
            return what, pairs[0]
    for few, many in ((ours, theirs), (theirs, ours)):
        heads = {_plain(one): one for one in few}
        cuts = (
            (one, _plain(one[: cut.start()])) for one in many for cut in re.finditer("[._ -]", one)
        )
        pairs = [(one, heads[head]) for one, head in cuts if head in heads]
        if len(pairs) >= least:
            return "their endings", pairs[0]
    return None


def check_alike(name, ours, other_name, theirs):
    """Raise ValueError if the ids of two files differ only in notation."""
    found = differ_by(ours, theirs) if ours and theirs else None
    if found is not None:
        what, (one, other) = found
        raise ValueError(
            f"the ids of {name} and {other_name} differ only in {what}, such as {one!r} and "
            f"{other!r}: use the same notation"
        )


def check_distinct(column):
    """Raise ValueError if ids are missing or occur more than once."""
    table, k, twice = column.table, column.k, {}
    for row, one in zip(column.rows, column.keys, strict=True):
        if one is None:
            cell = table.text[k][row] if k in table.text else cell_of(table.numbers[row, k])
            raise ValueError(f"{table.name}: {table.where(row, k)} is {cell!r}, which is not an id")
        twice.setdefault(one, []).append(row)
    twice = {one: rows for one, rows in twice.items() if len(rows) > 1}
    if twice:
        parts = [
            f"{one!r} in {' and '.join(table.rows[row] for row in rows)}"
            for one, rows in list(twice.items())[:3]
        ]
        more = "" if len(twice) <= 3 else f", ... ({len(twice)} ids)"
        raise ValueError(
            f"{table.name}: ids in {table.title(k)} occur more than once: "
            f"{', '.join(parts)}{more}: keep one row for each, or use another --id-column"
        )


def _check_repeated(columns, chosen):
    """Raise ValueError if ids of one of these columns are missing or occur more than once."""
    for column in columns:
        keys = column.set - {None}
        common = 0 if chosen is None else len(keys & chosen.set)
        if 2 * common > len(keys) or column.k == 0 and column.text:
            check_distinct(column)


# ------------------------------------------------------------------------------------ orientation


def _column_names(table):
    """Names of the columns without text, which are samples if the table has to be transposed."""
    return [one for k, one in enumerate(table.names) if k not in table.words and one]


def _check_orientation(tables, found, agree):
    """Raise ValueError if the names of rows and columns indicate that the columns are samples."""
    names = [set(() if table.transposed else _column_names(table)) for table in tables]
    for (i, one), (j, other) in () if agree else combinations(enumerate(found), 2):
        shared = names[i] & names[j]
        least = max(2, min(len(names[i]), len(names[j])) / 2)
        if one and other and not one.set & other.set and len(shared) > least:
            raise ValueError(
                f"the columns of {tables[i].name} and {tables[j].name} have the same names "
                f"({shown(*sorted(shared)[:2])}), but their rows ({shown(*one.keys[:2])} and "
                f"{shown(*other.keys[:2])}) do not: use --transpose if the columns are the samples"
            )
        for rows, k in ((one, j), (other, i)):
            if rows and 2 * len(rows.set & names[k]) > min(len(rows.set), len(names[k])):
                raise ValueError(
                    f"the rows of {rows.table.name} are the columns of {tables[k].name}: "
                    f"use --transpose '{tables[k].name}' to read its columns as samples"
                )
    for table, rows in zip(tables, found, strict=True):
        names = _column_names(table)
        like = sum(SAMPLE_NAME.fullmatch(one) is not None for one in names) > max(
            1, 0.9 * len(names)
        )
        if like and table.transposed:
            raise ValueError(
                f"{table.name}: its features are {shown(*names)}, which look like samples: "
                "read it without --transpose"
            )
        first = "" if table.transposed else table.names[0]
        if rows is not None and (like or first and FEATURE_COLUMN.fullmatch(first)):
            raise ValueError(
                f"{table.name}: its columns ({shown(*names)}) look like samples and its rows like "
                f"features: use --transpose to read columns as samples, or --id-column "
                f"'{first or 1}' to keep rows as samples"
            )


def _notes(found, tables):
    """Notes on the columns that are used as ids."""
    ids = [one for one in found if one is not None]
    if not ids:
        return []
    places = {}
    for one in ids:
        places.setdefault(one.table.title(one.k), []).append(one.table.name)
    parts = "; ".join(f"{title} of {', '.join(names)}" for title, names in places.items())
    way = "" if ids[0].table.transposed else " (to change this, use --id-column)"
    notes = [f"ids are {parts}{way}"]
    if len(ids) == len(tables) and len(tables) > 1:
        first = ids[0]
        if any(one.keys != first.keys and one.set == first.set for one in ids[1:]):
            notes.append("files have the ids in different orders: rows are matched by id")
    same = {tuple(table.names[1:]) for table in tables if not table.transposed}
    if len(tables) > 1 and len(same) == 1 and any(*same) and not tables[0].transposed:
        notes.append(
            "the columns of all files have the same names: their rows are read as samples; "
            "use --transpose to read the columns as samples"
        )
    return notes
