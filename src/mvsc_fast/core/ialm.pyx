"""The published TLRR iteration: inexact augmented Lagrangian, five tensors instead of thirteen.

The multipliers of block k enter only through their sum Y_k, and the updates of E and L keep
``Y_1 + Y_2 + Y_3 = 2 lam E``; so L is the mean of the blocks and Y_3 is never stored. While all
thresholds exceed the data, the iterates are multiples of W and cost nothing.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport INFINITY, fabs, fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport loops
from .api cimport (
    MVSC_NO_CONVERGENCE,
    MVSC_OK,
    MVSC_OUT_OF_RANGE,
    mvsc_tlrr_options,
    mvsc_tlrr_result,
    mvsc_tlrr_state,
)
from .arena cimport Arena, take
from .loops cimport CHUNK
from .partial cimport (
    Subspace,
    partial_lwork,
    partial_shrink,
    start_subspace,
    subspace_capacity,
    worth_trying,
)
from .platform cimport omp_get_thread_num, seconds
from .rows cimport SHRINK, row_basis, row_lwork, row_operator
from .symmetric cimport symmetric_liwork, symmetric_lwork, symmetric_map, symmetric_maps
from .watch cimport Watch, failed, frontal_threads, is_stopped, report


cdef int ialm_row(
    const floating *W,
    floating *L,            # OUT
    Py_ssize_t v,
    Py_ssize_t n,
    Py_ssize_t j,
    const loops.IalmStep *step,
    const IalmMemory *memory,   # E and Y, multipliers; X: L1 in, the next argument A_1 out
    double *work,           # row_size(v, n)
    floating *residual,     # INOUT CHUNK running maxima
) noexcept nogil:
    """One iteration on row j but for its frontal step; LAPACK's info.

    With ``A_k = (W + L - E + Y_k / mu) / 2`` (X is A_1)::

        L2 <- singular values of A_2 shrunk by omega2 / (2 mu)
        L3 <- tubes of A_3 shrunk by omega2 alpha / (2 mu)
        L  <- (L1 + L2 + L3) / 3,    E and Y_k as in loops.ialm_update
    """
    cdef double *rows = work                        # A2, v x n
    cdef double *mapper = rows + v * n
    cdef double *scratch = mapper + v * v
    cdef floating *factor = <floating *> (scratch + row_lwork(v, n))    # of tube k
    cdef floating *l2 = factor + CHUNK
    cdef floating *a3 = l2 + CHUNK                  # v x CHUNK
    cdef floating *E = <floating *> memory.E
    cdef floating *Y1 = <floating *> memory.Y1      # of the frontal block
    cdef floating *Y2 = <floating *> memory.Y2      # of the slice block
    cdef floating *X = <floating *> memory.X
    cdef Py_ssize_t i, k, at, width, rank
    cdef int info

    for i in range(v):
        at = (i * n + j) * n
        loops.argument(W + at, L + at, E + at, Y2 + at, 1.0 / step.mu, n, rows + i * n)
    info = row_operator(rows, v, n, step.slice_threshold, SHRINK, mapper, scratch, &rank)
    if info != 0:
        return info

    k = 0
    while k < n:
        width = min(<Py_ssize_t> CHUNK, n - k)
        memset(factor, 0, width * sizeof(floating))
        for i in range(v):
            at = (i * n + j) * n + k
            loops.tube_argument(W + at, L + at, E + at, Y1 + at, Y2 + at, step, width,
                                a3 + i * CHUNK, factor)
        loops.shrink_factors(factor, width, step.tube_threshold)
        for i in range(v):
            at = (i * n + j) * n + k
            loops.combine(mapper + i * v, rows + k, v, n, width, l2)
            loops.ialm_update(W + at, L + at, E + at, Y1 + at, Y2 + at, X + at, l2, a3 + i * CHUNK,
                              factor, step, width, residual)
        k = k + width
    return 0


cdef Py_ssize_t row_size(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that ialm_row needs."""
    return v * n + v * v + (v + 2) * CHUNK + row_lwork(v, n)


cdef double sweep(
    const floating *W,
    floating *L,
    Py_ssize_t v,
    Py_ssize_t n,
    const loops.IalmStep *step,
    int n_threads,
    IalmMemory *memory,
) noexcept nogil:
    """One iteration but its frontal step, whose result is in X; returns the residual.

    Writes L, E, Y_1 and Y_2, and the next argument of the frontal step to X.
    """
    cdef Py_ssize_t j, k, size = row_size(v, n)
    cdef floating *residual = <floating *> memory.residual
    cdef double largest = 0.0
    cdef int thread
    memset(residual, 0, n_threads * CHUNK * sizeof(floating))
    for j in prange(n, num_threads=n_threads, schedule="static"):
        thread = omp_get_thread_num()
        memory.row_info[j] = ialm_row(W, L, v, n, j, step, memory, memory.work + thread * size,
                                      residual + thread * CHUNK)
    for k in range(n_threads * CHUNK):
        largest = fmax(largest, residual[k])
    return largest


# ------------------------------------------------------------------ solver

cdef Py_ssize_t slot_size(Py_ssize_t n) noexcept nogil:
    """Numbers to shrink one frontal slice by either way."""
    return max(symmetric_lwork(n), partial_lwork(n))


cdef void lay_out_ialm(
    Arena *arena,
    Py_ssize_t v,
    Py_ssize_t n,
    size_t itemsize,            # of W
    int n_threads,
    IalmMemory *memory,         # OUT
) noexcept nogil:
    """Four tensors in addition to W and L, and scratch memory."""
    cdef double size = <double> v * n * n
    cdef int slices = frontal_threads(v, n_threads)
    memory.E = take(arena, size, itemsize)
    memory.Y1 = take(arena, size, itemsize)
    memory.Y2 = take(arena, size, itemsize)
    memory.X = take(arena, size, itemsize)
    memory.numbers = take(arena, <double> slices * slot_size(n), itemsize)
    memory.integers = <long long *> take(arena, <double> slices * symmetric_liwork(n), 8)
    memory.spectrum = take(arena, <double> v * n, itemsize)
    memory.bases = take(arena, <double> v * subspace_capacity(n) * n, itemsize)
    memory.subspaces = <Subspace *> take(arena, v, sizeof(Subspace))
    memory.rank = <Py_ssize_t *> take(arena, v, sizeof(Py_ssize_t))
    memory.info = <int *> take(arena, v, sizeof(int))
    memory.work = <double *> take(arena, <double> n_threads * row_size(v, n), sizeof(double))
    memory.residual = take(arena, <double> n_threads * CHUNK, itemsize)
    memory.row_info = <int *> take(arena, n, sizeof(int))
    memory.sums = <double *> take(arena, 2.0 * n, sizeof(double))


cdef void frontal_block(floating *X, Py_ssize_t v, Py_ssize_t n, double t, int slices,
                        IalmMemory *memory) noexcept nogil:
    """Shrink the eigenvalues of every frontal slice, by a few eigenpairs if that is certified."""
    cdef Py_ssize_t i, size = slot_size(n), liwork = symmetric_liwork(n)
    cdef int found
    for i in prange(v, num_threads=slices, schedule="static", chunksize=1):
        memory.info[i] = 0
        memory.rank[i] = -1
        if worth_trying(&memory.subspaces[i], n):
            found = partial_shrink(X + i * n * n, n, t, &memory.subspaces[i],
                                   <floating *> memory.numbers + omp_get_thread_num() * size)
            memory.rank[i] = found
    for i in prange(v, num_threads=slices, schedule="static", chunksize=1):
        if memory.rank[i] < 0:
            memory.info[i] = symmetric_map(
                X + i * n * n, n, t, SHRINK, <floating *> memory.spectrum + i * n,
                <floating *> memory.numbers + omp_get_thread_num() * size,
                memory.integers + omp_get_thread_num() * liwork, &memory.rank[i])
            memory.subspaces[i].rank = memory.rank[i]


cdef struct Norms:
    # Norms of W, which determine how long all blocks stay zero.
    double spectral             # largest spectral norm of a frontal slice
    double row                  # largest spectral norm of a row slice
    double tube                 # length of the longest tube
    double entry                # largest entry


cdef void measure_rows(const floating *W, Py_ssize_t v, Py_ssize_t n, int n_threads,
                       IalmMemory *memory, Norms *norms) noexcept nogil:
    """The norms of the row slices and tubes of W; ``memory.row_info`` has LAPACK's of every row."""
    cdef Py_ssize_t j, i, k, size = row_size(v, n)
    cdef double *rows
    cdef double *basis
    cdef double squared, largest
    for j in prange(n, num_threads=n_threads, schedule="static"):
        rows = memory.work + omp_get_thread_num() * size
        basis = rows + v * n
        for i in range(v):
            for k in range(n):
                rows[i * n + k] = W[(i * n + j) * n + k]
        largest = 0.0
        for k in range(n):
            squared = 0.0
            for i in range(v):
                squared = squared + rows[i * n + k] * rows[i * n + k]
            largest = fmax(largest, squared)
        memory.sums[n + j] = largest
        memory.row_info[j] = row_basis(rows, v, n, basis, basis + v * v)
        memory.sums[j] = basis[v * v + v - 1]       # the largest eigenvalue of the Gram matrix
    norms.row = norms.tube = 0.0
    for j in range(n):
        norms.row = fmax(norms.row, memory.sums[j])
        norms.tube = fmax(norms.tube, memory.sums[n + j])
    norms.row, norms.tube = sqrt(norms.row), sqrt(norms.tube)


cdef int measure(const floating *W, Py_ssize_t v, Py_ssize_t n, double lam, int n_threads,
                 IalmMemory *memory, Norms *norms, mvsc_tlrr_result *result) noexcept nogil:
    """All norms of W; ``memory.X`` is overwritten. A status."""
    cdef floating *X = <floating *> memory.X
    cdef const floating *spectrum = <const floating *> memory.spectrum
    cdef double before = seconds()
    cdef Py_ssize_t k
    memcpy(X, W, v * n * n * sizeof(floating))
    # With an infinite threshold only the eigenvalues are computed.
    symmetric_maps(X, v, n, INFINITY, SHRINK, frontal_threads(v, n_threads),
                   <floating *> memory.numbers, memory.integers, <floating *> memory.spectrum,
                   memory.rank, memory.info)
    if failed(memory.info, v, &result.lapack_info, &result.failed_view):
        return MVSC_NO_CONVERGENCE
    result.eigen_seconds += seconds() - before
    norms.spectral = 0.0
    for k in range(v * n):
        norms.spectral = fmax(norms.spectral, fabs(<double> spectrum[k]))
    measure_rows(W, v, n, n_threads, memory, norms)
    if failed(memory.row_info, n, &result.lapack_info, &result.failed_row):
        return MVSC_NO_CONVERGENCE
    loops.finite_maximum(W, v * n * n, &norms.entry)
    if not 1e-300 < lam * fmax(norms.entry, 1.0) < 1e150:
        return MVSC_OUT_OF_RANGE
    return MVSC_OK


cdef bint running(const mvsc_tlrr_options *options, Watch *watch,
                  const mvsc_tlrr_result *result) noexcept nogil:
    """Whether another iteration is due."""
    return result.n_iter < options.max_iter and not (result.converged or is_stopped(watch))


cdef double fast_forward(
    const mvsc_tlrr_options *options,
    const Norms *norms,
    double *e,                  # OUT  E = e W
    double *y,                  # OUT  Y_1 = Y_2 = Y_3 = y W
    mvsc_tlrr_state *state,
    Watch *watch,
    mvsc_tlrr_result *result,
) noexcept nogil:
    """The iterations in which all blocks are zero; returns the penalty of the next one.

    Then ``E = (3 mu + 2 lam E) / (2 lam + 3 mu)`` and ``Y_k = 2 lam E / 3``, multiples of W, until
    the argument ``(W - E + Y_k / mu) / 2`` of a block exceeds its threshold.
    """
    cdef double omega1 = options.omega1, omega2 = 1.0 - options.omega1, lam = options.lam
    cdef double mu = options.mu, reach
    e[0] = y[0] = 0.0
    while running(options, watch, result):
        reach = argument(e[0], y[0], mu)
        if (reach * norms.spectral > omega1 / (2.0 * mu)
                or reach * norms.row > omega2 / (2.0 * mu)
                or reach * norms.tube > omega2 * options.alpha / (2.0 * mu)):
            break
        e[0] = (3.0 * mu + 2.0 * lam * e[0]) / (2.0 * lam + 3.0 * mu)
        y[0] = 2.0 * lam * e[0] / 3.0
        state.residual, state.mu = (1.0 - e[0]) * norms.entry, mu
        end_iteration(watch, options, state, result)
        if running(options, watch, result):
            mu = min(options.rho * mu, options.mu_max)
    result.n_fast_forward = result.n_iter
    return mu


cdef double argument(double e, double y, double mu) noexcept nogil:
    """A_k if L is zero, E = e W and Y_k = y W, as a multiple of W."""
    return (1.0 - e + y / mu) / 2.0


cdef int ialm_solve(
    const floating *W,          # v x n x n
    floating *L,                # OUT  v x n x n
    Py_ssize_t v,
    Py_ssize_t n,
    const mvsc_tlrr_options *options,
    Arena *arena,
    Watch *watch,
    mvsc_tlrr_result *result,   # INOUT zeros in
) noexcept nogil:
    """Iterate to the tolerance, max_iter or a stop by the callback; a status."""
    cdef IalmMemory memory
    cdef Norms norms
    cdef int n_threads = options.n_threads, slices = frontal_threads(v, n_threads), status
    cdef Py_ssize_t k, i, size = v * n * n
    cdef double lam = options.lam, mu, e, y, reach, before
    cdef loops.IalmStep step
    cdef mvsc_tlrr_state state
    lay_out_ialm(arena, v, n, sizeof(floating), n_threads, &memory)
    cdef floating *E = <floating *> memory.E
    cdef floating *Y1 = <floating *> memory.Y1
    cdef floating *Y2 = <floating *> memory.Y2
    cdef floating *X = <floating *> memory.X
    memset(&state, 0, sizeof(mvsc_tlrr_state))
    memset(memory.rank, 0, v * sizeof(Py_ssize_t))
    state.ranks = memory.rank
    for i in range(v):
        start_subspace(&memory.subspaces[i],
                       <floating *> memory.bases + i * subspace_capacity(n) * n, n, i)
    status = measure(W, v, n, lam, n_threads, &memory, &norms, result)
    if status != MVSC_OK:
        return status
    mu = fast_forward(options, &norms, &e, &y, &state, watch, result)
    memset(L, 0, size * sizeof(floating))
    if running(options, watch, result):
        reach = argument(e, y, mu)
        for k in range(size):
            E[k] = <floating> e * W[k]
            Y1[k] = <floating> y * W[k]
            Y2[k] = Y1[k]
            X[k] = <floating> reach * W[k]
    while running(options, watch, result):
        before = seconds()
        frontal_block(X, v, n, options.omega1 / (2.0 * mu), slices, &memory)
        result.eigen_seconds += seconds() - before
        if failed(memory.info, v, &result.lapack_info, &result.failed_view):
            return MVSC_NO_CONVERGENCE
        step.mu, step.mu_next, step.lam = mu, min(options.rho * mu, options.mu_max), lam
        step.slice_threshold = (1.0 - options.omega1) / (2.0 * mu)
        step.tube_threshold = (1.0 - options.omega1) * options.alpha / (2.0 * mu)
        state.residual = sweep(W, L, v, n, &step, n_threads, &memory)
        if failed(memory.row_info, n, &result.lapack_info, &result.failed_row):
            return MVSC_NO_CONVERGENCE
        state.mu = mu
        end_iteration(watch, options, &state, result)
        mu = step.mu_next
    return MVSC_OK


cdef void end_iteration(Watch *watch, const mvsc_tlrr_options *options, mvsc_tlrr_state *state,
                        mvsc_tlrr_result *result) noexcept nogil:
    """Count an iteration, compare its residual with tol, and report it."""
    result.n_iter += 1
    result.converged = state.residual <= options.tol
    state.iteration, state.converged = result.n_iter, result.converged
    report(watch, state)
