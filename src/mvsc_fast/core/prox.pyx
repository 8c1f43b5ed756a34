"""The proximal maps of the C interface, and that of the tensor nuclear norm, on whole tensors."""

from cython cimport floating
from libc.string cimport memcpy, memset

from .api cimport (
    MVSC_NO_CONVERGENCE,
    MVSC_OK,
    MVSC_SLICE_CLIP,
    MVSC_SLICE_SHRINK,
    MVSC_SYMMETRIC_CLIP,
    MVSC_SYMMETRIC_SHRINK,
    MVSC_TOO_LARGE,
    MVSC_TUBE_SHRINK,
)
from .arena cimport Arena, take
from .loops cimport CHUNK
from .rows cimport CLIP, SHRINK, Spectral, halfcomplex_map, slice_lwork, slice_map, tube_map
from .symmetric cimport symmetric_liwork, symmetric_lwork, symmetric_maps
from .watch cimport failed, frontal_threads


cdef bint is_symmetric(int kind) noexcept nogil:
    """Whether a map is one of symmetric frontal slices."""
    return kind == MVSC_SYMMETRIC_SHRINK or kind == MVSC_SYMMETRIC_CLIP


cdef Py_ssize_t prox_counts(int kind, Py_ssize_t v, Py_ssize_t m) noexcept nogil:
    """How many numbers of values above the threshold a map returns."""
    if kind == MVSC_SLICE_SHRINK or kind == MVSC_SLICE_CLIP:
        return m
    if kind == HALFCOMPLEX_SHRINK:
        return m // 2 + 1
    return v if is_symmetric(kind) else 1


cdef int typed_prox(int kind, floating *data, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t,
                    int n_threads, Arena *arena, Py_ssize_t *counts, int *info,
                    Py_ssize_t *index) noexcept nogil:
    """As prox."""
    cdef Py_ssize_t n_counts = prox_counts(kind, v, m), size = slice_lwork(v, n)
    cdef Spectral spectral = SHRINK
    cdef size_t itemsize = sizeof(double)
    cdef void *numbers
    cdef long long *integers = NULL
    cdef floating *spectrum = NULL
    cdef Py_ssize_t *ranks = <Py_ssize_t *> take(arena, n_counts, sizeof(Py_ssize_t))
    cdef int *codes = <int *> take(arena, n_counts, sizeof(int))
    if is_symmetric(kind):
        n_threads = frontal_threads(v, n_threads)
        size, itemsize = symmetric_lwork(n), sizeof(floating)
        integers = <long long *> take(arena, <double> n_threads * symmetric_liwork(n), 8)
        spectrum = <floating *> take(arena, <double> v * n, itemsize)
    elif kind == MVSC_TUBE_SHRINK:
        size, itemsize = CHUNK, sizeof(floating)
    elif kind == HALFCOMPLEX_SHRINK:
        size = slice_lwork(2 * v, 2 * n)
    numbers = take(arena, <double> n_threads * size, itemsize)
    if arena.overflow:
        return MVSC_TOO_LARGE
    if arena.base == NULL:
        return MVSC_OK
    if kind == MVSC_SLICE_CLIP or kind == MVSC_SYMMETRIC_CLIP:
        spectral = CLIP
    memset(codes, 0, n_counts * sizeof(int))
    if is_symmetric(kind):
        symmetric_maps(data, v, n, t, spectral, n_threads, <floating *> numbers, integers,
                       spectrum, ranks, codes)
    elif kind == MVSC_TUBE_SHRINK:
        ranks[0] = tube_map(data, v, m, n, t, n_threads, <floating *> numbers)
    elif kind == HALFCOMPLEX_SHRINK:
        halfcomplex_map(data, v, m, n, t, n_threads, <double *> numbers, ranks, codes)
    else:
        slice_map(data, v, m, n, t, spectral, n_threads, <double *> numbers, ranks, codes)
    if failed(codes, n_counts, info, index):
        return MVSC_NO_CONVERGENCE
    if counts != NULL:
        memcpy(counts, ranks, n_counts * sizeof(Py_ssize_t))
    return MVSC_OK


cdef int prox(
    int kind,                   # of mvsc_map, or HALFCOMPLEX_SHRINK
    bint single,                # whether the entries are floats
    void *data,                 # INOUT v x m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    int n_threads,
    Arena *arena,
    Py_ssize_t *counts,         # OUT  prox_counts(kind, v, m), or NULL
    int *info,                  # OUT  after MVSC_NO_CONVERGENCE: LAPACK's, and
    Py_ssize_t *index,          # OUT  its slice
) noexcept nogil:
    """Apply a map in place; a status. While the arena counts, nothing is done."""
    if single:
        return typed_prox(kind, <float *> data, v, m, n, t, n_threads, arena, counts, info, index)
    return typed_prox(kind, <double *> data, v, m, n, t, n_threads, arena, counts, info, index)
