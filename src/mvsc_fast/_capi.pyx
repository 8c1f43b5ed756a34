"""The C interface of include/mvsc_fast.h: checks, and the table of functions in a capsule."""

from cpython.exc cimport PyErr_SetObject
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from cython cimport floating
from libc.math cimport isfinite
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy, memset

cimport mvsc_fast.core.loops as loops
from mvsc_fast.core.api cimport *
from mvsc_fast.core.arena cimport Arena, arena_at, counting_arena, workspace_bytes
from mvsc_fast.core.lapack cimport gesvd_lwork
from mvsc_fast.core.loops cimport TILE
from mvsc_fast.core.prox cimport is_symmetric, prox_counts
from mvsc_fast.core.prox cimport prox as core_prox
from mvsc_fast.core.screening cimport Source
from mvsc_fast.core.symmetric cimport MAX_SLICE
from mvsc_fast.core.tlrr cimport dense_source
from mvsc_fast.core.tlrr cimport tlrr_screen as core_screen
from mvsc_fast.core.tlrr cimport tlrr_solve as core_solve
from mvsc_fast.core.tlrr cimport tlrr_workspace as core_workspace

from mvsc_fast._utils.parameters import check_integer
from mvsc_fast._utils.threads import blas_threads


cdef enum:
    MAX_THREADS = 4096
    MAX_ROW = 2147483647


cdef extern from *:
    """
    static const char *const mvsc_messages[] = {
        "success",
        "a null pointer, wrong size field, negative or non-finite number, unknown code, or memory "
        "that overlaps",
        "slices must be square, m == n, and L of the shape and type of W",
        "too large: LAPACK takes symmetric slices up to 32766 and rows up to 2^31 - 1",
        "there are NaN or infinite entries",
        "the workspace has fewer bytes than the size query asks for",
        "LAPACK did not converge on a slice; the tensor is unusable",
        "the slices of W are not exactly symmetric: average them with their transposes",
        "W, its squares, lam times W or the weights leave the range of numbers: rescale them",
    };
    """
    const char *const *mvsc_messages


cdef const char *strerror(int status) noexcept nogil:
    if 0 <= status <= MVSC_OUT_OF_RANGE:
        return mvsc_messages[status]
    return "unknown status"


# ------------------------------------------------------------------ structs of older callers

cdef extern from *:
    """
    /* The bytes of a struct that ends with this field: the least that a caller can know. */
    #define SIZE_UP_TO(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))
    enum {
        LEAST_TENSOR = SIZE_UP_TO(mvsc_tensor, dtype),
        LEAST_OPTIONS = SIZE_UP_TO(mvsc_tlrr_options, context),
        LEAST_BLOCKS = SIZE_UP_TO(mvsc_tlrr_blocks, n_tubes),
        LEAST_RESULT = SIZE_UP_TO(mvsc_tlrr_result, eigen_seconds)
    };
    """
    size_t LEAST_TENSOR, LEAST_OPTIONS, LEAST_BLOCKS, LEAST_RESULT


cdef bint read_struct(
    const void *given,          # of the caller; its size field is the number of bytes
    size_t least_size,
    size_t size,                # of the struct today
    void *today,                # OUT  its fields, and 0 in those that the caller does not know
) noexcept nogil:
    """Copy a caller's struct; false if it is NULL, or of a size that it cannot have.

    All optional fields are pointers, so every multiple of their size is the end of a field.
    """
    cdef const size_t *given_size = <const size_t *> given
    if given == NULL or not least_size <= given_size[0] <= size:
        return False
    if (given_size[0] - least_size) % sizeof(void *) != 0:
        return False
    memset(today, 0, size)
    memcpy(today, given, given_size[0])
    return True


cdef void write_struct(const void *today, void *given) noexcept nogil:
    """Copy into a caller's struct, which `read_struct` has accepted, the fields that it has."""
    cdef size_t size = (<size_t *> given)[0]
    memcpy(given, today, size)
    (<size_t *> given)[0] = size


# ------------------------------------------------------------------ memory that overlaps

cdef struct Region:
    const void *start
    double bytes


cdef inline Region region(const void *start, double bytes) noexcept nogil:
    cdef Region found
    found.start, found.bytes = start, bytes
    return found


cdef bint overlap(const Region *a, const Region *b) noexcept nogil:
    cdef uintptr_t first = <uintptr_t> a.start, second = <uintptr_t> b.start
    if first == 0 or second == 0 or a.bytes <= 0 or b.bytes <= 0:
        return False
    if first <= second:
        return <double> (second - first) < a.bytes
    return <double> (first - second) < b.bytes


cdef bint are_apart(const Region *regions, int n_written, int count) noexcept nogil:
    """Whether none of the first regions, which are written, overlaps another one."""
    cdef int p, q
    for p in range(n_written):
        for q in range(p + 1, count):
            if overlap(&regions[p], &regions[q]):
                return False
    return True


cdef double bytes_of(const mvsc_tensor *tensor) noexcept nogil:
    return <double> tensor.v * tensor.m * tensor.n * itemsize_of(tensor)


# ------------------------------------------------------------------ proximal maps

cdef int read_tensor(const mvsc_tensor *given, mvsc_tensor *tensor) noexcept nogil:
    """Read a caller's struct, and check everything but the data."""
    if not read_struct(given, LEAST_TENSOR, sizeof(mvsc_tensor), tensor):
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


cdef bint is_finite(const mvsc_tensor *tensor) noexcept nogil:
    cdef Py_ssize_t count = tensor.v * tensor.m * tensor.n
    cdef double largest
    if tensor.dtype == MVSC_FLOAT32:
        return loops.finite_maximum(<const float *> tensor.data, count, &largest)
    return loops.finite_maximum(<const double *> tensor.data, count, &largest)


cdef int read_prox(int kind, const mvsc_tensor *given, int n_threads,
                   mvsc_tensor *tensor) noexcept nogil:
    """Read the tensor, and check everything but its data."""
    cdef int status = read_tensor(given, tensor)
    if not 1 <= n_threads <= MAX_THREADS:
        return MVSC_BAD_ARGUMENT
    if not MVSC_TUBE_SHRINK <= kind <= MVSC_SYMMETRIC_CLIP:
        return MVSC_BAD_ARGUMENT
    if status != MVSC_OK:
        return status
    if is_symmetric(kind) and tensor.m != tensor.n:
        return MVSC_BAD_SHAPE
    if is_symmetric(kind) and tensor.n > MAX_SLICE:
        return MVSC_TOO_LARGE
    return MVSC_OK


cdef int apply(int kind, const mvsc_tensor *tensor, double t, int n_threads, Arena *arena,
               Py_ssize_t *counts) noexcept nogil:
    """As core_prox."""
    cdef int info
    cdef Py_ssize_t index
    return core_prox(kind, tensor.dtype == MVSC_FLOAT32, tensor.data, tensor.v, tensor.m, tensor.n,
                     t, n_threads, arena, counts, &info, &index)


cdef int prox_workspace_size(int kind, const mvsc_tensor *given, int n_threads,
                             size_t *bytes) noexcept nogil:
    cdef Arena arena = counting_arena()
    cdef mvsc_tensor tensor
    cdef int status = read_prox(kind, given, n_threads, &tensor)
    if bytes == NULL:
        return MVSC_BAD_ARGUMENT
    if status == MVSC_OK:
        status = apply(kind, &tensor, 0.0, n_threads, &arena, NULL)
    bytes[0] = workspace_bytes(&arena) if status == MVSC_OK else 0
    return status


cdef int prox(int kind, mvsc_tensor *given, double t, int n_threads, void *workspace,
              size_t bytes, Py_ssize_t *counts) noexcept nogil:
    cdef Arena arena
    cdef mvsc_tensor tensor
    cdef Region[3] regions
    cdef size_t needed
    cdef int status = prox_workspace_size(kind, given, n_threads, &needed)
    if status == MVSC_OK:
        status = read_prox(kind, given, n_threads, &tensor)
    if status != MVSC_OK:
        return status
    if not isfinite(t) or t < 0:
        return MVSC_BAD_ARGUMENT
    if bytes_of(&tensor) == 0:
        return MVSC_OK
    if tensor.data == NULL or workspace == NULL:
        return MVSC_BAD_ARGUMENT
    if bytes < needed:
        return MVSC_SMALL_WORKSPACE
    regions[0] = region(tensor.data, bytes_of(&tensor))
    regions[1] = region(workspace, needed)
    regions[2] = region(counts, <double> prox_counts(kind, tensor.v, tensor.m) * sizeof(Py_ssize_t))
    if not are_apart(regions, 3, 3):
        return MVSC_BAD_ARGUMENT
    if not is_finite(&tensor):
        return MVSC_NOT_FINITE
    arena = arena_at(workspace)
    return apply(kind, &tensor, t, n_threads, &arena, counts)


# ------------------------------------------------------------------ TLRR

cdef int read_problem(
    const mvsc_tensor *given_W,
    const mvsc_tlrr_options *given_options,
    mvsc_tensor *W,                             # OUT
    mvsc_tlrr_options *options,                 # OUT
) noexcept nogil:
    """Read a caller's structs, and check everything but arrays, of which none is read."""
    cdef int status = read_tensor(given_W, W)
    if status == MVSC_BAD_ARGUMENT:
        return status
    if not read_struct(given_options, LEAST_OPTIONS, sizeof(mvsc_tlrr_options), options):
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
    if options.sample_weight != NULL and options.solver == MVSC_TLRR_IALM:
        return MVSC_BAD_ARGUMENT
    if W.m != W.n:
        return MVSC_BAD_SHAPE
    if W.v == 0 or W.n == 0:
        return MVSC_BAD_ARGUMENT
    return status


cdef bint are_positive(const double *weights, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        if not (isfinite(weights[j]) and weights[j] > 0.0):
            return False
    return True


cdef int check_slices(const floating *W, Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Whether the entries are finite and can be squared, and the slices are symmetric."""
    cdef Py_ssize_t i, j, k
    cdef double largest, limit = 1.8446743e19 if floating is float else 1.3407807929942596e154
    if not loops.finite_maximum(W, v * n * n, &largest):
        return MVSC_NOT_FINITE
    if largest > limit / (4.0 * n):             # as validation.check_squarable
        return MVSC_OUT_OF_RANGE
    for i in range(v):
        for j in range((n + TILE - 1) // TILE):
            for k in range(j, (n + TILE - 1) // TILE):
                if not tile_is_symmetric(W + i * n * n, n, j * TILE, k * TILE):
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


cdef int check_values(const mvsc_tensor *W, const mvsc_tlrr_options *options) noexcept nogil:
    """Check the weights and the entries of W."""
    if options.sample_weight != NULL and not are_positive(options.sample_weight, W.n):
        return MVSC_BAD_ARGUMENT
    if W.dtype == MVSC_FLOAT32:
        return check_slices(<const float *> W.data, W.v, W.n)
    return check_slices(<const double *> W.data, W.v, W.n)


cdef int tlrr_screen(const mvsc_tensor *given_W, const mvsc_tlrr_options *given_options,
                     Py_ssize_t *labels, mvsc_tlrr_blocks *given_blocks) noexcept nogil:
    cdef mvsc_tensor W
    cdef mvsc_tlrr_options options
    cdef mvsc_tlrr_blocks blocks
    cdef Region[4] regions
    cdef Source source
    cdef int status = read_problem(given_W, given_options, &W, &options)
    if status != MVSC_OK:
        return status
    if W.data == NULL or labels == NULL:
        return MVSC_BAD_ARGUMENT
    if not read_struct(given_blocks, LEAST_BLOCKS, sizeof(mvsc_tlrr_blocks), &blocks):
        return MVSC_BAD_ARGUMENT
    regions[0] = region(labels, <double> W.n * sizeof(Py_ssize_t))
    regions[1] = region(given_blocks, blocks.size)
    regions[2] = region(W.data, bytes_of(&W))
    regions[3] = region(options.sample_weight, <double> W.n * sizeof(double))
    if not are_apart(regions, 2, 4):
        return MVSC_BAD_ARGUMENT
    status = check_values(&W, &options)
    if status != MVSC_OK:
        return status
    source = dense_source(W.v, W.n)
    if W.dtype == MVSC_FLOAT32:
        status = core_screen(<const float *> W.data, &source, &options, labels, &blocks)
    else:
        status = core_screen(<const double *> W.data, &source, &options, labels, &blocks)
    write_struct(&blocks, given_blocks)
    return status


cdef bint read_blocks(const mvsc_tlrr_blocks *given, const mvsc_tensor *W,
                      mvsc_tlrr_blocks *blocks) noexcept nogil:
    """Whether these can be blocks of a problem of this shape."""
    return (read_struct(given, LEAST_BLOCKS, sizeof(mvsc_tlrr_blocks), blocks)
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


cdef int tlrr_solve(const mvsc_tensor *given_W, const mvsc_tlrr_options *given_options,
                    const Py_ssize_t *labels, const mvsc_tlrr_blocks *given_blocks,
                    mvsc_tensor *given_L, void *workspace, size_t bytes,
                    mvsc_tlrr_result *given_result) noexcept nogil:
    cdef mvsc_tensor W, L
    cdef mvsc_tlrr_options options
    cdef mvsc_tlrr_blocks blocks_of_labels
    cdef mvsc_tlrr_blocks *blocks = NULL
    cdef mvsc_tlrr_result result
    cdef Source source
    cdef Region[6] regions
    cdef int status = read_problem(given_W, given_options, &W, &options)
    if status == MVSC_BAD_ARGUMENT:
        return status
    if not read_struct(given_L, LEAST_TENSOR, sizeof(mvsc_tensor), &L):
        return MVSC_BAD_ARGUMENT
    if W.data == NULL or L.data == NULL or workspace == NULL:
        return MVSC_BAD_ARGUMENT
    if (labels == NULL) != (given_blocks == NULL):
        return MVSC_BAD_ARGUMENT
    result.size = sizeof(mvsc_tlrr_result)
    if given_result != NULL and not read_struct(
            given_result, LEAST_RESULT, sizeof(mvsc_tlrr_result), &result):
        return MVSC_BAD_ARGUMENT
    if L.v != W.v or L.m != W.m or L.n != W.n or L.dtype != W.dtype:
        return MVSC_BAD_SHAPE
    if status != MVSC_OK:
        return status
    if given_blocks != NULL:
        blocks = &blocks_of_labels
        if not read_blocks(given_blocks, &W, blocks):
            return MVSC_BAD_ARGUMENT
    regions[0] = region(L.data, bytes_of(&L))
    regions[1] = region(workspace, bytes)
    regions[2] = region(given_result, result.size)
    regions[3] = region(W.data, bytes_of(&W))
    regions[4] = region(options.sample_weight, <double> W.n * sizeof(double))
    regions[5] = region(labels, <double> W.n * sizeof(Py_ssize_t))
    if not are_apart(regions, 3, 6):
        return MVSC_BAD_ARGUMENT
    status = check_values(&W, &options)
    if status != MVSC_OK:
        return status
    source = dense_source(W.v, W.n)
    if W.dtype == MVSC_FLOAT32:
        status = core_solve(<const float *> W.data, &source, <float *> L.data, &options, labels,
                            blocks, workspace, bytes, &result)
    else:
        status = core_solve(<const double *> W.data, &source, <double *> L.data, &options, labels,
                            blocks, workspace, bytes, &result)
    if given_result != NULL:
        write_struct(&result, given_result)
    return status


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

_C_API = PyCapsule_New(&table, MVSC_CAPSULE, NULL)
