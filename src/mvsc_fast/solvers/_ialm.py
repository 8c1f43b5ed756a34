"""The published TLRR iteration, Algorithm 1 of Jia et al. (2021), on top of the core."""

import numpy as np

from .._utils.progress import IterationState
from .._utils.threads import blas_threads
from ._results import TLRRResult
from ._tlrr_binding import solve


def solve_ialm(W, *, omega1, alpha, lam, tol, max_iter, mu, rho, mu_max, n_threads, callback):
    """Minimise the TLRR objective by the published iteration.

    Parameters are those of `mvsc_fast.tlrr`; W is a validated tensor of shape (v, n, n).
    """
    v, n = W.shape[:2]
    states = []

    def report(**state):
        states.append(state)
        if callback is not None:
            seen = (state[name] for name in ("iteration", "residual", "seconds"))
            return callback(IterationState(*seen, total=max_iter))
        return False

    with blas_threads(1):
        result = solve(
            W.reshape(v, n * n),
            n,
            solver="ialm",
            omega1=omega1,
            alpha=alpha,
            lam=lam,
            tol=tol,
            max_iter=max_iter,
            mu=mu,
            rho=rho,
            mu_max=mu_max,
            n_threads=n_threads,
            report=report,
        )
    history = {
        name: np.array([state[name] for state in states]) for name in ("residual", "seconds", "mu")
    }
    ranks = [state["ranks"] for state in states]
    history["rank"] = np.array(ranks, dtype=np.intp).reshape(-1, v)
    return TLRRResult(
        tensor=result["values"].reshape(W.shape),
        n_iter=result["n_iter"],
        converged=result["converged"],
        solver="ialm",
        parameters={"omega1": omega1, "alpha": alpha, "lam": lam},
        history=history,
        n_fast_forward=result["n_fast_forward"],
        eigen_seconds=result["eigen_seconds"],
    )
