# The certified TLRR solver: knows no Python, allocates nothing, runs without the GIL.
from cython cimport floating

from .api cimport mvsc_tlrr_blocks, mvsc_tlrr_options, mvsc_tlrr_result
from .arena cimport Arena
from .screening cimport Source
from .watch cimport Watch


cdef enum:
    SMALL_BLOCK = 256   # blocks up to this size are solved side by side, one thread each


cdef void dual_lay_out(
    Arena *arena,
    Py_ssize_t v,
    Py_ssize_t n,
    size_t itemsize,
    const mvsc_tlrr_blocks *blocks,
    const mvsc_tlrr_options *options,
) noexcept nogil

cdef int dual_solve(
    const floating *data,
    const Source *source,
    floating *out,
    const Py_ssize_t *labels,
    const mvsc_tlrr_blocks *blocks,
    const mvsc_tlrr_options *options,
    Arena *arena,
    Watch *watch,
    mvsc_tlrr_result *result,
) noexcept nogil
