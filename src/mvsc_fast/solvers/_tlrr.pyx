"""Python's door to the compiled TLRR solvers: arguments, callbacks and exceptions."""

from cpython.exc cimport PyErr_CheckSignals
from cython cimport floating
from libc.string cimport memset

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

import numpy as np

from mvsc_fast._kernels import check_status
from mvsc_fast.validation import check_memory, check_slice_size

SOLVERS = {"dual": MVSC_TLRR_DUAL, "ialm": MVSC_TLRR_IALM}


cdef class Caller:
    """The Python side of a run: its callbacks, and what they raised."""
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
            block=state.block, iteration=state.iteration, final=bool(state.final),
            residual=state.residual, seconds=state.seconds, gap=state.gap,
            gap_scale=state.gap_scale, mu=state.mu, ranks=ranks,
        ))
    except BaseException as error:
        if caller.error is None:
            caller.error = error
        return 1


def solve(
    const floating[:, ::1] data,
    Py_ssize_t n,
    indptr=None,
    indices=None,
    *,
    solver,
    double omega1,
    double alpha,
    double lam,
    double tol,
    Py_ssize_t max_iter,
    int n_threads,
    double mu=1.0,
    double rho=1.0,
    double mu_max=1.0,
    report,
):
    """Solve TLRR.

    Parameters
    ----------
    data : array of shape (v, n * n) or (v, nnz)
        Symmetric slices, whole or on the CSR pattern (indptr, indices); with omega2 alpha too
        small to screen single tubes, the pattern must hold all pairs of every component.
    report : callable
        Gets what the C interface calls a state by keywords, after every iteration.

    Returns
    -------
    dict
        The fields of the C interface's result; ``values``, L in the shape of data; and
        ``labels``, the block of every sample.
    """
    cdef Py_ssize_t v = data.shape[0]
    cdef Source source = dense_source(v, n)
    cdef mvsc_tlrr_options options
    cdef mvsc_tlrr_blocks blocks
    cdef mvsc_tlrr_result result
    cdef Py_ssize_t[::1] label, index_pointer, index
    cdef char[::1] memory
    cdef size_t needed = 0
    cdef int status = MVSC_OK
    cdef Caller caller = Caller()
    cdef const floating *values = &data[0, 0] if data.shape[1] > 0 else NULL
    cdef floating[:, ::1] out
    if indptr is not None:
        index_pointer, index = indptr, indices
        use_pattern(&source, index_pointer, index)
    memset(&options, 0, sizeof(options))
    options.size, options.solver, options.n_threads = sizeof(options), SOLVERS[solver], n_threads
    options.omega1, options.alpha, options.lam = omega1, alpha, lam
    options.tol, options.max_iter = tol, max_iter
    options.mu, options.rho, options.mu_max = mu, rho, mu_max
    options.progress, options.context = on_progress, <void *> caller
    caller.report, caller.v = report, v
    memset(&blocks, 0, sizeof(blocks))
    memset(&result, 0, sizeof(result))
    result.size = sizeof(result)
    labels = np.zeros(n, dtype=np.intp)
    label = labels
    with nogil:
        if options.solver == MVSC_TLRR_DUAL:
            status = tlrr_screen(values, &source, &options, &label[0], &blocks)
        if status == MVSC_OK:
            status = tlrr_workspace(v, n, sizeof(floating), &options, &blocks, &needed)
    if status == MVSC_TOO_LARGE:
        check_slice_size(blocks.largest, "the largest block of W")
    if status == MVSC_OK:
        check_memory(needed + np.asarray(data).nbytes, f"tlrr on {v} views of {n} samples")
        memory = np.empty(needed, dtype=np.int8)
        result_values = np.empty((v, data.shape[1]), dtype=np.asarray(data).dtype)
        out = result_values
        with nogil:
            status = tlrr_solve(values, &source, &out[0, 0] if values != NULL else NULL, &options,
                                &label[0], &memory[0], needed, &result)
    if caller.error is not None:
        raise caller.error
    if status == MVSC_OUT_OF_RANGE:
        largest = float(np.abs(data).max())
        raise ValueError(
            f"lam={lam:g} with entries of W up to {largest:.3g} is out of the range of numbers: "
            "rescale W or change lam"
        )
    if status == MVSC_NO_CONVERGENCE and result.failed_view >= 0:
        check_status(_one(result.failed_view, result.lapack_info), "frontal slice of view")
    if status == MVSC_NO_CONVERGENCE:
        check_status(_one(result.failed_row, result.lapack_info), "row slice")
    if status != MVSC_OK:
        raise RuntimeError(f"the compiled core returned status {status}; please report this as a "
                           "defect of mvsc_fast")
    return {**result, "converged": bool(result.converged), "values": result_values,
            "labels": labels}


cdef void use_pattern(Source *source, Py_ssize_t[::1] indptr, Py_ssize_t[::1] indices) noexcept:
    source.stride = indices.shape[0]
    source.indptr = &indptr[0]
    source.indices = &indices[0] if indices.shape[0] > 0 else NULL


def screen(const floating[:, ::1] data, Py_ssize_t n, indptr, indices, *, double omega1,
           double alpha, double lam):
    """Connected component of every sample of a sparse problem, and the bound on single tubes.

    A negative bound says that no single tube can be screened.
    """
    cdef Source source = dense_source(data.shape[0], n)
    cdef mvsc_tlrr_options options
    cdef mvsc_tlrr_blocks blocks
    options.omega1, options.alpha, options.lam = omega1, alpha, lam
    use_pattern(&source, indptr, indices)
    labels = np.zeros(n, dtype=np.intp)
    cdef Py_ssize_t[::1] label = labels
    tlrr_screen(&data[0, 0] if data.shape[1] > 0 else NULL, &source, &options, &label[0], &blocks)
    return labels, source.bound


def _one(index, info):
    """LAPACK's status of all slices up to the one that failed."""
    return [0] * index + [info]
