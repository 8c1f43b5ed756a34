"""What a solver returns, and what its callback sees."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.linalg


class IterationState(NamedTuple):
    """What ``callback(state)`` receives after every iteration; returning True stops the run."""

    iteration: int
    """Number of this iteration, from 1."""
    residual: float
    """What is compared with ``tol``."""
    seconds: float
    """Time since the solver started."""


@dataclass
class SolverResult:
    """Solution of a TLRR problem.

    Attributes
    ----------
    tensor : ndarray of shape (v, n, n), or list of v csr_arrays
        The low-rank tensor L, sparse where the input was.
    n_iter : int
        Iterations made, fast-forwarded ones included.
    converged : bool
        Whether the residual fell below ``tol``.
    solver : str
        "ialm" or "dual".
    parameters : dict
        omega1, alpha and lam.
    history : dict of ndarray
        One entry per iteration: ``residual``, ``seconds`` since the start, and for "ialm" the
        penalty ``mu`` and the ``rank`` per view of the frontal block. The residual of "dual" is
        the relative gap; as a gap costs an eigenproblem, some iterations repeat the last known.
    n_fast_forward : int
        Iterations that were a scalar update, as all blocks were zero ("ialm" only).
    eigen_seconds : float
        Time spent in eigenproblems of frontal slices.
    gap : float or None
        Relative duality gap, certified ("dual" only): the objective is within
        ``gap * lam * ||L||_F^2`` of its minimum.
    error_bound : float or None
        ``||L - L*||_F`` is at most this ("dual" only).
    blocks : ndarray of shape (n,) or None
        Independent block of every sample ("dual" only).
    """

    tensor: np.ndarray
    n_iter: int
    converged: bool
    solver: str
    parameters: dict
    history: dict = field(repr=False)
    n_fast_forward: int = 0
    eigen_seconds: float = 0.0
    gap: float | None = None
    error_bound: float | None = None
    blocks: np.ndarray | None = field(default=None, repr=False)

    def objective(self, W):
        """TLRR objective of ``tensor`` for the input W of shape (v, n, n), Jia et al. Eq. (7)."""
        return objective(self.tensor, W, **self.parameters)


def objective(L, W, *, omega1, alpha, lam):
    """Value of the TLRR model at L: nuclear norms, tube lengths and the squared misfit to W."""
    omega2 = 1.0 - omega1
    L = np.asarray(L, dtype=np.float64)
    frontal = sum(scipy.linalg.svdvals(A).sum() for A in L)
    rows = L.transpose(1, 0, 2)
    gram_values = np.linalg.eigvalsh(rows @ rows.transpose(0, 2, 1))
    slices = np.sqrt(np.maximum(gram_values, 0.0)).sum()
    tubes = np.sqrt(np.einsum("ijk,ijk->jk", L, L)).sum()
    misfit = sum(np.sum((A - B) ** 2) for A, B in zip(np.asarray(W), L, strict=True))
    return float(omega1 * frontal + omega2 * (slices + alpha * tubes) + lam * misfit)
