"""Fused sweeps of TRPCA and SNN: all of an iteration but its eigenproblems, once over memory."""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs, fmax
from libc.string cimport memset

from . cimport loops
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .loops cimport CHUNK, TILE
from .platform cimport omp_get_thread_num


# ------------------------------------------------------------------ TRPCA

cdef struct TRPCAMemory:
    double *transposed      # v x v, the basis
    double *hat             # n_threads x v x CHUNK, as the next: coefficients of the new L
    double *argument        # the next argument
    void *row               # n_threads x CHUNK, a row of the new L
    void *change            # n_threads x CHUNK, running maxima


cdef void lay_out_trpca(Arena *arena, Py_ssize_t v, size_t itemsize, int n_threads,
                        TRPCAMemory *memory) noexcept nogil:
    """Lay out what the threads of a sweep need."""
    cdef double threads = n_threads
    memory.transposed = <double *> take(arena, <double> v * v, sizeof(double))
    memory.hat = <double *> take(arena, threads * v * CHUNK, sizeof(double))
    memory.argument = <double *> take(arena, threads * v * CHUNK, sizeof(double))
    memory.row = take(arena, threads * CHUNK, itemsize)
    memory.change = take(arena, threads * CHUNK, itemsize)


cdef size_t trpca_bytes(Py_ssize_t v, size_t itemsize, int n_threads) noexcept nogil:
    """Workspace of trpca_sweep."""
    cdef Arena arena = counting_arena()
    cdef TRPCAMemory memory
    lay_out_trpca(&arena, v, itemsize, n_threads, &memory)
    return workspace_bytes(&arena)


cdef double trpca_sweep(
    const floating *W,      # v x m x n, as all tensors
    floating *L,            # OUT   B X
    floating *S,            # INOUT soft(W - L - Y / mu, lam / mu) out
    floating *Y,            # INOUT Y + mu (L + S - W) out
    floating *X,            # INOUT coefficients of the new L in, of W - S - Y / mu_next out
    const double *basis,    # v x v, B: orthonormal columns
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double lam,
    double mu,
    double mu_next,
    int n_threads,
    void *workspace,        # trpca_bytes
) noexcept nogil:
    """One TRPCA iteration but the shrinkage of X.

    Returns the largest entry of ``|L + S - W|`` and of the changes of L and S.
    """
    cdef Arena arena = arena_at(workspace)
    cdef TRPCAMemory memory
    cdef Py_ssize_t i, j, k, p, at, first, width
    cdef double largest = 0.0
    cdef double *hat
    cdef double *argument
    cdef floating *row
    cdef floating *change
    cdef int thread
    lay_out_trpca(&arena, v, sizeof(floating), n_threads, &memory)
    memset(memory.change, 0, n_threads * CHUNK * sizeof(floating))
    for i in range(v):
        for p in range(v):
            memory.transposed[i * v + p] = basis[p * v + i]
    for j in prange(m, num_threads=n_threads, schedule="static"):
        thread = omp_get_thread_num()
        hat = memory.hat + thread * v * CHUNK
        argument = memory.argument + thread * v * CHUNK
        row = <floating *> memory.row + thread * CHUNK
        change = <floating *> memory.change + thread * CHUNK
        first = 0
        while first < n:
            width = min(<Py_ssize_t> CHUNK, n - first)
            for i in range(v):
                at = (i * m + j) * n + first
                for p in range(width):
                    hat[i * CHUNK + p] = X[at + p]
            for i in range(v):
                at = (i * m + j) * n + first
                loops.combine(basis + i * v, hat, v, CHUNK, width, row)
                loops.trpca_update(W + at, L + at, S + at, Y + at, row, lam, mu, mu_next, width,
                                   argument + i * CHUNK, change)
            for i in range(v):
                loops.combine(memory.transposed + i * v, argument, v, CHUNK, width,
                              X + (i * m + j) * n + first)
            first = first + width
    for k in range(n_threads * CHUNK):
        largest = fmax(largest, (<floating *> memory.change)[k])
    return largest


# ------------------------------------------------------------------ SNN

cdef struct SNNMemory:
    double *argument        # n_threads x v x TILE
    double *grams           # one v x v matrix for each row of tiles
    double *change          # one number for each row of tiles


cdef Py_ssize_t tiles_of(Py_ssize_t n) noexcept nogil:
    """Tiles along an edge of n entries."""
    return (n + TILE - 1) // TILE


cdef void lay_out_snn(Arena *arena, Py_ssize_t v, Py_ssize_t n, int n_threads,
                      SNNMemory *memory) noexcept nogil:
    """Lay out what the threads of a sweep need, and its sums tile by tile."""
    cdef double threads = n_threads, tiles = tiles_of(n)
    memory.argument = <double *> take(arena, threads * v * TILE, sizeof(double))
    memory.grams = <double *> take(arena, tiles * v * v, sizeof(double))
    memory.change = <double *> take(arena, tiles, sizeof(double))


cdef size_t snn_bytes(Py_ssize_t v, Py_ssize_t n, int n_threads) noexcept nogil:
    """Workspace of snn_sweep."""
    cdef Arena arena = counting_arena()
    cdef SNNMemory memory
    lay_out_snn(&arena, v, n, n_threads, &memory)
    return workspace_bytes(&arena)


cdef inline void views_argument(
    const floating *w,
    const floating *e,
    const floating *y3,
    double mu,
    Py_ssize_t v,
    Py_ssize_t square,
    Py_ssize_t width,
    double *argument,           # OUT  v x TILE
) noexcept nogil:
    """W - E - Y3 / mu of ``width`` entries, in every view."""
    cdef Py_ssize_t i, k, at
    for i in range(v):
        at = i * square
        for k in range(width):
            argument[i * TILE + k] = w[at + k] - e[at + k] - y3[at + k] / mu


cdef inline void add_gram(const double *argument, Py_ssize_t v, Py_ssize_t width,
                          Py_ssize_t diagonal, double *gram) noexcept nogil:
    """Upper triangle of gram += sum_k w_k a_k a_k^T of the columns of argument, v x TILE.

    w_k is 1 for the entry ``diagonal`` of the slices' diagonal, else 2: for its mirror image too.
    """
    cdef Py_ssize_t p, q, k
    cdef double low, weight
    for p in range(v):
        for q in range(p, v):
            low = 0.0
            for k in range(width):
                weight = 1.0 if k == diagonal else 2.0
                low = low + weight * argument[p * TILE + k] * argument[q * TILE + k]
            gram[p * v + q] += low


cdef inline double snn_entry(
    const floating *w,
    floating *e,
    floating *l1,
    floating *y1,
    floating *x,
    floating *l3,
    floating *y3,
    double new3,                # the new L3
    double mu,
    double mu_next,
    Py_ssize_t at,
    Py_ssize_t mirror,
) noexcept nogil:
    """Update the entry ``at`` and its mirror image; returns the largest residual or change.

    The copy of the columns is the transpose of L1, so that the mean over the three copies is over
    x[at], x[mirror] and new3.
    """
    cdef double t = 1.0 / (3.0 * mu), a, error, r1, r2, r3, change
    a = w[at] - (x[at] + x[mirror] + new3 + (y1[at] + y1[mirror] + y3[at]) / mu) / 3.0
    error = a - t if a > t else (a + t if a < -t else 0.0)
    r1 = x[at] + error - w[at]
    r2 = x[mirror] + error - w[at]
    r3 = new3 + error - w[at]
    change = fmax(fabs(r1), fmax(fabs(r2), fabs(r3)))
    change = fmax(change, fmax(fabs(x[at] - l1[at]), fabs(x[mirror] - l1[mirror])))
    change = fmax(change, fmax(fabs(error - e[at]), fabs(new3 - l3[at])))
    l1[at] = x[at]
    l1[mirror] = x[mirror]
    l3[at] = l3[mirror] = <floating> new3
    e[at] = e[mirror] = <floating> error
    y3[at] = y3[mirror] = <floating> (y3[at] + mu * r3)
    y1[at] = <floating> (y1[at] + mu * r1)
    x[at] = <floating> (w[at] - error - y1[at] / mu_next)
    if mirror != at:
        y1[mirror] = <floating> (y1[mirror] + mu * r2)
        x[mirror] = <floating> (w[at] - error - y1[mirror] / mu_next)
    return change


cdef double snn_tile(
    const floating *w,          # everything: v slices of n x n
    floating *e,
    floating *l1,
    floating *y1,
    floating *x,
    floating *l3,
    floating *y3,
    const SNN *snn,
    Py_ssize_t j_first,
    Py_ssize_t k_first,
    double *argument,           # v x TILE
    double *gram,               # INOUT v x v
) noexcept nogil:
    """Update the entries (j, k) of a tile with k >= j, and their mirror images."""
    cdef Py_ssize_t v = snn.v, n = snn.n, square = n * n, j, k, i, p, start, row, width
    cdef double change = 0.0, new3, mu = snn.mu, mu_next = snn.mu_next
    cdef const double *mapper = snn.mapper
    for j in range(j_first, min(j_first + TILE, n)):
        start = max(k_first, j)
        width = min(k_first + TILE, n) - start
        row = j * n + start
        views_argument(w + row, e + row, y3 + row, mu, v, square, width, argument)
        for i in range(v):
            for k in range(width):
                new3 = 0.0
                for p in range(v):
                    new3 = new3 + mapper[i * v + p] * argument[p * TILE + k]
                change = fmax(change, snn_entry(w, e, l1, y1, x, l3, y3, new3, mu, mu_next,
                                                i * square + row + k,
                                                i * square + (start + k) * n + j))
        views_argument(w + row, e + row, y3 + row, mu_next, v, square, width, argument)
        add_gram(argument, v, width, j - start, gram)
    return change


cdef double snn_sweep(
    const floating *W,      # v x n x n with symmetric slices, as all tensors but L1, Y1, X
    floating *E,            # INOUT
    floating *L1,           # OUT   X: the copy of the rows, whose transpose is that of the columns
    floating *Y1,           # INOUT its multiplier
    floating *X,            # INOUT the new L1 in, W - E - Y1 / mu_next out
    floating *L3,           # OUT   the copy of the views
    floating *Y3,           # INOUT its multiplier
    const SNN *snn,
    double *gram,           # OUT  v x v, Gram matrix along the views of W - E - Y3 / mu_next
    int n_threads,
    void *workspace,        # snn_bytes
) noexcept nogil:
    """One SNN iteration but its shrinkages: with m over rows, columns and views,

        E   <- soft(W - mean_m(L_m + Y_m / mu), 1 / (3 mu))
        Y_m <- Y_m + mu (L_m + E - W)

    Returns the largest entry of the constraint residuals and of the changes of all blocks.
    """
    cdef Arena arena = arena_at(workspace)
    cdef SNNMemory memory
    cdef Py_ssize_t v = snn.v, row, column, p, q, tiles = tiles_of(snn.n)
    cdef double largest = 0.0
    lay_out_snn(&arena, v, snn.n, n_threads, &memory)
    memset(memory.grams, 0, tiles * v * v * sizeof(double))
    memset(memory.change, 0, tiles * sizeof(double))
    for row in prange(tiles, num_threads=n_threads, schedule="static", chunksize=1):
        for column in range(row, tiles):
            memory.change[row] = fmax(memory.change[row], snn_tile(
                W, E, L1, Y1, X, L3, Y3, snn, row * TILE, column * TILE,
                memory.argument + omp_get_thread_num() * v * TILE, memory.grams + row * v * v))
    memset(gram, 0, v * v * sizeof(double))
    for row in range(tiles):
        largest = fmax(largest, memory.change[row])
        for p in range(v):
            for q in range(p, v):
                gram[p * v + q] += memory.grams[(row * v + p) * v + q]
    for p in range(v):
        for q in range(p):
            gram[p * v + q] = gram[q * v + p]
    return largest
