"""Known labels of samples from a table."""

from pathlib import Path

import numpy as np

from .._utils.messages import counted
from ..views._frames import shown
from ..views._suspects import LABEL
from ._columns import check_ids
from ._files import file_kind, naming, read_file, shown_name
from ._matching import View
from ._tables import Reading, as_text


def load_labels(path, ids, n_samples, id_name=None, header=True):
    """Labels from a table, the positions of their samples, and a note or None.

    They are matched by the ``ids`` of the samples, whose name is ``id_name``. Samples without ids
    are numbered from 0 in the labels of the command line; all other labels of such samples
    correspond by position. Without ``header``, the first line is a sample unless it has a name of
    labels.
    """
    name, path = shown_name(path), Path(path)
    reading = Reading(header, id_name=None if ids is None else id_name)
    source = path, read_file, path, file_kind(path), False
    table = naming(*source, reading)
    if isinstance(table, View):
        raise ValueError(f"{name}: expected a table with ids and labels")
    # Without ids of samples, the only column has labels, also if they are text.
    if ids is None and not table.names:
        reading = reading._replace(id_column="none")
        table = naming(*source, reading)
    if not header and any(map(_is_named, table.words)):
        table = naming(*source, reading._replace(header=True))
    if table.ids is not None:
        naming(path, check_ids, table)
    if ids is None:
        rows, note = _rows_of_numbers(table, n_samples)
    else:
        rows, note = _rows_of_ids(table, ids), None

    # One column has the labels: the only one, or the only one with such a name.
    columns = list(range(len(table.names)))
    if len(columns) != 1:
        columns = [j for j in columns if LABEL.fullmatch(table.names[j])]
    if len(columns) != 1:
        titles = shown(*table.names) or "none"
        raise ValueError(
            f"{name} must have one column of labels besides the ids, or one called label or "
            f"cluster, but has {titles}"
        )
    # Labels are numbers, or text if some of them are.
    (j,) = columns
    labels, words = table.values[:, j], table.words[j]
    if words:
        labels = [
            words.get(i, None if x != x else as_text(x)) for i, x in enumerate(labels.tolist())
        ]
        labels = np.array(labels, dtype=object)
    present = (labels == labels) & (labels != np.array(None)) & (rows >= 0)
    if not present.any():
        raise ValueError(f"{name} has no label of these samples")
    return labels[present], rows[present], note


def _is_named(words):
    """Whether a column without a header begins with a name of labels, which is no class."""
    first = words.get(0, "")
    return bool(LABEL.fullmatch(first)) and list(words.values()).count(first) == 1


def _rows_of_ids(table, ids):
    """The position of the sample of each row, -1 for other samples."""
    positions = {text: sample for sample, text in enumerate(ids)}
    if len(positions) < len(ids):
        raise ValueError(f"ids of samples occur more than once, so {table.name} cannot be matched")
    # No common id means different spelling or the wrong table, which is better said than a score of
    # none.
    table_ids = table.ids or []
    if positions.keys().isdisjoint(table_ids):
        raise ValueError(
            f"{table.name} has no column of ids such as {shown(*ids[:2])}"
            + (f", but {shown(*table_ids[:2])}: write them alike" if table_ids else "")
        )
    return np.array([positions.get(text, -1) for text in table_ids])


def _rows_of_numbers(table, n_samples):
    """The position of the sample of each row, by its number or its place, and a note."""
    numbers = set(map(str, range(n_samples)))
    if table.ids and numbers.issuperset(table.ids):
        return np.array(list(map(int, table.ids))), None
    n_labels = len(table.rows)
    if n_labels != n_samples:
        raise ValueError(
            f"{table.name} has {counted(n_labels, 'label')} for {counted(n_samples, 'sample')}, "
            "and there are no ids to match them"
        )
    return np.arange(n_samples), f"{table.name}: labels are matched by position"
