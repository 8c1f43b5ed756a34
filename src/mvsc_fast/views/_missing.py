"""Missing values: cells are filled from the same row, missing rows from the other views."""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from .._utils.messages import counted, warn_user
from ._rows import (
    BLOCK,
    SMALL_BLOCK,
    dense,
    incomplete_rows,
    missing_rows,
    presence,
    spread,
    unit_rows,
)

MOST = 0.1  # maximum share of missing cells of a view in fit: the largest in bench/missing.py
IMPUTATION_RIDGE = 0.5  # for the regression of a view on the others, whose rows have unit length
MAX_REGRESSORS = 4096  # maximum number of samples in this regression


class Gaps(NamedTuple):
    """Missing rows of a view, and missing cells in all other rows."""

    n_samples: int
    n_features: int
    rows: int = 0
    cells: int = 0
    partial: bool = False  # whether any cell will be filled or ignored

    def __add__(self, other):
        n, rows, cells = self.n_samples + other.n_samples, self.rows + other.rows, self.cells
        return Gaps(n, self.n_features, rows, cells + other.cells, self.partial or other.partial)

    @property
    def share(self):
        """Share of missing cells in the rows that are not missing."""
        return self.cells / max((self.n_samples - self.rows) * self.n_features, 1)


def gaps(X):
    """Count the `Gaps` of a view in memory."""
    if scipy.sparse.issparse(X):
        return Gaps(*X.shape)
    rows = incomplete_rows(X)
    if not rows.any():
        return Gaps(*X.shape)
    incomplete = X[rows]
    lost, gone = missing_rows(incomplete), np.isnan(incomplete)
    return Gaps(*X.shape, int(lost.sum()), int(gone[~lost].sum()), not gone.all())


def check_gaps(found, titles):
    """Raise ValueError if more than a tenth of the cells of a view are missing."""
    for gap, title in zip(found, titles, strict=True):
        if gap.share > MOST:
            raise ValueError(
                f"{title} lacks {100 * gap.share:.3g} % of its cells, but at most "
                f"{100 * MOST:g} % can be filled: remove columns or samples that lack many"
            )


def warn_of_gaps(found, titles, log=None):
    """Warn of missing cells, with counts; if only whole rows are missing, call ``log`` instead."""
    lacking = []
    for gap, title in zip(found, titles, strict=True):
        if not (gap.cells or gap.rows):
            continue
        parts = [f"{counted(gap.cells, 'cell')} ({100 * gap.share:.2g} %)"] * (gap.cells > 0)
        parts += [f"{gap.rows} of {counted(gap.n_samples, 'sample')}"] * (gap.rows > 0)
        lacking += [f"{title} lacks {' and '.join(parts)}"] * bool(parts)
    if any(gap.partial for gap in found):
        warn_user(
            f"{', '.join(lacking)}: cells are filled from the other values of their row; rows that "
            "lack more than half of their cells count as missing"
        )
    elif lacking and log is not None:
        log(", ".join(lacking))


def mean_row(X):
    """Column means without NaN, up to a common factor, of shape (d,), float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
        if np.isnan(total).any():
            there = ~np.isnan(X)
            total = X.sum(axis=0, dtype=np.float64, where=there) / np.maximum(there.sum(axis=0), 1)
    total[~np.isfinite(total)] = 0
    return (total / (np.abs(total).max() or 1)).astype(np.float32)


def filled(X, mean):
    """Fill the missing cells of a view, so that no row is partially NaN.

    Missing cells get their values from a multiple of the mean row, by a least-squares fit to the
    other cells of the row. Rows that lack more than half of their cells become NaN. X itself is
    returned if nothing has to be filled.
    """
    if scipy.sparse.issparse(X):
        return X
    rows = np.flatnonzero(incomplete_rows(X))
    rows = rows[~np.isnan(X[rows]).all(axis=1)]
    if len(rows) == 0:
        return X
    out = X.copy()
    for block in gen_batches(len(rows), SMALL_BLOCK):
        part = X[rows[block]].astype(np.float64)
        gone = np.isnan(part)
        largest = np.fmax.reduce(np.abs(part), axis=1, keepdims=True)
        there = np.where(gone, 0, part) / np.where(largest > 0, largest, 1)
        inner = (there * mean).sum(axis=1, keepdims=True)  # a product with BLAS rounds by position
        squares = np.where(gone, 0, mean**2).sum(axis=1, keepdims=True)
        multiple = largest * np.divide(inner, squares, out=np.zeros_like(inner), where=squares > 0)
        part = np.where(gone, multiple * mean, part)
        part[2 * gone.sum(axis=1) > X.shape[1]] = np.nan
        out[rows[block]] = part
    return out


def imputed(views):
    """Predict the missing rows of each view from the other views by ridge regression.

    The missing rows of a view are predicted by ::

        m + Z Z_o^T (Z_o Z_o^T + I / 2)^-1 (U_o - m),

    where U are the unit rows of the view, m is their mean, and o are the samples that have the
    view. A row of Z concatenates the centred unit rows of the other views, 0 for missing ones, and
    is scaled to unit length. If the view has no negative entries, negative predictions are set to
    0. Views with missing rows are replaced by their unit rows, known and predicted; the others are
    returned unchanged.
    """
    present = presence(views)
    if present is None:
        return views
    units = [unit_rows(X[has]) for X, has in zip(views, present, strict=True)]
    means = [np.asarray(U.mean(axis=0)).ravel() for U in units]
    rank = [np.cumsum(has) - 1 for has in present]

    def others(i, samples):
        """Rows of Z for some samples, computed without view i."""
        parts = []
        for j, (U, has) in enumerate(zip(units, present, strict=True)):
            if j != i:
                part = np.zeros((len(samples), U.shape[1]), dtype=U.dtype)
                found = has[samples]
                part[found] = dense(U[rank[j][samples[found]]]) - means[j]
                parts.append(part)
        return normalize(np.hstack(parts))

    out = list(views)
    for i, (has, U, mean) in enumerate(zip(present, units, means, strict=True)):
        if has.all():
            continue
        learned = np.flatnonzero(has)[spread(has.sum(), MAX_REGRESSORS)]
        Z = others(i, learned)
        coefficients = ridge_coefficients(Z @ Z.T, dense(U[rank[i][learned]]) - mean)
        out[i] = np.empty(views[i].shape, dtype=U.dtype)
        out[i][has] = dense(U)
        missing = np.flatnonzero(~has)
        for block in gen_batches(len(missing), BLOCK):
            rows = missing[block]
            out[i][rows] = (others(i, rows) @ Z.T) @ coefficients + mean
        if U.min() >= 0:
            np.maximum(out[i], 0, out=out[i])
    return out


def ridge_coefficients(kernel, targets):
    """Ridge regression coefficients ``(K + I / 2)^-1 targets``; overwrites the diagonal of K."""
    kernel[np.diag_indices(len(kernel))] += IMPUTATION_RIDGE
    return scipy.linalg.solve(kernel, targets, assume_a="pos", check_finite=False)
