"""Samples that lack some views, rows of NaN: these rows are predicted from the views they have."""

import numpy as np
import scipy.linalg
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from ._rows import BLOCK, dense, presence, spread, unit_rows

RIDGE = 0.5  # of the regression of a view on the others, whose rows have unit length
MAX_REGRESSORS = 4096  # samples that it learns from


def imputed(views):
    """Views whose missing rows are predicted from the other views; their rows have unit length.

    With Z the centred unit rows of the other views side by side, 0 where missing, scaled to unit
    length, and o the samples that have the view, U its unit rows and m their mean, ::

        row = m + Z Z_o^T (Z_o Z_o^T + I / 2)^-1 (U_o - m)

    and 0 for negative entries where the view has none.

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Rows may be NaN.

    Returns
    -------
    list of ndarray or csr_matrix
        Views without missing rows are those given.
    """
    present = presence(views)
    if present is None:
        return views
    units = [unit_rows(X[has]) for X, has in zip(views, present, strict=True)]
    means = [np.asarray(U.mean(axis=0)).ravel() for U in units]
    rank = [np.cumsum(has) - 1 for has in present]

    def others(i, samples):
        """Z of some samples without view i."""
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
        coefficients = ridge_coefficients(Z, dense(U[rank[i][learned]]) - mean)
        filled = np.empty(views[i].shape, dtype=U.dtype)
        filled[has] = dense(U)
        missing = np.flatnonzero(~has)
        for block in gen_batches(len(missing), BLOCK):
            rows = missing[block]
            filled[rows] = (others(i, rows) @ Z.T) @ coefficients + mean
        if U.min() >= 0:
            np.maximum(filled, 0, out=filled)
        out[i] = filled
    return out


def ridge_coefficients(Z, targets):
    """Coefficients (Z Z^T + I / 2)^-1 targets."""
    kernel = Z @ Z.T
    kernel[np.diag_indices(len(kernel))] += RIDGE
    return scipy.linalg.solve(kernel, targets, assume_a="pos", check_finite=False)
