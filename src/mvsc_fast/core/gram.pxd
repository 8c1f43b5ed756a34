# Singular value shrinkage of large matrices: frontal slices and unfoldings of a tensor.
from cython cimport floating

from .lapack cimport blas_int, doublecomplex, floatcomplex, number

ctypedef fused complex_number:
    floatcomplex
    doublecomplex


cdef enum Side:
    ROWS        # of the unfolding [T_0, T_1, ...]: one left factor for all slices
    COLUMNS     # of the unfolding [T_0; T_1; ...]: one right factor for all slices


cdef int unfolding_map(
    number *m,
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Side side,
    number *work,
    double *real_work,
    blas_int *iwork,
    Py_ssize_t *rank,
) noexcept nogil
cdef int complex_map(
    floating *x,
    floating *y,
    Py_ssize_t n,
    double t,
    complex_number *work,
    double *real_work,
    blas_int *iwork,
    Py_ssize_t *rank,
) noexcept nogil
