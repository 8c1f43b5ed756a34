"""Tables whose columns are samples."""

import re
from collections import Counter

import numpy as np

from ..views._frames import shown
from ._columns import SAMPLE_NAME, check_text, choose_columns, exclusion_or_all, is_counter
from ._numbers import is_number
from ._tables import Table

ANNOTATION = re.compile(
    r"(?:.*[ _.-])?(?:id|start|end|strand|length|position)|chr(?:om(?:osome)?)?(?:[ _.-].*)?"
    r"|entrez.*|genomic[ _.-].*",
    re.IGNORECASE,
)
MAX_ODD = 0.2  # maximum share of columns that differ in kind from the other ones
MAGNITUDE = 100  # ratio of means from which columns differ in kind


def transpose(table, known_ids, headers, selections, header=True):
    """The table whose rows are columns of this one, the samples.

    ``known_ids`` are ids of other files, ``headers`` names of columns of others that are transposed
    as well, and ``selections`` are the texts of --columns, which selects the samples.
    """
    # Samples are the columns that the user selects, or those of the usual kind.
    columns = list(range(len(table.names)))
    if selections:
        samples = choose_columns(table, selections)[0]
    else:
        samples = _sample_columns(table, known_ids, headers)
    check_text(table, samples)
    if not samples:
        raise ValueError(f"{table.name}: no column of numbers, as of a sample with --transpose")
    if sum(SAMPLE_NAME.fullmatch(name or "") is not None for name in table.ids or ()) > 1:
        raise ValueError(f"{table.name}: rows look like samples: read it without --transpose")
    if ignored := [table.names[j] for j in columns if j not in samples]:
        table.notes.append(
            f"{table.name}: columns that are no samples are ignored: {shown(*ignored)}"
        )
    # The turned table has the features as names and the header as ids.
    numbers, names = list(map(str, table.rows)), [table.names[j] for j in samples]
    titles = [name or number for name, number in zip(table.ids or numbers, numbers, strict=True)]
    values, words = table.values[:, samples].T, [{} for _ in titles]
    turned = Table(table.name, values, words, titles, names, notes=table.notes)
    turned.units, turned.prefix = table.units[::-1], table.prefix
    if header:
        turned.ids, turned.id_name = names, "id"
        turned.notes.append(f"ids are the header of {table.name}")
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
    odd = [j for j in _odd_columns(table, samples) if table.names[j] not in known_ids]
    if known_ids or headers:
        samples = [j for j in samples if j not in odd or table.names[j] in headers]
    odd = [j for j in odd if j in samples]
    if odd:
        raise ValueError(
            f"{table.name} has columns that are unlike the other {len(samples) - len(odd)} in "
            f"kind: {shown(*(table.names[j] for j in odd))}; {exclusion_or_all(table, odd)}"
        )
    return samples


def _odd_columns(table, columns):
    """Columns whose names or values differ in kind from those of most other ones."""
    shapes = {j: re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", table.names[j])) for j in columns}
    shape = Counter(shapes.values()).most_common(1)[0][0] if shapes else ""
    values = {j: table.values[np.isfinite(table.values[:, j]), j] for j in columns}
    sizes = {j: float(np.abs(X).mean()) if len(X) else 0.0 for j, X in values.items()}
    typical = np.median(list(sizes.values()) or 0)
    kinds = {
        j: (shapes[j] == shape, bool((X % 1 == 0).all()), sizes[j] > MAGNITUDE * typical)
        for j, X in values.items()
    }
    # A kind is a property that most columns have, or that most lack.
    odd = {j for j in columns if is_counter(table.values[:, j])}
    for k in range(3):
        usual = 2 * sum(kinds[j][k] for j in columns) > len(columns)
        few = [j for j in columns if kinds[j][k] != usual]
        odd.update(few if len(few) <= MAX_ODD * len(columns) else ())
    return sorted(odd) if len(odd) < len(columns) else []
