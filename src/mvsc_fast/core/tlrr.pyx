"""TLRR on dense slices or on a sparsity pattern: memory, and the choice of solver."""

from cython cimport floating
from libc.math cimport fmax, fmin, frexp, ldexp
from libc.string cimport memcmp, memset

from . cimport loops
from .api cimport (
    MVSC_BAD_ARGUMENT,
    MVSC_OK,
    MVSC_OUT_OF_RANGE,
    MVSC_SMALL_WORKSPACE,
    MVSC_TLRR_IALM,
    MVSC_TOO_LARGE,
    mvsc_tlrr_blocks,
    mvsc_tlrr_options,
    mvsc_tlrr_result,
)
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .dual cimport SMALL_BLOCK, DualMemory, dual_solve, lay_out_dual
from .ialm cimport IalmMemory, ialm_solve, lay_out_ialm
from .platform cimport omp_destroy_lock, omp_init_lock, seconds
from .screening cimport Source, screen as screen_tubes, set_thresholds
from .symmetric cimport MAX_SLICE
from .watch cimport Watch


cdef double MIN_WEIGHT = 1e-12      # of a sample: squares of products stay in single precision


cdef Source dense_source(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """v dense slices of n x n entries."""
    cdef Source source
    source.v, source.n, source.stride = v, n, n * n
    source.indptr = source.indices = NULL
    source.scale, source.tau, source.bound = 1.0, 0.0, 0.0
    return source


cdef double normalising_power(const floating *data, Py_ssize_t count) noexcept nogil:
    """The power of two that brings the largest entry to 1 to 2, or 1 if all entries are zero.

    W -> s W with lam -> lam / s has the minimiser s L: nothing is squared out of range, and the
    unit of W changes no bit of the result.
    """
    cdef double largest
    cdef int exponent
    loops.finite_maximum(data, count, &largest)
    if largest == 0.0:
        return 1.0
    frexp(largest, &exponent)
    return ldexp(1.0, min(1 - exponent, 126 if floating is float else 1022))


cdef int prepare(const floating *data, Source *source,
                 const mvsc_tlrr_options *options) noexcept nogil:
    """Scale and thresholds of a source; a status."""
    cdef Py_ssize_t j
    cdef double lightest = 1.0, heaviest = 1.0, most = 1e25 if floating is float else 1e150
    if options.sample_weight != NULL:
        lightest = heaviest = options.sample_weight[0]
        for j in range(source.n):
            lightest = fmin(lightest, options.sample_weight[j])
            heaviest = fmax(heaviest, options.sample_weight[j])
    if not (MIN_WEIGHT <= lightest and heaviest <= 1.0 / MIN_WEIGHT):
        return MVSC_OUT_OF_RANGE
    source.scale = normalising_power(data, source.v * source.stride)
    if not 1e-300 < options.lam / source.scale < most:
        return MVSC_OUT_OF_RANGE
    set_thresholds(source, options.omega1, options.alpha, options.lam / source.scale,
                   lightest)
    return MVSC_OK


cdef int tlrr_screen(
    const floating *data,       # the values of the source
    Source *source,             # INOUT scale and thresholds out
    const mvsc_tlrr_options *options,
    Py_ssize_t *labels,         # OUT  n
    mvsc_tlrr_blocks *blocks,   # OUT  all but the size field
) noexcept nogil:
    """Blocks of samples that the minimiser does not connect, and how many tubes it can have."""
    cdef int status = prepare(data, source, options)
    if status != MVSC_OK:
        return status
    screen_tubes(data, source, labels, blocks)
    return MVSC_OK if blocks.largest <= MAX_SLICE else MVSC_TOO_LARGE


cdef Py_ssize_t *lay_out_labels(Arena *arena, Py_ssize_t n) noexcept nogil:
    """Room for the labels of a problem that is screened inside."""
    return <Py_ssize_t *> take(arena, n, sizeof(Py_ssize_t))


cdef int tlrr_workspace(
    Py_ssize_t v,
    Py_ssize_t n,
    size_t itemsize,
    const mvsc_tlrr_options *options,
    const mvsc_tlrr_blocks *blocks,     # NULL: what any data can need
    size_t *bytes,                      # OUT
) noexcept nogil:
    """Bytes that tlrr_solve needs, any alignment of the workspace allowed for; a status."""
    cdef Arena arena = counting_arena(), labels
    cdef DualMemory dual
    cdef IalmMemory ialm
    cdef mvsc_tlrr_blocks worst
    cdef Py_ssize_t[2] largest
    cdef int k
    bytes[0] = 0
    if options.solver == MVSC_TLRR_IALM:
        if n > MAX_SLICE:
            return MVSC_TOO_LARGE
        lay_out_ialm(&arena, v, n, itemsize, options.n_threads, &ialm)
    elif blocks != NULL:
        if blocks.largest > MAX_SLICE:
            return MVSC_TOO_LARGE
        lay_out_labels(&arena, n)
        lay_out_dual(&arena, v, n, itemsize, blocks, options.n_threads, &dual)
    else:
        # Two worst cases: one large block, or a small block of maximum size in every thread.
        largest[0] = min(n, <Py_ssize_t> MAX_SLICE)
        largest[1] = min(n, <Py_ssize_t> SMALL_BLOCK)
        lay_out_labels(&arena, n)
        labels = arena
        for k in range(2):
            worst.n_blocks, worst.largest, worst.n_tubes = n, largest[k], n * n
            arena = labels
            lay_out_dual(&arena, v, n, itemsize, &worst, options.n_threads, &dual)
            if arena.overflow:
                return MVSC_TOO_LARGE
            bytes[0] = max(bytes[0], workspace_bytes(&arena))
        return MVSC_OK
    if arena.overflow:
        return MVSC_TOO_LARGE
    bytes[0] = workspace_bytes(&arena)
    return MVSC_OK


cdef int tlrr_solve(
    const floating *data,       # the values of the source
    Source *source,             # INOUT scale and thresholds out
    floating *out,              # OUT  L, in the layout of data
    const mvsc_tlrr_options *options,
    const Py_ssize_t *labels,   # of tlrr_screen for the same source and options, and
    const mvsc_tlrr_blocks *blocks,     # its blocks: others are refused; or both NULL
    void *workspace,
    size_t bytes,
    mvsc_tlrr_result *result,   # OUT  all but the size field
) noexcept nogil:
    """Solve TLRR in ``bytes`` bytes of workspace, as computed by tlrr_workspace; a status."""
    cdef Watch watch
    cdef Arena arena = arena_at(workspace), counted = counting_arena()
    cdef mvsc_tlrr_blocks found
    cdef Py_ssize_t *found_labels
    cdef size_t size = result.size, needed
    cdef int status
    memset(result, 0, sizeof(mvsc_tlrr_result))
    result.size, result.failed_view, result.failed_row = size, -1, -1
    watch.options, watch.start, watch.stopped = options, seconds(), False
    if options.solver == MVSC_TLRR_IALM:
        blocks, status = NULL, MVSC_OK
    else:
        lay_out_labels(&counted, source.n)
        if bytes < workspace_bytes(&counted):
            return MVSC_SMALL_WORKSPACE
        # Other blocks would split the problem where the minimiser does not.
        found_labels = lay_out_labels(&arena, source.n)
        status = tlrr_screen(data, source, options, found_labels, &found)
        if status == MVSC_OK and labels != NULL and (
                blocks.n_blocks != found.n_blocks or blocks.largest != found.largest
                or blocks.n_tubes != found.n_tubes
                or memcmp(labels, found_labels, source.n * sizeof(Py_ssize_t)) != 0):
            status = MVSC_BAD_ARGUMENT
        labels, blocks = found_labels, &found
    if status == MVSC_OK:
        status = tlrr_workspace(source.v, source.n, sizeof(floating), options, blocks, &needed)
    if status != MVSC_OK:
        return status
    if bytes < needed:
        return MVSC_SMALL_WORKSPACE
    omp_init_lock(&watch.lock)
    if options.solver == MVSC_TLRR_IALM:
        status = ialm_solve(data, out, source.v, source.n, options, &arena, &watch, result)
    else:
        if source.stride > 0:
            memset(out, 0, source.v * source.stride * sizeof(floating))
        status = dual_solve(data, source, out, labels, blocks, options, &arena, &watch, result)
    omp_destroy_lock(&watch.lock)
    result.stopped = watch.stopped
    result.seconds = seconds() - watch.start
    return status
