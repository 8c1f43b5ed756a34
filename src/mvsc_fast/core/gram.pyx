"""Singular value shrinkage of large matrices: frontal slices and unfoldings of a tensor.

All go through one n x n Gram matrix, real or complex: its tridiagonal form, all eigenvalues, and
eigenvectors for those above the threshold only. With these vectors V the unfolding is shrunk to
``M V diag(1 - t / s) V^H``, where s are the lengths of the images M V. Tensors are C-contiguous of
shape (v, n, n); LAPACK sees every slice as its transpose. Everything is in place; threads are those
of BLAS.
"""

from cython cimport floating
from libc.math cimport fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .lapack cimport blas_int, doublecomplex, floatcomplex, number
from .rows cimport SHRINK, gram_limit
from .symmetric cimport (
    Recipe,
    Tridiagonal,
    lay_out_tridiagonal,
    tridiagonal_values,
    tridiagonal_vectors,
)

ctypedef fused complex_number:
    floatcomplex
    doublecomplex

# As gram_limit, for slices in single precision. Below the limit all eigenvectors are taken, and the
# lengths of their images decide.
cdef double GRAM_LIMIT_SINGLE = 3e-2


cdef struct GramMemory:
    # Numbers are of the slices' type, which may be complex.
    void *gram                  # n x n, then the reflectors of its reduction
    void *vectors               # n x n
    void *image                 # n x n, or LAPACK's scratch
    void *tau                   # n
    void *d                     # n, the tridiagonal form in the slices' precision
    void *e                     # n
    double *z                   # n x n, its eigenvectors
    double *spectrum            # n
    double *sums                # 2 n
    Tridiagonal tridiagonal     # the same form in doubles


cdef void lay_out_gram(Arena *arena, Py_ssize_t n, size_t itemsize,
                       GramMemory *memory) noexcept nogil:
    """Lay out what maps one real or complex n x n matrix."""
    cdef double size = <double> n * n
    memory.gram = take(arena, size, itemsize)
    memory.vectors = take(arena, size, itemsize)
    memory.image = take(arena, max(size, <double> max(la.hetrd_lwork(n), la.unmtr_lwork(n))),
                        itemsize)
    memory.tau = take(arena, n, itemsize)
    memory.d = take(arena, n, sizeof(double))
    memory.e = take(arena, n, sizeof(double))
    memory.z = <double *> take(arena, size, sizeof(double))
    memory.spectrum = <double *> take(arena, n, sizeof(double))
    memory.sums = <double *> take(arena, 2 * n, sizeof(double))
    lay_out_tridiagonal(arena, arena, n, sizeof(double), &memory.tridiagonal)


cdef size_t unfolding_bytes(Py_ssize_t n, bint single) noexcept nogil:
    """Workspace of unfolding_map for real slices."""
    cdef Arena arena = counting_arena()
    cdef GramMemory memory
    lay_out_gram(&arena, n, sizeof(float) if single else sizeof(double), &memory)
    return workspace_bytes(&arena)


cdef double norm_bound(const number *m, Py_ssize_t v, Py_ssize_t n, Side side,
                       double *sums) noexcept nogil:
    """An upper bound of the unfolding's spectral norm: Frobenius, or sqrt(||.||_1 ||.||_inf).

    sums is scratch, of 2 n numbers.
    """
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


cdef inline double square(number x) noexcept nogil:
    """|x|^2."""
    if number is double or number is float:
        return <double> x * x
    else:
        return <double> x.real * x.real + <double> x.imag * x.imag


cdef int gram_spectrum(
    number *m,                  # IN   v slices, n x n
    Py_ssize_t v,
    Py_ssize_t n,
    Side side,
    GramMemory *memory,         # OUT  reflectors, tridiagonal form, and spectrum, ascending
) noexcept nogil:
    """Eigenvalues of the Gram matrix of an unfolding; returns LAPACK's info.

    Column-major M_i = T_i^T: rows of T give sum M_i^H M_i, columns sum M_i M_i^H.
    """
    cdef number *gram = <number *> memory.gram
    cdef double *d = <double *> memory.tridiagonal.d
    cdef double *e = <double *> memory.tridiagonal.e
    cdef Py_ssize_t i, j
    cdef blas_int size = <blas_int> n, info
    for i in range(v):
        la.herk_lower(size, size, m + i * n * n, side == ROWS, i > 0, gram)
    info = la.hetrd(size, gram, memory.d, memory.e, <number *> memory.tau,
                    <number *> memory.image)
    if info != 0:
        return <int> info
    if number is float or number is floatcomplex:
        for j in range(n):
            d[j] = (<float *> memory.d)[j]
        for j in range(n - 1):
            e[j] = (<float *> memory.e)[j]
    else:
        memcpy(d, memory.d, n * sizeof(double))
        memcpy(e, memory.e, (n - 1) * sizeof(double))
    return tridiagonal_values(n, memory.spectrum, &memory.tridiagonal)


cdef int gram_vectors(
    Py_ssize_t n,
    Py_ssize_t r,
    number *vectors,            # OUT  n x r, column-major
    GramMemory *memory,         # as gram_spectrum leaves it; the tridiagonal form is destroyed
) noexcept nogil:
    """The last r eigenvectors of the Gram matrix; returns LAPACK's info."""
    cdef Py_ssize_t j
    cdef Recipe recipe
    cdef int info
    recipe.keep = recipe.shift = 0.0
    recipe.low, recipe.high = 0, n - r
    info = tridiagonal_vectors(n, memory.z, &recipe, &memory.tridiagonal)
    if info != 0:
        return info
    for j in range(n * r):
        vectors[j] = <number> memory.z[j]
    return <int> la.unmtr(<blas_int> n, <blas_int> r, <number *> memory.gram,
                          <number *> memory.tau, vectors, <number *> memory.image)


cdef Py_ssize_t shrink_images(
    number *m,                  # INOUT v slices, n x n
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Side side,
    Py_ssize_t r,
    GramMemory *memory,         # IN   r eigenvectors
) noexcept nogil:
    """Replace an unfolding by its shrunken part along r eigenvectors; how many are above t.

    The images of the eigenvectors replace the slices, their lengths are the singular values.
    """
    cdef number *vectors = <number *> memory.vectors
    cdef number *image = <number *> memory.image
    cdef number *slice
    cdef double *lengths = memory.spectrum
    cdef double length
    cdef Py_ssize_t i, j, k, rank = 0
    cdef blas_int size = <blas_int> n, columns = <blas_int> r
    memset(lengths, 0, r * sizeof(double))
    for i in range(v):
        slice = m + i * n * n
        la.gemm(side == COLUMNS, False, size, columns, size, slice, size, vectors, size, image,
                size)
        for j in range(r):
            for k in range(n):
                lengths[j] += square(image[j * n + k])
        memcpy(slice, image, n * r * sizeof(number))
    for j in range(r):
        length = sqrt(lengths[j])
        rank += length > t
        lengths[j] = 1.0 - t / length if length > t else 0.0
    for i in range(v):
        slice = m + i * n * n
        for j in range(r):
            for k in range(n):
                image[j * n + k] = <number> (lengths[j] * slice[j * n + k])
        if side == ROWS:
            la.gemm(False, True, size, size, columns, image, size, vectors, size, slice, size)
        else:
            la.gemm(False, True, size, size, columns, vectors, size, image, size, slice, size)
    return rank


cdef int unfolding_map(
    number *m,                  # INOUT v slices, n x n, row-major
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Side side,
    void *workspace,            # unfolding_bytes(n, single)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """Shrink the singular values of an unfolding by t; returns LAPACK's info."""
    cdef Arena arena = arena_at(workspace)
    cdef GramMemory memory
    cdef double limit = gram_limit(SHRINK)
    cdef Py_ssize_t j, r = 0
    cdef int info
    lay_out_gram(&arena, n, sizeof(number), &memory)
    if number is float or number is floatcomplex:
        limit = GRAM_LIMIT_SINGLE
    rank[0] = 0
    if not norm_bound(m, v, n, side, memory.sums) <= t:      # also where it is not a number
        info = gram_spectrum(m, v, n, side, &memory)
        if info != 0:
            return info
        if t < limit * sqrt(fmax(memory.spectrum[n - 1], 0.0)):
            r = n
        else:
            for j in range(n):
                r += memory.spectrum[j] > t * t
    if r == 0:
        memset(m, 0, v * n * n * sizeof(number))
        return 0
    info = gram_vectors(n, r, <number *> memory.vectors, &memory)
    if info == 0:
        rank[0] = shrink_images(m, v, n, t, side, r, &memory)
    return info


# ------------------------------------------------------------------ one complex matrix

cdef struct ComplexMemory:
    void *slice                 # n x n
    void *work                  # unfolding_map's


cdef void lay_out_complex(Arena *arena, Py_ssize_t n, bint single,
                          ComplexMemory *memory) noexcept nogil:
    """Lay out what maps a complex slice given by its parts."""
    cdef size_t itemsize = sizeof(floatcomplex) if single else sizeof(doublecomplex)
    cdef Arena inside = counting_arena()
    cdef GramMemory gram
    lay_out_gram(&inside, n, itemsize, &gram)
    memory.slice = take(arena, <double> n * n, itemsize)
    memory.work = take(arena, workspace_bytes(&inside), 1)


cdef size_t complex_bytes(Py_ssize_t n, bint single) noexcept nogil:
    """Workspace of complex_map, which is also enough for unfolding_map."""
    cdef Arena arena = counting_arena()
    cdef ComplexMemory memory
    lay_out_complex(&arena, n, single, &memory)
    return workspace_bytes(&arena)


cdef int map_parts(
    floating *x,
    floating *y,
    Py_ssize_t n,
    double t,
    complex_number *slice,      # n x n, of the precision of x
    void *work,
    Py_ssize_t *rank,
) noexcept nogil:
    """As complex_map, through the memory for ``x + i y``."""
    cdef Py_ssize_t k
    cdef int info
    for k in range(n * n):
        slice[k].real = x[k]
        slice[k].imag = y[k]
    info = unfolding_map(slice, 1, n, t, ROWS, work, rank)
    for k in range(n * n):
        x[k] = <floating> slice[k].real
        y[k] = <floating> slice[k].imag
    return info


cdef int complex_map(
    floating *x,                # INOUT n x n, real part
    floating *y,                # INOUT n x n, imaginary part
    Py_ssize_t n,
    double t,
    void *workspace,            # complex_bytes(n, single)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """Shrink the singular values of ``x + i y`` by t; returns LAPACK's info."""
    cdef Arena arena = arena_at(workspace)
    cdef ComplexMemory memory
    lay_out_complex(&arena, n, True if floating is float else False, &memory)
    if floating is float:
        return map_parts(x, y, n, t, <floatcomplex *> memory.slice, memory.work, rank)
    else:
        return map_parts(x, y, n, t, <doublecomplex *> memory.slice, memory.work, rank)
