"""The certified TLRR solver: the exact minimiser, and a bound of the distance to it.

The model is strongly convex, so its dual is smooth. With symmetric slices ``||P_i||_2 <= omega1``
and row slices ``||Q_(j)||_2 <= omega2``, tau = omega2 alpha / (2 lam) and T_tau the tube
shrinkage::

    L(P, Q)    = T_tau( W - (P + sym(Q)) / (2 lam) )
    d(P, Q)    = lam (||W||_F^2 - ||L(P, Q)||_F^2)
    gap(P, Q)  = omega1 sum_i ||L_i||_* - <P, L> + omega2 sum_j ||L_(j)||_* - <Q, L>  >=  0

and ``2 lam ||L - L*||_F^2 <= gap`` for the minimiser L*.

An eigendecomposition of every view is needed to move P, next to nothing to move Q, which lives on
the few tubes that were longer than their threshold so far. So Q is maximised out (a few
accelerated steps), and the frontal norms are split off by Douglas-Rachford: with P the projection
of Z,

    L = argmin_X  F(X) - omega1 sum_i ||X_i||_*  +  <2 P - Z, X>  +  rho / 2 ||X||_F^2
    Z <- Z + relaxation (P + rho L - Z),    P = clip(Z, omega1)

The curvature of F without the frontal norms is 2 lam along a tube, and 2 lam ||X|| / ||T_tau(X)||
across it, which is much larger if tubes are only a little longer than tau. The first limits the
step of a projected gradient method. This one converges for every rho; ours starts as the geometric
mean of both and grows by 2 lam in every iteration, as in accelerated primal-dual methods of
strongly convex problems (Chambolle & Pock 2011): in directions of small eigenvalues s of L, P moves
by no more than rho s towards its bound.

With sample weights m and D = diag(m) all this is done for ``M_i = D^1/2 L_i D^1/2`` in place of
L_i and ``D^1/2 W_i D^1/2`` in place of W_i, with ``||Q_(j)||_2 <= omega2 sqrt(m_j)`` and the tube
thresholds ``tau sqrt(m_j m_k)``. That is the problem of sum(m) samples, in which sample j occurs
m_j times: the frontal slices of its tensor have the nuclear norms of M, each of m_j equal row
slices has the norm ``||M_(j)||_* / sqrt(m_j)``, and each of m_j m_k equal tubes the length
``|M_:jk| / sqrt(m_j m_k)``.

P and its eigenproblems start in single precision. Any feasible P gives a valid certificate. By how
much rounding can make P exceed its bound is estimated from the size and precision of what was
clipped, which is usually far too much. If this decides whether the gap is below tol, the norm of
P is proven instead: see `norm_below`. If rounding still is most of the gap, P becomes double.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport INFINITY, ceil, exp, fabs, fmax, fmin, log, sqrt
from libc.string cimport memcpy, memset

from . cimport loops
from .api cimport (
    MVSC_BAD_ARGUMENT,
    MVSC_NO_CONVERGENCE,
    MVSC_OK,
    mvsc_tlrr_blocks,
    mvsc_tlrr_options,
    mvsc_tlrr_result,
    mvsc_tlrr_state,
)
from .arena cimport Arena, take
from .block cimport (
    Block,
    Outcome,
    center,
    dual_floating,
    extrapolate,
    frontal_map,
    inner_products,
    lay_out_block,
    norms_below,
    primal,
    relaxed_step,
    row_nuclear_norms,
    row_step,
    scatter,
    tube_threshold,
)
from .platform cimport omp_get_thread_num
from .rows cimport CLIP, SHRINK
from .screening cimport Source, build_pattern, sort_members
from .symmetric cimport cuts_excess
from .watch cimport Watch, is_stopped, report

cdef enum:
    INNER_STEPS = 10    # at most, of Q for each move of P; 4 need more moves of P, 20 no fewer
    AHEAD = 5           # iterations at most to the next check, or a fifth of those that were made
    PROOFS = 8          # of larger and larger bounds of ||P_i||_2
    TO_DOUBLE = -1      # what `maximise_dual` returns to go on with P in double precision

cdef double RATIO_MAX = 1e6       # of rho to 2 lam, if tubes are equal to their threshold
cdef double RELAXATION = 1.7    # of the steps of Z, below 2; 1 takes 1.5 times the iterations
cdef double START = 0.6         # of the first step; 1 overshoots
cdef double ROUNDING = 0.5      # of what the gap exceeds tol by: if it is more, it is proven
cdef double EXAGGERATION = 16.0     # of the excess by its estimate, at first
cdef double MIN_POWER = 0.5     # of the iteration that the gap is expected to fall with
cdef double INNER_TOL = 0.1     # relative to the first step: shorter steps of Q end the iteration
cdef double SINGLE_MAX = 1e25   # W and lam W below it, W above its inverse, for P to be single


# ------------------------------------------------------------------ memory

cdef Py_ssize_t tubes_of(Py_ssize_t n, const mvsc_tlrr_blocks *blocks) noexcept nogil:
    """Tubes that a block of n samples can have."""
    return min(n * n, blocks.n_tubes)


cdef Py_ssize_t small_block(Py_ssize_t n, const mvsc_tlrr_blocks *blocks) noexcept nogil:
    """Samples that the blocks solved side by side can have."""
    if blocks.largest > SMALL_BLOCK:
        return min(<Py_ssize_t> SMALL_BLOCK, n - blocks.largest)
    return blocks.largest


cdef void lay_out_dual(
    Arena *arena,
    Py_ssize_t v,
    Py_ssize_t n,
    size_t itemsize,            # of the data
    const mvsc_tlrr_blocks *blocks,
    int n_threads,
    DualMemory *memory,         # OUT
) noexcept nogil:
    """Shared memory, then that of one large block or of one small block per thread."""
    cdef Block block
    cdef Arena large
    cdef Py_ssize_t small = small_block(n, blocks)
    cdef int k
    memory.starts = <Py_ssize_t *> take(arena, blocks.n_blocks + 1, sizeof(Py_ssize_t))
    memory.members = <Py_ssize_t *> take(arena, n, sizeof(Py_ssize_t))
    memory.local = <Py_ssize_t *> take(arena, n, sizeof(Py_ssize_t))
    memory.outcomes = <Outcome *> take(arena, blocks.n_blocks, sizeof(Outcome))
    memory.blocks = large = arena[0]
    if blocks.largest > SMALL_BLOCK:
        lay_out_block(&large, v, blocks.largest, tubes_of(blocks.largest, blocks), itemsize,
                      n_threads, &block)
    for k in range(n_threads):
        lay_out_block(arena, v, small, tubes_of(small, blocks), itemsize, 1, &block)
        if k == 0:
            memory.slot_bytes = arena.used - memory.blocks.used
    arena.used = max(arena.used, large.used)
    arena.overflow = arena.overflow or large.overflow


# ------------------------------------------------------------------ one block

cdef double eigen_rounding(Py_ssize_t n, bint single) noexcept nogil:
    """Relative error of a spectral norm after an n x n eigendecomposition."""
    return 4.0 * sqrt(<double> n) * (1.1920928955078125e-07 if single else 2.220446049250313e-16)


cdef double relative_gap(Block *block, const Outcome *outcome) noexcept nogil:
    """``gap / (lam ||L||_F^2)``, which is compared with tol."""
    cdef double scale = block.lam * outcome.norm_squared
    if outcome.gap <= 0:
        return 0.0
    return outcome.gap / scale if scale > 0 else INFINITY


cdef double clip_scale(Block *block, const dual_floating *spectrum) noexcept nogil:
    """The scale of the rounding errors of a clipped matrix.

    It is the bound of its eigenvalues, or the largest eigenvalue of the matrix that was clipped if
    the excess was subtracted from it.
    """
    cdef Py_ssize_t n = block.pattern.n, i, k, below, above
    cdef double largest, scale = block.omega1
    for i in range(block.v):
        below = above = 0
        largest = 0.0
        for k in range(n):
            below += spectrum[i * n + k] < -block.omega1
            above += spectrum[i * n + k] > block.omega1
            largest = fmax(largest, fabs(<double> spectrum[i * n + k]))
        if cuts_excess(n, below, above, largest, block.omega1, dual_floating is float):
            scale = fmax(scale, largest)
    return scale


cdef bint maximise_rows(Block *block, floating *L, Outcome *outcome) noexcept nogil:
    """Accelerated projected gradient steps of Q on the proximal problem; False: LAPACK failed.

    L becomes the solution at the last Q.
    """
    cdef Py_ssize_t step, size = block.v * block.active.nnz
    cdef void *Q = block.Q
    cdef void *momentum = block.Q
    cdef void *following
    cdef double t = 1.0, t_next, restart, moved, first = 0.0
    for step in range(INNER_STEPS):
        primal(block, <const floating *> momentum, L)
        following = block.Q_spare[0] if Q != block.Q_spare[0] else block.Q_spare[1]
        if not row_step(block, L, <const floating *> momentum, <const floating *> Q,
                        <floating *> following, &restart, &moved, outcome):
            return False
        if step == 0:
            first = moved
        if moved <= INNER_TOL * first or step == INNER_STEPS - 1:
            Q = following
            break
        if restart > 0:
            t = 1.0
        t_next = (1.0 + sqrt(1.0 + 4.0 * t * t)) / 2.0
        loops.extrapolate(<floating *> following, <const floating *> Q, (t - 1.0) / t_next, size,
                          <floating *> block.Q_spare[2])
        momentum = block.Q_spare[2]
        Q, t = following, t_next
    for step in range(2):
        if block.Q_spare[step] == Q:
            block.Q, block.Q_spare[step] = Q, block.Q
            break
    primal(block, <const floating *> block.Q, L)
    return True


cdef bint certify(Block *block, const floating *L, const dual_floating *P, dual_floating *dense,
                  double tol, Outcome *outcome) noexcept nogil:
    """The duality gap at the current L = L(P, Q); False: LAPACK failed.

    ``omega1 sum_i ||L_i||_* - <P, L> + omega2 sum_j sqrt(m_j) ||L_(j)||_* - <Q, L>``, and what the
    rounding of P, Q and the norms can hide. Where an estimate of it decides, it is proven instead,
    with norms in double precision if L is. ``dense``, v x n x n, is overwritten.
    """
    cdef double products[3]
    cdef double frontal, rows, dual_norms, left
    cdef bint single = dual_floating is float
    inner_products(block, L, P, <const floating *> block.Q, products)
    block.certified = True
    outcome.norm_squared = products[0]
    outcome.gap = block.rounding = 0.0
    if products[0] == 0.0:
        return True
    if not frontal_nuclear_norms(block, L, dense, &frontal, outcome):
        return False
    if not row_nuclear_norms(block, L, &rows, outcome):
        return False
    dual_norms = products[1] + products[2]
    add_rounding(block, dual_norms, frontal, rows, single, floating is float, outcome)
    left = outcome.gap - tol * block.lam * outcome.norm_squared
    if single and left > 0.0 and block.rounding > ROUNDING * left:
        prove_excess(block, P)
        if floating is double:
            if not frontal_nuclear_norms(block, L, <double *> dense, &frontal, outcome):
                return False
        add_rounding(block, dual_norms, frontal, rows, floating is float, floating is float,
                     outcome)
        # What is charged no longer still shows how far single precision is from the gap.
        block.rounding = fmax(block.rounding, eigen_rounding(block.pattern.n, True)
                              * block.omega1 * frontal)
    return True


cdef bint frontal_nuclear_norms(Block *block, const floating *L, dual_floating *dense,
                                double *norms, Outcome *outcome) noexcept nogil:
    """``sum_i ||L_i||_*`` in the precision of ``dense``, overwritten; False: LAPACK failed."""
    cdef const dual_floating *spectrum = <const dual_floating *> block.spectrum
    cdef Py_ssize_t k
    scatter(block, L, dense)
    norms[0] = 0.0
    if not frontal_map(block, dense, INFINITY, SHRINK, outcome):
        return False
    for k in range(block.v * block.pattern.n):
        norms[0] += fabs(<double> spectrum[k])
    return True


cdef void add_rounding(
    Block *block,
    double dual_norms,      # <P, L> + <Q, L>
    double frontal,         # sum_i ||L_i||_*
    double rows,            # sum_j sqrt(m_j) ||L_(j)||_*
    bint single,            # the eigenvalues of L
    bint single_rows,       # Q
    Outcome *outcome,
) noexcept nogil:
    """``outcome.gap``: a bound of 2 lam D^2, D = ||L - L*||_F, for P and Q up to rounding.

    If ``||P_i||_2 <= omega1 + e`` and ``||Q_(j)||_2 <= (1 + q) omega2 sqrt(m_j)``, the dual value
    is at most ``F(L*) + e sum_i ||L*_i||_* + q omega2 sum_j sqrt(m_j) ||L*_(j)||_*``. These sums
    exceed those of L by at most ``sqrt(v n) D`` and ``sqrt(v sum_j m_j) D``, because a slice of L
    has rank n, one of a row has rank v. So ``2 lam D^2 <= gap + charge + slope D``, which is solved
    for D. Rounding an entry of Q changes it by a factor of 1 + u, and a slice of rank v by no more
    than ``sqrt(v) u`` times its norm; `row_operator` clips to 1e-10.
    """
    cdef Py_ssize_t v = block.v, n = block.pattern.n, j
    cdef double q = 2e-10 + sqrt(<double> v) * (6e-8 if single_rows else 1.2e-16)
    cdef double gap = fmax(block.omega1 * frontal + block.omega2 * rows - dual_norms, 0.0)
    cdef double weights = 0.0, charge, slope, distance
    for j in range(n):
        weights += block.root[j] * block.root[j]
    charge = ((block.excess + eigen_rounding(n, single) * block.omega1) * frontal
              + q * block.omega2 * rows)
    slope = (block.excess * sqrt(<double> v * n) + q * block.omega2 * sqrt(v * weights))
    distance = (slope + sqrt(slope * slope + 8.0 * block.lam * (gap + charge))) / (4.0 * block.lam)
    outcome.gap = 2.0 * block.lam * distance * distance
    block.rounding = outcome.gap - gap


cdef void prove_excess(Block *block, const dual_floating *P) noexcept nogil:
    """Replace the estimate of ``||P_i||_2 - omega1`` by a proven bound, usually a smaller one."""
    cdef int _
    block.excess /= EXAGGERATION
    for _ in range(PROOFS):
        if norms_below(block, P, block.omega1 + block.excess):
            return
        block.excess *= 4.0


cdef void report_iteration(Block *block, const Outcome *outcome, Py_ssize_t index,
                           Watch *watch) noexcept nogil:
    """Report the progress of the block to the caller."""
    cdef mvsc_tlrr_state state
    memset(&state, 0, sizeof(mvsc_tlrr_state))
    state.block, state.iteration = index, outcome.n_iter
    state.converged, state.residual = outcome.converged, relative_gap(block, outcome)
    state.gap, state.gap_scale = outcome.gap, block.lam * outcome.norm_squared
    report(watch, &state)


cdef double penalty(const Block *block) noexcept nogil:
    """``rho = 2 lam sqrt(1 + sum tau / sum ||L_jk||)`` over the tubes of L."""
    if block.lengths[1] == 0.0:
        return 2.0 * block.lam
    return 2.0 * block.lam * fmin(sqrt(1.0 + block.lengths[0] / block.lengths[1]), RATIO_MAX)


cdef bint take_step(const floating *W, dual_floating *P, dual_floating *Z, dual_floating *dense,
                    Block *block, Outcome *outcome) noexcept nogil:
    """One step of Z and its projection P, which replace those given; False: LAPACK failed.

    The first one is START rho L(0, Q). While rho grows, ``(Z - P) / rho`` is kept.
    """
    cdef floating *L = <floating *> block.L
    cdef Py_ssize_t size = block.v * block.pattern.n * block.pattern.n
    cdef double last = block.rho
    center(block, W, P, Z, last)
    if not maximise_rows(block, L, outcome):
        return False
    if last == 0.0:
        block.rho = penalty(block)
        relaxed_step(block, L, P, Z, block.rho, START, dense)
    else:
        block.rho = last + 2.0 * block.lam
        relaxed_step(block, L, P, Z, last, RELAXATION, dense)
    memcpy(Z, dense, size * sizeof(dual_floating))
    if not frontal_map(block, Z, block.omega1, CLIP, outcome):
        return False
    block.P, block.Z, block.dense = Z, dense, P
    if last > 0.0:
        extrapolate(block, Z, dense, -block.rho / last, P)
        block.Z, block.dense = P, dense
    block.excess = (eigen_rounding(block.pattern.n, dual_floating is float)
                    * clip_scale(block, <const dual_floating *> block.spectrum))
    return True


cdef int check_gap(const floating *W, dual_floating *P, Block *block, double tol,
                   Outcome *outcome) noexcept nogil:
    """Certify P with the best Q; TO_DOUBLE if rounding makes up much of the gap, or a status."""
    cdef floating *L = <floating *> block.L
    cdef double relative
    center(block, W, P, P, 0.0)
    if outcome.n_iter == 0:
        primal(block, <const floating *> block.Q, L)
    elif not maximise_rows(block, L, outcome):
        return MVSC_NO_CONVERGENCE
    if not certify(block, L, P, <dual_floating *> block.dense, tol, outcome):
        return MVSC_NO_CONVERGENCE
    relative = relative_gap(block, outcome)
    outcome.converged = relative <= tol
    block.check_at = outcome.n_iter + checks_ahead(block, outcome.n_iter, relative, tol)
    block.checked_at, block.checked = outcome.n_iter, relative
    if not outcome.converged and block.rounding > ROUNDING * outcome.gap:
        if dual_floating is float and floating is double:
            return TO_DOUBLE
        elif block.rounding > 0.9 * outcome.gap:
            block.max_iter = outcome.n_iter     # no precision is left to gain
    return MVSC_OK


cdef int maximise_dual(
    const floating *W,
    dual_floating *precision,   # only its type is used: the precision of P
    Block *block,
    Py_ssize_t index,           # of the block
    const mvsc_tlrr_options *options,
    Outcome *outcome,
    Watch *watch,
) noexcept nogil:
    """Iterate until the block is solved, fails, or needs double precision; a status."""
    cdef int status = MVSC_OK
    while outcome.n_iter < block.max_iter and not (outcome.converged or is_stopped(watch)):
        if not take_step(W, <dual_floating *> block.P, <dual_floating *> block.Z,
                         <dual_floating *> block.dense, block, outcome):
            return MVSC_NO_CONVERGENCE
        outcome.n_iter += 1
        if outcome.n_iter >= block.check_at:
            status = check_gap(W, <dual_floating *> block.P, block, options.tol, outcome)
            if status == MVSC_NO_CONVERGENCE:
                return status
        report_iteration(block, outcome, index, watch)
        if status == TO_DOUBLE:
            return status
    if not (outcome.converged or block.certified):
        status = check_gap(W, <dual_floating *> block.P, block, options.tol, outcome)
        return MVSC_OK if status == TO_DOUBLE else status
    return MVSC_OK


cdef Py_ssize_t checks_ahead(const Block *block, Py_ssize_t n_iter, double relative,
                             double tol) noexcept nogil:
    """Iterations to the next check of the gap, by the power of the iteration it has fallen with.

    Before the second check it is expected to fall by a factor of 4 in an iteration. A check takes
    half as long as an iteration, so it should be the last one.
    """
    cdef double left = log(fmax(relative / fmax(tol, 1e-300), 1.0)), power, ahead
    if block.checked < INFINITY:
        power = log(block.checked / relative) / log(<double> n_iter / block.checked_at)
        ahead = ceil(n_iter * (exp(fmin(left / fmax(power, MIN_POWER), 1.0)) - 1.0))
    else:
        ahead = left / log(4.0)
    return max(1, <Py_ssize_t> fmin(max(AHEAD, n_iter // AHEAD), ahead))


cdef void to_double(Block *block) noexcept nogil:
    """Convert P and Z from single to double precision."""
    cdef Py_ssize_t size = block.v * block.pattern.n * block.pattern.n, k
    cdef float *narrow = <float *> block.dense
    cdef double *wide
    cdef int which
    for which in range(2):
        wide = <double *> (block.Z if which else block.P)
        memcpy(narrow, wide, size * sizeof(float))
        for k in range(size):
            wide[k] = narrow[k]


cdef double load(const floating *data, const Source *source, Block *block) noexcept nogil:
    """Fill ``block.W`` by ``scale sqrt(m_j m_k) W[:, j, k]``; returns its largest entry."""
    cdef Py_ssize_t nnz = block.pattern.nnz, i, j, e, at
    cdef floating *W = <floating *> block.W
    cdef double largest = 0.0
    for i in range(block.v):
        for j in range(block.pattern.n):
            for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
                at = i * nnz + e
                W[at] = <floating> (factor(source, block, j, e)
                                    * data[i * source.stride + block.pattern.position[e]])
                largest = fmax(largest, fabs(<double> W[at]))
    return largest


cdef bint minimiser_is_zero(Block *block, const floating *W, floating *dense) noexcept nogil:
    """Whether ``2 lam W`` is a sum of feasible multipliers, so that L = 0 is optimal.

    They are multiples of W: of its tubes up to ``omega2 alpha sqrt(m_j m_k)``, its row slices up to
    ``omega2 sqrt(m_j)``, by their Frobenius norms, and its frontal slices up to omega1, whose norms
    are proven. ``dense`` is overwritten.
    """
    cdef Py_ssize_t v = block.v, n = block.pattern.n, nnz = block.pattern.nnz, i, j, e
    cdef double tubes = INFINITY, rows = INFINITY, longest = 0.0, squared, row, bound, left
    for j in range(n):
        row = 0.0
        for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
            squared = 0.0
            for i in range(v):
                squared += <double> W[i * nnz + e] * W[i * nnz + e]
            row += squared
            if squared > 0.0:
                tubes = fmin(tubes, tube_threshold(block, j, block.pattern.indices[e])
                             / sqrt(squared))
        if row > 0.0:
            rows = fmin(rows, block.omega2 * block.root[j] / (2.0 * block.lam * sqrt(row)))
        longest = fmax(longest, row)
    left = 1.0 - tubes - rows
    if left <= 0.0:
        return True
    # A frontal norm is at least the length of a row, which excludes nearly all problems.
    bound = block.omega1 / (2.0 * block.lam * left)
    if longest > v * bound * bound:
        return False
    memset(dense, 0, v * n * n * sizeof(floating))
    for i in range(v):
        for j in range(n):
            for e in range(block.pattern.indptr[j], block.pattern.indptr[j + 1]):
                dense[(i * n + j) * n + block.pattern.indices[e]] = W[i * nnz + e]
    return norms_below(block, dense, bound)


cdef void store(const Source *source, const Block *block, floating *out) noexcept nogil:
    """Put the block's L, without scale and weights, in the places of its W; zeros in."""
    cdef Py_ssize_t nnz = block.active.nnz, i, j, e, at
    cdef const floating *L = <const floating *> block.L
    for i in range(block.v):
        for j in range(block.active.n):
            for e in range(block.active.indptr[j], block.active.indptr[j + 1]):
                at = block.active.position[e]
                out[i * source.stride + block.pattern.position[at]] = <floating> (
                    L[i * nnz + e] / factor(source, block, j, at))


cdef inline double factor(const Source *source, const Block *block, Py_ssize_t j,
                          Py_ssize_t e) noexcept nogil:
    """Factor of entry e of the pattern, in row j."""
    return source.scale * (block.root[j] * block.root[block.pattern.indices[e]])


cdef int solve_block(const floating *data, const Source *source, floating *out, Block *block,
                     Py_ssize_t index, const mvsc_tlrr_options *options, Outcome *outcome,
                     Watch *watch) noexcept nogil:
    """Solve one block, whose pattern is known, and put its L into ``out``; a status."""
    cdef Py_ssize_t v = block.v, n = block.pattern.n
    cdef floating *W = <floating *> block.W
    cdef double largest = load(data, source, block)
    cdef size_t itemsize
    cdef bint single
    cdef int status = TO_DOUBLE
    if largest == 0.0 or options.max_iter > 0 and minimiser_is_zero(block, W,
                                                                    <floating *> block.dense):
        outcome.converged = True
        return MVSC_OK
    single = (floating is float or (
        1.0 / SINGLE_MAX < largest < SINGLE_MAX and block.lam * largest < SINGLE_MAX))
    itemsize = sizeof(float) if single else sizeof(double)
    memset(block.P, 0, v * n * n * itemsize)
    memset(block.Z, 0, v * n * n * itemsize)
    memset(block.marked, 0, block.pattern.nnz)
    memset(block.active.indptr, 0, (n + 1) * sizeof(Py_ssize_t))
    block.active.nnz = 0
    block.rho = block.excess = block.rounding = 0.0
    block.checked_at, block.checked = 0, INFINITY
    block.check_at, block.max_iter = 1, options.max_iter
    block.certified = False
    outcome.gap = INFINITY
    if single:
        status = maximise_dual(W, <float *> NULL, block, index, options, outcome, watch)
        if status == TO_DOUBLE:
            to_double(block)
    if status == TO_DOUBLE:
        if floating is double:
            status = maximise_dual(W, <double *> NULL, block, index, options, outcome, watch)
    if status == MVSC_OK:
        store(source, block, out)
    return status


# ------------------------------------------------------------------ all blocks

cdef struct Problem:
    # The arrays of all blocks.
    const Source *source
    const Py_ssize_t *labels
    const mvsc_tlrr_blocks *blocks
    const mvsc_tlrr_options *options
    DualMemory memory
    Watch *watch


cdef int build_and_solve(const floating *data, floating *out, const Problem *problem, Arena arena,
                         Py_ssize_t index, int n_threads) noexcept nogil:
    """Lay out a block in the arena, build its pattern, and solve it; a status."""
    cdef Block block
    cdef const DualMemory *memory = &problem.memory
    cdef const mvsc_tlrr_options *options = problem.options
    cdef const Source *source = problem.source
    cdef const Py_ssize_t *members = memory.members + memory.starts[index]
    cdef Py_ssize_t n = memory.starts[index + 1] - memory.starts[index], a
    cdef Py_ssize_t capacity = tubes_of(n, problem.blocks)
    lay_out_block(&arena, source.v, n, capacity, sizeof(floating), n_threads, &block)
    block.omega1, block.omega2 = options.omega1, 1.0 - options.omega1
    block.lam, block.tau = options.lam / source.scale, source.tau
    for a in range(n):
        block.root[a] = 1.0
        if options.sample_weight != NULL:
            block.root[a] = sqrt(options.sample_weight[members[a]])
    if not build_pattern(data, source, problem.labels, members, memory.local, capacity,
                         &block.pattern):
        return MVSC_BAD_ARGUMENT        # a pattern that is not symmetric
    return solve_block(data, source, out, &block, index, options, &memory.outcomes[index],
                       problem.watch)


cdef int in_slot(const floating *data, floating *out, const Problem *problem,
                 Py_ssize_t index) noexcept nogil:
    """Solve a small block in the memory of the calling thread; a status."""
    cdef Arena arena = problem.memory.blocks
    arena.used += omp_get_thread_num() * problem.memory.slot_bytes
    return build_and_solve(data, out, problem, arena, index, 1)


cdef int sum_up(const Problem *problem, mvsc_tlrr_result *result) noexcept nogil:
    """Gap, error bound and counts of all blocks; the status of the first that failed."""
    cdef const DualMemory *memory = &problem.memory
    cdef const Outcome *outcome
    cdef double gap = 0.0, squared = 0.0, lam = problem.options.lam / problem.source.scale
    cdef Py_ssize_t b
    result.n_blocks = problem.blocks.n_blocks
    result.converged = True
    for b in range(result.n_blocks):
        outcome = &memory.outcomes[b]
        if outcome.status != MVSC_OK:
            result.lapack_info = outcome.lapack_info
            result.failed_view = outcome.failed_view
            if outcome.failed_row >= 0:
                result.failed_row = memory.members[memory.starts[b] + outcome.failed_row]
            return outcome.status
        result.n_iter = max(result.n_iter, outcome.n_iter)
        result.converged = result.converged and outcome.converged
        result.eigen_seconds += outcome.eigen_seconds
        gap += outcome.gap
        squared += outcome.norm_squared
    # Of the scaled problem; only the error bound has W's scale.
    squared *= lam
    result.gap = gap / squared if squared > 0 else 0.0
    result.error_bound = sqrt(0.5 * gap / lam) / problem.source.scale
    return MVSC_OK


cdef int dual_solve(
    const floating *data,       # the values of the source
    const Source *source,
    floating *out,              # OUT  L, in the layout of data; zeros in
    const Py_ssize_t *labels,   # n
    const mvsc_tlrr_blocks *blocks,
    const mvsc_tlrr_options *options,
    Arena *arena,
    Watch *watch,
    mvsc_tlrr_result *result,   # INOUT zeros in
) noexcept nogil:
    """Solve large blocks one by one on all threads, then small ones side by side; a status."""
    cdef Problem problem
    cdef DualMemory *memory = &problem.memory
    cdef Py_ssize_t n_blocks = blocks.n_blocks, b
    problem.source, problem.labels, problem.blocks = source, labels, blocks
    problem.options, problem.watch = options, watch
    lay_out_dual(arena, source.v, source.n, sizeof(floating), blocks, options.n_threads, memory)
    sort_members(labels, source.n, n_blocks, memory.starts, memory.members, memory.local)
    memset(memory.outcomes, 0, n_blocks * sizeof(Outcome))
    for b in range(n_blocks):
        memory.outcomes[b].failed_view = memory.outcomes[b].failed_row = -1
    for b in range(n_blocks):
        if memory.starts[b + 1] - memory.starts[b] > SMALL_BLOCK:
            memory.outcomes[b].status = build_and_solve(data, out, &problem, memory.blocks, b,
                                                        options.n_threads)
    for b in prange(n_blocks, num_threads=options.n_threads, schedule="dynamic"):
        if memory.starts[b + 1] - memory.starts[b] <= SMALL_BLOCK:
            memory.outcomes[b].status = in_slot(data, out, &problem, b)
    return sum_up(&problem, result)
