"""Fused sweeps of TRPCA and SNN: all of an iteration but its eigenproblems, once over memory."""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fmax
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
    floating **tensors,     # W, L, S, Y and X, v x m x n
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
    """One TRPCA iteration but the shrinkage of X, the coefficients of the new L::

        L <- B X
        S <- soft(W - L - Y / mu, lam / mu)
        Y <- Y + mu (L + S - W)
        X <- coefficients of W - S - Y / mu_next

    Returns the largest entry of ``|L + S - W|`` and of the changes of L and S.
    """
    cdef floating *X = tensors[4]
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
                loops.trpca_update(tensors[0] + at, tensors[1] + at, tensors[2] + at,
                                   tensors[3] + at, row, lam, mu, mu_next, width,
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
    # For each thread: a tile of TILE x TILE entries.
    double *argument        # v x TILE, of one row
    double *new3            # v tiles of the new L3
    void *mirror            # three tiles: L1, Y1 and X of the mirror images
    # For each row of tiles:
    double *grams           # v x v
    double *change          # TILE, running maxima


cdef Py_ssize_t tiles_of(Py_ssize_t n) noexcept nogil:
    """Tiles along an edge of n entries."""
    return (n + TILE - 1) // TILE


cdef void lay_out_snn(Arena *arena, Py_ssize_t v, Py_ssize_t n, size_t itemsize, int n_threads,
                      SNNMemory *memory) noexcept nogil:
    """Lay out what the threads of a sweep need, and its sums tile by tile."""
    cdef double threads = n_threads, tiles = tiles_of(n)
    memory.argument = <double *> take(arena, threads * v * TILE, sizeof(double))
    memory.new3 = <double *> take(arena, threads * v * TILE * TILE, sizeof(double))
    memory.mirror = take(arena, threads * 3 * TILE * TILE, itemsize)
    memory.grams = <double *> take(arena, tiles * v * v, sizeof(double))
    memory.change = <double *> take(arena, tiles * TILE, sizeof(double))


cdef size_t snn_bytes(Py_ssize_t v, Py_ssize_t n, size_t itemsize,
                      int n_threads) noexcept nogil:
    """Workspace of snn_sweep."""
    cdef Arena arena = counting_arena()
    cdef SNNMemory memory
    lay_out_snn(&arena, v, n, itemsize, n_threads, &memory)
    return workspace_bytes(&arena)


cdef void load_mirror(const floating *t, Py_ssize_t n, Py_ssize_t rows, Py_ssize_t columns,
                      floating *out) noexcept nogil:
    """out[j, k] = t[k, j] for a tile t of columns x rows entries of a matrix."""
    cdef Py_ssize_t j, k
    for k in range(columns):
        for j in range(rows):
            out[j * TILE + k] = t[k * n + j]


cdef void store_mirror(floating *t, Py_ssize_t n, const floating *tile, Py_ssize_t stride,
                       Py_ssize_t rows, Py_ssize_t columns) noexcept nogil:
    """t[k, j] = tile[j, k], the inverse of load_mirror from rows that are ``stride`` apart."""
    cdef Py_ssize_t j, k
    for k in range(columns):
        for j in range(rows):
            t[k * n + j] = tile[j * stride + k]


cdef void snn_tile(
    floating **tensors,         # of snn_sweep
    const SNN *snn,
    Py_ssize_t j_first,
    Py_ssize_t k_first,
    double *argument,           # v x TILE
    double *new3,               # v x TILE x TILE
    floating *mirror,           # 3 x TILE x TILE
    double *gram,               # INOUT v x v
    double *change,             # INOUT TILE
) noexcept nogil:
    """Update the entries of a tile, and their mirror images in another one.

    The copy of the columns is the transpose of L1, so that an entry needs its mirror image. A tile
    on the diagonal is its own mirror image, of which a copy is read.
    """
    cdef Py_ssize_t v = snn.v, n = snn.n, square = n * n, i, j, at
    cdef Py_ssize_t rows = min(<Py_ssize_t> TILE, n - j_first)
    cdef Py_ssize_t columns = min(<Py_ssize_t> TILE, n - k_first)
    cdef Py_ssize_t tile = j_first * n + k_first, other = k_first * n + j_first
    cdef const floating *w = tensors[0]
    cdef floating *e = tensors[1]
    cdef floating *l1 = tensors[2]
    cdef floating *y1 = tensors[3]
    cdef floating *x = tensors[4]
    cdef floating *l3 = tensors[5]
    cdef floating *y3 = tensors[6]
    cdef floating *lt = mirror
    cdef floating *yt = mirror + TILE * TILE
    cdef floating *xt = mirror + 2 * TILE * TILE
    for j in range(rows):
        for i in range(v):
            at = i * square + tile + j * n
            loops.misfit(w + at, e + at, y3 + at, 1.0 / snn.mu, columns, argument + i * TILE)
        for i in range(v):
            loops.combine(snn.mapper + i * v, argument, v, TILE, columns,
                          new3 + (i * TILE + j) * TILE)
    for i in range(v):
        load_mirror(l1 + i * square + other, n, rows, columns, lt)
        load_mirror(y1 + i * square + other, n, rows, columns, yt)
        load_mirror(x + i * square + other, n, rows, columns, xt)
        for j in range(rows):
            at = i * square + tile + j * n
            loops.snn_update(w + at, e + at, l1 + at, y1 + at, x + at, lt + j * TILE,
                             yt + j * TILE, xt + j * TILE, l3 + at, y3 + at,
                             new3 + (i * TILE + j) * TILE, snn.mu, snn.mu_next, columns, change)
        if j_first != k_first:
            at = i * square
            store_mirror(l1 + at + other, n, lt, TILE, rows, columns)
            store_mirror(y1 + at + other, n, yt, TILE, rows, columns)
            store_mirror(x + at + other, n, xt, TILE, rows, columns)
            store_mirror(e + at + other, n, e + at + tile, n, rows, columns)
            store_mirror(l3 + at + other, n, l3 + at + tile, n, rows, columns)
            store_mirror(y3 + at + other, n, y3 + at + tile, n, rows, columns)
    for j in range(rows):
        for i in range(v):
            at = i * square + tile + j * n
            loops.misfit(w + at, e + at, y3 + at, 1.0 / snn.mu_next, columns, argument + i * TILE)
        loops.add_gram(argument, v, TILE, columns, 1.0 if j_first == k_first else 2.0, gram)


cdef double snn_sweep(
    floating **tensors,     # W, E, L1, Y1, X, L3 and Y3, v x n x n; L1, Y1, X are not symmetric
    const SNN *snn,
    double *gram,           # OUT  v x v, Gram matrix along the views of W - E - Y3 / mu_next
    int n_threads,
    void *workspace,        # snn_bytes
) noexcept nogil:
    """One SNN iteration but its shrinkages: with m over rows, columns and views,

        E   <- soft(W - mean_m(L_m + Y_m / mu), 1 / (3 mu))
        Y_m <- Y_m + mu (L_m + E - W)

    L1 is the copy of the rows, whose transpose is that of the columns, and L3 that of the views. X
    is the new L1 on entry, and ``W - E - Y1 / mu_next`` on exit. Returns the largest entry of the
    constraint residuals and of the changes of all blocks.
    """
    cdef Arena arena = arena_at(workspace)
    cdef SNNMemory memory
    cdef Py_ssize_t v = snn.v, row, column, k, p, q, tiles = tiles_of(snn.n)
    cdef double largest = 0.0
    cdef int thread
    lay_out_snn(&arena, v, snn.n, sizeof(floating), n_threads, &memory)
    memset(memory.grams, 0, tiles * v * v * sizeof(double))
    memset(memory.change, 0, tiles * TILE * sizeof(double))
    for row in prange(tiles, num_threads=n_threads, schedule="static", chunksize=1):
        thread = omp_get_thread_num()
        for column in range(row, tiles):
            snn_tile(tensors, snn, row * TILE, column * TILE,
                     memory.argument + thread * v * TILE, memory.new3 + thread * v * TILE * TILE,
                     <floating *> memory.mirror + thread * 3 * TILE * TILE,
                     memory.grams + row * v * v, memory.change + row * TILE)
    memset(gram, 0, v * v * sizeof(double))
    for k in range(tiles * TILE):
        largest = fmax(largest, memory.change[k])
    for row in range(tiles):
        for p in range(v):
            for q in range(p, v):
                gram[p * v + q] += memory.grams[(row * v + p) * v + q]
    for p in range(v):
        for q in range(p):
            gram[p * v + q] = gram[q * v + p]
    return largest
