# One connected block of a TLRR problem in the certified solver: its memory, and sweeps over it.
from cython cimport floating

from .arena cimport Arena
from .rows cimport Spectral
from .screening cimport Pattern

ctypedef fused dual_floating:   # of the dual variable P, which may be of lower precision than W
    float
    double


cdef struct Outcome:
    # Of one block; absolute, so that blocks add up.
    int status
    int lapack_info
    Py_ssize_t failed_view
    Py_ssize_t failed_row
    Py_ssize_t n_iter
    bint converged
    double gap
    double norm_squared         # ||L||_F^2 where the gap was computed
    double eigen_seconds


cdef struct Block:
    # One connected block: its data, its dual variables, its certificate, and scratch memory.
    Py_ssize_t v
    Pattern pattern             # tubes that can be non-zero
    Pattern active              # those that were so far; position: of each in the pattern
    char *marked                # of the pattern: becomes active
    int n_threads
    int slices                  # eigenproblems at once
    double omega1
    double omega2
    double lam
    double tau
    double curvature            # 2 lam + rho, of the proximal problem
    double *root                # n: square roots of the sample weights
    void *W                     # v x nnz of the pattern
    void *center                # v x nnz of the active tubes, as the next five
    void *L
    void *Q
    void *Q_spare[3]
    void *P                     # v x n x n, as the next two
    void *Z                     # P is its projection
    void *dense                 # the next P, scattered L
    void *numbers
    long long *integers
    void *spectrum              # v x n
    Py_ssize_t *rank            # max(v, n), as the next
    int *info                   # of LAPACK
    double *row_work
    double *tubes               # n_threads x tube_size(v)
    double *sums                # 3 n: what is summed up over rows, in the order of the rows
    double lengths[2]           # sums over the tubes of L: thresholds, lengths
    double rho                  # 0 before the first step
    double excess               # by how much ||P_i||_2 may exceed omega1
    double rounding             # part of the gap
    Py_ssize_t check_at
    Py_ssize_t checked_at
    double checked              # the relative gap there
    Py_ssize_t max_iter
    bint certified              # the gap is that of the current L


cdef void lay_out_block(
    Arena *arena,
    Py_ssize_t v,
    Py_ssize_t n,
    Py_ssize_t n_tubes,
    size_t itemsize,
    int n_threads,
    Block *block,
) noexcept nogil
cdef double tube_threshold(const Block *block, Py_ssize_t j, Py_ssize_t k) noexcept nogil
cdef void center(
    Block *block,
    const floating *W,
    const dual_floating *P,
    const dual_floating *Z,
    double rho,
) noexcept nogil
cdef void primal(Block *block, const floating *Q, floating *L) noexcept nogil
cdef bint row_step(
    Block *block,
    const floating *L,
    const floating *Q_momentum,
    const floating *Q_last,
    floating *Q,
    double *restart,
    double *moved,
    Outcome *outcome,
) noexcept nogil
cdef bint row_nuclear_norms(
    Block *block,
    const floating *L,
    double *norms,
    Outcome *outcome,
) noexcept nogil
cdef void inner_products(
    Block *block,
    const floating *L,
    const dual_floating *P,
    const floating *Q,
    double *products,
) noexcept nogil
cdef void extrapolate(
    Block *block,
    const dual_floating *P,
    const dual_floating *last,
    double momentum,
    dual_floating *out,
) noexcept nogil
cdef void relaxed_step(
    Block *block,
    const floating *L,
    const dual_floating *P,
    const dual_floating *Z,
    double rho,
    double relaxation,
    dual_floating *out,
) noexcept nogil
cdef bint frontal_map(
    Block *block,
    dual_floating *T,
    double threshold,
    Spectral kind,
    Outcome *outcome,
) noexcept nogil
cdef bint norms_below(Block *block, const dual_floating *P, double t) noexcept nogil
cdef void scatter(Block *block, const floating *L, dual_floating *dense) noexcept nogil
