"""Proximal maps of tubes and of the v x n slices of a row, in place on (v, m, n) tensors.

Tensors are C-contiguous, so that ``T[i]`` is the frontal slice of view i, ``T[:, j, :]`` the v x n
slice of row j, and ``T[:, j, k]`` a tube. Each output is written from one thread only, so that the
thread count never changes a result.

A slice is mapped through its v x v Gram matrix ``G = rows rows^T = U diag(s^2) U^T``: the result is
``U diag(f(s)) U^T rows``, where f(s) is the ratio of the mapped singular value to s. The two rows
of a Fourier coefficient are the parts of a complex slice ``A + i B``. It has a complex Gram matrix;
if that does not resolve the singular values near the threshold, it is mapped as
``[[A, -B], [B, A]]``, which has each of them twice.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from . cimport loops
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .lapack cimport blas_int, doublecomplex
from .loops cimport CHUNK
from .platform cimport omp_get_thread_num

cdef double SQRT2 = sqrt(2.0)


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
    """Every tube x <- max(1 - t / ||x||, 0) x; returns how many remain."""
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


# ------------------------------------------------------------------ one slice of a row

cdef struct RowMemory:
    # To find the singular vectors of one slice of v x n.
    double *basis               # v x v
    double *s                   # v
    double *copy                # v x n, the slice, as LAPACK destroys it
    double *scratch             # LAPACK's


cdef void lay_out_row(Arena *arena, Py_ssize_t v, Py_ssize_t n, RowMemory *row) noexcept nogil:
    """Lay out what finds the singular vectors of one slice."""
    row.basis = <double *> take(arena, <double> v * v, sizeof(double))
    row.s = <double *> take(arena, v, sizeof(double))
    row.copy = <double *> take(arena, <double> v * n, sizeof(double))
    row.scratch = <double *> take(arena, max(v + la.syev_lwork(v), la.gesvd_lwork(n, v)),
                                  sizeof(double))


cdef Py_ssize_t row_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that row_basis and row_operator need."""
    cdef Arena arena = counting_arena()
    cdef RowMemory row
    lay_out_row(&arena, v, n, &row)
    return <Py_ssize_t> (workspace_bytes(&arena) // sizeof(double))


cdef double spectral_factor(double s, double t, Spectral kind) noexcept nogil:
    """Ratio of the mapped singular value to s: max(1 - t / s, 0), or min(t / s, 1)."""
    if kind == SHRINK:
        return 1.0 - t / s if s > t else 0.0
    return t / s if s > t else 1.0


cdef int row_singular(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, row q: left singular vector q
    double *s,                  # OUT  v singular values, descending
    RowMemory *row,
) noexcept nogil:
    """A singular value decomposition; returns LAPACK's info."""
    cdef Py_ssize_t p, q
    cdef int info
    memcpy(row.copy, rows, v * n * sizeof(double))
    info = <int> la.gesvd(<blas_int> n, <blas_int> v, row.copy, s, basis, row.scratch)
    for q in range(v):
        if q >= n:
            s[q] = 0.0
        for p in range(q):                      # LAPACK's rows are strided by v
            basis[p * v + q], basis[q * v + p] = basis[q * v + p], basis[p * v + q]
    return info


cdef int row_basis(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, orthonormal rows: left singular vectors
    double *work,               # row_lwork(v, n); squared singular values, ascending, come first
) noexcept nogil:
    """Left singular vectors of a slice, from its Gram matrix; returns LAPACK's info."""
    cdef Py_ssize_t p, q
    for p in range(v):
        for q in range(p, v):
            basis[p * v + q] = la.dot(<blas_int> n, rows + p * n, rows + q * n)
    return <int> la.syev(<blas_int> v, basis, work, work + v)


cdef int row_operator(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Spectral kind,
    double *mapper,             # OUT  v x v, symmetric: the mapped slice is mapper @ slice
    double *work,               # row_lwork(v, n)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """U diag(f(s)) U^T for the singular vectors U and values s of a slice; returns LAPACK's info.

    Singular values come from the Gram matrix if it resolves those near t, else from LAPACK.
    """
    cdef Arena arena = arena_at(work)
    cdef RowMemory row
    cdef Py_ssize_t p, q, r
    cdef int info
    cdef double total
    lay_out_row(&arena, v, n, &row)
    cdef double *basis = row.basis
    cdef double *s = row.s

    info = row_basis(rows, v, n, basis, row.scratch)
    if info == 0 and t < gram_limit(kind) * sqrt(fmax(row.scratch[v - 1], 0.0)):
        info = row_singular(rows, v, n, basis, s, &row)
    else:
        for q in range(v):
            s[q] = sqrt(fmax(row.scratch[q], 0.0))
    if info != 0:
        return info
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


cdef int complex_operator(
    const double *rows,         # IN   2 v x n: the real parts of a slice, then the imaginary ones
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    double *mapper,             # OUT  2 v x 2 v: the shrunken parts are mapper @ rows
    double *work,               # row_lwork(2 v, 2 n) is enough
    Py_ssize_t *rank,           # OUT  singular values above t, -1 if those near t are not resolved
) noexcept nogil:
    """As row_operator, to shrink a complex slice by its Gram matrix; returns LAPACK's info."""
    cdef blas_int size = <blas_int> n
    cdef Py_ssize_t p, q, r
    cdef const double *imaginary = rows + v * n
    cdef doublecomplex *basis = <doublecomplex *> work
    cdef double *s = work + 2 * v * v
    cdef doublecomplex total
    cdef int info
    for p in range(v):
        for q in range(p, v):
            basis[p * v + q].real = (la.dot(size, rows + p * n, rows + q * n)
                                     + la.dot(size, imaginary + p * n, imaginary + q * n))
            basis[p * v + q].imag = (la.dot(size, rows + p * n, imaginary + q * n)
                                     - la.dot(size, imaginary + p * n, rows + q * n))
    info = <int> la.zheev(<blas_int> v, basis, s, s + v)
    rank[0] = -1
    if info != 0 or t < gram_limit(SHRINK) * sqrt(fmax(s[v - 1], 0.0)):
        return info
    rank[0] = 0
    for q in range(v):
        s[q] = sqrt(fmax(s[q], 0.0))
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


# ------------------------------------------------------------------ all slices of a tensor

cdef Py_ssize_t slice_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that slice_map needs for each thread."""
    return v * n + v * v + row_lwork(v, n)


cdef void apply_operator(const double *mapper, const double *rows, Py_ssize_t height,
                         Py_ssize_t width, floating *first, Py_ssize_t stride, Py_ssize_t v,
                         Py_ssize_t n) noexcept nogil:
    """Replace a slice, or the parts of a complex one, by mapper @ rows."""
    cdef Py_ssize_t i
    for i in range(height):
        loops.combine(mapper + i * height, rows, height, width, n,
                      first + (i % v) * stride + (i // v) * n)


cdef int map_slice(
    floating *first,            # INOUT the row in view 0
    Py_ssize_t stride,          # from view to view
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Spectral kind,
    double *rows,               # slice_lwork(v, n)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """Map the singular values of one slice, v x n; returns LAPACK's info."""
    cdef double *mapper = rows + v * n
    cdef Py_ssize_t i, k
    cdef int info
    for i in range(v):
        for k in range(n):
            rows[i * n + k] = first[i * stride + k]
    info = row_operator(rows, v, n, t, kind, mapper, mapper + v * v, rank)
    if info == 0:
        apply_operator(mapper, rows, v, n, first, stride, v, n)
    return info


cdef int shrink_pair(
    floating *first,            # INOUT the real part in view 0; the imaginary part is the next row
    Py_ssize_t stride,          # from view to view
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    double *rows,               # slice_lwork(2 v, 2 n)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """Shrink the singular values of one complex slice, v x n; returns LAPACK's info."""
    cdef Py_ssize_t i, k, half = 2 * v * n
    cdef double *mapper = rows + 2 * half
    cdef floating *part
    cdef int info
    for i in range(2 * v):
        part = first + (i % v) * stride + (i // v) * n
        for k in range(n):
            rows[i * n + k] = part[k]
    info = complex_operator(rows, v, n, t, mapper, mapper + 4 * v * v, rank)
    if info == 0 and rank[0] >= 0:
        apply_operator(mapper, rows, 2 * v, n, first, stride, v, n)
        return 0
    for i in range(v):
        part = first + i * stride
        for k in range(n):
            rows[i * 2 * n + k] = rows[half + i * 2 * n + n + k] = part[k]
            rows[half + i * 2 * n + k] = part[n + k]
            rows[i * 2 * n + n + k] = -part[n + k]
    info = row_operator(rows, 2 * v, 2 * n, t, SHRINK, mapper, mapper + 4 * v * v, rank)
    if info == 0:
        rank[0] //= 2
        apply_operator(mapper, rows, 2 * v, 2 * n, first, stride, v, n)
    return info


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
    int *info,                  # OUT  m: LAPACK's
) noexcept nogil:
    """Map the singular values of every row slice."""
    cdef Py_ssize_t j, size = slice_lwork(v, n)
    for j in prange(m, num_threads=n_threads, schedule="static"):
        info[j] = map_slice(T + j * n, m * n, v, n, t, kind,
                            work + omp_get_thread_num() * size, &rank[j])


cdef void halfcomplex_map(
    floating *T,                # INOUT v x m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    int n_threads,
    double *work,               # n_threads x slice_lwork(2 v, 2 n)
    Py_ssize_t *rank,           # OUT  m // 2 + 1: singular values above the threshold
    int *info,                  # OUT  m // 2 + 1: LAPACK's
) noexcept nogil:
    """Shrink the singular values of the complex slices of a halfcomplex tensor.

    Its rows are row 0, then the real and the imaginary part (times sqrt 2) of every frequency,
    then, for even m, the highest frequency. A pair of rows is shrunk by sqrt(2) t.
    """
    cdef Py_ssize_t f, size = slice_lwork(2 * v, 2 * n)
    cdef double *rows
    for f in prange(m // 2 + 1, num_threads=n_threads, schedule="static"):
        rows = work + omp_get_thread_num() * size
        if 0 < f and 2 * f < m:
            info[f] = shrink_pair(T + (2 * f - 1) * n, m * n, v, n, SQRT2 * t, rows, &rank[f])
        else:
            info[f] = map_slice(T + (2 * f - (f > 0)) * n, m * n, v, n, t, SHRINK, rows, &rank[f])
