"""Python binding of core/cut: filtered blocks of vectors, and k-means."""

from libc.stdint cimport int32_t

from mvsc_fast._utils.memory cimport memory
from mvsc_fast.core.arena cimport Arena, arena_at, counting_arena, workspace_bytes
from mvsc_fast.core.cut cimport FILTER_LANES, Rows, lloyd, seed_centres
from mvsc_fast.core.cut cimport filtered as filtered_block

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


def k_means(X, weights, centres, uniform, Py_ssize_t max_iter, double tol):
    """k-means from the given centres, or from those that ``uniform`` draws by k-means++.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64
    weights : ndarray of shape (n,), float64
    centres : ndarray of shape (k, d), float64
        Overwritten by those found.
    uniform : ndarray of float64 or None
        One number in [0, 1) for the first centre, then those for the candidates of each other.
    max_iter : int
    tol : float
        Of the sum of squared movements of the centres.

    Returns
    -------
    inertia : float
    labels : ndarray of shape (n,), int32
    """
    cdef Rows rows
    cdef Py_ssize_t k = centres.shape[0], trials = 0
    cdef const double *numbers = NULL
    cdef double inertia = 0.0
    rows.n, rows.d = X.shape
    rows.X = <double *> memory(X, np.float64)
    rows.weights = <double *> memory(weights, np.float64, (rows.n,), "weights")
    cdef double *centre = <double *> memory(centres, np.float64, (k, rows.d), "centres")
    labels = np.empty(rows.n, dtype=np.int32)
    cdef int32_t *label = <int32_t *> memory(labels, np.int32)
    cdef Arena arena = counting_arena()
    if uniform is not None:
        trials = max(1, (uniform.size - 1) // max(k - 1, 1))
        numbers = <double *> memory(uniform, np.float64, (1 + (k - 1) * trials,), "uniform")
        seed_centres(&rows, k, trials, numbers, &arena, centre)
    lloyd(&rows, k, max_iter, tol, &arena, centre, label, &inertia)
    if arena.overflow:
        raise MemoryError(f"k-means of {rows.n} rows needs more memory than can be addressed")
    workspace = np.empty(workspace_bytes(&arena), dtype=np.int8)
    arena = arena_at(memory(workspace, np.int8))
    with nogil:
        if numbers != NULL:
            seed_centres(&rows, k, trials, numbers, &arena, centre)
        lloyd(&rows, k, max_iter, tol, &arena, centre, label, &inertia)
    return inertia, labels
