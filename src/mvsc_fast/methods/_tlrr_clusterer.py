"""TLRR as an estimator: graph, choice of the neighbourhood size, solve, labels."""

import warnings

import numpy as np
import scipy.sparse

from .._sparse._completed import IncompleteSamples
from .._sparse._graphs import LONGEST, longest_tubes, on_one_pattern, sparse_knn
from .._sparse._nearest_rows import searched_approximately
from .._sparse._spectral import solved_affinity, thresholded_affinity
from ..neighbors import tube_lengths
from ..solvers._tubes import solve_tubes, warn_of_gap
from ..spectral import add_tail, fuse
from ..validation import check_similarities, check_sparse_similarities
from ..views._missing import imputed, view_graphs
from ..views._rows import (
    constant_views,
    equal_samples,
    observed,
    presence,
    sort_rows,
    warn_of_few,
)
from ._choice import ChoosingClusterer
from ._method import check_flag, count, either, natural, nonnegative, option, positive
from ._tlrr import tlrr
from ._voters import FittedSamples, FittedSimilarities

LIMITS = {"dual": (1e-3, 100), "ialm": (1e-4, 500)}  # tol, max_iter


class TLRR(ChoosingClusterer):
    """Multi-view spectral clustering with a tailored low-rank tensor.

    The views become a similarity tensor W (``graph``), TLRR cleans it (see `tlrr`), and spectral
    clustering of the sum of its slices gives the labels.

    Samples may lack views: rows of NaN, as `views.align` makes them. Their similarities are
    completed from the views they have (``graph="selfrep"``), in `predict` as well.

    Parameters
    ----------
    alpha : float, default=9.0
        Weight of the tube lengths. 9 rather than the 5 of `tlrr`: on the default W the solver
        needs fewer iterations at equal accuracy.
    lam : float or "auto", default="auto"
        Weight of the misfit; "auto" follows from ``n_neighbors``.
    n_neighbors : int or "auto", default="auto"
        Mean number of similar samples that each sample keeps; sets lam through the tube threshold.
        "auto" takes that of 6, 11, 21 and 42 at which labels are most predictable from the other
        samples (`label_predictability`; with precomputed similarities, from the neighbours in
        their graph). Not used where lam is a number.
    tol : float, optional
        See `tlrr`; None is 1e-3 for "dual", beyond which labels do not change, and the published
        1e-4 for "ialm". On sparse tensors ``gap_bound_`` is compared with it; a warning says where
        a tol that was given is not reached.
    max_iter : int, optional
        See `tlrr`; None is 100 for "dual", which takes 1 to 10 as a rule, and 500 for "ialm". 0
        clusters the tube-shrunken W itself. On sparse tensors None is 0, and so many accelerated
        steps minimise over the row terms; five take a third to a half off the distance to the
        minimiser.
    tail : float, default=0.01
        Share of W's own affinity added to the final one, which keeps its graph connected.
    refine : bool, default=True
        Where ``n_neighbors="auto"`` chooses by features, every sample finally takes the label that
        ridge regression and its neighbours predict for it, until labels stand still; mean accuracy
        of ten sets rises by .01. False gives the labels of the cut.
    size : {"auto", "dense", "sparse", "sample"}, default="auto"
        "dense" minimises over all of W. "sparse" keeps the 64 longest tubes of each sample, takes
        the first step of the solver on them and as many for the row terms as ``max_iter`` says, and
        bounds what is left (``gap_bound_``), at a cost and memory linear in the number of samples
        but for the search for neighbours. "sample" does so for ``max_samples`` samples, drawn
        uniformly, many of which then vote for the labels of the others (see `predict`). "auto" is
        "dense" where the exact solve takes about as long as all else (500 samples in four slices),
        up to 2500 samples where ``max_iter`` is given, and always for "ialm"; "sample" beyond
        ``max_samples``, and "sparse" between.
    max_samples : int or "auto"
        Samples that are fitted with ``size="sample"``; "auto" is the larger of 20 000 and 300 for
        each cluster. With the default graph the views may then be larger than memory, or on other
        machines: memory maps, data sets of HDF5 (h5py), zarr arrays, or Dask arrays, which give
        lazy ``labels_``. They are read in three passes of blocks: for the products of all samples,
        which the similarities of the fitted ones are made from, for the rows of those, and for the
        votes. Other graphs and sizes load the views. Labels depend neither on how the views are
        kept nor on the size of blocks or chunks.
    keep : {"all", "labels"}, default="all"
        What a fitted model stores. "all" is 16 v + 8 bytes for each of the m^2 pairs of fitted
        samples where ``size_`` is "dense", and about 4 KB for each of the m samples in six slices
        where it is not, 6 KB in a file. "labels" leaves out ``affinity_``, ``similarity_``,
        ``tensor_``, ``embedding_`` and the labels in ``path_``, and keeps labels, numbers and what
        `predict` needs: 4 bytes for each sample and feature of a slice, and 4 to 8 for each pair of
        features.

    Attributes
    ----------
    affinity_ : ndarray or csr_array of shape (m, m)
        What was cut: sum of ``|L_i|`` with the tail. m is the number of fitted samples, all of them
        unless ``size`` is "sample".
    similarity_ : ndarray of shape (v, m, m) or list of csr_array
        The input tensor W; where its tubes are longest unless "dense". Sparse slices share one
        pattern, also with ``affinity_`` where they were given: copy before you change one.
    tensor_ : ndarray of shape (v, m, m) or list of csr_array
        The low-rank tensor L, in the same form.
    samples_ : ndarray of shape (m,)
        Numbers of the fitted samples.
    size_ : {"dense", "sparse", "sample"}
    gap_bound_ : float or None
        The objective at ``tensor_`` is within ``gap_bound_ * lam_ * ||L||_F^2`` of its minimum for
        the W of ``similarity_``. None for solver="ialm".
    complete_ : bool
        Whether no tube above the threshold can be missing in ``similarity_``.
    embedding_ : ndarray of shape (m, n_clusters) or (m, 2 * n_clusters)
        Leading eigenvectors of the normalised affinity, rows of unit length; twice as many, times
        their squared eigenvalues, where the labels of these are more predictable.
    lam_ : float
    n_neighbors_ : int or float
        The size chosen or given; where lam was given, the number of tubes above its threshold.
    path_ : NeighborsPath or None
        The labellings that ``n_neighbors="auto"`` chose from.
    labels_from_ : {"tensor", "path"}
        What the labels come from: the cut of ``tensor_``, or the tube-shrunken W that the choice
        was made on, where the labels of the former are less predictable by more than .02, or at
        all while a minimiser leaves samples without neighbours. A warning says so where the
        labels of a minimiser are worse by more than .02.

    Examples
    --------
    >>> from mvsc_fast import TLRR, datasets, metrics
    >>> views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> labels = TLRR(n_clusters=3, random_state=0).fit_predict(views)
    >>> metrics.clustering_scores(y, labels)["acc"] > 0.9
    True
    """

    _function = staticmethod(tlrr)
    _arrays = (8, 2)
    _work = (2, 0, 300)
    _way_out = 'size="sample" fits max_samples of them and labels the others by votes'
    _checks = {
        "lam": either("auto", positive),
        "n_neighbors": either("auto", count),
        "tol": either(None, nonnegative),
        "max_iter": either(None, natural),
        "tail": nonnegative,
        "refine": check_flag,
        "size": option("auto", "dense", "sparse", "sample"),
        "keep": option("all", "labels"),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        omega1=0.5,
        alpha=9.0,
        lam="auto",
        n_neighbors="auto",
        graph="selfrep",
        solver="dual",
        tol=None,
        max_iter=None,
        tail=0.01,
        refine=True,
        size="auto",
        max_samples="auto",
        memory_limit=None,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
        keep="all",
    ):
        self._keep_parameters(locals())

    def _check_parameters(self):
        super()._check_parameters()
        if self.lam == "auto" and (self.omega1 == 1.0 or self.alpha == 0.0):
            raise ValueError(
                'lam="auto" sets the tube threshold, which is zero for omega1=1 or alpha=0: '
                "give lam as a number"
            )
        if self.size in ("sparse", "sample") and self.solver == "ialm":
            raise ValueError(
                f'size={self.size!r} has the certified solver alone: give solver="dual", or '
                'size="dense"'
            )

    def _validate(self, X, reset=True):
        X = [X] if scipy.sparse.issparse(X) else X
        sparse = isinstance(X, (list, tuple)) and any(scipy.sparse.issparse(A) for A in X)
        if not (self._is_precomputed() and sparse):
            return super()._validate(X, reset)
        W = check_sparse_similarities(X, name="X")
        for i, A in enumerate(W):
            if A.nnz and A.data.min() < 0:
                raise ValueError(f"X: slice {i} has {(A.data < 0).sum()} negative entries")
        self.n_features_in_ = W[0].shape[0]
        self.view_names_in_ = list(range(len(W)))
        return W

    def _cluster(self, views, seed, n_threads):
        if not self._is_sorted():
            self._cluster_in_order(views, seed, n_threads)
            return
        drawn = None
        if self._draws_sample(views):
            drawn = self._draw(views, seed)
            order, views = drawn.numbers, drawn.views
        else:
            order = sort_rows(views)  # so that no rounding depends on the order given
        few = warn_of_few(equal_samples(views), self.n_clusters)
        constant_views(
            observed(views),
            "which tells nothing about clusters: leave it out",
            self.view_names_in_,
        )
        by_itself = view_graphs(views, in_order=True)
        with warnings.catch_warnings():
            if few:  # which explains what k-means and the comparison of labels would say again
                warnings.filterwarnings("ignore", "Number of distinct clusters|the tensor at")
            self._cluster_in_order(views, seed, n_threads, drawn)
        chosen = order[self.samples_]
        rank = np.argsort(chosen)
        self.view_support_ = by_itself.support(
            self.labels_ if drawn is None else self._fitted_labels
        )
        if drawn is None:
            labels = np.empty_like(self.labels_)
            labels[order] = self.labels_
        else:
            labels = self._labels_of(
                drawn.source, n_threads, chosen[rank], self._fitted_labels[rank]
            )
        self._permute(rank)
        self.labels_, self.samples_ = labels, chosen[rank]

    def _cluster_in_order(self, views, seed, n_threads, drawn=None):
        """``drawn`` are the views where these are a sample of more.

        The list of views is emptied where only their similarities matter after these are made.
        """
        n = views[0].shape[0]
        self.size_, m = ("sample", n) if drawn else self._size(views)
        self.samples_ = np.arange(n)
        if m < n:
            self.samples_ = np.sort(np.random.RandomState(seed).choice(n, m, replace=False))
        self._log(f"{self.size_}, {m} samples are fitted")
        longest = judge = None
        if self._is_precomputed():
            self._voters = FittedSimilarities(views, self.samples_)
            complete = [A[self.samples_][:, self.samples_] for A in views] if m < n else views
        else:
            fitted = [X[self.samples_] for X in views] if m < n else views
            complete = imputed(fitted)
            judge = self._judge_by_features(complete)
            self._progress.stage("neighbors")
            if presence(fitted) is None:
                # Only the default W is a product of factors, to which all samples contribute.
                of_all = (drawn.summary.grams, drawn.source.n_samples) if drawn else ()
                n_voters = self._count_voters(m)
                features_end = self._is_default() and self.size_ != "dense"
                given = _taken_from(fitted) if features_end else fitted
                self._voters = FittedSamples(given, n_threads, n_voters, *of_all)
            else:
                self._voters = IncompleteSamples(fitted, n_threads, self.size_ == "dense")
            longest = self._voters.tensor if self._is_default() else None
        if self.size_ == "dense":
            self._fit_dense(complete, longest, judge, seed, n_threads)
        else:
            if longest is None:
                self._progress.stage("graph")
                longest = self._sparse_similarities(complete, seed, n_threads)
            self._fit_sparse(longest, judge, seed, n_threads)
        self._fitted_labels = self.labels_
        if m < n:
            self._progress.stage("votes")
            self._label_the_rest(views, n_threads)
        self._voters.forget()

    def _graph_tensor(self, views, seed, n_threads):
        if isinstance(getattr(self, "_voters", None), IncompleteSamples):
            return np.stack([A.toarray() for A in self._voters.tensor.slices()])
        return super()._graph_tensor(views, seed, n_threads)

    def _fit_dense(self, views, longest, judge, seed, n_threads):
        if scipy.sparse.issparse(views[0]) and self._is_precomputed():
            views = check_similarities(np.stack([A.toarray() for A in views]), name="X")
        W = self._similarities(views, seed, n_threads)
        if longest is None or isinstance(self._voters, IncompleteSamples):
            longest = longest_tubes(W, LONGEST)
        if self._is_precomputed():
            judge = self._judge_by_graph(longest)
        eigenpairs = self._choose_lam(longest, judge, seed, lengths=tube_lengths(W))
        tol, max_iter = LIMITS[self.solver]
        tol = tol if self.tol is None else self.tol
        max_iter = max_iter if self.max_iter is None else self.max_iter
        result = self._solve(W, lam=self.lam_, tol=tol, max_iter=max_iter, n_threads=n_threads)
        self._keep(result, tol, expected=max_iter == 0)
        self.gap_bound_, self.complete_ = result.gap, True
        S = fuse(self.tensor_)
        alone = int(np.count_nonzero(S.sum(axis=1) == 0))
        self._cut(add_tail(S, fuse(W), self.tail), longest, seed)
        self._finish(judge, alone, longest, eigenpairs)

    def _fit_sparse(self, longest, judge, seed, n_threads):
        """The first step of the solver on the longest tubes, and steps for the row terms."""
        self.similarity_ = longest.slices()
        self._log(
            f"{len(longest.values)} slices, {longest.n} samples, {len(longest.indices)} pairs"
        )
        if self._is_default() and searched_approximately(longest.n):
            self._log("neighbors by pynndescent, which may miss some: complete_ is False")
        if self._is_precomputed():
            judge = self._judge_by_graph(longest)
        eigenpairs = self._choose_lam(longest, judge, seed)
        tau = self._strength() / self.lam_
        self._progress.stage("solve")
        tol = LIMITS["dual"][0] if self.tol is None else self.tol
        values, self.gap_bound_, self.n_iter_ = solve_tubes(
            longest, omega1=self.omega1, alpha=self.alpha, lam=self.lam_, tol=tol,
            max_iter=self.max_iter or 0, n_threads=n_threads,
        )  # fmt: skip
        self.converged_ = self.gap_bound_ <= tol
        if self.tol is not None and not self.converged_:
            warn_of_gap(self.gap_bound_, self.n_iter_, tol)
        missed = longest.missed.max()
        if self._is_default():
            missed = max(missed, self._voters.unseen.max())
        self.complete_ = bool(missed < tau)
        solved = longest._replace(values=values).without_zero_tubes()
        self.tensor_ = solved.slices()
        self.history_ = {"residual": np.zeros(0), "seconds": np.zeros(0)}
        alone, known = 0, None
        if self.n_iter_ == 0:
            affinity, known = thresholded_affinity(longest, tau, self.tail), eigenpairs
        else:
            affinity = solved_affinity(longest, values, self.tail)
            alone = int(np.count_nonzero(np.diff(solved.indptr) == 0))
        del values
        self._cut(affinity, longest, seed, known)
        self._finish(judge, alone, longest, eigenpairs)

    def _sparse_similarities(self, views, seed, n_threads):
        """The `SparseTensor` of a W that is not the default one."""
        if self._is_precomputed() and scipy.sparse.issparse(views[0]):
            return on_one_pattern(views)
        if self.graph == "knn":
            return on_one_pattern(sparse_knn(views))
        return longest_tubes(np.asarray(self._graph_tensor(views, seed, n_threads)), LONGEST)


def _taken_from(views):
    """The views of a list, which it loses one after the other."""
    while views:
        yield views.pop(0)
