"""Similarities that are products of factors: the Python door of core/factored and core/votes."""

from libc.stdint cimport int32_t

cimport mvsc_fast.core.factored as factored
cimport mvsc_fast.core.votes as votes
from mvsc_fast._memory cimport memory
from mvsc_fast.core.api cimport MVSC_NOT_FINITE
from mvsc_fast.core.arena cimport Arena, arena_at, counting_arena, workspace_bytes
from mvsc_fast.core.votes cimport MVSC_MEMBER, MVSC_NEW, mvsc_factor_map, mvsc_voters

import numpy as np


cdef float *floats(array) except? NULL:
    return <float *> memory(array, np.float32)


cdef int32_t *int32s(array) except? NULL:
    return <int32_t *> memory(array, np.int32)


cdef double *doubles(array) except? NULL:
    return <double *> memory(array, np.float64)


cdef Py_ssize_t *positions(array) except? NULL:
    return <Py_ssize_t *> memory(array, np.intp)


cdef object workspace_for(Arena *arena):
    """What an arena has counted."""
    if arena.overflow:
        raise MemoryError("more memory is needed than can be addressed")
    return np.empty(workspace_bytes(arena), dtype=np.int8)


def nearest_rows(rows, Py_ssize_t count, int n_threads=1):
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
    cdef const float *data = floats(rows)
    cdef int32_t *indices = int32s(out)
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
    cdef Py_ssize_t d = u.shape[1]
    cdef const float *left = floats(u)
    cdef const float *scale = floats(h)
    cdef const Py_ssize_t *start = positions(indptr)
    cdef const int32_t *column = int32s(indices)
    cdef float *values = floats(out)
    if out.size == 0:
        return
    with nogil:
        factored.products(left, scale, d, start, column, first, last, n_threads, values)


def local_scales(values, indptr, Py_ssize_t first, Py_ssize_t last, Py_ssize_t rank, scales,
                 int n_threads=1):
    """scales[first:last] <- the rank-th largest positive value of each of these rows."""
    cdef Py_ssize_t widest = np.diff(indptr[first:last + 1]).max(initial=1)
    work = np.empty(n_threads * widest, dtype=np.float32)
    cdef const float *data = floats(values)
    cdef const Py_ssize_t *start = positions(indptr)
    cdef float *scratch = floats(work)
    cdef float *out = floats(scales)
    with nogil:
        factored.local_scales(data, start, first, last, rank, n_threads, widest, scratch, out)


def longest_tubes(values, roots, indptr, indices, Py_ssize_t first, Py_ssize_t last, float cap,
                  kept, entries, lengths, missed, int n_threads=1):
    """Rows first .. last of the longest tubes of ``min(cap, A_jk * roots_j * roots_k)``.

    ``kept`` (n, m) are their columns, ascending, then -1; ``entries`` (v, n, m), ``lengths`` (n, m)
    and the length of the longest that was not kept, ``missed`` (n,).
    """
    cdef Py_ssize_t v = roots.shape[0], n = roots.shape[1], count = kept.shape[1]
    cdef Py_ssize_t widest = np.diff(indptr[first:last + 1]).max(initial=1)
    work = np.empty(2 * n_threads * widest, dtype=np.float32)
    cdef const float *data = floats(values)
    cdef const float *root = floats(roots)
    cdef const Py_ssize_t *start = positions(indptr)
    cdef const int32_t *column = int32s(indices)
    cdef float *scratch = floats(work)
    cdef int32_t *columns = int32s(kept)
    cdef float *tubes = floats(entries)
    cdef float *length = floats(lengths)
    cdef float *rest = floats(missed)
    with nogil:
        factored.longest_tubes(data, v, n, root, start, column, first, last, cap, count, n_threads,
                               widest, scratch, columns, tubes, length, rest)


def factor_rows(lower, columns, X, u, h, bint new, int n_threads=1):
    """u (m, d), h (m,) <- the factors of the unit rows X, see `_factors`.

    ``lower`` is the inverse of the Cholesky factor (d, d), ``columns`` (d,) are those of X that
    have a part in it, and ``new`` says that the rows had none in the fit.
    """
    cdef Py_ssize_t m = X.shape[0], width = X.shape[1]
    cdef int kind = MVSC_NEW if new else MVSC_MEMBER
    cdef mvsc_factor_map map
    map.size = sizeof(map)
    map.d = len(columns)
    map.lower = doubles(lower)
    map.columns = positions(columns)
    cdef const double *rows = doubles(X)
    cdef float *factors = floats(u)
    cdef float *scale = floats(h)
    cdef Arena arena = counting_arena()
    votes.factor_rows(&map, rows, m, width, kind, n_threads, &arena, factors, scale)
    workspace = workspace_for(&arena)
    arena = arena_at(memory(workspace, np.int8))
    with nogil:
        votes.factor_rows(&map, rows, m, width, kind, n_threads, &arena, factors, scale)


def vote(new, fitted, scales, labels, Py_ssize_t n_clusters, Py_ssize_t n_listed,
         Py_ssize_t n_votes, Py_ssize_t n_candidates, Py_ssize_t scale_neighbors, double cap,
         int n_threads=1):
    """Scores (m, n_clusters) of new rows, see `_votes.vote_scores`."""
    cdef Py_ssize_t m = len(new[0].h)
    cdef mvsc_voters voters
    cdef int status
    scores = np.empty((m, n_clusters), dtype=np.float32)
    lengths = np.array([factors.u.shape[1] for factors in fitted], dtype=np.intp)
    addresses = np.array(
        [[<size_t> floats(part) for part in parts]
         for factors in (fitted, new) for parts in zip(*factors, strict=True)],
        dtype=np.uintp,
    )
    cdef const float *const *table = <const float *const *> memory(addresses, np.uintp)
    cdef const float *const *u
    cdef const float *const *h
    cdef Py_ssize_t v = len(fitted)
    voters.size = sizeof(voters)
    voters.v, voters.n, voters.n_clusters = v, len(fitted[0].h), n_clusters
    voters.d = positions(lengths)
    voters.u, voters.h = table, table + v
    voters.scales = floats(scales)
    voters.labels = positions(labels)
    voters.n_votes, voters.scale_neighbors, voters.cap = n_votes, scale_neighbors, cap
    voters.n_listed, voters.n_candidates = n_listed, n_candidates
    u, h = table + 2 * v, table + 3 * v
    cdef float *out = floats(scores)
    cdef Arena arena = counting_arena()
    votes.vote(&voters, m, u, h, n_threads, &arena, NULL, out, NULL)
    workspace = workspace_for(&arena)
    arena = arena_at(memory(workspace, np.int8))
    with nogil:
        status = votes.vote(&voters, m, u, h, n_threads, &arena, NULL, out, NULL)
    if status == MVSC_NOT_FINITE:
        raise ValueError("similarities of new samples leave the range of float32: rescale them")
    return scores


def vote_by_squares(squares, labels, Py_ssize_t n_clusters, Py_ssize_t n_votes, int n_threads=1):
    """Scores (m, n_clusters) from squared lengths of tubes (m, n), see `_votes.vote_scores`."""
    cdef Py_ssize_t m = squares.shape[0], n = squares.shape[1]
    scores = np.empty((m, n_clusters), dtype=np.float32)
    cdef const float *data = floats(squares)
    cdef const Py_ssize_t *clusters = positions(labels)
    cdef float *out = floats(scores)
    cdef Arena arena = counting_arena()
    votes.vote_by_squares(data, m, n, n_votes, clusters, n_clusters, n_threads, &arena, out)
    workspace = workspace_for(&arena)
    arena = arena_at(memory(workspace, np.int8))
    with nogil:
        votes.vote_by_squares(data, m, n, n_votes, clusters, n_clusters, n_threads, &arena, out)
    return scores
