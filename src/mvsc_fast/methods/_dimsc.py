"""DiMSC: diversity-induced multi-view subspace clustering (Cao et al. 2015)."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .._utils.parameters import check_flag, nonnegative
from .._utils.types import Callback, Scale, Seed
from ..solvers._representation import sylvester, thin_svd
from ..views._rows import dense, unit_rows
from ._representation import RepresentationClusterer


class DiMSC(RepresentationClusterer):
    """Clustering by DiMSC: diverse, smooth self-representations of the views.

    Minimises ``sum_i ||X_i - X_i Z_i||_F^2 + lam_s sum_i tr(Z_i L_i Z_i^T) + lam_d sum_{i<j}
    tr(H K_i H K_j)`` with ``K_i = Z_i^T Z_i`` and ``H = I - 1 1^T / n``, whose last term is the
    Hilbert-Schmidt independence criterion (Cao et al. 2015); L_i is the Laplacian of the
    graph of inner products. For each view in turn, a Sylvester equation is solved exactly by
    eigendecompositions; that of the Gram matrix is computed once. The result does not depend on
    the order of the samples, but it may depend on that of the views, as the model is not convex.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    lam_s : float, default=0.01
        Weight of the smoothness.
    lam_d : float, default=20.0
        Weight of the diversity. Both defaults are the best of the documented settings on
        Extended YaleB; those of the released demo, 1 and 100, give half of their accuracy there.
    normalize : bool, default=True
        Whether to scale samples to unit length. The released code does not, so that its weights
        depend on the units of the features.
    signed : bool, default=False
        Whether to keep negative inner products in the graph, as the released code does, instead of
        replacing them by 0. The Laplacian may then be indefinite and the model unbounded, and the
        iteration usually does not converge. It makes no difference for non-negative features.
    tol : float, default=1e-4
        Tolerance on the relative decrease of the objective in a pass over the views. The released
        code makes 10 passes: ``tol=0, max_iter=10``.
    max_iter : int, default=100
        Maximum number of passes over the views.
    n_init : int, default=20
        Number of k-means initialisations; the best is kept.
    scale : {"standard"}, optional
        "standard" brings every column to mean 0 and standard deviation 1, for columns that measure
        different quantities or have very different ranges. Columns of sparse views are divided by
        their standard deviation and not centred, so that zeros remain zeros; constant columns are
        only centred. Missing rows and cells are ignored. None, because columns of counts,
        histograms, term weights, spectra, pixels and learned embeddings are comparable as they are.
    random_state : int or RandomState, optional
        Pass an int for reproducible labels.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs that are free.
        Labels do not depend on it. AWP, DiMSC, LMSC, LTMSC, MCLES, SCMV3DT and UtSVDMSC always use
        one thread.
    verbose : int, default=0
        If 1, print each stage with the elapsed time and, for long stages, their progress to
        standard error. On a terminal a progress bar is shown if tqdm is installed.
    callback : callable, optional
        Function that is called with an `IterationState` at the start of every stage (iteration 0)
        and after every iteration. If it returns True, the stage stops with its current result; if
        it raises an exception, the fit is aborted. A clone gets a copy of it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, from 0.
    view_support_ : ndarray of shape (n_views,)
        Adjusted mutual information between the labels and those predicted from the graph of each
        view alone: how far the labels follow the view. Around 0 for a noise view beside others that
        show the clusters, .2 to .8 if all is noise. Computed on at most 1000 samples.
    view_names_in_ : list
        Keys if `fit` was given a dict of views, else 0, 1, ...
    n_features_in_ : int
        Total number of features of all views.
    n_features_per_view_ : list of int
        Number of features of each view.
    feature_names_in_ : ndarray of str, or list with one array per view
        Column names. Defined only if a view is a data frame whose column names are all strings; in
        a list, None stands for every other view.
    scaling_ : list of tuple of (ndarray, ndarray)
        Means and standard deviations of the columns of each view, by which they are scaled: means
        of sparse views are 0, deviations of constant columns 1. Defined only with a ``scale``, or
        if squares of the entries of a view cannot be represented: without a ``scale``, such a view
        is divided by a power of two.
    warnings_ : list of str
        Warnings of the fit.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the normalised affinity matrix, rows scaled to unit length.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        ``|Z| + |Z|^T``.
    similarity_ : ndarray of the shape of ``tensor_``
        The same array as ``tensor_``: the method learns its similarities.
    representation_ : ndarray of shape (v, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices of ``tensor_``.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
        Whether the residual reached ``tol``.
    history_ : dict of ndarray
        ``residual``, ``objective`` and ``seconds`` after every iteration.

    References
    ----------
    Cao, Zhang, Fu, Liu, Zhang: Diversity-induced multi-view subspace clustering. CVPR 2015.

    Examples
    --------
    >>> from mvsc_fast.methods import DiMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> DiMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    _arrays = (6, 3)
    _checks = {
        **RepresentationClusterer._checks,
        "lam_s": nonnegative,
        "lam_d": nonnegative,
        "normalize": check_flag,
        "signed": check_flag,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam_s: float = 0.01,
        lam_d: float = 20.0,
        normalize: bool = True,
        signed: bool = False,
        tol: float = 1e-4,
        max_iter: int = 100,
        n_init: int = 20,
        scale: Scale | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam_s = lam_s
        self.lam_d = lam_d
        self.normalize = normalize
        self.signed = signed
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.scale = scale
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _learn(self, views, seed, n_threads, progress):
        run = self._begin(progress)
        Z = _diverse_representation(views, run, self.lam_s, self.lam_d, self.normalize, self.signed)
        return run, {"representation_": Z}


def _diverse_representation(views, run, lam_s, lam_d, normalize, signed):
    """Z, by the passes of `DiMSC` over the views."""
    views = [dense(X, None) for X in views]
    views = [unit_rows(X) for X in views] if normalize else views
    # Without the diversity term each view has a solution of its own, where the passes start.
    blocks = [_View(X, lam_s, signed) for X in views]
    Z = np.stack([block.solve() for block in blocks])
    K = np.stack([_centred_gram(A) for A in Z])
    terms = [block.minimum(A) for block, A in zip(blocks, Z, strict=True)]
    objective = sum(terms) + lam_d * _pairs(K)
    for _ in run:
        # Block coordinate descent: each view is solved for the current others, so the objective
        # falls.
        for i, block in enumerate(blocks):
            coupling = lam_d * (np.delete(K, i, axis=0).sum(axis=0))
            Z[i] = block.solve(coupling)
            K[i] = _centred_gram(Z[i])
            terms[i] = block.minimum(Z[i]) - np.vdot(K[i], coupling)
        # The terms are those at the minimisers, so that no product of n^3 is needed for them.
        former, objective = objective, sum(terms) + lam_d * _pairs(K)
        run.record(abs(former - objective) / (abs(objective) or 1.0), objective=objective)
    return Z


class _View:
    """The terms of one view, whose Gram matrix X^T X = Q diag(a) Q^T is decomposed once."""

    def __init__(self, X, lam_s, signed):
        Q, s, _ = thin_svd(X)
        self._eigen = s**2, np.ascontiguousarray(Q)
        self._QC = self._eigen[0][:, None] * self._eigen[1].T  # Q^T X^T X
        self._gram = X @ X.T
        graph = self._gram if signed else np.maximum(self._gram, 0.0)
        self._smooth = -lam_s * graph
        self._smooth[np.diag_indices(len(X))] += lam_s * graph.sum(axis=0)

    def solve(self, coupling=0.0):
        """Z with ``X^T X Z + Z B = X^T X`` for ``B = lam_s L + coupling``."""
        B = self._smooth + coupling
        eigen = scipy.linalg.eigh(B, driver="evd", overwrite_a=True, check_finite=False)
        return sylvester(self._eigen, eigen, self._QC)

    def minimum(self, Z):
        """``||X - X Z||_F^2 + tr(Z B Z^T)`` at the Z that `solve` found."""
        return float(np.trace(self._gram) - np.vdot(self._gram, Z))


def _centred_gram(Z):
    """H Z^T Z H."""
    A = Z - Z.mean(axis=1, keepdims=True)
    return A.T @ A


def _pairs(K):
    """Sum of the inner products of all pairs."""
    return float(sum(np.vdot(A, B) for i, A in enumerate(K) for B in K[:i]))
