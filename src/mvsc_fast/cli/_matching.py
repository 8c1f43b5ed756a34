"""Matching of the rows of views by the ids of the samples."""

from typing import NamedTuple

import numpy as np

from .._utils.messages import counted, warn_user
from ..views._frames import only_in
from ._ids import check_alike
from ._scratch import taken

ANY = "any"  # "outer" if all files have ids, used for new samples


class View(NamedTuple):
    """The features of one view before matching: a matrix and the ids of its rows."""

    name: str
    values: np.ndarray
    ids: list | None = None
    id_name: str = ""
    columns: list | None = None


def matched(views, join):
    """Match the rows of views, and return the matrices, the ids and notes."""
    with_ids = [view for view in views if view.ids is not None]
    without = [view for view in views if view.ids is None]
    if join not in (None, ANY) and (without or len(views) < 2):
        names = ", ".join(view.name for view in without) or views[0].name
        raise ValueError(
            f"--join matches several files by ids, but {names} has no ids, or is the only file"
        )
    if without:
        return _in_given_order(views, with_ids, without)
    places = [{one: row for row, one in enumerate(view.ids)} for view in with_ids]
    for view, place in zip(with_ids[1:], places[1:], strict=True):
        _check_same_ids(with_ids[0], places[0], view, place, join)
    known = list(dict.fromkeys(one for view in with_ids for one in view.ids))
    common = {one for one in known if all(one in place for place in places)}
    ids = [one for one in known if one in common] if join == "inner" else known
    if not ids:
        raise ValueError(f"no id occurs in all of {', '.join(view.name for view in with_ids)}")
    matrices = [
        taken(view.values, np.array([place.get(one, -1) for one in ids]))
        for view, place in zip(with_ids, places, strict=True)
    ]
    notes, lacking = [], f"{len(known) - len(common)} of them without a view"
    if join == "inner":
        lacking = f"{len(known) - len(ids)} excluded because not in every file"
    if len(views) > 1 and (join in ("inner", "outer") or len(common) < len(known)):
        option = "" if join == ANY else f"--join {join}: "
        notes = [f"{option}{counted(len(ids), 'sample')}, {lacking}"]
    return matrices, np.array(ids, dtype=object), notes


def _check_same_ids(first, ours, view, theirs, join):
    """Raise ValueError if the ids of two views lack more than ``join`` permits."""
    absent = [one for one in first.ids if one not in theirs]
    extra = [one for one in view.ids if one not in ours]
    check_alike(first.name, absent, view.name, extra)
    lack = only_in((extra, view.name), (absent, first.name))
    if join is None and lack:
        raise ValueError(
            f"{view.name} and {first.name} do not have the same ids ({lack}): use --join inner to "
            "keep the samples in every file, or --join outer to keep all samples"
        )
    if join == ANY:
        common, fewer = len(ours) - len(absent), min(len(ours), len(theirs))
        text = f"{view.name} and {first.name} have {counted(common, 'id')} in common ({lack})"
        if common == 0:
            raise ValueError(
                f"{text}: label them one at a time if they describe different samples, or select "
                "the column of ids with --id-column"
            )
        if 2 * common < fewer:
            warn_user(f"{text}: most samples get their label from a single view")


def _in_given_order(views, with_ids, without):
    """Match views by position, because some have no ids."""
    first, n = views[0], len(views[0].values)
    for view in views[1:]:
        if len(view.values) != n:
            raise ValueError(
                f"{view.name} has {counted(len(view.values), 'sample')}, {first.name} has {n}, "
                "and one has no ids: every file must describe the same samples"
            )
    for view in with_ids[1:]:
        if view.ids != with_ids[0].ids:
            raise ValueError(
                f"{view.name} and {with_ids[0].name} do not have the same ids in the same order, "
                f"and {without[0].name} has no ids, so its rows cannot be matched"
            )
    notes = []
    if with_ids:
        names = ", ".join(view.name for view in without)
        notes = [f"{names} has no ids: its {n} rows are read in the order of {with_ids[0].name}"]
    elif len(views) > 1 and any(view.columns is not None for view in views):
        notes = [f"no ids were found: rows are matched by position, {n} in each file"]
    ids = np.array(with_ids[0].ids, dtype=object) if with_ids else None
    return [view.values for view in views], ids, notes
