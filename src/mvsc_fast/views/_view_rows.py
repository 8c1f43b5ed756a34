"""Unit rows of a view: of its samples, predicted from other views, and in leading components."""

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from ._rows import BLOCK, SMALL_BLOCK, dense, spread

MIN_OFFSET = 1e-6  # length of a centred row, below which it is a rounding error of single precision
IMPUTATION_RIDGE = 0.5  # for the regression of a view on the others, whose rows have unit length
MAX_REGRESSORS = 4096  # maximum number of samples in this regression

# Views with more columns than samples are mapped to components: at least 64, and as many as there
# are codes for, of one byte each, so that a model has less than 5 MB for each view.
MAP_CODES, MIN_COMPONENTS = 3_500_000, 64
OVERSAMPLES = 10  # further directions of the subspace that is iterated


class ViewRows:
    """Rows of unit length of one view, in at most n columns.

    With d > n columns, the rows are replaced by their leading components, see `leading_map`.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
    nonnegative : bool, optional
        Whether all samples are non-negative in this view, including those that are not in X. None
        checks X.

    Attributes
    ----------
    nonnegative : bool
    n_features : int
        d
    columns : ndarray of int
        See `in_canonical_columns`; the columns of all arrays belong to them. Columns of zeros are
        left out of all rows and counts, so that they change nothing.
    rank : int
        The smaller of n and their number, by which ridges are scaled: components have that of the
        whole rows.
    codes, steps : ndarray of shape (d, r), int8, and of shape (d,), float32, or None
        The map of unit rows to their components, which is ``codes * steps[:, None]``.
    roots : ndarray of shape (n, r), r <= min(n, d), float32
        Z, the unit rows of sqrt(X) if X is non-negative, which stabilises the variance of counts,
        else U.
    """

    def __init__(self, X, nonnegative=None):
        self.nonnegative = X.min() >= 0 if nonnegative is None else nonnegative
        self.n_features = X.shape[1]
        X, self.columns = in_canonical_columns(X)
        self.rank = min(X.shape)
        self.roots, self.codes, self.steps = _components(_unit_roots(X, self.nonnegative))
        self.mean = row_mean(self.roots)
        # Not a `functools.cached_property`: before Python 3.12 its lock is that of all objects, on
        # which a child waits for ever that was forked while another thread was computing.
        self._X, self._unit = X, None

    @property
    def unit(self):
        """U, the unit rows of X, of shape (n, r), float32; computed once."""
        if not self.nonnegative:
            return self.roots
        if self._unit is None:
            self._unit = _short_rows(_unit_roots(self._X, False))
        return self._unit

    def some_unit(self, rows):
        """Some rows of U; the others are not computed."""
        if not self.nonnegative or self._unit is not None or self.codes is not None:
            return self.unit[rows]
        return dense(_unit_roots(self._X[rows], False), np.float32)

    @property
    def centred(self):
        """C, the unit rows of Z - mean(Z), of shape (n, r), float32."""
        offsets = self.roots - self.mean
        lengths = row_norms(offsets)
        lengths[lengths <= MIN_OFFSET] = np.inf  # rounding errors become zeros
        offsets /= lengths[:, None]
        return offsets

    def in_all_columns(self, A, axis):
        """An array with an entry for each of ``columns`` along an axis, and zeros for others."""
        shape = (*A.shape[:axis], self.n_features, *A.shape[axis + 1 :])
        out = np.zeros(shape, dtype=A.dtype)
        out.swapaxes(0, axis)[self.columns] = A.swapaxes(0, axis)
        return out

    def forget(self):
        """Delete the arrays that new samples do not need."""
        del self.roots, self._unit, self._X


def _unit_roots(X, rooted):
    """Unit rows of X, or of its square root, computed in blocks of rows if X is dense."""
    if scipy.sparse.issparse(X):
        return unit_rows(with_data(X, np.sqrt(X.data)) if rooted else X)
    out = np.empty(X.shape, dtype=np.float32)
    for rows in gen_batches(len(X), SMALL_BLOCK):
        out[rows] = unit_rows(np.sqrt(X[rows]) if rooted else X[rows])
    return out


def with_data(X, data):
    """A csr matrix with the indices of X, which are shared, and with other data."""
    return scipy.sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def unit_rows(X):
    """Rows of X divided by their lengths; rows whose squares vanish beside their view are zeros."""
    if scipy.sparse.issparse(X):
        return normalize(with_data(X, X.data.copy()), copy=False) if X.shape[0] else X
    # scikit-learn's normalize leaves lengths below 10 eps as they are.
    lengths = row_norms(X)
    is_positive = lengths > np.sqrt(np.finfo(X.dtype).tiny)
    return X / np.where(is_positive, lengths, np.inf)[:, None]


def row_mean(X):
    return X.mean(axis=0, dtype=np.float64).astype(X.dtype)


def imputed(views, present):
    """Predict the missing rows of each view from the other views by ridge regression.

    The missing rows of a view are predicted by ::

        m + Z Z_o^T (Z_o Z_o^T + I / 2)^-1 (U_o - m),

    where U are the unit rows of the view, m is their mean, and o are the samples that have the
    view. A row of Z concatenates the centred unit rows of the other views, 0 for missing ones, and
    is scaled to unit length. If the view has no negative entries, negative predictions are set to
    0. Views with missing rows are replaced by their unit rows, known and predicted; the others are
    returned unchanged, and so is a view that no sample has. ``present`` is the `presence` of
    the views.
    """
    if present.all():
        return views
    # Each view contributes centred unit rows; samples that lack it contribute zeros.
    units = [unit_rows(X[has]) for X, has in zip(views, present, strict=True)]
    means = [np.ravel(U.mean(axis=0)) if U.shape[0] else 0.0 for U in units]
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


def nonzero_columns(X):
    """Indices of the columns that are not all zero; the first column if all are."""
    if scipy.sparse.issparse(X):
        columns = np.unique(X.indices[X.data != 0])
    else:
        columns = np.flatnonzero(X.any(axis=0))
    return columns if len(columns) else np.zeros(1, dtype=np.intp)


def in_canonical_columns(X):
    """A view of its `nonzero_columns` in an order that depends on their contents alone.

    In this order, sums over columns have the same rounding whatever the order of the view. On weak
    structure a change of rounding is enough for other labels.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
        Samples in canonical order.

    Returns
    -------
    X : ndarray or csr_matrix of shape (n, k)
    columns : ndarray of shape (k,) of int
    """
    columns = nonzero_columns(X)
    # Columns are sorted by their sums. Random weights tell columns with equal sums apart, such as
    # words that equally many texts contain.
    weights = np.random.RandomState(0).standard_normal(X.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        sums, weighted = np.ravel(X.sum(axis=0)), weights @ X
    columns = columns[np.lexsort([weighted[columns], sums[columns]])]
    X = X[:, columns]
    if scipy.sparse.issparse(X):
        X.sort_indices()  # sums along rows are in the order of the entries
    return X, columns


def _components(U):
    """Leading components of unit rows with more columns than rows, and the map to them.

    Other rows are returned as they are, with None and None.
    """
    n, d = U.shape
    if d <= n:
        return dense(U, np.float32), None, None
    U = U.astype(np.float32, copy=False)
    V = leading_map(U, n_components(n, d))
    # The map is rounded to one byte for each entry, as it is stored in models.
    steps = np.maximum(V.max(axis=1), -V.min(axis=1)) / 127
    V /= np.where(steps > 0, steps, 1)[:, None]
    codes = np.rint(V, out=V).astype(np.int8)
    # The rows of the fit are mapped as new rows are, so that rounding the map has no consequence.
    V *= steps[:, None]
    return np.ascontiguousarray(U @ V), codes, steps


def n_components(n, d):
    """Number of components of n rows with d > n columns."""
    return min(n, max(MIN_COMPONENTS, MAP_CODES // d))


def _short_rows(U):
    """Unit rows in at most n columns, float32, if no map to them is needed."""
    n, d = U.shape
    if d <= n:
        return dense(U, np.float32)
    if n_components(n, d) < n:
        return U @ leading_map(U, n_components(n, d))
    return _coordinates(_gram(U.T))[0].astype(np.float32)


def _gram(B):
    """B^T B in double precision, of a matrix of single precision."""
    B = B.tocsr() if scipy.sparse.issparse(B) else B
    gram = np.zeros((B.shape[1], B.shape[1]))
    for rows in gen_batches(B.shape[0], BLOCK):
        block = B[rows].astype(np.float64)
        gram += block.T @ block
    return gram


def _coordinates(gram):
    """Coordinates of rows in an orthonormal basis of them, and the rows that determine it.

    Rows of which less than a thousandth is orthogonal to earlier rows are combinations of those;
    the map of new samples is rounded more coarsely.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Inner products of the rows, of length 1 or 0.

    Returns
    -------
    coordinates : ndarray of shape (n, k)
    independent : ndarray of shape (k,) of int
        Their coordinates are a triangular matrix.
    """
    # The diagonal of a Cholesky factor has the lengths that are orthogonal to the earlier rows. A
    # ridge far below the limit keeps those of combinations positive.
    regular = gram + 1e-10 * np.eye(len(gram))
    coordinates = scipy.linalg.cholesky(regular, lower=True, check_finite=False)
    independent = np.flatnonzero(coordinates.diagonal() > 1e-3)
    if len(independent) == 0:  # all rows are zero
        return np.zeros((len(gram), 1)), independent
    # Without the combinations, later rows have other coordinates.
    if len(independent) < len(gram):
        inner = regular[np.ix_(independent, independent)]
        factor = scipy.linalg.cholesky(inner, lower=True, check_finite=False)
        coordinates = scipy.linalg.solve_triangular(
            factor, gram[independent], lower=True, check_finite=False
        ).T
    return coordinates, independent


def leading_map(U, r):
    """The r leading right singular vectors of U, of shape (d, <= r), float32.

    They are found by two iterations on a random subspace (Halko, Martinsson & Tropp 2011), with
    products of U and U^T alone. Singular values below 1e-5 of the largest are rounding errors. If
    all directions are kept, the map is another orthonormal basis of the rows, which takes less
    time.
    """
    n, d = U.shape
    if r == n:
        coordinates, independent = _coordinates(_gram(U.T))
        if len(independent) == 0:
            return np.zeros((d, 1), dtype=np.float32)
        factor = coordinates[independent].astype(np.float32)
        rows = dense(U[independent], np.float32)
        return scipy.linalg.solve_triangular(factor, rows, lower=True, check_finite=False).T
    if r + OVERSAMPLES < n:
        # Random numbers for the rows, because the order of columns must have no influence.
        Q = np.random.RandomState(0).standard_normal((n, r + OVERSAMPLES)).astype(np.float32)
        for _ in range(2):
            Q = U @ (U.T @ scipy.linalg.qr(Q, mode="economic", check_finite=False)[0])
        B = U.T @ scipy.linalg.qr(Q, mode="economic", check_finite=False)[0]
    else:
        B = U.T
    # Singular vectors from the Gram matrix of the small side, in double precision.
    squares, vectors = scipy.linalg.eigh(_gram(B), driver="evd", check_finite=False)
    squares, vectors = squares[: -r - 1 : -1], vectors[:, : -r - 1 : -1]
    is_leading = squares > 1e-10 * squares[0]
    is_leading[0] = True  # rows of zeros have a direction as well
    lengths = np.sqrt(np.maximum(squares[is_leading], 1e-30))
    return B @ (vectors[:, is_leading] / lengths).astype(np.float32)
