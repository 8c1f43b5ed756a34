"""Results of the solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse

from .._utils.parts import ShortRepr
from .._utils.types import FloatArray, IntArray, Similarities, Tensor

Solver = Literal["dual", "ialm"]


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


@dataclass(repr=False)
class TLRRResult(ShortRepr):
    """Solution of a TLRR problem.

    Attributes
    ----------
    tensor : ndarray of shape (v, n, n), or list of v csr_arrays
        The low-rank tensor L, sparse if the input was sparse.
    n_iter : int
        Number of iterations, including fast-forwarded ones.
    converged : bool
        Whether the residual fell below ``tol``.
    solver : str
        "ialm" or "dual".
    parameters : dict
        omega1, alpha and lam, and ``sample_weight`` if it was given.
    history : dict of ndarray
        One entry per iteration: ``residual``, ``seconds`` since the start, and for "ialm" the
        penalty ``mu`` and the ``rank`` per view of the frontal block. The residual of "dual" is
        the relative gap. Since a gap costs an eigenproblem, it is not computed in every iteration;
        the others repeat the previous value.
    n_fast_forward : int
        Number of iterations that were scalar updates because all blocks were zero ("ialm" only).
    eigen_seconds : float
        Time spent in eigenproblems of frontal slices.
    gap : float or None
        Relative duality gap, certified ("dual" only): the objective is within
        ``gap * lam * ||L||_F^2`` of its minimum.
    error_bound : float or None
        Upper bound of ``||L - L*||_F``, where L* is the minimiser ("dual" only).
    blocks : ndarray of shape (n,) or None
        Number of the independent block of every sample ("dual" only).
    """

    tensor: Tensor
    n_iter: int
    converged: bool
    solver: Solver
    parameters: dict[str, Any]
    history: dict[str, FloatArray]
    n_fast_forward: int = 0
    eigen_seconds: float = 0.0
    gap: float | None = None
    error_bound: float | None = None
    blocks: IntArray | None = None

    @property
    def lam(self) -> float:
        """Weight of the misfit."""
        return self.parameters["lam"]

    def objective(self, W: Similarities) -> float:
        """TLRR objective (Jia et al., Eq. 7) of ``tensor`` for the input W of shape (v, n, n)."""
        return objective(self.tensor, W, **self.parameters)


def _dense(tensor):
    """An array of shape (v, n, n); slices may be sparse."""
    return np.stack([A.toarray() if scipy.sparse.issparse(A) else np.asarray(A) for A in tensor])


def objective(L, W, *, omega1, alpha, lam, sample_weight=None):
    """Value of the TLRR model at L: nuclear norms, tube lengths and the squared misfit to W.

    With sample weights, it is that of the tensors in which sample p is repeated sample_weight[p]
    times.
    """
    omega2 = 1.0 - omega1
    L, W = _dense(L).astype(np.float64, copy=False), _dense(W)
    root = np.ones(L.shape[1]) if sample_weight is None else np.sqrt(sample_weight)
    pair_weights = np.outer(root, root)
    L = L * pair_weights
    frontal = sum(scipy.linalg.svdvals(A).sum() for A in L)
    slices = np.linalg.svd(L.transpose(1, 0, 2), compute_uv=False).sum(axis=1) @ root
    tubes = np.sum(pair_weights * np.sqrt(np.einsum("ijk,ijk->jk", L, L)))
    misfit = sum(np.sum((pair_weights * A - B) ** 2) for A, B in zip(W, L, strict=True))
    return float(omega1 * frontal + omega2 * (slices + alpha * tubes) + lam * misfit)
