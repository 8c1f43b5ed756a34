"""Sparse similarities as products of factors: the Python door of core/factored."""

from libc.stdint cimport int32_t

cimport mvsc_fast.core.factored as factored
from mvsc_fast.core.arena cimport Arena, arena_at, counting_arena, workspace_bytes

import numpy as np


def nearest_rows(const float[:, ::1] rows, Py_ssize_t count, int n_threads=1):
    """For every row the ``count`` rows of largest positive inner product with it.

    Returns
    -------
    ndarray of shape (n, count), int32
        Largest first, equal ones by index, -1 where there are fewer.
    """
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1]
    out = np.empty((n, count), dtype=np.int32)
    if out.size == 0 or d == 0:
        out.fill(-1)
        return out
    cdef int32_t[:, ::1] indices = out
    cdef Arena arena = counting_arena()
    factored.nearest_rows(&rows[0, 0], n, d, count, n_threads, &arena, &indices[0, 0])
    if arena.overflow:
        raise MemoryError(f"{count} nearest of {n} rows need more memory than can be addressed")
    cdef char[::1] workspace = np.empty(workspace_bytes(&arena), dtype=np.int8)
    arena = arena_at(&workspace[0])
    with nogil:
        factored.nearest_rows(&rows[0, 0], n, d, count, n_threads, &arena, &indices[0, 0])
    return out


def products(const float[:, ::1] u, const float[::1] h, const Py_ssize_t[::1] indptr,
             const int32_t[::1] indices, Py_ssize_t first, Py_ssize_t last, float[::1] out,
             int n_threads=1):
    """out <- max(0, <u_j, u_k> (h_j + h_k)) on rows first .. last of a sparse pattern."""
    if out.shape[0] == 0:
        return
    with nogil:
        factored.products(&u[0, 0], &h[0], u.shape[1], &indptr[0], &indices[0], first, last,
                          n_threads, &out[0])


def local_scales(const float[::1] values, const Py_ssize_t[::1] indptr, Py_ssize_t first,
                 Py_ssize_t last, Py_ssize_t rank, float[::1] scales, int n_threads=1):
    """scales[first:last] <- the rank-th largest positive value of each of these rows."""
    cdef Py_ssize_t widest = np.diff(indptr[first:last + 1]).max(initial=1)
    cdef float[::1] work = np.empty(n_threads * widest, dtype=np.float32)
    cdef const float *data = &values[0] if values.shape[0] else NULL
    with nogil:
        factored.local_scales(data, &indptr[0], first, last, rank, n_threads, widest,
                              &work[0], &scales[0])


def longest_tubes(const float[:, ::1] values, const float[:, ::1] roots,
                  const Py_ssize_t[::1] indptr, const int32_t[::1] indices, Py_ssize_t first,
                  Py_ssize_t last, float cap, int32_t[:, ::1] kept, float[:, :, ::1] entries,
                  float[:, ::1] lengths, float[::1] missed, int n_threads=1):
    """Rows first .. last of the longest tubes of ``min(cap, A_jk * roots_j * roots_k)``.

    ``kept`` (n, m) are their columns, ascending, then -1; ``entries`` (v, n, m), ``lengths`` (n, m)
    and the length of the longest that was not kept, ``missed`` (n,).
    """
    cdef Py_ssize_t widest = np.diff(indptr[first:last + 1]).max(initial=1)
    cdef float[::1] work = np.empty(2 * n_threads * widest, dtype=np.float32)
    cdef bint empty = values.shape[1] == 0
    with nogil:
        factored.longest_tubes(
            NULL if empty else &values[0, 0], roots.shape[0], roots.shape[1], &roots[0, 0],
            &indptr[0], NULL if empty else &indices[0], first, last, cap, kept.shape[1], n_threads,
            widest, &work[0], &kept[0, 0], &entries[0, 0, 0], &lengths[0, 0], &missed[0]
        )
