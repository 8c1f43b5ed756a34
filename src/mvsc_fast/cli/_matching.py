"""Matching of the rows of views by the ids of the samples."""

import re
from typing import NamedTuple

import numpy as np

from .._utils.messages import counted, warn_user
from ..views._frames import only_in

ANY = "any"  # "outer" if all files have ids, used for new samples


class View(NamedTuple):
    """The features of one view before matching: a matrix and the ids of its rows."""

    name: str
    values: np.ndarray
    ids: list | None = None
    id_name: str = ""
    columns: list | None = None  # their names


def matched(views, join, square=False):
    """The matrices of views with the same rows in one order, the ids and notes.

    ``square`` matrices have the same columns as rows.
    """
    with_ids = [view for view in views if view.ids is not None]
    without = [view for view in views if view.ids is None]
    if join not in (None, ANY) and (without or len(views) < 2):
        names = ", ".join(view.name for view in without) or views[0].name
        raise ValueError(
            f"--join matches several files by ids, but {names} has no ids, or is the only file"
        )
    if without:
        return _by_position(views, with_ids, without)
    rows = [{name: row for row, name in enumerate(view.ids)} for view in with_ids]
    for view, places in zip(with_ids[1:], rows[1:], strict=True):
        _check_same_ids(with_ids[0], rows[0], view, places, join)
    union = list(dict.fromkeys(name for view in with_ids for name in view.ids))
    common = [name for name in union if all(name in places for places in rows)]
    ids = common if join == "inner" else union
    if not ids:
        raise ValueError(f"no id occurs in all of {', '.join(view.name for view in views)}")
    if square and len(common) < len(ids):
        raise ValueError("similarities of samples that a file lacks are unknown: use --join inner")
    matrices = []
    for view, places in zip(with_ids, rows, strict=True):
        order = np.array([places.get(name, -1) for name in ids])
        X = view.values
        if len(order) != len(X) or (order != np.arange(len(order))).any():
            X = X[np.ix_(order, order)] if square else _rows_of(X, order)
        matrices.append(X)
    notes = []
    if any(view.ids != with_ids[0].ids for view in with_ids) and len(common) == len(union):
        notes = ["files have the ids in different orders: rows are matched by id"]
    if len(views) > 1 and (join in ("inner", "outer") or len(common) < len(union)):
        lacking = f"{len(union) - len(common)} of them without a view"
        if join == "inner":
            lacking = f"{len(union) - len(ids)} excluded because not in every file"
        option = "" if join == ANY else f"--join {join}: "
        notes = [f"{option}{counted(len(ids), 'sample')}, {lacking}"]
    return matrices, np.array(ids, dtype=object), notes


def _rows_of(X, order):
    """Rows of a matrix, NaN for -1."""
    X = X[order]
    X[order < 0] = np.nan
    return X


def _check_same_ids(first, ours, view, theirs, join):
    """Raise ValueError if the ids of two views lack more than ``join`` permits."""
    absent = [name for name in first.ids if name not in theirs]
    extra = [name for name in view.ids if name not in ours]
    check_notation(first.name, absent, view.name, extra)
    lack = only_in((extra, view.name), (absent, first.name))
    if join != ANY and len(absent) == len(first.ids):
        way = "use --id-column to select another column of ids, or none to match by position"
        if first.columns and first.columns == view.columns:
            way = "their columns have the same names: use --transpose if these are the samples"
        elif set(first.ids) & set(view.columns) or set(view.ids) & set(first.columns):
            way = "the rows of one are columns of the other: use --transpose FILE for that one"
        raise ValueError(f"{view.name} and {first.name} have no id in common ({lack}): {way}")
    if join is None and lack:
        raise ValueError(
            f"{view.name} and {first.name} do not have the same ids ({lack}): use --join inner to "
            "keep the samples in every file, or --join outer to keep all samples"
        )
    if join == ANY:
        n_common, fewer = len(ours) - len(absent), min(len(ours), len(theirs))
        text = f"{view.name} and {first.name} have {counted(n_common, 'id')} in common ({lack})"
        if n_common == 0:
            raise ValueError(
                f"{text}: label them one at a time if they describe different samples, or select "
                "the column of ids with --id-column"
            )
        if 2 * n_common < fewer:
            warn_user(f"{text}: most samples get their label from a single view")


def check_notation(name, ours, other_name, theirs):
    """Raise ValueError if most ids of two files that differ would be equal in another notation."""

    def plain(text):
        text = re.sub(r"(?<=\d)\.0+$", "", text.strip().casefold())
        text = re.sub(r"[\W_]+", "-", text)
        return re.sub(r"(?<!\d)0+(?=\d)", "", text)

    if not ours or not theirs:
        return
    least = max(1, min(len(ours), len(theirs)) / 2)
    length = len(min(*ours, *theirs, key=len))
    forms = {"case, blanks, punctuation or zeros": plain}
    for n in range(length, 3, -1):
        forms[f"what follows the first {n} characters"] = lambda text, n=n: text[:n]
    for what, form in forms.items():
        forms_of_theirs = {form(text): text for text in theirs}
        common = [text for text in ours if form(text) in forms_of_theirs]
        if len(set(map(form, common))) >= least:
            text, other = common[0], forms_of_theirs[form(common[0])]
            raise ValueError(
                f"the ids of {name} and {other_name} differ in {what}, as {text!r} and {other!r}: "
                "write them alike, as they are matched exactly"
            )


def _by_position(views, with_ids, without):
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
    names = ", ".join(view.name for view in without)
    notes = [f"{names} has no ids: its {n} rows are read in the order of the other files"]
    if not with_ids:
        notes = [f"{names} have no ids: rows are matched by position, {n} in each file"]
        if len(views) == 1:
            notes = [f"{names} has no ids: its samples are numbered from 0"]
    if all(view.columns is None for view in views):
        notes = []  # arrays have no ids, which nobody expects
    ids = np.array(with_ids[0].ids, dtype=object) if with_ids else None
    return [view.values for view in views], ids, notes
