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
from .platform cimport seconds
from .loops cimport CHUNK
from .platform cimport omp_get_thread_num
from .partial cimport (
    Subspace,
    partial_lwork,
    partial_shrink,
    start_subspace,
    subspace_capacity,
    worth_trying,
)
from .rows cimport SHRINK, row_basis, row_lwork, row_operator
from .symmetric cimport symmetric_liwork, symmetric_lwork, symmetric_map, symmetric_maps
from .watch cimport Watch, failed, frontal_threads, report


cdef int ialm_row(
    const floating **w,     # IN    row j of every view of W, of length n
    floating **l,           # OUT   L
    floating **e,           # INOUT E
    floating **y1,          # INOUT multipliers of the frontal block
    floating **y2,          # INOUT multipliers of the slice block
    floating **x,           # INOUT L1 in, the next argument A1 of the frontal step out
    Py_ssize_t v,
    Py_ssize_t n,
    const loops.IalmStep *step,
    double *work,
    floating *residual,     # INOUT CHUNK running maxima
    Py_ssize_t *rank,
    Py_ssize_t *kept,
) noexcept nogil:
    cdef double *rows = work                        # A2, v x n
    cdef double *mapper = rows + v * n
    cdef double *scratch = mapper + v * v
    cdef floating *factor = <floating *> (scratch + row_lwork(v, n))    # of tube k
    cdef floating *l2 = factor + CHUNK
    cdef floating *a3 = l2 + CHUNK                  # v x CHUNK
    cdef Py_ssize_t i, at, width
    cdef int info

    for i in range(v):
        loops.argument(w[i], l[i], e[i], y2[i], 1.0 / step.mu, n, rows + i * n)
    info = row_operator(rows, v, n, step.slice_threshold, SHRINK, mapper, scratch, rank)
    if info != 0:
        return info

    kept[0] = 0
    at = 0
    while at < n:
        width = min(<Py_ssize_t> CHUNK, n - at)
        memset(factor, 0, width * sizeof(floating))
        for i in range(v):
            loops.tube_argument(w[i] + at, l[i] + at, e[i] + at, y1[i] + at, y2[i] + at, step,
                                width, a3 + i * CHUNK, factor)
        kept[0] += loops.shrink_factors(factor, width, step.tube_threshold)
        for i in range(v):
            loops.combine(mapper + i * v, rows + at, v, n, width, l2)
            loops.ialm_update(w[i] + at, l[i] + at, e[i] + at, y1[i] + at, y2[i] + at, x[i] + at,
                              l2, a3 + i * CHUNK, factor, step, width, residual)
        at = at + width
    return 0


cdef Py_ssize_t row_size(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that ialm_row needs."""
    return v * n + v * v + (v + 2) * CHUNK + row_lwork(v, n)


cdef void lay_out_rows(Arena *arena, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, size_t itemsize,
                       int n_threads, Rows *rows) noexcept nogil:
    rows.work = <double *> take(arena, <double> n_threads * row_size(v, n), sizeof(double))
    rows.residual = take(arena, <double> n_threads * CHUNK, itemsize)
    rows.pointers = <void **> take(arena, <double> n_threads * 6 * v, sizeof(void *))
    rows.rank = <Py_ssize_t *> take(arena, m, sizeof(Py_ssize_t))
    rows.kept = <Py_ssize_t *> take(arena, m, sizeof(Py_ssize_t))
    rows.code = <int *> take(arena, m, sizeof(int))
    rows.sums = <double *> take(arena, 2.0 * m, sizeof(double))


cdef double sweep(
    const floating *W,
    floating *L,
    floating *E,
    floating *Y1,
    floating *Y2,
    floating *X,
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    const loops.IalmStep *step,
    int n_threads,
    Rows *memory,
) noexcept nogil:
    """One iteration but its frontal step (see ialm_pass); returns the residual."""
    cdef Py_ssize_t j, i, at, size = row_size(v, n)
    cdef floating *residual = <floating *> memory.residual
    cdef floating **rows
    cdef double largest = 0.0
    cdef int thread
    memset(residual, 0, n_threads * CHUNK * sizeof(floating))
    for j in prange(m, num_threads=n_threads, schedule="static"):
        thread = omp_get_thread_num()
        rows = <floating **> (memory.pointers + thread * 6 * v)
        for i in range(v):
            at = (i * m + j) * n
            rows[i] = <floating *> (W + at)
            rows[v + i] = L + at
            rows[2 * v + i] = E + at
            rows[3 * v + i] = Y1 + at
            rows[4 * v + i] = Y2 + at
            rows[5 * v + i] = X + at
        memory.code[j] = ialm_row(
            <const floating **> rows, rows + v, rows + 2 * v, rows + 3 * v, rows + 4 * v,
            rows + 5 * v, v, n, step, memory.work + thread * size, residual + thread * CHUNK,
            &memory.rank[j], &memory.kept[j])
    for at in range(n_threads * CHUNK):
        largest = fmax(largest, residual[at])
    return largest


cdef loops.IalmStep make_step(double omega2, double alpha, double lam, double mu,
                              double mu_next) noexcept nogil:
    cdef loops.IalmStep step
    step.mu, step.mu_next, step.lam = mu, mu_next, lam
    step.slice_threshold = omega2 / (2.0 * mu)
    step.tube_threshold = omega2 * alpha / (2.0 * mu)
    return step


# ------------------------------------------------------------------ solver

cdef struct Memory:
    void *E                     # tensors of W's shape
    void *Y1
    void *Y2
    void *X
    void *numbers               # for frontal slices
    long long *integers
    void *spectrum              # v x n
    void *bases                 # v x subspace_capacity(n) x n
    Subspace *subspaces         # v
    Py_ssize_t *rank            # v
    int *code                   # v
    Rows rows


cdef Py_ssize_t slot_size(Py_ssize_t n) noexcept nogil:
    return max(symmetric_lwork(n), partial_lwork(n))


cdef void ialm_memory(Arena *arena, Py_ssize_t v, Py_ssize_t n, size_t itemsize,
                      const mvsc_tlrr_options *options, Memory *memory) noexcept nogil:
    cdef double size = <double> v * n * n
    cdef int slices = frontal_threads(v, options.n_threads)
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
    memory.code = <int *> take(arena, v, sizeof(int))
    lay_out_rows(arena, v, n, n, itemsize, options.n_threads, &memory.rows)


cdef void ialm_lay_out(Arena *arena, Py_ssize_t v, Py_ssize_t n, size_t itemsize,
                       const mvsc_tlrr_options *options) noexcept nogil:
    cdef Memory memory
    ialm_memory(arena, v, n, itemsize, options, &memory)


cdef void frontal_block(floating *X, Py_ssize_t v, Py_ssize_t n, double t, int slices,
                        Memory *memory) noexcept nogil:
    """Shrink the eigenvalues of every frontal slice, by a few eigenpairs where that is certain."""
    cdef Py_ssize_t i, size = slot_size(n), liwork = symmetric_liwork(n)
    cdef int found
    for i in prange(v, num_threads=slices, schedule="static", chunksize=1):
        memory.code[i] = 0
        memory.rank[i] = -1
        if worth_trying(&memory.subspaces[i], n):
            found = partial_shrink(X + i * n * n, n, t, &memory.subspaces[i],
                                   <floating *> memory.numbers + omp_get_thread_num() * size)
            memory.rank[i] = found
    for i in prange(v, num_threads=slices, schedule="static", chunksize=1):
        if memory.rank[i] < 0:
            memory.code[i] = symmetric_map(
                X + i * n * n, n, t, SHRINK, <floating *> memory.spectrum + i * n,
                <floating *> memory.numbers + omp_get_thread_num() * size,
                memory.integers + omp_get_thread_num() * liwork, &memory.rank[i])
            memory.subspaces[i].rank = memory.rank[i]


cdef void measure(
    const floating *W,
    Py_ssize_t v,
    Py_ssize_t n,
    int n_threads,
    Rows *memory,
    double *row_largest,        # OUT  largest spectral norm of a row slice
    double *longest,            # OUT  length of the longest tube
) noexcept nogil:
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
        memory.code[j] = row_basis(rows, v, n, basis, basis + v * v)
        memory.sums[j] = basis[v * v + v - 1]       # the largest eigenvalue of the Gram matrix
    row_largest[0] = longest[0] = 0.0
    for j in range(n):
        row_largest[0] = fmax(row_largest[0], memory.sums[j])
        longest[0] = fmax(longest[0], memory.sums[n + j])
    row_largest[0], longest[0] = sqrt(row_largest[0]), sqrt(longest[0])


cdef int ialm_solve(
    const floating *W,
    floating *L,                # OUT
    Py_ssize_t v,
    Py_ssize_t n,
    const mvsc_tlrr_options *options,
    Arena *arena,
    Watch *watch,
    mvsc_tlrr_result *result,   # INOUT zeros in
) noexcept nogil:
    cdef Memory memory
    cdef int n_threads = options.n_threads, slices = frontal_threads(v, n_threads)
    cdef Py_ssize_t k, i, size = v * n * n
    cdef double omega1 = options.omega1, omega2 = 1.0 - options.omega1, lam = options.lam
    cdef double mu = options.mu, spectral_norm = 0.0, row_largest, longest, largest
    cdef double e = 0.0, y = 0.0, reach, before
    cdef loops.IalmStep step
    cdef mvsc_tlrr_state state
    ialm_memory(arena, v, n, sizeof(floating), options, &memory)
    cdef floating *E = <floating *> memory.E
    cdef floating *Y1 = <floating *> memory.Y1
    cdef floating *Y2 = <floating *> memory.Y2
    cdef floating *X = <floating *> memory.X
    cdef floating *spectrum = <floating *> memory.spectrum
    memset(&state, 0, sizeof(mvsc_tlrr_state))
    memset(memory.rank, 0, v * sizeof(Py_ssize_t))
    state.ranks = memory.rank
    for i in range(v):
        start_subspace(&memory.subspaces[i],
                       <floating *> memory.bases + i * subspace_capacity(n) * n, n, i)

    before = seconds()
    memcpy(X, W, size * sizeof(floating))
    # An infinite threshold leaves nothing but the eigenvalues to compute.
    symmetric_maps(X, v, n, INFINITY, SHRINK, slices, <floating *> memory.numbers, memory.integers,
                   spectrum, memory.rank, memory.code)
    if failed(memory.code, v, &result.lapack_info, &result.failed_view):
        return MVSC_NO_CONVERGENCE
    result.eigen_seconds += seconds() - before
    for k in range(v * n):
        spectral_norm = fmax(spectral_norm, fabs(<double> spectrum[k]))
    measure(W, v, n, n_threads, &memory.rows, &row_largest, &longest)
    if failed(memory.rows.code, n, &result.lapack_info, &result.failed_row):
        return MVSC_NO_CONVERGENCE
    loops.finite_maximum(W, size, &largest)
    if not 1e-300 < lam * fmax(largest, 1.0) < 1e150:
        return MVSC_OUT_OF_RANGE

    while result.n_iter < options.max_iter and not (result.converged or watch.stopped):
        reach = (1.0 - e + y / mu) / 2.0
        if (reach * spectral_norm > omega1 / (2.0 * mu)
                or reach * row_largest > omega2 / (2.0 * mu)
                or reach * longest > omega2 * options.alpha / (2.0 * mu)):
            break
        e = (3.0 * mu + 2.0 * lam * e) / (2.0 * lam + 3.0 * mu)
        y = 2.0 * lam * e / 3.0
        state.residual, state.mu = (1.0 - e) * largest, mu
        end_iteration(watch, options, &state, result)
        if result.n_iter < options.max_iter and not (result.converged or watch.stopped):
            mu = min(options.rho * mu, options.mu_max)
    result.n_fast_forward = result.n_iter

    memset(L, 0, size * sizeof(floating))
    if result.n_iter < options.max_iter and not (result.converged or watch.stopped):
        reach = (1.0 - e + y / mu) / 2.0
        for k in range(size):
            E[k] = <floating> e * W[k]
            Y1[k] = <floating> y * W[k]
            Y2[k] = Y1[k]
            X[k] = <floating> reach * W[k]
    while result.n_iter < options.max_iter and not (result.converged or watch.stopped):
        before = seconds()
        frontal_block(X, v, n, omega1 / (2.0 * mu), slices, &memory)
        result.eigen_seconds += seconds() - before
        if failed(memory.code, v, &result.lapack_info, &result.failed_view):
            return MVSC_NO_CONVERGENCE
        step = make_step(omega2, options.alpha, lam, mu, min(options.rho * mu, options.mu_max))
        state.residual = sweep(W, L, E, Y1, Y2, X, v, n, n, &step, n_threads, &memory.rows)
        if failed(memory.rows.code, n, &result.lapack_info, &result.failed_row):
            return MVSC_NO_CONVERGENCE
        state.mu = mu
        end_iteration(watch, options, &state, result)
        mu = step.mu_next
    return MVSC_OK


cdef void end_iteration(Watch *watch, const mvsc_tlrr_options *options, mvsc_tlrr_state *state,
                        mvsc_tlrr_result *result) noexcept nogil:
    result.n_iter += 1
    result.converged = state.residual <= options.tol
    state.iteration, state.converged = result.n_iter, result.converged
    report(watch, state)
