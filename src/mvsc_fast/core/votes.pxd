# Factors of rows, tubes between new rows and fitted ones, and votes of the fitted ones.
from cython cimport floating

from .arena cimport Arena

cdef enum:
    MVSC_MEMBER = 1
    MVSC_NEW = 2


cdef struct mvsc_factor_map:
    size_t size
    Py_ssize_t d
    const double *lower
    const Py_ssize_t *columns


cdef struct mvsc_voters:
    size_t size
    Py_ssize_t v
    Py_ssize_t n
    Py_ssize_t n_clusters
    const Py_ssize_t *d
    const float *const *u
    const float *const *h
    const float *scales
    const Py_ssize_t *labels
    Py_ssize_t n_votes
    Py_ssize_t scale_neighbors
    Py_ssize_t n_listed
    Py_ssize_t n_candidates
    double cap


cdef int factor_rows(
    const mvsc_factor_map *map,
    const floating *x,
    Py_ssize_t m,
    Py_ssize_t width,
    int kind,
    int n_threads,
    Arena *arena,
    float *u,
    float *h,
) noexcept nogil

cdef int vote(
    const mvsc_voters *voters,
    Py_ssize_t m,
    const float *const *u,
    const float *const *h,
    int n_threads,
    Arena *arena,
    float *lengths,
    float *scores,
    Py_ssize_t *labels,
) noexcept nogil

cdef int vote_by_squares(
    const float *squares,
    Py_ssize_t m,
    Py_ssize_t n,
    Py_ssize_t n_votes,
    const Py_ssize_t *labels,
    Py_ssize_t n_clusters,
    int n_threads,
    Arena *arena,
    float *scores,
) noexcept nogil
