"""TLRR as an estimator: graph, choice of the neighbourhood size, solve, labels."""

import warnings

import numpy as np
from sklearn.preprocessing import normalize

from .._factors import view_factors
from .._judge import judge_by_graph, judge_by_views
from .._sparse_graphs import longest_tubes, sparse_tensor
from .._sparse_spectral import (
    embedded,
    leading_eigenvectors,
    start_vector,
    thresholded_affinity,
    tube_threshold,
)
from ..neighbors import count_neighbors, scan_neighbors, tube_lengths, tube_thresholds
from ..spectral import add_tail, assign, fuse
from ._method import count, either, natural, nonnegative, positive
from ._recovery import RecoveryClusterer
from ._tlrr import tlrr

LIMITS = {"dual": (1e-3, 100), "ialm": (1e-4, 500)}  # tol, max_iter
CANDIDATES, LONGEST = 50, 64  # nearest rows of each slice, tubes of each row
VOTING_NEIGHBORS = 30
LEAST_TAIL = 1e-6  # keeps every stored pair's vote above zero
# How much less predictable labels of the minimiser may be than those of its first step: by so much
# J of equally good labellings differs.
MARGIN = 0.02


class TLRR(RecoveryClusterer):
    """Multi-view spectral clustering with a tailored low-rank tensor.

    The views become a similarity tensor W (``graph``), TLRR cleans it (see `tlrr`), and spectral
    clustering of the sum of its slices gives the labels.

    Parameters
    ----------
    alpha : float, default=9.0
        Weight of the tube lengths. 9 rather than the 5 of `tlrr`: on the default W the solver
        needs fewer iterations at equal accuracy.
    lam : float or "auto", default="auto"
        Weight of the misfit; "auto" follows from ``n_neighbors``.
    n_neighbors : int or "auto", default="auto"
        Mean number of similar samples that each sample keeps; sets lam through the tube threshold.
        "auto" takes the size between 6 and 60 at which labels are most predictable from the other
        samples (`label_predictability`; with precomputed similarities, from the neighbours in
        their graph). Not used where lam is a number.
    tol : float, optional
        See `tlrr`; None is 1e-3 for "dual", beyond which labels do not change, and the published
        1e-4 for "ialm".
    max_iter : int, optional
        See `tlrr`; None is 100 for "dual", which takes 1 to 10 as a rule, and 500 for "ialm". 0
        clusters the tube-shrunken W itself.
    tail : float, default=0.01
        Share of W's own affinity added to the final one, which keeps its graph connected.

    Attributes
    ----------
    affinity_ : ndarray of shape (n_samples, n_samples)
        What was cut: sum of |L_i| with the tail.
    embedding_ : ndarray of shape (n_samples, n_clusters) or (n_samples, 2 * n_clusters)
        Leading eigenvectors of the normalised affinity, rows of unit length; twice as many, times
        their squared eigenvalues, where the labels of these are more predictable.
    lam_ : float
    n_neighbors_ : int or float
        The size chosen or given; where lam was given, the number of tubes above its threshold.
    path_ : NeighborsPath or None
        The labellings that ``n_neighbors="auto"`` chose from.
    labels_from_ : {"tensor", "path"}
        What the labels come from: the cut of ``tensor_``, or, where the tensor leaves samples
        without neighbours or its labels are less predictable, the tube-shrunken W that the choice
        was made on. A warning says so.

    Examples
    --------
    >>> from mvsc_fast import TLRR, datasets, metrics
    >>> views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> labels = TLRR(n_clusters=3, random_state=0).fit_predict(views)
    >>> metrics.clustering_scores(y, labels)["acc"] > 0.9
    True
    """

    _function = staticmethod(tlrr)
    _checks = {
        "lam": either("auto", positive),
        "n_neighbors": either("auto", count),
        "tol": either(None, nonnegative),
        "max_iter": either(None, natural),
        "tail": nonnegative,
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
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
    ):
        self._keep_parameters(locals())

    def _check_parameters(self):
        super()._check_parameters()
        if self.lam == "auto" and (self.omega1 == 1.0 or self.alpha == 0.0):
            raise ValueError(
                'lam="auto" sets the tube threshold, which is zero for omega1=1 or alpha=0: '
                "give lam as a number"
            )

    def _cluster(self, views, seed, n_threads):
        W = self._similarities(views, seed, n_threads)
        longest = self._longest_tubes(views, n_threads)
        judge = self._judge(views, longest) if self._scans() else None
        self._choose_lam(W, longest, judge, seed)
        self._log(f"{self.n_neighbors_:g} neighbors, lam {self.lam_:.4g}")
        tol, max_iter = LIMITS[self.solver]
        tol = tol if self.tol is None else self.tol
        max_iter = max_iter if self.max_iter is None else self.max_iter
        result = self._solve(W, lam=self.lam_, tol=tol, max_iter=max_iter, n_threads=n_threads)
        self._keep(result, tol, expected=max_iter == 0)
        S = fuse(self.tensor_)
        alone = int(np.count_nonzero(S.sum(axis=1) == 0))
        self._cut(add_tail(S, fuse(W), self.tail), longest, seed)
        self.labels_from_ = "tensor"
        if judge is not None:
            self._compare(judge, alone, longest, seed)

    def _scans(self):
        return self.lam == "auto" and self.n_neighbors == "auto"

    def _longest_tubes(self, views, n_threads):
        """The `SparseTensor` of the longest tubes of W."""
        if not (isinstance(self.graph, str) and self.graph == "selfrep"):
            return longest_tubes(self.similarity_, LONGEST)
        return sparse_tensor(
            view_factors([normalize(X) for X in views]),
            n_candidates=CANDIDATES,
            n_longest=LONGEST,
            n_threads=n_threads,
        )

    def _judge(self, views, longest):
        if not self._is_precomputed():
            return judge_by_views(views)
        n = longest.n
        tau = tube_threshold(longest.lengths, n, min(VOTING_NEIGHBORS, max(1, n // 3)))
        return judge_by_graph(thresholded_affinity(longest, tau, LEAST_TAIL))

    def _choose_lam(self, W, longest, judge, seed):
        """Set ``lam_``, ``n_neighbors_`` and ``path_``."""
        strength = (1.0 - self.omega1) * self.alpha / 2.0  # tau = strength / lam
        self.path_ = None
        if self.lam != "auto":
            self.lam_ = float(self.lam)
            self.n_neighbors_ = count_neighbors(tube_lengths(W), strength / self.lam_)
            return
        if judge is None:
            self.n_neighbors_ = min(self.n_neighbors, longest.n - 1)
            (tau,) = tube_thresholds(tube_lengths(W), [self.n_neighbors_])
        else:
            self.path_ = scan_neighbors(
                longest, self.n_clusters, judge, tail=self.tail, random_state=seed
            )
            self.n_neighbors_ = int(self.path_.n_neighbors[self.path_.best])
            tau = self.path_.tau[self.path_.best]
        self.lam_ = float(strength / tau)

    def _cut(self, affinity, longest, seed):
        """Set ``affinity_``, ``embedding_`` and ``labels_``."""
        c, n = self.n_clusters, longest.n
        kind = "c" if self.path_ is None else str(self.path_.embedding[self.path_.best])
        order, start = start_vector(longest, seed)
        pairs = leading_eigenvectors(affinity, min(2 * c if kind == "2c" else c, n), start)
        self.affinity_ = affinity
        self.embedding_ = embedded(*pairs, c, kind)
        self.labels_ = assign(
            self.embedding_, c, order=order, n_init=self.n_init, random_state=seed
        )

    def _compare(self, judge, alone, longest, seed):
        """Go back to the tube-shrunken W where the minimiser's labels are worse."""
        path = self.path_
        J = float(judge([self.labels_.astype(np.int64)], self.n_clusters)[0])
        chosen = float(path.predictability[path.best])
        if J >= chosen - (0.0 if alone else MARGIN):
            return
        left = f"leaves {alone} samples without neighbors and " if alone else ""
        warnings.warn(
            f"the tensor at {self.n_neighbors_} neighbors {left}gives labels of predictability "
            f"{J:.3f}, its tube-shrunken W {chosen:.3f}: the labels of the latter are kept "
            '(labels_from_="path"). max_iter=0 solves no further than that',
            UserWarning,
            stacklevel=4,  # the user's call of fit
        )
        affinity = thresholded_affinity(longest, path.tau[path.best], self.tail)
        self._cut(affinity, longest, seed)
        self.affinity_ = affinity.toarray().astype(self.tensor_.dtype)
        self.labels_ = path.labels[path.best]
        self.labels_from_ = "path"

    def _permute(self, order):
        super()._permute(order)
        if self.path_ is not None:
            self.path_.labels = self.path_.labels[:, order]
