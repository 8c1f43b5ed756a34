# Proximal maps of tubes and of the v x n slices of a row.
from cython cimport floating


cdef enum Spectral:
    SHRINK      # soft threshold: the proximal map of t * nuclear norm
    CLIP        # projection onto the spectral-norm ball of radius t


cdef inline double gram_limit(Spectral kind) noexcept nogil:
    """Ratio of t to s_max from which the Gram matrix in doubles resolves singular values near t.

    It holds them down to sqrt(eps) * s_max. Shrinking needs an error of 1e-10 relative to s_max; a
    clipped slice must keep its norm bound to 1e-10 relative to t.
    """
    return 100 * 1.5e-8 if kind == SHRINK else 1e-3


cdef Py_ssize_t row_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil
cdef int row_operator(
    const double *rows, Py_ssize_t v, Py_ssize_t n, double t, Spectral kind, double *mapper,
    double *work, Py_ssize_t *rank,
) noexcept nogil
cdef int row_basis(
    const double *rows, Py_ssize_t v, Py_ssize_t n, double *basis, double *work,
) noexcept nogil

# Maps of whole tensors, C-contiguous of shape (v, m, n).

cdef Py_ssize_t tube_map(
    floating *T, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t, int n_threads,
    floating *lengths,
) noexcept nogil

cdef Py_ssize_t slice_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil
cdef void slice_map(
    floating *T, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t, Spectral kind, int n_threads,
    double *work, Py_ssize_t *rank, int *info,
) noexcept nogil
cdef void halfcomplex_map(
    floating *T, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t, int n_threads, double *work,
    Py_ssize_t *rank, int *info,
) noexcept nogil
