"""Views that do not help: found before fusing, and measured after clustering."""

import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_mutual_info_score

from .._utils.messages import warn_user
from ..similarity._dense import ridge_similarities
from ..views._rows import canonical_order, is_constant, observed, presence, spread, unit_rows
from ._ridge import one_hot

RIDGE = 0.5  # of the graphs that MIN_Z was measured on
MIN_Z = 5.0  # views of ten real sets: 6.3 and more; nine kinds of noise: 3.7 and less
MIN_SAMPLES = 200
MIN_COLUMNS = 4
MAX_SAMPLES = 1000  # a view's graph is that of so many samples; more tell no more


def permutation_z(A, B):
    """How far the association of two graphs exceeds that of unrelated ones.

    The number of standard deviations by which ``s = sum_jk A_jk B_jk`` exceeds its mean over all
    n! joint permutations of rows and columns of B (Mantel 1967), by their exact moments: with
    s1 = sum A, s2 = sum A^2, s3 = sum of the squared row sums, t1, t2, t3 those of B, and
    N = n (n - 1)::

        E s   = s1 t1 / N
        E s^2 = 2 s2 t2 / N  +  4 (s3 - s2) (t3 - t2) / (N (n - 2))
                + (s1^2 + 2 s2 - 4 s3) (t1^2 + 2 t2 - 4 t3) / (N (n - 2) (n - 3))

    Parameters
    ----------
    A, B : ndarray or sparse array of shape (n, n), n >= 4
        Symmetric, zero diagonal. Each must come from its own view alone: slices restricted to a
        common pattern agree by that pattern.

    Returns
    -------
    float
        0 where one of them has no variance.
    """
    n = A.shape[0]
    N = n * (n - 1.0)
    (s1, s2, s3), (t1, t2, t3) = _moments(A), _moments(B)
    product = A.multiply(B) if scipy.sparse.issparse(A) else A * B
    together = float(product.sum(dtype=np.float64))
    mean = s1 * t1 / N
    square = (
        2 * s2 * t2 / N
        + 4 * (s3 - s2) * (t3 - t2) / (N * (n - 2))
        + (s1**2 + 2 * s2 - 4 * s3) * (t1**2 + 2 * t2 - 4 * t3) / (N * (n - 2) * (n - 3))
    )
    variance = square - mean**2
    return (together - mean) / np.sqrt(variance) if variance > 1e-12 * square else 0.0


def _moments(A):
    rows = np.asarray(A.sum(axis=1, dtype=np.float64)).ravel()
    squares = A.multiply(A) if scipy.sparse.issparse(A) else A * A
    return rows.sum(), float(squares.sum(dtype=np.float64)), float(rows @ rows)


def view_support(graphs, labels):
    """How much each view's own graph agrees with the labels.

    Parameters
    ----------
    graphs : sequence of ndarray or sparse array of shape (n, n)
        One graph for each view, each from its own view alone. No sample votes for itself.
    labels : ndarray of shape (n,) of int

    Returns
    -------
    ndarray of shape (v,)
        Adjusted mutual information of the labels with the vote of each sample's neighbours,
        ``argmax_k (A Y)_k`` with Y = one-hot(labels) / sqrt(cluster size). Around 0 for noise, .3
        to 1 for views that carry the clusters; at least 0.
    """
    Y = one_hot(labels, int(labels.max()) + 1)
    votes = [(np.asarray(A @ Y) - A.diagonal()[:, None] * Y).argmax(axis=1) for A in graphs]
    return np.array([max(0.0, adjusted_mutual_info_score(labels, vote)) for vote in votes])


def view_by_view(rows):
    """The graph of every view by itself, float32, of rows of unit length."""
    return ridge_similarities([X.astype(np.float32, copy=False) for X in rows], ridge=RIDGE)


def z_of_halves(X):
    """`permutation_z` between the graphs of the even and of the odd columns of a view."""
    X = unit_rows(X)
    return permutation_z(*view_by_view([unit_rows(X[:, ::2]), unit_rows(X[:, 1::2])]))


class ViewGraphs:
    """The graph of every view alone, of at most 1000 samples spread evenly over all.

    A graph is that of the samples that have the view, and two graphs are compared on the samples
    that have both.

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Rows may be NaN.
    unit : list of ndarray of shape (n, r_i), optional
        Their unit rows, or rows of the same inner products (`ViewRows.unit`), if none is missing.
    in_order : bool, default=False
        Whether the samples are in canonical order already.

    Attributes
    ----------
    samples : ndarray of int
    present : ndarray of shape (v, m) of bool
        Which of these samples have each view.
    graphs : list of ndarray of shape (m_i, m_i), float32
        `self_representation` of each view.
    """

    def __init__(self, views, unit=None, *, in_order=False):
        self._views = views
        self.samples = spread(views[0].shape[0], MAX_SAMPLES)
        if not in_order:
            self.samples = canonical_order(views)[self.samples]
        self.present = np.ones((len(views), len(self.samples)), dtype=bool)
        if unit is None:
            chosen = [X[self.samples] for X in views]
            missing = presence(chosen)
            self.present = self.present if missing is None else missing
            rows = [unit_rows(X) for X in observed(chosen)]
        else:
            rows = [X[self.samples] for X in unit]
        self.graphs = [view_by_view([X])[0] for X in rows]
        for A, X in zip(self.graphs, rows, strict=True):
            if is_constant(X):
                A[:] = 0  # equal entries would predict the largest cluster

    def support(self, labels):
        """`view_support` of labels of all samples."""
        labels = labels[self.samples]
        return np.concatenate(
            [
                view_support([A], labels[has])
                for A, has in zip(self.graphs, self.present, strict=True)
            ]
        )

    def across(self, views):
        """Largest z of the graph of each of some views with another of theirs."""
        z = np.full((len(views), len(views)), -np.inf)
        for a, i in enumerate(views):
            for b, j in enumerate(views[:a]):
                z[a, b] = z[b, a] = self._z(i, j)
        return z.max(axis=1)

    def _z(self, i, j):
        both = self.present[i] & self.present[j]
        if both.all():
            return permutation_z(self.graphs[i], self.graphs[j])
        if both.sum() < MIN_SAMPLES:
            return np.inf  # too few to decide
        A, B = (self.graphs[k][np.ix_(*2 * [both[self.present[k]]])] for k in (i, j))
        return permutation_z(A, B)

    def own(self, i):
        """z between the graphs of the even and of the odd columns of view i."""
        has = self.present[i]
        if has.sum() < MIN_SAMPLES and not has.all():
            return np.inf
        return z_of_halves(self._views[i][self.samples[has]])

    def helpful(self, views, names=None):
        """Those of some views that are worth fusing.

        A view is set aside if neither another view's graph agrees with its own (z < 5) nor the
        graphs of its even and odd columns agree with each other: nothing in it repeats. It stays
        where that cannot be told, in fewer than 200 samples or 4 columns.

        Parameters
        ----------
        views : list of int
        names : list, optional
            What warnings call all views; by number where None.

        Returns
        -------
        list of int
        """
        if len(views) < 2 or len(self.samples) < MIN_SAMPLES:
            return views
        names = range(len(self._views)) if names is None else names
        across = dict(zip(views, self.across(views), strict=True))
        lonely = [i for i in views if across[i] < MIN_Z]
        halves = {i: self.own(i) for i in lonely if self._views[i].shape[1] >= MIN_COLUMNS}
        noise = [i for i in halves if halves[i] < MIN_Z]
        suspected = [i for i in lonely if i not in noise]
        if len(noise) == len(views):
            warn_user(
                "no view's graph agrees with another view's or with itself: labels of these "
                "views may mean nothing",
            )
            return views
        if noise:
            told = "; ".join(
                f"view {names[i]!r} (z {across[i]:.1f} with other views, {halves[i]:.1f} within)"
                for i in noise
            )
            warn_user(
                f"excluded as noise, both z below {MIN_Z:g}: {told}. "
                'view_selection="all" keeps every view',
            )
        if suspected and len(views) - len(noise) > 1:
            told = ", ".join(f"view {names[i]!r} (z {across[i]:.1f})" for i in suspected)
            warn_user(
                f"the graphs of other views do not agree with those of {told}: kept, but check "
                "that they describe the same samples in the same order",
            )
        return [i for i in views if i not in noise]
