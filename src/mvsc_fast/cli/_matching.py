"""Matching of the rows of views by the ids of the samples."""

from typing import NamedTuple

import numpy as np

from .._utils.messages import counted
from ..views._frames import shown
from ._ids import check_alike

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
    if join == ANY:
        differ = not without and len({frozenset(view.ids) for view in views}) > 1
        join = "outer" if differ else None
    if join is not None and (without or len(views) < 2):
        names = ", ".join(view.name for view in without) or views[0].name
        raise ValueError(
            f"--join matches several files by ids, but {names} has no ids, or is the only file"
        )
    if without:
        return _in_given_order(views, with_ids, without)
    first, *others = with_ids
    for view in others:
        _check_same_ids(first, view, join)
    known = list(dict.fromkeys(one for view in with_ids for one in view.ids))
    places = [{one: row for row, one in enumerate(view.ids)} for view in with_ids]
    common = {one for one in known if all(one in place for place in places)}
    ids = known if join == "outer" else [one for one in known if one in common]
    if not ids:
        raise ValueError(f"no id occurs in all of {', '.join(view.name for view in with_ids)}")
    matrices = []
    for view, place in zip(with_ids, places, strict=True):
        rows = np.array([place.get(one, -1) for one in ids])
        matrices.append(view.values if view.ids == ids else view.values[rows])
        matrices[-1][rows < 0] = np.nan
    told = {
        "inner": f"{len(known) - len(ids)} excluded because not in every file",
        "outer": f"{len(known) - len(common)} of them without a view",
    }
    notes = [f"--join {join}: {counted(len(ids), 'sample')}, {told[join]}"] if join else []
    return matrices, np.array(ids, dtype=object), notes


def _check_same_ids(first, view, join):
    """Raise ValueError if two views have different ids and --join is not given."""
    ours, theirs = set(first.ids), set(view.ids)
    absent = [one for one in first.ids if one not in theirs]
    extra = [one for one in view.ids if one not in ours]
    if absent and extra:
        check_alike(first.name, absent, view.name, extra)
    if (absent or extra) and join is None:
        sides = (extra, view.name), (absent, first.name)
        told = [f"only in {name}: {shown(*ids)}" for ids, name in sides if ids]
        raise ValueError(
            f"{view.name} and {first.name} do not have the same ids ({'; '.join(told)}): use "
            "--join inner to keep the samples in every file, or --join outer to keep all samples"
        )


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
