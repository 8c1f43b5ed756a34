"""The certified TLRR solver: the exact minimiser, and how far from it the result can be.

The model is strongly convex, so its dual is smooth. With symmetric slices ``||P_i||_2 <= omega1``
and row slices ``||Q_(j)||_2 <= omega2``, tau = omega2 alpha / (2 lam) and T_tau the tube
shrinkage::

    L(P, Q)    = T_tau( W - (P + sym(Q)) / (2 lam) )
    d(P, Q)    = lam (||W||_F^2 - ||L(P, Q)||_F^2)
    gap(P, Q)  = omega1 sum_i ||L_i||_* - <P, L> + omega2 sum_j ||L_(j)||_* - <Q, L>  >=  0

and ``||L - L*||_F^2 <= gap / lam`` for the minimiser L*.

An eigendecomposition of every view is needed to move P, next to nothing to move Q, which lives on
the few tubes that can be non-zero. So Q is maximised out (a few accelerated steps after every move
of P), and the function of P that remains is climbed by accelerated projected gradient steps. Its
gradient has the Lipschitz constant 1 / (2 lam), which lets a step of 2 lam always succeed; along
short tubes it is much flatter, so the step grows as long as the quadratic model holds.

P starts, and its eigenproblems are solved, in single precision. Any feasible P gives a valid
certificate; rounding is charged to the gap, and where it makes up much of it P becomes double.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse

from .._kernels import SymmetricWorkspace, symmetric_clip, symmetric_shrink
from .._passes import dual_progress, dual_rows, dual_tubes, extrapolate, row_nuclear_norms
from ..threads import blas_threads, frontal_threads
from ..validation import check_memory, check_slice_size, check_weight
from .result import IterationState, SolverResult
from .screening import screen

GROWTH = 1.5  # first growth of the step after a success; its excess halves with every retreat
INNER_STEPS = 10  # at most, of Q for each move of P; 4 need more moves of P, 20 no fewer
INNER_TOL = 0.1  # of the first of them: Q stands still enough when a step is shorter
SINGLE_MAX = 1e25  # W and lam W must stay below it, W above its inverse, for P to be single
STEP_MAX = 1e6  # times lam: where every step succeeds, growth must end before overflow
SMALL_BLOCK = 256  # blocks up to this size are solved side by side, one thread each


def solve_dual(W, *, omega1, alpha, lam, tol, max_iter, n_threads, callback):
    """Minimise the TLRR objective to a relative duality gap of ``tol``.

    Parameters are those of `mvsc_fast.tlrr`; W is a validated tensor of shape (v, n, n), or a
    list of v csr_arrays.
    """
    start = time.perf_counter()
    scale = _power_of_two(W)
    check_weight(lam, scale)
    if scale != 1.0:
        # W -> W / s with lam -> lam s has the minimiser L / s: nothing is squared out of range.
        W = W / scale if isinstance(W, np.ndarray) else [A / scale for A in W]
        result = solve_dual(
            W, omega1=omega1, alpha=alpha, lam=lam * scale, tol=tol, max_iter=max_iter,
            n_threads=n_threads, callback=callback,
        )  # fmt: skip
        L = result.tensor
        result.tensor = L * scale if isinstance(L, np.ndarray) else [A * scale for A in L]
        result.error_bound *= scale
        result.parameters["lam"] = lam
        return result
    blocks, labels = screen(W, omega1=omega1, alpha=alpha, lam=lam)
    problems = [_Block(block, omega1, alpha, lam) for block in blocks]
    check_slice_size(max((p.n for p in problems), default=0), "the largest block of W")
    check_memory(_peak_bytes(W, problems, n_threads), f"tlrr on {len(W)} views")
    watch = _Watch(start, callback)

    def solve(problem, threads):
        problem.solve(tol, max_iter, threads, watch)

    small = [p for p in problems if p.n <= SMALL_BLOCK]
    for problem in problems:
        if problem.n > SMALL_BLOCK:
            solve(problem, n_threads)
    if small:
        with blas_threads(1), ThreadPoolExecutor(n_threads) as pool:
            try:
                list(pool.map(solve, small, [1] * len(small)))
            except BaseException:
                watch.stopped = True
                pool.shutdown(cancel_futures=True)
                raise

    gap = sum(p.gap for p in problems)
    scale = lam * sum(p.gap_norm for p in problems)
    history = _merge_histories(problems, lam)
    return SolverResult(
        tensor=_assemble(W, problems),
        n_iter=max((p.n_iter for p in problems), default=0),
        converged=all(p.converged for p in problems),
        solver="dual",
        parameters={"omega1": omega1, "alpha": alpha, "lam": lam},
        history=history,
        eigen_seconds=sum(p.eigen_seconds for p in problems),
        gap=gap / scale if scale > 0 else 0.0,
        error_bound=float(np.sqrt(gap / lam)),
        blocks=labels,
    )


def _power_of_two(W):
    """1, or the power of two near the largest entry of W if its squares may leave the range."""
    limit = float(np.finfo(W[0].dtype).max) ** 0.25
    largest = max(float(abs(A).max()) for A in W)
    if largest == 0.0 or 1 / limit < largest < limit:
        return 1.0
    return 2.0 ** int(np.floor(np.log2(largest)))


def _peak_bytes(W, problems, n_threads):
    """Memory of the largest block at work, and of the result."""
    largest = max((p.n for p in problems), default=0)
    at_once = n_threads if largest <= SMALL_BLOCK else 1
    slices, _ = frontal_threads(len(W), largest, n_threads)
    matrices = at_once * (3 * len(W) + 2 * slices)
    itemsize = W[0].dtype.itemsize
    result = W.nbytes if isinstance(W, np.ndarray) else sum(2 * p.L.nbytes for p in problems)
    return matrices * largest**2 * itemsize + result


class _Watch:
    """Passes iterations on to the user's callback, and its wish to stop on to all blocks."""

    def __init__(self, start, callback):
        self.start = start
        self.callback = callback
        self.stopped = False

    def report(self, iteration, gap):
        seconds = time.perf_counter() - self.start
        if self.callback is not None and self.callback(IterationState(iteration, gap, seconds)):
            self.stopped = True
        return seconds


class _Block:
    """One connected block: its data, its dual variables and its certificate."""

    def __init__(self, tubes, omega1, alpha, lam):
        self.tubes = tubes
        self.W = tubes.values
        self.n = len(tubes.members)
        self.flat = tubes.rows * self.n + tubes.indices
        self.omega1, self.omega2, self.lam = omega1, 1.0 - omega1, lam
        self.tau = self.omega2 * alpha / (2.0 * lam)
        self.W_squared = float(np.sum(np.square(self.W, dtype=np.float64)))
        self.L = np.zeros_like(self.W)
        self.gap = np.inf
        self.gap_norm = 0.0  # ||L||_F^2 where the gap was computed
        self.norm_squared = self.eigen_seconds = 0.0
        self.P_rounding = 0.0  # by how much ||P_i||_2 may exceed omega1
        self.rounding = 0.0  # part of the gap
        self.n_iter = 0
        self.converged = False
        self.history = []  # (absolute gap, ||L||^2, seconds) after every iteration

    def solve(self, tol, max_iter, n_threads, watch):
        v, n = len(self.W), self.n
        self.n_threads = n_threads
        self.slices, self.blas = frontal_threads(v, n, n_threads)
        size = float(np.abs(self.W).max())
        fits = 1 / SINGLE_MAX < size < SINGLE_MAX and self.lam * size < SINGLE_MAX
        self._set_precision(np.dtype(np.float32) if fits else self.W.dtype)
        P = np.zeros_like(self.dense)
        Q = np.zeros_like(self.W)
        step, growth, t = 2.0 * self.lam, GROWTH, 1.0
        check_at = 1
        if max_iter > 0:
            P_momentum = np.zeros_like(P)
            Q_momentum = self._maximise_rows(P_momentum, Q)
        while self.n_iter < max_iter and not (self.converged or watch.stopped):
            value, _ = self._primal(P_momentum, Q_momentum)
            P_next = self.dense
            P_next[...] = P_momentum
            P_next.reshape(v, -1)[:, self.flat] += (step * self.L).astype(P.dtype, copy=False)
            slope = self.L.copy()
            spectrum = self._eigen(symmetric_clip, P_next, self.omega1)
            moved, uphill = dual_progress(P_momentum, P, P_next, n_threads)
            Q_next = self._maximise_rows(P_next, Q_momentum)
            value_next, inner = self._primal(P_next, Q_next)
            self.n_iter += 1
            move = P_next.reshape(v, -1)[:, self.flat] - P_momentum.reshape(v, -1)[:, self.flat]
            model = value + float(np.vdot(slope, move)) - moved / (2.0 * step)
            slack = 1e-12 * abs(value_next)
            if value_next < model - slack and step > 2.0 * self.lam * (1 + 1e-9):
                step, growth = max(step / 2.0, 2.0 * self.lam), (1.0 + growth) / 2.0
                self._record(watch)
                continue
            if uphill > 0:
                t = 1.0
            t_next = (1.0 + np.sqrt(1.0 + 4.0 * t * t / growth)) / 2.0
            extrapolate(P_next, P, P_momentum, (t - 1.0) / t_next, n_threads)
            step, t = min(step * growth, STEP_MAX * self.lam), t_next
            P, self.dense, Q = P_next, P, Q_next
            self.P_rounding = self._rounding(P.dtype) * self._clip_scale(spectrum)
            if self.n_iter >= check_at:
                self._certify(inner, Q)
                relative = self._relative_gap()
                self.converged = relative <= tol
                # The gap falls by less than 4 in an iteration: spare the checks that must fail.
                ahead = np.log(max(relative / max(tol, 1e-300), 1.0)) / np.log(4.0)
                check_at = self.n_iter + max(1, int(min(3.0, ahead)))
                if not self.converged and self.rounding > 0.2 * self.gap:
                    if P.dtype != self.W.dtype:
                        self._set_precision(self.W.dtype)
                        P, P_momentum = P.astype(self.W.dtype), P_momentum.astype(self.W.dtype)
                    elif self.rounding > 0.9 * self.gap:
                        max_iter = self.n_iter  # no precision is left to gain
            self._record(watch)
            if not self.converged:
                Q_momentum = self._maximise_rows(P_momentum, Q)
        if not self.converged:
            # L stands at a momentum point, the gap at an earlier one.
            _, inner = self._primal(P, Q)
            self._certify(inner, Q)
            self.converged = self._relative_gap() <= tol
            if self.history:
                self.history[-1] = (self.gap, self.gap_norm, self.history[-1][2])
        self.dense = self.workspace = None

    def _set_precision(self, dtype):
        """Scratch memory for P and eigenproblems of this type."""
        v, n = len(self.W), self.n
        self.dense = np.zeros((v, n, n), dtype=dtype)  # scattered L, then the next P
        self.workspace = SymmetricWorkspace(n, min(self.slices, v), dtype)

    def _record(self, watch):
        seconds = watch.report(self.n_iter, self._relative_gap())
        self.history.append((self.gap, self.gap_norm, seconds))

    def _relative_gap(self):
        if self.gap <= 0:
            return 0.0
        scale = float(self.lam * self.gap_norm)
        return float(self.gap) / scale if scale > 0 else np.inf

    def _primal(self, P, Q):
        """L <- L(P, Q). Returns the dual value and <P, L>."""
        tubes = self.tubes
        squared, inner = dual_tubes(
            tubes.indptr, tubes.indices, tubes.mirror, self.W, P, Q, self.L,
            lam=self.lam, tau=self.tau, n_threads=self.n_threads,
        )  # fmt: skip
        self.norm_squared = squared
        return self.lam * (self.W_squared - squared), inner

    def _maximise_rows(self, P, Q):
        """Accelerated projected gradient steps of Q, at fixed P."""
        Q_momentum, t = Q, 1.0
        with blas_threads(1):
            for inner_step in range(INNER_STEPS):
                self._primal(P, Q_momentum)
                Q_next = np.empty_like(Q)
                uphill = dual_rows(
                    self.tubes.indptr, self.L, Q_momentum, Q, Q_next,
                    step=2.0 * self.lam, omega2=self.omega2, n_threads=self.n_threads,
                )  # fmt: skip
                moved = np.linalg.norm(Q_next - Q_momentum)
                if inner_step == 0:
                    first = moved
                if moved <= INNER_TOL * first:
                    return Q_next
                if uphill > 0:
                    t = 1.0
                t_next = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
                Q_momentum = Q_next + Q.dtype.type((t - 1.0) / t_next) * (Q_next - Q)
                Q, t = Q_next, t_next
        return Q

    def _eigen(self, kernel, T, threshold):
        before = time.perf_counter()
        with blas_threads(self.blas):
            _, spectrum = kernel(T, threshold, self.workspace, self.slices)
        self.eigen_seconds += time.perf_counter() - before
        return spectrum

    def _certify(self, inner, Q):
        """The duality gap at the current L = L(P, Q), given <P, L>."""
        self.gap_norm = self.norm_squared
        if self.norm_squared == 0.0:
            self.gap = 0.0
            return
        dense = self.dense
        dense[...] = 0
        dense.reshape(len(dense), -1)[:, self.flat] = self.L
        spectrum = self._eigen(symmetric_shrink, dense, np.inf)
        frontal = float(np.abs(spectrum, dtype=np.float64).sum())
        with blas_threads(1):
            rows = row_nuclear_norms(self.tubes.indptr, self.L, self.n_threads)
        gap = self.omega1 * frontal - inner
        gap += self.omega2 * rows - float(np.sum(np.multiply(Q, self.L, dtype=np.float64)))
        # P, Q and the norms are exact up to rounding only.
        P_rounding = self.P_rounding + self._rounding(dense.dtype) * self.omega1
        Q_rounding = self.omega2 * (self._rounding(Q.dtype) + 2e-10)
        self.rounding = P_rounding * frontal + Q_rounding * rows
        self.gap = max(gap, 0.0) + self.rounding

    def _clip_scale(self, spectrum):
        """What the rounding of a clipped matrix is relative to.

        Where most eigenvalues lie outside, the result is built from its own eigenpairs; else the
        kernel subtracts the excess from the matrix, and the matrix's own size counts.
        """
        below = (spectrum < -self.omega1).sum(axis=1)
        above = (spectrum > self.omega1).sum(axis=1)
        subtracted = below + above <= self.n - np.maximum(below, above)
        return max(float(np.abs(spectrum[subtracted]).max(initial=0.0)), self.omega1)

    def _rounding(self, dtype):
        """Relative error of a spectral norm after an n x n eigendecomposition."""
        return 4.0 * np.sqrt(self.n) * float(np.finfo(dtype).eps)


def _merge_histories(problems, lam):
    """Relative gap of the whole problem after iteration k of every block."""
    length = max((len(p.history) for p in problems), default=0)
    gap, squared, seconds = np.zeros(length), np.zeros(length), np.zeros(length)
    for p in problems:
        for k in range(length):
            if p.history:
                entry = p.history[min(k, len(p.history) - 1)]
            else:
                entry = (p.gap, p.gap_norm, 0.0)
            gap[k] += entry[0]
            squared[k] += entry[1]
            seconds[k] = max(seconds[k], entry[2])
    residual = gap / np.where(squared > 0, lam * squared, 1.0)
    return {"residual": residual, "seconds": seconds}


def _assemble(W, problems):
    """The tensor of all blocks, dense or sparse as W is."""
    if isinstance(W, np.ndarray):
        out = np.zeros_like(W)
        for p in problems:
            members, tubes = p.tubes.members, p.tubes
            out[:, members[tubes.rows], members[tubes.indices]] = p.L
        return out
    shape = W[0].shape
    if not problems:
        return [scipy.sparse.csr_array(shape, dtype=A.dtype) for A in W]
    rows = np.concatenate([p.tubes.members[p.tubes.rows] for p in problems])
    columns = np.concatenate([p.tubes.members[p.tubes.indices] for p in problems])
    values = np.concatenate([p.L for p in problems], axis=1)
    out = []
    for A in values:
        kept = A != 0
        out.append(scipy.sparse.csr_array((A[kept], (rows[kept], columns[kept])), shape=shape))
    return out
