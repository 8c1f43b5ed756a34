# Reduction of Hermitian matrices to tridiagonal form.
from .lapack cimport blas_int, doublecomplex


cdef enum:
    PANEL = 32              # columns that are reduced together


cdef blas_int reduce_hermitian(
    blas_int n,
    doublecomplex *a,
    double *d,
    double *e,
    doublecomplex *tau,
    doublecomplex *work,
) noexcept nogil
