"""Proximal maps of tubes and of the v x n slices of a row, in place on (v, m, n) tensors.

Tensors are C-contiguous, so that ``T[i]`` is the frontal slice of view i, ``T[:, j, :]`` the v x n
slice of row j, and ``T[:, j, k]`` a tube. Each output is written from one thread only, so that the
thread count never changes a result.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from . cimport loops
from .lapack cimport blas_int
from .loops cimport CHUNK
from .platform cimport omp_get_thread_num

# A Gram matrix holds singular values down to sqrt(eps) * s_max. Shrinking needs an error of 1e-10
# relative to s_max; a clipped slice must keep its norm bound to 1e-10 relative to t.
cdef double GRAM_LIMIT = 100 * 1.5e-8
cdef double GRAM_LIMIT_CLIP = 1e-3


# ------------------------------------------------------------------ tubes

cdef Py_ssize_t tube_map(
    floating *T,                # INOUT v x m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    int n_threads,
    floating *lengths,          # n_threads x CHUNK
) noexcept nogil:
    """Shrink all tubes; returns how many remain."""
    cdef Py_ssize_t j, i, first, width, kept = 0
    cdef floating *squares
    for j in prange(m, num_threads=n_threads, schedule="static"):
        squares = lengths + omp_get_thread_num() * CHUNK
        first = 0
        while first < n:
            width = min(<Py_ssize_t> CHUNK, n - first)
            memset(squares, 0, width * sizeof(floating))
            for i in range(v):
                loops.add_squares(T + (i * m + j) * n + first, width, squares)
            kept += loops.shrink_factors(squares, width, t)
            for i in range(v):
                loops.scale(T + (i * m + j) * n + first, squares, width)
            first = first + width
    return kept


# ------------------------------------------------------------------ slices of a row (v x n)

cdef double spectral_factor(double s, double t, Spectral kind) noexcept nogil:
    """Ratio of the mapped singular value to s."""
    if kind == SHRINK:
        return 1.0 - t / s if s > t else 0.0
    return t / s if s > t else 1.0


cdef Py_ssize_t row_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that row_operator and row_basis need."""
    return 8 * v * v + 9 * v + v * n + lapack_lwork(v, n)


cdef Py_ssize_t lapack_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    return n + 64 * v + 256


cdef int row_singular(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, row q: left singular vector q
    double *s,                  # OUT  v singular values, descending
    double *work,               # 7 v v + 8 v + v n + lapack_lwork(v, n)
) noexcept nogil:
    """A singular value decomposition, by a second driver where the first does not converge."""
    cdef double *copy = work
    cdef double *scratch = copy + v * n
    cdef blas_int lwork = <blas_int> (lapack_lwork(v, n) + 7 * v * v), info
    cdef blas_int *integers = <blas_int *> (scratch + lwork)            # 8 v of 4 or 8 bytes
    cdef Py_ssize_t p, q
    cdef double swap
    memcpy(copy, rows, v * n * sizeof(double))
    info = la.right_singular(<blas_int> n, <blas_int> v, copy, s, basis, scratch, lwork)
    if info > 0:
        memcpy(copy, rows, v * n * sizeof(double))
        info = la.right_singular_dc(<blas_int> n, <blas_int> v, copy, s, scratch, basis,
                                    scratch + v * v, <blas_int> (lwork - v * v), integers)
    if info != 0:
        return <int> info
    for q in range(min(v, n), v):
        s[q] = 0.0
    for p in range(v):                          # LAPACK's rows are strided by v: transpose
        for q in range(p):
            swap = basis[p * v + q]
            basis[p * v + q] = basis[q * v + p]
            basis[q * v + p] = swap
    return 0


cdef int gram_eigen(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, row q: eigenvector q of rows @ rows.T
    double *s,                  # OUT  v eigenvalues, ascending
    double *work,               # as row_singular
) noexcept nogil:
    """Eigenpairs of the Gram matrix, from singular values where they do not converge."""
    cdef Py_ssize_t p, q
    cdef double swap
    cdef blas_int info
    for p in range(v):
        for q in range(p, v):
            basis[p * v + q] = la.dot(<blas_int> n, rows + p * n, rows + q * n)
    info = la.syev(<blas_int> v, basis, s, work, <blas_int> lapack_lwork(v, n))
    if info <= 0:
        return <int> info
    info = row_singular(rows, v, n, basis, s, work)
    for q in range(v // 2):
        swap = s[q]
        s[q] = s[v - 1 - q]
        s[v - 1 - q] = swap
        for p in range(v):
            swap = basis[q * v + p]
            basis[q * v + p] = basis[(v - 1 - q) * v + p]
            basis[(v - 1 - q) * v + p] = swap
    for q in range(v):
        s[q] = s[q] * s[q]
    return <int> info


cdef int row_basis(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, orthonormal rows: left singular vectors
    double *work,               # row_lwork(v, n); squared singular values, ascending, come first
) noexcept nogil:
    return gram_eigen(rows, v, n, basis, work, work + v)


cdef int row_operator(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Spectral kind,
    double *mapper,           # OUT  v x v, symmetric: the mapped slice is mapper @ rows
    double *work,
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    cdef double *basis = work                   # row q of basis: left singular vector q
    cdef double *s = basis + v * v
    cdef Py_ssize_t p, q, r
    cdef int info
    cdef double total

    info = gram_eigen(rows, v, n, basis, s, s + v)
    if info != 0:
        return info
    if t < (GRAM_LIMIT if kind == SHRINK else GRAM_LIMIT_CLIP) * sqrt(fmax(s[v - 1], 0.0)):
        info = row_singular(rows, v, n, basis, s, s + v)
        if info != 0:
            return info
    else:
        for q in range(v):
            s[q] = sqrt(fmax(s[q], 0.0))
    rank[0] = 0
    for q in range(v):
        rank[0] += s[q] > t
        s[q] = spectral_factor(s[q], t, kind)
    for p in range(v):
        for q in range(v):
            total = 0.0
            for r in range(v):
                total = total + basis[r * v + p] * s[r] * basis[r * v + q]
            mapper[p * v + q] = total
    return 0


cdef Py_ssize_t slice_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that slice_map needs for each thread."""
    return v * n + v * v + row_lwork(v, n)


cdef void slice_map(
    floating *T,                # INOUT v x m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    Spectral kind,
    int n_threads,
    double *work,               # n_threads x slice_lwork(v, n)
    Py_ssize_t *rank,           # OUT  m: singular values above t
    int *code,                  # OUT  m: LAPACK's info
) noexcept nogil:
    """Map the singular values of every row slice."""
    cdef Py_ssize_t j, k, i, size = slice_lwork(v, n)
    cdef double *rows
    cdef double *mapper
    cdef floating *entry
    for j in prange(m, num_threads=n_threads, schedule="static"):
        rows = work + omp_get_thread_num() * size
        mapper = rows + v * n
        for i in range(v):
            entry = T + (i * m + j) * n
            for k in range(n):
                rows[i * n + k] = entry[k]
        code[j] = row_operator(rows, v, n, t, kind, mapper, mapper + v * v, &rank[j])
        if code[j] == 0:
            for i in range(v):
                loops.combine(mapper + i * v, rows, v, n, n, T + (i * m + j) * n)
