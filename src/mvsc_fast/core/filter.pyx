"""Polynomial filters of blocks of vectors, for eigenvectors of sparse matrices."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t

cdef extern from "filter_loops.h" nogil:
    void mvsc_filter_row(const float *data, const int32_t *indices, Py_ssize_t count,
                         const float *Y, Py_ssize_t p, const float *own, float scale, float shift,
                         float keep, float *out)


cdef void filtered(
    const float *data,          # of a sparse matrix A, n x n
    const int32_t *indices,
    const int32_t *indptr,
    Py_ssize_t n,
    Py_ssize_t p,               # a multiple of FILTER_LANES
    const double *steps,        # n_steps x 3
    Py_ssize_t n_steps,
    int n_threads,
    float *X,                   # IN OUT  n x p
    float *Y,                   # IN OUT  n x p
) noexcept nogil:
    """For each (scale, shift, keep): X <- scale (A Y - shift Y) - keep X, then X and Y swap."""
    cdef Py_ssize_t s, j
    cdef float scale, shift, keep
    for s in range(n_steps):
        scale = <float> steps[3 * s]
        shift = <float> steps[3 * s + 1]
        keep = <float> steps[3 * s + 2]
        for j in prange(n, num_threads=n_threads, schedule="static"):
            mvsc_filter_row(data + indptr[j], indices + indptr[j], indptr[j + 1] - indptr[j], Y, p,
                            Y + j * p, scale, shift, keep, X + j * p)
        X, Y = Y, X
