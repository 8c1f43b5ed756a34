# Spectral clustering: filtered blocks of vectors, and k-means.
from libc.stdint cimport int32_t

from .arena cimport Arena

cdef enum:
    FILTER_LANES = 8        # the columns of a block are a multiple of it

cdef struct Rows:
    const double *X         # n x d
    const double *weights   # n
    Py_ssize_t n
    Py_ssize_t d

cdef void filtered(
    const float *data,
    const int32_t *indices,
    const int32_t *indptr,
    Py_ssize_t n,
    Py_ssize_t p,
    const double *steps,
    Py_ssize_t n_steps,
    int n_threads,
    float *X,
    float *Y,
) noexcept nogil

cdef int seed_centres(
    const Rows *rows,
    Py_ssize_t k,
    Py_ssize_t trials,
    const double *uniform,
    Arena *arena,
    double *centres,
) noexcept nogil

cdef int lloyd(
    const Rows *rows,
    Py_ssize_t k,
    Py_ssize_t max_iter,
    double tol,
    Arena *arena,
    double *centres,
    int32_t *labels,
    double *inertia,
) noexcept nogil
