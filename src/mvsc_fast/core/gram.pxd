# Singular value shrinkage of large matrices: frontal slices and unfoldings of a tensor.
from .lapack cimport number


cdef size_t unfolding_bytes(Py_ssize_t m, Py_ssize_t n, size_t itemsize) noexcept nogil
cdef int unfolding_map(
    number *x, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t, void *workspace,
    Py_ssize_t *rank,
) noexcept nogil
