"""Singular value shrinkage of large matrices: the unfolding ``[T_0, T_1, ...]`` of a tensor.

All go through the Gram matrix of its rows, real or complex: its tridiagonal form, all eigenvalues,
and eigenvectors for those above the threshold only. With these vectors V the transpose M of the
unfolding is shrunk to ``M V diag(1 - t / s) V^H``, where s are the lengths of the images M V.
Tensors are C-contiguous of shape (v, m, n); LAPACK sees every slice as its transpose. Everything is
in place; threads are those of BLAS.
"""

from libc.math cimport fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .lapack cimport blas_int, floatcomplex, number
from .rows cimport SHRINK, gram_limit
from .symmetric cimport (
    Recipe,
    Tridiagonal,
    lay_out_tridiagonal,
    tridiagonal_values,
    tridiagonal_vectors,
)

# As gram_limit, for slices in single precision. Below the limit all eigenvectors are taken, and the
# lengths of their images decide.
cdef double GRAM_LIMIT_SINGLE = 3e-2


cdef struct GramMemory:
    # For v slices of m x n. Numbers are of the slices' type, which may be complex.
    void *gram                  # m x m, then the reflectors of its reduction
    void *vectors               # m x m
    void *image                 # m x n, or LAPACK's scratch
    void *tau                   # m
    void *d                     # m, the tridiagonal form in the slices' precision
    void *e                     # m
    double *z                   # m x m, its eigenvectors
    double *spectrum            # m
    double *sums                # m + n
    Tridiagonal tridiagonal     # the same form in doubles


cdef void lay_out_gram(Arena *arena, Py_ssize_t m, Py_ssize_t n, size_t itemsize,
                       GramMemory *memory) noexcept nogil:
    """Lay out what maps an unfolding of real or complex m x n slices."""
    cdef double size = <double> m * m, scratch = max(la.hetrd_lwork(m), la.unmtr_lwork(m))
    memory.gram = take(arena, size, itemsize)
    memory.vectors = take(arena, size, itemsize)
    memory.image = take(arena, max(<double> m * n, scratch), itemsize)
    memory.tau = take(arena, m, itemsize)
    memory.d = take(arena, m, sizeof(double))
    memory.e = take(arena, m, sizeof(double))
    memory.z = <double *> take(arena, size, sizeof(double))
    memory.spectrum = <double *> take(arena, m, sizeof(double))
    memory.sums = <double *> take(arena, m + n, sizeof(double))
    lay_out_tridiagonal(arena, arena, m, sizeof(double), &memory.tridiagonal)


cdef size_t unfolding_bytes(Py_ssize_t m, Py_ssize_t n, size_t itemsize) noexcept nogil:
    """Workspace of unfolding_map."""
    cdef Arena arena = counting_arena()
    cdef GramMemory memory
    lay_out_gram(&arena, m, n, itemsize, &memory)
    return workspace_bytes(&arena)


cdef double norm_bound(const number *x, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n,
                       double *sums) noexcept nogil:
    """An upper bound of the unfolding's spectral norm: Frobenius, or sqrt(||.||_1 ||.||_inf).

    sums is scratch, of m + n numbers.
    """
    cdef Py_ssize_t i, j, k
    cdef double squares = 0.0, across = 0.0, along = 0.0, size
    cdef double *columns = sums + m
    memset(sums, 0, m * sizeof(double))
    for i in range(v):
        memset(columns, 0, n * sizeof(double))
        for j in range(m):
            for k in range(n):
                size = abs(x[(i * m + j) * n + k])
                squares += size * size
                sums[j] += size
                columns[k] += size
        for k in range(n):
            across = fmax(across, columns[k])
    for j in range(m):
        along = fmax(along, sums[j])
    return min(sqrt(squares), sqrt(across) * sqrt(along))


cdef inline double square(number x) noexcept nogil:
    """|x|^2."""
    if number is double or number is float:
        return <double> x * x
    else:
        return <double> x.real * x.real + <double> x.imag * x.imag


cdef int gram_spectrum(
    number *x,                  # IN   v slices, m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    GramMemory *memory,         # OUT  reflectors, tridiagonal form, and spectrum, ascending
) noexcept nogil:
    """Eigenvalues of the Gram matrix sum T_i^* T_i^T of an unfolding; returns LAPACK's info."""
    cdef number *gram = <number *> memory.gram
    cdef double *d = <double *> memory.tridiagonal.d
    cdef double *e = <double *> memory.tridiagonal.e
    cdef Py_ssize_t i, j
    cdef blas_int size = <blas_int> m, info
    for i in range(v):
        la.herk(False, True, size, <blas_int> n, 1.0, x + i * m * n, i > 0, gram)
    info = la.hetrd(size, gram, memory.d, memory.e, <number *> memory.tau, <number *> memory.image)
    if info != 0:
        return <int> info
    if number is float or number is floatcomplex:
        for j in range(m):
            d[j] = (<float *> memory.d)[j]
        for j in range(m - 1):
            e[j] = (<float *> memory.e)[j]
    else:
        memcpy(d, memory.d, m * sizeof(double))
        memcpy(e, memory.e, (m - 1) * sizeof(double))
    return tridiagonal_values(m, memory.spectrum, &memory.tridiagonal)


cdef int gram_vectors(
    Py_ssize_t m,
    Py_ssize_t r,
    number *vectors,            # OUT  m x r, column-major
    GramMemory *memory,         # as gram_spectrum leaves it; the tridiagonal form is destroyed
) noexcept nogil:
    """The last r eigenvectors of the Gram matrix; returns LAPACK's info."""
    cdef Py_ssize_t j
    cdef Recipe recipe
    cdef int info
    recipe.keep = recipe.shift = 0.0
    recipe.low, recipe.high = 0, m - r
    info = tridiagonal_vectors(m, memory.z, &recipe, &memory.tridiagonal)
    if info != 0:
        return info
    for j in range(m * r):
        vectors[j] = <number> memory.z[j]
    return <int> la.unmtr(<blas_int> m, <blas_int> r, <number *> memory.gram,
                          <number *> memory.tau, vectors, <number *> memory.image)


cdef Py_ssize_t shrink_images(
    number *x,                  # INOUT v slices, m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
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
    cdef blas_int size = <blas_int> m, depth = <blas_int> n, columns = <blas_int> r
    memset(lengths, 0, r * sizeof(double))
    for i in range(v):
        slice = x + i * m * n
        la.gemm(False, False, depth, columns, size, 1.0, slice, depth, vectors, size, 0.0, image,
                depth)
        for j in range(r):
            for k in range(n):
                lengths[j] += square(image[j * n + k])
        memcpy(slice, image, n * r * sizeof(number))
    for j in range(r):
        length = sqrt(lengths[j])
        rank += length > t
        lengths[j] = 1.0 - t / length if length > t else 0.0
    for i in range(v):
        slice = x + i * m * n
        for j in range(r):
            for k in range(n):
                image[j * n + k] = <number> (lengths[j] * slice[j * n + k])
        la.gemm(False, True, depth, size, columns, 1.0, image, depth, vectors, size, 0.0, slice,
                depth)
    return rank


cdef int unfolding_map(
    number *x,                  # INOUT v slices, m x n, row-major
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    void *workspace,            # unfolding_bytes(m, n, sizeof(number))
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """Shrink the singular values of an unfolding by t; returns LAPACK's info."""
    cdef Arena arena = arena_at(workspace)
    cdef GramMemory memory
    cdef double limit = gram_limit(SHRINK)
    cdef Py_ssize_t j, r = 0
    cdef int info
    lay_out_gram(&arena, m, n, sizeof(number), &memory)
    if number is float or number is floatcomplex:
        limit = GRAM_LIMIT_SINGLE
    rank[0] = 0
    if not norm_bound(x, v, m, n, memory.sums) <= t:   # also if it is not a number
        info = gram_spectrum(x, v, m, n, &memory)
        if info != 0:
            return info
        if t < limit * sqrt(fmax(memory.spectrum[m - 1], 0.0)):
            r = m
        else:
            for j in range(m):
                r += memory.spectrum[j] > t * t
    if r == 0:
        memset(x, 0, v * m * n * sizeof(number))
        return 0
    info = gram_vectors(m, r, <number *> memory.vectors, &memory)
    if info == 0:
        rank[0] = shrink_images(x, v, m, n, t, r, &memory)
    return info
