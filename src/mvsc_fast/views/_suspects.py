"""Columns that are hardly features, by their names and values."""

import re

import numpy as np
import scipy.sparse

from .._utils.messages import warn_user
from ._frames import shown, view_title
from ._lift import count_varying

MAX_CLASSES = 50  # maximum number of values of a column of labels
MAX_STATES = 3  # maximum number of values of an event beside a time
WHO = (
    "samples?|patients?|u?subj(?:ects?)?|cases?|cells?|donors?|participants?|individuals?|specimens?"
    "|animals?|mouse|customers?|users?|clients?|persons?|members?|employees?"
)
ID_NAME = re.compile(
    rf"(?i:[up]?ids?|mrn|nr|no|number|names?|key|barcodes?|accession|records?"
    rf"|(?:{WHO})(?:[ _.-]?(?:id|no|nr|num|number|name|code|barcode))?[.#]?"
    r"|(?:pt|study|school|family)[ _.-]?(?:id|no|nr|num|number|code)"
    r"|.*[ _.-](?:id|nr|no)\.?|id[ _.-].+)|.*[a-z](?:ID|Id|Nr|No)"
)
LABEL = re.compile(
    r"(?!(?:age|year)[ _.-])(?:y|gt"
    r"|(?:.*[ _.-])?(?:class(?:es)?|clusters?|labels?|targets?|truth|subtypes?|diagnos[ei]s"
    r"|outcomes?|phenotype|species)|groups?|conditions?|variety|pam50.*|(?:leiden|louvain).*"
    r"|cell[ _.-]?types?.*|.*histolog.*|quality|malignan(?:t|cy)|default(?:ed|[ _.-].*)?"
    r"|(?:.*[ _.-])?(?:fraud|spam))",
    re.IGNORECASE,
)
SURVIVAL = re.compile(
    r"(?:os|dss|dfi|pfi|dfs|pfs|rfs|efs)(?:[ _.-]?(?:time|status|event|days|months|years))?"
    r"|vital[ _.-]?status|.*surviv.*|(?:days|months|time)[ _.-]to[ _.-](?:death|event|last[ _.-].*)"
    r"|fu[ _.-]?(?:time|stat(?:us)?|days|months)|death[ _.-](?:event|status|time|days)",
    re.IGNORECASE,
)
EVENT = re.compile(
    r"e|status|delta|cens(?:or(?:ed|ing)?)?|tumou?r|fail(?:ed|ure)?|churn(?:ed)?|exited|attrition"
    r"|readmi(?:tted|ssion)|mortality"
    r"|(?:.*[ _.-])?(?:events?|death|dead|deceased|died|relapsed?|recurrence|recurred)",
    re.IGNORECASE,
)
TIME = re.compile(
    r"t|(?:.*[ _.-])?(?:time|days|months|weeks|years|duration|tenure|follow[ _.-]?up)",
    re.IGNORECASE,
)


def outcome_columns(names, values):
    """The columns with the names and values of labels or outcomes.

    ``names`` are a dict of the names of columns, and ``values`` is a function that returns the
    values of a column, by its key in ``names``, without those that are missing.
    """

    def n_distinct(k):
        return len(set(values(k)))

    # Names alone are ambiguous: the number of distinct values decides with them.
    survival = [k for k, name in names.items() if SURVIVAL.fullmatch(name)]
    states = {k: n_distinct(k) for k, name in names.items() if EVENT.fullmatch(name)}
    # A time is an outcome beside an event, which may have a third state, such as a transplant.
    possible_events = [k for k, n in states.items() if n <= MAX_STATES]
    timed = survival or possible_events
    times = [k for k, name in names.items() if timed and TIME.fullmatch(name)]
    events = possible_events if times else [k for k, n in states.items() if n == 2]
    labels = []
    for k, name in names.items():
        if LABEL.fullmatch(name):
            n = len(values(k))
            if n_distinct(k) <= min(MAX_CLASSES, max(2, n // 2)):
                labels.append(k)
    return sorted({*survival, *events, *times, *labels})


def id_columns(names, values):
    """The columns with the name of ids whose values are text or distinct integers."""
    suspects = []
    for k, name in names.items():
        if not ID_NAME.fullmatch(name):
            continue
        column = np.asarray(values(k))
        # Numbers are ids if they are whole, and distinct unless the name is unmistakable.
        if column.dtype.kind == "f":
            strict = re.search(r"id\b|Id\b|ID\b|mrn|(?i:num)\b", name)
            whole = len(column) > 0 and bool((column == np.floor(column)).all())
            if not whole or not strict and len(set(column.tolist())) < len(column):
                continue
        suspects.append(k)
    return suspects


def constant_columns(X):
    """Positions of the columns of a matrix with a single value other than 0."""
    if len(X) < 2:
        return []
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)  # without missing cells
    equal = np.flatnonzero((low == high) & (low != 0)).tolist()
    return [j for j in equal if np.count_nonzero(X[:, j] == low[j]) > 1]


def find_suspects(names, values, constants):
    """Columns that look like labels or outcomes, like ids and like constants, and what they are.

    ``names`` and ``values`` are as in `outcome_columns`.
    """
    outcomes, ids = outcome_columns(names, values), id_columns(names, values)
    return (outcomes, "labels or outcomes"), (ids, "ids"), (constants, "constants")


def warn_of_suspects(views, names, columns):
    """Warn of named columns that are hardly features.

    The columns of sparse views are words, genes or the like, and may have any name.

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Rows and cells may be NaN.
    names : list
    columns : list of (list of str or None)
        Names of the columns of each view, see `RowSource`.
    """
    for X, name, titles in zip(views, names, columns, strict=True):
        # There is another warning of equal samples.
        if titles is not None and not scipy.sparse.issparse(X) and count_varying(X):
            _warn_of_view(X, name, titles)


def _warn_of_view(X, name, columns):
    def values(k):
        return X[~np.isnan(X[:, k]), k].tolist()

    pairs = find_suspects(dict(enumerate(columns)), values, constant_columns(X))
    for suspects, kind in pairs:
        if suspects:
            warn_user(
                f"{view_title(name)} has columns that look like {kind}, not like features: "
                f"{shown(*(columns[k] for k in suspects))}. Remove them, unless they are features"
            )
