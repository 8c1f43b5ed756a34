# What both TLRR solvers share: reports to the user's callback, the threads of eigenproblems, failures.
from .api cimport mvsc_tlrr_options, mvsc_tlrr_state
from .platform cimport seconds
from .platform cimport MVSC_OPENMP, omp_lock_t, omp_set_lock, omp_unset_lock


cdef enum:
    LARGE_SLICE = 1000          # samples from which a threaded LAPACK pays


cdef struct Watch:
    const mvsc_tlrr_options *options
    double start
    bint stopped                # by the callback
    omp_lock_t lock             # blocks report from several threads


cdef inline void report(Watch *watch, mvsc_tlrr_state *state) noexcept nogil:
    """Tell the callback of an iteration, and all blocks of its wish to stop."""
    cdef int wish
    if watch.options.progress == NULL:
        return
    omp_set_lock(&watch.lock)
    state.size = sizeof(mvsc_tlrr_state)
    state.seconds = seconds() - watch.start
    wish = watch.options.progress(state, watch.options.context)
    if wish != 0 and not state.final:
        watch.stopped = True
    omp_unset_lock(&watch.lock)


cdef inline void frontal_threads(Py_ssize_t v, Py_ssize_t n, const mvsc_tlrr_options *options,
                                 int *slices, int *blas) noexcept nogil:
    """Split of the threads over the frontal slices: slices at once, BLAS threads for each.

    Slices side by side scale better than a threaded LAPACK, whose tridiagonal reduction is bound
    by memory; a threaded LAPACK pays where threads are left over and slices are large.
    """
    slices[0] = <int> max(1, min(<Py_ssize_t> options.n_threads, v))
    blas[0] = 1
    if options.set_blas_threads == NULL or (MVSC_OPENMP and (options.n_threads <= v or n < LARGE_SLICE)):
        return
    slices[0], blas[0] = 1, options.n_threads


cdef inline bint failed(const int *code, Py_ssize_t count, int *info,
                        Py_ssize_t *index) noexcept nogil:
    """Whether LAPACK failed anywhere; the first info that is not zero, and where."""
    cdef Py_ssize_t j
    for j in range(count):
        if code[j] != 0:
            info[0], index[0] = code[j], j
            return True
    return False


cdef inline void set_blas(const mvsc_tlrr_options *options, int blas) noexcept nogil:
    options.set_blas_threads(options.context, blas)
