"""Copies of views without clusters, and the modularities that labellings of views have."""

import warnings
from functools import partial

import numpy as np
import scipy.sparse
from scipy.linalg import eigh, helmert, svd
from scipy.special import ndtr
from scipy.stats import ortho_group
from sklearn import config_context
from sklearn.preprocessing import normalize

from .._utils.threads import limited
from ..spectral._cut import assign, even_starts
from ..views._lift import fit_lift, lifted
from ..views._rows import dense
from ..views._view_rows import ViewRows
from ._scan import SCALES, SIZES, neighbourhood_growth, scan, sizes_of
from ._scores import corrected_modularity

# Offsets of the k-means starts. Other labellings must not be added unseen: k-means
# and Ward's method on rows that are not of unit length find the outliers of heavy tails, so that 1
# to 3 of 6 draws of t noise have p = .05 with 500 samples.
COPY_STARTS = (1 / 6, 1 / 2, 5 / 6)
# The mean of the nine best labellings in place of the best: three clusters at distance 2.5, of 100
# samples, have a mean z of 3.2 in place of 3.0.
N_BEST = 9


def coordinates(X, nonnegative):
    """Centred rows of X, or of its square roots, in at most n columns, float64.

    A rotation of columns changes neither the labels nor the covariances of a rotated copy.
    """
    n, d = X.shape
    if nonnegative:
        X = np.sqrt(X.maximum(0) if scipy.sparse.issparse(X) else np.maximum(X, 0))
    if d <= n:
        X = dense(X).astype(np.float64)
        return X - X.mean(axis=0)
    # With more columns than samples, the eigenvectors of the Gram matrix are coordinates of the
    # same distances, in n columns instead of d.
    gram = dense(X @ X.T).astype(np.float64)
    gram -= gram.mean(axis=0)
    values, vectors = eigh(gram - gram.mean(axis=1)[:, None], driver="evd")
    return vectors * np.sqrt(np.maximum(values, 0))


def rotated(views, seed):
    """Views of centred samples, multiplied by one random orthogonal matrix."""
    n = len(views[0])
    basis = helmert(n)  # orthonormal rows, each of sum zero
    rotation = basis.T @ ortho_group.rvs(n - 1, random_state=int(seed)) @ basis
    return [rotation @ X for X in views]


def fill_box(X):
    """Rows of a Gaussian view, moved into a box along its principal axes that they fill evenly.

    The distribution function of each component makes its values uniform, with the same mean and
    variance, and keeps their order, and so their relation to other views (Tibshirani et al. 2001).
    """
    mean, root = X.mean(axis=0), np.sqrt(len(X))
    components, lengths, axes = svd(X - mean, full_matrices=False)
    uniform = np.sqrt(12) * (ndtr(root * components) - 0.5)
    return mean + uniform / root * lengths @ axes


@limited  # also in the processes of joblib
def best_modularities(views, n_clusters, mixing, lift, *, each_view):
    """Mean corrected modularity of the best labellings of the views, or of a copy.

    ``mixing`` is the seed of the copy, or None; ``lift`` says which views a fit would lift. With
    ``each_view``, those of each view alone follow.
    """
    # A rotation takes as long as labellings, so that one serves all views together and each alone.
    if mixing is not None:
        # In lifted views, the labeller sees how far rows are from the mean, and finds the corners
        # of uniform noise, which a Gaussian copy does not have.
        copy = zip(rotated(views, mixing), lift, strict=True)
        views = [fill_box(X) if is_lifted else X for X, is_lifted in copy]
    # Lifts are fitted after the mixing, so that a copy goes through the same steps as the samples.
    pairs = zip(views, lift, strict=True)
    views = [lifted(X, fit_lift(X)) if is_lifted else X for X, is_lifted in pairs]
    parts = [views, *([X] for X in views)] if each_view else [views]
    # The mean of the best few varies less from copy to copy than the largest one.
    scores = [modularities(part, n_clusters) for part in parts]
    return [np.sort(values)[-N_BEST:].mean() for values in scores]


def modularities(views, n_clusters):
    """Modularities of k-means labellings of centred samples, corrected for cluster sizes."""
    with (
        warnings.catch_warnings(),
        config_context(skip_parameter_validation=True),  # which takes a tenth of the time
    ):
        warnings.simplefilter("ignore")  # the samples were checked when they were drawn
        # Square roots of a copy that happens to be non-negative would be a difference.
        rows = [ViewRows(X, nonnegative=False) for X in views]
        n = len(views[0])
        growth = neighbourhood_growth(n, n_clusters)
        sizes = sizes_of(n, [round(growth * d) for d in SIZES])
        is_present = np.ones((len(rows), n), dtype=bool)
        n_vectors = dict.fromkeys(SCALES, n_clusters)
        graphs = scan(rows, is_present, sizes, n_vectors, growth=growth, n_threads=1)
        labellings, affinity = [], 0
        # One labelling for each graph and start; the largest graphs of all kinds are added, because
        # one graph alone would favour its own labellings.
        for _, size, A, _, vectors in graphs:
            points = normalize(vectors[:, :n_clusters])
            for offset in COPY_STARTS:
                starts = partial(even_starts, offset=offset)
                labellings.append(assign(points, n_clusters, init=starts, n_init=1))
            if size == sizes[-1]:
                affinity = affinity + A
        return corrected_modularity(affinity, labellings, n_clusters)
