# Similarities that are products of factors: nearest rows, entries, scales and longest tubes.
from libc.stdint cimport int32_t

from .arena cimport Arena

cdef int nearest_rows(
    const float *rows, Py_ssize_t n, Py_ssize_t d, Py_ssize_t count, int n_threads, Arena *arena,
    int32_t *indices,
) noexcept nogil

cdef void products(
    const float *u, const float *h, Py_ssize_t d, const Py_ssize_t *indptr, const int32_t *indices,
    Py_ssize_t first, Py_ssize_t last, int n_threads, float *values,
) noexcept nogil

cdef void local_scales(
    const float *values, const Py_ssize_t *indptr, Py_ssize_t first, Py_ssize_t last,
    Py_ssize_t rank, int n_threads, Py_ssize_t widest, float *work, float *scales,
) noexcept nogil

cdef void longest_tubes(
    const float *values, Py_ssize_t v, Py_ssize_t n, const float *roots, const Py_ssize_t *indptr,
    const int32_t *indices, Py_ssize_t first, Py_ssize_t last, float cap, Py_ssize_t count,
    int n_threads, Py_ssize_t widest, float *work, int32_t *kept, float *entries, float *lengths,
) noexcept nogil
