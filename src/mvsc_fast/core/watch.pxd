# Common parts of both TLRR solvers: reports to the user's callback, failures.
from .api cimport mvsc_tlrr_options, mvsc_tlrr_state
from .platform cimport omp_lock_t, omp_set_lock, omp_unset_lock, seconds


cdef struct Watch:
    const mvsc_tlrr_options *options
    double start
    bint stopped                # by the callback
    omp_lock_t lock             # blocks report from several threads


cdef inline void report(Watch *watch, mvsc_tlrr_state *state) noexcept nogil:
    """Report an iteration to the callback, and a stop to all blocks."""
    cdef int wish
    if watch.options.progress == NULL:
        return
    omp_set_lock(&watch.lock)
    state.size = sizeof(mvsc_tlrr_state)
    state.seconds = seconds() - watch.start
    wish = watch.options.progress(state, watch.options.context)
    if wish != 0:
        watch.stopped = True
    omp_unset_lock(&watch.lock)


cdef inline int frontal_threads(Py_ssize_t v, int n_threads) noexcept nogil:
    """Frontal slices worked on side by side, on one BLAS thread each.

    A threaded LAPACK never pays: with two threads it took 3 to 13 times as long as one thread for
    one view and for three, n = 1000 and 2000, both precisions, on a busy machine, where threads
    that wait for each other within every column of the tridiagonal reduction spin.
    """
    return <int> max(1, min(<Py_ssize_t> n_threads, v))


cdef inline bint failed(const int *code, Py_ssize_t count, int *info,
                        Py_ssize_t *index) noexcept nogil:
    """Whether LAPACK failed anywhere; the first info that is not zero, and where."""
    cdef Py_ssize_t j
    for j in range(count):
        if code[j] != 0:
            info[0], index[0] = code[j], j
            return True
    return False
