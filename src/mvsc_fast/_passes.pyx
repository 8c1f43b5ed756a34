"""Fused passes of the solvers: everything of an iteration but its eigenproblems, in one sweep."""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs, fmax, sqrt
from libc.string cimport memset

cimport mvsc_fast.core.loops as loops
from mvsc_fast._kernels cimport CHUNK, CLIP, SHRINK, row_basis, row_lwork, row_operator
from mvsc_fast.core.platform cimport omp_get_thread_num

import numpy as np

from mvsc_fast._kernels import check_status


# ------------------------------------------------------------------ recovery: TRPCA and SNN

def trpca_pass(
    const floating[:, :, ::1] W,
    floating[:, :, ::1] L,
    floating[:, :, ::1] S,
    floating[:, :, ::1] Y,
    floating[:, :, ::1] X,
    const double[:, ::1] basis,
    *,
    double lam,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one TRPCA iteration but the shrinkage of L, in one sweep over memory.

    On entry X holds the coefficients of the new L along the views in the orthonormal ``basis``
    (v x v, columns); on exit those of ``W - S - Y / mu_next``. L, S and the multiplier Y change in
    place.

    Returns
    -------
    float
        Largest entry of ``|L + S - W|`` and of the changes of L and S.
    """
    cdef Py_ssize_t v = W.shape[0], m = W.shape[1], n = W.shape[2], j, i, p, at, width
    cdef double[:, ::1] work = np.empty((n_threads, 2 * v * CHUNK))
    cdef floating[:, ::1] rows = np.empty((n_threads, CHUNK), dtype=np.asarray(W).dtype)
    cdef floating[:, ::1] change = np.zeros((n_threads, CHUNK), dtype=np.asarray(W).dtype)
    cdef double[:, ::1] transposed = np.ascontiguousarray(np.transpose(basis))
    cdef double *hat
    cdef double *argument
    cdef floating *row
    cdef int thread
    for j in prange(m, nogil=True, num_threads=n_threads, schedule="static"):
        thread = omp_get_thread_num()
        hat = &work[thread, 0]
        argument = hat + v * CHUNK
        row = &rows[thread, 0]
        at = 0
        while at < n:
            width = min(<Py_ssize_t> CHUNK, n - at)
            for i in range(v):
                for p in range(width):
                    hat[i * CHUNK + p] = X[i, j, at + p]
            for i in range(v):
                loops.combine(&basis[i, 0], hat, v, CHUNK, width, row)
                loops.trpca_update(&W[i, j, at], &L[i, j, at], &S[i, j, at], &Y[i, j, at], row, lam,
                                   mu, mu_next, width, argument + i * CHUNK, &change[thread, 0])
            for i in range(v):
                loops.combine(&transposed[i, 0], argument, v, CHUNK, width, &X[i, j, at])
            at = at + width
    return float(np.max(change))


cdef enum:
    TILE = 32               # edge of the tiles in which transposed entries are visited


cdef double snn_tile(
    const floating *w,          # everything: v slices of n x n
    floating *e,
    floating *l1,
    floating *y1,
    floating *x,
    floating *l3,
    floating *y3,
    const double *mapper,       # v x v: L3 is mapper @ (W - E - Y3 / mu)
    double mu,
    double mu_next,
    Py_ssize_t v,
    Py_ssize_t n,
    Py_ssize_t j_first,
    Py_ssize_t k_first,
    double *argument,           # v x TILE
    double *gram,               # INOUT v x v
) noexcept nogil:
    """Update the entries (j, k) of a tile with k >= j, and their mirror images."""
    cdef Py_ssize_t j, k, i, p, q, start, at, mirror, width, square = n * n
    cdef double change = 0.0, r1, r2, r3, new3, low, a, t = 1.0 / (3.0 * mu), error, weight
    for j in range(j_first, min(j_first + TILE, n)):
        start = max(k_first, j)
        width = min(k_first + TILE, n) - start
        for i in range(v):
            at = i * square + j * n + start
            for k in range(width):
                argument[i * TILE + k] = w[at + k] - e[at + k] - y3[at + k] / mu
        for i in range(v):
            for k in range(width):
                at = i * square + j * n + start + k
                mirror = i * square + (start + k) * n + j
                new3 = 0.0
                for p in range(v):
                    new3 = new3 + mapper[i * v + p] * argument[p * TILE + k]
                a = w[at] - (x[at] + x[mirror] + new3 + (y1[at] + y1[mirror] + y3[at]) / mu) / 3.0
                error = a - t if a > t else (a + t if a < -t else 0.0)
                r1 = x[at] + error - w[at]
                r2 = x[mirror] + error - w[at]
                r3 = new3 + error - w[at]
                change = fmax(change, fmax(fabs(r1), fmax(fabs(r2), fabs(r3))))
                change = fmax(change, fmax(fabs(x[at] - l1[at]), fabs(x[mirror] - l1[mirror])))
                change = fmax(change, fmax(fabs(error - e[at]), fabs(new3 - l3[at])))
                l1[at] = x[at]
                l1[mirror] = x[mirror]
                l3[at] = l3[mirror] = <floating> new3
                e[at] = e[mirror] = <floating> error
                y3[at] = y3[mirror] = <floating> (y3[at] + mu * r3)
                y1[at] = <floating> (y1[at] + mu * r1)
                x[at] = <floating> (w[at] - error - y1[at] / mu_next)
                if mirror != at:
                    y1[mirror] = <floating> (y1[mirror] + mu * r2)
                    x[mirror] = <floating> (w[at] - error - y1[mirror] / mu_next)
        for i in range(v):
            at = i * square + j * n + start
            for k in range(width):
                argument[i * TILE + k] = w[at + k] - e[at + k] - y3[at + k] / mu_next
        for p in range(v):
            for q in range(p, v):
                low = 0.0
                for k in range(width):
                    weight = 1.0 if start + k == j else 2.0
                    low = low + weight * argument[p * TILE + k] * argument[q * TILE + k]
                gram[p * v + q] += low
    return change


def snn_pass(
    const floating[:, :, ::1] W,
    floating[:, :, ::1] E,
    floating[:, :, ::1] L1,
    floating[:, :, ::1] Y1,
    floating[:, :, ::1] X,
    floating[:, :, ::1] L3,
    floating[:, :, ::1] Y3,
    const double[:, ::1] mapper,
    *,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one SNN iteration on symmetric slices but its shrinkages, in one sweep.

    On entry X holds the new L1, on exit its next argument ``W - E - Y1 / mu_next``. L3 is
    ``mapper @ (W - E - Y3 / mu)`` along the views. The block of the columns is the transpose of
    the block of the rows, and is not stored. All arrays but W change in place.

    Returns
    -------
    change : float
        Largest entry of the constraint residuals and of the changes of all blocks.
    gram : ndarray of shape (v, v)
        Gram matrix along the views of the next argument ``W - E - Y3 / mu_next``.
    """
    cdef Py_ssize_t v = W.shape[0], n = W.shape[1], row, column, tiles = (n + TILE - 1) // TILE
    cdef double[:, ::1] argument = np.empty((n_threads, v * TILE))
    cdef double[:, :, ::1] grams = np.zeros((max(tiles, 1), v, v))
    cdef double[:, ::1] change = np.zeros((max(tiles, 1), max(tiles, 1)))
    for row in prange(tiles, nogil=True, num_threads=n_threads, schedule="static", chunksize=1):
        for column in range(row, tiles):
            change[row, column] = snn_tile(
                &W[0, 0, 0], &E[0, 0, 0], &L1[0, 0, 0], &Y1[0, 0, 0], &X[0, 0, 0], &L3[0, 0, 0],
                &Y3[0, 0, 0], &mapper[0, 0], mu, mu_next, v, n, row * TILE, column * TILE,
                &argument[omp_get_thread_num(), 0], &grams[row, 0, 0])
    gram = np.triu(np.sum(grams, axis=0))
    return float(np.max(change)), gram + np.triu(gram, 1).T
