"""Python binding of the compiled TLRR solvers: arguments, callbacks and exceptions."""

from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memset

from mvsc_fast._utils.memory cimport check_pattern, memory
from mvsc_fast.core.api cimport (
    MVSC_NO_CONVERGENCE,
    MVSC_OK,
    MVSC_OUT_OF_RANGE,
    MVSC_TLRR_DUAL,
    MVSC_TLRR_IALM,
    MVSC_TOO_LARGE,
    mvsc_tlrr_blocks,
    mvsc_tlrr_options,
    mvsc_tlrr_result,
    mvsc_tlrr_state,
)
from mvsc_fast.core.screening cimport Source
from mvsc_fast.core.tlrr cimport dense_source, tlrr_screen, tlrr_solve, tlrr_workspace

from collections import namedtuple

import numpy as np

from mvsc_fast._kernels import check_lapack
from mvsc_fast._utils.validation import check_memory, check_slice_size

SOLVERS = {"dual": MVSC_TLRR_DUAL, "ialm": MVSC_TLRR_IALM}
Screening = namedtuple("Screening", "labels n_blocks largest n_tubes bound")


cdef class Caller:
    """The callbacks of a run, and the exceptions that they raised."""
    cdef object report
    cdef object error
    cdef Py_ssize_t v


cdef int on_progress(const mvsc_tlrr_state *state, void *context) noexcept with gil:
    cdef Caller caller = <Caller> context
    cdef Py_ssize_t i
    try:
        PyErr_CheckSignals()
        ranks = [state.ranks[i] for i in range(caller.v)] if state.ranks != NULL else None
        return bool(caller.report(
            block=state.block, iteration=state.iteration, residual=state.residual,
            seconds=state.seconds, gap=state.gap, gap_scale=state.gap_scale, mu=state.mu,
            ranks=ranks,
        ))
    except BaseException as error:
        if caller.error is None:
            caller.error = error
        return 1


cdef class Problem:
    """Description of a problem for the core, without the values of its slices."""
    cdef Source source
    cdef mvsc_tlrr_options options
    cdef object arrays          # that both point into

    def __cinit__(
        self, Py_ssize_t v, Py_ssize_t n, indptr, indices, *, solver="dual", double omega1,
        double alpha, double lam, double tol=0.0, Py_ssize_t max_iter=0, int n_threads=1,
        double mu=1.0, double rho=1.0, double mu_max=1.0, sample_weight=None,
    ):
        self.source = dense_source(v, n)
        if indptr is not None:
            check_pattern(indptr, indices, 0, n, n)
            self.source.stride = len(indices)
            self.source.indptr = <Py_ssize_t *> memory(indptr, np.intp, (n + 1,), "indptr")
            self.source.indices = <Py_ssize_t *> memory(indices, np.intp, (indptr[n],), "indices")
        memset(&self.options, 0, sizeof(mvsc_tlrr_options))
        self.options.size, self.options.solver = sizeof(mvsc_tlrr_options), SOLVERS[solver]
        self.options.omega1, self.options.alpha, self.options.lam = omega1, alpha, lam
        self.options.tol, self.options.max_iter = tol, max_iter
        self.options.n_threads = n_threads
        self.options.mu, self.options.rho, self.options.mu_max = mu, rho, mu_max
        if sample_weight is not None:
            self.options.sample_weight = <double *> memory(sample_weight, np.float64, (n,),
                                                           "sample_weight")
        self.arrays = indptr, indices, sample_weight


def screen(data, Py_ssize_t n, indptr=None, indices=None, **model):
    """Split a problem, as for `solve` but on any pattern, into independent blocks.

    Returns ``labels``, the block of every sample; ``n_blocks``; ``largest``, the size of the
    largest block; ``n_tubes``, the number of tubes that may be non-zero; and ``bound``: tubes of at
    most this length are certain to be zero. It is negative if single tubes cannot be screened.
    """
    cdef Problem problem = Problem(data.shape[0], n, indptr, indices, **model)
    cdef mvsc_tlrr_blocks blocks
    cdef bint single = data.dtype == np.float32
    cdef void *values = memory(data, np.float32 if single else np.float64,
                               (problem.source.v, problem.source.stride), "data")
    labels = np.empty(n, dtype=np.intp)
    cdef Py_ssize_t *label = <Py_ssize_t *> memory(labels, np.intp)
    cdef int status
    with nogil:
        if single:
            status = tlrr_screen(<const float *> values, &problem.source, &problem.options, label,
                                 &blocks)
        else:
            status = tlrr_screen(<const double *> values, &problem.source, &problem.options, label,
                                 &blocks)
    if status == MVSC_TOO_LARGE:
        check_slice_size(blocks.largest, "the largest block of W")
    _check(status, data, problem.options.lam)
    return Screening(labels, blocks.n_blocks, blocks.largest, blocks.n_tubes,
                     problem.source.bound / problem.source.scale)


def solve(
    data,
    Py_ssize_t n,
    indptr=None,
    indices=None,
    *,
    screening=None,
    report,
    **model,
):
    """Solve TLRR; a dict of the result's fields in the C interface, and ``values``, L as data.

    ``data`` has the symmetric slices, of shape (v, n * n), or (v, nnz) on the CSR pattern (indptr,
    indices). If omega2 alpha is too small to screen single tubes, the pattern must contain all
    pairs of every component. The published iteration needs no ``screening``. ``report`` is called
    after every iteration with the fields of the state in the C interface as keywords.
    """
    cdef Py_ssize_t v = data.shape[0]
    cdef Problem problem = Problem(v, n, indptr, indices, **model)
    cdef mvsc_tlrr_blocks blocks
    cdef mvsc_tlrr_result result
    cdef bint single = data.dtype == np.float32
    cdef void *values = memory(data, np.float32 if single else np.float64,
                               (v, problem.source.stride), "data")
    cdef const Py_ssize_t *labels = NULL
    cdef const mvsc_tlrr_blocks *known = NULL
    cdef size_t needed = 0
    cdef int status
    cdef Caller caller = Caller()
    caller.report, caller.v = report, v
    problem.options.progress, problem.options.context = on_progress, <void *> caller
    memset(&result, 0, sizeof(result))
    result.size = sizeof(result)
    if screening is not None:
        labels = <const Py_ssize_t *> memory(screening.labels, np.intp, (n,), "labels")
        known = &blocks
        blocks.n_blocks, blocks.largest = screening.n_blocks, screening.largest
        blocks.n_tubes = screening.n_tubes
    _check(tlrr_workspace(v, n, data.itemsize, &problem.options, known, &needed), data,
           problem.options.lam)
    check_memory(needed + data.nbytes, f"tlrr on {v} views of {n} samples",
                 "pass float32 input, which needs half of it, or a sparser W, which splits into "
                 "smaller blocks, or cluster a subsample")
    work, L = np.empty(needed, dtype=np.int8), np.empty_like(data)
    cdef void *workspace = memory(work, np.int8)
    cdef void *out = memory(L, data.dtype)
    with nogil:
        if single:
            status = tlrr_solve(<const float *> values, &problem.source, <float *> out,
                                &problem.options, labels, known, workspace, needed, &result)
        else:
            status = tlrr_solve(<const double *> values, &problem.source, <double *> out,
                                &problem.options, labels, known, workspace, needed, &result)
    if caller.error is not None:
        raise caller.error
    if status == MVSC_NO_CONVERGENCE and result.failed_view >= 0:
        check_lapack(result.lapack_info, "frontal slice of view", result.failed_view)
    if status == MVSC_NO_CONVERGENCE:
        check_lapack(result.lapack_info, "row slice", result.failed_row)
    _check(status, data, problem.options.lam)
    return {**result, "converged": bool(result.converged), "values": L}


def _check(status, data, lam):
    """Raise the exception for a status that argument checks do not cover."""
    if status == MVSC_OUT_OF_RANGE:
        largest = float(np.abs(data).max(initial=0))
        raise ValueError(
            f"lam={lam:g} with entries of W up to {largest:.3g} is out of the range of numbers: "
            "rescale W or change lam"
        )
    if status != MVSC_OK:
        raise RuntimeError(f"the compiled core returned status {status}; please report this as a "
                           "defect of mvsc_fast")
