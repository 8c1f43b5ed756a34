"""The estimator of SNN, whose iteration is the function `snn`."""

from __future__ import annotations

from .._utils.types import Callback, Estimator, Numbers, Scale, Seed
from ..solvers._splits import SNN_CHECKS, solve_snn
from ._recovery import AffinityName, RecoveryClusterer


class SNN(RecoveryClusterer):
    """Clustering by SNN: the part of a similarity tensor with low-rank unfoldings.

    See `solvers.snn` for the objective.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    weights : float or pair of floats, optional
        Weights a_m of the unfoldings: one for rows and columns, one for the views. None is
        ``sqrt(n) / 3`` for all. Dividing by a common factor gives the form with a weight on E.
    affinity : str or estimator, default="self_representation"
        How to construct W: "self_representation", "nearest_neighbors" and "rbf" call the function
        of this name in `similarity`; "precomputed" means that X is W, whose slices may be
        the values of a dict. An estimator with an attribute ``tensor_`` is fitted on the views,
        unless it is fitted already.
    tol : float, default=1e-8
        Tolerance on the largest entry of L_m + E - W and of the changes of L_m and E.
    max_iter : int, default=500
        Maximum number of iterations; about 200 are usually sufficient.
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
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Sum of ``|L_i|`` with zero diagonal.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the normalised affinity matrix, rows scaled to unit length.
    similarity_ : ndarray of shape (v, n_samples, n_samples)
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        The low-rank tensor L.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
        Whether the residual reached ``tol``.
    history_ : dict of ndarray
        ``residual``, which is compared with ``tol`` (or a cheaper lower bound, if that exceeds
        ``tol``), and ``seconds`` since the start, after every iteration.

    References
    ----------
    Liu, Musialski, Wonka, Ye: Tensor completion for estimating missing values in visual data. IEEE
    TPAMI 35(1), 2013.

    Examples
    --------
    >>> from mvsc_fast.methods import SNN
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> SNN(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    _arrays = (9, 6)
    _checks = {**RecoveryClusterer._checks, **SNN_CHECKS}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weights: float | Numbers | None = None,
        affinity: AffinityName | Estimator = "self_representation",
        tol: float = 1e-8,
        max_iter: int = 500,
        n_init: int = 20,
        scale: Scale | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weights = weights
        self.affinity = affinity
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.scale = scale
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _recover(self, W, **iteration):
        return solve_snn(W, weights=self.weights, **iteration)
