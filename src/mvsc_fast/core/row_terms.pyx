"""The row terms of TLRR on a sparse pattern too large for eigenproblems of its frontal slices.

The dual of dual.pyx with P = 0, where Q costs next to nothing: accelerated steps
``Q_(j) <- clip(Q_(j) + 2 lam L_(j))`` for ``L = T_tau(W - sym(Q) / (2 lam))``. What is left of the
duality gap is

    omega1 sum_i ||L_i||_*  +  sum_j (omega2 ||L_(j)||_* - <Q_(j), L_(j)>)

The second sum falls to zero with the steps. In the first, a frontal slice's norm is at most the sum
of its row lengths. Without any step L is the tube-shrunken W.
"""

from libc.math cimport fmax, sqrt
from libc.string cimport memset

from . cimport loops
from .api cimport MVSC_NO_CONVERGENCE, MVSC_OK, MVSC_TOO_LARGE
from .arena cimport Arena, take
from .block cimport Block, Outcome, lay_out_sweeps, primal, row_nuclear_norms, row_step, total
from .dual cimport eigen_rounding


cdef struct Gap:
    # Duality gap of a point.
    double rows                 # of the row terms
    double frontal              # of the frontal terms, at most
    double scale                # lam ||L||_F^2


cdef double relative(const Gap *gap) noexcept nogil:
    """Relative to the misfit; 0 where L is zero, which is then the minimiser."""
    return (gap.rows + gap.frontal) / gap.scale if gap.scale > 0 else 0.0


cdef double row_lengths(Block *block, const float *L) noexcept nogil:
    """``sum_ij |L_i,j:|``"""
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.pattern.nnz, i, j, e
    cdef double squared
    for j in range(n):
        block.sums[j] = 0.0
        for i in range(v):
            squared = 0.0
            for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
                squared += <double> L[i * nnz + e] * L[i * nnz + e]
            block.sums[j] += sqrt(squared)
    return total(block.sums, n)


cdef bint certify(Block *block, const float *W, const float *Q, float *L, Gap *gap,
                  Outcome *outcome) noexcept nogil:
    """L <- L(Q), and its duality gap; False: LAPACK failed."""
    cdef Py_ssize_t k
    cdef double rows, inner = 0.0
    primal(block, W, <const float *> NULL, Q, L)
    gap.scale = block.lam * block.norm_squared
    gap.frontal = block.omega1 * row_lengths(block, L)
    if not row_nuclear_norms(block, L, &rows, outcome):
        return False
    for k in range(block.v * block.pattern.nnz):
        inner += <double> Q[k] * L[k]
    # Q keeps its bound up to rounding only.
    gap.rows = (fmax(block.omega2 * rows - inner, 0.0)
                + block.omega2 * (eigen_rounding(block.v, True) + 2e-10) * rows)
    return True


cdef void find_mirrors(Block *block) noexcept nogil:
    """The position of entry (k, j) for every entry (j, k) of a symmetric pattern."""
    cdef Py_ssize_t j, e, k
    for j in range(block.pattern.n):
        block.pattern.cursor[j] = block.pattern.indptr[j]
    for j in range(block.pattern.n):
        for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
            k = block.pattern.indices[e]
            block.pattern.mirror[e] = <int> block.pattern.cursor[k]
            block.pattern.cursor[k] += 1


cdef int solve_row_terms(
    const float *W,             # v x nnz, symmetric
    Py_ssize_t v,
    Py_ssize_t n,
    const Py_ssize_t *indptr,   # of a symmetric pattern, ascending in each row
    const int *indices,
    RowTerms *terms,            # INOUT
    Arena *arena,
    float *L,                   # OUT  v x nnz
) noexcept nogil:
    """Steps until the relative gap, or what steps can take off it, is at most tol; a status.

    While the arena counts, nothing is done.
    """
    cdef Block block
    cdef Outcome outcome
    cdef Gap gap
    cdef Py_ssize_t nnz = indptr[n], k
    cdef double size = <double> v * nnz, t = 1.0, t_next, restart, moved
    cdef float *Q = <float *> take(arena, size, sizeof(float))
    cdef float *following = <float *> take(arena, size, sizeof(float))
    cdef float *momentum = <float *> take(arena, size, sizeof(float))
    lay_out_sweeps(arena, v, n, terms.n_threads, &block)
    block.pattern.mirror = <int *> take(arena, nnz, sizeof(int))
    block.pattern.cursor = <Py_ssize_t *> take(arena, n, sizeof(Py_ssize_t))
    if arena.overflow or nnz > 2147483647:
        return MVSC_TOO_LARGE
    if arena.base == NULL:
        return MVSC_OK
    block.omega1, block.omega2, block.lam = terms.omega1, 1.0 - terms.omega1, terms.lam
    block.tau = block.omega2 * terms.alpha / (2.0 * terms.lam)
    block.W_squared = 0.0       # only for dual values, which nobody asks for
    block.pattern.nnz = nnz
    block.pattern.indptr, block.pattern.indices = <Py_ssize_t *> indptr, <int *> indices
    for k in range(n):
        block.root[k] = 1.0
    find_mirrors(&block)
    memset(Q, 0, v * nnz * sizeof(float))
    memset(momentum, 0, v * nnz * sizeof(float))
    terms.n_iter = 0
    while True:
        if not certify(&block, W, Q, L, &gap, &outcome):
            break
        terms.gap = relative(&gap)
        if (terms.n_iter == terms.max_iter or terms.gap <= terms.tol
                or gap.rows <= terms.tol * gap.scale):
            return MVSC_OK
        primal(&block, W, <const float *> NULL, momentum, L)
        if not row_step(&block, L, momentum, Q, following, &restart, &moved, &outcome):
            break
        if restart > 0:
            t = 1.0
        t_next = (1.0 + sqrt(1.0 + 4.0 * t * t)) / 2.0
        loops.extrapolate(following, Q, (t - 1.0) / t_next, v * nnz, momentum)
        Q, following, t = following, Q, t_next
        terms.n_iter += 1
    terms.lapack_info, terms.failed_row = outcome.lapack_info, outcome.failed_row
    return MVSC_NO_CONVERGENCE
