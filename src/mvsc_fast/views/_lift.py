"""The lift of narrow views to a hemisphere: rows of unit length that keep their lengths."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from ._rows import BLOCK, column_limits, count_varying, dense, spread

# Views are lifted if the lengths of their rows tell something about the clusters: those of nearest
# directions are then alike. Correlations with negative entries: groups of unequal size .5 to .8,
# tables .4 to .9, subspaces through the mean, where lengths mean nothing, at most .3.
LENGTH_CORRELATION = 0.4
DIRECTIONS, NEIGHBORS = 1000, 8  # rows that are compared, and neighbours of each
# Few directions are left in so few columns, whatever their lengths.
ALWAYS_LIFTED_COLUMNS = 3
# Wider views lose by the lift: the length of a row of many columns says little about its cluster.
# So do views without negative entries, such as pixels and magnitudes, whose square roots and
# directions tell more (digits .92, lifted .87; uci_digit .98, .89 if its view of 6 columns is).
MAX_LIFTED_COLUMNS = 80
RADIUS_SHARE = 0.99  # quantile of the lengths of centred rows


class Lift(NamedTuple):
    """Map of rows x to unit rows (u, sqrt(1 - |u|^2)), with u = (x - mean) / radius.

    A row that is farther than the radius from the mean is cut: its u has the length 1. The map is
    linear in x for all others, so that graphs and ridge regression see how far rows are from the
    mean, and not only in which direction.

    Attributes
    ----------
    mean : ndarray of shape (d,), float64
    radius : float
    """

    mean: np.ndarray
    radius: float

    def __call__(self, X):
        """Lifted rows, of shape (n, d + 1), float64; missing rows remain NaN."""
        out = np.empty((X.shape[0], X.shape[1] + 1))
        for rows in gen_batches(X.shape[0], BLOCK):
            offsets = dense(X[rows]) - self.mean
            length = np.sqrt((offsets * offsets).sum(axis=1))
            limit = np.maximum(length, self.radius)
            share = length / limit
            out[rows, :-1] = offsets / limit[:, None]
            out[rows, -1] = np.sqrt((1 - share) * (1 + share))
        return out


def fit_lift(X):
    """The `Lift` of a view to its own rows; None if the view is constant.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
        Without missing rows and cells.

    Returns
    -------
    Lift or None
        The same to the last bit for all orders of the rows.
    """
    return centre_rows(X)[2] if count_varying(X) else None


def lifted(X, lift):
    """A view as a fit sees it, by its `Lift`; as it is if this is None."""
    return X if lift is None else lift(X)


def find_lift(X, nonnegative=None):
    """The `Lift` of a view that has few columns, and rows of like directions like lengths.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
        Without missing rows and cells.
    nonnegative : bool, optional
        Whether all samples are non-negative, including those that are not in X. None checks X.

    Returns
    -------
    Lift or None
        None for other views, and as for `fit_lift`.
    """
    # Few columns are always lifted, many never, and between the lengths decide.
    d = count_varying(X) if X.shape[0] else 0
    if d == 0 or d > MAX_LIFTED_COLUMNS:
        return None
    nonnegative = column_limits(X)[0].min() >= 0 if nonnegative is None else nonnegative
    if nonnegative and d > ALWAYS_LIFTED_COLUMNS:
        return None
    rows, lengths, lift = centre_rows(X)
    if d > ALWAYS_LIFTED_COLUMNS and correlation_of_lengths(rows, lengths) < LENGTH_CORRELATION:
        return None
    return lift


def correlation_of_lengths(X, lengths):
    """Correlation of the lengths of centred rows with the mean lengths of nearest directions.

    A large group around the mean has short rows in all directions, and small groups have long rows
    in few. In subspaces through the mean, directions say nothing about lengths.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    lengths : ndarray of shape (n,)
        Those of the rows of X.

    Returns
    -------
    float
        0 if there is nothing to compare. The same for all orders of the rows, up to rounding.
    """
    # Rows are evenly spaced in length, so that their choice does not depend on their order; nor
    # does the choice of neighbours, as all with the same cosine are taken.
    weights = np.sqrt(np.arange(1, X.shape[1] + 1))
    order = np.lexsort([(weights * X).sum(axis=1), lengths])
    order = order[lengths[order] > 0]
    rows = order[spread(len(order), DIRECTIONS)]
    if len(rows) <= NEIGHBORS:
        return 0.0
    # Neighbours are rows of similar direction; their lengths are capped, so that outliers do not
    # decide.
    U = X[rows] / lengths[rows, None]
    cosines = U @ U.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = np.partition(cosines, -NEIGHBORS, axis=1)[:, [-NEIGHBORS]]
    neighbors = cosines >= nearest - 1e-9
    lengths = np.minimum(lengths[rows], np.quantile(lengths, RADIUS_SHARE))
    means = neighbors @ lengths / neighbors.sum(axis=1)
    if min(np.ptp(lengths), np.ptp(means)) < 1e-9 * lengths.max():
        return 0.0
    return float(np.corrcoef(lengths, means)[0, 1])


def centre_rows(X):
    """Rows minus their centre, their lengths, and the `Lift`, None if all lengths round to 0."""
    X = dense(X)
    # The centre is that of all rows, then that of all but the farthest, which would draw it to
    # them. Sums of sorted columns do not depend on the order of the rows.
    near = slice(None)
    for _ in range(2):
        centre = np.sort(X[near], axis=0).mean(axis=0)
        rows = X - centre
        lengths = np.sqrt((rows * rows).sum(axis=1))
        near = lengths <= np.quantile(lengths, RADIUS_SHARE)
    radius = np.quantile(lengths, RADIUS_SHARE) or lengths.max()
    return rows, lengths, Lift(centre, float(radius)) if radius else None
