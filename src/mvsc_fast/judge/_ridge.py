"""Leave-one-out ridge prediction of labels, their predictability and their refinement."""

from itertools import chain

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.metrics.cluster import expected_mutual_information
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from ..similarity._factors import lower_inverse, spd_inverse
from ..views._row_source import RowSource
from ..views._rows import SMALL_BLOCK, presence, spread
from ..views._sample import canonical_order
from ..views._view_rows import ViewRows, imputed
from ._landmarks import N_LANDMARKS, LandmarkFeatures
from ._scores import ROUNDING, corrected_modularity

LABEL_RIDGE = 0.5  # times the mean eigenvalue n / min(n, D) of unit rows
# Maximum number of samples, evenly spaced, that the regressions are fitted on: Gram matrices and
# leverages of 10 000 took a fifth of a fit.
REGRESSED = 4096
REFINEMENTS = 4  # at most, of all labels; ten have no better labels (bench/unequal.py)
MAX_INDICATORS = 1024  # of one-hot labels in one product


def mutual_information(a, b, n_clusters):
    """Normalised mutual information of two labellings, integers below ``n_clusters``.

    Equal to scikit-learn's ``normalized_mutual_info_score``, without its checks, which cost more
    than the computation.
    """
    shares = np.bincount(a * n_clusters + b, minlength=n_clusters * n_clusters) / len(a)
    shares = shares.reshape(n_clusters, n_clusters)
    shared, largest = _information(shares.sum(axis=0), shares.sum(axis=1), shares.ravel())
    return shared / largest if largest > 0 else 1.0


def adjusted_mutual_information(a, b, n_clusters=None):
    """Adjusted mutual information of two labellings: 1 if equal, about 0 by chance.

    Equal to scikit-learn's ``adjusted_mutual_info_score``, without its checks, but not positive if
    fewer labels are equal than by chance. Without features, the prediction from all other samples
    misses every label of balanced clusters, because its cluster is the smallest among the others:
    an exact function of the labels, but no agreement.
    """
    n, c = len(a), n_clusters or 1 + int(max(a.max(), b.max()))
    # Sparse, because every sample may have a label of its own.
    counts = scipy.sparse.coo_array((np.ones(n, dtype=np.int64), (a, b)), shape=(c, c)).tocsr()
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    shared, largest = _information(rows / n, columns / n, counts.data / n)
    expected = expected_mutual_information(counts[rows > 0][:, columns > 0], n)
    # By chance, only single clusters, or clusters of single samples, share all information.
    excess = largest - expected
    score = float((shared - expected) / excess) if excess >= ROUNDING else 1.0
    return min(score, 0.0) if np.count_nonzero(a == b) < rows @ columns / n else score


def _information(rows, columns, cells):
    """Mutual information, and the mean of both entropies, of the shares in a table."""
    total = _entropy(rows) + _entropy(columns)
    return total - _entropy(cells), total / 2


def _entropy(p):
    p = p[p > 0]
    return -(p * np.log(p)).sum()


class Judge:
    """Score labellings of the samples of some views by their predictability.

    Parameters
    ----------
    rows : list of ViewRows
        Rows of the views. Their cached matrices of all samples are released.
    distinct : ndarray of int, optional
        Samples that no earlier sample equals, among which landmarks are chosen; by default all.

    Attributes
    ----------
    features : LandmarkFeatures
        The second feature map, which also maps new samples.
    ridge : LeaveOneOutRidge
        The regression on the second map, for all samples.
    """

    def __init__(self, rows, distinct=None):
        n = len(rows[0].roots)
        # An equal landmark would change the scale of a sample.
        distinct = np.arange(n) if distinct is None else distinct
        self.features = LandmarkFeatures(rows, distinct[spread(len(distinct), N_LANDMARKS)])
        local = self.features.of_fitted()
        self._some = spread(n, REGRESSED) if n > REGRESSED else slice(None)
        # Two maps: unit rows, and local features. Rows are forgotten as soon as they are used,
        # because they are as large as the data.
        units = np.hstack([view.some_unit(self._some) for view in rows], dtype=np.float32)
        units *= np.float32(1 / np.sqrt(len(rows)))
        for view in rows:
            view.forget()
        self._unit_ridge = LeaveOneOutRidge(units, rank=sum(view.rank for view in rows))
        self.ridge = LeaveOneOutRidge(local, self._some, self.features.rank)

    def __call__(self, labellings, n_clusters, score=mutual_information):
        """Predictability J of every labelling of shape (n,), integers below ``n_clusters``.

        The mean over both maps of the scores of given and predicted labels; 0 for a single cluster.
        """
        scores = [
            [score(a, b, n_clusters) if np.ptp(a) > 0 else 0.0 for a, b in zip(*pairs, strict=True)]
            for pairs in self.label_pairs(labellings, n_clusters)
        ]
        return np.mean(scores, axis=0)

    def label_pairs(self, labellings, n_clusters):
        """For each map, given and predicted labels of the samples that it scores.

        The first map scores the subsample, the second scores all samples.
        """
        fitted_labels = [labels[self._some] for labels in labellings]
        yield fitted_labels, self._unit_ridge.predicted(fitted_labels, n_clusters)
        yield labellings, self.ridge.predicted(labellings, n_clusters)


def judge_of(views, used):
    """The `Judge` of some views, and the canonical order of samples, in which it takes labels.

    Missing rows are predicted from all views.
    """
    # Missing rows are predicted in this order as well, from samples that are evenly spaced in it.
    order = canonical_order(RowSource(views))
    ordered = [X[order] for X in views]
    complete = imputed(ordered, presence(ordered))
    return Judge([ViewRows(complete[i]) for i in used]), order


class LeaveOneOutRidge:
    """Ridge regression of labels on features, each sample predicted by all others.

    Parameters
    ----------
    F : ndarray of shape (n, D), float32
    fitted : ndarray of int, optional
        Samples on which the regression is fitted; by default all.
    rank : int, optional
        Number of features by which the ridge is scaled, if F has components of them.
    """

    def __init__(self, F, fitted=slice(None), rank=None):
        self.features, self._fitted, self._rank = F, fitted, rank
        self._columns = ColumnMap(self.predict, len(F))
        F = F[fitted]
        n, d = F.shape
        g = np.float32(LABEL_RIDGE * n / min(n, d if rank is None else rank))
        self._thin = d < n
        if not self._thin:
            # With more features than samples, the inverse of the kernel has all that is needed.
            kernel = F @ F.T
            kernel[np.diag_indices(n)] += g
            self._P = spd_inverse(kernel)
            return
        # With fewer features than samples, a factor of the Gram matrix and the leverages suffice.
        gram = F.T @ F
        gram[np.diag_indices(d)] += g
        # A symmetric matrix is its own transpose, and that is in LAPACK's order.
        factor = scipy.linalg.cholesky(gram.T, lower=True, overwrite_a=True, check_finite=False)
        # Leverages are the diagonal of F (F^T F + g I)^-1 F^T.
        (trmm,) = scipy.linalg.get_blas_funcs(("trmm",), (factor,))
        self._factor, inverse = factor, lower_inverse(factor)
        leverage = np.empty(n, dtype=np.float32)
        for rows in gen_batches(n, SMALL_BLOCK):
            U = trmm(np.float32(1), inverse, F[rows].T, lower=1)
            np.einsum("ij,ij->j", U, U, out=leverage[rows])
        self._leverage = np.minimum(leverage, np.float32(1 - 1e-5))[:, None]

    def restricted(self, samples):
        """The regression on the features of some samples alone."""
        n = len(samples)
        fitted = slice(None) if n <= REGRESSED else spread(n, REGRESSED)
        return LeaveOneOutRidge(self.features[samples], fitted, self._rank)

    def predict(self, Y):
        """Leave-one-out predictions of Y, of shape (n, k), in Fortran order.

        Products are transposed, because the columns of Y are rows in memory (`ColumnMap`).
        """
        targets = Y[self._fitted]
        if not self._thin:
            # U U^T = I - g P with P = (F F^T + g I)^-1, and g P_ii = 1 - h_i
            left_out = targets - (targets.T @ self._P).T / np.diagonal(self._P)[:, None]
            if len(left_out) == len(Y):
                return left_out
        out = (self.coefficients(Y).T @ self.features.T).T
        if self._thin:
            left_out = out[self._fitted]
            left_out -= self._leverage * targets
            left_out /= 1 - self._leverage
        out[self._fitted] = left_out
        return out

    def coefficients(self, Y):
        """Coefficients B of shape (D, k) that predict Y from features."""
        weights = Y[self._fitted]
        if not self._thin:
            weights = (weights.T @ self._P).T
        if len(weights) < len(Y):  # products with zeros need no copy of the fitted rows
            fitted_weights, weights = weights, np.zeros_like(Y)
            weights[self._fitted] = fitted_weights
        B = (weights.T @ self.features).T
        if not self._thin:
            return B
        return scipy.linalg.cho_solve((self._factor, True), B, overwrite_b=True, check_finite=False)

    def predicted(self, labellings, n_clusters, add=None):
        """Labels that are predicted from all other samples, for every labelling of shape (n,).

        ``add`` is a further `ColumnMap`, whose columns are added to those of the ridge regression.
        """
        maps = [self._columns] if add is None else [self._columns, add]
        out = []
        # Blocks of labellings bound the memory of the indicators.
        step = max(1, MAX_INDICATORS // n_clusters)
        for start in range(0, len(labellings), step):
            block = labellings[start : start + step]
            for parts in zip(*(column_map(block, n_clusters) for column_map in maps), strict=True):
                out.append(sum(parts[1:], parts[0]).argmax(axis=0))
        return out


class ColumnMap:
    """A linear map of the indicators of clusters, computed once for each cluster.

    Labellings that differ little, such as successive refinements, have most clusters in common.

    Parameters
    ----------
    function : callable
        Maps an array of shape (n, k) to another one, column by column.
    n_samples : int
    """

    def __init__(self, function, n_samples):
        self._function, self._n_samples, self._columns = function, n_samples, {}

    def __call__(self, labellings, n_clusters):
        """Yield the mapped `one_hot` of each labelling, transposed: of shape (n_clusters, n)."""
        # The key of a cluster is its set of samples, a bit for each.
        clusters, keys = np.arange(n_clusters)[:, None], []
        for labels in labellings:
            bits = np.packbits(labels == clusters, axis=1)
            keys.append([row.tobytes() for row in bits])
        if len(self._columns) > MAX_INDICATORS:
            self._columns.clear()
        # New clusters are mapped in one product, in the order in which they occur.
        new = [key for key in dict.fromkeys(chain(*keys)) if key not in self._columns]
        if new:
            bits = np.frombuffer(b"".join(new), np.uint8).reshape(len(new), -1)
            bits = np.unpackbits(bits, axis=1, count=self._n_samples)
            sizes = np.maximum(np.count_nonzero(bits, axis=1), 1)
            Y = bits * (1 / np.sqrt(sizes)).astype(np.float32)[:, None]
            mapped = np.ascontiguousarray(self._function(Y.T).T)
            self._columns.update(zip(new, mapped, strict=True))
        for row in keys:
            yield np.stack([self._columns[key] for key in row])


def refined_labellings(labellings, n_clusters, ridge, affinity):
    """Replace labels by their prediction from ridge regression and graph neighbours.

    Iterates ``l <- argmax_k [ (leave-one-out ridge + D^-1 A) Y ]_k`` for each labelling until its
    labels no longer change, at most four times, and stops before a step that would empty a cluster.
    Ridge regression alone lowers the accuracy on noisy data (subspaces .915 -> .877). The labels of
    before are returned where refinement lowers the modularity relative to its maximum: there it
    dissolves a small group, whose samples have more neighbours in the others. Labellings are of
    shape (k, n); ``ridge`` is a `LeaveOneOutRidge` and ``affinity`` the graph A, a csr_array with
    zero diagonal.
    """
    unrefined = np.array(labellings)
    labellings, changing = unrefined.copy(), np.arange(len(unrefined))
    neighbours = normalize(affinity, norm="l1")
    votes = ColumnMap(lambda Y: neighbours @ Y, labellings.shape[1])
    # Only labellings that still change are predicted again; a step that would empty a cluster ends
    # the refinement of a labelling.
    for _ in range(REFINEMENTS):
        previous = labellings[changing]
        proposed = np.array(ridge.predicted(previous, n_clusters, votes))
        accepted = (proposed != previous).any(axis=1)
        accepted &= _n_distinct(proposed) == _n_distinct(previous)
        changing = changing[accepted]
        if len(changing) == 0:
            break
        labellings[changing] = proposed[accepted]
    # A small group may dissolve on the way, which a lower modularity shows.
    moved = np.flatnonzero((labellings != unrefined).any(axis=1))
    stages = unrefined[moved], labellings[moved]
    before, after = (corrected_modularity(affinity, stage, n_clusters) for stage in stages)
    worse = moved[after < before - ROUNDING]
    labellings[worse] = unrefined[worse]
    return labellings


def _n_distinct(labellings):
    return np.array([np.count_nonzero(np.bincount(labels)) for labels in labellings])


def one_hot(labels, n_clusters):
    """Indicators of shape (n, n_clusters) over the square roots of the cluster sizes, float32."""
    size = np.bincount(labels, minlength=n_clusters)
    Y = np.zeros((len(labels), n_clusters), dtype=np.float32)
    Y[np.arange(len(labels)), labels] = (1 / np.sqrt(np.maximum(size, 1)))[labels]
    return Y
