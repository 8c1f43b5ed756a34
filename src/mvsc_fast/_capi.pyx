"""The C interface of include/mvsc_fast.h: checks, and the table of functions in a capsule."""

from cpython.exc cimport PyErr_SetObject
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from cython cimport floating
from libc.math cimport isfinite
from libc.string cimport memcpy, memset

cimport mvsc_fast.core.loops as loops
from mvsc_fast._kernels cimport (
    CHUNK,
    CLIP,
    MAX_SLICE,
    SHRINK,
    Spectral,
    slice_lwork,
    slice_map,
    symmetric_liwork,
    symmetric_lwork,
    symmetric_maps,
    tube_map,
)
from mvsc_fast.core.api cimport *
from mvsc_fast.core.arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from mvsc_fast.core.lapack cimport gesvd_lwork
from mvsc_fast.core.loops cimport TILE
from mvsc_fast.core.screening cimport Source
from mvsc_fast.core.tlrr cimport dense_source
from mvsc_fast.core.tlrr cimport tlrr_screen as core_screen
from mvsc_fast.core.tlrr cimport tlrr_solve as core_solve
from mvsc_fast.core.tlrr cimport tlrr_workspace as core_workspace
from mvsc_fast.core.votes cimport factor_rows as core_factor_rows
from mvsc_fast.core.votes cimport vote as core_vote

from mvsc_fast.threads import blas_threads
from mvsc_fast.validation import check_integer


cdef enum:
    MAX_THREADS = 4096
    MAX_ROW = 2147483647


cdef const char *strerror(int status) noexcept nogil:
    if status == MVSC_OK:
        return "success"
    if status == MVSC_BAD_ARGUMENT:
        return "a null pointer, wrong size field, negative or non-finite number, or unknown code"
    if status == MVSC_BAD_SHAPE:
        return "slices must be square, m == n, and L of the shape and type of W"
    if status == MVSC_TOO_LARGE:
        return "too large: LAPACK takes symmetric slices up to 32766 and rows up to 2^31 - 1"
    if status == MVSC_NOT_FINITE:
        return "there are NaN or infinite entries, or products of factors that are not finite"
    if status == MVSC_SMALL_WORKSPACE:
        return "the workspace has fewer bytes than the size query asks for"
    if status == MVSC_NO_CONVERGENCE:
        return "LAPACK did not converge on a slice; the tensor is unusable"
    if status == MVSC_NOT_SYMMETRIC:
        return "the slices of W are not exactly symmetric: average them with their transposes"
    if status == MVSC_OUT_OF_RANGE:
        return "W, its squares, lam times W or the weights leave the range of numbers: rescale them"
    return "unknown status"


# ------------------------------------------------------------------ structs of older callers

cdef extern from *:
    """
    /* The bytes of a struct that ended with this field in its first version. */
    #define FIRST_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))
    enum {
        FIRST_TENSOR = FIRST_SIZE(mvsc_tensor, dtype),
        FIRST_OPTIONS = FIRST_SIZE(mvsc_tlrr_options, sample_weight),
        FIRST_BLOCKS = FIRST_SIZE(mvsc_tlrr_blocks, n_tubes),
        FIRST_RESULT = FIRST_SIZE(mvsc_tlrr_result, eigen_seconds),
        /* and in version 2 */
        FIRST_MAP = FIRST_SIZE(mvsc_factor_map, columns),
        FIRST_VOTERS = FIRST_SIZE(mvsc_voters, cap)
    };
    """
    size_t FIRST_TENSOR, FIRST_OPTIONS, FIRST_BLOCKS, FIRST_RESULT, FIRST_MAP, FIRST_VOTERS


cdef bint read_struct(
    const void *given,          # of the caller: as many bytes as its size field says
    size_t first_size,          # of the struct in its first version
    size_t size,                # of the struct today
    void *today,                # OUT  its fields, and 0 in those that the caller does not know
) noexcept nogil:
    """Copy a caller's struct; false if it is NULL, or of a size that no version has had."""
    cdef const size_t *given_size = <const size_t *> given
    if given == NULL or not first_size <= given_size[0] <= size:
        return False
    memset(today, 0, size)
    memcpy(today, given, given_size[0])
    return True


cdef void write_struct(const void *today, void *given) noexcept nogil:
    """Copy into a caller's struct, which `read_struct` has accepted, the fields that it has."""
    cdef size_t size = (<size_t *> given)[0]
    memcpy(given, today, size)
    (<size_t *> given)[0] = size


# ------------------------------------------------------------------ proximal maps

cdef struct Parts:
    # Of the workspace of a proximal map.
    void *numbers               # LAPACK's and copies
    long long *integers
    void *spectrum              # eigenvalues
    Py_ssize_t *ranks
    int *codes


cdef bint is_symmetric(int kind) noexcept nogil:
    return kind == MVSC_SYMMETRIC_SHRINK or kind == MVSC_SYMMETRIC_CLIP


cdef bint is_slice(int kind) noexcept nogil:
    return kind == MVSC_SLICE_SHRINK or kind == MVSC_SLICE_CLIP


cdef int read_tensor(const mvsc_tensor *given, mvsc_tensor *tensor) noexcept nogil:
    """Read a caller's struct, and check everything but the data."""
    if not read_struct(given, FIRST_TENSOR, sizeof(mvsc_tensor), tensor):
        return MVSC_BAD_ARGUMENT
    if tensor.v < 0 or tensor.m < 0 or tensor.n < 0:
        return MVSC_BAD_ARGUMENT
    if tensor.dtype != MVSC_FLOAT32 and tensor.dtype != MVSC_FLOAT64:
        return MVSC_BAD_ARGUMENT
    if (<double> tensor.v * tensor.m * tensor.n > 1e17 or tensor.v > MAX_SLICE
            or gesvd_lwork(tensor.n, tensor.v) > MAX_ROW):
        return MVSC_TOO_LARGE
    return MVSC_OK


cdef size_t itemsize_of(const mvsc_tensor *tensor) noexcept nogil:
    return sizeof(float) if tensor.dtype == MVSC_FLOAT32 else sizeof(double)


cdef int read_prox(int kind, const mvsc_tensor *given, int n_threads,
                   mvsc_tensor *tensor) noexcept nogil:
    """Read the tensor, and check everything but its data."""
    cdef int status = read_tensor(given, tensor)
    if not 1 <= n_threads <= MAX_THREADS:
        return MVSC_BAD_ARGUMENT
    if kind != MVSC_TUBE_SHRINK and not is_slice(kind) and not is_symmetric(kind):
        return MVSC_BAD_ARGUMENT
    if status != MVSC_OK:
        return status
    if is_symmetric(kind) and tensor.m != tensor.n:
        return MVSC_BAD_SHAPE
    if is_symmetric(kind) and tensor.n > MAX_SLICE:
        return MVSC_TOO_LARGE
    return MVSC_OK


cdef int lay_out(int kind, const mvsc_tensor *tensor, int n_threads, Arena *arena,
                 Parts *parts) noexcept nogil:
    """Lay out the workspace of a map."""
    cdef Py_ssize_t v = tensor.v, m = tensor.m, n = tensor.n
    cdef size_t itemsize = itemsize_of(tensor)
    if kind == MVSC_TUBE_SHRINK:
        parts.numbers = take(arena, <double> n_threads * CHUNK, itemsize)
    elif is_slice(kind):
        parts.numbers = take(arena, <double> n_threads * slice_lwork(v, n), sizeof(double))
        parts.ranks = <Py_ssize_t *> take(arena, m, sizeof(Py_ssize_t))
        parts.codes = <int *> take(arena, m, sizeof(int))
    else:
        n_threads = <int> max(1, min(<Py_ssize_t> n_threads, v))
        parts.numbers = take(arena, <double> n_threads * symmetric_lwork(n), itemsize)
        parts.integers = <long long *> take(arena, <double> n_threads * symmetric_liwork(n), 8)
        parts.spectrum = take(arena, <double> v * n, itemsize)
        parts.ranks = <Py_ssize_t *> take(arena, v, sizeof(Py_ssize_t))
        parts.codes = <int *> take(arena, v, sizeof(int))
    return MVSC_TOO_LARGE if arena.overflow else MVSC_OK


cdef int prox_workspace_size(int kind, const mvsc_tensor *given, int n_threads,
                             size_t *bytes) noexcept nogil:
    cdef Arena arena = counting_arena()
    cdef Parts parts
    cdef mvsc_tensor tensor
    cdef int status = read_prox(kind, given, n_threads, &tensor)
    if bytes == NULL:
        return MVSC_BAD_ARGUMENT
    if status == MVSC_OK:
        status = lay_out(kind, &tensor, n_threads, &arena, &parts)
    bytes[0] = workspace_bytes(&arena) if status == MVSC_OK else 0
    return status


cdef int apply(int kind, floating *data, const mvsc_tensor *tensor, double t, int n_threads,
               Parts *parts, Py_ssize_t *counts) noexcept nogil:
    cdef Py_ssize_t v = tensor.v, m = tensor.m, n = tensor.n, j, kept, length
    cdef Spectral spectral = SHRINK
    cdef double largest
    if not loops.finite_maximum(data, v * m * n, &largest):
        return MVSC_NOT_FINITE
    if kind == MVSC_TUBE_SHRINK:
        kept = tube_map(data, v, m, n, t, n_threads, <floating *> parts.numbers)
        if counts != NULL:
            counts[0] = kept
        return MVSC_OK
    if kind == MVSC_SLICE_CLIP or kind == MVSC_SYMMETRIC_CLIP:
        spectral = CLIP
    if is_slice(kind):
        length = m
        slice_map(data, v, m, n, t, spectral, n_threads, <double *> parts.numbers, parts.ranks,
                  parts.codes)
    else:
        length = v
        symmetric_maps(data, v, n, t, spectral, <int> max(1, min(<Py_ssize_t> n_threads, v)),
                       <floating *> parts.numbers, parts.integers, <floating *> parts.spectrum,
                       parts.ranks, parts.codes)
    for j in range(length):
        if parts.codes[j] != 0:
            return MVSC_NO_CONVERGENCE
    if counts != NULL:
        for j in range(length):
            counts[j] = parts.ranks[j]
    return MVSC_OK


cdef int prox(int kind, mvsc_tensor *given, double t, int n_threads, void *workspace,
              size_t bytes, Py_ssize_t *counts) noexcept nogil:
    cdef Arena arena = counting_arena()
    cdef Parts parts
    cdef mvsc_tensor tensor
    cdef Py_ssize_t j, length
    cdef int status = read_prox(kind, given, n_threads, &tensor)
    if status == MVSC_OK:
        status = lay_out(kind, &tensor, n_threads, &arena, &parts)
    if status != MVSC_OK:
        return status
    if not isfinite(t) or t < 0:
        return MVSC_BAD_ARGUMENT
    if tensor.v * tensor.m * tensor.n == 0:
        if counts != NULL:
            length = 1
            if is_slice(kind):
                length = tensor.m
            elif is_symmetric(kind):
                length = tensor.v
            for j in range(length):
                counts[j] = 0
        return MVSC_OK
    if tensor.data == NULL or workspace == NULL:
        return MVSC_BAD_ARGUMENT
    if bytes < workspace_bytes(&arena):
        return MVSC_SMALL_WORKSPACE
    arena = arena_at(workspace)
    lay_out(kind, &tensor, n_threads, &arena, &parts)
    if tensor.dtype == MVSC_FLOAT32:
        return apply(kind, <float *> tensor.data, &tensor, t, n_threads, &parts, counts)
    return apply(kind, <double *> tensor.data, &tensor, t, n_threads, &parts, counts)


# ------------------------------------------------------------------ TLRR

cdef int read_problem(
    const mvsc_tensor *given_W,
    const mvsc_tlrr_options *given_options,
    mvsc_tensor *W,                             # OUT
    mvsc_tlrr_options *options,                 # OUT
) noexcept nogil:
    """Read a caller's structs, and check everything but the data of W."""
    cdef Py_ssize_t j
    cdef int status = read_tensor(given_W, W)
    if status == MVSC_BAD_ARGUMENT:
        return status
    if not read_struct(given_options, FIRST_OPTIONS, sizeof(mvsc_tlrr_options), options):
        return MVSC_BAD_ARGUMENT
    if options.solver != MVSC_TLRR_DUAL and options.solver != MVSC_TLRR_IALM:
        return MVSC_BAD_ARGUMENT
    if not (1 <= options.n_threads <= MAX_THREADS and 0.0 <= options.omega1 <= 1.0
            and 0.0 <= options.alpha < 1e300 and 0.0 < options.lam < 1e300
            and 0.0 <= options.tol < 1e300 and 0 <= options.max_iter):
        return MVSC_BAD_ARGUMENT
    if options.solver == MVSC_TLRR_IALM and not (
            0.0 < options.mu < 1e300 and 1.0 <= options.rho < 1e300
            and 0.0 < options.mu_max < 1e300):
        return MVSC_BAD_ARGUMENT
    if options.sample_weight != NULL:
        if options.solver == MVSC_TLRR_IALM:
            return MVSC_BAD_ARGUMENT
        for j in range(W.n):
            if not (isfinite(options.sample_weight[j]) and options.sample_weight[j] > 0.0):
                return MVSC_BAD_ARGUMENT
    if W.m != W.n:
        return MVSC_BAD_SHAPE
    if W.v == 0 or W.n == 0:
        return MVSC_BAD_ARGUMENT
    return status


cdef int check_values(const floating *W, Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j, k
    cdef const floating *A
    cdef double largest, limit = 1.8446743e19 if floating is float else 1.3407807929942596e154
    if not loops.finite_maximum(W, v * n * n, &largest):
        return MVSC_NOT_FINITE
    if largest > limit / (4.0 * n):             # as validation.check_squarable
        return MVSC_OUT_OF_RANGE
    for i in range(v):
        A = W + i * n * n
        for j in range((n + TILE - 1) // TILE):
            for k in range(j, (n + TILE - 1) // TILE):
                if not tile_is_symmetric(A, n, j * TILE, k * TILE):
                    return MVSC_NOT_SYMMETRIC
    return MVSC_OK


cdef bint tile_is_symmetric(const floating *A, Py_ssize_t n, Py_ssize_t first_row,
                            Py_ssize_t first_column) noexcept nogil:
    cdef Py_ssize_t j, k
    for j in range(first_row, min(first_row + TILE, n)):
        for k in range(first_column, min(first_column + TILE, n)):
            if A[j * n + k] != A[k * n + j]:
                return False
    return True


cdef int typed_screen(const floating *W, const mvsc_tensor *tensor,
                      const mvsc_tlrr_options *options, Py_ssize_t *labels,
                      mvsc_tlrr_blocks *blocks) noexcept nogil:
    cdef Source source = dense_source(tensor.v, tensor.n)
    cdef int status = check_values(W, tensor.v, tensor.n)
    if status == MVSC_OK:
        status = core_screen(W, &source, options, labels, blocks)
    return status


cdef int tlrr_screen(const mvsc_tensor *given_W, const mvsc_tlrr_options *given_options,
                     Py_ssize_t *labels, mvsc_tlrr_blocks *given_blocks) noexcept nogil:
    cdef mvsc_tensor W
    cdef mvsc_tlrr_options options
    cdef mvsc_tlrr_blocks blocks
    cdef int status = read_problem(given_W, given_options, &W, &options)
    if status != MVSC_OK:
        return status
    if W.data == NULL or labels == NULL:
        return MVSC_BAD_ARGUMENT
    if not read_struct(given_blocks, FIRST_BLOCKS, sizeof(mvsc_tlrr_blocks), &blocks):
        return MVSC_BAD_ARGUMENT
    if W.dtype == MVSC_FLOAT32:
        status = typed_screen(<const float *> W.data, &W, &options, labels, &blocks)
    else:
        status = typed_screen(<const double *> W.data, &W, &options, labels, &blocks)
    write_struct(&blocks, given_blocks)
    return status


cdef bint read_blocks(const mvsc_tlrr_blocks *given, const mvsc_tensor *W,
                      mvsc_tlrr_blocks *blocks) noexcept nogil:
    """Whether these can be blocks of a problem of this shape."""
    return (read_struct(given, FIRST_BLOCKS, sizeof(mvsc_tlrr_blocks), blocks)
            and 1 <= blocks.n_blocks <= W.n and 1 <= blocks.largest <= W.n
            and 0 <= blocks.n_tubes <= W.n * W.n)


cdef int tlrr_workspace_size(const mvsc_tensor *given_W, const mvsc_tlrr_options *given_options,
                             const mvsc_tlrr_blocks *given_blocks, size_t *bytes) noexcept nogil:
    cdef mvsc_tensor W
    cdef mvsc_tlrr_options options
    cdef mvsc_tlrr_blocks blocks
    cdef int status = read_problem(given_W, given_options, &W, &options)
    if bytes == NULL:
        return MVSC_BAD_ARGUMENT
    bytes[0] = 0
    if status != MVSC_OK:
        return status
    if given_blocks == NULL:
        return core_workspace(W.v, W.n, itemsize_of(&W), &options, NULL, bytes)
    if not read_blocks(given_blocks, &W, &blocks):
        return MVSC_BAD_ARGUMENT
    return core_workspace(W.v, W.n, itemsize_of(&W), &options, &blocks, bytes)


cdef int typed_solve(const floating *W, const mvsc_tensor *tensor,
                     const mvsc_tlrr_options *options, const Py_ssize_t *labels,
                     const mvsc_tlrr_blocks *blocks, floating *L, void *workspace, size_t bytes,
                     mvsc_tlrr_result *result) noexcept nogil:
    cdef Source source = dense_source(tensor.v, tensor.n)
    cdef int status = check_values(W, tensor.v, tensor.n)
    if status == MVSC_OK:
        status = core_solve(W, &source, L, options, labels, blocks, workspace, bytes, result)
    return status


cdef int tlrr_solve(const mvsc_tensor *given_W, const mvsc_tlrr_options *given_options,
                    const Py_ssize_t *labels, const mvsc_tlrr_blocks *given_blocks,
                    mvsc_tensor *given_L, void *workspace, size_t bytes,
                    mvsc_tlrr_result *given_result) noexcept nogil:
    cdef mvsc_tensor W, L
    cdef mvsc_tlrr_options options
    cdef mvsc_tlrr_blocks blocks_of_labels
    cdef mvsc_tlrr_blocks *blocks = NULL
    cdef mvsc_tlrr_result result
    cdef int status = read_problem(given_W, given_options, &W, &options)
    if status == MVSC_BAD_ARGUMENT:
        return status
    if not read_struct(given_L, FIRST_TENSOR, sizeof(mvsc_tensor), &L):
        return MVSC_BAD_ARGUMENT
    if W.data == NULL or L.data == NULL or workspace == NULL or W.data == L.data:
        return MVSC_BAD_ARGUMENT
    if (labels == NULL) != (given_blocks == NULL):
        return MVSC_BAD_ARGUMENT
    result.size = sizeof(mvsc_tlrr_result)
    if given_result != NULL and not read_struct(
            given_result, FIRST_RESULT, sizeof(mvsc_tlrr_result), &result):
        return MVSC_BAD_ARGUMENT
    if L.v != W.v or L.m != W.m or L.n != W.n or L.dtype != W.dtype:
        return MVSC_BAD_SHAPE
    if status != MVSC_OK:
        return status
    if given_blocks != NULL:
        blocks = &blocks_of_labels
        if not read_blocks(given_blocks, &W, blocks):
            return MVSC_BAD_ARGUMENT
    if W.dtype == MVSC_FLOAT32:
        status = typed_solve(<const float *> W.data, &W, &options, labels, blocks,
                             <float *> L.data, workspace, bytes, &result)
    else:
        status = typed_solve(<const double *> W.data, &W, &options, labels, blocks,
                             <double *> L.data, workspace, bytes, &result)
    if given_result != NULL:
        write_struct(&result, given_result)
    return status


# ------------------------------------------------------------------ labels of new rows

cdef int read_map(const mvsc_factor_map *given, int n_threads,
                  mvsc_factor_map *map) noexcept nogil:
    """Read a caller's struct, and check it."""
    cdef Py_ssize_t k
    if not read_struct(given, FIRST_MAP, sizeof(mvsc_factor_map), map):
        return MVSC_BAD_ARGUMENT
    if map.d < 1 or map.lower == NULL or not 1 <= n_threads <= MAX_THREADS:
        return MVSC_BAD_ARGUMENT
    if map.d > MAX_ROW:
        return MVSC_TOO_LARGE
    for k in range(map.d):
        if not (isfinite(<float> map.lower[k * map.d + k]) and map.lower[k * map.d + k] > 0):
            return MVSC_BAD_ARGUMENT
    return MVSC_OK


cdef int factor_workspace_size(const mvsc_factor_map *given, int n_threads,
                               size_t *bytes) noexcept nogil:
    cdef Arena arena = counting_arena()
    cdef mvsc_factor_map map
    cdef int status = read_map(given, n_threads, &map)
    if bytes == NULL:
        return MVSC_BAD_ARGUMENT
    if status == MVSC_OK:
        status = core_factor_rows(&map, <const double *> NULL, 0, 0, MVSC_NEW, n_threads, &arena,
                                  NULL, NULL)
    bytes[0] = workspace_bytes(&arena) if status == MVSC_OK else 0
    return status


cdef int typed_factor_rows(const mvsc_factor_map *map, const floating *x, const mvsc_tensor *X,
                           int kind, int n_threads, Arena *arena, float *u,
                           float *h) noexcept nogil:
    cdef double largest
    if not loops.finite_maximum(x, X.m * X.n, &largest):
        return MVSC_NOT_FINITE
    return core_factor_rows(map, x, X.m, X.n, kind, n_threads, arena, u, h)


cdef int factor_rows(const mvsc_factor_map *given_map, const mvsc_tensor *given_X, int kind,
                     int n_threads, void *workspace, size_t bytes, float *u,
                     float *h) noexcept nogil:
    cdef mvsc_factor_map map
    cdef mvsc_tensor X
    cdef Arena arena
    cdef size_t needed
    cdef Py_ssize_t k
    cdef int status = factor_workspace_size(given_map, n_threads, &needed)
    if status == MVSC_OK:
        status = read_map(given_map, n_threads, &map)
    if status == MVSC_OK:
        status = read_tensor(given_X, &X)
    if status != MVSC_OK:
        return status
    if kind != MVSC_MEMBER and kind != MVSC_NEW:
        return MVSC_BAD_ARGUMENT
    if X.v != 1 or (X.n != map.d if map.columns == NULL else X.n < 1):
        return MVSC_BAD_SHAPE
    if map.columns != NULL:
        for k in range(map.d):
            if not 0 <= map.columns[k] < X.n:
                return MVSC_BAD_ARGUMENT
    if X.m == 0:
        return MVSC_OK
    if X.data == NULL or workspace == NULL or u == NULL or h == NULL:
        return MVSC_BAD_ARGUMENT
    if bytes < needed:
        return MVSC_SMALL_WORKSPACE
    arena = arena_at(workspace)
    if X.dtype == MVSC_FLOAT32:
        return typed_factor_rows(&map, <const float *> X.data, &X, kind, n_threads, &arena, u, h)
    return typed_factor_rows(&map, <const double *> X.data, &X, kind, n_threads, &arena, u, h)


cdef int read_voters(const mvsc_voters *given, int n_threads, mvsc_voters *voters) noexcept nogil:
    """Read a caller's struct, and check everything but factors: their products tell."""
    cdef Py_ssize_t i, k
    if not read_struct(given, FIRST_VOTERS, sizeof(mvsc_voters), voters):
        return MVSC_BAD_ARGUMENT
    if not (1 <= n_threads <= MAX_THREADS and voters.v >= 1 and voters.n >= 1
            and voters.n_clusters >= 1 and voters.n_votes >= 1 and voters.scale_neighbors >= 1
            and 1 <= voters.n_listed <= voters.v and voters.n_candidates > voters.n_votes
            and 0.0 < voters.cap < 1e18):
        return MVSC_BAD_ARGUMENT
    if (voters.d == NULL or voters.u == NULL or voters.h == NULL or voters.scales == NULL
            or voters.labels == NULL):
        return MVSC_BAD_ARGUMENT
    if (voters.v > MAX_SLICE or voters.n > MAX_ROW or voters.n_clusters > MAX_ROW
            or <double> voters.v * voters.n > 1e17):
        return MVSC_TOO_LARGE
    for i in range(voters.v):
        if voters.d[i] < 1 or voters.u[i] == NULL or voters.h[i] == NULL:
            return MVSC_BAD_ARGUMENT
        if voters.d[i] > MAX_ROW:
            return MVSC_TOO_LARGE
    for k in range(voters.n):
        if not 0 <= voters.labels[k] < voters.n_clusters:
            return MVSC_BAD_ARGUMENT
    for k in range(voters.v * voters.n):
        if not (isfinite(voters.scales[k]) and voters.scales[k] > 0):
            return MVSC_BAD_ARGUMENT
    return MVSC_OK


cdef int vote_workspace_size(const mvsc_voters *given, int n_threads,
                             size_t *bytes) noexcept nogil:
    cdef Arena arena = counting_arena()
    cdef mvsc_voters voters
    cdef int status = read_voters(given, n_threads, &voters)
    if bytes == NULL:
        return MVSC_BAD_ARGUMENT
    if status == MVSC_OK:
        status = core_vote(&voters, 0, NULL, NULL, n_threads, &arena, NULL, NULL, NULL)
    bytes[0] = workspace_bytes(&arena) if status == MVSC_OK else 0
    return status


cdef int checked_vote(const mvsc_voters *given, Py_ssize_t m, const float *const *u,
                      const float *const *h, int n_threads, void *workspace, size_t bytes,
                      float *lengths, float *scores, Py_ssize_t *labels) noexcept nogil:
    cdef mvsc_voters voters
    cdef Arena arena = counting_arena()
    cdef Py_ssize_t i
    cdef int status = read_voters(given, n_threads, &voters)
    if m < 0:
        return MVSC_BAD_ARGUMENT
    if status == MVSC_OK:
        status = core_vote(&voters, 0, NULL, NULL, n_threads, &arena, NULL, NULL, NULL)
    if status != MVSC_OK or m == 0:
        return status
    if <double> m * max(voters.n, voters.n_clusters) > 1e17:
        return MVSC_TOO_LARGE
    if u == NULL or h == NULL or workspace == NULL:
        return MVSC_BAD_ARGUMENT
    for i in range(voters.v):
        if u[i] == NULL or h[i] == NULL:
            return MVSC_BAD_ARGUMENT
    if bytes < workspace_bytes(&arena):
        return MVSC_SMALL_WORKSPACE
    arena = arena_at(workspace)
    return core_vote(&voters, m, u, h, n_threads, &arena, lengths, scores, labels)


cdef int row_tubes(const mvsc_voters *voters, Py_ssize_t m, const float *const *u,
                   const float *const *h, int n_threads, void *workspace, size_t bytes,
                   float *lengths) noexcept nogil:
    if lengths == NULL and m != 0:
        return MVSC_BAD_ARGUMENT
    return checked_vote(voters, m, u, h, n_threads, workspace, bytes, lengths, NULL, NULL)


cdef int vote(const mvsc_voters *voters, Py_ssize_t m, const float *const *u,
              const float *const *h, int n_threads, void *workspace, size_t bytes, float *scores,
              Py_ssize_t *labels) noexcept nogil:
    return checked_vote(voters, m, u, h, n_threads, workspace, bytes, NULL, scores, labels)


# ------------------------------------------------------------------ BLAS threads

cdef void *limit_blas(int n_threads) noexcept:
    try:
        return take_request(n_threads)
    except BaseException as error:
        PyErr_SetObject(type(error), error)
        return NULL


cdef void *take_request(int n_threads) except NULL:
    request = blas_threads(check_integer(n_threads, "n_threads", minimum=1))
    request.__enter__()
    Py_INCREF(request)  # dropping it leaves
    return <void *> request


cdef void release_blas(void *request) noexcept:
    Py_XDECREF(<PyObject *> request)


cdef mvsc_api table
table.size = sizeof(mvsc_api)
table.version = MVSC_API_VERSION
table.strerror = strerror
table.prox_workspace_size = prox_workspace_size
table.prox = prox
table.tlrr_screen = tlrr_screen
table.tlrr_workspace_size = tlrr_workspace_size
table.tlrr_solve = tlrr_solve
table.limit_blas = limit_blas
table.release_blas = release_blas
table.factor_workspace_size = factor_workspace_size
table.factor_rows = factor_rows
table.vote_workspace_size = vote_workspace_size
table.row_tubes = row_tubes
table.vote = vote

_C_API = PyCapsule_New(&table, MVSC_CAPSULE, NULL)
