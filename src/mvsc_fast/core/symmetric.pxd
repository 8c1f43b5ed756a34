# Maps of the eigenvalues of symmetric frontal slices.
from cython cimport floating

from .lapack cimport blas_int
from .rows cimport Spectral


cdef enum:
    MAX_SLICE = 32766       # LAPACK's 32-bit sizes: 1 + 6 n + 2 n^2 <= 2^31 - 1


cdef Py_ssize_t symmetric_lwork(Py_ssize_t n) noexcept nogil
cdef Py_ssize_t symmetric_liwork(Py_ssize_t n) noexcept nogil
cdef int symmetric_map(
    floating *a,
    Py_ssize_t n,
    double t,
    Spectral kind,
    floating *eigenvalues,
    floating *work,
    void *iwork,
    Py_ssize_t *outside,
) noexcept nogil

cdef struct Recipe:
    # The mapped matrix is  keep * a + shift * I + sum over the chosen eigenpairs.
    double keep
    double shift
    Py_ssize_t low          # chosen: eigenpairs 0 .. low and high .. n, ascending order
    Py_ssize_t high

cdef int tridiagonal_values(
    Py_ssize_t n,
    const floating *d,
    const floating *e,
    floating *values,
    floating *scratch,
) noexcept nogil

cdef int tridiagonal_vectors(
    Py_ssize_t n,
    floating *d,
    floating *e,
    floating *z,
    Recipe *recipe,
    floating *work,
    blas_int *iwork,
) noexcept nogil

cdef void symmetric_maps(
    floating *T,
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Spectral kind,
    int n_threads,
    floating *numbers,
    long long *integers,
    floating *eigenvalues,
    Py_ssize_t *outside,
    int *code,
) noexcept nogil
