"""The solvers of TLRR for dense and sparse similarities, on top of the core, and their result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse

from .._utils.parts import ShortRepr
from .._utils.progress import IterationState
from .._utils.types import FloatArray, IntArray, Tensor
from ._tlrr_binding import screen, solve

Solver = Literal["dual", "ialm"]
PENALTY = {"mu": 1e-4, "rho": 1.1, "mu_max": 1e10}  # of "ialm", as published


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


def minimise(W, solver, model, tol, max_iter, n_threads, callback):
    """Minimise the TLRR objective by the core; arguments as of `mvsc_fast.tlrr`.

    W is an array or, for "dual" only, a list of csr_arrays. ``model`` has omega1, alpha, lam and,
    for "dual" only, sample_weight.
    """
    # Dense and sparse tensors get the same form: values of a pattern, and blocks of samples that no
    # tube above the threshold links.
    n, dual = W[0].shape[0], solver == "dual"
    if isinstance(W, np.ndarray):
        data, pattern = W.reshape(len(W), n * n), {}
        screening = screen(data, n, **model) if dual else None
    else:
        data, pattern, screening = _on_one_pattern(W, model)
    history = _History(callback, max_iter)
    result = solve(
        data,
        n,
        **pattern,
        solver=solver,
        **model,
        **PENALTY,
        tol=tol,
        max_iter=max_iter,
        n_threads=n_threads,
        screening=screening,
        report=history.report,
    )
    # The dual solver has a certificate, the published iteration has none.
    values = result["values"]
    return TLRRResult(
        tensor=_split(values, n, **pattern) if pattern else values.reshape(W.shape),
        n_iter=result["n_iter"],
        converged=result["converged"],
        solver=solver,
        parameters=model,
        history=history.merged(result["gap"]) if dual else history.published(len(W)),
        n_fast_forward=result["n_fast_forward"],
        eigen_seconds=result["eigen_seconds"],
        gap=result["gap"] if dual else None,
        error_bound=result["error_bound"] if dual else None,
        blocks=screening.labels if dual else None,
    )


class _History:
    """Reports of the core after every iteration of each block."""

    def __init__(self, callback, max_iter):
        self.callback, self.max_iter = callback, max_iter
        self.blocks = {}

    def report(self, *, block, iteration, residual, seconds, **measures):
        measures |= {"residual": residual, "seconds": seconds}
        self.blocks.setdefault(block, []).append(measures)
        if self.callback is not None:
            state = IterationState(iteration, residual, seconds, block, total=self.max_iter)
            return self.callback(state)
        return False

    def published(self, v):
        """The history of the published iteration, which has one block."""
        states = self.blocks.get(0, [])
        ranks = np.array([state["ranks"] for state in states], dtype=np.intp)
        history = {
            name: np.array([state[name] for state in states])
            for name in ("residual", "seconds", "mu")
        }
        return {**history, "rank": ranks.reshape(-1, v)}

    def merged(self, gap_of_result):
        """The relative gap of all blocks after each iteration."""
        length = max(map(len, self.blocks.values()), default=0)
        gap, scale, seconds = np.zeros((3, length))
        for _, states in sorted(self.blocks.items()):
            names = "gap", "gap_scale", "seconds"
            values = np.array([[state[name] for name in names] for state in states])
            values = values[np.minimum(np.arange(length), len(values) - 1)]
            gap, scale = gap + values[:, 0], scale + values[:, 1]
            seconds = np.maximum(seconds, values[:, 2])
        with np.errstate(over="ignore"):  # infinite for extreme weights, which nothing certifies
            residual = gap / np.where(scale > 0, scale, 1.0)
        # The gap of the returned point, which may not be that of the last iteration.
        residual[length - 1 :] = gap_of_result
        return {"residual": residual, "seconds": seconds}


def _on_one_pattern(W, model):
    """Bring sparse slices to the union of their patterns; returns values, pattern and screening.

    If single tubes cannot be screened, the pattern contains all pairs of every component.
    """
    n = W[0].shape[0]
    union = scipy.sparse.csr_array(sum(A != 0 for A in W))
    union.sort_indices()
    pattern = _as_intp(union)
    data = _gather(W, **pattern)
    screening = screen(data, n, **pattern, **model)
    # Where no single tube can be screened, all pairs of a component may become positive.
    if screening.bound < 0:
        entries = np.ones(n, dtype=bool), screening.labels, np.arange(n + 1)
        member = scipy.sparse.csr_array(entries)
        full = member @ member.T
        full.sort_indices()
        pattern = _as_intp(full)
        data = _gather(W, **pattern)
        # Added entries are zero and connect nothing.
        screening = screening._replace(n_tubes=full.nnz)
    return data, pattern, screening


def _as_intp(pattern):
    return {"indptr": pattern.indptr.astype(np.intp), "indices": pattern.indices.astype(np.intp)}


def _gather(W, indptr, indices):
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    if len(indices) == 0:
        return np.zeros((len(W), 0), dtype=W[0].dtype)
    return np.stack([np.asarray(A[rows, indices]).ravel() for A in W])


def _split(values, n, indptr, indices):
    """One csr_array for each view, without the zeros."""
    slices = []
    for entries in values:
        A = scipy.sparse.csr_array((entries, indices, indptr), shape=(n, n), copy=True)
        A.eliminate_zeros()
        slices.append(A)
    return slices
