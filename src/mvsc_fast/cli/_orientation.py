"""Tables whose columns are samples."""

import re
import shlex
from collections import Counter
from dataclasses import replace

import numpy as np

from .._utils.messages import import_extra
from ..views._frames import shown
from ._features import check_distinct_ids, has_ids, is_counter, refuse_text, select
from ._tables import FEATURE_NAMES, as_text

SAMPLE_NAME = re.compile(r"TCGA-\w\w-\w{4}.*|GSM\d+|[SED]RR\d+|GTEX-.+", re.IGNORECASE)
ANNOTATION = re.compile(
    r"(?:.*[ _.-])?(?:id|start|end|strand|length|position)|chr(?:om(?:osome)?)?(?:[ _.-].*)?"
    r"|entrez.*|genomic[ _.-].*",
    re.IGNORECASE,
)
MAX_ODD = 0.2  # maximum share of columns that differ in kind from the other ones
MAGNITUDE = 100  # ratio of means from which columns differ in kind


def transpose(table, known_ids, headers, pattern):
    """The table whose rows are columns of this one, the samples.

    ``known_ids`` are ids of other files, ``headers`` names of columns of others that are transposed
    as well, and ``pattern`` is the option --samples.
    """
    pandas = import_extra("pandas", table.name)
    columns, names = list(table.cells), table.names
    titled = FEATURE_NAMES.fullmatch(names[columns[0]]) or has_ids(table, columns[0])
    title, columns = (columns[0], columns[1:]) if titled else (None, columns)
    values = {k: table.numbers(k) for k in columns}
    if pattern:
        samples = [k for k in select(names, pattern, table.name)[0] if k in values]
    else:
        samples = _sample_columns(table, values, known_ids, headers)

    # Text in a column that is a sample is an error, and so are numbers of unknown notation.
    way = "use --samples to select the columns that are samples"
    suspects = samples or [k for k in columns if values[k] is None]
    if text := [k for k in suspects if table.is_text(k)]:
        refuse_text(table, text, way)
    if not samples:
        raise ValueError(f"{table.name}: no column of numbers, as of a sample with --transpose")
    if ignored := [table.label(k) for k in columns if k not in samples]:
        table.notes.append(
            f"{table.name}: columns that are no samples are ignored: {shown(*ignored)}"
        )

    # The header has the ids, and the first column the names of the features.
    cells = pandas.DataFrame([values[k] for k in samples], samples, table.cells.index)
    titles = dict.fromkeys(cells, "")
    if titled:
        text = table.cells[title].map(as_text, na_action="ignore").fillna("")
        titles = dict(zip(cells, text, strict=True))
    turned = replace(table, cells=cells, names=titles, units=table.units[::-1])
    if not any(names.values()):
        return turned
    ids = pandas.Series([names[k] for k in samples], samples)
    check_distinct_ids(replace(turned, names={0: ""}), 0, ids)
    table.notes.append(f"ids are the header of {table.name}")
    return replace(turned, ids=ids.tolist(), id_name="id")


def _sample_columns(table, values, known_ids, headers):
    """The columns that are samples, by other files and by what most columns are."""
    names = table.names
    # Text describes features, but a column with numbers may be a sample with an error.
    samples = [k for k in values if values[k] is not None or _has_numbers(table, k)]
    samples = [k for k in samples if names[k] in known_ids or not ANNOTATION.fullmatch(names[k])]
    if text := [k for k in samples if values[k] is None]:
        refuse_text(table, text, "use --samples if other columns are the samples, not")

    # Columns of another kind are no samples if other files lack them; with one file, who knows.
    odd = [k for k in _odd_columns(table, values, samples) if names[k] not in known_ids]
    if known_ids or headers:
        samples = [k for k in samples if k not in odd or names[k] in headers]
    odd = [k for k in odd if k in samples]
    if odd:
        parts = ",".join(f"!{table.label(k)}" for k in odd[:5])
        raise ValueError(
            f"{table.name} has columns that are unlike the other {len(samples) - len(odd)} in "
            f"kind: {shown(*map(table.label, odd))}; --samples {shlex.quote(parts)} excludes them, "
            "--samples '*' uses all columns"
        )
    return samples


def _has_numbers(table, k):
    return any(table.notation.number(cell) is not None for cell in table.cells[k].dropna())


def _odd_columns(table, values, columns):
    """Columns whose names or values differ in kind from those of most other ones."""
    digits, shapes, whole, sizes = {}, {}, {}, {}
    for k in columns:
        X = values[k][np.isfinite(values[k])]
        digits[k] = any(map(str.isdigit, table.names[k]))
        shapes[k] = re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", table.names[k]))
        whole[k] = bool((X % 1 == 0).all())
        sizes[k] = float(np.abs(X).mean()) if len(X) else 0.0
    typical = np.median(list(sizes.values())) if sizes else 0
    shape, _ = Counter(shapes.values()).most_common(1)[0] if shapes else ("", 0)

    # A kind is a property that most columns have, or that most lack.
    odd = {k for k in columns if is_counter(table, k)}
    for kind in (
        digits,
        {k: shapes[k] == shape for k in columns},
        whole,
        {k: sizes[k] > MAGNITUDE * typical for k in columns},
    ):
        few = [k for k in columns if kind[k] != (2 * sum(kind.values()) > len(columns))]
        odd.update(few if len(few) <= MAX_ODD * len(columns) else ())
    return sorted(odd) if len(odd) < len(columns) else []


def check_orientation(table):
    """Raise ValueError if names say that rows are features, or features samples."""
    names = [name for name in table.names.values() if name]
    like = sum(SAMPLE_NAME.fullmatch(name) is not None for name in names)
    rows = not table.transposed and FEATURE_NAMES.fullmatch(table.id_name)
    if rows or 2 * like > len(names) > 1:
        column = shlex.quote(table.id_name or "none")
        way = f"use --transpose to read columns as samples, or --id-column {column} to keep rows"
        way = "read it without --transpose" if table.transposed else way
        raise ValueError(f"{table.name}: the columns ({shown(*names)}) look like samples: {way}")
