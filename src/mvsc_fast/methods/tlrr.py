"""TLRR: low-rank representation tailored to multi-view similarity tensors (Jia et al. 2021)."""

from ..solvers import solve_ialm
from ..threads import resolve_threads
from ..validation import check_integer, check_number, check_option, check_similarities

SOLVERS = ("ialm",)


def tlrr(
    W,
    *,
    omega1=0.5,
    alpha=5.0,
    lam=15.0,
    solver="ialm",
    tol=1e-4,
    max_iter=500,
    mu=1e-4,
    rho=1.1,
    mu_max=1e10,
    n_threads=None,
    callback=None,
):
    omega1 = check_number(omega1, "omega1", 0.0, 1.0)
    alpha = check_number(alpha, "alpha", 0.0)
    lam = check_number(lam, "lam", 0.0, open_interval=True)
    check_option(solver, "solver", SOLVERS)
    return solve_ialm(
        check_similarities(W),
        omega1=omega1,
        alpha=alpha,
        lam=lam,
        tol=check_number(tol, "tol", 0.0),
        max_iter=check_integer(max_iter, "max_iter", 0),
        mu=check_number(mu, "mu", 0.0, open_interval=True),
        rho=check_number(rho, "rho", 1.0),
        mu_max=check_number(mu_max, "mu_max", 0.0, open_interval=True),
        n_threads=resolve_threads(n_threads),
        callback=callback,
    )
