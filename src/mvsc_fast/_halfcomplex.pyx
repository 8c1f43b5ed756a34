"""Proximal map of the tensor nuclear norm in the real form of a Fourier transform."""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fmax, sqrt

cimport mvsc_fast.core.lapack as la
cimport mvsc_fast.core.loops as loops
from mvsc_fast._kernels cimport SHRINK, row_lwork, row_operator, spectral_factor
from mvsc_fast.core.lapack cimport blas_int
from mvsc_fast.core.platform cimport omp_get_thread_num

import numpy as np

from mvsc_fast._kernels import check_status

# A Gram matrix holds singular values down to sqrt(eps) * s_max; shrinking needs 1e-10 of s_max.
cdef double GRAM_LIMIT = 100 * 1.5e-8
cdef double SQRT2 = sqrt(2.0)


cdef Py_ssize_t pair_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that pair_operator needs."""
    return 2 * (v * v + v * n + n + 64 * v + 256) + v + 8 * v + 64


cdef int pair_operator(
    const double *rows,         # IN   2v x n: real parts of all views, then imaginary parts
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    double *mapper,             # OUT  2v x 2v: the shrunken slice is mapper @ rows
    double *work,
    Py_ssize_t *rank,
) noexcept nogil:
    cdef double complex *basis = <double complex *> work
    cdef double complex *copy = basis + v * v
    cdef double complex *scratch = copy + v * n
    cdef blas_int lwork = <blas_int> (n + 64 * v + 256), info, size = <blas_int> n
    cdef double *s = <double *> (scratch + lwork)
    cdef double *rwork = s + v
    cdef Py_ssize_t p, q, r, k
    cdef const double *x
    cdef const double *y
    cdef double complex total

    for p in range(v):
        for q in range(p, v):
            x = rows + p * n
            y = rows + q * n
            basis[p * v + q] = (la.dot(size, x, y) + la.dot(size, x + v * n, y + v * n)
                                + 1j * (la.dot(size, x, y + v * n) - la.dot(size, x + v * n, y)))
    info = la.heev(<blas_int> v, basis, s, scratch, lwork, rwork)
    if info < 0:
        return <int> info
    if info > 0 or t < GRAM_LIMIT * sqrt(fmax(s[v - 1], 0.0)):
        for p in range(v):
            for k in range(n):
                copy[p * n + k] = rows[p * n + k] + 1j * rows[(v + p) * n + k]
        info = la.right_singular_complex(size, <blas_int> v, copy, s, basis, scratch, lwork, rwork)
        if info != 0:
            return <int> info
        for q in range(min(v, n), v):
            s[q] = 0.0
        for p in range(v):
            for q in range(p):
                total = basis[p * v + q]
                basis[p * v + q] = basis[q * v + p]
                basis[q * v + p] = total
    else:
        for q in range(v):
            s[q] = sqrt(fmax(s[q], 0.0))
    rank[0] = 0
    for q in range(v):
        rank[0] += s[q] > t
        s[q] = spectral_factor(s[q], t, SHRINK)
    for p in range(v):
        for q in range(v):
            total = 0.0
            for r in range(v):
                total = total + basis[r * v + p] * s[r] * basis[r * v + q].conjugate()
            mapper[p * 2 * v + q] = mapper[(v + p) * 2 * v + v + q] = total.real
            mapper[(v + p) * 2 * v + q] = total.imag
            mapper[p * 2 * v + v + q] = -total.imag
    return 0


def halfcomplex_shrink(floating[:, :, ::1] T, double t, int n_threads=1):
    """Shrink the singular values of the complex slices of a halfcomplex tensor, in place.

    The middle axis holds the orthonormal real form of a discrete Fourier transform of length m:
    row 0, then the real and the imaginary part (times sqrt 2) of every frequency, then, for even
    m, the highest frequency. With t the threshold divided by sqrt(m), this is the proximal map of
    the tensor nuclear norm (Xie et al. 2018, Eq. 18); a pair of rows is shrunk by sqrt(2) t.

    Returns
    -------
    ndarray of shape (m // 2 + 1,)
        Number of singular values above the threshold for every frequency.
    """
    cdef Py_ssize_t v = T.shape[0], m = T.shape[1], n = T.shape[2]
    cdef Py_ssize_t frequencies = m // 2 + 1, f, i, k, pair, height, row
    cdef Py_ssize_t size = 2 * v * n + 4 * v * v + pair_lwork(v, n) + row_lwork(v, n)
    ranks = np.zeros(frequencies, dtype=np.intp)
    status = np.zeros(frequencies, dtype=np.intc)
    cdef Py_ssize_t[::1] rank = ranks
    cdef int[::1] code = status
    cdef double[:, ::1] work
    cdef double *rows
    cdef double *mapper
    cdef floating *entry
    if v * m * n == 0:
        return ranks
    work = np.empty((n_threads, size))
    for f in prange(frequencies, nogil=True, num_threads=n_threads, schedule="static"):
        rows = &work[omp_get_thread_num(), 0]
        mapper = rows + 2 * v * n
        pair = 0 < f and 2 * f < m
        height = (1 + pair) * v
        for i in range(height):
            row = 2 * f - (f > 0) + (i >= v)
            entry = &T[i % v, row, 0]
            for k in range(n):
                rows[i * n + k] = entry[k]
        if pair:
            code[f] = pair_operator(rows, v, n, SQRT2 * t, mapper, mapper + 4 * v * v, &rank[f])
        else:
            code[f] = row_operator(rows, v, n, t, SHRINK, mapper, mapper + 4 * v * v, &rank[f])
        if code[f] == 0:
            for i in range(height):
                row = 2 * f - (f > 0) + (i >= v)
                loops.combine(mapper + i * height, rows, height, n, n, &T[i % v, row, 0])
    check_status(status, "frequency")
    return ranks
