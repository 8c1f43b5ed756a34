"""Known labels of samples from a table."""

from pathlib import Path

import numpy as np

from .._utils.messages import counted
from ..views._frames import shown
from ..views._suspects import LABEL
from ._features import with_ids
from ._matching import View, check_notation
from ._readers import ALL, file_kind, naming, read_file, shown_name


def load_labels(path, ids, n_samples, id_name=None):
    """Labels from a table, the positions of their samples, and a note or None.

    They are matched by the ``ids`` of the samples, whose name is ``id_name``. Samples without ids
    are numbered from 0 in the labels of the command line; all other labels of such samples
    correspond by position.
    """
    name, path = shown_name(path), Path(path)
    table = naming(path, read_file, path, file_kind(path), False, {"keep": ALL})
    if isinstance(table, View):
        raise ValueError(f"{name}: expected a table with ids and labels")
    table = with_ids(
        table, id_name if ids is not None and id_name in table.names.values() else None
    )
    if ids is None:
        rows, note = _rows_of_numbers(table, n_samples)
    else:
        rows, note = _rows_of_ids(table, ids), None

    # One column has the labels: the only one, or the only one with such a name.
    columns = list(table.cells)
    if len(columns) != 1:
        columns = [k for k in columns if LABEL.fullmatch(table.names[k])]
    if len(columns) != 1:
        titles = ", ".join(map(table.title, list(table.cells)[:8])) or "none"
        raise ValueError(
            f"{name} must have one column of labels besides the ids, or one called label or "
            f"cluster, but has {titles}"
        )
    column = table.cells[columns[0]]
    labels = table.numbers(columns[0])
    labels = column.map(str, na_action="ignore").to_numpy(object) if labels is None else labels
    present = column.notna().to_numpy() & (rows >= 0)
    if not present.any():
        raise ValueError(f"{name} has no label of these samples")
    return labels[present], rows[present], note


def _rows_of_ids(table, ids):
    """The position of the sample of each row, -1 for other samples."""
    positions = {text: sample for sample, text in enumerate(ids)}
    if len(positions) < len(ids):
        raise ValueError(f"ids of samples occur more than once, so {table.name} cannot be matched")
    known = table.ids or []
    extra = [text for text in known if text not in positions]
    check_notation("the files", sorted(positions.keys() - set(known)), table.name, extra)
    if len(extra) == len(known):
        raise ValueError(f"{table.name} has no column of ids such as {shown(*ids[:2])}")
    return np.array([positions.get(text, -1) for text in known])


def _rows_of_numbers(table, n_samples):
    """The position of the sample of each row, by its number or its place, and a note."""
    numbers = set(map(str, range(n_samples)))
    if table.ids and numbers.issuperset(table.ids):
        return np.array(list(map(int, table.ids))), None
    n_labels = len(table.cells)
    if n_labels != n_samples:
        raise ValueError(
            f"{table.name} has {counted(n_labels, 'label')} for {counted(n_samples, 'sample')}, "
            "and there are no ids to match them"
        )
    return np.arange(n_samples), f"{table.name}: labels are matched by position"
