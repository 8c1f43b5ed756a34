"""The certified TLRR solver for dense and sparse similarities, on top of the core."""

import numpy as np
import scipy.sparse

from .._utils.progress import IterationState
from .._utils.threads import blas_threads
from ._results import TLRRResult
from ._tlrr_binding import screen, solve


def solve_dual(W, *, omega1, alpha, lam, tol, max_iter, n_threads, callback, sample_weight=None):
    """Minimise the TLRR objective to a relative duality gap of ``tol``.

    Parameters are those of `mvsc_fast.tlrr`; W is a validated tensor of shape (v, n, n), or a
    list of v csr_arrays.
    """
    model = {"omega1": omega1, "alpha": alpha, "lam": lam}
    if sample_weight is not None:
        model["sample_weight"] = sample_weight
    n = W[0].shape[0]
    if isinstance(W, np.ndarray):
        data, pattern = W.reshape(len(W), n * n), {}
        screening = screen(data, n, **model)
    else:
        data, pattern, screening = _on_one_pattern(W, model)
    history = _History(callback, max_iter)
    with blas_threads(1):
        result = solve(
            data,
            n,
            **pattern,
            solver="dual",
            **model,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
            screening=screening,
            report=history.report,
        )
    values = result["values"]
    return TLRRResult(
        tensor=_split(values, n, **pattern) if pattern else values.reshape(W.shape),
        n_iter=result["n_iter"],
        converged=result["converged"],
        solver="dual",
        parameters=model,
        history=history.merged(result["gap"]),
        eigen_seconds=result["eigen_seconds"],
        gap=result["gap"],
        error_bound=result["error_bound"],
        blocks=screening.labels,
    )


class _History:
    """Reports of all blocks, merged into the relative gap after each iteration."""

    def __init__(self, callback, max_iter):
        self.callback, self.max_iter = callback, max_iter
        self.blocks = {}  # (gap, its scale, seconds) of every iteration

    def report(self, *, block, iteration, residual, seconds, gap, gap_scale, **_):
        self.blocks.setdefault(block, []).append((gap, gap_scale, seconds))
        if self.callback is not None:
            state = IterationState(iteration, residual, seconds, block, total=self.max_iter)
            return self.callback(state)
        return False

    def merged(self, gap_of_result):
        blocks = [np.array(self.blocks[block]) for block in sorted(self.blocks)]
        length = max(map(len, blocks), default=0)
        gap, scale, seconds = np.zeros((3, length))
        for entries in blocks:
            at = np.minimum(np.arange(length), len(entries) - 1)
            gap += entries[at, 0]
            scale += entries[at, 1]
            seconds = np.maximum(seconds, entries[at, 2])
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
    if screening.bound < 0:
        labels = screening.labels
        order = np.argsort(labels, kind="stable")
        groups = np.split(order, np.searchsorted(labels[order], np.arange(1, labels.max() + 1)))
        rows = np.concatenate([np.repeat(group, len(group)) for group in groups])
        columns = np.concatenate([np.tile(group, len(group)) for group in groups])
        full = scipy.sparse.csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(n, n))
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
