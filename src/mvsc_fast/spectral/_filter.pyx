"""Python binding of core/filter: filtered blocks of vectors."""

from libc.stdint cimport int32_t

from mvsc_fast._utils.memory cimport memory
from mvsc_fast.core.filter cimport FILTER_LANES
from mvsc_fast.core.filter cimport filtered as filtered_block

import numpy as np

LANES = FILTER_LANES


def filtered(A, steps, X, Y, int n_threads=1):
    """For each (scale, shift, keep): X <- scale (A Y - shift Y) - keep X, then X and Y swap.

    Both are changed. ``A`` is a valid csr_array of float32 with indices of int32, and the number of
    columns of X and Y is a multiple of `LANES`.
    """
    cdef Py_ssize_t n = X.shape[0], p = X.shape[1], n_steps = steps.shape[0]
    cdef const float *data = <float *> memory(A.data, np.float32)
    cdef const int32_t *indices = <int32_t *> memory(A.indices, np.int32, A.data.shape, "indices")
    cdef const int32_t *indptr = <int32_t *> memory(A.indptr, np.int32, (n + 1,), "indptr")
    cdef const double *step = <double *> memory(steps, np.float64, (n_steps, 3), "steps")
    cdef float *x = <float *> memory(X, np.float32)
    cdef float *y = <float *> memory(Y, np.float32, (n, p), "Y")
    if p % LANES:
        raise ValueError(f"the number of columns must be a multiple of {LANES}, got {p}")
    with nogil:
        filtered_block(data, indices, indptr, n, p, step, n_steps, n_threads, x, y)
    return (Y, X) if n_steps % 2 else (X, Y)
