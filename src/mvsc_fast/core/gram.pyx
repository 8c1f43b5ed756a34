"""Singular value shrinkage of large matrices: frontal slices and unfoldings of a tensor.

All go through one Gram matrix, real or complex: its tridiagonal form, all eigenvalues, and
eigenvectors for those above the threshold only. With these vectors V the unfolding is shrunk to
``M V diag(1 - t / s) V^H``, where s are the lengths of the images M V. Tensors are C-contiguous of
shape (v, m, n); LAPACK sees every slice as its transpose. Everything is in place; threads are those
of BLAS.
"""

from cython cimport floating
from libc.math cimport fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .hermitian cimport reduce_hermitian
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
    # For a Gram matrix of g x g. Numbers are of the slices' type, which may be complex.
    void *gram                  # g x g, then the reflectors of its reduction
    void *vectors               # g x g
    void *image                 # m x n, or LAPACK's scratch
    void *tau                   # g
    void *d                     # g, the tridiagonal form in the slices' precision
    void *e                     # g
    double *z                   # g x g, its eigenvectors
    double *spectrum            # g
    double *sums                # m + n
    Tridiagonal tridiagonal     # the same form in doubles


cdef inline Py_ssize_t gram_side(Py_ssize_t m, Py_ssize_t n, Side side) noexcept nogil:
    """Rows of the Gram matrix of an unfolding."""
    return m if side == ROWS else n


cdef void lay_out_gram(Arena *arena, Py_ssize_t m, Py_ssize_t n, Side side, size_t itemsize,
                       GramMemory *memory) noexcept nogil:
    """Lay out what maps an unfolding of real or complex m x n slices."""
    cdef Py_ssize_t g = gram_side(m, n, side)
    cdef double size = <double> g * g
    memory.gram = take(arena, size, itemsize)
    memory.vectors = take(arena, size, itemsize)
    memory.image = take(arena, max(<double> m * n,
                                   <double> max(la.hetrd_lwork(g), la.unmtr_lwork(g))), itemsize)
    memory.tau = take(arena, g, itemsize)
    memory.d = take(arena, g, sizeof(double))
    memory.e = take(arena, g, sizeof(double))
    memory.z = <double *> take(arena, size, sizeof(double))
    memory.spectrum = <double *> take(arena, g, sizeof(double))
    memory.sums = <double *> take(arena, m + n, sizeof(double))
    lay_out_tridiagonal(arena, arena, g, sizeof(double), &memory.tridiagonal)


cdef size_t unfolding_bytes(Py_ssize_t m, Py_ssize_t n, Side side, bint single) noexcept nogil:
    """Workspace of unfolding_map for real slices."""
    cdef Arena arena = counting_arena()
    cdef GramMemory memory
    lay_out_gram(&arena, m, n, side, sizeof(float) if single else sizeof(double), &memory)
    return workspace_bytes(&arena)


cdef double norm_bound(const number *x, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, Side side,
                       double *sums) noexcept nogil:
    """An upper bound of the unfolding's spectral norm: Frobenius, or sqrt(||.||_1 ||.||_inf).

    sums is scratch, of m + n numbers.
    """
    cdef Py_ssize_t i, j, k, g = gram_side(m, n, side)
    cdef double squares = 0.0, across = 0.0, along = 0.0, size, total
    cdef double *other = sums + g       # n of them for rows, none for columns
    memset(sums, 0, g * sizeof(double))
    for i in range(v):
        if side == ROWS:
            memset(other, 0, n * sizeof(double))
        for j in range(m):
            total = 0.0
            for k in range(n):
                size = abs(x[(i * m + j) * n + k])
                squares += size * size
                total += size
                if side == ROWS:
                    other[k] += size
                else:
                    sums[k] += size
            if side == ROWS:
                sums[j] += total
            else:
                across = fmax(across, total)
        if side == ROWS:
            for k in range(n):
                across = fmax(across, other[k])
    for j in range(g):
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
    Side side,
    GramMemory *memory,         # OUT  reflectors, tridiagonal form, and spectrum, ascending
) noexcept nogil:
    """Eigenvalues of the Gram matrix of an unfolding; returns LAPACK's info.

    Column-major M_i = T_i^T, n x m: rows of T give sum M_i^H M_i, columns sum M_i M_i^H.
    """
    cdef number *gram = <number *> memory.gram
    cdef double *d = <double *> memory.tridiagonal.d
    cdef double *e = <double *> memory.tridiagonal.e
    cdef Py_ssize_t i, j, g = gram_side(m, n, side)
    cdef blas_int size = <blas_int> g, depth = <blas_int> (m + n - g), info
    for i in range(v):
        la.herk_lower(size, depth, x + i * m * n, side == ROWS, i > 0, gram)
    if number is doublecomplex:
        info = reduce_hermitian(size, gram, <double *> memory.d, <double *> memory.e,
                                <number *> memory.tau, <number *> memory.image)
    else:
        info = la.hetrd(size, gram, memory.d, memory.e, <number *> memory.tau,
                        <number *> memory.image)
    if info != 0:
        return <int> info
    if number is float or number is floatcomplex:
        for j in range(g):
            d[j] = (<float *> memory.d)[j]
        for j in range(g - 1):
            e[j] = (<float *> memory.e)[j]
    else:
        memcpy(d, memory.d, g * sizeof(double))
        memcpy(e, memory.e, (g - 1) * sizeof(double))
    return tridiagonal_values(g, memory.spectrum, &memory.tridiagonal)


cdef int gram_vectors(
    Py_ssize_t g,
    Py_ssize_t r,
    number *vectors,            # OUT  g x r, column-major
    GramMemory *memory,         # as gram_spectrum leaves it; the tridiagonal form is destroyed
) noexcept nogil:
    """The last r eigenvectors of the Gram matrix; returns LAPACK's info."""
    cdef Py_ssize_t j
    cdef Recipe recipe
    cdef int info
    recipe.keep = recipe.shift = 0.0
    recipe.low, recipe.high = 0, g - r
    info = tridiagonal_vectors(g, memory.z, &recipe, &memory.tridiagonal)
    if info != 0:
        return info
    for j in range(g * r):
        vectors[j] = <number> memory.z[j]
    return <int> la.unmtr(<blas_int> g, <blas_int> r, <number *> memory.gram,
                          <number *> memory.tau, vectors, <number *> memory.image)


cdef Py_ssize_t shrink_images(
    number *x,                  # INOUT v slices, m x n
    Py_ssize_t v,
    Py_ssize_t m,
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
    cdef Py_ssize_t i, j, k, rank = 0, g = gram_side(m, n, side), height = m + n - g
    cdef blas_int size = <blas_int> g, depth = <blas_int> height, columns = <blas_int> r
    memset(lengths, 0, r * sizeof(double))
    for i in range(v):
        slice = x + i * m * n
        la.gemm(side == COLUMNS, False, depth, columns, size, slice, <blas_int> n, vectors, size,
                image, depth)
        for j in range(r):
            for k in range(height):
                lengths[j] += square(image[j * height + k])
        memcpy(slice, image, height * r * sizeof(number))
    for j in range(r):
        length = sqrt(lengths[j])
        rank += length > t
        lengths[j] = 1.0 - t / length if length > t else 0.0
    for i in range(v):
        slice = x + i * m * n
        for j in range(r):
            for k in range(height):
                image[j * height + k] = <number> (lengths[j] * slice[j * height + k])
        if side == ROWS:
            la.gemm(False, True, depth, size, columns, image, depth, vectors, size, slice, depth)
        else:
            la.gemm(False, True, size, depth, columns, vectors, size, image, depth, slice, size)
    return rank


cdef int unfolding_map(
    number *x,                  # INOUT v slices, m x n, row-major
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    Side side,
    void *workspace,            # unfolding_bytes(m, n, side, single)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """Shrink the singular values of an unfolding by t; returns LAPACK's info."""
    cdef Arena arena = arena_at(workspace)
    cdef GramMemory memory
    cdef double limit = gram_limit(SHRINK)
    cdef Py_ssize_t j, r = 0, g = gram_side(m, n, side)
    cdef int info
    lay_out_gram(&arena, m, n, side, sizeof(number), &memory)
    if number is float or number is floatcomplex:
        limit = GRAM_LIMIT_SINGLE
    rank[0] = 0
    if not norm_bound(x, v, m, n, side, memory.sums) <= t:   # also where it is not a number
        info = gram_spectrum(x, v, m, n, side, &memory)
        if info != 0:
            return info
        if t < limit * sqrt(fmax(memory.spectrum[g - 1], 0.0)):
            r = g
        else:
            for j in range(g):
                r += memory.spectrum[j] > t * t
    if r == 0:
        memset(x, 0, v * m * n * sizeof(number))
        return 0
    info = gram_vectors(g, r, <number *> memory.vectors, &memory)
    if info == 0:
        rank[0] = shrink_images(x, v, m, n, t, side, r, &memory)
    return info


# ------------------------------------------------------------------ one complex matrix

cdef struct ComplexMemory:
    void *slice                 # m x n
    void *work                  # unfolding_map's


cdef void lay_out_complex(Arena *arena, Py_ssize_t m, Py_ssize_t n, bint single,
                          ComplexMemory *memory) noexcept nogil:
    """Lay out what maps a complex slice given by its parts."""
    cdef size_t itemsize = sizeof(floatcomplex) if single else sizeof(doublecomplex)
    cdef Arena inside = counting_arena()
    cdef GramMemory gram
    lay_out_gram(&inside, m, n, ROWS, itemsize, &gram)
    memory.slice = take(arena, <double> m * n, itemsize)
    memory.work = take(arena, workspace_bytes(&inside), 1)


cdef size_t complex_bytes(Py_ssize_t m, Py_ssize_t n, bint single) noexcept nogil:
    """Workspace of complex_map, which is also enough for unfolding_map by rows."""
    cdef Arena arena = counting_arena()
    cdef ComplexMemory memory
    lay_out_complex(&arena, m, n, single, &memory)
    return workspace_bytes(&arena)


cdef int map_parts(
    floating *x,
    floating *y,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    complex_number *slice,      # m x n, of the precision of x
    void *work,
    Py_ssize_t *rank,
) noexcept nogil:
    """As complex_map, through the memory for ``x + i y``."""
    cdef Py_ssize_t k
    cdef int info
    for k in range(m * n):
        slice[k].real = x[k]
        slice[k].imag = y[k]
    info = unfolding_map(slice, 1, m, n, t, ROWS, work, rank)
    for k in range(m * n):
        x[k] = <floating> slice[k].real
        y[k] = <floating> slice[k].imag
    return info


cdef int complex_map(
    floating *x,                # INOUT m x n, real part
    floating *y,                # INOUT m x n, imaginary part
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    void *workspace,            # complex_bytes(m, n, single)
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    """Shrink the singular values of ``x + i y`` by t; returns LAPACK's info."""
    cdef Arena arena = arena_at(workspace)
    cdef ComplexMemory memory
    lay_out_complex(&arena, m, n, True if floating is float else False, &memory)
    if floating is float:
        return map_parts(x, y, m, n, t, <floatcomplex *> memory.slice, memory.work, rank)
    else:
        return map_parts(x, y, m, n, t, <doublecomplex *> memory.slice, memory.work, rank)
