"""TLRR: low-rank representation tailored to multi-view similarity tensors (Jia et al. 2021)."""

from functools import partial

import scipy.sparse

from ..neighbors import count_neighbors, stable_neighbors, tube_lengths, tube_thresholds
from ..solvers import solve_dual, solve_ialm
from ..spectral import add_tail, fuse
from ..validation import (
    check_number,
    check_sample_weight,
    check_similarities,
    check_sparse_similarities,
)
from ._method import count, either, method, natural, nonnegative, option, positive
from ._recovery import RecoveryClusterer

ESTIMATOR_LIMITS = {"dual": (1e-3, 100), "ialm": (1e-4, 500)}  # tol, max_iter


def _is_sparse(W):
    return isinstance(W, (list, tuple)) and any(scipy.sparse.issparse(A) for A in W)


def _check_tensor(W):
    return check_sparse_similarities(W) if _is_sparse(W) else check_similarities(W)


@method(
    _check_tensor,
    omega1=partial(check_number, low=0.0, high=1.0),
    alpha=nonnegative,
    lam=positive,
    solver=option("dual", "ialm"),
    sample_weight=either(None, check_sample_weight),
)
def tlrr(
    W,
    *,
    omega1=0.5,
    alpha=5.0,
    lam=15.0,
    solver="dual",
    tol=1e-4,
    max_iter=500,
    mu=1e-4,
    rho=1.1,
    mu_max=1e10,
    n_threads=None,
    callback=None,
    sample_weight=None,
):
    """Clean a multi-view similarity tensor by tailored low-rank representation.

    Minimises over tensors L with symmetric frontal slices (Jia et al. 2021, Eq. 7)::

        omega1 * sum_i ||L_i||_*  +  omega2 * sum_j (||L_(j)||_* + alpha * ||L_(j)||_{2,1})
            + lam * ||W - L||_F^2,        omega2 = 1 - omega1

    with L_i the n x n slice of view i, L_(j) the v x n slice of sample j, whose 2,1 norm sums the
    lengths of the tubes L[:, j, k].

    Parameters
    ----------
    W : array of shape (v, n, n), or list of v arrays or sparse matrices of shape (n, n)
        Symmetric similarities, float32 or float64; other numbers become float64. A
        slice that is not symmetric is averaged with its transpose, with a warning. Never changed.
        Sparse input gives sparse output and is never made dense beyond its independent blocks
        ("dual" only).
    omega1 : float in [0, 1], default=0.5
        Weight of the frontal nuclear norms; the paper finds 0.3 to 0.7 good.
    alpha : float, default=5.0
        Weight of the tube lengths against the nuclear norms of the row slices; the paper uses 4
        to 9.
    lam : float, default=15.0
        Weight of the misfit. It has a meaning only together with the scale of W: a tube survives
        where it is longer than about ``omega2 * alpha / (2 * lam)``.
    solver : {"dual", "ialm"}, default="dual"
        "dual" finds the exact minimiser in a few steps and certifies how close it is; "ialm" is the
        published iteration (Algorithm 1), for reproducing the paper.
    tol : float, default=1e-4
        "dual": relative duality gap; 1e-4 bounds the relative error of L by 1e-2, and the true
        error is about ten times smaller. "ialm": the largest entry of all constraint residuals,
        1e-4 as in the authors' code; lower it for a W of small entries, 1e-2 and less.
    max_iter : int, default=500
        0 with "dual" returns the tube shrinkage of W alone with its certificate: the fastest
        mode, often as accurate for clustering.
    mu : float, default=1e-4
        First penalty ("ialm" only).
    rho : float, default=1.1
        Growth of the penalty per iteration ("ialm" only).
    mu_max : float, default=1e10
        Cap of the penalty ("ialm" only).
    callback : callable, optional
        Called with an `IterationState` (iteration, residual, seconds, block) after every
        iteration; returning True stops the run.
    sample_weight : array of shape (n,), optional
        How many samples each row and column of W stands for, positive; None: one each ("dual"
        only). See Notes.

    Returns
    -------
    TLRRResult
        ``tensor`` (v, n, n), ``n_iter``, ``converged``, ``history`` and ``objective(W)``; "dual"
        adds ``gap``, ``error_bound`` and ``blocks``.

    Raises
    ------
    ValueError
        If W or a parameter is invalid; the message says what and where.
    MemoryError
        If the solver would need more memory than there is; nothing was allocated then.

    Notes
    -----
    With ``sample_weight`` m the problem is that of sum(m) samples among which sample p stands m_p
    times, solved at the cost of n: its minimiser repeats rows and columns as its W does. With
    ``D = diag(m)`` and ``M_i = D^1/2 L_i D^1/2`` the terms of the expanded problem are::

        omega1 * sum_i ||M_i||_*  +  omega2 * sum_p sqrt(m_p) ||M_(p)||_*
            +  omega2 * alpha * sum_pq sqrt(m_p m_q) |M[:, p, q]|
            +  lam * sum_i ||D^1/2 W_i D^1/2 - M_i||_F^2

    ``tensor`` is L, shape (v, n, n); ``gap`` and ``error_bound`` are those of the expanded tensor
    ``np.repeat(np.repeat(L, m, axis=1), m, axis=2)``. An entry W[i, p, p] is the similarity among
    the copies of p. For data with many equal samples take
    ``np.unique(X, axis=0, return_index=True, return_inverse=True, return_counts=True)`` of all
    views side by side: W of the distinct samples, and the counts as weights. m need not be whole.

    References
    ----------
    Jia, Liu, Hou, Kwong, Zhang: Multi-view spectral clustering tailored tensor low-rank
    representation. IEEE TCSVT 31(12), 2021.
    """
    common = {
        "omega1": omega1,
        "alpha": alpha,
        "lam": lam,
        "tol": tol,
        "max_iter": max_iter,
        "n_threads": n_threads,
        "callback": callback,
    }
    if solver == "dual":
        if sample_weight is not None and len(sample_weight) != W[0].shape[0]:
            raise ValueError(
                f"sample_weight has {len(sample_weight)} entries, W has {W[0].shape[0]} samples: "
                "give one weight for each"
            )
        return solve_dual(W, sample_weight=sample_weight, **common)
    if _is_sparse(W):
        raise ValueError(f'solver={solver!r} needs dense similarities: use solver="dual"')
    if sample_weight is not None:
        raise ValueError(f'solver={solver!r} has no sample weights: use solver="dual"')
    return solve_ialm(W, mu=mu, rho=rho, mu_max=mu_max, **common)


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
        "auto" takes the size between 6 and 85 at which labels are most stable. Not used where lam
        is a number.
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
    lam_ : float
    n_neighbors_ : int or float
        The size chosen or given; where lam was given, the number of tubes above its threshold.
    path_ : NeighborsPath or None
        The scan behind ``n_neighbors="auto"``.

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

    def _affinity(self, views, seed, n_threads):
        W = self._similarities(views, seed, n_threads)
        S_W = fuse(W)
        self._choose_lam(S_W, tube_lengths(W), seed)
        self._log(f"{self.n_neighbors_:g} neighbors, lam {self.lam_:.4g}")
        tol, max_iter = ESTIMATOR_LIMITS[self.solver]
        tol = tol if self.tol is None else self.tol
        max_iter = max_iter if self.max_iter is None else self.max_iter
        result = self._solve(W, lam=self.lam_, tol=tol, max_iter=max_iter, n_threads=n_threads)
        self._keep(result, tol, expected=max_iter == 0)
        return add_tail(fuse(self.tensor_), S_W, self.tail)

    def _permute(self, order):
        super()._permute(order)
        if self.path_ is not None:
            self.path_.labels = self.path_.labels[:, order]

    def _choose_lam(self, S_W, lengths, seed):
        """Set ``lam_``, ``n_neighbors_`` and ``path_``, given fuse(W) and its tube lengths."""
        strength = (1.0 - self.omega1) * self.alpha / 2.0  # tau = strength / lam
        self.path_ = None
        if self.lam != "auto":
            self.lam_ = float(self.lam)
            self.n_neighbors_ = count_neighbors(lengths, strength / self.lam_)
            return
        if self.n_neighbors == "auto":
            self.path_ = stable_neighbors(
                S_W,
                lengths,
                self.n_clusters,
                tail=self.tail,
                n_init=self.n_init,
                random_state=seed,
            )
            self.n_neighbors_ = int(self.path_.n_neighbors[self.path_.best])
            tau = self.path_.tau[self.path_.best]
        else:
            self.n_neighbors_ = min(self.n_neighbors, len(lengths) - 1)
            (tau,) = tube_thresholds(lengths, [self.n_neighbors_])
        self.lam_ = float(strength / tau)
