"""Splits of a similarity tensor into a low-rank and a sparse part: TRPCA and SNN."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .._kernels import frontal_shrink, snn_pass, trpca_pass
from .._utils.parameters import CHECKS, check_numbers, check_parameters, either, positive
from .._utils.parts import ShortRepr
from .._utils.threads import use_threads
from .._utils.types import Callback, FloatArray, Numbers, Shaped, Similarities
from .._utils.validation import check_memory, check_similarities
from ._run import Run
from ._transforms import ViewTransform, check_view_transform, resolve_view_transform

TRPCA_CHECKS = {"lam": either(None, positive), "view_transform": check_view_transform}
SNN_CHECKS = {"weights": either(None, partial(check_numbers, count=2, low=0.0))}


@dataclass(repr=False)
class Result(ShortRepr):
    """A similarity tensor split into a low-rank and a sparse part, by `trpca` or `snn`.

    Attributes
    ----------
    tensor : ndarray of shape (v, n, n)
        The low-rank tensor L, averaged with its transpose.
    error : ndarray of shape (v, n, n)
        The sparse tensor, equal to W - L up to the last residual.
    n_iter : int
    converged : bool
        Whether the residual fell below ``tol``.
    history : dict of ndarray
        ``residual``, which is compared with ``tol`` (or a cheaper lower bound, if that exceeds
        ``tol``), and ``seconds`` since the start, after every iteration.
    """

    tensor: FloatArray
    error: FloatArray
    n_iter: int
    converged: bool
    history: dict[str, FloatArray]


def trpca(
    W: Similarities,
    *,
    lam: float | None = None,
    view_transform: ViewTransform | Shaped = "dft",
    tol: float = 1e-8,
    max_iter: int = 500,
    n_threads: int | None = None,
    callback: Callback | None = None,
) -> Result:
    """Split a similarity tensor into a part of low tubal rank and a sparse part.

    Minimises ``||L||_tnn + lam ||S||_1`` subject to ``W = L + S`` (Lu et al. 2020, Eq. 20) by ADMM,
    with the transform along the views and the nuclear norms of the n x n slices divided by v.

    Parameters
    ----------
    W : array of shape (v, n, n), or list of v arrays of shape (n, n)
        Symmetric similarities; not modified.
    lam : float, optional
        Weight of the sparse part. None is ``1 / sqrt(n v)``, for which recovery of random tensors
        is guaranteed; twice this value was better on shuffled data sets.
    view_transform : {"dft", "identity"} or ndarray of shape (v, v), default="dft"
        The transform along the views; "dft" is the published one. An orthonormal matrix defines the
        basis by its columns.
    tol : float, default=1e-8
        Tolerance on the largest entry of L + S - W and of the changes of L and S.
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
        ``tensor``, the mean of L and its transpose, and ``error`` S, both of shape (v, n, n).

    Raises
    ------
    ValueError
        If W or a parameter is invalid.
    MemoryError
        If the solver needs more memory than is available; it is raised before any allocation.

    References
    ----------
    Lu, Feng, Chen, Liu, Lin, Yan: Tensor robust principal component analysis with a new tensor
    nuclear norm. IEEE TPAMI 42(4), 2020.
    """
    parameters = check_parameters(
        {**CHECKS, **TRPCA_CHECKS},
        lam=lam,
        view_transform=view_transform,
        tol=tol,
        max_iter=max_iter,
        n_threads=n_threads,
        callback=callback,
    )
    return solve_trpca(check_similarities(W), **parameters)


def solve_trpca(W, *, lam, view_transform, tol, max_iter, n_threads, callback):
    """`trpca` of validated similarities and parameters."""
    # All arrays that the passes need, checked together before any of them exists.
    v, n = W.shape[:2]
    check_memory((5 * v + 12) * n * n * W.itemsize, f"trpca on {v} views of {n} samples")
    lam = 1.0 / np.sqrt(n * v) if lam is None else lam
    transform = resolve_view_transform(view_transform, v, W.dtype)
    basis = transform.inverse(np.eye(v), axis=0).astype(np.float64)

    L, S, Y = (np.zeros_like(W) for _ in range(3))
    X = transform.forward(W, axis=0)
    run = Run(tol, max_iter, callback)
    with use_threads(n_threads, n) as n_threads:
        for mu in run:
            transform.shrink_frontal(X, 1.0 / mu, symmetric=True)  # as W and all iterates are
            change = trpca_pass(
                W, L, S, Y, X, basis, lam=lam, mu=mu, mu_next=run.next_mu, n_threads=n_threads
            )
            run.record(change)
    return Result((L + L.transpose(0, 2, 1)) / 2, S, run.n_iter, run.converged, run.history)


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
