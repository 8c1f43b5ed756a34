"""Matching of rows by the ids of the samples: those of views, and those of known labels."""

from pathlib import Path

import numpy as np

from .._utils.messages import counted, warn_user
from ..views import align
from ..views._frames import only_in, shown
from ..views._suspects import LABEL
from ._columns import check_ids
from ._files import read_file, shown_name
from ._tables import Reading, Table, as_text

ANY = "any"  # "outer" if all files have ids, used for new samples


def ids_of(view):
    """The ids of a data frame, as a pandas index, or None, as for arrays."""
    index = getattr(view, "index", None)
    return None if index is None or index.name is None else index


def match_views(files, views, join, square=False):
    """Views with the same rows in one order, the ids of these or None, and notes.

    ``files`` are their names. ``square`` views, similarities, are matched by the fit.
    """
    ids = [ids_of(view) for view in views]
    without = [file for file, index in zip(files, ids, strict=True) if index is None]
    if join not in (None, ANY) and (without or len(views) < 2):
        file = without[0] if without else files[0]
        raise ValueError(f"--join needs two files or more with ids: {file}")
    if without:
        return _match_by_position(files, views, ids)
    if square or all(index.equals(ids[0]) for index in ids):
        return views, ids[0], []
    for file, index in zip(files[1:], ids[1:], strict=True):
        _check_same_ids(file, index, files[0], ids[0], join)
    views = align(views, "inner" if join == "inner" else "outer")
    n_common, n_all = len(set(ids[0]).intersection(*ids)), len(set().union(*ids))
    note = f"rows are matched by id: {n_common} of {counted(n_all, 'sample')} in every file"
    return views, views[0].index, [note]


def _check_same_ids(file, index, first, first_index, join):
    """Raise ValueError if two files lack more ids of each other than ``join`` permits."""
    lack = only_in(
        (index[~index.isin(first_index)], file), (first_index[~first_index.isin(index)], first)
    )
    n_common = index.isin(first_index).sum()
    message = f"{file} and {first} have {counted(n_common, 'id')} in common ({lack})"
    if not n_common:
        raise ValueError(
            f"{message}: ids are matched exactly; --id-column selects another column of ids or "
            "none, and --transpose FILE reads columns as samples"
        )
    if lack and join is None:
        raise ValueError(
            f"{message}: use --join inner to keep the samples in every file, or --join outer to "
            "keep all samples"
        )
    if join == ANY and 2 * n_common < min(len(first_index), len(index)):
        warn_user(f"{message}: most samples get their label from a single view")


def _match_by_position(files, views, ids):
    """Match views by position, because some have no ids."""
    n, index, without = len(views[0]), None, []
    for file, view, file_index in zip(files, views, ids, strict=True):
        if len(view) != n:
            raise ValueError(
                f"{file} has {counted(len(view), 'sample')}, {files[0]} has {n}, and one has no "
                "ids: every file must describe the same samples"
            )
        if file_index is None:
            without.append(file)
        index = file_index if index is None else index
    # Arrays never have ids; tables without them, beside others, may be in another order.
    for file, view, file_index in zip(files, views, ids, strict=True):
        is_other = hasattr(view, "columns") if file_index is None else not file_index.equals(index)
        if index is not None and is_other:
            raise ValueError(
                f"{file} has no ids, or other ids than the first file that has some: --id-column "
                "FILE:NAME selects a column of ids, and --id-column none matches the rows of all "
                "files by position"
            )
    if len(set(files)) == 1:
        return views, None, []
    return views, index, [f"{', '.join(without)} without ids: {n} rows are matched by position"]


# ----------------------------------------------------------------------------------------- labels


def load_labels(path, ids, n_samples, id_name=None):
    """Labels from a table, the positions of their samples, and a note or None.

    They are matched by the ``ids`` of the samples, whose name is ``id_name``. Samples without ids
    are numbered from 0 in the labels of the command line; all other labels of such samples
    correspond by position.
    """
    path, file = Path(path), shown_name(path)
    table = read_file(path, False, Reading(id_name=None if ids is None else id_name))
    if not isinstance(table, Table):
        raise ValueError(f"{file}: expected a table with ids and labels")

    # One column has the labels: the only one, or the only one with such a name.
    columns = [j for j, name in enumerate(table.names) if LABEL.fullmatch(name)]
    columns = columns if len(table.names) > 1 else range(len(table.names))
    if ids is None and not table.names:  # labels that are text
        labels, table.ids = table.ids, None
    elif len(columns) == 1:
        values, words = table.values[:, columns[0]].tolist(), table.words[columns[0]]
        labels = [words.get(i, as_text(x) if words else x) for i, x in enumerate(values)]
        labels = [None if x in (None, "nan") or x != x else x for x in labels]
    else:
        raise ValueError(
            f"{file} must have one column of labels besides the ids, or one called label or "
            f"cluster, but has {shown(*table.names) or f'only {table.id_name!r}, taken for ids'}"
        )
    if table.ids is not None:
        check_ids(table)
    rows, note = _sample_rows(table, ids, n_samples)
    present = np.array([label is not None for label in labels]) & (rows >= 0)
    if not present.any():
        raise ValueError(f"{file} has no label of these samples")
    labels = [label for label, is_present in zip(labels, present, strict=True) if is_present]
    kind = object if any(isinstance(label, str) for label in labels) else None
    return np.array(labels, dtype=kind), rows[present], note


def _sample_rows(table, ids, n_samples):
    """The position of the sample of each row of labels, -1 for other samples, and a note."""
    # Samples without ids have numbers, or correspond by position.
    if ids is None:
        numbers = set(map(str, range(n_samples)))
        if table.ids and numbers.issuperset(table.ids):
            return np.array(list(map(int, table.ids))), None
        if len(table.rows) != n_samples:
            raise ValueError(
                f"{table.name} has {counted(len(table.rows), 'label')} for "
                f"{counted(n_samples, 'sample')}, and there are no ids to match them"
            )
        return np.arange(n_samples), f"{table.name}: labels are matched by position"
    # No common id means different spelling or the wrong table, which is better said than a score
    # of none.
    positions = {text: sample for sample, text in enumerate(ids)}
    table_ids = table.ids or []
    if positions.keys().isdisjoint(table_ids):
        raise ValueError(
            f"{table.name} has no column of ids such as {shown(*ids[:2])}"
            + (f", but {shown(*table_ids[:2])}: write them alike" if table_ids else "")
        )
    return np.array([positions.get(text, -1) for text in table_ids]), None
