"""TLRR on dense slices or on a sparsity pattern: memory, and the choice of solver."""

from cpython.exc cimport PyErr_CheckSignals
from cython cimport floating
from libc.math cimport frexp, ldexp
from libc.string cimport memset

cimport mvsc_fast._loops as loops
from mvsc_fast._api cimport (
    MVSC_NO_CONVERGENCE,
    MVSC_OK,
    MVSC_OUT_OF_RANGE,
    MVSC_SMALL_WORKSPACE,
    MVSC_TLRR_DUAL,
    MVSC_TLRR_IALM,
    MVSC_TOO_LARGE,
    mvsc_tlrr_blocks,
    mvsc_tlrr_options,
    mvsc_tlrr_result,
    mvsc_tlrr_state,
)
from mvsc_fast._arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from mvsc_fast._clock cimport seconds
from mvsc_fast._dual cimport dual_lay_out, dual_solve
from mvsc_fast._ialm cimport ialm_lay_out, ialm_solve
from mvsc_fast._kernels cimport MAX_SLICE
from mvsc_fast._openmp cimport omp_destroy_lock, omp_init_lock
from mvsc_fast._screening cimport Source, screen as screen_tubes, set_thresholds
from mvsc_fast._watch cimport Watch, frontal_threads

import numpy as np

from mvsc_fast._kernels import check_status
from mvsc_fast.validation import check_memory, check_slice_size

SOLVERS = {"dual": MVSC_TLRR_DUAL, "ialm": MVSC_TLRR_IALM}


cdef Source dense_source(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    cdef Source source
    source.v, source.n, source.stride = v, n, n * n
    source.indptr = source.indices = NULL
    source.scale, source.tau, source.bound = 1.0, 0.0, 0.0
    return source


cdef double normalising_power(const floating *data, Py_ssize_t count) noexcept nogil:
    """1, or the power of two that brings the largest entry near 1 if its squares are in danger.

    W -> s W with lam -> lam / s has the minimiser s L: nothing is squared out of range.
    """
    cdef double largest, limit = 4.29e9 if floating is float else 1.15e77
    cdef int exponent
    loops.finite_maximum(data, count, &largest)
    if largest == 0.0 or 1.0 / limit < largest < limit:
        return 1.0
    frexp(largest, &exponent)
    return ldexp(1.0, min(1 - exponent, 126 if floating is float else 1022))


cdef int tlrr_screen(
    const floating *data,       # the values of the source
    Source *source,             # INOUT scale and thresholds out
    const mvsc_tlrr_options *options,
    Py_ssize_t *labels,         # OUT  n
    mvsc_tlrr_blocks *blocks,   # OUT  all but the size field
) noexcept nogil:
    source.scale = normalising_power(data, source.v * source.stride)
    if not 1e-300 < options.lam / source.scale < 1e150:
        return MVSC_OUT_OF_RANGE
    set_thresholds(source, options.omega1, options.alpha, options.lam / source.scale)
    screen_tubes(data, source, labels, blocks)
    return MVSC_OK if blocks.largest <= MAX_SLICE else MVSC_TOO_LARGE


cdef int tlrr_workspace(
    Py_ssize_t v,
    Py_ssize_t n,
    size_t itemsize,
    const mvsc_tlrr_options *options,
    const mvsc_tlrr_blocks *blocks,     # NULL: what any data can need
    size_t *bytes,                      # OUT
) noexcept nogil:
    cdef Arena arena = counting_arena(), labels
    cdef mvsc_tlrr_blocks worst
    cdef Py_ssize_t[3] largest
    cdef int k
    bytes[0] = 0
    if options.solver == MVSC_TLRR_IALM:
        if n > MAX_SLICE:
            return MVSC_TOO_LARGE
        ialm_lay_out(&arena, v, n, itemsize, options)
    elif blocks != NULL:
        if blocks.largest > MAX_SLICE:
            return MVSC_TOO_LARGE
        take(&arena, n, sizeof(Py_ssize_t))
        dual_lay_out(&arena, v, n, itemsize, blocks, options)
    else:
        # One block; or the largest whose slices are worked on side by side; or all small.
        largest[0], largest[1], largest[2] = min(n, <Py_ssize_t> MAX_SLICE), min(n, 999), min(n, 256)
        take(&arena, n, sizeof(Py_ssize_t))
        labels = arena
        for k in range(3):
            worst.n_blocks, worst.largest, worst.n_tubes = n, largest[k], n * n
            arena = labels
            dual_lay_out(&arena, v, n, itemsize, &worst, options)
            if arena.overflow:
                return MVSC_TOO_LARGE
            bytes[0] = max(bytes[0], workspace_bytes(&arena))
        return MVSC_OK
    if arena.overflow:
        return MVSC_TOO_LARGE
    bytes[0] = workspace_bytes(&arena)
    return MVSC_OK


cdef int tlrr_solve(
    const floating *data,       # the values of the source
    Source *source,             # INOUT
    floating *out,              # OUT  L, in the places of the data
    const mvsc_tlrr_options *options,
    Py_ssize_t *labels,         # OUT  n; NULL: not wanted
    void *workspace,
    size_t bytes,
    mvsc_tlrr_result *result,   # OUT  all but the size field
) noexcept nogil:
    cdef Watch watch
    cdef Arena arena = arena_at(workspace)
    cdef mvsc_tlrr_blocks blocks
    cdef Py_ssize_t *own_labels = labels
    cdef size_t size = result.size, needed
    cdef int status
    memset(result, 0, sizeof(mvsc_tlrr_result))
    result.size, result.failed_view, result.failed_row = size, -1, -1
    watch.options, watch.start, watch.stopped = options, seconds(), False
    if options.solver == MVSC_TLRR_IALM:
        status = tlrr_workspace(source.v, source.n, sizeof(floating), options, NULL, &needed)
    else:
        if bytes < (<size_t> source.n + 16) * sizeof(Py_ssize_t):
            return MVSC_SMALL_WORKSPACE
        own_labels = <Py_ssize_t *> take(&arena, source.n, sizeof(Py_ssize_t))
        if labels != NULL:
            own_labels = labels
        status = tlrr_screen(data, source, options, own_labels, &blocks)
        if status == MVSC_OK:
            status = tlrr_workspace(source.v, source.n, sizeof(floating), options, &blocks,
                                    &needed)
    if status != MVSC_OK:
        return status
    if bytes < needed:
        return MVSC_SMALL_WORKSPACE
    omp_init_lock(&watch.lock)
    if options.solver == MVSC_TLRR_IALM:
        status = ialm_solve(data, out, source.v, source.n, options, &arena, &watch, result)
    else:
        if source.stride > 0:
            memset(out, 0, source.v * source.stride * sizeof(floating))
        status = dual_solve(data, source, out, own_labels, &blocks, options, &arena, &watch,
                            result)
    omp_destroy_lock(&watch.lock)
    result.stopped = watch.stopped
    result.seconds = seconds() - watch.start
    return status


# ------------------------------------------------------------------ Python

cdef class Caller:
    """The Python side of a run: its callbacks, and what they raised."""
    cdef object report
    cdef object set_blas
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


cdef void on_set_blas(void *context, int n_threads) noexcept with gil:
    cdef Caller caller = <Caller> context
    try:
        caller.set_blas(n_threads)
    except BaseException as error:
        if caller.error is None:
            caller.error = error


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
    set_blas,
):
    """Solve TLRR.

    Parameters
    ----------
    data : array of shape (v, n * n) or (v, nnz)
        Symmetric slices, whole or on the CSR pattern (indptr, indices); with omega2 alpha too
        small to screen single tubes, the pattern must hold all pairs of every component.
    report : callable
        Gets what the C interface calls a state by keywords, after every iteration.
    set_blas : callable
        Gets the number of BLAS threads to use.

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
    options.progress, options.set_blas_threads = on_progress, on_set_blas
    options.context = <void *> caller
    caller.report, caller.set_blas, caller.v = report, set_blas, v
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


def split_threads(Py_ssize_t n_views, Py_ssize_t n_samples, int n_threads):
    """Frontal slices worked on at once, and BLAS threads for each (see the C core)."""
    cdef mvsc_tlrr_options options
    cdef int slices, blas
    options.n_threads, options.set_blas_threads = n_threads, on_set_blas
    frontal_threads(n_views, n_samples, &options, &slices, &blas)
    return slices, blas
