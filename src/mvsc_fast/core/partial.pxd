# Eigenvalue shrinkage of large slices of small rank, certified to have missed nothing.
from cython cimport floating


cdef enum:
    SMALLEST = 200          # samples; below, a full eigendecomposition is as fast


cdef struct Subspace:
    # What is kept of a slice between calls.
    void *basis             # n x (columns of subspace_capacity), orthonormal columns
    Py_ssize_t size         # columns in use
    Py_ssize_t rank         # of the last result


cdef Py_ssize_t subspace_capacity(Py_ssize_t n) noexcept nogil
cdef Py_ssize_t partial_lwork(Py_ssize_t n) noexcept nogil
cdef void start_subspace(
    Subspace *subspace, floating *basis, Py_ssize_t n, Py_ssize_t index,
) noexcept nogil
cdef bint worth_trying(const Subspace *subspace, Py_ssize_t n) noexcept nogil
cdef int partial_shrink(
    floating *a, Py_ssize_t n, double t, Subspace *subspace, floating *work,
) noexcept nogil
