"""Singular value shrinkage of large matrices: frontal slices and unfoldings of a tensor.

All go through one n x n Gram matrix, real or complex: its tridiagonal form, all eigenvalues, and
eigenvectors for those above the threshold only. Tensors are C-contiguous of shape (v, n, n); LAPACK
sees every slice as its transpose. Everything is in place; threads are those of BLAS.
"""

from cython cimport floating
from libc.math cimport fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .lapack cimport blas_int, doublecomplex, floatcomplex, number
from .symmetric cimport Recipe, tridiagonal_values, tridiagonal_vectors

# Eigenvalues of a Gram matrix do not resolve singular values below sqrt(eps) * s_max: under this
# ratio of t to s_max all eigenvectors are taken, and the lengths of their images decide.
cdef double GRAM_LIMIT = 1.5e-6
cdef double GRAM_LIMIT_SINGLE = 3e-2


cdef double norm_bound(const number *m, Py_ssize_t v, Py_ssize_t n, Side side,
                       double *sums) noexcept nogil:
    """An upper bound of the unfolding's spectral norm: Frobenius, or sqrt(||.||_1 ||.||_inf)."""
    cdef Py_ssize_t i, j, k
    cdef double squares = 0.0, across = 0.0, along = 0.0, size, total
    cdef double *other = sums + n
    memset(sums, 0, n * sizeof(double))
    for i in range(v):
        memset(other, 0, n * sizeof(double))
        for j in range(n):
            total = 0.0
            for k in range(n):
                size = abs(m[(i * n + j) * n + k])
                squares += size * size
                total += size
                other[k] += size
            if side == ROWS:
                sums[j] += total
            else:
                across = fmax(across, total)
        for k in range(n):
            if side == ROWS:
                across = fmax(across, other[k])
            else:
                sums[k] += other[k]
    for j in range(n):
        along = fmax(along, sums[j])
    return min(sqrt(squares), sqrt(across) * sqrt(along))


cdef int unfolding_map(
    number *m,                  # INOUT v slices, n x n, row-major
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Side side,
    number *work,               # 3 n n + n
    double *real_work,          # 2 n n + 32 n
    blas_int *iwork,            # 12 n + 64
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    cdef number *gram = work
    cdef number *vectors = gram + n * n
    cdef number *image = vectors + n * n
    cdef number *tau = image + n * n
    cdef double *z = real_work
    cdef double *scratch = z + n * n                # n n + 24 n
    cdef double *d = scratch + n * n + 24 * n
    cdef double *e = d + n
    cdef double *spectrum = e + n
    cdef double *copy = spectrum + n
    cdef double limit = GRAM_LIMIT, largest
    cdef float *single
    cdef Py_ssize_t i, j, k, r = 0
    cdef blas_int size = <blas_int> n, columns, info
    cdef Recipe recipe

    rank[0] = 0
    if norm_bound(m, v, n, side, scratch) <= t:
        memset(m, 0, v * n * n * sizeof(number))
        return 0

    # Column-major M_i = T_i^T: rows of T give sum M_i^H M_i, columns sum M_i M_i^H.
    for i in range(v):
        la.herk_lower(size, size, m + i * n * n, side == ROWS, i > 0, gram)
    info = la.hetrd(size, gram, d, e, tau, image, <blas_int> (n * n))
    if info != 0:
        return <int> info
    if number is float or number is floatcomplex:
        limit = GRAM_LIMIT_SINGLE
        single = <float *> d
        for j in range(n):
            spectrum[j] = single[j]
        memcpy(d, spectrum, n * sizeof(double))
        single = <float *> e
        for j in range(n - 1):
            spectrum[j] = single[j]
        memcpy(e, spectrum, (n - 1) * sizeof(double))
    info = tridiagonal_values(n, d, e, spectrum, copy)
    if info != 0:
        return <int> info
    largest = sqrt(fmax(spectrum[n - 1], 0.0))
    if t < limit * largest:
        r = n
    else:
        for j in range(n):
            r += spectrum[j] > t * t
    if r == 0:
        memset(m, 0, v * n * n * sizeof(number))
        return 0

    recipe.low, recipe.high = 0, n - r
    info = tridiagonal_vectors(n, d, e, z, &recipe, scratch, iwork)
    if info != 0:
        return <int> info
    for j in range(n * r):
        vectors[j] = <number> z[j]
    columns = <blas_int> r
    info = la.unmtr(size, columns, gram, tau, vectors, image, <blas_int> (n * n))
    if info != 0:
        return <int> info

    # The images of the eigenvectors replace the slices, their lengths are the singular values.
    memset(spectrum, 0, r * sizeof(double))
    for i in range(v):
        la.gemm(side == COLUMNS, False, size, columns, size, m + i * n * n, size, vectors, size,
                image, size)
        for j in range(r):
            for k in range(n):
                spectrum[j] += square(image[j * n + k])
        memcpy(m + i * n * n, image, n * r * sizeof(number))
    for j in range(r):
        largest = sqrt(spectrum[j])
        rank[0] += largest > t
        spectrum[j] = 1.0 - t / largest if largest > t else 0.0
    for i in range(v):
        for j in range(r):
            for k in range(n):
                image[j * n + k] = <number> (spectrum[j] * m[(i * n + j) * n + k])
        if side == ROWS:
            la.gemm(False, True, size, size, columns, image, size, vectors, size, m + i * n * n,
                    size)
        else:
            la.gemm(False, True, size, size, columns, vectors, size, image, size, m + i * n * n,
                    size)
    return 0


cdef inline double square(number x) noexcept nogil:
    if number is double or number is float:
        return <double> x * x
    else:
        return <double> x.real * x.real + <double> x.imag * x.imag


cdef int complex_map(
    floating *x,
    floating *y,
    Py_ssize_t n,
    double t,
    complex_number *work,       # one matrix more than unfolding_map needs
    double *real_work,
    blas_int *iwork,
    Py_ssize_t *rank,
) noexcept nogil:
    cdef complex_number *slice = work + 3 * n * n + n
    cdef Py_ssize_t k
    cdef int info
    for k in range(n * n):
        slice[k].real = x[k]
        slice[k].imag = y[k]
    info = unfolding_map(slice, 1, n, t, ROWS, work, real_work, iwork, rank)
    for k in range(n * n):
        x[k] = <floating> slice[k].real
        y[k] = <floating> slice[k].imag
    return info
