# What both TLRR solvers share: reports to the user's callback, and the threads of eigenproblems.
from mvsc_fast._api cimport mvsc_tlrr_options, mvsc_tlrr_state
from mvsc_fast._clock cimport seconds
from mvsc_fast._openmp cimport MVSC_OPENMP, omp_lock_t, omp_set_lock, omp_unset_lock


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
    if options.set_blas_threads == NULL or (MVSC_OPENMP and (options.n_threads <= v or n < 1000)):
        return
    slices[0], blas[0] = 1, options.n_threads


cdef inline void set_blas(const mvsc_tlrr_options *options, int blas) noexcept nogil:
    options.set_blas_threads(options.context, blas)
