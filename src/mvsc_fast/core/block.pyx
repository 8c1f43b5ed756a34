"""One connected block of a TLRR problem in the certified solver: its memory, and sweeps over it.

Sums over a block are made row by row, and then over the rows in their order, so that the number of
threads never changes them.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.string cimport memset

from . cimport loops
from .arena cimport Arena, arena_at, take
from .platform cimport omp_get_thread_num, seconds
from .rows cimport CLIP, Spectral, row_basis, row_lwork, row_operator
from .screening cimport pair_mirrors
from .symmetric cimport norm_below, symmetric_liwork, symmetric_lwork, symmetric_maps
from .watch cimport failed, frontal_threads


cdef Py_ssize_t row_size(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles to work on one row."""
    return v * n + n + v * v + row_lwork(v, n)


cdef Py_ssize_t tube_size(Py_ssize_t v) noexcept nogil:
    """Doubles for one tube, and a cache line between those of two threads."""
    return v + 8


cdef void lay_out_block(
    Arena *arena,
    Py_ssize_t v,
    Py_ssize_t n,
    Py_ssize_t n_tubes,         # that its pattern can hold
    size_t itemsize,            # of the data
    int n_threads,              # that work on it
    Block *block,               # OUT  v, pattern.n, threads and all pointers
) noexcept nogil:
    """Memory of a block of n samples: seven tensors on its pattern and three dense ones."""
    cdef double values = <double> v * n_tubes, size = <double> v * n * n
    cdef int k
    block.v, block.n_threads, block.pattern.n = v, n_threads, n
    block.slices = frontal_threads(v, n_threads)
    block.pattern.indptr = <Py_ssize_t *> take(arena, n + 1, sizeof(Py_ssize_t))
    block.pattern.cursor = <Py_ssize_t *> take(arena, n, sizeof(Py_ssize_t))
    block.pattern.indices = <int *> take(arena, n_tubes, sizeof(int))
    block.pattern.mirror = <int *> take(arena, n_tubes, sizeof(int))
    block.pattern.position = <Py_ssize_t *> take(arena, n_tubes, sizeof(Py_ssize_t))
    block.active = block.pattern            # whose cursor serves both
    block.active.indptr = <Py_ssize_t *> take(arena, n + 1, sizeof(Py_ssize_t))
    block.active.indices = <int *> take(arena, n_tubes, sizeof(int))
    block.active.mirror = <int *> take(arena, n_tubes, sizeof(int))
    block.active.position = <Py_ssize_t *> take(arena, n_tubes, sizeof(Py_ssize_t))
    block.marked = <char *> take(arena, n_tubes, 1)
    block.W = take(arena, values, itemsize)
    block.center = take(arena, values, itemsize)
    block.L = take(arena, values, itemsize)
    block.Q = take(arena, values, itemsize)
    for k in range(3):
        block.Q_spare[k] = take(arena, values, itemsize)
    block.P = take(arena, size, itemsize)
    block.Z = take(arena, size, itemsize)
    block.dense = take(arena, size, itemsize)
    block.numbers = take(arena, <double> block.slices * symmetric_lwork(n), itemsize)
    block.integers = <long long *> take(arena, <double> block.slices * symmetric_liwork(n), 8)
    block.spectrum = take(arena, <double> v * n, itemsize)
    block.root = <double *> take(arena, n, sizeof(double))
    block.rank = <Py_ssize_t *> take(arena, max(v, n), sizeof(Py_ssize_t))
    block.info = <int *> take(arena, max(v, n), sizeof(int))
    block.row_work = <double *> take(arena, <double> n_threads * row_size(v, n), sizeof(double))
    block.tubes = <double *> take(arena, <double> n_threads * tube_size(v), sizeof(double))
    block.sums = <double *> take(arena, 3.0 * n, sizeof(double))


# ------------------------------------------------------------------ active tubes

cdef double tube_center(Block *block, const floating *W, const dual_floating *P,
                        const dual_floating *Z, Py_ssize_t e, Py_ssize_t at,
                        double *tube) noexcept nogil:
    """``tube <- W - (2 P - Z) / (2 lam)`` at entry e; returns its length."""
    cdef Py_ssize_t i, nnz = block.pattern.nnz, square = block.pattern.n * block.pattern.n
    cdef double scale = 0.5 / block.lam, squared = 0.0
    for i in range(block.v):
        tube[i] = W[i * nnz + e] - scale * (2.0 * P[i * square + at] - Z[i * square + at])
        squared += tube[i] * tube[i]
    return sqrt(squared)


cdef double tube_threshold(const Block *block, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
    """``tau sqrt(m_j m_k)``."""
    return block.tau * (block.root[j] * block.root[k])


cdef void center(Block *block, const floating *W, const dual_floating *P, const dual_floating *Z,
                 double rho) noexcept nogil:
    """Centre of the proximal problem at (P, Z) on its active tubes, to which new ones are added.

    The active tubes are those that are or were longer than their threshold at Q = 0. All other
    tubes of L and Q are zero, and remain so while Q is maximised. With Z = P and rho = 0 the
    proximal problem is that of ``L(P, Q)``.
    """
    cdef Py_ssize_t v = block.v, n = block.pattern.n, i, j, k, e, active = 0
    cdef double *tube
    cdef floating *out
    block.curvature = 2.0 * block.lam + rho
    block.certified = False
    for j in prange(n, num_threads=block.n_threads, schedule="static"):
        tube = block.tubes + omp_get_thread_num() * tube_size(v)
        for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
            k = block.pattern.indices[e]
            if k < j or block.marked[e]:
                continue
            if tube_center(block, W, P, Z, e, j * n + k, tube) > tube_threshold(block, j, k):
                block.marked[e] = block.marked[block.pattern.mirror[e]] = 1
    for e in range(block.pattern.nnz):
        active += block.marked[e]
    if active > block.active.nnz:
        activate(block, active, <floating *> block.Q, <floating *> block.Q_spare[0])
        block.Q, block.Q_spare[0] = block.Q_spare[0], block.Q
    out = <floating *> block.center
    for j in prange(n, num_threads=block.n_threads, schedule="static"):
        tube = block.tubes + omp_get_thread_num() * tube_size(v)
        for e in range(block.active.indptr[j], block.active.indptr[j + 1]):
            tube_center(block, W, P, Z, block.active.position[e], j * n + block.active.indices[e],
                        tube)
            for i in range(v):
                out[i * active + e] = <floating> tube[i]


cdef void activate(Block *block, Py_ssize_t count, const floating *Q,
                   floating *out) noexcept nogil:
    """Make the marked tubes, ``count`` in number, the active ones, and ``out`` their Q.

    They contain those that are active; no entry moves to the front, so the last one goes first.
    """
    cdef Py_ssize_t v = block.v, old = block.active.nnz, new = count, i, j, e
    cdef bint known
    for j in range(block.pattern.n - 1, -1, -1):
        block.active.indptr[j + 1] = new
        for e in range(block.pattern.indptr[j + 1] - 1, block.pattern.indptr[j] - 1, -1):
            if not block.marked[e]:
                continue
            new -= 1
            known = old > 0 and block.active.position[old - 1] == e
            old -= known
            for i in range(v):
                out[i * count + new] = Q[i * block.active.nnz + old] if known else 0
            block.active.position[new] = e
            block.active.indices[new] = block.pattern.indices[e]
    block.active.nnz = count
    pair_mirrors(&block.active)


# ------------------------------------------------------------------ sweeps over active tubes

cdef void primal(Block *block, const floating *Q, floating *L) noexcept nogil:
    """``L <- 2 lam / (2 lam + rho) T_tau(center - sym(Q) / (2 lam))``, the proximal solution at Q.

    ``block.lengths`` becomes the sums of the thresholds and of the lengths of the tubes of L.
    """
    cdef Py_ssize_t v = block.v, n = block.active.n, nnz = block.active.nnz, j, e, i
    cdef const Py_ssize_t *indptr = block.active.indptr
    cdef const int *mirror = block.active.mirror
    cdef const floating *C = <const floating *> block.center
    cdef double scale = 0.25 / block.lam, shrink = 2.0 * block.lam / block.curvature
    cdef double tau, length, factor, thresholds, lengths
    cdef double *t
    for j in prange(n, num_threads=block.n_threads, schedule="static"):
        t = block.tubes + omp_get_thread_num() * tube_size(v)
        thresholds = 0.0
        lengths = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            tau = tube_threshold(block, j, block.active.indices[e])
            length = 0.0
            for i in range(v):
                t[i] = C[i * nnz + e] - scale * (Q[i * nnz + e] + Q[i * nnz + mirror[e]])
                length = length + t[i] * t[i]
            length = sqrt(length)
            factor = shrink * (1.0 - tau / length) if length > tau else 0.0
            for i in range(v):
                L[i * nnz + e] = <floating> (factor * t[i])
            if factor > 0.0:
                thresholds = thresholds + tau
                lengths = lengths + factor * length
        block.sums[j] = thresholds
        block.sums[n + j] = lengths
    block.lengths[0] = total(block.sums, n)
    block.lengths[1] = total(block.sums + n, n)


cdef double total(const double *sums, Py_ssize_t count) noexcept nogil:
    """Sum in row order, regardless of which thread computed each term."""
    cdef Py_ssize_t k
    cdef double result = 0.0
    for k in range(count):
        result += sums[k]
    return result


cdef bint row_step(
    Block *block,
    const floating *L,
    const floating *Q_momentum,
    const floating *Q_last,
    floating *Q,
    double *restart,            # OUT  <Q_momentum - Q, Q - Q_last>
    double *moved,              # OUT  ||Q - Q_momentum||
    Outcome *outcome,
) noexcept nogil:
    """Projected gradient step of Q; False: LAPACK failed.

    Row j of Q becomes the v x width slice j of ``Q_momentum + (2 lam + rho) L`` with its singular
    values clipped at ``omega2 sqrt(m_j)``. Momentum restarts where ``restart`` is positive: it
    points away from where the step leads. All four are given on the active tubes, v x nnz; Q is
    none of the others.
    """
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.active.nnz, j, e, i, at, width
    cdef Py_ssize_t size = row_size(v, n)
    cdef const Py_ssize_t *indptr = block.active.indptr
    cdef double along, square
    cdef double *rows
    cdef double *out
    cdef double *mapper
    cdef floating clipped
    for j in prange(n, num_threads=block.n_threads, schedule="static"):
        width = indptr[j + 1] - indptr[j]
        along = 0.0
        square = 0.0
        block.info[j] = 0
        rows = block.row_work + omp_get_thread_num() * size
        out = rows + v * width
        mapper = out + width
        if width > 0:
            for i in range(v):
                at = i * nnz + indptr[j]
                for e in range(width):
                    rows[i * width + e] = Q_momentum[at + e] + block.curvature * L[at + e]
            block.info[j] = row_operator(rows, v, width, block.omega2 * block.root[j], CLIP,
                                         mapper, mapper + v * v, &block.rank[j])
            for i in range(v):
                loops.combine(mapper + i * v, rows, v, width, width, out)
                at = i * nnz + indptr[j]
                for e in range(width):
                    clipped = <floating> out[e]
                    along = along + ((<double> Q_momentum[at + e] - clipped)
                                     * (<double> clipped - Q_last[at + e]))
                    square = square + ((<double> clipped - Q_momentum[at + e])
                                       * (<double> clipped - Q_momentum[at + e]))
                    Q[at + e] = clipped
        block.sums[j] = along
        block.sums[n + j] = square
    restart[0] = total(block.sums, n)
    moved[0] = sqrt(total(block.sums + n, n))
    return not failed(block.info, n, &outcome.lapack_info, &outcome.failed_row)


cdef bint row_nuclear_norms(Block *block, const floating *L, double *norms,
                            Outcome *outcome) noexcept nogil:
    """``sum_j sqrt(m_j) ||L_(j)||_*`` of the v x n slices of the rows, never too small.

    For any orthonormal U the lengths of the rows of ``U^T M`` sum to at least ``||M||_*``; with
    the eigenvectors of the Gram matrix the two agree to rounding. False: LAPACK failed.
    """
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.active.nnz, j, e, i, at, width
    cdef Py_ssize_t size = row_size(v, n)
    cdef const Py_ssize_t *indptr = block.active.indptr
    cdef double *rows
    cdef double *out
    cdef double *basis
    cdef double squared
    for j in prange(n, num_threads=block.n_threads, schedule="static"):
        width = indptr[j + 1] - indptr[j]
        block.info[j] = 0
        block.sums[j] = 0.0
        rows = block.row_work + omp_get_thread_num() * size
        out = rows + v * width
        basis = out + width
        if width > 0:
            for i in range(v):
                at = i * nnz + indptr[j]
                for e in range(width):
                    rows[i * width + e] = L[at + e]
            block.info[j] = row_basis(rows, v, width, basis, basis + v * v)
            for i in range(v):
                loops.combine(basis + i * v, rows, v, width, width, out)
                squared = 0.0
                for e in range(width):
                    squared = squared + out[e] * out[e]
                block.sums[j] += block.root[j] * sqrt(squared)
    norms[0] = total(block.sums, n)
    return not failed(block.info, n, &outcome.lapack_info, &outcome.failed_row)


cdef void inner_products(
    Block *block,
    const floating *L,
    const dual_floating *P,
    const floating *Q,
    double *products,           # OUT  ||L||_F^2, <P, L> and <Q, L>
) noexcept nogil:
    """What the duality gap needs besides norms; L and Q are given on the active tubes."""
    cdef Py_ssize_t v = block.v, n = block.active.n, nnz = block.active.nnz, i, j, e
    cdef double squared, frontal, rows, entry
    for j in prange(n, num_threads=block.n_threads, schedule="static"):
        squared = 0.0
        frontal = 0.0
        rows = 0.0
        for i in range(v):
            for e in range(block.active.indptr[j], block.active.indptr[j + 1]):
                entry = L[i * nnz + e]
                squared = squared + entry * entry
                frontal = frontal + entry * P[(i * n + j) * n + block.active.indices[e]]
                rows = rows + entry * Q[i * nnz + e]
        block.sums[j] = squared
        block.sums[n + j] = frontal
        block.sums[2 * n + j] = rows
    for i in range(3):
        products[i] = total(block.sums + i * n, n)


cdef void extrapolate(Block *block, const dual_floating *P, const dual_floating *last,
                      double momentum, dual_floating *out) noexcept nogil:
    """``out <- P + momentum (P - last)`` of tensors v x n x n."""
    cdef Py_ssize_t n = block.active.n, r
    for r in prange(block.v * n, num_threads=block.n_threads, schedule="static"):
        loops.extrapolate(P + r * n, last + r * n, momentum, n, out + r * n)


cdef void relaxed_step(Block *block, const floating *L, const dual_floating *P,
                       const dual_floating *Z, double rho, double relaxation,
                       dual_floating *out) noexcept nogil:
    """``out <- Z + relaxation (P + rho L - Z)``, tensors v x n x n."""
    cdef Py_ssize_t v = block.v, n = block.active.n, nnz = block.active.nnz, r, i, j, e, at
    extrapolate(block, P, Z, relaxation - 1.0, out)
    for r in prange(v * n, num_threads=block.n_threads, schedule="static"):
        i, j = r // n, r % n
        for e in range(block.active.indptr[j], block.active.indptr[j + 1]):
            at = r * n + block.active.indices[e]
            out[at] = <dual_floating> (out[at] + relaxation * rho * L[i * nnz + e])


cdef bint frontal_map(Block *block, dual_floating *T, double threshold, Spectral kind,
                      Outcome *outcome) noexcept nogil:
    """Shrink or clip the eigenvalues of the slices of T in place; False: LAPACK failed.

    Their eigenvalues before that are left in ``block.spectrum``, v x n.
    """
    cdef double before = seconds()
    symmetric_maps(T, block.v, block.pattern.n, threshold, kind, block.slices,
                   <dual_floating *> block.numbers, block.integers,
                   <dual_floating *> block.spectrum, block.rank, block.info)
    outcome.eigen_seconds += seconds() - before
    return not failed(block.info, block.v, &outcome.lapack_info, &outcome.failed_view)


cdef bint norms_below(Block *block, const dual_floating *P, double t) noexcept nogil:
    """Whether the spectral norms of all slices are proven to be at most t."""
    cdef Py_ssize_t n = block.pattern.n, i, size = symmetric_lwork(n)
    for i in prange(block.v, num_threads=block.slices, schedule="static", chunksize=1):
        block.info[i] = not slice_below(P + i * n * n, n, t, <dual_floating *> block.numbers
                                        + omp_get_thread_num() * size)
    for i in range(block.v):
        if block.info[i]:
            return False
    return True


cdef bint slice_below(const dual_floating *a, Py_ssize_t n, double t,
                      dual_floating *work) noexcept nogil:
    """`norm_below` in the memory of `symmetric_map`, which holds more than 2 n^2 numbers."""
    cdef Arena arena = arena_at(work)
    return norm_below(a, n, t, <double *> take(&arena, <double> n * n, sizeof(double)))


cdef void scatter(Block *block, const floating *L, dual_floating *dense) noexcept nogil:
    """dense <- L, which is given on the active tubes."""
    cdef Py_ssize_t v = block.v, n = block.active.n, nnz = block.active.nnz, r, i, j, e
    for r in prange(v * n, num_threads=block.n_threads, schedule="static"):
        i, j = r // n, r % n
        memset(dense + r * n, 0, n * sizeof(dual_floating))
        for e in range(block.active.indptr[j], block.active.indptr[j + 1]):
            dense[r * n + block.active.indices[e]] = <dual_floating> L[i * nnz + e]
