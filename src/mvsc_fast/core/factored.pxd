# Similarities that are products of factors: nearest rows, entries, scales and longest tubes.
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy

from .arena cimport Arena

ctypedef fused ordered:
    float
    uint64_t


cdef enum:
    TILE = 512              # rows and columns of a block of inner products: half of a core's cache

cdef inline uint64_t key_of(float value, Py_ssize_t index) noexcept nogil:
    """Orders positive values, and equal ones by index, the smaller first."""
    cdef uint32_t bits
    memcpy(&bits, &value, sizeof(float))
    return (<uint64_t> bits << 32) | ~<uint32_t> index


cdef inline float value_of(uint64_t key) noexcept nogil:
    """The value that is in the upper half of a key."""
    cdef uint32_t bits = <uint32_t> (key >> 32)
    cdef float value
    memcpy(&value, &bits, sizeof(float))
    return value


cdef inline Py_ssize_t index_of(uint64_t key) noexcept nogil:
    """The index that is in the lower half of a key."""
    return ~<uint32_t> key


cdef ordered select_largest(ordered *x, Py_ssize_t n, Py_ssize_t k) noexcept nogil
cdef void sort_descending(uint64_t *keys, Py_ssize_t count) noexcept nogil

cdef int nearest_rows(
    const float *rows,
    Py_ssize_t n,
    Py_ssize_t d,
    Py_ssize_t count,
    int n_threads,
    Arena *arena,
    int32_t *indices,
) noexcept nogil

cdef float local_scale(
    const float *values, Py_ssize_t count, Py_ssize_t rank, float *work
) noexcept nogil

cdef void products(
    const float *u,
    const float *h,
    Py_ssize_t d,
    const Py_ssize_t *indptr,
    const int32_t *indices,
    Py_ssize_t first,
    Py_ssize_t last,
    int n_threads,
    float *values,
) noexcept nogil

cdef void local_scales(
    const float *values,
    const Py_ssize_t *indptr,
    Py_ssize_t first,
    Py_ssize_t last,
    Py_ssize_t rank,
    int n_threads,
    Py_ssize_t widest,
    float *work,
    float *scales,
) noexcept nogil

cdef void longest_tubes(
    const float *values,
    Py_ssize_t v,
    Py_ssize_t n,
    const float *roots,
    const Py_ssize_t *indptr,
    const int32_t *indices,
    Py_ssize_t first,
    Py_ssize_t last,
    float cap,
    Py_ssize_t count,
    int n_threads,
    Py_ssize_t widest,
    float *work,
    int32_t *kept,
    float *entries,
    float *lengths,
) noexcept nogil
