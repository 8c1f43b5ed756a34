"""Eigenvalue shrinkage of large slices of small rank, with a certificate that none is missed.

A block Krylov step on the last eigenvectors and some random ones finds the pairs (U, theta) above
the threshold t. They count only with the certificate that ``t I - B`` and ``t I + B`` have
Cholesky factors for ``B = A - U diag(theta) U^T``: then no eigenvalue above t was missed, and the
result is exact up to the residual of the pairs.
"""

from cython cimport floating
from libc.math cimport fabs, fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .lapack cimport blas_int
from .symmetric cimport norm_below

cdef enum:
    # Up to n / 40 eigenvalues this takes less than half of a tridiagonal reduction if it
    # succeeds. Ranks stay that low for a sixth of the published path: it saves 3 % at n = 640.
    RANK_FRACTION = 40
    OVERSAMPLING = 12       # Ritz vectors below the threshold that are kept for the next call
    FRESH = 4               # random vectors added in every call
    STEPS = 6               # Krylov steps before giving up

cdef double TOLERANCE = 1e-9        # of the residual, relative to the largest eigenvalue


cdef Py_ssize_t subspace_capacity(Py_ssize_t n) noexcept nogil:
    """Columns of a subspace between calls."""
    return n // RANK_FRACTION + OVERSAMPLING


cdef Py_ssize_t widest(Py_ssize_t n) noexcept nogil:
    """Columns of the widest block: a subspace with fresh vectors, and its image."""
    return 2 * (subspace_capacity(n) + FRESH)


cdef struct PartialMemory:
    # For one slice; c is widest(n). Numbers are of its type.
    void *rest              # n x n, the symmetric part, then without its pairs
    void *q                 # n x c, a basis and its image, then orthonormal
    void *image             # n x c, that under the matrix
    void *scaled            # n x c, images or multiples of Ritz vectors
    double *shifted         # n x n, in the place of these three
    void *ritz              # n x c, Ritz vectors
    void *tau               # c
    void *scratch           # LAPACK's
    void *small             # c x c
    double *gram            # c x c, the matrix in the basis, then its eigenvectors
    double *theta           # c, Ritz values
    double *order           # c, Ritz values by size
    double *eigen_scratch   # LAPACK's


cdef void lay_out_partial(Arena *arena, Py_ssize_t n, size_t itemsize,
                          PartialMemory *memory) noexcept nogil:
    """Lay out what maps one n x n slice."""
    cdef Py_ssize_t c = widest(n)
    cdef double size = <double> n * n, block = <double> n * c
    cdef Arena blocks
    memory.rest = take(arena, size, itemsize)
    blocks = arena[0]
    memory.q = take(&blocks, block, itemsize)
    memory.image = take(&blocks, block, itemsize)
    memory.scaled = take(&blocks, block, itemsize)
    memory.shifted = <double *> take(arena, size, sizeof(double))
    arena.used = max(arena.used, blocks.used)
    memory.ritz = take(arena, block, itemsize)
    memory.tau = take(arena, c, itemsize)
    memory.scratch = take(arena, la.geqrf_lwork(c), itemsize)
    memory.small = take(arena, <double> c * c, itemsize)
    memory.gram = <double *> take(arena, <double> c * c, sizeof(double))
    memory.theta = <double *> take(arena, c, sizeof(double))
    memory.order = <double *> take(arena, c, sizeof(double))
    memory.eigen_scratch = <double *> take(arena, la.syev_lwork(c), sizeof(double))


cdef Py_ssize_t partial_lwork(Py_ssize_t n) noexcept nogil:
    """Numbers that partial_shrink needs, of either type, none if slices are too small for it.

    Floats lose more to alignment and to what is always in doubles.
    """
    cdef Arena arena = counting_arena()
    cdef PartialMemory memory
    if n < SMALLEST:
        return 0
    lay_out_partial(&arena, n, sizeof(float), &memory)
    return <Py_ssize_t> (workspace_bytes(&arena) // sizeof(float))


cdef double random_entry(unsigned long long *state) noexcept nogil:
    """Uniform in (-1, 1), of a linear congruential generator (Knuth's MMIX)."""
    state[0] = state[0] * 6364136223846793005ULL + 1442695040888963407ULL
    return <double> (state[0] >> 11) * 2.0 ** -52 - 1.0


cdef void start_subspace(
    Subspace *subspace,
    floating *basis,        # n x subspace_capacity(n)
    Py_ssize_t n,
    Py_ssize_t index,       # of the slice
) noexcept nogil:
    """A subspace of random vectors, which depend on the index alone; none if n is too small."""
    cdef unsigned long long state = <unsigned long long> (2 * index + 1)
    cdef Py_ssize_t k
    subspace.basis, subspace.rank = basis, 0
    subspace.size = OVERSAMPLING if n >= SMALLEST else 0
    for k in range(subspace.size * n):
        basis[k] = <floating> random_entry(&state)


cdef bint worth_trying(const Subspace *subspace, Py_ssize_t n) noexcept nogil:
    """Whether the slice is large, and the rank of the last result low enough."""
    return n >= SMALLEST and RANK_FRACTION * subspace.rank <= n


cdef bint orthonormalise(floating *q, Py_ssize_t n, Py_ssize_t columns,
                         PartialMemory *memory) noexcept nogil:
    """q <- an orthonormal basis of its columns; False: LAPACK failed."""
    cdef floating *tau = <floating *> memory.tau
    cdef floating *scratch = <floating *> memory.scratch
    return (la.geqrf(<blas_int> n, <blas_int> columns, q, tau, scratch) == 0
            and la.orgqr(<blas_int> n, <blas_int> columns, q, tau, scratch) == 0)


cdef void scale_columns(floating *out, const floating *columns, const double *theta,
                        Py_ssize_t n, Py_ssize_t count, double t) noexcept nogil:
    """Multiply every column by its theta, soft-thresholded by t."""
    cdef Py_ssize_t j, k
    cdef floating factor
    for j in range(count):
        factor = <floating> (theta[j] - t if theta[j] > 0 else theta[j] + t)
        for k in range(n):
            out[j * n + k] = factor * columns[j * n + k]


cdef void symmetric_part(const floating *a, Py_ssize_t n, floating *out) noexcept nogil:
    """out <- (a + a^T) / 2."""
    cdef Py_ssize_t j, k
    for j in range(n):
        for k in range(n):
            out[j * n + k] = <floating> 0.5 * (a[j * n + k] + a[k * n + j])


cdef bint ritz_values(
    const floating *like,       # for its type
    Py_ssize_t n,
    Py_ssize_t b,
    PartialMemory *memory,      # IN rest, q with b / 2 columns; OUT q, image with b, gram, theta
) noexcept nogil:
    """Rayleigh-Ritz in the span of a basis and its image; False: LAPACK failed.

    q <- orthonormal basis of [q, A q], image <- A q, and the eigenpairs of q^T A q.
    """
    cdef floating *rest = <floating *> memory.rest
    cdef floating *q = <floating *> memory.q
    cdef floating *image = <floating *> memory.image
    cdef floating *small = <floating *> memory.small
    cdef blas_int size = <blas_int> n, half = <blas_int> (b // 2), width = <blas_int> b
    cdef Py_ssize_t k
    la.gemm(False, False, size, half, size, 1.0, rest, size, q, size, 0.0, q + n * (b // 2), size)
    if not orthonormalise(q, n, b, memory):
        return False
    la.gemm(False, False, size, width, size, 1.0, rest, size, q, size, 0.0, image, size)
    la.gemm(True, False, width, width, size, 1.0, q, size, image, size, 0.0, small, width)
    for k in range(b * b):
        memory.gram[k] = small[k]
    return la.syev(width, memory.gram, memory.theta, memory.eigen_scratch) == 0


cdef void largest_pairs(
    const floating *like,       # for its type
    Py_ssize_t n,
    Py_ssize_t b,
    Py_ssize_t kept,
    PartialMemory *memory,      # INOUT as ritz_values leaves it; theta by size, ritz out
) noexcept nogil:
    """The pairs largest in absolute value first, from both ends of the ascending spectrum."""
    cdef floating *small = <floating *> memory.small
    cdef Py_ssize_t low = 0, high = b - 1, j, k, p
    for j in range(kept):
        if fabs(memory.theta[low]) > fabs(memory.theta[high]):
            p = low
            low += 1
        else:
            p = high
            high -= 1
        for k in range(b):
            small[j * b + k] = <floating> memory.gram[p * b + k]
        memory.order[j] = memory.theta[p]
    memcpy(memory.theta, memory.order, kept * sizeof(double))
    la.gemm(False, False, <blas_int> n, <blas_int> kept, <blas_int> b, 1.0, <floating *> memory.q,
            <blas_int> n, small, <blas_int> b, 0.0, <floating *> memory.ritz, <blas_int> n)


cdef double residual_norm(
    const floating *like,       # for its type
    Py_ssize_t n,
    Py_ssize_t b,
    Py_ssize_t above,
    PartialMemory *memory,      # as largest_pairs leaves it
) noexcept nogil:
    """Frobenius norm of A U - U diag(theta) of the first pairs."""
    cdef floating *ritz = <floating *> memory.ritz
    cdef floating *scaled = <floating *> memory.scaled
    cdef Py_ssize_t j, k
    cdef double total = 0.0, difference
    if above > 0:
        la.gemm(False, False, <blas_int> n, <blas_int> above, <blas_int> b, 1.0,
                <floating *> memory.image, <blas_int> n, <floating *> memory.small, <blas_int> b,
                0.0, scaled, <blas_int> n)
    for j in range(above):
        for k in range(n):
            difference = scaled[j * n + k] - memory.theta[j] * ritz[j * n + k]
            total += difference * difference
    return sqrt(total)


cdef Py_ssize_t krylov(
    const floating *like,       # for its type
    Py_ssize_t n,
    double t,
    Subspace *subspace,         # INOUT start in, Ritz vectors out
    PartialMemory *memory,      # IN rest; OUT theta and ritz
) noexcept nogil:
    """Eigenpairs of the slice above t in absolute value: how many, or -1: not found."""
    cdef floating *q = <floating *> memory.q
    cdef floating *ritz = <floating *> memory.ritz
    cdef Py_ssize_t b = subspace.size + FRESH, k, above, kept, _
    cdef double largest, limit = fmax(TOLERANCE, 10 * (1.2e-7 if floating is float else 2.2e-16))
    cdef unsigned long long state = <unsigned long long> (subspace.size * 2 + 1)
    memcpy(q, subspace.basis, subspace.size * n * sizeof(floating))
    for k in range(subspace.size * n, b * n):
        q[k] = <floating> random_entry(&state)
    if not orthonormalise(q, n, b, memory):
        return -1
    for _ in range(STEPS):
        b = 2 * b
        if not ritz_values(like, n, b, memory):
            return -1
        above = 0
        for k in range(b):
            above += fabs(memory.theta[k]) > t
        largest = fmax(fabs(memory.theta[0]), fabs(memory.theta[b - 1]))
        kept = min(above + OVERSAMPLING, min(subspace_capacity(n), b))
        if above > kept:
            return -1
        largest_pairs(like, n, b, kept, memory)
        if residual_norm(like, n, b, above, memory) <= limit * largest:
            memcpy(subspace.basis, ritz, kept * n * sizeof(floating))
            subspace.size = kept
            return above
        memcpy(q, ritz, kept * n * sizeof(floating))
        b = kept
    return -1


cdef int partial_shrink(
    floating *a,            # INOUT n x n, unless the result is -1
    Py_ssize_t n,
    double t,
    Subspace *subspace,     # INOUT from call to call
    floating *work,         # partial_lwork(n)
) noexcept nogil:
    """Shrink the eigenvalues of (a + a^T) / 2 by t: the rank of the result, or -1: not certified.

    ``a <- U diag(sign(theta) (|theta| - t)) U^T`` for the pairs (U, theta) above t.
    """
    cdef Arena arena = arena_at(work)
    cdef PartialMemory memory
    cdef blas_int size = <blas_int> n, columns
    cdef Py_ssize_t above
    lay_out_partial(&arena, n, sizeof(floating), &memory)
    cdef floating *rest = <floating *> memory.rest
    cdef floating *ritz = <floating *> memory.ritz
    cdef floating *scaled = <floating *> memory.scaled
    symmetric_part(a, n, rest)
    above = krylov(a, n, t, subspace, &memory)
    if above < 0:
        return -1
    columns = <blas_int> above
    if above > 0:
        scale_columns(scaled, ritz, memory.theta, n, above, 0.0)
        la.gemm(False, True, size, size, columns, -1.0, scaled, size, ritz, size, 1.0, rest, size)
    if not norm_below(rest, n, t, memory.shifted):
        return -1
    subspace.rank = above
    if above == 0:
        memset(a, 0, n * n * sizeof(floating))
        return 0
    scale_columns(scaled, ritz, memory.theta, n, above, t)
    la.gemm(False, True, size, size, columns, 1.0, scaled, size, ritz, size, 0.0, a, size)
    return <int> above
