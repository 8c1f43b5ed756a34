# Exact screening: which tubes can be non-zero, and into which blocks a TLRR problem splits.
from cython cimport floating

from .api cimport mvsc_tlrr_blocks


cdef struct Source:
    # Symmetric slices, dense or on one CSR pattern, sorted by columns, of all views.
    Py_ssize_t v
    Py_ssize_t n
    Py_ssize_t stride           # numbers from one view to the next
    const Py_ssize_t *indptr    # NULL: dense
    const Py_ssize_t *indices
    double scale                # factor of the values: a power of two
    double tau                  # longer tubes join their two samples
    double bound                # shorter tubes are zero; negative: no single tube is certain to be


cdef struct Pattern:
    # The tubes of one block that may be non-zero, in the order of a CSR matrix.
    Py_ssize_t n
    Py_ssize_t nnz
    Py_ssize_t *indptr
    int *indices
    int *mirror                 # position of entry (k, j) for every entry (j, k)
    Py_ssize_t *position        # of every entry in a slice of the source
    Py_ssize_t *cursor          # scratch, n


cdef void set_thresholds(
    Source *source, double omega1, double alpha, double lam, double lightest,
) noexcept nogil

cdef void screen(
    const floating *data, const Source *source, Py_ssize_t *labels, mvsc_tlrr_blocks *blocks,
) noexcept nogil

cdef void sort_members(
    const Py_ssize_t *labels, Py_ssize_t n, Py_ssize_t n_blocks, Py_ssize_t *starts,
    Py_ssize_t *members, Py_ssize_t *local,
) noexcept nogil

cdef bint build_pattern(
    const floating *data, const Source *source, const Py_ssize_t *labels, const Py_ssize_t *members,
    const Py_ssize_t *local, Py_ssize_t capacity, Pattern *pattern,
) noexcept nogil

cdef bint pair_mirrors(Pattern *pattern) noexcept nogil
