"""Proximal maps of tubes and of the v x n slices of a row, in place on (v, m, n) tensors.

Tensors are C-contiguous, so that ``T[i]`` is the frontal slice of view i, ``T[:, j, :]`` the v x n
slice of row j, and ``T[:, j, k]`` a tube. Each output is written from one thread only, so that the
thread count never changes a result.

A slice is mapped through its v x v Gram matrix ``G = rows rows^H = U diag(s^2) U^H``: the result is
``U diag(f(s)) U^H rows``, where f(s) is the ratio of the mapped singular value to s. Slices are
real, or complex as the two rows of a Fourier coefficient are; both are given as real numbers, the
real parts of all views and then the imaginary parts.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from . cimport loops
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .lapack cimport blas_int, double_number, doublecomplex
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


# ------------------------------------------------------------------ one slice of a row (v x n)

cdef struct RowMemory:
    # To find the singular vectors of one slice. Numbers are double or doublecomplex.
    void *basis                 # v x v
    double *s                   # v
    void *copy                  # v x n, the slice, as LAPACK destroys it
    void *right                 # v x v, what LAPACK computes besides
    void *scratch               # LAPACK's
    double *real                # LAPACK's, of complex slices
    blas_int *integers          # LAPACK's


cdef void lay_out_row(Arena *arena, Py_ssize_t v, Py_ssize_t n, bint is_complex,
                      RowMemory *row) noexcept nogil:
    """Lay out what finds the singular vectors of one slice."""
    cdef size_t itemsize = sizeof(doublecomplex) if is_complex else sizeof(double)
    cdef Py_ssize_t lwork = max(la.heev_lwork(v), max(la.gesvd_lwork(n, v), la.gesdd_lwork(n, v)))
    cdef Py_ssize_t lrwork = max(la.heev_lrwork(v),
                                 max(la.gesvd_lrwork(n, v), la.gesdd_lrwork(n, v)))
    row.basis = take(arena, <double> v * v, itemsize)
    row.s = <double *> take(arena, v, sizeof(double))
    row.copy = take(arena, <double> v * n, itemsize)
    row.right = take(arena, <double> v * v, itemsize)
    row.scratch = take(arena, lwork, itemsize)
    row.real = <double *> take(arena, lrwork if is_complex else 0, sizeof(double))
    row.integers = <blas_int *> take(arena, la.gesdd_liwork(n, v), sizeof(blas_int))


cdef Py_ssize_t row_doubles(Py_ssize_t v, Py_ssize_t n, bint is_complex) noexcept nogil:
    """Doubles that row_operator needs."""
    cdef Arena arena = counting_arena()
    cdef RowMemory row
    lay_out_row(&arena, v, n, is_complex, &row)
    return <Py_ssize_t> (workspace_bytes(&arena) // sizeof(double))


cdef Py_ssize_t row_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that row_basis, and row_operator of real slices, need."""
    return v + row_doubles(v, n, False)


cdef double spectral_factor(double s, double t, Spectral kind) noexcept nogil:
    """Ratio of the mapped singular value to s: max(1 - t / s, 0), or min(t / s, 1)."""
    if kind == SHRINK:
        return 1.0 - t / s if s > t else 0.0
    return t / s if s > t else 1.0


cdef void inner(Py_ssize_t n, const double *x, const double *y, Py_ssize_t imaginary,
                double_number *out) noexcept nogil:
    """out <- x^H y, of rows whose imaginary parts lie ``imaginary`` numbers after the real ones."""
    cdef blas_int size = <blas_int> n
    if double_number is double:
        out[0] = la.dot(size, x, y)
    else:
        out[0] = (la.dot(size, x, y) + la.dot(size, x + imaginary, y + imaginary)
                  + 1j * (la.dot(size, x, y + imaginary) - la.dot(size, x + imaginary, y)))


cdef void load(const double *rows, Py_ssize_t count, double_number *out) noexcept nogil:
    """out <- the count numbers of a slice, its parts joined where it is complex."""
    cdef Py_ssize_t k
    if double_number is double:
        memcpy(out, rows, count * sizeof(double))
    else:
        for k in range(count):
            out[k] = rows[k] + 1j * rows[count + k]


cdef void transpose(double_number *a, Py_ssize_t v) noexcept nogil:
    """a <- a^T, v x v."""
    cdef Py_ssize_t p, q
    cdef double_number swap
    for p in range(v):
        for q in range(p):
            swap = a[p * v + q]
            a[p * v + q] = a[q * v + p]
            a[q * v + p] = swap


cdef void reverse(double *s, double_number *basis, Py_ssize_t v) noexcept nogil:
    """Turn the order of the v numbers s and of the rows of the v x v basis round."""
    cdef Py_ssize_t p, q
    cdef double length
    cdef double_number swap
    for q in range(v // 2):
        length = s[q]
        s[q] = s[v - 1 - q]
        s[v - 1 - q] = length
        for p in range(v):
            swap = basis[q * v + p]
            basis[q * v + p] = basis[(v - 1 - q) * v + p]
            basis[(v - 1 - q) * v + p] = swap


cdef int row_singular(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double_number *basis,       # OUT  v x v, row q: left singular vector q
    double *s,                  # OUT  v singular values, descending
    RowMemory *row,
) noexcept nogil:
    """A singular value decomposition, by a second driver where the first does not converge."""
    cdef double_number *copy = <double_number *> row.copy
    cdef double_number *scratch = <double_number *> row.scratch
    cdef blas_int height = <blas_int> n, width = <blas_int> v, info
    cdef Py_ssize_t q
    load(rows, v * n, copy)
    info = la.gesvd(height, width, copy, s, basis, scratch, row.real)
    if info > 0:
        load(rows, v * n, copy)
        info = la.gesdd(height, width, copy, s, <double_number *> row.right, basis, scratch,
                        row.real, row.integers)
    for q in range(min(v, n), v):
        s[q] = 0.0
    transpose(basis, v)                         # LAPACK's rows are strided by v
    return <int> info


cdef int gram_eigen(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double_number *basis,       # OUT  v x v, row q: eigenvector q of the Gram matrix
    double *s,                  # OUT  v eigenvalues, ascending
    RowMemory *row,
) noexcept nogil:
    """Eigenpairs of rows rows^H, from singular values where they do not converge."""
    cdef Py_ssize_t p, q
    cdef int info
    for p in range(v):
        for q in range(p, v):
            inner(n, rows + p * n, rows + q * n, v * n, basis + p * v + q)
    info = <int> la.heev(<blas_int> v, basis, s, <double_number *> row.scratch, row.real)
    if info > 0:
        info = row_singular(rows, v, n, basis, s, row)
        reverse(s, basis, v)
        for q in range(v):
            s[q] = s[q] * s[q]
    return info


cdef int row_basis(
    const double *rows,         # IN   v x n, real
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, orthonormal rows: left singular vectors
    double *work,               # row_lwork(v, n); squared singular values, ascending, come first
) noexcept nogil:
    """Left singular vectors of a slice, from its Gram matrix; returns LAPACK's info."""
    cdef Arena arena = arena_at(work + v)
    cdef RowMemory row
    lay_out_row(&arena, v, n, False, &row)
    return gram_eigen(rows, v, n, basis, work, &row)


cdef int row_operator(
    const double *rows,         # IN   v x n, of a complex slice 2v x n: imaginary parts last
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Spectral kind,
    double_number *mapper,      # OUT  v x v, Hermitian: the mapped slice is mapper @ slice
    double *work,               # row_doubles(v, n, complex)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """U diag(f(s)) U^H for the singular vectors U and values s of a slice; returns LAPACK's info.

    Singular values come from the Gram matrix where it resolves those near t, else from LAPACK.
    """
    cdef Arena arena = arena_at(work)
    cdef RowMemory row
    cdef Py_ssize_t p, q, r
    cdef int info
    cdef double_number total
    lay_out_row(&arena, v, n, True if double_number is doublecomplex else False, &row)
    cdef double_number *basis = <double_number *> row.basis
    cdef double *s = row.s

    info = gram_eigen(rows, v, n, basis, s, &row)
    if info != 0:
        return info
    if t < gram_limit(kind) * sqrt(fmax(s[v - 1], 0.0)):
        info = row_singular(rows, v, n, basis, s, &row)
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
                if double_number is double:
                    total = total + basis[r * v + p] * s[r] * basis[r * v + q]
                else:
                    total = total + basis[r * v + p] * s[r] * basis[r * v + q].conjugate()
            mapper[p * v + q] = total
    return 0


# ------------------------------------------------------------------ all slices of a tensor

cdef struct SliceMemory:
    # To map one slice, whose height is v, or 2 v where it is complex.
    double *rows                    # height x n
    double *mapper                  # height x height, real
    doublecomplex *complex_mapper   # v x v, of a complex slice
    double *work                    # row_operator's


cdef void lay_out_slice(Arena *arena, Py_ssize_t v, Py_ssize_t n, bint is_complex,
                        SliceMemory *memory) noexcept nogil:
    """Lay out what maps one slice."""
    cdef double height = <double> (2 * v if is_complex else v)
    memory.rows = <double *> take(arena, height * n, sizeof(double))
    memory.mapper = <double *> take(arena, height * height, sizeof(double))
    memory.complex_mapper = <doublecomplex *> take(arena, <double> v * v if is_complex else 0.0,
                                                   sizeof(doublecomplex))
    memory.work = <double *> take(arena, row_doubles(v, n, is_complex), sizeof(double))


cdef Py_ssize_t slice_doubles(Py_ssize_t v, Py_ssize_t n, bint is_complex) noexcept nogil:
    """Doubles that one thread needs to map slices."""
    cdef Arena arena = counting_arena()
    cdef SliceMemory memory
    lay_out_slice(&arena, v, n, is_complex, &memory)
    return <Py_ssize_t> (workspace_bytes(&arena) // sizeof(double))


cdef void real_form(const doublecomplex *a, Py_ssize_t v, double *out) noexcept nogil:
    """out <- [[Re a, -Im a], [Im a, Re a]], 2v x 2v: what a does to parts one below the other."""
    cdef Py_ssize_t p, q
    for p in range(v):
        for q in range(v):
            out[p * 2 * v + q] = out[(v + p) * 2 * v + v + q] = a[p * v + q].real
            out[(v + p) * 2 * v + q] = a[p * v + q].imag
            out[p * 2 * v + v + q] = -a[p * v + q].imag


cdef int map_slice(
    floating *first,            # INOUT the row in view 0; its imaginary part is the next row
    Py_ssize_t stride,          # from view to view
    Py_ssize_t v,
    Py_ssize_t n,
    bint is_complex,
    double t,
    Spectral kind,
    double *work,               # slice_doubles(v, n, is_complex)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """Map the singular values of one slice, v x n; returns LAPACK's info."""
    cdef Arena arena = arena_at(work)
    cdef SliceMemory memory
    cdef Py_ssize_t height = 2 * v if is_complex else v, i, k
    cdef floating *entry
    cdef int info
    lay_out_slice(&arena, v, n, is_complex, &memory)
    for i in range(height):
        entry = first + (i % v) * stride + (i // v) * n
        for k in range(n):
            memory.rows[i * n + k] = entry[k]
    if is_complex:
        info = row_operator(memory.rows, v, n, t, kind, memory.complex_mapper, memory.work,
                            rank)
        real_form(memory.complex_mapper, v, memory.mapper)
    else:
        info = row_operator(memory.rows, v, n, t, kind, memory.mapper, memory.work, rank)
    if info == 0:
        for i in range(height):
            entry = first + (i % v) * stride + (i // v) * n
            loops.combine(memory.mapper + i * height, memory.rows, height, n, n, entry)
    return info


cdef Py_ssize_t slice_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that slice_map needs for each thread."""
    return slice_doubles(v, n, False)


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
        info[j] = map_slice(T + j * n, m * n, v, n, False, t, kind,
                            work + omp_get_thread_num() * size, &rank[j])


cdef Py_ssize_t halfcomplex_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that halfcomplex_map needs for each thread."""
    return slice_doubles(v, n, True)


cdef void halfcomplex_map(
    floating *T,                # INOUT v x m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    int n_threads,
    double *work,               # n_threads x halfcomplex_lwork(v, n)
    Py_ssize_t *rank,           # OUT  m // 2 + 1: singular values above the threshold
    int *info,                  # OUT  m // 2 + 1: LAPACK's
) noexcept nogil:
    """Shrink the singular values of the complex slices of a halfcomplex tensor.

    Its rows are row 0, then the real and the imaginary part (times sqrt 2) of every frequency,
    then, for even m, the highest frequency. A pair of rows is shrunk by sqrt(2) t.
    """
    cdef Py_ssize_t f, row, size = halfcomplex_lwork(v, n)
    cdef bint pair
    for f in prange(m // 2 + 1, num_threads=n_threads, schedule="static"):
        row = 2 * f - (f > 0)
        pair = 0 < f and 2 * f < m
        info[f] = map_slice(T + row * n, m * n, v, n, pair, SQRT2 * t if pair else t, SHRINK,
                            work + omp_get_thread_num() * size, &rank[f])
