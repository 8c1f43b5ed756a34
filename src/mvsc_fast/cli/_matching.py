"""Matching of the rows of views by the ids of the samples."""

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
    columns: list | None = None  # their names; None for arrays


def match_views(views, join, square=False):
    """The matrices of views with the same rows in one order, the ids and notes.

    ``square`` matrices have the same columns as rows.
    """
    # Files without ids can only be matched by position.
    first, without = views[0], [view for view in views if view.ids is None]
    if join not in (None, ANY) and (without or len(views) < 2):
        raise ValueError(f"--join needs two files or more with ids: {(*without, first)[0].name}")
    if without:
        return _match_by_position(views, without)

    # The ids of any view, those of all views, and those that are kept, in the order of the files.
    rows = [{text: row for row, text in enumerate(view.ids)} for view in views]
    union = list(dict.fromkeys(text for view in views for text in view.ids))
    common = [text for text in union if all(text in positions for positions in rows)]
    for view in views[1:]:
        _check_same_ids(first, view, join)
    ids = common if join == "inner" else union
    if not ids:
        raise ValueError(f"no id occurs in all of {', '.join(view.name for view in views)}")
    if square and len(common) < len(ids):
        raise ValueError("similarities of samples that a file lacks are unknown: use --join inner")

    # Rows are put into the common order; those of absent samples are NaN.
    matrices, notes = [], []
    for view, positions in zip(views, rows, strict=True):
        X, order = view.values, np.array([positions.get(text, -1) for text in ids])
        if view.ids != ids:
            X = X[np.ix_(order, order)] if square else X[order]
            X[order < 0] = np.nan
        matrices.append(X)
    if len(common) < len(union) and join == "inner":
        notes = [
            f"{counted(len(ids), 'sample')}, {len(union) - len(ids)} not in every file excluded"
        ]
    elif len(common) < len(union):
        notes = [f"{counted(len(ids), 'sample')}, {len(ids) - len(common)} of them without a view"]
    elif any(view.ids != ids for view in views):
        notes = ["files have the ids in different orders: rows are matched by id"]
    return matrices, np.array(ids, dtype=object), notes


def _check_same_ids(first, view, join):
    """Raise ValueError if the ids of two views lack more than ``join`` permits."""
    common = set(first.ids) & set(view.ids)
    lack = only_in(
        ([text for text in view.ids if text not in common], view.name),
        ([text for text in first.ids if text not in common], first.name),
    )
    message = f"{view.name} and {first.name} have {counted(len(common), 'id')} in common ({lack})"
    if not common:
        raise ValueError(
            f"{message}: ids are matched exactly; --id-column selects another column of ids or "
            "none, and --transpose FILE reads columns as samples"
        )
    if lack and join is None:
        raise ValueError(
            f"{message}: use --join inner to keep the samples in every file, or --join outer to "
            "keep all samples"
        )
    if join == ANY and 2 * len(common) < min(len(first.ids), len(view.ids)):
        warn_user(f"{message}: most samples get their label from a single view")


def _match_by_position(views, without):
    """Match views by position, because some have no ids."""
    first, n = views[0], len(views[0].values)
    for view in views[1:]:
        if len(view.values) != n:
            raise ValueError(
                f"{view.name} has {counted(len(view.values), 'sample')}, {first.name} has {n}, "
                "and one has no ids: every file must describe the same samples"
            )
    # Ids in some files alone are suspicious: rows may be in another order.
    tables = [view for view in without if view.columns is not None]
    with_ids = [view for view in views if view.ids is not None]
    if with_ids and (tables or any(view.ids != with_ids[0].ids for view in with_ids)):
        raise ValueError(
            f"{without[0].name} has no ids, but {with_ids[0].name} has: --id-column FILE:NAME "
            "selects a column of ids, and --id-column none matches the rows of all files by "
            "position"
        )
    # Integers that two files have in different orders are ids that nobody has named.
    for view in tables[1:]:
        column, other = view.values[:, 0], tables[0].values[:, 0]
        is_integer = len(np.unique(column)) == n > 2 and (column % 1 == 0).all()
        if is_integer and set(column) == set(other) and not np.array_equal(column, other):
            raise ValueError(
                f"{tables[0].name} and {view.name} have the same numbers in different orders in "
                f"column {view.columns[0]!r}: name it with --id-column, or exclude it"
            )
    ids = np.array(with_ids[0].ids, dtype=object) if with_ids else None
    names, notes = ", ".join(view.name for view in without), []
    if with_ids or tables:  # nobody expects ids of arrays alone
        notes = [f"{names} without ids: {n} rows are matched by position and numbered from 0"]
    return [view.values for view in views], ids, notes
