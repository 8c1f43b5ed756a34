"""Square matrices of similarities: the order of their ids, and what is hardly a similarity."""

import numpy as np
import scipy.sparse

from ._frames import is_frame, only_in, read_frame

N_DISTANCES = 120  # number of samples whose triangles are compared
ROUNDING = 1e-12  # largest error of a distance, in units of the largest one


def square_views(views, titles):
    """Matrices of similarities, with rows and columns in the order of the first data frame.

    Data frames are matched by the ids in their index and columns, or in one of both. Matrices
    without ids correspond by position, as arrays do.
    """
    order, first, matrices = None, None, []
    for X, title in zip(views, titles, strict=True):
        if not is_frame(X):
            matrices.append(X)
            continue
        frame = read_frame(X, title)
        ids, columns, values = _square_ids(frame), list(frame.columns), frame.values
        if ids is not None:
            columns = ids if _are_counted(columns) else columns
            rows, positions = _places(ids, title), _places(columns, title)
            if order is None:
                order, first = ids, title
            for names, source in ((rows, title), (positions, f"the columns of {title}")):
                _check_same(order, names, first, source)
            values = values[[rows[name] for name in order]]
            values = values[:, [positions[name] for name in order]]
        matrices.append(values)
    return matrices


def _square_ids(frame):
    """The ids of the rows of a square data frame, or None if it has no ids."""
    for names in (frame.index, frame.columns):
        if names is not None and not _are_counted(names):
            return list(names)
    return None


def _are_counted(names):
    """Whether names are the numbers 0, 1, 2, ... that stand for none."""
    return all(name == k and not isinstance(name, str) for k, name in enumerate(names))


def _places(names, title):
    """The position of each name; raise ValueError if one occurs more than once."""
    places = {name: k for k, name in enumerate(names)}
    if len(places) < len(names):
        raise ValueError(f"{title}: ids of similarities occur more than once")
    return places


def _check_same(ids, names, title, other_title):
    """Raise ValueError if names are not the ids."""
    absent = [name for name in ids if name not in names]
    extra = sorted(names.keys() - set(ids), key=str)
    if lack := only_in((absent, title), (extra, other_title)):
        raise ValueError(
            f"similarities must have the same ids in rows and columns, and in all matrices: {lack}"
        )


def matrix_doubt(S):
    """Why a matrix hardly contains similarities, for a message; None if it may."""
    S = S.toarray() if scipy.sparse.issparse(S) and S.shape[0] <= N_DISTANCES else S
    if scipy.sparse.issparse(S) or S.ndim != 2 or S.shape[0] != S.shape[1] or len(S) < 4:
        return None
    rows = np.linspace(0, len(S) - 1, min(len(S), N_DISTANCES)).astype(int)
    S = np.asarray(S)[np.ix_(rows, rows)]
    off_diagonal = S[~np.eye(len(S), dtype=bool)]
    if (off_diagonal == off_diagonal[0]).all():
        return "has equal similarities of all samples, which contain no clusters"
    # The roots of squared distances and of 1 - r are distances, as those of distances are.
    least = ROUNDING * off_diagonal.max()
    if np.abs(np.diag(S)).max() > least or off_diagonal.min() < -least:
        return None
    if off_diagonal.max() <= 4 * off_diagonal.min():  # then the triangle inequality always holds
        return None
    roots = np.sqrt(np.maximum(S, 0))
    shortest = (roots[:, :, None] + roots[None, :, :]).min(axis=1)  # from i to k by any j
    if (roots <= shortest + np.sqrt(least)).all():
        return (
            "looks like distances (0 on the diagonal, and the triangle inequality holds), but "
            "similarities are needed, as exp(-D ** 2 / median(D) ** 2)"
        )
    return None
