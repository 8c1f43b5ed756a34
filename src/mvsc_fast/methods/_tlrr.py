"""The estimator of TLRR, whose iteration is the function `tlrr`."""

from __future__ import annotations

from .._utils.types import Callback, Estimator, Scale, Seed
from ..similarity._affinity import regularized
from ..solvers._tlrr import TLRR_CHECKS, solve_tlrr
from ..solvers._tlrr_core import Solver
from ..spectral._cut import symmetric_sum
from ._recovery import AffinityName, RecoveryClusterer


class TLRR(RecoveryClusterer):
    """Clustering by TLRR: tailored low-rank representation and spectral clustering.

    A similarity tensor W is computed from the views (``affinity``), TLRR recovers a low-rank tensor
    L from it (see `solvers.tlrr`), and spectral clustering of the sum of the slices of L gives the
    labels. Memory grows with the square of the number of samples. Use `ConsensusTLRR` for larger
    data, for new samples, and for samples that lack views.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    affinity : str or estimator, default="self_representation"
        How to construct W: "self_representation", "nearest_neighbors" and "rbf" call the function
        of this name in `similarity`; "precomputed" means that X is W, whose slices may be
        the values of a dict. An estimator with an attribute ``tensor_`` is fitted on the views,
        unless it is fitted already.
    omega1 : float in [0, 1], default=0.5
        Weight of the frontal nuclear norms. The paper recommends 0.3 to 0.7.
    alpha : float, default=9.0
        Weight of the tube lengths relative to the nuclear norms of the row slices. The paper uses 4
        to 9; with 9 the dual solver needs the fewest iterations on
        `similarity.self_representation`, with the same accuracy.
    lam : float, optional
        Weight of the misfit, which depends on the scale of W: a tube is kept if it is longer than
        about ``omega2 * alpha / (2 * lam)``. None derives it from ``n_neighbors``.
    n_neighbors : int, default=15
        Mean number of neighbours of a sample after thresholding. It determines lam such that this
        many tubes of W per sample exceed the threshold ``omega2 * alpha / (2 * lam)``, or all
        non-zero tubes if there are fewer. Ignored if lam is given. The best value depends on W.
    solver : {"dual", "ialm"}, default="dual"
        "dual" computes the exact minimiser in a few steps, with a certificate of its accuracy.
        "ialm" is the published iteration (Algorithm 1); use it to reproduce the paper.
    tol : float, optional
        "dual": tolerance on the relative duality gap, by default 1e-3, which bounds the relative
        error of L by 2.2e-2; the true error is 3 to 7 times smaller. Smaller values change few
        labels and not their accuracy. "ialm": tolerance on the largest entry of all constraint
        residuals, by default 1e-4 as in the authors' code. Lower it if the entries of W are 1e-2 or
        less.
    max_iter : int, optional
        Maximum number of iterations, by default 100 for "dual", which usually converges in 1 to 10,
        and 500 for "ialm". With "dual" and 0, the result is the tube shrinkage of W, which is the
        first step of the solver, and its certificate.
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
    affinity_matrix_ : ndarray or csr_array of shape (n_samples, n_samples)
        Sum of ``|L_i|`` with zero diagonal, plus regularisation: a hundredth of the same sum for W,
        which keeps the graph connected.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the normalised affinity matrix, rows scaled to unit length.
    similarity_ : ndarray of shape (v, n_samples, n_samples) or list of csr_array
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples) or list of csr_array
        The low-rank tensor L.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
        Whether the residual reached ``tol``.
    history_ : dict of ndarray
        ``residual``, ``seconds`` since the start and others after every iteration; see
        `solvers.TLRRResult`.
    lam_ : float
        Weight of the misfit, as given or derived from ``n_neighbors``.
    gap_ : float or None
        Relative duality gap of ``tensor_``: the objective is within ``gap_ * lam_ * ||L||_F^2`` of
        its minimum. None for solver="ialm".

    References
    ----------
    Jia, Liu, Hou, Kwong, Zhang: Multi-view spectral clustering tailored tensor low-rank
    representation. IEEE TCSVT 31(12), 2021.

    Examples
    --------
    >>> from mvsc_fast import TLRR, datasets, metrics
    >>> views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = TLRR(n_clusters=3, random_state=0).fit(views)
    >>> metrics.clustering_scores(y, model.labels_)["acc"] > 0.9
    True
    >>> model.gap_ < 1e-3
    True
    """

    lam_: float
    gap_: float | None

    _arrays = (8, 2)
    _checks = {**RecoveryClusterer._checks, **TLRR_CHECKS}
    _takes_sparse = True
    _remedy = "Raise n_neighbors or lam, so that more tubes exceed the threshold, or raise max_iter"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: AffinityName | Estimator = "self_representation",
        omega1: float = 0.5,
        alpha: float = 9.0,
        lam: float | None = None,
        n_neighbors: int = 15,
        solver: Solver = "dual",
        tol: float | None = None,
        max_iter: int | None = None,
        n_init: int = 20,
        scale: Scale | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.omega1 = omega1
        self.alpha = alpha
        self.lam = lam
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.scale = scale
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _recover(self, W, **iteration):
        return solve_tlrr(
            W,
            omega1=self.omega1,
            alpha=self.alpha,
            lam=self.lam,
            n_neighbors=self.n_neighbors,
            solver=self.solver,
            **iteration,
        )

    def _attributes(self, W, result):
        S, S_W = symmetric_sum(result.tensor), symmetric_sum(W)
        affinity = regularized(S, S_W, W[0].shape[0])
        return {"affinity_matrix_": affinity, "gap_": result.gap, "lam_": result.parameters["lam"]}
