# The certified TLRR solver: knows no Python, allocates nothing, runs without the GIL.
from cython cimport floating

from .api cimport mvsc_tlrr_blocks, mvsc_tlrr_options, mvsc_tlrr_result
from .arena cimport Arena
from .block cimport Outcome
from .screening cimport Source
from .watch cimport Watch


cdef enum:
    SMALL_BLOCK = 256   # blocks up to this size are solved side by side, one thread each


cdef struct DualMemory:
    Py_ssize_t *starts          # n_blocks + 1: where the members of a block begin
    Py_ssize_t *members         # n: samples by blocks
    Py_ssize_t *local           # n: number of every sample within its block
    Outcome *outcomes           # n_blocks
    Arena blocks                # where the memory of single blocks begins
    size_t slot_bytes           # of it for every thread that solves small ones


cdef void lay_out_dual(
    Arena *arena,
    Py_ssize_t v,
    Py_ssize_t n,
    size_t itemsize,
    const mvsc_tlrr_blocks *blocks,
    int n_threads,
    DualMemory *memory,
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
