# Common parts of both TLRR solvers: reports to the user's callback, failures.
from .api cimport mvsc_tlrr_options, mvsc_tlrr_state
from .platform cimport omp_lock_t, omp_set_lock, omp_unset_lock, seconds


cdef struct Watch:
    const mvsc_tlrr_options *options
    double start
    bint stopped                # by the callback
    omp_lock_t lock             # guards the callback and ``stopped``: blocks run in several threads


cdef inline void report(Watch *watch, mvsc_tlrr_state *state) noexcept nogil:
    """Report an iteration to the callback; if it asks to stop, all blocks stop."""
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


cdef inline bint is_stopped(Watch *watch) noexcept nogil:
    """Whether the callback has stopped the solver."""
    cdef bint stopped
    omp_set_lock(&watch.lock)
    stopped = watch.stopped
    omp_unset_lock(&watch.lock)
    return stopped


cdef inline int frontal_threads(Py_ssize_t v, int n_threads) noexcept nogil:
    """Number of frontal slices that are mapped at the same time, each with one BLAS thread.

    A threaded LAPACK was never faster: on a busy machine two threads took 3 to 13 times as long as
    one, for one and three views, n = 1000 and 2000 and both precisions, because they wait actively
    for each other in every column of the tridiagonal reduction.
    """
    return <int> max(1, min(<Py_ssize_t> n_threads, v))


cdef inline bint failed(const int *code, Py_ssize_t count, int *info,
                        Py_ssize_t *index) noexcept nogil:
    """Whether LAPACK failed; the first info that is not zero, and its index."""
    cdef Py_ssize_t j
    for j in range(count):
        if code[j] != 0:
            info[0], index[0] = code[j], j
            return True
    return False
