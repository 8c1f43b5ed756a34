"""Tables of the same samples, brought to one order by their ids."""

import numpy as np

from ..views import align
from ..views._frames import shown
from ._tables import NEEDS_PANDAS

OTHER_ORDER = "{} has the ids of {} in another order: its rows are matched by id"


def matched(tables, join=None):
    """The views of some tables, row by row of the same samples.

    Parameters
    ----------
    tables : list of Table
    join : {"inner", "outer"}, optional
        Whether samples that are not in all tables are left out, or lack views: rows of NaN.

    Returns
    -------
    views : list of DataFrame or ndarray of shape (n, d_i)
    ids : ndarray of shape (n,) or None
    notes : list of str

    Raises
    ------
    ValueError
        If tables have other samples and nothing says what to do.
    """
    with_ids = [table for table in tables if table.ids is not None]
    without = [table for table in tables if table.ids is None]
    if join is not None and (without or len(tables) < 2):
        names = ", ".join(table.name for table in without) or tables[0].name
        raise ValueError(f"--join matches files by ids: {names} has none, or no other to match")
    if len(with_ids) < 2 or without:
        return _in_given_order(tables, with_ids, without)
    first, notes = with_ids[0], []
    if len({table.ids.dtype.kind for table in with_ids}) > 1:  # "7" in one, 7 in another
        with_ids = [_as_text(table) for table in with_ids]
        first = with_ids[0]
    for table in with_ids[1:]:
        if np.array_equal(first.ids, table.ids):
            continue
        absent, extra = _differences(first, table)
        if not absent and not extra:
            notes.append(OTHER_ORDER.format(table.name, first.name))
        elif join is None:
            sides = (extra, table.name), (absent, first.name)
            told = [f"{len(ids)} only in {where}: {shown(*ids)}" for ids, where in sides if ids]
            raise ValueError(
                f"{table.name} and {first.name} have other ids ({'; '.join(told)}): --join inner "
                "keeps the samples that all files have, --join outer all, some without some views"
            )
    if all(np.array_equal(first.ids, table.ids) for table in with_ids):
        return [table.values for table in with_ids], first.ids, notes
    if not hasattr(first.values, "reindex"):
        raise ImportError(NEEDS_PANDAS.format("matching rows by id"))
    frames = align([table.values for table in with_ids], join or "inner")
    if join is not None:
        lost = len(set().union(*(table.ids.tolist() for table in with_ids))) - len(frames[0])
        lacking = np.any([frame.isna().all(axis=1) for frame in frames], axis=0).sum()
        notes.append(
            f"--join {join}: {len(frames[0])} samples"
            + (f", {lost} left out that not all files have" if join == "inner" else
               f", {lacking} of which lack a view")
        )  # fmt: skip
    return frames, frames[0].index.to_numpy(), notes


def _in_given_order(tables, with_ids, without):
    first = tables[0]
    for table in tables[1:]:
        if len(table.values) != len(first.values):
            raise ValueError(
                f"{table.name} has {len(table.values)} samples, {first.name} has "
                f"{len(first.values)}, and not both have ids to match them by: every file must "
                "describe the same samples"
            )
    for table in with_ids[1:]:
        if not np.array_equal(table.ids, with_ids[0].ids):
            raise ValueError(
                f"{table.name} and {with_ids[0].name} have other ids, or in another order, and "
                f"{without[0].name} has none: no order fits all three"
            )
    notes = [f"{table.name} has no ids: its rows are taken in the order of {with_ids[0].name}"
             for table in without if with_ids]  # fmt: skip
    ids = with_ids[0].ids if with_ids else None
    views = [table.values for table in tables]
    if with_ids and without:
        views = [X.reset_index(drop=True) if hasattr(X, "reset_index") else X for X in views]
    return views, ids, notes


def _as_text(table):
    ids = table.ids.astype(str).astype(object)
    return table._replace(ids=ids, values=table.values.set_axis(ids, axis=0))


def _differences(first, table):
    """Ids that only the first table has, and those that only the other has."""
    ours, theirs = set(first.ids.tolist()), set(table.ids.tolist())
    absent = [one for one in first.ids.tolist() if one not in theirs]
    return absent, [one for one in table.ids.tolist() if one not in ours]
