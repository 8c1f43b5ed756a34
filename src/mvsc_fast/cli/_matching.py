"""Matching of rows by the ids of the samples: those of views, and those of known labels."""

import re
from pathlib import Path

import numpy as np

from .._utils.messages import counted, warn_user
from ..views import align
from ..views._columns import LABEL
from ..views._frames import only_in, shown
from ._notation import as_text, find_missing
from ._outputs import errors_of, note_user, shown_name
from ._tables import Reading, read_table, table_kind

ANY = "any"  # "outer" if all files have ids, used for new samples


def match_views(files, views, join, square=False):
    """Views with the same rows in one order, the ids of these or None, and notes.

    ``files`` are their names. ``square`` views, similarities, are matched by the fit.
    """
    indexes = [getattr(view, "index", None) for view in views]  # arrays have none
    ids = [None if index is None or index.name is None else index for index in indexes]
    without = [file for file, index in zip(files, ids, strict=True) if index is None]
    if join not in (None, ANY) and without:
        raise ValueError(f"--join matches files by ids, but {without[0]} has none")
    if without:
        return _match_by_position(files, views, ids, without)
    if square or all(index.equals(ids[0]) for index in ids):
        return views, ids[0], []
    for file, index in zip(files[1:], ids[1:], strict=True):
        check_same_ids(file, index, files[0], ids[0], join)
    views = align(views, "inner" if join == "inner" else "outer")
    # pandas forgets the name if it differs between files.
    return views, views[0].index.rename(ids[0].name), [match_note(ids)]


def match_note(ids):
    """How many samples, of those of any file, every file has."""
    n_common, n_all = len(set(ids[0]).intersection(*ids)), len(set().union(*ids))
    return f"rows are matched by id: {n_common} of {counted(n_all, 'sample')} in every file"


def check_same_ids(file, index, first, first_index, join):
    """Raise ValueError if two files lack more ids of each other than ``join`` permits."""
    lack = only_in(
        (index[~index.isin(first_index)], file), (first_index[~first_index.isin(index)], first)
    )
    n_common = index.isin(first_index).sum()
    message = f"{file} and {first} have {counted(n_common, 'id')} in common ({lack})"
    similar = _similar_ids(index, first_index) if lack else ""
    message, advice = message + similar, "write these alike, or " if similar else ""
    if not n_common:
        raise ValueError(
            f"{message}: ids are matched exactly. In tables, --id-column selects others or none, "
            "--transpose reads columns as samples"
        )
    if lack and join is None:
        raise ValueError(
            f"{message}: {advice}use --join inner to keep the samples in every file, or --join "
            "outer to keep all samples"
        )
    if join == ANY and 2 * n_common < min(len(first_index), len(index)):
        warn_user(f"{message}: most samples get their label from a single view")
    elif similar:
        warn_user(message)


def _similar_ids(index, first_index):
    """What to say about ids that differ by zeros before numbers, case, or marks alone."""
    forms = {_form(text): text for text in first_index.difference(index)}
    similar = [text for text in index.difference(first_index) if _form(text) in forms]
    if not similar:
        return ""
    pair = f"{similar[0]!r} and {forms[_form(similar[0])]!r}"
    return f", and {counted(len(similar), 'pair')} such as {pair} may be the same"


def _form(text):
    """An id without case, zeros before numbers, and marks."""
    return re.sub(r"[\W_]", "", re.sub(r"(?<!\d)0+(?=\d)", "", text.casefold()))


def _match_by_position(files, views, ids, without):
    """Match views by position, because the files ``without`` have no ids."""
    index = next((index for index in ids if index is not None), None)
    for file, view, file_index in zip(files, views, ids, strict=True):
        if len(view) != len(views[0]):
            raise ValueError(
                f"{file} has {counted(len(view), 'sample')}, {files[0]} has {len(views[0])}, and "
                "one has no ids: every file must describe the same samples"
            )
        # Arrays never have ids; tables without them, beside others, may be in another order.
        is_other = hasattr(view, "columns") if file_index is None else not file_index.equals(index)
        if index is not None and is_other:
            raise ValueError(
                f"{file} has no ids, or other ids than the first file that has some: --id-column "
                "FILE:NAME selects a column of ids, and --id-column none matches the rows of all "
                "files by position"
            )
    if len(set(files)) == 1:
        return views, None, []
    note = f"{', '.join(without)} without ids: {len(views[0])} rows are matched by position"
    return views, index, [note]


# ----------------------------------------------------------------------------------------- labels


def load_labels(path, ids, n_samples, id_name=None):
    """Labels from a table, and the positions of their samples.

    They are matched by the ``ids`` of the samples, whose name is ``id_name``. Samples without ids
    are numbered from 0 in the labels of the command line; all other labels of such samples
    correspond by position.
    """
    path, file = Path(path), shown_name(path)
    reading = Reading(id_name=None if ids is None else id_name)
    if table_kind(path) is None:
        raise ValueError(f"{file}: expected a table with ids and labels")
    with errors_of(path):
        table = read_table(path, file, table_kind(path), reading)

    # One column has the labels: the only one, or the only one with such a name.
    columns = [j for j, name in enumerate(table.names) if LABEL.fullmatch(name)]
    columns = columns if len(table.names) > 1 else range(len(table.names))
    if ids is None and not table.names:  # labels that are text
        labels, table.ids = table.ids.mask(find_missing(table.ids)), None
    elif len(columns) == 1:
        labels = table.cells[columns[0]]
    else:
        raise ValueError(
            f"{file} must have one column of labels besides the ids, or one called label or "
            f"cluster, but has {shown(*table.names) or f'only {table.ids.name!r}, taken for ids'}"
        )
    check_ids(table)
    samples = _samples_of(table, ids, n_samples)
    is_known = labels.notna().to_numpy() & (samples >= 0)
    labels = labels[is_known]
    labels = labels if labels.dtype.kind == "f" else labels.map(as_text).astype(object)
    return labels.to_numpy(), samples[is_known]


def _samples_of(table, ids, n_samples):
    """The position of the sample of each row of labels, -1 for other samples."""
    import pandas

    # Samples without ids have numbers, or correspond by position.
    if ids is None:
        numbers = set(map(str, range(n_samples)))
        if table.ids is not None and numbers.issuperset(table.ids):
            note_user(f"{table.name}: labels are matched by number, that of the first sample is 0")
            return table.ids.to_numpy(int)
        if len(table.cells) != n_samples:
            raise ValueError(
                f"{table.name} has {counted(len(table.cells), 'label')} for "
                f"{counted(n_samples, 'sample')}, and there are no ids to match them"
            )
        note_user(f"{table.name}: labels are matched by position")
        return np.arange(n_samples)
    # No common id means different spelling or the wrong table, which is better said than a score
    # of none.
    table_ids, known = [] if table.ids is None else table.ids.tolist(), set(ids)
    if table_ids and table.ids.name in known:
        raise ValueError(f"{table.name} needs a header, but {table.ids.name!r} is a sample")
    samples = pandas.Index(ids, dtype=object).get_indexer(pandas.Index(table_ids, dtype=object))
    if not (samples >= 0).any():
        columns = [table.names[j] for j, words in table.words.items() if known & set(words)]
        if columns:
            raise ValueError(
                f"{table.name} has the ids in column {columns[0]!r}: make it the first one"
            )
        raise ValueError(
            f"{table.name} has no column of ids such as {shown(*ids[:2])}"
            + (f", but {shown(*table_ids[:2])}: write them alike" if table_ids else "")
        )
    return samples


def check_ids(table):
    """Raise ValueError if an id of a table is missing or occurs more than once."""
    ids = table.ids
    if ids is None or ids.is_unique and all(map(str.strip, ids)):
        return
    i = np.argmax(ids.duplicated() | (ids.str.strip() == ""))
    text, unit = ids.iloc[i], table.unit
    if unit == "column":
        raise ValueError(f"{table.name}: several columns are called {text!r}: keep one sample each")
    first = ids.index[np.argmax(ids == text)]
    problem = f"has the id {text!r} of {unit} {first} again" if text.strip() else "has no id"
    raise ValueError(
        f"{table.name}: {unit} {ids.index[i]} {problem} in column {ids.name!r}: keep one row for "
        "each sample, or use --id-column with another name or, if there are no ids, none"
    )
