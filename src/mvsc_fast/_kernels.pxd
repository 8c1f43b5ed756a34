# Compiled core: proximal maps and fused passes on C-contiguous (v, m, n) tensors.
# The functions declared here know no Python, allocate nothing and run without the GIL.
from cython cimport floating

from mvsc_fast.core.lapack cimport blas_int


cdef enum:
    CHUNK = 256             # tubes of a row handled together: v * CHUNK numbers stay in cache
    MAX_SLICE = 32766       # LAPACK's 32-bit sizes: 1 + 6 n + 2 n^2 <= 2^31 - 1


cdef enum Spectral:
    SHRINK      # soft threshold: the proximal map of t * nuclear norm
    CLIP        # projection onto the spectral-norm ball of radius t


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

cdef double spectral_factor(double s, double t, Spectral kind) noexcept nogil
cdef Py_ssize_t row_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil
cdef int row_operator(
    const double *rows,
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Spectral kind,
    double *mapper,
    double *work,
    Py_ssize_t *rank,
) noexcept nogil
cdef int row_basis(
    const double *rows,
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,
    double *work,
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

# Maps of whole tensors, C-contiguous of shape (v, m, n).

cdef Py_ssize_t tube_map(
    floating *T,
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    int n_threads,
    floating *lengths,
) noexcept nogil

cdef Py_ssize_t slice_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil
cdef void slice_map(
    floating *T,
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    Spectral kind,
    int n_threads,
    double *work,
    Py_ssize_t *rank,
    int *code,
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
