# The published TLRR iteration: knows no Python, allocates nothing, runs without the GIL.
from cython cimport floating

from .api cimport mvsc_tlrr_options, mvsc_tlrr_result
from .arena cimport Arena
from .partial cimport Subspace
from .watch cimport Watch


cdef struct IalmMemory:
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
    int *info                   # v, of LAPACK
    double *work                # for rows: n_threads x row_size(v, n)
    void *residual              # n_threads x CHUNK running maxima
    int *row_info               # n, of LAPACK
    double *sums                # 2 n


cdef void lay_out_ialm(
    Arena *arena, Py_ssize_t v, Py_ssize_t n, size_t itemsize, int n_threads, IalmMemory *memory,
) noexcept nogil

cdef int ialm_solve(
    const floating *W, floating *L, Py_ssize_t v, Py_ssize_t n, const mvsc_tlrr_options *options,
    Arena *arena, Watch *watch, mvsc_tlrr_result *result,
) noexcept nogil
