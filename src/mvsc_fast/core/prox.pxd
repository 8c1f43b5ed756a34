# The proximal maps of the C interface, and that of the tensor nuclear norm.
from .arena cimport Arena


cdef enum:
    HALFCOMPLEX_SHRINK = 0      # in addition to the codes of mvsc_map


cdef bint is_symmetric(int kind) noexcept nogil
cdef Py_ssize_t prox_counts(int kind, Py_ssize_t v, Py_ssize_t m) noexcept nogil
cdef int prox(
    int kind, bint single, void *data, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t,
    int n_threads, Arena *arena, Py_ssize_t *counts, int *info, Py_ssize_t *index,
) noexcept nogil
