"""The certified solver on a sparse pattern too large for eigenproblems of frontal slices."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._warnings import warn_user
from ..threads import blas_threads
from ._tlrr import row_terms


def solve_tubes(tensor, *, omega1, alpha, lam, tol=0.0, max_iter=0, n_threads=1):
    """Shrink every stored tube by ``tau = omega2 alpha / (2 lam)``, and take in the row terms.

    Accelerated steps on the dual variable Q of the row terms make L = T_tau(W - sym(Q) / (2 lam)).
    The tube terms and the misfit cancel in the duality gap, of which is left

        omega1 sum_i ||L_i||_*  +  sum_j (omega2 ||L_(j)||_* - <Q_(j), L_(j)>)

    The row slices' norms are exact, from their v x v Gram matrices, and steps take the second sum
    to zero. A frontal slice's norm is at most the sum of its row lengths: these terms are bounded,
    not solved. Five steps take a third to a half off the distance to the minimiser. The gap falls
    with it, but so does ``||L||_F^2``, and with it what the bound is relative to.

    Parameters
    ----------
    tensor : SparseTensor
        W on its pattern.
    omega1, alpha, lam : float
        As of `tlrr`.
    tol : float, default=0
        Stop where the relative gap, or the part of it that steps can take off, is at most that.
    max_iter : int, default=0
        Steps; with none L is the tube-shrunken W.
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    values : ndarray of shape (v, nnz), float32
        L on the pattern of W.
    gap_bound : float
        The objective at L is within ``gap_bound * lam * ||L||_F^2`` of its minimum for this W.
    n_iter : int
        Steps taken.
    """
    with blas_threads(1):  # rows run side by side
        values, n_iter, gap_bound = row_terms(
            np.ascontiguousarray(tensor.values, dtype=np.float32),
            tensor.indptr.astype(np.intp),
            tensor.indices.astype(np.intc, copy=False),
            omega1=omega1,
            alpha=alpha,
            lam=lam,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
        )
    return values, gap_bound, n_iter


def warn_of_gap(gap_bound, n_iter, tol):
    """Say that a tol which was asked for is not reached, to the user's call of fit."""
    warn_user(
        f"gap_bound_={gap_bound:.2g} after {n_iter} steps is above tol={tol:g}: on a sparse tensor "
        "steps minimise over the row terms, and frontal terms are only bounded; "
        'size="dense" solves both, tol=None accepts the bound',
        ConvergenceWarning,
    )
