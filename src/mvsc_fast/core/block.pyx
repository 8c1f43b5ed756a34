"""One connected block of a TLRR problem in the certified solver: its memory, and sweeps over it.

Sums over a block are made row by row, and then over the rows in their order, so that the number of
threads never changes them.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from . cimport loops
from .arena cimport Arena, take
from .platform cimport omp_get_thread_num, seconds
from .rows cimport CLIP, Spectral, row_basis, row_lwork, row_operator
from .symmetric cimport symmetric_liwork, symmetric_lwork, symmetric_maps
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
    block.W = take(arena, values, itemsize)
    block.L = take(arena, values, itemsize)
    block.Q = take(arena, values, itemsize)
    block.Q_momentum = take(arena, values, itemsize)
    for k in range(3):
        block.Q_spare[k] = take(arena, values, itemsize)
    block.P = take(arena, size, itemsize)
    block.P_momentum = take(arena, size, itemsize)
    block.dense = take(arena, size, itemsize)
    block.numbers = take(arena, <double> block.slices * symmetric_lwork(n), itemsize)
    block.integers = <long long *> take(arena, <double> block.slices * symmetric_liwork(n), 8)
    block.spectrum = take(arena, <double> v * n, itemsize)
    block.root = <double *> take(arena, n, sizeof(double))
    block.rank = <Py_ssize_t *> take(arena, max(v, n), sizeof(Py_ssize_t))
    block.info = <int *> take(arena, max(v, n), sizeof(int))
    block.row_work = <double *> take(arena, <double> n_threads * row_size(v, n), sizeof(double))
    block.tubes = <double *> take(arena, <double> n_threads * tube_size(v), sizeof(double))
    block.sums = <double *> take(arena, 2.0 * v * n, sizeof(double))


cdef double primal(
    Block *block,
    const floating *W,
    const dual_floating *P,
    const floating *Q,
    floating *L,
) noexcept nogil:
    """``L <- T_tau(W - (P + sym(Q)) / (2 lam))``; returns the dual value.

    W, Q and L are given on the pattern, v x nnz, and P as v x n x n. The thresholds of
    the tubes are ``tau sqrt(m_j m_k)``. ``block.norm_squared`` becomes ``||L||_F^2``, and
    ``block.inner`` <P, L>.
    """
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.pattern.nnz, j, e, i, at
    cdef Py_ssize_t square = n * n
    cdef const Py_ssize_t *indptr = block.pattern.indptr
    cdef const int *indices = block.pattern.indices
    cdef const int *mirror = block.pattern.mirror
    cdef const double *root = block.root
    cdef double scale = 1.0 / (2.0 * block.lam), tau
    cdef double length, factor, squared, inner, entry
    cdef double p = 0.0
    cdef double *t
    for j in prange(n, num_threads=block.n_threads, schedule="static"):
        t = block.tubes + omp_get_thread_num() * tube_size(v)
        squared = 0.0
        inner = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            at = j * n + indices[e]
            tau = block.tau * (root[j] * root[indices[e]])
            length = 0.0
            for i in range(v):
                p = P[i * square + at]
                t[i] = W[i * nnz + e] - scale * (
                    p + 0.5 * (Q[i * nnz + e] + Q[i * nnz + mirror[e]]))
                length = length + t[i] * t[i]
            if length <= tau * tau:
                for i in range(v):
                    L[i * nnz + e] = 0
                continue
            factor = 1.0 - tau / sqrt(length)
            for i in range(v):
                entry = factor * t[i]
                L[i * nnz + e] = <floating> entry
                squared = squared + entry * entry
                inner = inner + entry * P[i * square + at]
        block.sums[j] = squared
        block.sums[n + j] = inner
    block.norm_squared = total(block.sums, n)
    block.inner = total(block.sums + n, n)
    block.certified = False
    return block.lam * (block.W_squared - block.norm_squared)


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

    Row j of Q becomes the v x width slice j of ``Q_momentum + 2 lam L`` with its singular values
    clipped at ``omega2 sqrt(m_j)``. Momentum restarts where ``restart`` is positive: it points away
    from where the step leads. All four are given on the pattern, v x nnz; Q is none of the others.
    """
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.pattern.nnz, j, e, i, at, width
    cdef Py_ssize_t size = row_size(v, n)
    cdef const Py_ssize_t *indptr = block.pattern.indptr
    cdef double step = 2.0 * block.lam, along, square
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
                    rows[i * width + e] = Q_momentum[at + e] + step * L[at + e]
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
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.pattern.nnz, j, e, i, at, width
    cdef Py_ssize_t size = row_size(v, n)
    cdef const Py_ssize_t *indptr = block.pattern.indptr
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


cdef void frontal_step(Block *block, const floating *L, const dual_floating *P_momentum,
                       dual_floating *P) noexcept nogil:
    """Gradient step ``P <- P_momentum + step L``, before its projection; P is v x n x n."""
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.pattern.nnz, r, i, j, e, at
    for r in prange(v * n, num_threads=block.n_threads, schedule="static"):
        i, j = r // n, r % n
        memcpy(P + r * n, P_momentum + r * n, n * sizeof(dual_floating))
        for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
            at = r * n + block.pattern.indices[e]
            P[at] = <dual_floating> (P[at] + block.step * L[i * nnz + e])


cdef double slope(Block *block, const floating *L, const dual_floating *P_momentum,
                  const dual_floating *P) noexcept nogil:
    """``<L, P - P_momentum>``, the increase that the gradient predicts for a step."""
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.pattern.nnz, r, i, j, e, at
    cdef double inner
    for r in prange(v * n, num_threads=block.n_threads, schedule="static"):
        i, j = r // n, r % n
        inner = 0.0
        for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
            at = r * n + block.pattern.indices[e]
            inner = inner + L[i * nnz + e] * (<double> P[at] - P_momentum[at])
        block.sums[r] = inner
    return total(block.sums, v * n)


cdef void displacement(
    Block *block,
    const dual_floating *P_momentum,
    const dual_floating *P_last,
    const dual_floating *P,
    double *moved,              # OUT  ||P - P_momentum||^2
    double *restart,            # OUT  <P_momentum - P, P - P_last>
) noexcept nogil:
    """Length of a step of P, and whether it asks for a restart (see row_step)."""
    cdef Py_ssize_t n = block.pattern.n, rows = block.v * n, r
    for r in prange(rows, num_threads=block.n_threads, schedule="static"):
        block.sums[2 * r] = block.sums[2 * r + 1] = 0.0
        loops.progress(P_momentum + r * n, P_last + r * n, P + r * n, n, block.sums + 2 * r)
    moved[0] = restart[0] = 0.0
    for r in range(rows):
        moved[0] += block.sums[2 * r]
        restart[0] += block.sums[2 * r + 1]


cdef void extrapolate(Block *block, const dual_floating *P, const dual_floating *P_last,
                      dual_floating *out, double momentum) noexcept nogil:
    """``out <- P + momentum (P - P_last)``."""
    cdef Py_ssize_t n = block.pattern.n, r
    for r in prange(block.v * n, num_threads=block.n_threads, schedule="static"):
        loops.extrapolate(P + r * n, P_last + r * n, momentum, n, out + r * n)


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


cdef void scatter(Block *block, const floating *L, dual_floating *dense) noexcept nogil:
    """dense <- L, which is given on the pattern."""
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.pattern.nnz, r, i, j, e
    for r in prange(v * n, num_threads=block.n_threads, schedule="static"):
        i, j = r // n, r % n
        memset(dense + r * n, 0, n * sizeof(dual_floating))
        for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
            dense[r * n + block.pattern.indices[e]] = <dual_floating> L[i * nnz + e]
