"""LT-MSC: low-rank tensor constrained multi-view subspace clustering (Zhang et al. 2015)."""

from __future__ import annotations

from functools import partial

from .._kernels import mode_shrink, slice_shrink
from .._utils.parameters import check_numbers, positive
from .._utils.types import Callback, Numbers, Scale, Seed
from ..solvers._representation import DOUBLING, ThinView, common_coordinates, solve_representation
from ._representation import RepresentationClusterer


class LTMSC(RepresentationClusterer):
    """Clustering by LT-MSC: self-representations whose tensor has low-rank unfoldings.

    Minimises ``sum_m gamma_m ||Z_(m)||_* + lam ||[E_1; ...; E_V]||_{2,1}`` subject to
    ``X_i = X_i Z_i + E_i`` (Zhang et al. 2015, Eq. 5) by ADMM with one copy of Z for each of the
    three unfoldings and penalties that double every iteration. The updates follow from the
    objective; the released code uses only one of the three copies in the update of Z.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    lam : float, default=2.0
        Weight of the misfit. Of values from 0.5 to 10, 2 is best on shuffled data sets.
    gamma : float or sequence of three floats, default=1.0
        Weights of the unfoldings along rows, columns and views.
    tol : float, default=1e-7
        Tolerance on the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        Maximum number of iterations; 35 to 45 are usually sufficient.
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
        ``residual``, which is compared with ``tol`` (or a cheaper lower bound, if that exceeds
        ``tol``), and ``seconds`` since the start, after every iteration.

    References
    ----------
    Zhang, Fu, Liu, Liu, Cao: Low-rank tensor constrained multiview subspace clustering. ICCV 2015.

    Examples
    --------
    >>> from mvsc_fast.methods import LTMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> LTMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    _arrays = (12, 4)
    _checks = {
        **RepresentationClusterer._checks,
        "lam": positive,
        "gamma": partial(check_numbers, count=3, low=0.0),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 2.0,
        gamma: float | Numbers = 1.0,
        tol: float = 1e-7,
        max_iter: int = 200,
        n_init: int = 20,
        scale: Scale | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.scale = scale
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _learn(self, views, seed, n_threads, progress):
        run = self._begin(progress, **DOUBLING)
        thin = [ThinView(X) for X in views]
        span = common_coordinates(thin)
        Z = solve_representation(
            thin,
            [partial(_unfolding_shrink, mode=m, weight=self.gamma[m]) for m in range(3)],
            restore=lambda T: span.inverse(T, axis=1),
            run=run,
            lam=self.lam,
        )
        return run, {"representation_": Z}


def _unfolding_shrink(T, t, mode, weight):
    """Shrink, in place, the singular values of the unfolding of T along rows, columns or views."""
    if mode < 2:
        mode_shrink(T, weight * t, mode + 1)
    else:
        slice_shrink(T.reshape(len(T), 1, -1), weight * t)
