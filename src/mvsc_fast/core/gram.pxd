# Singular value shrinkage of large matrices: frontal slices and unfoldings of a tensor.
from cython cimport floating

from .lapack cimport number


cdef enum Side:
    ROWS        # of the unfolding [T_0, T_1, ...]: one left factor for all slices
    COLUMNS     # of the unfolding [T_0; T_1; ...]: one right factor for all slices


cdef size_t unfolding_bytes(Py_ssize_t m, Py_ssize_t n, Side side, bint single) noexcept nogil
cdef int unfolding_map(
    number *x,
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    Side side,
    void *workspace,
    Py_ssize_t *rank,
) noexcept nogil

cdef size_t complex_bytes(Py_ssize_t m, Py_ssize_t n, bint single) noexcept nogil
cdef int complex_map(
    floating *x,
    floating *y,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    void *workspace,
    Py_ssize_t *rank,
) noexcept nogil
