"""The published TLRR iteration: inexact augmented Lagrangian, five tensors instead of thirteen."""

import time

import numpy as np

from .._kernels import SymmetricWorkspace, symmetric_shrink
from .._passes import ialm_pass
from ..threads import blas_threads, frontal_threads
from ..validation import check_memory, check_weight
from .partial import PartialShrinkage
from .result import Progress, SolverResult


def solve_ialm(W, *, omega1, alpha, lam, tol, max_iter, mu, rho, mu_max, n_threads, callback):
    """Minimise the TLRR objective by Algorithm 1 of Jia et al. (2021).

    The multipliers of block k enter only through their sum Y_k, and the updates of E and L keep
    ``Y_1 + Y_2 + Y_3 = 2 lam E``; so L is the mean of the blocks and Y_3 is never stored. While
    all thresholds exceed the data, the iterates are multiples of W and cost nothing.

    Parameters are those of `mvsc_fast.tlrr`; W is a validated tensor of shape (v, n, n).
    """
    progress = Progress(tol, max_iter, callback)
    v, n = W.shape[:2]
    omega2 = 1.0 - omega1
    penalties, ranks = [], []
    eigen_seconds = 0.0

    slices, blas = frontal_threads(v, n, n_threads)
    check_memory((5 * v + 2 * slices) * n * n * W.itemsize, f"tlrr on {v} views of {n} samples")
    workspace = SymmetricWorkspace(n, slices, W.dtype)
    X = W.copy()
    with blas_threads(blas):
        # An infinite threshold leaves nothing but the eigenvalues to compute.
        _, spectrum = symmetric_shrink(X, np.inf, workspace, slices)
    spectral_norm = np.abs(spectrum).max()
    rows = W.transpose(1, 0, 2)
    row_norm = np.sqrt(np.linalg.eigvalsh(rows @ rows.transpose(0, 2, 1)).max())
    longest = np.sqrt(np.einsum("ijk,ijk->jk", W, W).max())
    largest = max(W.max(), -W.min())
    check_weight(lam, max(float(largest), 1.0))

    e = y = 0.0
    while progress.running:
        reach = (1.0 - e + y / mu) / 2.0
        if (
            reach * spectral_norm > omega1 / (2 * mu)
            or reach * row_norm > omega2 / (2 * mu)
            or reach * longest > omega2 * alpha / (2 * mu)
        ):
            break
        e = (3 * mu + 2 * lam * e) / (2 * lam + 3 * mu)
        y = 2 * lam * e / 3
        progress.record((1.0 - e) * largest)
        penalties.append(mu)
        ranks.append(np.zeros(v, dtype=np.intp))
        if progress.running:
            mu = min(rho * mu, mu_max)
    n_fast_forward = progress.n_iter

    L = np.zeros_like(W)
    partial = PartialShrinkage(v, n)
    if progress.running:
        E = e * W
        Y1 = y * W
        Y2 = Y1.copy()
        np.multiply(W, (1.0 - e + y / mu) / 2.0, out=X)
    while progress.running:
        before = time.perf_counter()
        rank = None
        if partial.worth_trying(ranks[-1] if ranks else [0]):
            with blas_threads(1):
                rank = partial.shrink(X, omega1 / (2 * mu), workspace.numbers[0])
        if rank is None:
            with blas_threads(blas):
                rank, _ = symmetric_shrink(X, omega1 / (2 * mu), workspace, slices)
        eigen_seconds += time.perf_counter() - before
        mu_next = min(rho * mu, mu_max)
        with blas_threads(1):
            residual, _, _ = ialm_pass(
                W, L, E, Y1, Y2, X,
                omega2=omega2, alpha=alpha, lam=lam, mu=mu, mu_next=mu_next, n_threads=n_threads,
            )  # fmt: skip
        progress.record(residual)
        penalties.append(mu)
        ranks.append(rank)
        mu = mu_next

    return SolverResult(
        tensor=L,
        n_iter=progress.n_iter,
        converged=progress.converged,
        solver="ialm",
        parameters={"omega1": omega1, "alpha": alpha, "lam": lam},
        history={
            **progress.history,
            "mu": np.array(penalties),
            "rank": np.array(ranks).reshape(-1, v),
        },
        n_fast_forward=n_fast_forward,
        eigen_seconds=eigen_seconds,
    )
