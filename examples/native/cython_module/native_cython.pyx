"""Proximal maps and TLRR of mvsc_fast by cimport, on a raw float32 file, without the GIL."""

from libc.stdlib cimport free, malloc

from mvsc_fast cimport (
    CHUNK,
    MVSC_OK,
    MVSC_TLRR_DUAL,
    SHRINK,
    Source,
    dense_source,
    mvsc_tlrr_blocks,
    mvsc_tlrr_options,
    mvsc_tlrr_result,
    mvsc_tlrr_state,
    slice_lwork,
    slice_map,
    tlrr_screen,
    tlrr_solve,
    tlrr_workspace,
    tube_map,
)

import array

import threadpoolctl


def tube_shrink(path, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t, int n_threads):
    """The file's tensor with all tubes shrunk by t, and how many remain."""
    values = _read(path, v * m * n)
    cdef float[::1] T = values
    cdef float *lengths = <float *> malloc(n_threads * CHUNK * sizeof(float))
    cdef Py_ssize_t kept
    if lengths == NULL:
        raise MemoryError
    with nogil:
        kept = tube_map(&T[0], v, m, n, t, n_threads, lengths)
    free(lengths)
    return values.tobytes(), kept


def slice_shrink(path, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t, int n_threads):
    """The file's tensor with the singular values of all row slices shrunk by t."""
    values = _read(path, v * m * n)
    cdef float[::1] T = values
    cdef double *work = <double *> malloc(n_threads * slice_lwork(v, n) * sizeof(double))
    cdef Py_ssize_t *rank = <Py_ssize_t *> malloc(m * sizeof(Py_ssize_t))
    cdef int *code = <int *> malloc(m * sizeof(int))
    if work == NULL or rank == NULL or code == NULL:
        free(work)
        free(rank)
        free(code)
        raise MemoryError
    with nogil:
        slice_map(&T[0], v, m, n, t, SHRINK, n_threads, work, rank, code)
    failed = any(code[j] != 0 for j in range(m))
    free(work)
    free(rank)
    free(code)
    if failed:
        raise ArithmeticError("LAPACK failed on a slice")
    return values.tobytes()


cdef int stop_after(const mvsc_tlrr_state *state, void *context) noexcept nogil:
    """Stop every run after as many iterations as the context says."""
    return state.iteration >= (<Py_ssize_t *> context)[0]


def solve(path, Py_ssize_t v, Py_ssize_t n, double lam, Py_ssize_t iterations):
    """TLRR of the file's similarities, stopped after some iterations, and its result."""
    values = _read(path, v * n * n)
    solution = array.array("f", bytes(4 * len(values)))
    cdef float[::1] W = values, L = solution
    cdef Py_ssize_t[::1] labels = array.array("q", bytes(8 * n))
    cdef Source source = dense_source(v, n)
    cdef mvsc_tlrr_blocks blocks
    cdef mvsc_tlrr_result result
    cdef mvsc_tlrr_options options
    cdef size_t size = 0
    cdef void *workspace
    cdef int status
    options.size, options.solver, options.n_threads = sizeof(options), MVSC_TLRR_DUAL, 1
    options.omega1, options.alpha, options.lam = 0.5, 5.0, lam
    options.tol, options.max_iter = 0.0, 500
    options.progress, options.context = stop_after, &iterations
    result.size = sizeof(result)
    with nogil:
        status = tlrr_screen(&W[0], &source, &options, &labels[0], &blocks)
        if status == MVSC_OK:
            status = tlrr_workspace(v, n, sizeof(float), &options, &blocks, &size)
    workspace = malloc(size)
    if workspace == NULL:
        raise MemoryError
    with threadpoolctl.threadpool_limits(1, "blas"), nogil:
        if status == MVSC_OK:
            status = tlrr_solve(&W[0], &source, &L[0], &options, &labels[0], &blocks, workspace,
                                size, &result)
    free(workspace)
    if status != MVSC_OK:
        raise ArithmeticError(f"TLRR failed with status {status}")
    return solution.tobytes(), list(labels), result


def _read(path, count):
    values = array.array("f")
    with open(path, "rb") as file:
        values.fromfile(file, count)
    return values
