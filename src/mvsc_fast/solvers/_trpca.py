"""TRPCA: tensor robust principal component analysis of a similarity tensor (Lu et al. 2020)."""

from __future__ import annotations

import numpy as np

from .._kernels import trpca_pass
from .._utils.parameters import CHECKS, check_parameters, either, positive
from .._utils.threads import use_threads
from .._utils.types import Callback, Shaped, Similarities
from .._utils.validation import check_memory, check_similarities
from ._results import Result
from ._run import Run
from ._transforms import ViewTransform, check_view_transform, resolve_view_transform

TRPCA_CHECKS = {"lam": either(None, positive), "view_transform": check_view_transform}


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
