"""Python binding of core/factored: similarities that are products of factors."""

from libc.stdint cimport int32_t

cimport mvsc_fast.core.factored as factored
from mvsc_fast._utils.memory cimport check_pattern, memory
from mvsc_fast.core.arena cimport Arena, arena_at, counting_arena, workspace_bytes

import numpy as np


cdef float *floats(array, shape, name) except? NULL:
    return <float *> memory(array, np.float32, shape, name)


cdef int32_t *int32s(array, shape, name) except? NULL:
    return <int32_t *> memory(array, np.int32, shape, name)


def nearest_rows(rows, Py_ssize_t count, int n_threads=1):
    """For every row, the ``count`` rows with the largest positive inner products.

    Returns
    -------
    ndarray of shape (n, count), int32
        Largest first, ties by index, padded with -1.
    """
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1]
    out = np.empty((n, count), dtype=np.int32)
    if out.size == 0 or d == 0:
        out.fill(-1)
        return out
    cdef const float *data = floats(rows, (n, d), "rows")
    cdef int32_t *indices = int32s(out, (n, count), "out")
    cdef Arena arena = counting_arena()
    factored.nearest_rows(data, n, d, count, n_threads, &arena, indices)
    if arena.overflow:
        raise MemoryError(f"{count} nearest of {n} rows need more memory than can be addressed")
    workspace = np.empty(workspace_bytes(&arena), dtype=np.int8)
    arena = arena_at(memory(workspace, np.int8))
    with nogil:
        factored.nearest_rows(data, n, d, count, n_threads, &arena, indices)
    return out


def products(u, h, indptr, indices, Py_ssize_t first, Py_ssize_t last, out, int n_threads=1):
    """out <- max(0, <u_j, u_k> (h_j + h_k)) on rows first .. last of a sparse pattern."""
    cdef Py_ssize_t n = u.shape[0], d = u.shape[1]
    cdef Py_ssize_t count = check_pattern(indptr, indices, first, last, n)
    cdef const float *left = floats(u, (n, d), "u")
    cdef const float *scale = floats(h, (n,), "h")
    cdef const Py_ssize_t *start = <Py_ssize_t *> memory(indptr, np.intp)
    cdef const int32_t *column = int32s(indices, indices.shape, "indices")
    cdef float *values = floats(out, (count,), "out")
    if out.size == 0:
        return
    with nogil:
        factored.products(left, scale, d, start, column, first, last, n_threads, values)


def local_scales(values, indptr, Py_ssize_t first, Py_ssize_t last, Py_ssize_t rank, scales,
                 int n_threads=1):
    """scales[first:last] <- the rank-th largest positive value of each row first .. last."""
    cdef Py_ssize_t count = check_pattern(indptr, None, first, last, len(scales))
    cdef Py_ssize_t widest = np.diff(indptr[first:last + 1]).max(initial=1)
    work = np.empty(n_threads * widest, dtype=np.float32)
    cdef const float *data = floats(values, (count,), "values")
    cdef const Py_ssize_t *start = <Py_ssize_t *> memory(indptr, np.intp)
    cdef float *scratch = <float *> memory(work, np.float32)
    cdef float *out = floats(scales, scales.shape, "scales")
    with nogil:
        factored.local_scales(data, start, first, last, rank, n_threads, widest, scratch, out)


def longest_tubes(values, roots, indptr, indices, Py_ssize_t first, Py_ssize_t last, float cap,
                  kept, entries, lengths, int n_threads=1):
    """Find the longest tubes of ``min(cap, A_jk * roots_j * roots_k)`` for rows first .. last.

    Writes their columns to ``kept`` (n, m), ascending and padded with -1, their values to
    ``entries`` (v, n, m) and their lengths to ``lengths`` (n, m).
    """
    cdef Py_ssize_t v = roots.shape[0], n = roots.shape[1], count = kept.shape[1]
    cdef Py_ssize_t n_entries = check_pattern(indptr, indices, first, last, n)
    cdef Py_ssize_t widest = np.diff(indptr[first:last + 1]).max(initial=1)
    work = np.empty(2 * n_threads * widest, dtype=np.float32)
    cdef const float *data = floats(values, (v, n_entries), "values")
    cdef const float *root = floats(roots, (v, n), "roots")
    cdef const Py_ssize_t *start = <Py_ssize_t *> memory(indptr, np.intp)
    cdef const int32_t *column = int32s(indices, indices.shape, "indices")
    cdef float *scratch = <float *> memory(work, np.float32)
    cdef int32_t *columns = int32s(kept, (n, count), "kept")
    cdef float *tubes = floats(entries, (v, n, count), "entries")
    cdef float *length = floats(lengths, (n, count), "lengths")
    with nogil:
        factored.longest_tubes(data, v, n, root, start, column, first, last, cap, count, n_threads,
                               widest, scratch, columns, tubes, length)
