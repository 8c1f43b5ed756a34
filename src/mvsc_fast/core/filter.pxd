from libc.stdint cimport int32_t

cdef enum:
    FILTER_LANES = 8        # the columns of a block are a multiple of it

cdef void filtered(
    const float *data, const int32_t *indices, const int32_t *indptr, Py_ssize_t n, Py_ssize_t p,
    const double *steps, Py_ssize_t n_steps, int n_threads, float *X, float *Y,
) noexcept nogil
