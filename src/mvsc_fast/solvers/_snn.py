"""SNN: sum of nuclear norms of a similarity tensor's unfoldings (Liu et al. 2013)."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._kernels import frontal_shrink, snn_pass
from .._utils.parameters import CHECKS, check_numbers, check_parameters, either
from .._utils.threads import use_threads
from .._utils.types import Callback, Numbers, Similarities
from .._utils.validation import check_memory, check_similarities
from ._results import Result
from ._run import Run

SNN_CHECKS = {"weights": either(None, partial(check_numbers, count=2, low=0.0))}


def snn(
    W: Similarities,
    *,
    weights: float | Numbers | None = None,
    tol: float = 1e-8,
    max_iter: int = 500,
    n_threads: int | None = None,
    callback: Callback | None = None,
) -> Result:
    """Split a similarity tensor into a part with low-rank unfoldings and a sparse part.

    Minimises ``sum_m a_m ||L_(m)||_* + ||E||_1`` subject to ``W = L + E`` by ADMM with one copy of
    L for each of the three unfoldings (the norm of Liu et al. 2013, Eq. 9). As the slices of W are
    symmetric, the copy of the columns is the transpose of that of the rows and costs nothing.

    Parameters
    ----------
    W : array of shape (v, n, n), or list of v arrays of shape (n, n)
        Symmetric similarities; not modified.
    weights : float or pair of floats, optional
        Weights a_m of the unfoldings: one for rows and columns, one for the views. None is
        ``sqrt(n) / 3`` for all. Dividing by a common factor gives the form with a weight on E.
    tol : float, default=1e-8
        Tolerance on the largest entry of L_m + E - W and of the changes of L_m and E.
    max_iter : int, default=500
        Maximum number of iterations; about 200 are usually sufficient.
    n_threads : int, optional
        Number of OpenMP threads, at most four per CPU. None uses OMP_NUM_THREADS, or the CPUs that
        the process may use.
    callback : callable, optional
        Called with an `IterationState` after every iteration; returning True stops the run.

    Returns
    -------
    Result
        ``tensor``, the mean of L and its transpose, and ``error`` E, both of shape (v, n, n). L is
        the copy of the rows; the others are equal up to the last residual.

    Raises
    ------
    ValueError
        If W or a parameter is invalid.
    MemoryError
        If the solver needs more memory than is available; it is raised before any allocation.

    References
    ----------
    Liu, Musialski, Wonka, Ye: Tensor completion for estimating missing values in visual data. IEEE
    TPAMI 35(1), 2013.
    """
    parameters = check_parameters(
        {**CHECKS, **SNN_CHECKS},
        weights=weights,
        tol=tol,
        max_iter=max_iter,
        n_threads=n_threads,
        callback=callback,
    )
    return solve_snn(check_similarities(W), **parameters)


def solve_snn(W, *, weights, tol, max_iter, n_threads, callback):
    """`snn` of validated similarities and parameters."""
    v, n = W.shape[:2]
    check_memory((7 * v + 6) * n * n * W.itemsize, f"snn on {v} views of {n} samples")
    rows, views = [np.sqrt(n) / 3.0] * 2 if weights is None else weights

    # L1 and L3 are copies of L for the two unfoldings, Y1 and Y3 their multipliers.
    E, L1, Y1, L3, Y3 = (np.zeros_like(W) for _ in range(5))
    X = W.copy()
    run = Run(tol, max_iter, callback)
    with use_threads(n_threads, n) as n_threads:
        # Singular values along the views follow from a v x v Gram matrix, which each pass returns.
        flat = W.reshape(v, -1).astype(np.float64, copy=False)
        gram = flat @ flat.T
        for mu in run:
            frontal_shrink(X, rows / mu, group=v)
            mapper = _view_mapper(gram, views / mu)
            change, gram = snn_pass(
                W, E, L1, Y1, X, L3, Y3, mapper, mu=mu, mu_next=run.next_mu, n_threads=n_threads
            )
            run.record(change)
    return Result((L1 + L1.transpose(0, 2, 1)) / 2, E, run.n_iter, run.converged, run.history)


def _view_mapper(gram, t):
    """v x v matrix that shrinks by t the singular values of an unfolding with this Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    s = np.sqrt(np.maximum(values, 0.0))
    return (vectors * (1.0 - t / np.maximum(s, t) if t > 0 else 1.0)) @ vectors.T
