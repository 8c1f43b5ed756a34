# Maps of the eigenvalues of symmetric frontal slices.
from cython cimport floating

from .arena cimport Arena
from .lapack cimport blas_int
from .rows cimport Spectral


cdef enum:
    MAX_SLICE = 32766       # LAPACK's 32-bit sizes: 1 + 6 n + 2 n^2 <= 2^31 - 1


cdef Py_ssize_t symmetric_lwork(Py_ssize_t n) noexcept nogil
cdef Py_ssize_t symmetric_liwork(Py_ssize_t n) noexcept nogil
cdef int symmetric_map(
    floating *a, Py_ssize_t n, double t, Spectral kind, floating *eigenvalues, floating *work,
    void *iwork, Py_ssize_t *outside,
) noexcept nogil
cdef void symmetric_maps(
    floating *T, Py_ssize_t v, Py_ssize_t n, double t, Spectral kind, int n_threads,
    floating *numbers, long long *integers, floating *eigenvalues, Py_ssize_t *outside, int *info,
) noexcept nogil

cdef bint cuts_excess(
    Py_ssize_t n, Py_ssize_t below, Py_ssize_t above, double largest, double t, bint single,
) noexcept nogil
cdef bint norm_below(
    const floating *a, Py_ssize_t n, double t, double *shifted,
) noexcept nogil

# The eigenproblem of a tridiagonal matrix, to which those of slices and Gram matrices are reduced.

cdef struct Recipe:
    # The mapped matrix is  keep * a + shift * I + sum over the chosen eigenpairs.
    double keep
    double shift
    Py_ssize_t low          # chosen: eigenpairs 0 .. low and high .. n, ascending order
    Py_ssize_t high

cdef struct Tridiagonal:
    # A tridiagonal matrix, and memory to solve it. Numbers are of one type.
    void *d                 # n, the diagonal
    void *e                 # n - 1, the off-diagonal
    void *d_copy            # n
    void *e_copy            # n
    void *values            # n, of one call of stemr
    void *scratch           # LAPACK's, and room for n x n
    blas_int *support       # 2 n
    blas_int *integers      # LAPACK's

cdef void lay_out_tridiagonal(
    Arena *numbers, Arena *integers, Py_ssize_t n, size_t itemsize, Tridiagonal *memory,
) noexcept nogil
cdef int tridiagonal_values(
    Py_ssize_t n, floating *values, Tridiagonal *memory,
) noexcept nogil
cdef int tridiagonal_vectors(
    Py_ssize_t n, floating *z, const Recipe *recipe, Tridiagonal *memory,
) noexcept nogil
