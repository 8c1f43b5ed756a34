# TLRR on dense slices or on a sparsity pattern: memory, and the choice of solver. Knows no Python,
# allocates nothing and runs without the GIL.
from cython cimport floating

from .api cimport mvsc_tlrr_blocks, mvsc_tlrr_options, mvsc_tlrr_result
from .screening cimport Source


cdef Source dense_source(Py_ssize_t v, Py_ssize_t n) noexcept nogil

cdef int tlrr_screen(
    const floating *data,
    Source *source,
    const mvsc_tlrr_options *options,
    Py_ssize_t *labels,
    mvsc_tlrr_blocks *blocks,
) noexcept nogil

cdef int tlrr_workspace(
    Py_ssize_t v,
    Py_ssize_t n,
    size_t itemsize,
    const mvsc_tlrr_options *options,
    const mvsc_tlrr_blocks *blocks,
    size_t *bytes,
) noexcept nogil

cdef int tlrr_solve(
    const floating *data,
    Source *source,
    floating *out,
    const mvsc_tlrr_options *options,
    const Py_ssize_t *labels,
    const mvsc_tlrr_blocks *blocks,
    void *workspace,
    size_t bytes,
    mvsc_tlrr_result *result,
) noexcept nogil
