"""t-SVD-MSC, with a rotated tensor nuclear norm, and Ut-SVD-MSC, without the rotation."""

from __future__ import annotations

from .._utils.parameters import option, positive
from .._utils.types import Callback, Estimator, Scale, Seed, Shaped
from ..solvers._representation import (
    DOUBLING,
    ThinView,
    Update,
    common_coordinates,
    solve_representation,
)
from ..solvers._transforms import (
    SampleTransform,
    ViewTransform,
    check_view_transform,
    resolve_view_transform,
)
from ._representation import RepresentationClusterer, SampleTransformClusterer


class TSVDMSC(SampleTransformClusterer):
    """Clustering by t-SVD-MSC: self-representations under a rotated tensor nuclear norm.

    Minimises ``||Z||_tnn + lam ||[E_1; ...; E_V]||_{2,1}`` subject to ``X_i = X_i Z_i + E_i``
    (Xie et al. 2018, Eq. 9) by ADMM with penalties that double every iteration. Every X_i is
    replaced by the factor S V^T of its thin SVD, which leaves all norms and products unchanged, so
    the cost does not grow with the number of features.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    lam : float, default=0.05
        Weight of the misfit. Published values range from 0.05 to 1.1. On shuffled data sets small
        values are best, and 0.2 fails on sparse text.
    sample_transform : {"graph", "dft", "identity"}, ndarray or estimator, default="graph"
        The transform along the samples in the tensor norm. "graph" uses the eigenvectors of a
        similarity graph, which do not depend on the order of the samples. **The published "dft"
        depends on that order**; use it to reproduce published tables. An orthonormal matrix defines
        the basis by its columns. If an estimator is given, as in
        ``sample_transform=TLRR(n_clusters)``, the basis consists of the eigenvectors of its
        affinity matrix.
    update : {"joint", "sequential"}, default="joint"
        "joint" updates all E and multipliers once per iteration. "sequential" updates them inside
        the loop over the views, as the released code does.
    tol : float, default=1e-7
        Tolerance on the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        Maximum number of iterations; 20 to 40 are usually sufficient.
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
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.

    Examples
    --------
    >>> from mvsc_fast.methods import TSVDMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> TSVDMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    _arrays = (7, 4)
    _checks = {**SampleTransformClusterer._checks, "lam": positive, "update": option(Update)}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.05,
        sample_transform: SampleTransform | Shaped | Estimator = "graph",
        update: Update = "joint",
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
        self.sample_transform = sample_transform
        self.update = update
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.scale = scale
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _learn(self, views, seed, n_threads, progress):
        transform = self._transform(views, seed, n_threads)
        run = self._begin(progress, **DOUBLING)
        Z = solve_representation(
            [ThinView(X, transform) for X in views],
            shrinks=[lambda T, t: transform.shrink(T, t, n_threads)],
            restore=lambda T: transform.inverse(T, axis=1),
            run=run,
            lam=self.lam,
            update=self.update,
        )
        return run, {"representation_": Z}


class UtSVDMSC(RepresentationClusterer):
    """Clustering by Ut-SVD-MSC: self-representations under a norm along the views.

    Solves the problem of `TSVDMSC` with the transform along the views instead of the samples, so
    that the norm is the sum of the nuclear norms of n x n slices (the variant "Ut-SVD" of Xie et
    al. 2018, Section 4). The result does not depend on the order of the samples.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    lam : float, default=0.5
        Weight of the misfit. Of values from 0.2 to 2, 0.5 is best on shuffled data sets.
    view_transform : {"dft", "identity"} or ndarray of shape (v, v), default="dft"
        The transform along the views; "dft" is the published one. An orthonormal matrix defines the
        basis by its columns.
    update : {"joint", "sequential"}, default="joint"
        See `TSVDMSC`.
    tol : float, default=1e-7
        Tolerance on the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        Maximum number of iterations; 30 to 40 are usually sufficient.
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
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.

    Examples
    --------
    >>> from mvsc_fast.methods import UtSVDMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> UtSVDMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    _arrays = (11, 4)
    _checks = {
        **RepresentationClusterer._checks,
        "lam": positive,
        "view_transform": check_view_transform,
        "update": option(Update),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.5,
        view_transform: ViewTransform | Shaped = "dft",
        update: Update = "joint",
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
        self.view_transform = view_transform
        self.update = update
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.scale = scale
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _learn(self, views, seed, n_threads, progress):
        transform = resolve_view_transform(self.view_transform, len(views), views[0].dtype)
        run = self._begin(progress, **DOUBLING)
        thin = [ThinView(X) for X in views]
        span = common_coordinates(thin)

        def shrink(T, t):
            hat = transform.forward(T, axis=0)
            transform.shrink_frontal(hat, t)
            T[...] = transform.inverse(hat, axis=0)

        Z = solve_representation(
            thin,
            [shrink],
            restore=lambda T: span.inverse(T, axis=1),
            run=run,
            lam=self.lam,
            update=self.update,
        )
        return run, {"representation_": Z}
