"""Similarities that are products of factors, of which only the longest tubes are needed.

The entries of slice i are ``A_jk = max(0, <u_j, u_k> (h_j + h_k))`` for rows u of length d and
numbers h: no entry is stored unless it is needed. Rows are independent of each other and every
output has one writer, so the number of threads changes no bit.
"""

from cython.parallel cimport prange
from libc.math cimport sqrtf
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy

from . cimport lapack as la
from .arena cimport Arena, take
from .lapack cimport blas_int
from .platform cimport (
    omp_destroy_lock,
    omp_get_thread_num,
    omp_init_lock,
    omp_lock_t,
    omp_set_lock,
    omp_unset_lock,
)

cdef extern from "factored_loops.h" nogil:
    void mvsc_dots(const float *x, const float *rows, const int32_t *places, Py_ssize_t count,
                   Py_ssize_t n, float *out)
    Py_ssize_t mvsc_list_from(const float *x, const float *low, Py_ssize_t n, int32_t *places)
    float mvsc_bound_of_largest(const float *x, Py_ssize_t n, Py_ssize_t count)

cdef enum:
    TILE = 512              # rows and columns of a block of inner products: half of a core's cache

ctypedef fused ordered:
    float
    uint64_t


cdef inline float lesser(float x, float y) noexcept nogil:
    """The lesser of two numbers, without the function call that NaN would need."""
    return x if x < y else y


cdef inline uint64_t key_of(float value, Py_ssize_t index) noexcept nogil:
    """Orders positive values, and equal ones by index, the smaller first."""
    cdef uint32_t bits
    memcpy(&bits, &value, sizeof(float))
    return (<uint64_t> bits << 32) | ~<uint32_t> index


cdef inline float value_of(uint64_t key) noexcept nogil:
    """The value that is in the upper half of a key."""
    cdef uint32_t bits = <uint32_t> (key >> 32)
    cdef float value
    memcpy(&value, &bits, sizeof(float))
    return value


cdef inline Py_ssize_t index_of(uint64_t key) noexcept nogil:
    """The index that is in the lower half of a key."""
    return ~<uint32_t> key


cdef ordered select_largest(ordered *x, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """The k-th largest of x (from 0), moved to its place, larger ones before it (Hoare)."""
    cdef Py_ssize_t low = 0, high = n - 1, i, j
    cdef ordered pivot
    while low < high:
        pivot = x[low + (high - low) // 2]
        i, j = low, high
        while i <= j:
            while x[i] > pivot:
                i += 1
            while x[j] < pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return x[k]


cdef void sort_descending(uint64_t *keys, Py_ssize_t count) noexcept nogil:
    """Sort a few keys."""
    cdef Py_ssize_t a, b
    cdef uint64_t key
    for a in range(1, count):
        key = keys[a]
        b = a
        while b > 0 and keys[b - 1] < key:
            keys[b] = keys[b - 1]
            b -= 1
        keys[b] = key


# ------------------------------------------------------------------ nearest rows

cdef struct Nearest:
    Py_ssize_t count        # of rows to find
    Py_ssize_t capacity     # of a row's list, which is cut back to the count when it is full
    uint64_t *keys          # n x capacity
    Py_ssize_t *filled      # n
    uint64_t *least         # n: a key must exceed it


cdef void offer(Nearest *lists, Py_ssize_t j, Py_ssize_t k, float value) noexcept nogil:
    """Keep k if it is among the best of row j so far: the order of calls changes no result."""
    cdef uint64_t *keys = lists.keys + j * lists.capacity
    cdef uint64_t key = key_of(value, k)
    if key <= lists.least[j] or j == k:
        return
    keys[lists.filled[j]] = key
    lists.filled[j] += 1
    if lists.filled[j] == lists.capacity:
        lists.least[j] = select_largest(keys, lists.capacity, lists.count - 1)
        lists.filled[j] = lists.count


cdef void offer_tile(
    const float *rows,
    Py_ssize_t n,
    Py_ssize_t d,
    Py_ssize_t p,
    Py_ssize_t q,
    Nearest *lists,
    omp_lock_t *locks,          # one for each block of rows
    float *tile,                # TILE^2, and the least values of its rows or columns
    int32_t *places,            # TILE
) noexcept nogil:
    """Inner products of row blocks p <= q, offered to the rows of both.

    Those of a block with itself come first and bound the values that rows can keep.
    """
    cdef Py_ssize_t j, k, e, top = p * TILE, left = q * TILE
    cdef Py_ssize_t height = min(<Py_ssize_t> TILE, n - top)
    cdef Py_ssize_t width = min(<Py_ssize_t> TILE, n - left)
    cdef float *least = tile + TILE * TILE
    cdef float *row
    cdef float bound
    la.gemm(True, False, <blas_int> width, <blas_int> height, <blas_int> d,
            1.0, <float *> rows + left * d, <blas_int> d, <float *> rows + top * d, <blas_int> d,
            0.0, tile, <blas_int> width)
    omp_set_lock(&locks[p])
    for j in range(height):
        row = tile + j * width
        if p == q:
            bound = mvsc_bound_of_largest(row, width, lists.count + 1)
            lists.least[top + j] = max(lists.least[top + j], key_of(bound, -1))
        for k in range(width):
            least[k] = value_of(lists.least[top + j])
        for e in range(mvsc_list_from(row, least, width, places)):
            offer(lists, top + j, left + places[e], row[places[e]])
    omp_unset_lock(&locks[p])
    if p == q:
        return
    omp_set_lock(&locks[q])
    for k in range(width):
        least[k] = value_of(lists.least[left + k])
    for j in range(height):
        row = tile + j * width
        for e in range(mvsc_list_from(row, least, width, places)):
            k = places[e]
            offer(lists, left + k, top + j, row[k])
            least[k] = value_of(lists.least[left + k])
    omp_unset_lock(&locks[q])


cdef void list_nearest(Nearest *lists, Py_ssize_t j, int32_t *indices) noexcept nogil:
    """The indices of row j's list, largest first, and -1 if there are fewer."""
    cdef uint64_t *keys = lists.keys + j * lists.capacity
    cdef Py_ssize_t filled = lists.filled[j], a
    if filled > lists.count:
        select_largest(keys, filled, lists.count - 1)
        filled = lists.count
    sort_descending(keys, filled)
    for a in range(filled):
        indices[a] = <int32_t> index_of(keys[a])
    for a in range(filled, lists.count):
        indices[a] = -1


cdef int nearest_rows(
    const float *rows,          # n x d
    Py_ssize_t n,
    Py_ssize_t d,
    Py_ssize_t count,
    int n_threads,
    Arena *arena,
    int32_t *indices,           # OUT  n x count
) noexcept nogil:
    """For every row the rows of largest inner product with it, of positive ones only.

    Largest first, equal ones by index, -1 if there are fewer. Each pair of row blocks is
    multiplied once, and the product updates the lists of both. While the arena counts, nothing is
    done.
    """
    cdef Py_ssize_t blocks = (n + TILE - 1) // TILE, j, p, q
    cdef Nearest lists
    cdef omp_lock_t *locks = <omp_lock_t *> take(arena, blocks, sizeof(omp_lock_t))
    cdef float *tiles = <float *> take(arena, (TILE + 1.0) * TILE * n_threads, sizeof(float))
    cdef int32_t *places = <int32_t *> take(arena, <double> TILE * n_threads, sizeof(int32_t))
    lists.count, lists.capacity = count, 2 * count + 32
    lists.keys = <uint64_t *> take(arena, <double> n * lists.capacity, sizeof(uint64_t))
    lists.filled = <Py_ssize_t *> take(arena, n, sizeof(Py_ssize_t))
    lists.least = <uint64_t *> take(arena, n, sizeof(uint64_t))
    if arena.base == NULL or arena.overflow:
        return -1
    for j in range(n):
        lists.filled[j] = 0
        lists.least[j] = <uint64_t> 1 << 32         # the smallest positive number
    for p in range(blocks):
        omp_init_lock(&locks[p])
    for p in prange(blocks, num_threads=n_threads, schedule="static", chunksize=1):
        offer_tile(rows, n, d, p, p, &lists, locks,
                   tiles + (TILE + 1) * TILE * omp_get_thread_num(),
                   places + TILE * omp_get_thread_num())
    for p in prange(blocks, num_threads=n_threads, schedule="static", chunksize=1):
        for q in range(p + 1, blocks):
            offer_tile(rows, n, d, p, q, &lists, locks,
                       tiles + (TILE + 1) * TILE * omp_get_thread_num(),
                       places + TILE * omp_get_thread_num())
    for p in range(blocks):
        omp_destroy_lock(&locks[p])
    for j in prange(n, num_threads=n_threads, schedule="static"):
        list_nearest(&lists, j, indices + j * count)
    return 0


# ------------------------------------------------------------------ entries and tubes

cdef void products(
    const float *u,             # n x d
    const float *h,             # n
    Py_ssize_t d,
    const Py_ssize_t *indptr,   # of the pattern, of which rows first .. last are computed
    const int32_t *indices,
    Py_ssize_t first,
    Py_ssize_t last,
    int n_threads,
    float *values,              # OUT  one for each entry of these rows
) noexcept nogil:
    """A_jk = max(0, <u_j, u_k> (h_j + h_k)) on a sparse pattern, bit-identical to A_kj."""
    cdef Py_ssize_t j, e, start = indptr[first]
    cdef float value
    for j in prange(first, last, num_threads=n_threads, schedule="static"):
        mvsc_dots(u + j * d, u, indices + indptr[j], indptr[j + 1] - indptr[j], d,
                  values + indptr[j] - start)
        for e in range(indptr[j], indptr[j + 1]):
            value = values[e - start] * (h[j] + h[indices[e]])
            values[e - start] = value if value > 0 else 0


cdef float local_scale(
    const float *values, Py_ssize_t count, Py_ssize_t rank, float *work
) noexcept nogil:
    """The rank-th largest (from 1) of the positive values, the least if fewer, 1 if none.

    For small ranks, as the largest so far are kept in order.
    """
    cdef Py_ssize_t k, place, filled = 0
    cdef float value, least = 0.0
    for k in range(count):
        value = values[k]
        if value <= least:
            continue
        filled = min(filled + 1, rank)
        place = filled - 1
        while place > 0 and work[place - 1] < value:
            work[place] = work[place - 1]
            place -= 1
        work[place] = value
        if filled == rank:
            least = work[rank - 1]
    return work[filled - 1] if filled else <float> 1.0


cdef void local_scales(
    const float *values,        # of rows first .. last
    const Py_ssize_t *indptr,
    Py_ssize_t first,
    Py_ssize_t last,
    Py_ssize_t rank,
    int n_threads,
    Py_ssize_t widest,          # entries of the longest row
    float *work,                # n_threads x widest
    float *scales,              # OUT  of all n rows: first .. last are written
) noexcept nogil:
    """scales[first:last] <- the rank-th largest positive value of each of these rows."""
    cdef Py_ssize_t j
    for j in prange(first, last, num_threads=n_threads, schedule="static"):
        scales[j] = local_scale(values + indptr[j] - indptr[first], indptr[j + 1] - indptr[j],
                                rank, work + omp_get_thread_num() * widest)


cdef void longest_of_row(
    const float *values,        # of the row, slices ``stride`` apart
    Py_ssize_t stride,
    Py_ssize_t v,
    Py_ssize_t n,
    const float *roots,
    Py_ssize_t j,
    const int32_t *indices,
    Py_ssize_t width,           # entries of the row
    float cap,
    Py_ssize_t count,
    float *squares,             # width
    float *ranked,              # width
    int32_t *kept,
    float *entries,             # slices n x count apart
    float *lengths,
) noexcept nogil:
    """The longest tubes of row j, as `longest_tubes` lists them."""
    cdef Py_ssize_t i, e, k, ties = 0, c = 0
    cdef float w, least = 0.0
    for e in range(width):
        squares[e] = 0.0
    for i in range(v):
        for e in range(width):
            k = indices[e]
            w = lesser(values[i * stride + e] * (roots[i * n + j] * roots[i * n + k]), cap)
            squares[e] += w * w
    if width > count:
        memcpy(ranked, squares, width * sizeof(float))
        select_largest(ranked, width, count)
        least = ranked[0]
        for e in range(count):
            least = lesser(least, ranked[e])
        for e in range(count):
            ties += ranked[e] == least
    else:
        ties = width
    for e in range(width):
        if squares[e] == least:
            ties -= 1
        if squares[e] == 0 or squares[e] < least or (squares[e] == least and ties < 0):
            continue
        k = indices[e]
        kept[c] = indices[e]
        lengths[c] = sqrtf(squares[e])
        for i in range(v):
            entries[i * n * count + c] = lesser(
                values[i * stride + e] * (roots[i * n + j] * roots[i * n + k]), cap
            )
        c += 1
    for e in range(c, count):
        kept[e] = -1


cdef void longest_tubes(
    const float *values,        # A on rows first .. last of the pattern, slice by slice
    Py_ssize_t v,
    Py_ssize_t n,
    const float *roots,         # v x n: 1 / sqrt(r)
    const Py_ssize_t *indptr,
    const int32_t *indices,
    Py_ssize_t first,
    Py_ssize_t last,
    float cap,
    Py_ssize_t count,
    int n_threads,
    Py_ssize_t widest,
    float *work,                # n_threads x 2 widest
    int32_t *kept,              # OUT  n x count: columns, -1 if there are fewer
    float *entries,             # OUT  v x n x count
    float *lengths,             # OUT  n x count
) noexcept nogil:
    """The ``count`` longest tubes of every row of W_jk = min(cap, A_jk / sqrt(r_j r_k)).

    In the order of the columns; of equal tubes those with the smallest indices are kept.
    """
    cdef Py_ssize_t j, start, stride = indptr[last] - indptr[first]
    cdef float *squares
    for j in prange(first, last, num_threads=n_threads, schedule="static"):
        squares = work + 2 * widest * omp_get_thread_num()
        start = indptr[j]
        longest_of_row(
            values + start - indptr[first], stride, v, n, roots, j, indices + start,
            indptr[j + 1] - start, cap, count, squares, squares + widest, kept + j * count,
            entries + j * count, lengths + j * count
        )
