# The published TLRR iteration: knows no Python, allocates nothing, runs without the GIL.
from cython cimport floating

from . cimport loops
from .api cimport mvsc_tlrr_options, mvsc_tlrr_result
from .arena cimport Arena
from .partial cimport Subspace
from .watch cimport Watch


cdef struct Rows:
    # Scratch memory and results of a sweep over the rows.
    double *work            # n_threads x row_size(v, n)
    void *residual          # n_threads x CHUNK running maxima
    void **pointers         # n_threads x 6 v
    Py_ssize_t *rank        # n
    Py_ssize_t *kept        # n
    int *info               # n, of LAPACK
    double *sums            # 2 n


cdef void lay_out_rows(
    Arena *arena,
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    size_t itemsize,
    int n_threads,
    Rows *rows,
) noexcept nogil
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
) noexcept nogil
cdef loops.IalmStep make_step(
    double omega2,
    double alpha,
    double lam,
    double mu,
    double mu_next,
) noexcept nogil

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
    Rows rows


cdef void lay_out_ialm(
    Arena *arena,
    Py_ssize_t v,
    Py_ssize_t n,
    size_t itemsize,
    int n_threads,
    IalmMemory *memory,
) noexcept nogil

cdef int ialm_solve(
    const floating *W,
    floating *L,
    Py_ssize_t v,
    Py_ssize_t n,
    const mvsc_tlrr_options *options,
    Arena *arena,
    Watch *watch,
    mvsc_tlrr_result *result,
) noexcept nogil
