"""TLRR: low-rank representation tailored to multi-view similarity tensors (Jia et al. 2021)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from .._utils.messages import warn_user
from .._utils.parameters import (
    CHECKS,
    check_number,
    check_parameters,
    check_sample_weight,
    count,
    either,
    natural,
    nonnegative,
    option,
)
from .._utils.threads import use_threads
from .._utils.types import Callback, Similarities
from .._utils.validation import check_similarities
from ..similarity._affinity import tube_lengths, tube_threshold
from ._tlrr_core import Solver, TLRRResult, minimise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LIMITS = {"dual": (1e-3, 100), "ialm": (1e-4, 500)}  # tol, max_iter
TLRR_CHECKS = {
    "omega1": partial(check_number, low=0.0, high=1.0),
    "alpha": nonnegative,
    "lam": either(None, partial(check_number, low=0.0, open_interval=True)),  # the unit of W is any
    "n_neighbors": count,
    "solver": option(Solver),
    "tol": either(None, nonnegative),
    "max_iter": either(None, natural),
}


def tlrr(
    W: Similarities,
    *,
    omega1: float = 0.5,
    alpha: float = 9.0,
    lam: float | None = None,
    n_neighbors: int = 15,
    solver: Solver = "dual",
    tol: float | None = None,
    max_iter: int | None = None,
    n_threads: int | None = None,
    callback: Callback | None = None,
    sample_weight: ArrayLike | None = None,
) -> TLRRResult:
    """Recover a low-rank tensor from multi-view similarities by TLRR.

    TLRR (tailored low-rank representation; Jia et al. 2021, Eq. 7) minimises over tensors L with
    symmetric frontal slices::

        omega1 * sum_i ||L_i||_* + omega2 * sum_j (||L_(j)||_* + alpha * ||L_(j)||_{2,1})
            + lam * ||W - L||_F^2,        omega2 = 1 - omega1

    where L_i is the n x n slice of view i, and L_(j) the v x n slice of sample j. Its 2,1 norm is
    the sum of the lengths of the tubes L[:, j, k].

    Parameters
    ----------
    W : array of shape (v, n, n), or list of v arrays or sparse matrices of shape (n, n)
        Symmetric similarities, float32 or float64; other types are converted to float64. W is not
        modified. A slice that is not symmetric is averaged with its transpose, with a warning.
        Sparse input gives sparse output; only its independent blocks are made dense ("dual" only).
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
    n_threads : int, optional
        Number of OpenMP threads, at most four per CPU. None uses OMP_NUM_THREADS, or the CPUs that
        the process may use.
    callback : callable, optional
        Function that is called with an `IterationState` after every iteration. If it returns True,
        the solver stops.
    sample_weight : array of shape (n,), optional
        Positive weight of each sample, i.e. the number of samples that each row and column of W
        represents; None is 1 for all ("dual" only; requires ``lam``). See Notes.

    Returns
    -------
    TLRRResult
        ``tensor`` of shape (v, n, n), ``n_iter``, ``converged``, ``history`` and ``parameters``,
        including lam; for "dual" also ``gap``, ``error_bound`` and ``blocks``.

    Raises
    ------
    ValueError
        If W or a parameter is invalid.
    MemoryError
        If the solver needs more memory than is available; it is raised before any allocation.

    Warns
    -----
    UserWarning
        If no tube of W exceeds the threshold; the message suggests a lam.

    Notes
    -----
    With ``sample_weight`` m, the problem is equivalent to that of sum(m) samples in which sample p
    is repeated m_p times, because the minimiser repeats rows and columns as W does; the cost is
    that of n samples. With ``D = diag(m)`` and ``M_i = D^1/2 L_i D^1/2`` the terms of the expanded
    problem are::

        omega1 * sum_i ||M_i||_*  +  omega2 * sum_p sqrt(m_p) ||M_(p)||_*
            +  omega2 * alpha * sum_pq sqrt(m_p m_q) |M[:, p, q]|
            +  lam * sum_i ||D^1/2 W_i D^1/2 - M_i||_F^2

    ``tensor`` is L of shape (v, n, n); ``gap`` and ``error_bound`` are those of the expanded tensor
    ``np.repeat(np.repeat(L, m, axis=1), m, axis=2)``. An entry W[i, p, p] is the similarity between
    copies of p. For data with many equal samples, apply
    ``np.unique(X, axis=0, return_index=True, return_inverse=True, return_counts=True)`` to the
    concatenated views, compute W from the distinct samples and use the counts as weights. Weights
    need not be integers.

    References
    ----------
    Jia, Liu, Hou, Kwong, Zhang: Multi-view spectral clustering tailored tensor low-rank
    representation. IEEE TCSVT 31(12), 2021.
    """
    # Parameters are checked by name and before the tensor, which may be large.
    parameters = check_parameters(
        {**CHECKS, **TLRR_CHECKS, "sample_weight": either(None, check_sample_weight)},
        omega1=omega1,
        alpha=alpha,
        lam=lam,
        n_neighbors=n_neighbors,
        solver=solver,
        tol=tol,
        max_iter=max_iter,
        n_threads=n_threads,
        callback=callback,
        sample_weight=sample_weight,
    )
    return solve_tlrr(check_similarities(W, sparse=_is_sparse(W)), **parameters)


def solve_tlrr(
    W,
    *,
    omega1,
    alpha,
    lam,
    tol,
    max_iter,
    n_threads,
    callback,
    n_neighbors=None,
    solver="dual",
    sample_weight=None,
):
    """`tlrr` of validated similarities and parameters."""
    # Defaults depend on the solver: the gap of one and the residual of the other differ in meaning.
    n, (usual_tol, usual_max_iter) = W[0].shape[0], LIMITS[solver]
    lam = _weight(W, omega1, alpha, n_neighbors, sample_weight) if lam is None else lam
    model = {"omega1": omega1, "alpha": alpha, "lam": lam}
    # Options that the chosen solver does not have are errors.
    if solver == "ialm":
        if _is_sparse(W):
            raise ValueError(f'solver={solver!r} needs dense similarities: use solver="dual"')
        if sample_weight is not None:
            raise ValueError(f'solver={solver!r} has no sample weights: use solver="dual"')
    elif sample_weight is not None:
        model["sample_weight"] = sample_weight
        if len(sample_weight) != n:
            raise ValueError(
                f"sample_weight has {len(sample_weight)} entries, but W has {n} "
                "samples: expected one weight per sample"
            )
    tol = usual_tol if tol is None else tol
    max_iter = usual_max_iter if max_iter is None else max_iter
    with use_threads(n_threads, n) as n_threads:
        result = minimise(W, solver, model, tol, max_iter, n_threads, callback)
    _warn_of_zeros(result, W)
    return result


def _is_sparse(W):
    return isinstance(W, (list, tuple)) and any(scipy.sparse.issparse(A) for A in W)


def _weight(W, omega1, alpha, n_neighbors, sample_weight):
    """The lam for which ``n_neighbors`` tubes per sample exceed the threshold."""
    if omega1 == 1.0 or alpha == 0.0:
        raise ValueError(
            "n_neighbors sets the tube threshold, which is zero for omega1=1 or alpha=0: give lam"
        )
    if sample_weight is not None:
        raise ValueError("n_neighbors ignores sample weights: give lam with sample_weight")
    n, lengths = W[0].shape[0], tube_lengths(W)
    if scipy.sparse.issparse(lengths):
        lengths = lengths.data[lengths.row != lengths.col]
    else:
        lengths = lengths[~np.eye(n, dtype=bool)]
    tau = tube_threshold(lengths, n, n_neighbors)
    return (1.0 - omega1) * alpha / (2 * tau)


def _warn_of_zeros(result, W):
    """Warn if the result is zero because no tube of W exceeds the threshold.

    A tube w is non-zero in L if ``2 lam |w|^2`` exceeds its norms in the objective, which are at
    most ``(omega1 sqrt(v) + omega2 (1 + alpha)) |w|``.
    """
    if any(A.nnz if scipy.sparse.issparse(A) else A.any() for A in result.tensor):
        return
    # The longest tube decides: a lam from which it alone would remain is a useful hint.
    length = float(tube_lengths(W).max())
    omega1, alpha, lam = (result.parameters[name] for name in ("omega1", "alpha", "lam"))
    omega2 = 1.0 - omega1
    if 0 < length <= omega2 * alpha / (2 * lam):
        norms = omega1 * np.sqrt(len(W)) + omega2 * (1.0 + alpha)
        warn_user(
            f"the tensor is zero: lam={lam:g} keeps tubes longer than "
            f"{omega2 * alpha / (2 * lam):.3g}, the longest tube of W is {length:.3g}. "
            f"lam above {norms / (2 * length):.3g} keeps some, or rescale W"
        )
