"""The C interface of include/mvsc_fast.h: checks, and the table of functions in a capsule."""

from cpython.pycapsule cimport PyCapsule_New
from cython cimport floating
from libc.math cimport isfinite
from libc.stdint cimport SIZE_MAX, uintptr_t

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


cdef extern from "include/mvsc_fast.h" nogil:
    int MVSC_API_VERSION
    int MVSC_OK, MVSC_BAD_ARGUMENT, MVSC_BAD_SHAPE, MVSC_TOO_LARGE, MVSC_NOT_FINITE
    int MVSC_SMALL_WORKSPACE, MVSC_NO_CONVERGENCE
    int MVSC_FLOAT32, MVSC_FLOAT64
    int MVSC_TUBE_SHRINK, MVSC_SLICE_SHRINK, MVSC_SLICE_CLIP, MVSC_SYMMETRIC_SHRINK
    int MVSC_SYMMETRIC_CLIP
    const char *MVSC_CAPSULE

    ctypedef struct mvsc_tensor:
        size_t size
        void *data
        Py_ssize_t v
        Py_ssize_t m
        Py_ssize_t n
        int dtype

    ctypedef struct mvsc_api:
        size_t size
        int version
        const char *(*strerror)(int) noexcept nogil
        int (*prox_workspace_size)(int, const mvsc_tensor *, int, size_t *) noexcept nogil
        int (*prox)(int, mvsc_tensor *, double, int, void *, size_t, Py_ssize_t *) noexcept nogil


cdef enum:
    ALIGNMENT = 64
    MAX_THREADS = 4096
    MAX_ROW = 2147483647


cdef const char *strerror(int status) noexcept nogil:
    if status == MVSC_OK:
        return "success"
    if status == MVSC_BAD_ARGUMENT:
        return "a null pointer, wrong size field, negative or non-finite number, or unknown code"
    if status == MVSC_BAD_SHAPE:
        return "a symmetric map needs square slices, m == n"
    if status == MVSC_TOO_LARGE:
        return "too large: LAPACK takes symmetric slices up to 32766 and rows up to 2^31 - 1"
    if status == MVSC_NOT_FINITE:
        return "the tensor has NaN or infinite entries"
    if status == MVSC_SMALL_WORKSPACE:
        return "the workspace has fewer bytes than prox_workspace_size asks for"
    if status == MVSC_NO_CONVERGENCE:
        return "LAPACK did not converge on a slice; the tensor is unusable"
    return "unknown status"


cdef struct Layout:
    # Where the parts of a workspace begin, in bytes from its first aligned address.
    size_t numbers              # LAPACK's and copies
    size_t integers
    size_t spectrum             # eigenvalues
    size_t ranks
    size_t codes
    size_t total


cdef bint add(size_t *total, double count, size_t itemsize, size_t *start) noexcept nogil:
    """Reserve aligned memory; False where the address space ends."""
    cdef double bytes = count * itemsize
    start[0] = total[0]
    if <double> total[0] + bytes + 2 * ALIGNMENT > <double> (SIZE_MAX // 4):
        return False
    total[0] += (<size_t> bytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return True


cdef bint is_symmetric(int kind) noexcept nogil:
    return kind == MVSC_SYMMETRIC_SHRINK or kind == MVSC_SYMMETRIC_CLIP


cdef bint is_slice(int kind) noexcept nogil:
    return kind == MVSC_SLICE_SHRINK or kind == MVSC_SLICE_CLIP


cdef int plan(int kind, const mvsc_tensor *tensor, int n_threads, Layout *layout) noexcept nogil:
    """Check everything but the data, and lay out the workspace."""
    cdef Py_ssize_t v, m, n
    cdef size_t itemsize
    cdef bint fits = True
    if tensor == NULL or tensor.size != sizeof(mvsc_tensor):
        return MVSC_BAD_ARGUMENT
    v, m, n = tensor.v, tensor.m, tensor.n
    if v < 0 or m < 0 or n < 0 or not 1 <= n_threads <= MAX_THREADS:
        return MVSC_BAD_ARGUMENT
    if tensor.dtype != MVSC_FLOAT32 and tensor.dtype != MVSC_FLOAT64:
        return MVSC_BAD_ARGUMENT
    if kind != MVSC_TUBE_SHRINK and not is_slice(kind) and not is_symmetric(kind):
        return MVSC_BAD_ARGUMENT
    if is_symmetric(kind) and m != n:
        return MVSC_BAD_SHAPE
    if is_symmetric(kind) and n > MAX_SLICE:
        return MVSC_TOO_LARGE
    if <double> v * m * n > 1e17 or v > MAX_SLICE or <double> n + 64.0 * v + 256 > MAX_ROW:
        return MVSC_TOO_LARGE
    itemsize = 4 if tensor.dtype == MVSC_FLOAT32 else 8
    layout.total = 0
    if kind == MVSC_TUBE_SHRINK:
        fits = add(&layout.total, <double> n_threads * CHUNK, itemsize, &layout.numbers)
    elif is_slice(kind):
        fits = (
            add(&layout.total, <double> n_threads * slice_lwork(v, n), 8, &layout.numbers)
            and add(&layout.total, m, sizeof(Py_ssize_t), &layout.ranks)
            and add(&layout.total, m, sizeof(int), &layout.codes)
        )
    else:
        n_threads = <int> max(1, min(<Py_ssize_t> n_threads, v))
        fits = (
            add(&layout.total, <double> n_threads * symmetric_lwork(n), itemsize, &layout.numbers)
            and add(&layout.total, <double> n_threads * symmetric_liwork(n), 8, &layout.integers)
            and add(&layout.total, <double> v * n, itemsize, &layout.spectrum)
            and add(&layout.total, v, sizeof(Py_ssize_t), &layout.ranks)
            and add(&layout.total, v, sizeof(int), &layout.codes)
        )
    layout.total += ALIGNMENT
    return MVSC_OK if fits else MVSC_TOO_LARGE


cdef int prox_workspace_size(int kind, const mvsc_tensor *tensor, int n_threads,
                             size_t *bytes) noexcept nogil:
    cdef Layout layout
    cdef int status
    if bytes == NULL:
        return MVSC_BAD_ARGUMENT
    status = plan(kind, tensor, n_threads, &layout)
    bytes[0] = layout.total if status == MVSC_OK else 0
    return status


cdef bint all_finite(const floating *data, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(count):
        total += 0.0 * data[k]          # NaN as soon as one entry is NaN or infinite
    return total == 0.0


cdef int apply(int kind, floating *data, mvsc_tensor *tensor, double t, int n_threads, char *base,
               Layout *layout, Py_ssize_t *counts) noexcept nogil:
    cdef Py_ssize_t v = tensor.v, m = tensor.m, n = tensor.n, j, kept, length
    cdef Py_ssize_t *ranks = <Py_ssize_t *> (base + layout.ranks)
    cdef int *codes = <int *> (base + layout.codes)
    cdef Spectral spectral = SHRINK
    if not all_finite(data, v * m * n):
        return MVSC_NOT_FINITE
    if kind == MVSC_TUBE_SHRINK:
        kept = tube_map(data, v, m, n, t, n_threads, <floating *> (base + layout.numbers))
        if counts != NULL:
            counts[0] = kept
        return MVSC_OK
    if kind == MVSC_SLICE_CLIP or kind == MVSC_SYMMETRIC_CLIP:
        spectral = CLIP
    if is_slice(kind):
        length = m
        slice_map(data, v, m, n, t, spectral, n_threads, <double *> (base + layout.numbers), ranks,
                  codes)
    else:
        length = v
        symmetric_maps(data, v, n, t, spectral, <int> max(1, min(<Py_ssize_t> n_threads, v)),
                       <floating *> (base + layout.numbers),
                       <long long *> (base + layout.integers),
                       <floating *> (base + layout.spectrum), ranks, codes)
    for j in range(length):
        if codes[j] != 0:
            return MVSC_NO_CONVERGENCE
    if counts != NULL:
        for j in range(length):
            counts[j] = ranks[j]
    return MVSC_OK


cdef int prox(int kind, mvsc_tensor *tensor, double t, int n_threads, void *workspace,
              size_t bytes, Py_ssize_t *counts) noexcept nogil:
    cdef Layout layout
    cdef char *base
    cdef Py_ssize_t j, length
    cdef int status = plan(kind, tensor, n_threads, &layout)
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
    if bytes < layout.total:
        return MVSC_SMALL_WORKSPACE
    base = <char *> ((<uintptr_t> workspace + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT)
    if tensor.dtype == MVSC_FLOAT32:
        return apply(kind, <float *> tensor.data, tensor, t, n_threads, base, &layout, counts)
    return apply(kind, <double *> tensor.data, tensor, t, n_threads, base, &layout, counts)


cdef mvsc_api table
table.size = sizeof(mvsc_api)
table.version = MVSC_API_VERSION
table.strerror = strerror
table.prox_workspace_size = prox_workspace_size
table.prox = prox

_C_API = PyCapsule_New(&table, MVSC_CAPSULE, NULL)
