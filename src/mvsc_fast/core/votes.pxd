# Factors of rows, tubes between new rows and fitted ones, and votes of the fitted ones.
from cython cimport floating

from .api cimport mvsc_factor_map, mvsc_voters
from .arena cimport Arena

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
