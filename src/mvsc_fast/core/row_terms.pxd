# The row terms of TLRR on a sparse pattern too large for eigenproblems of its frontal slices.
from .arena cimport Arena


cdef struct RowTerms:
    # What is asked for, and what was reached.
    double omega1
    double alpha
    double lam
    double tol
    Py_ssize_t max_iter
    int n_threads
    Py_ssize_t n_iter           # OUT
    double gap                  # OUT  relative, at most
    int lapack_info             # OUT
    Py_ssize_t failed_row       # OUT


cdef int solve_row_terms(
    const float *W,
    Py_ssize_t v,
    Py_ssize_t n,
    const Py_ssize_t *indptr,
    const int *indices,
    RowTerms *terms,
    Arena *arena,
    float *L,
) noexcept nogil
