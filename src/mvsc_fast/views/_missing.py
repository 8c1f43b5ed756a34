"""Missing values: cells are filled from the same row, missing rows from the other views."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from .._utils.messages import counted
from .._utils.parameters import InvalidParameterError
from .._utils.types import View
from ._anndata import is_anndata
from ._frames import are_same_ids, is_frame
from ._read import read_view
from ._row_source import check_matrix, is_dask, is_stored
from ._rows import (
    BLOCK,
    SMALL_BLOCK,
    column_limits,
    dense,
    incomplete_rows,
    missing_rows,
    presence,
    spread,
    unit_rows,
    zero_rows,
)

IMPUTATION_RIDGE = 0.5  # for the regression of a view on the others, whose rows have unit length
MAX_REGRESSORS = 4096  # maximum number of samples in this regression


def missing(X: View, mask: ArrayLike | None = None) -> Any:
    """Make rows of a view missing, as for samples in which nothing was measured.

    Parameters
    ----------
    X : array-like, sparse matrix or pandas.DataFrame of shape (n_samples, n_features)
        A view in memory.
    mask : array-like of bool of shape (n_samples,), optional
        Which rows are missing. None marks the rows that are all zero, such as those of empty texts
        in the result of a vectorizer.

    Returns
    -------
    ndarray, sparse matrix or pandas.DataFrame
        A copy of X with rows of NaN, in which integers are floats. A sparse matrix, in format csr,
        or a data frame with sparse columns stores a single NaN in the first column of these rows,
        which marks the whole row, and nothing else.

    Raises
    ------
    ValueError
        If X is not in memory, or the mask is not one boolean for each row.

    See Also
    --------
    align : Views of different samples, with missing rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mvsc_fast.views import missing
    >>> missing([[1, 2], [3, 4]], [False, True])
    array([[ 1.,  2.],
           [nan, nan]])
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> step = FunctionTransformer(missing, feature_names_out="one-to-one")
    >>> model = make_pipeline(TfidfVectorizer(), step)
    >>> model.fit_transform(["a good shop", "", "good"]).toarray()[:, 0]
    array([0.60534851,        nan, 1.        ])
    """
    values = _matrix_in_memory(X)
    rows = zero_rows(values) if mask is None else _checked_mask(mask, values.shape[0], X)
    return _with_missing(X, values, rows)


def _matrix_in_memory(X):
    """A view as an array or csr_array of floats; raise ValueError if it is not in memory."""
    values = read_view(X, "X").values
    is_foreign = is_anndata(X) or is_frame(X) and not hasattr(X, "iloc")
    if is_foreign or is_dask(values) or is_stored(values):
        raise ValueError(
            f"X is a {type(X).__name__}: pass an array, a sparse matrix or a pandas DataFrame "
            "(X.to_pandas() of other packages); of views in files, write NaN into the rows"
        )
    check_matrix(values, "X")
    return values.astype(np.result_type(values.dtype, np.float32), copy=False)


def _checked_mask(mask, n_samples, X):
    """The mask as an array of one boolean for each row of X, with its ids if both have ids."""
    rows = np.asarray(mask)
    if rows.dtype != bool or rows.shape != (n_samples,):
        raise InvalidParameterError(
            f"mask must be one boolean for each of {counted(n_samples, 'row')}, got {rows.dtype} "
            f"of shape {rows.shape}"
        )
    have_ids = all(hasattr(table, "iloc") for table in (X, mask))
    if have_ids and not are_same_ids(mask.index, X.index):
        raise ValueError("mask and X have different indexes: pass mask.loc[X.index]")
    return rows


def _with_missing(X, values, rows):
    """The values of X in its container, with missing rows."""
    sparse = scipy.sparse.issparse(values)
    if sparse:
        values = _sparse_missing(values, rows)
    else:
        values = np.where(rows[:, None], values.dtype.type(np.nan), values)
    if hasattr(X, "iloc"):
        make = type(X).sparse.from_spmatrix if sparse else type(X)
        return make(values, index=X.index, columns=X.columns)
    return scipy.sparse.csr_matrix(values) if scipy.sparse.isspmatrix(X) else values


def _sparse_missing(X, rows):
    """A copy of a csr_array whose missing rows store one NaN."""
    # Entries of missing rows go, and one stored NaN marks each of them.
    data = np.where(np.repeat(rows, np.diff(X.indptr)), 0, X.data)
    known_rows = scipy.sparse.csr_array((data, X.indices, X.indptr), X.shape, copy=True)
    known_rows.eliminate_zeros()
    indptr = np.append(0, np.cumsum(rows)).astype(known_rows.indptr.dtype)
    indices = np.zeros(indptr[-1], dtype=known_rows.indices.dtype)
    nan = np.full(indptr[-1], np.nan, dtype=X.dtype)
    return known_rows + scipy.sparse.csr_array((nan, indices, indptr), X.shape)


def mean_row(X):
    """Column means without NaN, up to a common factor, of shape (d,), float32.

    Those of centred columns are zeros: their rounding errors depend on the order of the rows.
    """
    if scipy.sparse.issparse(X):
        X = X[~missing_rows(X)]
    # Sums over all cells are fast, and tell by a NaN whether gaps must be left out.
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
        if np.isnan(total).any():
            is_known = ~np.isnan(X)
            total = X.sum(axis=0, dtype=np.float64, where=is_known)
            total *= len(X) / np.maximum(is_known.sum(axis=0), 1)
    total[~np.isfinite(total)] = 0
    if isinstance(X, np.ndarray):
        largest = np.maximum(*np.abs(column_limits(X)))
        total[np.abs(total) <= len(X) ** 1.5 * np.finfo(X.dtype).eps * largest] = 0
    return (total / (np.abs(total).max() or 1)).astype(np.float32)


def filled(X, mean=None):
    """Fill the missing cells of a view, so that no row is partially NaN.

    Missing cells get their values from a multiple of the mean row, by a least-squares fit to the
    other cells of the row. Rows that lack more than half of their cells become NaN. X itself is
    returned if nothing has to be filled. ``mean`` is the `mean_row` of X by default.
    """
    if scipy.sparse.issparse(X):
        return X
    rows = np.flatnonzero(incomplete_rows(X))
    rows = rows[~np.isnan(X[rows]).all(axis=1)]
    if len(rows) == 0:
        return X
    mean = mean_row(X) if mean is None else mean
    # A missing cell gets the mean row times the multiple that fits the known cells of its row best.
    out = X.copy()
    for block in gen_batches(len(rows), SMALL_BLOCK):
        part = X[rows[block]].astype(np.float64)
        is_missing = np.isnan(part)
        largest = np.fmax.reduce(np.abs(part), axis=1, keepdims=True)
        known_cells = np.where(is_missing, 0, part) / np.where(largest > 0, largest, 1)
        # A product with BLAS would round a row by its position.
        inner = (known_cells * mean).sum(axis=1, keepdims=True)
        squares = np.where(is_missing, 0, mean**2).sum(axis=1, keepdims=True)
        multiple = largest * np.divide(inner, squares, out=np.zeros_like(inner), where=squares > 0)
        part = np.where(is_missing, multiple * mean, part)
        part[2 * is_missing.sum(axis=1) > X.shape[1]] = np.nan
        out[rows[block]] = part
    return out


def imputed(views, present=None):
    """Predict the missing rows of each view from the other views by ridge regression.

    The missing rows of a view are predicted by ::

        m + Z Z_o^T (Z_o Z_o^T + I / 2)^-1 (U_o - m),

    where U are the unit rows of the view, m is their mean, and o are the samples that have the
    view. A row of Z concatenates the centred unit rows of the other views, 0 for missing ones, and
    is scaled to unit length. If the view has no negative entries, negative predictions are set to
    0. Views with missing rows are replaced by their unit rows, known and predicted; the others are
    returned unchanged, and so is a view that no sample has. ``present`` is the `presence` of the
    views, if it is known.
    """
    present = presence(views) if present is None else present
    if present.all():
        return views
    # Each view contributes centred unit rows; samples that lack it contribute zeros.
    units = [unit_rows(X[has]) for X, has in zip(views, present, strict=True)]
    means = [
        np.asarray(U.mean(axis=0)).ravel() if U.shape[0] else np.zeros(U.shape[1], dtype=U.dtype)
        for U in units
    ]
    rank = [np.cumsum(has) - 1 for has in present]

    def regressors(i, samples):
        """Rows of Z for some samples, computed without view i."""
        parts = []
        for j, (U, has) in enumerate(zip(units, present, strict=True)):
            if j != i:
                part = np.zeros((len(samples), U.shape[1]), dtype=U.dtype)
                rows_with_view = has[samples]
                part[rows_with_view] = dense(U[rank[j][samples[rows_with_view]]]) - means[j]
                parts.append(part)
        return normalize(np.hstack(parts))

    # The regression of a view learns from the samples that have it, and predicts the others in
    # blocks.
    out = list(views)
    for i, (has, U, mean) in enumerate(zip(present, units, means, strict=True)):
        if has.all() or not has.any():
            continue
        learned = np.flatnonzero(has)[spread(has.sum(), MAX_REGRESSORS)]
        Z = regressors(i, learned)
        coefficients = ridge_coefficients(Z @ Z.T, dense(U[rank[i][learned]]) - mean)
        out[i] = np.empty(views[i].shape, dtype=U.dtype)
        out[i][has] = dense(U)
        missing = np.flatnonzero(~has)
        for block in gen_batches(len(missing), BLOCK):
            rows = missing[block]
            out[i][rows] = (regressors(i, rows) @ Z.T) @ coefficients + mean
        # Views without negative entries stay so, because their square roots are taken later.
        if U.min() >= 0:
            np.maximum(out[i], 0, out=out[i])
    return out


def ridge_coefficients(kernel, targets):
    """Ridge regression coefficients ``(K + I / 2)^-1 targets``; overwrites the diagonal of K."""
    kernel[np.diag_indices(len(kernel))] += IMPUTATION_RIDGE
    return scipy.linalg.solve(kernel, targets, assume_a="pos", check_finite=False)
